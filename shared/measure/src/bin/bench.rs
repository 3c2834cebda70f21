//! `bench` measures release binaries as whole processes, beside floors of the same run.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]

use std::path::Path;
use std::process::ExitCode;

use measure::Failure;
use measure::bench::database::Make;
use measure::bench::figures::table;
use measure::bench::{self, Measured, Options};
use serde_json::json;

const HELP: &str = "\
Measures the functions that were built beside this program: how long they take to start, how long the first
request takes over TLS, what a request takes of the processor, memory and size, each beside a floor that is
measured in turns with it. Run it in the
project's folder, on Linux, while nothing else is busy. docs/bench.md tells what the figures mean.

  --starts N      how often each is started (40)
  --firsts N      how often each is started for its first request (15). Limits what a process has of the
                  processor, by a control group, which takes the rights of root
  --rounds N      how often function and floor take turns in answering (10)
  --requests N    the requests of a turn (200)
  --beside FOLDER other builds of product and ledger, which take turns with these; as often as there are some
  --plain         rows of keys and one text, instead of rows like a product's, with some twenty values
  --json          prints JSON instead of a table";

fn main() -> ExitCode {
    measure::program(HELP, run)
}

fn run(words: &[String]) -> Result<(), Failure> {
    let (options, as_json) = wanted(words)?;
    if cfg!(debug_assertions) {
        return Err("a debug build measures nothing of worth: run make bench".into());
    }
    let program = std::env::current_exe()?;
    let binaries = program.parent().ok_or("this program is in no folder")?;
    let processors = std::thread::available_parallelism()?;
    on_one_processor()?;
    let before = load()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let progress = |doing: &str| eprintln!("{doing} ...");
    let work = bench::measure(binaries, Path::new("."), &options, progress);
    let measured = runtime.block_on(measure::unless_interrupted(work))?;
    let Measured { figures, not_measured } = measured;
    let (processor, after) = (processor()?, load()?);
    if as_json {
        let told = json!({
            "processor": processor, "processors": processors, "load": {"before": before, "after": after},
            "starts": options.starts, "firsts": options.firsts, "requests": options.rounds * options.requests,
            "figures": figures, "notMeasured": not_measured,
        });
        println!("{told:#}");
    } else {
        print!("{}", table(&figures));
        for what in &not_measured {
            println!("\nnot measured: {what}");
        }
        println!("\n{processors} x {processor}; load average {before} before, {after} after.");
    }
    Ok(())
}

fn wanted(words: &[String]) -> Result<(Options, bool), Failure> {
    let mut options = Options {
        starts: 40,
        firsts: 15,
        rounds: 10,
        requests: 200,
        warm_up: 200,
        rows: Make::Product,
        beside: Vec::new(),
    };
    let mut as_json = false;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let place = match word.as_str() {
            "--json" => {
                as_json = true;
                continue;
            }
            "--plain" => {
                options.rows = Make::Plain(1_024);
                continue;
            }
            "--beside" => {
                let folder = rest.next().ok_or("--beside needs a folder; --help tells more")?;
                options.beside.push(folder.into());
                continue;
            }
            "--starts" => &mut options.starts,
            "--firsts" => &mut options.firsts,
            "--rounds" => &mut options.rounds,
            "--requests" => &mut options.requests,
            _ => return Err(format!("{word:?} is not understood here; --help tells what is").into()),
        };
        let number = rest.next().and_then(|text| text.parse().ok()).filter(|number| *number > 0);
        *place = number.ok_or_else(|| format!("{word} needs a number; --help tells more"))?;
    }
    Ok((options, as_json))
}

/// Stays on the processor that it runs on, with all that it starts: a request and its answers take turns anyway, and
/// where the kernel would put the two sides each time decides more than what is measured.
#[cfg(target_os = "linux")]
fn on_one_processor() -> Result<(), Failure> {
    use rustix::thread::{CpuSet, sched_getcpu, sched_setaffinity};
    let mut one = CpuSet::new();
    one.set(sched_getcpu());
    Ok(sched_setaffinity(None, &one)?)
}

#[cfg(not(target_os = "linux"))]
fn on_one_processor() -> Result<(), Failure> {
    Err("only Linux tells what a process used".into())
}

/// The load average of the last minute: what else was going on.
fn load() -> Result<String, Failure> {
    let told = std::fs::read_to_string("/proc/loadavg")?;
    Ok(told.split(' ').next().unwrap_or_default().to_owned())
}

/// What the processor calls itself.
fn processor() -> Result<String, Failure> {
    let told = std::fs::read_to_string("/proc/cpuinfo")?;
    let line = told.lines().find(|line| line.starts_with("model name") || line.starts_with("CPU part"));
    let name = line.and_then(|line| line.split_once(':')).map(|(_, name)| name.trim().to_owned());
    Ok(name.unwrap_or_else(|| "unknown".to_owned()))
}
