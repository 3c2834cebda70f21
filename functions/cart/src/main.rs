//! `GET /carts` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&cart::LIST)
}
