//! `GET /orders` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&orders::LIST)
}
