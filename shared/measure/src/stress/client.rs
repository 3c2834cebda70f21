//! So many at once who ask and wait for the answer, and what they saw.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::body::Bytes;
use axum::http::Request;
use http_body_util::{BodyExt as _, Full};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use kit::error::chain;
use serde::Serialize;
use tokio::task::JoinSet;

use crate::Failure;
use crate::stress::gateway::TENANT;
use crate::stress::judge::{self, Answer};
use crate::stress::known::Question;

/// How many problems are told in words.
const TOLD: usize = 10;

/// Who asks a gateway.
pub struct Asking {
    client: Client<HttpConnector, Full<Bytes>>,
    gateway: String,
    patience: Duration,
    progress: Arc<dyn Fn() + Send + Sync>,
}

/// What should not be: how often, and the first of it in words.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Problems {
    /// How often.
    pub count: usize,
    /// The first of them.
    pub first: Vec<String>,
}

/// What was seen of a number of requests.
#[derive(Debug, Default)]
pub struct Round {
    /// How long each took.
    pub latencies: Vec<Duration>,
    /// How many had each status.
    pub statuses: BTreeMap<u16, usize>,
    /// How long all took together.
    pub taken: Duration,
    /// What was wrong.
    pub problems: Problems,
}

/// Latencies in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Latency {
    /// Half took no longer.
    pub p50: f64,
    /// Nine in ten took no longer.
    pub p90: f64,
    /// Ninety-nine in a hundred took no longer.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

impl Problems {
    /// Adds one.
    pub fn add(&mut self, problem: String) {
        self.count += 1;
        if self.first.len() < TOLD {
            self.first.push(problem);
        }
    }

    /// Adds those, and says of what they are.
    pub fn extend(&mut self, of: &str, others: Self) {
        let told = others.first.len();
        others.first.into_iter().for_each(|problem| self.add(format!("{of}: {problem}")));
        self.count += others.count - told;
    }
}

impl Latency {
    /// Of latencies, shortest first; `None` if there are none.
    #[must_use]
    pub fn of(sorted: &[Duration]) -> Option<Self> {
        // By nearest rank: the shortest that so many are not longer than.
        let at = |percent: usize| {
            let rank = (sorted.len() * percent).div_ceil(100);
            Some(sorted.get(rank.checked_sub(1)?)?.as_secs_f64() * 1e3)
        };
        Some(Self { p50: at(50)?, p90: at(90)?, p99: at(99)?, max: at(100)? })
    }
}

impl Asking {
    /// Asks the gateway at this URL, and waits no longer for an answer than `patience`. `progress` is called
    /// at each answer.
    #[must_use]
    pub fn new(gateway: &str, patience: Duration, progress: Arc<dyn Fn() + Send + Sync>) -> Arc<Self> {
        let client = Client::builder(TokioExecutor::new()).build_http();
        let gateway = gateway.trim_end_matches('/').to_owned();
        Arc::new(Self { client, gateway, patience, progress })
    }

    /// Asks a question.
    ///
    /// # Errors
    ///
    /// No answer comes.
    pub async fn ask(&self, question: &Question) -> Result<Answer, Failure> {
        let request = Request::get(format!("{}{}", self.gateway, question.path))
            .header(TENANT, question.tenant)
            .body(Full::default())?;
        let answered = async {
            let (parts, body) = self.client.request(request).await?.into_parts();
            let body = body.collect().await?.to_bytes();
            Ok::<_, Failure>(Answer { status: parts.status.as_u16(), headers: parts.headers, body })
        };
        let answered =
            tokio::time::timeout(self.patience, answered).await.unwrap_or_else(|late| Err(late.into()));
        answered.map_err(|error| format!("no answer from {}: {}", self.gateway, chain(&*error)).into())
    }

    /// Asks the questions in turn, so many times in all and so many at once, and judges the answers.
    pub async fn round(
        self: &Arc<Self>,
        questions: &Arc<Vec<Question>>,
        requests: usize,
        at_once: usize,
        allowed: &'static [u16],
    ) -> Round {
        let began = Instant::now();
        let next = Arc::new(AtomicUsize::new(0));
        let mut workers = JoinSet::new();
        for _ in 0..at_once {
            let (asking, questions, next) = (self.clone(), questions.clone(), next.clone());
            workers.spawn(async move {
                let mut round = Round::default();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    let question = questions.get(number % questions.len().max(1));
                    let Some(question) = question.filter(|_| number < requests) else { return round };
                    let began = Instant::now();
                    let answer = asking.ask(question).await;
                    round.latencies.push(began.elapsed());
                    let problem = match answer {
                        Ok(answer) => {
                            *round.statuses.entry(answer.status).or_default() += 1;
                            judge::problem(&answer, question.right.as_ref(), allowed)
                        }
                        Err(problem) => Some(problem.to_string()),
                    };
                    if let Some(problem) = problem {
                        round.problems.add(format!("{} of {}: {problem}", question.path, question.tenant));
                    }
                    (asking.progress)();
                }
            });
        }
        let mut round = Round::default();
        while let Some(worker) = workers.join_next().await {
            match worker {
                Ok(of_worker) => round.join(of_worker),
                Err(problem) => round.problems.add(problem.to_string()),
            }
        }
        round.taken = began.elapsed();
        round
    }
}

impl Round {
    /// Adds what another one saw.
    pub fn join(&mut self, other: Self) {
        self.latencies.extend(other.latencies);
        for (status, count) in other.statuses {
            *self.statuses.entry(status).or_default() += count;
        }
        self.taken += other.taken;
        let Problems { count, first } = other.problems;
        self.problems.count += count;
        self.problems.first.extend(first);
        self.problems.first.truncate(TOLD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_latencies() {
        let of = |count: u64| Latency::of(&(1..=count).map(Duration::from_millis).collect::<Vec<_>>());
        assert_eq!(of(0), None);
        assert_eq!(of(1), Some(Latency { p50: 1.0, p90: 1.0, p99: 1.0, max: 1.0 }));
        assert_eq!(of(10), Some(Latency { p50: 5.0, p90: 9.0, p99: 10.0, max: 10.0 }));
        assert_eq!(of(1_000), Some(Latency { p50: 500.0, p90: 900.0, p99: 990.0, max: 1_000.0 }));
    }

    #[test]
    fn of_many_problems_the_first_are_told_and_all_are_counted() {
        let mut some = Problems::default();
        (0..25).for_each(|number| some.add(format!("{number}")));
        let mut all = Problems::default();
        all.extend("a step", some);
        assert_eq!((all.count, all.first.len()), (25, TOLD));
        assert_eq!(all.first[9], "a step: 9");
    }
}
