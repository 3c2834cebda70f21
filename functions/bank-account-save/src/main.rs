//! `PUT /bank-accounts/{id}` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&bank_account_save::OPERATION)
}
