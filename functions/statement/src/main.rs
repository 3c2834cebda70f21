//! `GET /bank-accounts/{accountId}/statement` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&statement::LIST)
}
