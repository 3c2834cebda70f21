//! `stress` asks `orders` under load and under faults, and ends with 1 where an answer is neither right nor a
//! clear error in time, or where anything is left behind.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]

use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use measure::stress::dynamodb::{Fault, Shares};
use measure::stress::told::tables;
use measure::stress::{self, Options, Progress};
use measure::{Failure, number};
use serde_json::json;

const HELP: &str = "\
Asks orders under load and under faults, through a gateway of its own, with the binary that was built beside
this program: at rising concurrency, then with each fault of DynamoDB at every call, then with all of them by
chance. Every answer has to be right or a clear 5xx before its deadline, and nothing may be left
behind: it ends with 1 and says what is wrong otherwise. Run it in the project's folder, on Linux.
docs/stress.md tells what the figures mean.

  --steps N,N,..       how many ask at once, step by step (1,2,4,8,16)
  --step-requests N    the requests of a step (2000)
  --alone N            the requests with each fault alone (8)
  --requests N         the requests with all faults by chance (100000)
  --at-once N          how many ask at once then (32)
  --environments N     the most environments of the function (32)
  --deadline SECONDS   the time that the function has for a request (10)
  --share FAULT=N      of how many calls in a hundred this fault begins; may be given several times
  --seed N             what fixes the faults that come by chance (1)
  --growth MB          by how much the memory of an environment may grow (1)
  --no-faults          the steps alone
  --at URL             the steps alone, at a gateway that serves the sample data: http://127.0.0.1:9000 while
                       make run runs
  --json               prints JSON instead of tables

The faults: throttled, throughput-exceeded, server-error, unavailable, reset, reset-in-body (0.5 each), stall,
trickle (0.02 each), slow (0.1).";

fn main() -> ExitCode {
    measure::program(HELP, run)
}

struct Wanted {
    options: Options,
    at: Option<String>,
    as_json: bool,
}

fn run(words: &[String]) -> Result<(), Failure> {
    let Wanted { options, at, as_json } = wanted(words)?;
    if cfg!(debug_assertions) && at.is_none() {
        return Err("a debug build measures nothing of worth: run make stress".into());
    }
    let program = std::env::current_exe()?;
    let binaries = program.parent().ok_or("this program is in no folder")?;
    let bar = ProgressBar::new(options.work() as u64);
    // The template is a constant; were it wrong, the bar would have the library's own look.
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}%  {msg}  ({elapsed}, {eta} left)")
    {
        bar.set_style(style);
    }
    let (said, counted) = (bar.clone(), bar.clone());
    let progress = Progress {
        doing: Arc::new(move |doing| said.set_message(doing.to_owned())),
        answered: Arc::new(move || counted.inc(1)),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let report = runtime.block_on(measure::unless_interrupted(async {
        match &at {
            Some(url) => stress::at(url, &options, &progress).await,
            None => stress::own(binaries, Path::new("."), &options, &progress).await,
        }
    }));
    bar.finish_and_clear();
    let report = report?;
    if as_json {
        println!("{:#}", json!({"options": options, "report": report}));
    } else {
        print!("{}", tables(&report, &options));
    }
    if report.problems.count == 0 {
        return Ok(());
    }
    let first = report.problems.first.join("\n  ");
    Err(format!("{} things are wrong, of which the first are:\n  {first}", report.problems.count).into())
}

fn wanted(words: &[String]) -> Result<Wanted, Failure> {
    let options = Options {
        steps: vec![1, 2, 4, 8, 16],
        step_requests: 2_000,
        alone: 8,
        requests: 100_000,
        at_once: 32,
        environments: 32,
        deadline: Duration::from_secs(10),
        shares: Shares::default(),
        seed: 1,
        growth: 1_000_000,
    };
    let mut wanted = Wanted { options, at: None, as_json: false };
    let options = &mut wanted.options;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match word.as_str() {
            "--json" => {
                wanted.as_json = true;
                continue;
            }
            "--no-faults" => {
                (options.alone, options.requests) = (0, 0);
                continue;
            }
            _ => {}
        }
        let mut value =
            || rest.next().ok_or_else(|| Failure::from(format!("{word} needs a value; --help tells more")));
        match word.as_str() {
            "--steps" => {
                options.steps =
                    value()?.split(',').map(|text| number(word, text)).collect::<Result<_, _>>()?;
            }
            "--step-requests" => options.step_requests = number(word, value()?)?,
            "--alone" => options.alone = number(word, value()?)?,
            "--requests" => options.requests = number(word, value()?)?,
            "--at-once" => options.at_once = number(word, value()?)?,
            "--environments" => options.environments = number(word, value()?)?,
            "--deadline" => options.deadline = Duration::from_secs(number(word, value()?)? as u64),
            "--share" => share(&mut options.shares, value()?)?,
            "--seed" => options.seed = number(word, value()?)? as u64,
            "--growth" => options.growth = number(word, value()?)? as u64 * 1_000_000,
            "--at" => wanted.at = Some(value()?.clone()),
            _ => return Err(format!("{word:?} is not understood here; --help tells what is").into()),
        }
    }
    if wanted.at.is_some() {
        (options.alone, options.requests) = (0, 0);
    }
    Ok(wanted)
}

fn share(shares: &mut Shares, text: &str) -> Result<(), Failure> {
    let (name, number) = text.split_once('=').unwrap_or_default();
    let share = number.parse().ok().filter(|share| (0.0..=100.0).contains(share));
    let mut known = Fault::ALL.iter().zip(&mut shares.0);
    match (known.find(|(fault, _)| fault.name() == name), share) {
        (Some((_, place)), Some(share)) => {
            *place = share;
            Ok(())
        }
        _ => {
            Err(format!("--share {text}: not a fault and a number up to 100; --help names the faults").into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_is_taken_and_anything_else_refused() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let taken =
            wanted(&words("--steps 1,3 --deadline 29 --share stall=0 --share reset=2.5 --json")).unwrap();
        assert_eq!((taken.options.steps, taken.options.deadline.as_secs()), (vec![1, 3], 29));
        assert!(taken.as_json && taken.at.is_none());
        assert_eq!(taken.options.shares.0, [0.5, 0.5, 0.5, 0.5, 2.5, 0.5, 0.0, 0.1, 0.02]);
        let at = wanted(&words("--at http://127.0.0.1:9000")).unwrap();
        assert_eq!((at.options.alone, at.options.requests), (0, 0));
        for line in [
            "--steps",
            "--steps 0",
            "--requests x",
            "--share",
            "--share stal=1",
            "--share stall=101",
            "--nice 1",
        ] {
            assert!(wanted(&words(line)).is_err(), "{line}");
        }
    }
}
