//! How any question of a list is asked, from its declaration.

use kit::list::{List, Question};
use serde_json::{Map, Value, json};

/// The tenant that asks.
pub const TENANT: &str = "tenant-0000";

/// The customer, order, product or other entity that it asks about.
pub const ENTITY: &str = "entity-0000";

/// The month that it asks about.
pub const MONTH: &str = "2026-03";

/// The period that it asks about: that month, and one before and after it in which nothing is stored.
pub const PERIOD: [&str; 2] = ["2026-02-01", "2026-04-30"];

/// The parameters that ask a question, without those that may be left out.
#[must_use]
pub fn parameters(question: &Question) -> Vec<(String, String)> {
    let value = |name: &str| match name {
        "month" => MONTH,
        "from" => PERIOD[0],
        "to" => PERIOD[1],
        _ => ENTITY,
    };
    question.required().into_iter().flatten().map(|name| (name.to_owned(), value(name).to_owned())).collect()
}

/// An event of an HTTP API that asks a list with these parameters. Their values need no escape in a URL.
#[must_use]
pub fn event(list: &List, parameters: &[(String, String)]) -> Value {
    let placeholder = |name: &str| format!("{{{name}}}");
    let mut path = list.path().to_owned();
    let (mut in_path, mut in_query) = (Map::new(), Vec::new());
    for (name, value) in parameters {
        if path.contains(&placeholder(name)) {
            path = path.replace(&placeholder(name), value);
            in_path.insert(name.clone(), json!(value));
        } else {
            in_query.push(format!("{name}={value}"));
        }
    }
    json!({
        "version": "2.0",
        "routeKey": format!("GET {}", list.path()),
        "rawPath": path,
        "rawQueryString": in_query.join("&"),
        "pathParameters": in_path,
        "headers": {},
        "requestContext": {
            "http": {"method": "GET", "path": path},
            "requestId": "measure",
            "stage": "$default",
            "authorizer": {"jwt": {"claims": {"custom:tenant": TENANT}}},
        },
        "isBase64Encoded": false,
    })
}
