//! A Lambda Runtime API for one process: it hands out one event, as often as it is told to.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use tokio::sync::Notify;

use crate::Failure;
use crate::bench::PATIENCE;

/// The time that an invocation has.
const TIME_TO_ANSWER: Duration = Duration::from_secs(10);

/// What goes on between the API and its process.
#[derive(Default)]
pub struct RuntimeApi {
    event: String,
    first_poll: OnceLock<Instant>,
    /// How often the event is still to be handed out.
    left: AtomicUsize,
    added: Notify,
    /// The process polls, and there is nothing left.
    idle: Notify,
    refused: AtomicUsize,
    last_answer: Mutex<Bytes>,
    handed_out: Mutex<Option<Instant>>,
    last_took: Mutex<Duration>,
}

impl RuntimeApi {
    /// Serves on a port of its own. Gives its address as well.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn serve(event: String) -> Result<(Arc<Self>, String), Failure> {
        let api = Arc::new(Self { event, ..Self::default() });
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(failed))
            .with_state(api.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        tokio::spawn(async move { axum::serve(listener, routes).await });
        Ok((api, address))
    }

    /// When the process polled first.
    #[must_use]
    pub fn first_poll(&self) -> Option<Instant> {
        self.first_poll.get().copied()
    }

    /// Waits until the process polls and there is nothing left for it.
    ///
    /// # Errors
    ///
    /// It takes too long.
    pub async fn idle(&self) -> Result<(), Failure> {
        let waited = tokio::time::timeout(PATIENCE, self.idle.notified()).await;
        waited.map_err(|_| "a function does not poll".into())
    }

    /// Hands out the event so many times, and waits until all are answered.
    ///
    /// # Errors
    ///
    /// It takes too long, or an answer is none of success.
    pub async fn hand_out(&self, times: usize) -> Result<(), Failure> {
        self.left.store(times, Ordering::Relaxed);
        self.added.notify_one();
        self.idle().await?;
        if self.refused.load(Ordering::Relaxed) == 0 {
            return Ok(());
        }
        Err(format!("a function answered {}", String::from_utf8_lossy(&self.last_answer())).into())
    }

    /// The last answer, or the last that was none of success.
    #[must_use]
    pub fn last_answer(&self) -> Bytes {
        within(&self.last_answer).clone()
    }

    /// The time from handing the event out to having the answer, of the last one.
    #[must_use]
    pub fn last_took(&self) -> Duration {
        *within(&self.last_took)
    }

    fn keep(&self, answer: Bytes, success: bool) {
        if let Some(handed_out) = within(&self.handed_out).take() {
            *within(&self.last_took) = handed_out.elapsed();
        }
        if success && self.refused.load(Ordering::Relaxed) > 0 {
            return;
        }
        self.refused.fetch_add(usize::from(!success), Ordering::Relaxed);
        *within(&self.last_answer) = answer;
    }
}

fn within<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn next(State(api): State<Arc<RuntimeApi>>) -> impl IntoResponse {
    let _ = api.first_poll.set(Instant::now());
    // Only one process polls, and it does one thing at a time.
    let number = loop {
        let left = api.left.load(Ordering::Relaxed);
        if let Some(left) = left.checked_sub(1) {
            api.left.store(left, Ordering::Relaxed);
            break left;
        }
        api.idle.notify_one();
        api.added.notified().await;
    };
    let deadline = SystemTime::now() + TIME_TO_ANSWER;
    let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let headers = [
        ("lambda-runtime-aws-request-id", format!("8476a536-e9f4-11e8-9739-{number:012}")),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:sa-east-1:1:function:f".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    let event = api.event.clone();
    *within(&api.handed_out) = Some(Instant::now());
    (headers, event)
}

async fn answered(State(api): State<Arc<RuntimeApi>>, answer: Bytes) -> StatusCode {
    let success = answer.starts_with(br#"{"statusCode":200"#);
    api.keep(answer, success);
    StatusCode::ACCEPTED
}

async fn failed(State(api): State<Arc<RuntimeApi>>, answer: Bytes) -> StatusCode {
    api.keep(answer, false);
    StatusCode::ACCEPTED
}
