//! Events of API Gateway, as it sends them.

use serde_json::{Map, Value, json};

/// A request that becomes an event of either kind.
#[derive(Debug, Clone)]
pub struct Event {
    method: &'static str,
    path: String,
    query: Vec<(String, String)>,
    headers: Map<String, Value>,
    claims: Option<Value>,
    body: Option<String>,
}

/// `GET path` by somebody of this tenant.
pub fn get(path: &str, tenant: &str) -> Event {
    Event {
        method: "GET",
        path: path.to_owned(),
        query: Vec::new(),
        headers: Map::new(),
        claims: Some(json!({"sub": "a3f1", "custom:tenant": tenant, "exp": "1790000000"})),
        body: None,
    }
}

/// `POST path` by somebody of this tenant.
pub fn post(path: &str, tenant: &str, body: &Value) -> Event {
    Event { method: "POST", body: Some(body.to_string()), ..get(path, tenant) }
}

impl Event {
    pub fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        self.query.push((name.to_owned(), value.to_string()));
        self
    }

    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(name.to_owned(), json!(value));
        self
    }

    pub fn claims(mut self, claims: Option<Value>) -> Self {
        self.claims = claims;
        self
    }

    pub fn raw_body(mut self, body: &str) -> Self {
        self.body = Some(body.to_owned());
        self
    }

    /// As an HTTP API sends it, payload 2.0.
    pub fn http(&self) -> Value {
        let raw = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                        char::from(byte).to_string()
                    }
                    _ => format!("%{byte:02X}"),
                })
                .collect()
        };
        let raw_query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", raw(name), raw(value))).collect();
        let mut event = json!({
            "version": "2.0",
            "routeKey": format!("{} {}", self.method, self.path),
            "rawPath": self.path,
            "rawQueryString": raw_query.join("&"),
            "headers": self.headers,
            "requestContext": {
                "apiId": "api",
                "http": {"method": self.method, "path": self.path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
                "requestId": "gateway-request",
                "stage": "$default",
            },
            "isBase64Encoded": false,
        });
        if !self.query.is_empty() {
            event["queryStringParameters"] = self
                .query
                .iter()
                .cloned()
                .collect::<std::collections::BTreeMap<_, _>>()
                .into_iter()
                .map(|(name, value)| (name, json!(value)))
                .collect::<Map<_, _>>()
                .into();
        }
        if let Some(claims) = &self.claims {
            event["requestContext"]["authorizer"] = json!({"jwt": {"claims": claims, "scopes": null}});
        }
        if let Some(body) = &self.body {
            event["body"] = json!(body);
        }
        event
    }

    /// As a REST API sends it, payload 1.0.
    pub fn rest(&self) -> Value {
        let mut single = Map::new();
        let mut several: Map<String, Value> = Map::new();
        for (name, value) in &self.query {
            single.insert(name.clone(), json!(value));
            let values = several.entry(name.clone()).or_insert(json!([]));
            values.as_array_mut().unwrap().push(json!(value));
        }
        let or_null = |map: Map<String, Value>| if map.is_empty() { Value::Null } else { Value::Object(map) };
        let mut event = json!({
            "resource": self.path,
            "path": self.path,
            "httpMethod": self.method,
            "headers": self.headers,
            "multiValueHeaders": null,
            "queryStringParameters": or_null(single),
            "multiValueQueryStringParameters": or_null(several),
            "pathParameters": null,
            "stageVariables": null,
            "requestContext": {"requestId": "gateway-request", "stage": "prod", "httpMethod": self.method},
            "body": self.body,
            "isBase64Encoded": false,
        });
        if let Some(claims) = &self.claims {
            event["requestContext"]["authorizer"] = json!({"claims": claims});
        }
        event
    }
}
