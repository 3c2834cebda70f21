//! A Lambda Runtime API for one process: it hands out events, one after the other, and takes the answers.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use kit::http::MAX_ANSWER_BYTES;
use tokio::sync::{Notify, oneshot, watch};

use crate::Failure;
use crate::bench::PATIENCE;

/// How long an answer is waited for once its deadline is over, so that a late one is told as late.
const AFTER_THE_DEADLINE: Duration = Duration::from_secs(2);

/// What goes on between the API and its process.
pub struct RuntimeApi {
    /// The time that an invocation has.
    time_to_answer: Duration,
    first_poll: OnceLock<Instant>,
    /// How often the process has polled.
    polls: watch::Sender<usize>,
    /// How many events it was given.
    given: AtomicUsize,
    next: Mutex<Option<Invocation>>,
    added: Notify,
    under_way: Mutex<Option<UnderWay>>,
}

struct Invocation {
    event: Bytes,
    answer: oneshot::Sender<Answer>,
}

struct UnderWay {
    id: String,
    began: Instant,
    answer: oneshot::Sender<Answer>,
}

/// What a function answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// What it sent.
    pub body: Bytes,
    /// Whether that is an error instead of an answer.
    pub is_error: bool,
    /// The time from handing the event out to the answer.
    pub taken: Duration,
}

impl RuntimeApi {
    /// Serves on a port of its own. Gives its address as well.
    ///
    /// # Errors
    ///
    /// There is no port.
    pub async fn serve(time_to_answer: Duration) -> Result<(Arc<Self>, String), Failure> {
        let api = Arc::new(Self {
            time_to_answer,
            first_poll: OnceLock::new(),
            polls: watch::Sender::default(),
            given: AtomicUsize::default(),
            next: Mutex::default(),
            added: Notify::default(),
            under_way: Mutex::default(),
        });
        let routes = Router::new()
            .route("/2018-06-01/runtime/invocation/next", get(next))
            .route("/2018-06-01/runtime/invocation/{id}/response", post(answered))
            .route("/2018-06-01/runtime/invocation/{id}/error", post(failed))
            .layer(DefaultBodyLimit::max(MAX_ANSWER_BYTES))
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
        let given = self.given.load(Ordering::Relaxed);
        let mut polls = self.polls.subscribe();
        let waited = tokio::time::timeout(PATIENCE, polls.wait_for(|polls| *polls > given)).await;
        waited.map_err(|_| "a function does not poll")??;
        Ok(())
    }

    /// Hands out an event and waits for the answer, also for one that comes a little late. One at a time.
    ///
    /// # Errors
    ///
    /// None comes.
    pub async fn invoke(&self, event: Bytes) -> Result<Answer, Failure> {
        let (sender, answer) = oneshot::channel();
        *locked(&self.next) = Some(Invocation { event, answer: sender });
        self.added.notify_one();
        let waited = tokio::time::timeout(self.time_to_answer + AFTER_THE_DEADLINE, answer).await;
        Ok(waited.map_err(|_| "a function does not answer")??)
    }

    fn answered(&self, id: &str, body: Bytes, is_error: bool) -> StatusCode {
        let under_way = locked(&self.under_way).take_if(|under_way| under_way.id == id);
        if let Some(UnderWay { began, answer, .. }) = under_way {
            // Whoever has waited too long is gone.
            let _ = answer.send(Answer { body, is_error, taken: began.elapsed() });
        }
        StatusCode::ACCEPTED
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn next(State(api): State<Arc<RuntimeApi>>) -> impl IntoResponse {
    let _ = api.first_poll.set(Instant::now());
    api.polls.send_modify(|polls| *polls += 1);
    // Only one process polls, and it does one thing at a time.
    let Invocation { event, answer } = loop {
        let next = locked(&api.next).take();
        match next {
            Some(invocation) => break invocation,
            None => api.added.notified().await,
        }
    };
    let number = api.given.fetch_add(1, Ordering::Relaxed);
    let id = format!("8476a536-e9f4-11e8-9739-{number:012}");
    *locked(&api.under_way) = Some(UnderWay { id: id.clone(), began: Instant::now(), answer });
    let deadline = SystemTime::now() + api.time_to_answer;
    let deadline = deadline.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let headers = [
        ("lambda-runtime-aws-request-id", id),
        ("lambda-runtime-deadline-ms", deadline.to_string()),
        ("lambda-runtime-invoked-function-arn", "arn:aws:lambda:sa-east-1:1:function:f".to_owned()),
        ("content-type", "application/json".to_owned()),
    ];
    (headers, event)
}

async fn answered(State(api): State<Arc<RuntimeApi>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    api.answered(&id, body, false)
}

async fn failed(State(api): State<Arc<RuntimeApi>>, Path(id): Path<String>, body: Bytes) -> StatusCode {
    api.answered(&id, body, true)
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test]
    async fn answers_may_be_as_large_as_lambda_takes_them() {
        let (_, address) = RuntimeApi::serve(PATIENCE).await.unwrap();
        for (bytes, expected) in [(MAX_ANSWER_BYTES, "HTTP/1.1 202"), (MAX_ANSWER_BYTES + 1, "HTTP/1.1 413")]
        {
            let mut connection = tokio::net::TcpStream::connect(&address).await.unwrap();
            let path = "/2018-06-01/runtime/invocation/nobodys/response";
            let head = format!("POST {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {bytes}\r\n\r\n");
            connection.write_all(head.as_bytes()).await.unwrap();
            // What is refused by its length is not read to its end.
            let _ = connection.write_all(&vec![b'x'; bytes]).await;
            let mut answer = vec![0; expected.len()];
            connection.read_exact(&mut answer).await.unwrap();
            assert_eq!(String::from_utf8_lossy(&answer), expected, "{bytes}");
        }
    }
}
