//! `GET /budgets` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&budget::LIST)
}
