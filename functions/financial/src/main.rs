//! `GET /financial-entries` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&financial::LIST)
}
