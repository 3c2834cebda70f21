//! `GET /products/{productId}/bom` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&bom::LIST)
}
