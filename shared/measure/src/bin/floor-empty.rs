//! The floor of a start: a function that does nothing, on the runtime that every function uses.

use lambda_runtime::{Error, LambdaEvent, Runtime, service_fn};
use serde::de::IgnoredAny;

fn main() -> Result<(), Error> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let nothing = service_fn(async |_: LambdaEvent<IgnoredAny>| Ok::<(), Error>(()));
    runtime.block_on(Runtime::new(nothing).run())
}
