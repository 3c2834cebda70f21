//! `GET /flippings` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&flipping::LIST)
}
