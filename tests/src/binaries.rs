//! The real binaries, as whole processes, over sockets: a Lambda Runtime API on one side and the
//! embedded DynamoDB on the other.

use std::collections::{HashMap, VecDeque};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path as UrlPath, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::{Notify, oneshot};

use crate::events;
use crate::registry;

/// The embedded DynamoDB with sample data, on a port of its own.
pub struct Sandbox {
    endpoint: String,
}

/// Opens the database on a port.
pub async fn sandbox() -> Sandbox {
    let world = crate::world::World::new();
    local::sample::load(&world.database, "").unwrap();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let endpoint = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(dynoxide::server::serve_on(listener, world.database));
    Sandbox { endpoint }
}

/// A function's process, with the Runtime API that it polls.
pub struct Running {
    runtime: Arc<RuntimeApi>,
    child: Child,
    lines: Arc<Mutex<Vec<String>>>,
}

#[derive(Default)]
struct RuntimeApi {
    events: Mutex<VecDeque<(String, String)>>,
    added: Notify,
    polled: Notify,
    /// What is sent as the deadline instead of an instant ten seconds from now.
    deadline: Mutex<Option<&'static str>>,
    waiting: Mutex<HashMap<String, oneshot::Sender<Value>>>,
}

impl Running {
    /// Starts a binary and waits until it polls.
    pub async fn start(sandbox: &Sandbox, binary: &Path) -> Self {
        assert!(binary.is_file(), "{} is not built: run make test", binary.display());
        let runtime = Arc::new(RuntimeApi::default());
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(answered))
            .with_state(runtime.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let polled = runtime.polled.notified();
        let mut child = Command::new(binary)
            .env_clear()
            .env("AWS_LAMBDA_RUNTIME_API", address)
            .env("AWS_LAMBDA_FUNCTION_NAME", "function")
            .env("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "256")
            .env("AWS_LAMBDA_FUNCTION_VERSION", "1")
            .env("AWS_REGION", "sa-east-1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "test")
            .env("AWS_ENDPOINT_URL_DYNAMODB", &sandbox.endpoint)
            .env("CURSOR_KEY", crate::world::CURSOR_KEY)
            .stdout(std::process::Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let lines = Arc::new(Mutex::new(Vec::new()));
        let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
        let kept = lines.clone();
        tokio::spawn(async move {
            while let Ok(Some(line)) = output.next_line().await {
                kept.lock().unwrap().push(line);
            }
        });
        tokio::time::timeout(Duration::from_secs(20), polled).await.expect("the function does not poll");
        Self { runtime, child, lines }
    }

    /// Sends an event and waits for the answer.
    pub async fn invoke(&self, event: &str) -> Value {
        static INVOCATIONS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let number = INVOCATIONS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let id = format!("invocation-{number}");
        let (sender, receiver) = oneshot::channel();
        self.runtime.waiting.lock().unwrap().insert(id.clone(), sender);
        self.runtime.events.lock().unwrap().push_back((id, event.to_owned()));
        self.runtime.added.notify_one();
        tokio::time::timeout(Duration::from_secs(20), receiver).await.expect("no answer").unwrap()
    }

    /// What the function wrote to its log so far.
    async fn log(&self, lines: usize) -> Vec<String> {
        for _ in 0..100 {
            let known = self.lines.lock().unwrap().clone();
            if known.len() >= lines {
                return known;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        self.lines.lock().unwrap().clone()
    }
}

async fn next(State(runtime): State<Arc<RuntimeApi>>) -> impl IntoResponse {
    runtime.polled.notify_waiters();
    let (id, event) = loop {
        let event = runtime.events.lock().unwrap().pop_front();
        match event {
            Some(event) => break event,
            None => runtime.added.notified().await,
        }
    };
    let deadline = SystemTime::now() + Duration::from_secs(10);
    let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis();
    let deadline = match *runtime.deadline.lock().unwrap() {
        Some(deadline) => deadline.to_owned(),
        None => deadline.to_string(),
    };
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:sa-east-1:1:function:f".to_owned()),
    ];
    (headers, event)
}

async fn answered(
    State(runtime): State<Arc<RuntimeApi>>,
    UrlPath(id): UrlPath<String>,
    body: Bytes,
) -> StatusCode {
    let answer = serde_json::from_slice(&body).unwrap();
    if let Some(sender) = runtime.waiting.lock().unwrap().remove(&id) {
        let _ = sender.send(answer);
    }
    StatusCode::ACCEPTED
}

/// The debug binary of a function, beside the test's own.
fn debug_binary(name: &str) -> PathBuf {
    let test = std::env::current_exe().unwrap();
    test.parent().unwrap().parent().unwrap().join(name)
}

#[tokio::test]
async fn every_binary_answers_its_events_through_a_runtime_api() {
    let sandbox = sandbox().await;
    for function in registry::all() {
        let running = Running::start(&sandbox, &debug_binary(function.name())).await;
        let files = events::files().remove(function.name()).unwrap();
        let count = files.len();
        for (path, event) in files {
            let answer = running.invoke(&event.to_string()).await;
            if events::is_job(function) {
                assert_eq!(answer["index"], event["index"], "{}: {answer}", path.display());
                continue;
            }
            let status = answer["statusCode"].as_u64();
            assert!(matches!(status, Some(200 | 201 | 204)), "{}: {answer}", path.display());
            if status != Some(204) {
                let body: Value = serde_json::from_str(answer["body"].as_str().unwrap()).unwrap();
                assert!(body.is_object(), "{}", path.display());
            }
        }
        let log = running.log(count).await;
        assert_eq!(log.len(), count, "{}: one line for each request: {log:?}", function.name());
        for line in log {
            let line: Value = serde_json::from_str(&line).unwrap();
            assert_eq!(line["Function"], function.name());
        }
    }
}

#[tokio::test]
async fn no_event_takes_a_process_down() {
    let sandbox = sandbox().await;
    let mut running = Running::start(&sandbox, &debug_binary("orders")).await;
    let good = crate::event::get("/orders", "acme").http();
    let mut raw_space = good.clone();
    raw_space["rawQueryString"] = Value::from("a=b c");
    for event in ["{}", "[]", "null", r#"{"Records":[{"eventSource":"aws:sqs"}]}"#, &raw_space.to_string()] {
        let answer = running.invoke(event).await;
        assert_eq!(answer["statusCode"], 400, "{event}: {answer}");
    }
    // What is not even JSON is refused by the runtime, and the process goes on.
    let refused = running.invoke("not json").await;
    assert!(refused["errorType"].is_string(), "{refused}");
    assert_eq!(running.invoke(&good.to_string()).await["statusCode"], 200);
    assert_eq!(running.child.try_wait().unwrap(), None);
}

#[tokio::test]
async fn a_function_that_cannot_start_says_why_and_says_no_secret() {
    let output = Command::new(debug_binary("orders"))
        .env_clear()
        .env("AWS_SECRET_ACCESS_KEY", "hush")
        .env("AWS_REGION", "sa-east-1")
        .output()
        .await
        .unwrap();
    assert!(!output.status.success());
    let line = String::from_utf8(output.stdout).unwrap();
    assert!(line.contains("AWS_ACCESS_KEY_ID is not set"), "{line}");
    assert!(!line.contains("hush"), "{line}");
}

#[tokio::test]
async fn the_local_runtime_is_understood_and_understands() {
    let sandbox = sandbox().await;
    let running = Running::start(&sandbox, &debug_binary("orders")).await;
    // `cargo lambda watch` gives a time-out where Lambda gives an instant.
    *running.runtime.deadline.lock().unwrap() = Some("600000");
    let event = crate::event::get("/orders", "acme").claims(None).header("x-local-tenant", "acme");
    let answer = running.invoke(&event.local().to_string()).await;
    assert_eq!(answer["statusCode"], 200, "{answer}");
    // It does not read an answer without cookies, and a REST API does not know them.
    assert_eq!(answer["cookies"], serde_json::json!([]));
    let answer = running.invoke(&crate::event::get("/orders", "acme").rest().to_string()).await;
    assert_eq!((&answer["statusCode"], answer.get("cookies")), (&serde_json::json!(200), None));
}
