//! `GET /contracts` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&contract::LIST)
}
