fn main() -> std::process::ExitCode {
    kit::run(&cart::LIST)
}
