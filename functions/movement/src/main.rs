//! `GET /products/{productId}/movements` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&movement::LIST)
}
