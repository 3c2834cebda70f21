//! Events of API Gateway, as it sends them.

use serde_json::{Map, Value, json};

/// A request that becomes an event of either kind.
#[derive(Debug, Clone)]
pub struct Event {
    method: &'static str,
    /// The route's path, placeholders and all.
    route: String,
    /// The values of the placeholders.
    values: Vec<(String, String)>,
    query: Vec<(String, String)>,
    headers: Map<String, Value>,
    claims: Option<Value>,
    body: Option<String>,
}

/// `GET path` by somebody of this tenant.
pub fn get(route: &str, tenant: &str) -> Event {
    Event {
        method: "GET",
        route: route.to_owned(),
        values: Vec::new(),
        query: Vec::new(),
        headers: Map::new(),
        claims: Some(json!({"sub": "a3f1", "custom:tenant": tenant, "exp": "1790000000"})),
        body: None,
    }
}

/// `POST path` by somebody of this tenant.
pub fn post(route: &str, tenant: &str, body: &Value) -> Event {
    Event { method: "POST", body: Some(body.to_string()), ..get(route, tenant) }
}

/// A text as it stands in a URL.
fn encoded(text: &str) -> String {
    text.bytes()
        .map(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => {
                char::from(byte).to_string()
            }
            _ => format!("%{byte:02X}"),
        })
        .collect()
}

impl Event {
    pub fn method(mut self, method: &'static str) -> Self {
        self.method = method;
        self
    }

    /// With this parameter: in the path, where the route has a placeholder of this name.
    pub fn with(mut self, name: &str, value: impl ToString) -> Self {
        let field = (name.to_owned(), value.to_string());
        if self.route.contains(&format!("{{{name}}}")) && !self.values.iter().any(|(known, _)| known == name)
        {
            self.values.push(field);
        } else {
            self.query.push(field);
        }
        self
    }

    /// With another value for a parameter of the query.
    pub fn replaced(mut self, name: &str, value: &str) -> Self {
        self.query.retain(|(known, _)| known != name);
        self.with(name, value)
    }

    /// The path, each placeholder replaced by its value.
    fn path(&self, write: impl Fn(&str) -> String) -> String {
        self.values.iter().fold(self.route.clone(), |path, (name, value)| {
            path.replace(&format!("{{{name}}}"), &write(value))
        })
    }

    fn path_parameters(&self, write: impl Fn(&str) -> String) -> Value {
        let values: Map<String, Value> =
            self.values.iter().map(|(name, value)| (name.clone(), json!(write(value)))).collect();
        if values.is_empty() { Value::Null } else { Value::Object(values) }
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
        let raw_query: Vec<String> =
            self.query.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value))).collect();
        let mut event = json!({
            "version": "2.0",
            "routeKey": format!("{} {}", self.method, self.route),
            // An HTTP API decodes the raw path, too.
            "rawPath": self.path(str::to_owned),
            "rawQueryString": raw_query.join("&"),
            "headers": self.headers,
            "requestContext": {
                "apiId": "api",
                "http": {"method": self.method, "path": self.path(str::to_owned), "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
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
        if !self.values.is_empty() {
            event["pathParameters"] = self.path_parameters(str::to_owned);
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
            "resource": self.route,
            "path": self.path(encoded),
            "httpMethod": self.method,
            "headers": self.headers,
            "multiValueHeaders": null,
            "queryStringParameters": or_null(single),
            "multiValueQueryStringParameters": or_null(several),
            // A REST API leaves them as they stand in the URL.
            "pathParameters": self.path_parameters(encoded),
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

    /// As `cargo lambda watch` sends it: payload 2.0 with the default route and a path that is raw.
    pub fn local(&self) -> Value {
        let mut event = self.http();
        event["routeKey"] = json!("$default");
        event["rawPath"] = json!(self.path(encoded));
        event["pathParameters"] = self.path_parameters(encoded);
        event
    }
}
