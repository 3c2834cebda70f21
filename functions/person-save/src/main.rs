//! `PUT /persons/{id}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&person_save::OPERATION)
}
