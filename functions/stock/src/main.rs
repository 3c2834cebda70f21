//! `GET /stock` and `GET /stock/{productId}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&stock::LIST)
}
