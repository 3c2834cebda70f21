//! The floor of priming: a list at work as `kit::run` has it, but for the call that it makes before its first
//! request.

use std::time::SystemTime;

use kit::app::{App, Invocation};
use kit::config;
use kit::dynamo::Db;
use kit::function::Function;
use lambda_runtime::{Error, LambdaEvent, Runtime, service_fn};
use measure::bench::LIST_UNPRIMED;
use measure::lists::LISTS;
use serde_json::value::RawValue;

#[allow(clippy::print_stdout, reason = "the log goes there, as that of a list does")]
fn main() -> Result<(), Error> {
    let name = config::process_var(LIST_UNPRIMED).ok_or_else(|| format!("{LIST_UNPRIMED} is not set"))?;
    let list = LISTS.iter().find(|list| list.name() == name).ok_or_else(|| format!("{name} is no list"))?;
    let function = Function::List(list);
    let settings = config::settings(function, config::process_var)?;
    let endpoint = config::endpoint(config::process_var)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let db = Db::connect(endpoint, &settings.table_prefix)?;
        let app = App::new(function, settings, db);
        let handler = service_fn(async |event: LambdaEvent<Box<RawValue>>| {
            let time_left = event.context.deadline().duration_since(SystemTime::now())?;
            let invocation = Invocation { id: event.context.request_id, time_left };
            let handled = app.handle(event.payload.get(), &invocation).await;
            println!("{}", handled.log);
            Ok::<_, Error>(handled.response)
        });
        Runtime::new(handler).run().await
    })
}
