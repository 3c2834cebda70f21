//! `GET /products/{productId}/variants` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&variant::LIST)
}
