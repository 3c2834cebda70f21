//! `PUT` and `DELETE /products/{id}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&product_save::OPERATION)
}
