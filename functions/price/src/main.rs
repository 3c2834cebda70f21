//! `GET /products/{productId}/prices` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&price::LIST)
}
