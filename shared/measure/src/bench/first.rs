//! The first request of a process, over TLS: beside a warm one, with priming and without it, with a processor
//! and with a part of one.

use std::ops::Range;
use std::path::Path;

use axum::body::Bytes;

use super::database::{self, Replies};
use super::figures::{Figure, Spread};
use super::limit::{Limit, PERIOD};
use super::process::Process;
use super::tls::Authority;
use super::{ASKED, LIST_UNPRIMED, Measured, Options, rows, start};
use crate::Failure;

/// A list as it is deployed, but without the call before its first request.
const UNPRIMED: &str = "floor-unprimed";

/// The parts of a processor that a process has from its first poll on, and their names.
const PARTS: [(f64, &str); 2] = [(1.0, "one processor"), (0.1, "a tenth of a processor")];

/// How many times a warm request's time the first may take, of a primed process.
const AIM: f64 = 2.0;

/// The rows that are asked for.
const ROWS: usize = 20;

/// The warm requests after the first. The one in the middle is what the first is compared to.
const WARM: usize = 5;

/// The rest before a warm request, in periods: some of them whole, as before the first, and of the last a part that
/// nobody knows, since events come when they come.
const REST: Range<f64> = 2.0..3.0;

/// What is started again and again: a list, primed or not.
struct Subject {
    list: &'static str,
    primed: bool,
    binary: &'static str,
    variables: Vec<(&'static str, String)>,
    event: Bytes,
    /// Wall and processor time of each start, in seconds.
    starts: (Vec<f64>, Vec<f64>),
    /// For each part of a processor: the first request and a warm one of each process.
    requests: Vec<Vec<(Taken, Taken)>>,
}

/// What a request took, in seconds.
#[derive(Debug, Clone, Copy)]
struct Taken {
    /// From handing out to answered.
    wall: f64,
    /// Of the processor.
    cpu: f64,
}

/// Measures starts over TLS, and first requests where processes can be limited.
///
/// # Errors
///
/// A binary that is not there or does not answer as it should, and a machine that does not tell what a process
/// used.
pub(super) async fn measure(binaries: &Path, project: &Path, options: &Options) -> Result<Measured, Failure> {
    let authority = Authority::new()?;
    let database = Replies::open(project, ASKED.map(|asked| asked.list), options.rows)?;
    let endpoint = database::serve_over_tls(database, &authority).await?;
    let limits: Result<Vec<Limit>, Failure> = PARTS.iter().map(|(part, _)| Limit::new(*part)).collect();
    let (limits, not_measured) = match limits {
        Ok(limits) => (limits, Vec::new()),
        Err(problem) => (Vec::new(), vec![format!("first requests over TLS: {problem}")]),
    };

    let mut subjects = Vec::new();
    for asked in &ASKED {
        for primed in [true, false] {
            let list = asked.list.name();
            let mut variables = vec![authority.trusted()];
            if !primed {
                variables.push((LIST_UNPRIMED, list.to_owned()));
            }
            subjects.push(Subject {
                list,
                primed,
                binary: if primed { list } else { UNPRIMED },
                variables,
                event: asked.event(project, Some(ROWS), false)?,
                starts: Default::default(),
                requests: vec![Default::default(); limits.len()],
            });
        }
    }
    // The first start of each is not counted: it reads the binary from the disk.
    for turn in 0..=options.firsts {
        for subject in &mut subjects {
            for place in 0..limits.len().max(1) {
                let binary = binaries.join(subject.binary);
                let process = start(&binary, &endpoint, &subject.variables).await?;
                let (wall, cpu) = (process.time_to_first_poll()?, process.processor_time().await?);
                let requests = match limits.get(place) {
                    Some(limit) => Some(first_and_warm(&process, &subject.event, limit).await?),
                    None => None,
                };
                if turn == 0 {
                    continue;
                }
                subject.starts.0.push(wall.as_secs_f64());
                subject.starts.1.push(cpu.as_secs_f64());
                if let (Some(requests), Some(so_far)) = (requests, subject.requests.get_mut(place)) {
                    so_far.push(requests);
                }
            }
        }
    }
    Ok(Measured { figures: figures(&subjects)?, not_measured })
}

/// The first request and a warm one, of a process that has a part of a processor from now on.
async fn first_and_warm(process: &Process, event: &Bytes, limit: &Limit) -> Result<(Taken, Taken), Failure> {
    limit.hold(process.id())?;
    let first = one(process, event).await?;
    let mut warm = Vec::new();
    for _ in 0..WARM {
        let periods = REST.start + fastrand::f64() * (REST.end - REST.start);
        tokio::time::sleep(PERIOD.mul_f64(periods)).await;
        warm.push(one(process, event).await?);
    }
    let middle = |of: fn(&Taken) -> f64| Ok::<_, Failure>(spread(warm.iter().map(of))?.median);
    Ok((first, Taken { wall: middle(|taken| taken.wall)?, cpu: middle(|taken| taken.cpu)? }))
}

async fn one(process: &Process, event: &Bytes) -> Result<Taken, Failure> {
    let before = process.processor_time().await?;
    let answer = process.invoke(event.clone()).await?;
    process.idle().await?;
    rows(&answer.body, "items", ROWS..=ROWS)?;
    let wall = answer.taken.as_secs_f64();
    let cpu = (process.processor_time().await? - before).as_secs_f64();
    Ok(Taken { wall, cpu })
}

fn figures(subjects: &[Subject]) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for subject in subjects.iter().filter(|subject| subject.primed) {
        let list = subject.list;
        let unprimed = subjects.iter().find(|other| other.list == list && !other.primed);
        let (without, with) = (&unprimed.ok_or("a list is not run without priming")?.starts, &subject.starts);
        let figure = |what: &str, without: &[f64], with: &[f64]| {
            let (without, with) = (spread(without.iter().copied())?, spread(with.iter().copied())?);
            Ok::<_, Failure>(Figure::time(format!("start over TLS, {list}{what}"), without, with))
        };
        figures.push(figure("", &without.0, &with.0)?);
        figures.push(figure(": processor", &without.1, &with.1)?);
    }
    for (place, (_, part)) in PARTS.iter().enumerate() {
        for subject in subjects {
            let Some(requests) = subject.requests.get(place) else { continue };
            let figure = |what: &str, of: fn(&Taken) -> f64| {
                let warm = spread(requests.iter().map(|(_, warm)| of(warm)))?;
                let first = spread(requests.iter().map(|(first, _)| of(first)))?;
                let way = if subject.primed { "primed" } else { "not primed" };
                let what = format!("first request, {}, {way}{what}", subject.list);
                Ok::<_, Failure>(Figure::time(what, warm, first))
            };
            let wall = figure(&format!(", {part}"), |taken| taken.wall)?;
            figures.push(if subject.primed { wall.at_most(AIM) } else { wall });
            if place == 0 {
                figures.push(figure(": processor", |taken| taken.cpu)?);
            }
        }
    }
    Ok(figures)
}

fn spread(seconds: impl Iterator<Item = f64>) -> Result<Spread, Failure> {
    Spread::of(seconds.collect()).ok_or_else(|| "nothing was started".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(wall: f64) -> Taken {
        Taken { wall, cpu: wall / 2.0 }
    }

    fn subject(primed: bool, start: f64, requests: &[(f64, f64)]) -> Subject {
        Subject {
            list: "t",
            primed,
            binary: "t",
            variables: Vec::new(),
            event: Bytes::new(),
            starts: (vec![start], vec![start / 2.0]),
            requests: requests.iter().map(|(first, warm)| vec![(taken(*first), taken(*warm))]).collect(),
        }
    }

    #[test]
    fn a_start_stands_beside_one_without_priming_and_a_first_request_beside_a_warm_one() {
        let subjects =
            [subject(true, 3.0, &[(4.0, 2.0), (9.0, 3.0)]), subject(false, 2.0, &[(6.0, 2.0), (30.0, 3.0)])];
        let figures = figures(&subjects).unwrap();
        let told: Vec<(&str, f64, bool)> =
            figures.iter().map(|figure| (&*figure.what, figure.ratio, figure.aim.is_some())).collect();
        assert_eq!(
            told,
            [
                ("start over TLS, t", 1.5, false),
                ("start over TLS, t: processor", 1.5, false),
                ("first request, t, primed, one processor", 2.0, true),
                ("first request, t, primed: processor", 2.0, false),
                ("first request, t, not primed, one processor", 3.0, false),
                ("first request, t, not primed: processor", 3.0, false),
                ("first request, t, primed, a tenth of a processor", 3.0, true),
                ("first request, t, not primed, a tenth of a processor", 10.0, false),
            ]
        );
    }

    #[test]
    fn starts_are_told_where_nothing_can_be_limited() {
        let figures = figures(&[subject(true, 3.0, &[]), subject(false, 2.0, &[])]).unwrap();
        assert_eq!(figures.len(), 2);
    }
}
