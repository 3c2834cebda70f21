//! `POST /orders` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&order_create::OPERATION)
}
