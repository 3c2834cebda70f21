//! `GET /payments` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&payment::LIST)
}
