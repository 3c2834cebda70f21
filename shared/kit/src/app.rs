//! A function at work: an event in, an answer and a line for the log out.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, SystemTime};

use lambda_runtime::{Diagnostic, LambdaEvent, Runtime, service_fn};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;
use tokio::time::Instant;

use crate::answer;
use crate::config::{self, Settings};
use crate::dynamo::{Db, Session};
use crate::error::{Error, chain};
use crate::function::Function;
use crate::http::{self, Response};
use crate::job::Job;
use crate::observe::Line;
use crate::operation::Reply;
use crate::request::Request;

/// What is kept of the time of an invocation to answer in, once the reading has to end.
const ANSWER_RESERVE: Duration = Duration::from_millis(300);

/// The longest that a request may take. API Gateway gives up after 30 s (HTTP API) or 29 s (REST), and
/// its clock starts before ours.
///
/// Source: Amazon API Gateway developer guide, "Quotas: maximum integration timeout".
const GATEWAY_TIMEOUT: Duration = Duration::from_secs(28);

/// A function with its settings and its database.
#[derive(Debug)]
pub struct App {
    function: Function,
    settings: Settings,
    db: Db,
    served: AtomicBool,
}

/// What Lambda says of an invocation.
#[derive(Debug, Clone)]
pub struct Invocation {
    /// Its id.
    pub id: String,
    /// The time left until Lambda ends it.
    pub time_left: Duration,
}

/// What came of an event.
#[derive(Debug)]
pub struct Handled {
    /// The answer.
    pub response: Response,
    /// The line for the log.
    pub log: String,
}

/// What came of an event to a job.
#[derive(Debug)]
pub struct Worked {
    /// The answer, or why there is none.
    pub outcome: Result<Value, Error>,
    /// The line for the log.
    pub log: String,
}

/// What is known of a request by the time it is answered.
#[derive(Debug, Default)]
struct Story {
    request_id: Option<String>,
    http_api: bool,
    question: Option<&'static str>,
    source: Option<(&'static str, Option<&'static str>)>,
    items: usize,
}

impl App {
    /// A function that uses these settings and this database.
    #[must_use]
    pub fn new(function: impl Into<Function>, settings: Settings, db: Db) -> Self {
        Self { function: function.into(), settings, db, served: AtomicBool::new(false) }
    }

    /// What it serves.
    #[must_use]
    pub fn function(&self) -> Function {
        self.function
    }

    /// Does what an event asks of a job.
    pub async fn work(&self, job: &'static Job, event: &str, invocation: &Invocation) -> Worked {
        let started = Instant::now();
        let timestamp = now();
        let deadline = started + invocation.time_left.saturating_sub(ANSWER_RESERVE);
        let (db, spent) = self.db.metered();
        let done = job.run(event, &self.settings.stages, &db, deadline).await;
        let error = done.outcome.as_ref().err();
        let line = Line {
            namespace: &self.settings.metrics_namespace,
            timestamp,
            function: job.name(),
            job: true,
            question: done.index,
            source: None,
            invocation_id: &invocation.id,
            request_id: &invocation.id,
            status: error.map_or(200, |error| http::status(error.code())),
            items: 0,
            meter: spent.meter(),
            duration: started.elapsed(),
            cold_start: !self.served.swap(true, Ordering::Relaxed),
            error,
        };
        Worked { log: line.to_json(), outcome: done.outcome }
    }

    /// Answers an event, whatever it is.
    pub async fn handle(&self, event: &str, invocation: &Invocation) -> Handled {
        let started = Instant::now();
        let timestamp = now();
        let time = invocation.time_left.min(GATEWAY_TIMEOUT).saturating_sub(ANSWER_RESERVE);
        let deadline = started + time;
        let mut story = Story::default();
        let mut session = Session::new(&self.db, deadline);
        let outcome = tokio::time::timeout_at(deadline, self.answer(event, &mut story, &mut session))
            .await
            .unwrap_or(Err(Error::TimedOut(None)));

        let request_id = story.request_id.as_deref().unwrap_or(&invocation.id);
        let (mut response, error) = match outcome {
            Ok(response) => (response, None),
            Err(error) => (http::error(&error, request_id), Some(error)),
        };
        response.cookies = story.http_api.then(Vec::new);
        let line = Line {
            namespace: &self.settings.metrics_namespace,
            timestamp,
            function: self.function.name(),
            job: false,
            question: story.question,
            source: story.source,
            invocation_id: &invocation.id,
            request_id,
            status: response.status_code,
            items: story.items,
            meter: session.meter(),
            duration: started.elapsed(),
            cold_start: !self.served.swap(true, Ordering::Relaxed),
            error: error.as_ref(),
        };
        let log = line.to_json();
        Handled { response, log }
    }

    async fn answer(
        &self,
        event: &str,
        story: &mut Story,
        session: &mut Session<'_>,
    ) -> Result<Response, Error> {
        let mut request = Request::read(event).inspect_err(|_| {
            story.request_id = Request::gateway_request_id_of(event);
        })?;
        story.request_id = request.gateway_request_id().map(str::to_owned);
        story.http_api = request.is_http_api();
        let route = request.route(&self.function.routes())?;
        let tenant = request.tenant(&self.settings.tenant_claim)?;
        let reply = match self.function {
            Function::List(list) if route == 0 => {
                let asked = answer::ask(list, &request, &tenant, &self.settings)?;
                let plan = asked.plan()?;
                story.question = Some(plan.question);
                story.source = Some((plan.table.name, plan.index));
                let (response, items) =
                    answer::answer(&asked, request.accepts_gzip(), &self.settings, session).await?;
                story.items = items;
                return Ok(response);
            }
            Function::List(list) => {
                story.question = Some("item");
                story.source = Some((list.table().name, None));
                Reply::Item(answer::item(list, &request, &tenant, session).await?)
            }
            Function::Operation(operation) => {
                story.question = Some(operation.name);
                request.refuse_parameters("here; none is taken")?;
                let handle = operation.routes.get(route).map(|route| route.handle);
                let handle =
                    handle.ok_or_else(|| Error::internal("routing", "a route was found and is not there"))?;
                handle(&request, &tenant, &self.settings.stages, session).await?
            }
            Function::Job(_) => return Err(Error::internal("routing", "a job has no route")),
        };
        story.items = usize::from(!matches!(reply, Reply::Done));
        http::reply(&reply, request.accepts_gzip())
    }

    /// Gets ready for the first request, before it comes.
    async fn prime(&self) {
        let Function::List(list) = self.function else { return };
        let Some(question) = list.questions().first() else { return };
        self.db.prime(list.table(), question.index(), question.key(list.table())).await;
    }
}

/// Milliseconds since 1970-01-01 UTC.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or_default()
}

/// Why a job failed, for whoever invoked it: somebody who operates it, and so is told all.
fn diagnostic(error: &Error) -> Diagnostic {
    Diagnostic { error_type: error.code().as_str().to_owned(), error_message: chain(error) }
}

/// Serves `function` until the process ends: the whole `main` of a binary.
///
/// Lambda calls one process with one event at a time, so one thread serves it.
pub fn run(function: impl Into<Function>) -> ExitCode {
    match start(function.into()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log(&serde_json::json!({"fault": "the function has ended", "cause": chain(&error)}).to_string());
            ExitCode::FAILURE
        }
    }
}

/// What an invocation answers.
#[derive(Serialize)]
#[serde(untagged)]
enum Served {
    Request(Response),
    Job(Value),
}

fn start(function: Function) -> Result<(), Error> {
    let settings = config::settings(function, config::process_var)?;
    let endpoint = config::endpoint(config::process_var)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| Error::internal("starting", error))?;
    runtime.block_on(async {
        let db = Db::connect(endpoint, &settings.table_prefix)?;
        let app = App::new(function, settings, db);
        app.prime().await;
        let handler = service_fn(async |event: LambdaEvent<Box<RawValue>>| {
            // Lambda gives an instant that is still to come. A local runtime may give a duration instead,
            // which is then one long past.
            let time_left = event.context.deadline().duration_since(SystemTime::now());
            let invocation =
                Invocation { id: event.context.request_id, time_left: time_left.unwrap_or(GATEWAY_TIMEOUT) };
            if let Function::Job(job) = function {
                let worked = app.work(job, event.payload.get(), &invocation).await;
                log(&worked.log);
                return worked.outcome.map(Served::Job).map_err(|error| diagnostic(&error));
            }
            let handled = app.handle(event.payload.get(), &invocation).await;
            log(&handled.log);
            Ok(Served::Request(handled.response))
        });
        Runtime::new(handler).run().await.map_err(|error| Error::internal("serving", error))
    })
}

/// Writes a line to standard output, which Lambda keeps as the log.
#[allow(clippy::print_stdout, reason = "this is the one place that writes the log")]
fn log(line: &str) {
    println!("{line}");
}
