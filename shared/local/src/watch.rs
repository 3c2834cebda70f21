//! What `cargo lambda watch` needs to stand in for the gateway: the template's routes and the
//! environment that the template gives its functions.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::template::{Route, Template, TemplateError};

/// What cursors are sealed with on a developer's machine. Events that carry a cursor are made with it.
pub const CURSOR_KEY: &str = "for-development-only-and-no-secret-at-all";

/// The configuration of `cargo lambda watch`: which function answers which route.
pub fn configuration(routes: &[Route]) -> String {
    let mut text = String::from("# Written anew from template.yaml by every `make run`.\n");
    for Route { method, path, function } in routes {
        // A JSON string is a TOML string.
        let quoted = |text: &str| Value::from(text).to_string();
        let path = quoted(&path.replace("{proxy+}", "{*proxy}"));
        let (method, function) = (quoted(method), quoted(function));
        text.push_str(&format!(
            "\n[[watch.router]]\npath = {path}\nmethods = [{method}]\nfunction = {function}\n"
        ));
    }
    text
}

/// The environment of all functions together, as far as the template's parameters decide it.
///
/// # Errors
///
/// Two functions that give one name different values: on one machine they share an environment.
pub fn environment(template: &Template) -> Result<BTreeMap<String, String>, TemplateError> {
    let mut environment: BTreeMap<String, String> = BTreeMap::new();
    for function in template.functions()? {
        for (name, value) in function.environment() {
            let Value::String(value) = value else { continue };
            if environment.get(&name).is_some_and(|known| *known != value) {
                let at = format!("Resources.{}.Properties.Environment.Variables.{name}", function.id);
                return Err(TemplateError::invalid(at, "differs from the value that another function has"));
            }
            environment.insert(name, value);
        }
    }
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_become_a_router() {
        let route = |method: &str, path: &str, function: &str| Route {
            method: method.to_owned(),
            path: path.to_owned(),
            function: function.to_owned(),
        };
        let text = configuration(&[
            route("GET", "/orders", "orders"),
            route("GET", "/products/{id}", "product"),
            route("GET", "/files/{proxy+}", "files"),
        ]);
        assert!(
            text.contains(
                "[[watch.router]]\npath = \"/orders\"\nmethods = [\"GET\"]\nfunction = \"orders\"\n"
            )
        );
        assert!(text.contains("path = \"/products/{id}\""));
        assert!(text.contains("path = \"/files/{*proxy}\""));
    }

    #[test]
    fn functions_have_the_environment_that_the_template_gives_them() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let given = [("AWS::StackName", "here"), ("DynamoDbEndpoint", "http://127.0.0.1:1")];
        let template = Template::load(path).unwrap().with_parameters(&given).unwrap();
        let environment = environment(&template).unwrap();
        let value = |name: &str| environment.get(name).map(String::as_str);
        assert_eq!(value("TABLE_PREFIX"), Some(""));
        assert_eq!(value("TENANT_CLAIM"), Some("custom:tenant"));
        assert_eq!(value("METRICS_NAMESPACE"), Some("Chaveiro/here"));
        assert_eq!(value("AWS_ENDPOINT_URL_DYNAMODB"), Some("http://127.0.0.1:1"));
        for rollout in tables::ROLLOUTS {
            let variable = rollout.variable();
            assert_eq!(value(&variable), Some("read"), "{variable}");
        }
    }

    #[test]
    fn functions_that_disagree_are_named() {
        let function = |id: &str, value: &str| {
            format!(
                "  {id}: {{ Type: 'AWS::Serverless::Function', Properties: {{ CodeUri: functions/{id}, \
                 Environment: {{ Variables: {{ A: {value} }} }} }} }}\n"
            )
        };
        let template =
            Template::parse(&format!("Resources:\n{}{}", function("x", "a"), function("y", "b"))).unwrap();
        let error = environment(&template).unwrap_err().to_string();
        assert_eq!(
            error,
            "Resources.y.Properties.Environment.Variables.A: differs from the value that another function has"
        );
    }
}
