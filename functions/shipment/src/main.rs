//! `GET /shipments` as a Lambda function.

fn main() -> std::process::ExitCode {
    kit::run(&shipment::LIST)
}
