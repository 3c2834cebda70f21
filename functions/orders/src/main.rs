fn main() -> std::process::ExitCode {
    kit::run(&orders::LIST)
}
