//! `GET /products` and `GET /products/{id}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&product::LIST)
}
