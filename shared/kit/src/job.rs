//! How a function that no route leads to is declared: a maintenance job, invoked by a person or by a state
//! machine.

use std::pin::Pin;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use tokio::time::Instant;

use crate::dynamo::Db;
use crate::error::{Code, Error};
use crate::key::{Rollout, Table};
use crate::load::{self, LoadRequest};
use crate::report::{self, ReportRequest};
use crate::rollout::Stages;

/// A maintenance job.
#[derive(Debug)]
pub struct Job {
    name: &'static str,
    rollouts: &'static [&'static Rollout],
    work: Work,
    run: Run,
}

/// What a job does.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// Gives the items that are stored already the key of a new index, see [`crate::load`]. The table keeps
    /// how far it is.
    Load(Table),
    /// Tells what is in a new index and what is not, see [`crate::report`].
    Report,
}

/// How a job does what an event asks. It is a pointer, so that no list carries the code of the jobs.
type Run = for<'a> fn(&'static Job, &'a str, &'a Stages, &'a Db, Instant) -> Running<'a>;

type Running<'a> = Pin<Box<dyn Future<Output = Done> + Send + 'a>>;

/// What a job did, or why it did not.
#[derive(Debug)]
pub struct Done {
    /// The name of the rollout it worked for, where the event said one.
    pub index: Option<&'static str>,
    /// The answer.
    pub outcome: Result<Value, Error>,
}

impl Job {
    /// The job that loads the indexes of `rollouts` and keeps in `progress` how far it is.
    #[must_use]
    pub const fn load(name: &'static str, rollouts: &'static [&'static Rollout], progress: Table) -> Self {
        Self { name, rollouts, work: Work::Load(progress), run: run_load }
    }

    /// The job that reports on the indexes of `rollouts`.
    #[must_use]
    pub const fn report(name: &'static str, rollouts: &'static [&'static Rollout]) -> Self {
        Self { name, rollouts, work: Work::Report, run: run_report }
    }

    /// Its name: that of its folder, its package and its event folder.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The rollouts it works for.
    #[must_use]
    pub const fn rollouts(&self) -> &'static [&'static Rollout] {
        self.rollouts
    }

    /// What it does.
    #[must_use]
    pub const fn work(&self) -> Work {
        self.work
    }

    /// Does what an event asks, until `deadline` at the latest.
    pub async fn run(&'static self, event: &str, stages: &Stages, db: &Db, deadline: Instant) -> Done {
        (self.run)(self, event, stages, db, deadline).await
    }

    /// What an event asks, and the rollout that it names.
    fn asked<T: DeserializeOwned>(
        &self,
        event: &str,
        index: fn(&T) -> &String,
    ) -> Result<(&'static Rollout, T), Error> {
        let request: T = serde_json::from_str(event)
            .map_err(|error| Error::rejected(Code::InvalidEvent, error.to_string()))?;
        let named = self.rollouts.iter().copied().find(|rollout| rollout.name == *index(&request));
        let rollout = named.ok_or_else(|| {
            let names: Vec<&str> = self.rollouts.iter().map(|rollout| rollout.name).collect();
            let message = format!("index must be one of {}", names.join(", "));
            Error::rejected(Code::InvalidParameter, message)
        })?;
        Ok((rollout, request))
    }
}

fn run_load<'a>(
    job: &'static Job,
    event: &'a str,
    stages: &'a Stages,
    db: &'a Db,
    deadline: Instant,
) -> Running<'a> {
    Box::pin(async move {
        let Work::Load(progress) = job.work else {
            return refused(Error::internal("running a job", "it is no load"));
        };
        let asked = job.asked(event, |request: &LoadRequest| &request.index);
        let (rollout, request) = match asked {
            Ok(asked) => asked,
            Err(error) => return refused(error),
        };
        let loaded = load::run(rollout, &progress, &request, stages, db, deadline, &|_, _| {}).await;
        Done { index: Some(rollout.name), outcome: loaded.and_then(|loaded| json(&loaded)) }
    })
}

fn run_report<'a>(
    job: &'static Job,
    event: &'a str,
    stages: &'a Stages,
    db: &'a Db,
    deadline: Instant,
) -> Running<'a> {
    Box::pin(async move {
        let asked = job.asked(event, |request: &ReportRequest| &request.index);
        let (rollout, request) = match asked {
            Ok(asked) => asked,
            Err(error) => return refused(error),
        };
        let report = report::run(rollout, &request, stages, db, deadline, &|_| {}).await;
        Done { index: Some(rollout.name), outcome: report.and_then(|report| json(&report)) }
    })
}

/// Nothing was done.
fn refused(error: Error) -> Done {
    Done { index: None, outcome: Err(error) }
}

fn json<T: Serialize>(answer: &T) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|error| Error::internal("writing the answer", error))
}
