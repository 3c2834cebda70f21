//! `GET /persons` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&person::LIST)
}
