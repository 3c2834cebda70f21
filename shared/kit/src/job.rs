//! How a function that no route leads to is declared: a maintenance job, invoked by a person or by a state
//! machine.

use serde::Serialize;
use serde_json::Value;
use tokio::time::Instant;

use crate::dynamo::{Db, Meter};
use crate::error::{Code, Error};
use crate::key::{Rollout, Table};
use crate::load::{self, LoadRequest};
use crate::report::{self, ReportRequest};
use crate::rollout::Stages;

/// A maintenance job.
#[derive(Debug)]
pub struct Job {
    /// Its name: that of its folder, its package and its event folder.
    pub name: &'static str,
    /// The rollouts it works for.
    pub rollouts: &'static [&'static Rollout],
    /// What it does.
    pub work: Work,
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

/// What a job did, or why it did not.
#[derive(Debug)]
pub struct Done {
    /// The name of the rollout it worked for, where the event said one.
    pub index: Option<&'static str>,
    /// The answer.
    pub outcome: Result<Value, Error>,
    /// What it cost.
    pub meter: Meter,
}

impl Job {
    /// Does what an event asks, until `deadline` at the latest.
    pub async fn run(&'static self, event: &str, stages: &Stages, db: &Db, deadline: Instant) -> Done {
        let mut done = Done { index: None, outcome: Ok(Value::Null), meter: Meter::default() };
        done.outcome = match self.work {
            Work::Load(progress) => {
                let request: Result<LoadRequest, Error> = read(event);
                match request.and_then(|request| Ok((self.rollout(&request.index)?, request))) {
                    Ok((rollout, request)) => {
                        done.index = Some(rollout.name);
                        let loaded =
                            load::run(rollout, &progress, &request, stages, db, deadline, &|_, _| {}).await;
                        loaded.and_then(|loaded| {
                            done.meter.read_units = loaded.read_units;
                            done.meter.write_units = loaded.write_units;
                            done.meter.evaluated = loaded.read;
                            json(&loaded)
                        })
                    }
                    Err(error) => Err(error),
                }
            }
            Work::Report => {
                let request: Result<ReportRequest, Error> = read(event);
                match request.and_then(|request| Ok((self.rollout(&request.index)?, request))) {
                    Ok((rollout, request)) => {
                        done.index = Some(rollout.name);
                        let report = report::run(rollout, &request, stages, db, deadline, &|_| {}).await;
                        report.and_then(|report| {
                            done.meter.read_units = report.read_units;
                            done.meter.evaluated = report.items;
                            json(&report)
                        })
                    }
                    Err(error) => Err(error),
                }
            }
        };
        done
    }

    fn rollout(&self, name: &str) -> Result<&'static Rollout, Error> {
        self.rollouts.iter().copied().find(|rollout| rollout.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.rollouts.iter().map(|rollout| rollout.name).collect();
            let message = format!("index must be one of {}", names.join(", "));
            Error::rejected(Code::InvalidParameter, message)
        })
    }
}

/// The event of a job.
fn read<T: serde::de::DeserializeOwned>(event: &str) -> Result<T, Error> {
    serde_json::from_str(event).map_err(|error| Error::rejected(Code::InvalidEvent, error.to_string()))
}

fn json<T: Serialize>(answer: &T) -> Result<Value, Error> {
    serde_json::to_value(answer).map_err(|error| Error::internal("writing the answer", error))
}
