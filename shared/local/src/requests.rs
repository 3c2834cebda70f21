//! Requests to paste: the HTTP API events in `events/` as `curl` commands.

use std::io;
use std::path::Path;

use serde_json::Value;

/// The events of payload 2.0 under a folder of events, as `curl` commands against a server, in order.
///
/// # Errors
///
/// A folder that cannot be read, or an event that is not JSON.
pub fn curl_commands(events: &Path, server: &str) -> io::Result<Vec<String>> {
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
    let mut commands = Vec::new();
    for file in files {
        let event: Value = serde_json::from_slice(&std::fs::read(&file)?)
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        if event.get("version").is_some_and(|version| version == "2.0") {
            commands.push(curl(&event, server));
        }
    }
    Ok(commands)
}

/// One event as a command. The tenant of its claims goes into the header that stands in for them.
fn curl(event: &Value, server: &str) -> String {
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let tenant = text("/requestContext/authorizer/jwt/claims/custom:tenant");
    let mut url = format!("{server}{}", text("/rawPath"));
    if !text("/rawQueryString").is_empty() {
        url = format!("{url}?{}", text("/rawQueryString"));
    }
    let mut command = format!("curl -sS -H {}", quoted(&format!("x-local-tenant: {tenant}")));
    let method = text("/requestContext/http/method");
    if method != "GET" {
        command = format!("{command} -X {method}");
    }
    let body = text("/body");
    if !body.is_empty() {
        let kind = quoted("content-type: application/json");
        command = format!("{command} -H {kind} -d {}", quoted(body));
    }
    format!("{command} {}", quoted(&url))
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
            "version": "2.0",
            "rawPath": "/carts",
            "rawQueryString": "customerId=c-001",
            "requestContext": {
                "http": { "method": "GET" },
                "authorizer": { "jwt": { "claims": { "custom:tenant": "acme" } } },
            },
        });
        assert_eq!(
            curl(&list, "http://127.0.0.1:9000"),
            "curl -sS -H 'x-local-tenant: acme' 'http://127.0.0.1:9000/carts?customerId=c-001'"
        );
        let create = json!({
            "rawPath": "/orders",
            "rawQueryString": "",
            "requestContext": { "http": { "method": "POST" } },
            "body": "{\"name\":\"D'Ávila\"}",
        });
        assert_eq!(
            curl(&create, "http://s"),
            r#"curl -sS -H 'x-local-tenant: ' -X POST -H 'content-type: application/json' -d '{"name":"D'\''Ávila"}' 'http://s/orders'"#
        );
    }
}
