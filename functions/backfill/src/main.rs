//! The load of a new index as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&backfill::JOB)
}
