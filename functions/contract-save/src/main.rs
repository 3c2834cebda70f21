//! `PUT /contracts/{id}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&contract_save::OPERATION)
}
