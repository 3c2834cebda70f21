//! Requests to paste: of each route, and of each function without one, the first event in `events/` as a
//! `curl` command.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

/// Headers of an event that change what it asks.
const HEADERS: [&str; 2] = ["if-match", "if-none-match"];

/// What is escaped in a segment of a path: all but the unreserved characters (RFC 3986, section 2.3).
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// For each route, its first event of payload 2.0 under a folder of events, as a `curl` command against a
/// server. They come in the order of their files.
///
/// # Errors
///
/// A folder that cannot be read, or an event that is not JSON.
pub fn curl_commands(events: &Path, server: &str) -> io::Result<Vec<String>> {
    let mut routes = BTreeSet::new();
    let mut commands = Vec::new();
    for (_, event) in files(events)? {
        let route = event.get("routeKey").and_then(Value::as_str).unwrap_or_default();
        if event.get("version").is_some_and(|version| version == "2.0") && routes.insert(route.to_owned()) {
            commands.push(curl(&event, server));
        }
    }
    Ok(commands)
}

/// For each function without a route, its first event as a `curl` command that invokes it. What comes from
/// no gateway is an event of such a function.
///
/// # Errors
///
/// See [`curl_commands`].
pub fn invocations(events: &Path, server: &str) -> io::Result<Vec<String>> {
    let mut functions = BTreeSet::new();
    let mut commands = Vec::new();
    for (file, event) in files(events)? {
        let function = file.parent().and_then(Path::file_name).unwrap_or_default().to_owned();
        if event.get("requestContext").is_none() && functions.insert(function.clone()) {
            commands.push(format!(
                "curl -sS {server}/2015-03-31/functions/{}/invocations -d @{}",
                function.display(),
                file.display()
            ));
        }
    }
    Ok(commands)
}

/// The events under a folder of events, in the order of their files.
fn files(events: &Path) -> io::Result<Vec<(PathBuf, Value)>> {
    let mut files = Vec::new();
    for function in std::fs::read_dir(events)? {
        let function = function?.path();
        if !function.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(function)? {
            let file = file?.path();
            if file.extension().is_some_and(|extension| extension == "json") {
                files.push(file);
            }
        }
    }
    files.sort();
    let read = |file: PathBuf| {
        let event = serde_json::from_slice(&std::fs::read(&file)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        Ok((file, event))
    };
    files.into_iter().map(read).collect()
}

/// One event as a command. The tenant of its claims goes into the header that stands in for them.
fn curl(event: &Value, server: &str) -> String {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let (method, route) = text("/routeKey").split_once(' ').unwrap_or_default();
    let tenant = text("/requestContext/authorizer/jwt/claims/custom:tenant");
    let mut command = format!("curl -sS -H {}", quoted(&format!("x-local-tenant: {tenant}")));
    for name in HEADERS {
        if let Some(value) = event.pointer(&format!("/headers/{name}")).and_then(Value::as_str) {
            command = format!("{command} -H {}", quoted(&format!("{name}: {value}")));
        }
    }
    if method != "GET" {
        command = format!("{command} -X {method}");
    }
    let body = text("/body");
    if !body.is_empty() {
        let kind = quoted("content-type: application/json");
        command = format!("{command} -H {kind} -d {}", quoted(body));
    }
    let mut url = format!("{server}{}", path(route, event));
    if !text("/rawQueryString").is_empty() {
        url = format!("{url}?{}", text("/rawQueryString"));
    }
    format!("{command} {}", quoted(&url))
}

/// The path as it stands in a URL. The event has it decoded, so it is made anew from the route and its
/// values.
fn path(route: &str, event: &Value) -> String {
    let values = event.get("pathParameters").and_then(Value::as_object).into_iter().flatten();
    values.fold(route.to_owned(), |path, (name, value)| {
        let value = utf8_percent_encode(value.as_str().unwrap_or_default(), RESERVED).to_string();
        path.replace(&format!("{{{name}}}"), &value)
    })
}

/// Text as one word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_event_becomes_a_command() {
        let list = json!({
            "routeKey": "GET /carts",
            "rawPath": "/carts",
            "rawQueryString": "customerId=c-001",
            "requestContext": { "authorizer": { "jwt": { "claims": { "custom:tenant": "acme" } } } },
        });
        assert_eq!(
            curl(&list, "http://127.0.0.1:9000"),
            "curl -sS -H 'x-local-tenant: acme' 'http://127.0.0.1:9000/carts?customerId=c-001'"
        );
        let create = json!({
            "routeKey": "POST /orders",
            "rawPath": "/orders",
            "rawQueryString": "",
            "body": "{\"name\":\"D'Ávila\"}",
        });
        assert_eq!(
            curl(&create, "http://s"),
            r#"curl -sS -H 'x-local-tenant: ' -X POST -H 'content-type: application/json' -d '{"name":"D'\''Ávila"}' 'http://s/orders'"#
        );
    }

    #[test]
    fn a_path_is_encoded_and_a_condition_is_kept() {
        let event = json!({
            "routeKey": "DELETE /products/{id}",
            "rawPath": "/products/kit #1/2 café",
            "rawQueryString": "",
            "pathParameters": { "id": "kit #1/2 café" },
            "headers": { "accept": "application/json", "if-match": "*" },
        });
        assert_eq!(
            curl(&event, "http://s"),
            "curl -sS -H 'x-local-tenant: ' -H 'if-match: *' -X DELETE \
             'http://s/products/kit%20%231%2F2%20caf%C3%A9'"
        );
    }

    #[test]
    fn each_route_has_one_request() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let template = crate::template::Template::load(root.join("template.yaml")).unwrap();
        let commands = curl_commands(&root.join("events"), "").unwrap();
        assert_eq!(commands.len(), template.routes().unwrap().len(), "{commands:#?}");
        let asks = |end: &str| commands.iter().any(|command| command.ends_with(end));
        assert!(asks("'/products/kit%20%231%20caf%C3%A9'"), "{commands:#?}");
    }

    #[test]
    fn each_function_without_a_route_has_one_invocation() {
        let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        let template = crate::template::Template::load(root.join("template.yaml")).unwrap();
        let commands = invocations(&root.join("events"), "http://s").unwrap();
        let functions = template.functions().unwrap();
        let jobs = functions.iter().filter(|function| function.routes.is_empty());
        assert_eq!(commands.len(), jobs.count(), "{commands:#?}");
        let start = "curl -sS http://s/2015-03-31/functions/backfill/invocations -d @";
        let end = "events/backfill/dry-run.json";
        assert!(commands.iter().any(|command| command.starts_with(start) && command.ends_with(end)));
    }
}
