//! A gateway on loopback, and the function's environments behind it.
//!
//! As on Lambda, an environment is a process that has one event at a time, and another one is started while all
//! are busy. Beyond the bound, requests wait.

use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use crate::Failure;
use crate::bench::process::Process;
use crate::stress::dynamodb::{DynamoDb, Port};

/// The header with the id that a gateway gave a request.
pub const REQUEST_ID: &str = "apigw-requestid";

/// The header that says for whom a request is. It stands in for the token.
pub const TENANT: &str = "x-local-tenant";

/// A process of the function, and the port at which it asks DynamoDB.
pub struct Environment {
    /// The process.
    pub process: Process,
    /// The port.
    pub port: Arc<Port>,
    /// How many files and sockets it had open once it was started.
    pub open_files: usize,
}

/// What was seen of the environments since it was last asked.
#[derive(Debug, Clone, Default)]
pub struct Seen {
    /// How many answered lines the log has.
    pub lines: u64,
    /// The read units of those.
    pub read_units: f64,
    /// Their calls to DynamoDB.
    pub calls: u64,
    /// How many environments were started.
    pub started: usize,
    /// The longest that one took to answer.
    pub slowest: Duration,
    /// What should not be.
    pub problems: Vec<String>,
}

/// The environments of one function.
pub struct Environments {
    binary: PathBuf,
    time_to_answer: Duration,
    database: Arc<DynamoDb>,
    places: Semaphore,
    free: Mutex<VecDeque<Arc<Environment>>>,
    all: Mutex<Vec<Arc<Environment>>>,
    seen: Arc<Mutex<Seen>>,
    requests: AtomicU64,
}

/// What the line of a request in the log tells of its cost.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Line {
    read_units: f64,
    calls: u64,
}

/// What a function answers to a gateway.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Proxied {
    status_code: u16,
    headers: BTreeMap<String, String>,
    body: String,
    is_base64_encoded: bool,
}

impl Environments {
    /// At most so many environments of this binary, each of which has `time_to_answer` for an event.
    #[must_use]
    pub fn new(binary: PathBuf, database: Arc<DynamoDb>, most: usize, time_to_answer: Duration) -> Arc<Self> {
        Arc::new(Self {
            binary,
            time_to_answer,
            database,
            places: Semaphore::new(most),
            free: Mutex::default(),
            all: Mutex::default(),
            seen: Arc::default(),
            requests: AtomicU64::default(),
        })
    }

    /// Serves them behind a gateway. Gives its URL.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn serve(self: &Arc<Self>) -> Result<String, Failure> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let routes = Router::new().fallback(proxy).with_state(self.clone());
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok(url)
    }

    /// All environments that were started.
    #[must_use]
    pub fn all(&self) -> Vec<Arc<Environment>> {
        locked(&self.all).clone()
    }

    /// What was seen since this was last asked, once the log has a line for each of so many requests.
    pub async fn seen(&self, requests: usize) -> Seen {
        // A line is written before the answer, and read by a thread of its own.
        for _ in 0..200 {
            if locked(&self.seen).lines >= requests as u64 {
                break;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let mut seen = std::mem::take(&mut *locked(&self.seen));
        if seen.lines != requests as u64 {
            seen.problems.push(format!("{requests} requests left {} lines in the log", seen.lines));
        }
        seen
    }

    /// Has a free environment answer an event, or another one that is started for it.
    async fn invoke(&self, event: Bytes) -> Result<Bytes, Failure> {
        let _place = self.places.acquire().await?;
        let free = locked(&self.free).pop_front();
        let environment = match free {
            Some(environment) => environment,
            None => self.start().await?,
        };
        // One that does not answer is not asked again.
        let answer = environment.process.invoke(event).await?;
        locked(&self.free).push_back(environment);
        let mut seen = locked(&self.seen);
        seen.slowest = seen.slowest.max(answer.taken);
        if answer.taken >= self.time_to_answer {
            seen.problems.push(format!("an answer after {:?}, which is past its deadline", answer.taken));
        }
        if answer.is_error {
            return Err(format!("the function failed: {}", String::from_utf8_lossy(&answer.body)).into());
        }
        Ok(answer.body)
    }

    async fn start(&self) -> Result<Arc<Environment>, Failure> {
        let port = self.database.open().await?;
        let seen = self.seen.clone();
        let line = move |line: String| {
            let mut seen = locked(&seen);
            match serde_json::from_str(&line) {
                Ok(Line { read_units, calls }) => {
                    seen.lines += 1;
                    seen.read_units += read_units;
                    seen.calls += calls;
                }
                Err(_) => seen.problems.push(format!("a line in the log that is of no request: {line}")),
            }
        };
        let process = Process::start(&self.binary, &port.url, self.time_to_answer, &[], line).await?;
        let open_files = process.open_files()?;
        let environment = Arc::new(Environment { process, port, open_files });
        locked(&self.all).push(environment.clone());
        locked(&self.seen).started += 1;
        Ok(environment)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn proxy(
    State(environments): State<Arc<Environments>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
) -> Response {
    // What API Gateway says of itself has this form.
    let message =
        |status: StatusCode, text: &str| (status, json!({"message": text}).to_string()).into_response();
    if method != Method::GET || uri.path() != orders::LIST.path() {
        return message(StatusCode::NOT_FOUND, "Not Found");
    }
    let Some(tenant) = headers.get(TENANT).and_then(|tenant| tenant.to_str().ok()) else {
        return message(StatusCode::UNAUTHORIZED, "Unauthorized");
    };
    let id = format!("request-{:07}=", environments.requests.fetch_add(1, Ordering::Relaxed));
    let event = event(&uri, &headers, tenant, &id).to_string();
    let answered = environments.invoke(event.into()).await.and_then(|answer| unfolded(&answer));
    let mut response = answered.unwrap_or_else(|problem| {
        locked(&environments.seen).problems.push(problem.to_string());
        message(StatusCode::INTERNAL_SERVER_ERROR, "Internal Server Error")
    });
    if let Ok(id) = id.parse() {
        response.headers_mut().insert(REQUEST_ID, id);
    }
    response
}

/// The event that an HTTP API makes of a request, in payload format 2.0. The token's claims are those of a
/// tenant.
///
/// Source: Amazon API Gateway developer guide, "Lambda proxy integrations for HTTP APIs".
fn event(uri: &Uri, headers: &HeaderMap, tenant: &str, id: &str) -> Value {
    let (path, query) = (uri.path(), uri.query().unwrap_or_default());
    let route = format!("GET {path}");
    let headers: Map<String, Value> = headers
        .iter()
        .filter(|(name, _)| *name != TENANT)
        .map(|(name, value)| (name.to_string(), json!(value.to_str().unwrap_or_default())))
        .collect();
    let mut event = json!({
        "version": "2.0",
        "routeKey": route,
        "rawPath": path,
        "rawQueryString": query,
        "headers": headers,
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "local",
            "authorizer": {"jwt": {"claims": {"custom:tenant": tenant}, "scopes": null}},
            "domainName": "local.execute-api.sa-east-1.amazonaws.com",
            "http": {
                "method": "GET", "path": path, "protocol": "HTTP/1.1", "sourceIp": "127.0.0.1", "userAgent": "stress",
            },
            "requestId": id,
            "routeKey": route,
            "stage": "$default",
        },
        "isBase64Encoded": false,
    });
    // It is left out where there is none. None of the queries asked here has an escape.
    let parameters: Map<String, Value> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), json!(value)))
        .collect();
    if let (Some(event), false) = (event.as_object_mut(), parameters.is_empty()) {
        event.insert("queryStringParameters".to_owned(), Value::Object(parameters));
    }
    event
}

/// The response that a gateway makes of a function's answer.
fn unfolded(answer: &[u8]) -> Result<Response, Failure> {
    let Proxied { status_code, headers, body, is_base64_encoded } = serde_json::from_slice(answer)?;
    let body = if is_base64_encoded { BASE64.decode(body)? } else { body.into_bytes() };
    let response = Response::builder().status(status_code);
    let response = headers.iter().fold(response, |response, (name, value)| response.header(name, value));
    Ok(response.body(Body::from(body))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_an_event_and_an_answer_a_response() {
        let headers = [(TENANT, "acme"), ("accept", "*/*")];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let event = event(
            &Uri::from_static("/orders?status=PAID&limit=5"),
            &headers.into_iter().collect(),
            "acme",
            "r-1",
        );
        assert_eq!(event["rawQueryString"], "status=PAID&limit=5");
        assert_eq!(event["queryStringParameters"], json!({"status": "PAID", "limit": "5"}));
        assert_eq!(event["headers"], json!({"accept": "*/*"}));
        assert_eq!(event["requestContext"]["authorizer"]["jwt"]["claims"]["custom:tenant"], "acme");

        let answer =
            br#"{"statusCode":503,"headers":{"retry-after":"1"},"body":"e30=","isBase64Encoded":true}"#;
        let response = unfolded(answer).unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["retry-after"]),
            (503, &"1".parse().unwrap())
        );
        assert!(unfolded(b"null").is_err());
    }
}
