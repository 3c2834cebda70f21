//! `GET /bank-accounts` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&bank_account::LIST)
}
