//! The load as an operator runs it, in processes of its own that are killed, and how fast it is.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use fastrand::Rng;
use futures_util::{StreamExt, stream};
use kit::dynamo::{Returning, Session};
use kit::item::{Item, key_of};
use kit::load::{self, LoadRequest, MAX_WRITE_UNITS, SEGMENTS_AT_ONCE, WRITES_AT_ONCE};
use kit::rollout::{Stage, Stages, Verdict, judge};
use serde_json::Value;
use tokio::process::{Child, Command};
use tokio::time::Instant;

use super::Failure;
use super::subject::Subject;
use super::system::System;
use crate::connection::{made_up, told};

/// What a process needs to begin, before it loads anything.
const START: Duration = Duration::from_millis(60);

/// The longest that one which is to be killed may go on.
const LONGEST: f64 = 60.0;

/// How many items a second the load is taken to write before it is known.
const GUESS: f64 = 200.0;

/// How long the whole load may take.
const PATIENCE: Duration = Duration::from_secs(60 * 60);

/// A load in processes of its own.
pub struct Loads<'a> {
    pub program: &'a Path,
    pub system: &'a System,
    pub subject: Subject,
}

impl Loads<'_> {
    fn start(&self) -> Result<Child, Failure> {
        let mut command = Command::new(self.program);
        command.args([
            "load",
            self.subject.rollout.name,
            "--apply",
            "--json",
            "--stage",
            Stage::Backfill.as_str(),
        ]);
        command.args(["--write-units", &MAX_WRITE_UNITS.to_string()]);
        command.env_clear().env("AWS_ENDPOINT_URL_DYNAMODB", &self.system.endpoint);
        for name in ["AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"] {
            command.envs(made_up(name).map(|value| (name, value)));
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        command
            .spawn()
            .map_err(|error| format!("{} cannot be started: {error}", self.program.display()).into())
    }

    /// Starts a load that is killed after a random time, so that `kills` of them are spread over the `left`
    /// items at `rate` items a second. Gives whether it was killed before it ended by itself.
    pub async fn killed(
        &self,
        rng: &mut Rng,
        left: u64,
        rate: Option<f64>,
        kills: u32,
    ) -> Result<bool, Failure> {
        let share = left as f64 / rate.unwrap_or(GUESS).max(1.0) / f64::from(kills + 1);
        let mut child = self.start()?;
        tokio::time::sleep(START + Duration::from_secs_f64(1.5 * share.min(LONGEST) * rng.f64())).await;
        if child.try_wait()?.is_some() {
            return Ok(false);
        }
        child.kill().await?;
        Ok(true)
    }

    /// A load that is let run to its end. Gives its answer.
    pub async fn whole(&self) -> Result<Value, Failure> {
        let output = tokio::time::timeout(PATIENCE, self.start()?.wait_with_output()).await??;
        if !output.status.success() {
            return Err(format!("the load failed: {}", String::from_utf8_lossy(&output.stderr)).into());
        }
        Ok(serde_json::from_slice(&output.stdout)?)
    }

    /// How many items whoever goes on with the load need not look at again.
    pub fn resumes_at(&self) -> Result<u64, Failure> {
        let mut read = 0;
        for part in self.system.items(tables::maintenance::TABLE.name)? {
            if let Some(counts) = part.get("counts").and_then(|counts| counts.as_s().ok()) {
                read += count(&serde_json::from_str(counts)?, "read");
            }
        }
        Ok(read)
    }
}

/// A number of an answer.
pub fn count(answer: &Value, name: &str) -> u64 {
    answer.get(name).and_then(Value::as_u64).unwrap_or_default()
}

/// How often the speed is measured. One figure of a machine that does other things as well says little.
const ROUNDS: usize = 5;

/// Items a second.
#[derive(Debug, Clone, Copy, Default)]
pub struct Speed {
    /// Of the load.
    pub load: f64,
    /// Of the same updates in a bare loop that knows every key and value beforehand.
    pub bare: f64,
    /// Of that loop without the conditions of the updates: what nobody could do safely.
    pub unconditional: f64,
}

/// Measures the speed. Each kind has a copy of these items, and nothing else happens meanwhile. They take
/// turns, and of each the middle round counts.
pub async fn speed(system: &System, subject: Subject, items: &[Item]) -> Result<Speed, Failure> {
    let (mut load, mut bare, mut unconditional) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..ROUNDS {
        let prefix = |kind: &str| -> Result<String, Failure> {
            let prefix = format!("{kind}-{round}-");
            system.copy_tables(Stage::Backfill, &prefix)?;
            system.import(&format!("{prefix}{}", subject.rollout.table.name), items)?;
            Ok(prefix)
        };
        load.push(load_speed(system, subject, &prefix("load")?).await?);
        bare.push(bare_speed(system, subject, &prefix("bare")?, items, true).await?);
        unconditional.push(bare_speed(system, subject, &prefix("unconditional")?, items, false).await?);
    }
    let middle = |mut rates: Vec<f64>| {
        rates.sort_by(f64::total_cmp);
        rates.get(ROUNDS / 2).copied().unwrap_or_default()
    };
    Ok(Speed { load: middle(load), bare: middle(bare), unconditional: middle(unconditional) })
}

/// Items a second of the load.
async fn load_speed(system: &System, subject: Subject, prefix: &str) -> Result<f64, Failure> {
    let rollout = subject.rollout;
    let deadline = Instant::now() + PATIENCE;
    let db = system.db(prefix)?;
    let request = LoadRequest {
        index: rollout.name.to_owned(),
        segments: None,
        segment: None,
        dry_run: false,
        write_units_per_second: Some(MAX_WRITE_UNITS),
        run: None,
        begin: false,
    };
    let began = Instant::now();
    let progress = &tables::maintenance::TABLE;
    let loaded = load::run(rollout, progress, &request, &Stages::default(), &db, deadline, &|_, _| {}).await;
    let loaded = loaded.map_err(|error| told(&error))?;
    Ok(loaded.written as f64 / began.elapsed().as_secs_f64())
}

/// Items a second of bare updates.
async fn bare_speed(
    system: &System,
    subject: Subject,
    prefix: &str,
    items: &[Item],
    conditional: bool,
) -> Result<f64, Failure> {
    let rollout = subject.rollout;
    let deadline = Instant::now() + PATIENCE;
    let updates: Vec<_> = items
        .iter()
        .filter_map(|item| match judge(rollout, item) {
            Verdict::Wrong(fix) => Some((key_of(&rollout.table, item), fix)),
            Verdict::Right | Verdict::Impossible { .. } => None,
        })
        .collect();
    let (db, written) = (system.db(prefix)?, updates.len());
    let at_once = usize::try_from(SEGMENTS_AT_ONCE).unwrap_or(1) * WRITES_AT_ONCE;
    let began = Instant::now();
    let mut done = stream::iter(updates)
        .map(|(key, fix)| {
            let db = &db;
            async move {
                let mut session = Session::new(db, deadline);
                let checks = if conditional { fix.checks.as_slice() } else { &[] };
                session.update(&rollout.table, key, &fix.changes, checks, Returning::Nothing).await
            }
        })
        .buffer_unordered(at_once);
    while let Some(outcome) = done.next().await {
        outcome.map_err(|error| told(&error))?;
    }
    Ok(written as f64 / began.elapsed().as_secs_f64())
}
