//! `GET /ledger` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&ledger::LIST)
}
