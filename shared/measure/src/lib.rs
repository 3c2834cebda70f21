//! What lists cost: read units, time, memory; and how one stands load and faults. Never deployed.
//!
//! Lists run here as they do on Lambda, from an event of API Gateway to an answer, on the embedded DynamoDB
//! with the tables of template.yaml and rows that are made up.

pub mod asking;
pub mod bench;
pub mod capacity;
pub mod chart;
pub mod emulator;
pub mod lists;
pub mod report;
pub mod rows;
pub mod stress;

use std::error::Error;
use std::process::ExitCode;

/// Why something could not be measured, in words for the person who started it.
pub type Failure = Box<dyn Error + Send + Sync>;

/// What a program of this crate does from its beginning to its end: it tells its `help` where that is asked
/// for, and else does `run` with the words it was given.
#[allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program that talks to the person who started it"
)]
pub fn program(help: &str, run: fn(&[String]) -> Result<(), Failure>) -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.iter().any(|word| word == "--help" || word == "-h") {
        println!("{help}");
        return ExitCode::SUCCESS;
    }
    match run(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("error: {}", with_causes(&*problem));
            ExitCode::FAILURE
        }
    }
}

/// A failure and all its causes, each told once. Unlike [`kit::error::chain`], which is for a log, this keeps
/// what stands in braces: the service's own message does, and the data is made up.
fn with_causes(problem: &(dyn Error + 'static)) -> String {
    let mut text = problem.to_string();
    let mut next = problem.source();
    while let Some(cause) = next {
        let of_cause = cause.to_string();
        // Some libraries repeat their cause in their own text.
        if !text.contains(&of_cause) {
            text.push_str(": ");
            text.push_str(&of_cause);
        }
        next = cause.source();
    }
    text
}

/// Does `work`, or as much of it as is done when the program is asked to end: then what it started ends with it.
///
/// # Errors
///
/// Those of the work, and that it was not done.
pub async fn unless_interrupted<T>(work: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let interrupted = local::interrupt::interrupted()?;
    tokio::select! {
        done = work => done,
        () = interrupted => Err("it was ended before it was done".into()),
    }
}

/// The value of an option that takes a number from 1 on.
///
/// # Errors
///
/// It is none, told with the option.
pub fn number(option: &str, text: &str) -> Result<usize, Failure> {
    let number = text.trim().parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| format!("{option} {text}: not a number that is taken here").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_is_told_with_every_cause_once() {
        let fault = |doing, source: &str| kit::error::Error::internal(doing, source.to_owned());
        let failure = kit::error::Error::internal("Asking", fault("Scan", "a limit of {0}"));
        assert_eq!(with_causes(&failure), "Asking failed: Scan failed: a limit of {0}");
        let repeated = fault("Scan", "Scan failed");
        assert_eq!(with_causes(&repeated), "Scan failed");
        let alone = Failure::from("orders answered {}");
        assert_eq!(with_causes(&*alone), "orders answered {}");
    }
}
