//! `GET /cash-books/{bookId}/entries` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&cash::LIST)
}
