//! The report on a new index as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&index_report::JOB)
}
