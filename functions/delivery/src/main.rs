//! `GET /deliveries` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&delivery::LIST)
}
