//! The one line that a request leaves in the log: JSON to read and search, and CloudWatch embedded
//! metrics to draw and alarm on. It holds no item, no cursor, no parameter's value and no identity.

use std::time::Duration;

use serde::Serialize;

use crate::dynamo::Meter;
use crate::error::{Code, Error, chain};

/// A metric, and what it is counted in.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "PascalCase")]
pub struct Metric {
    /// Its name, which is that of the field with its value.
    pub name: &'static str,
    /// Its unit, as CloudWatch names it.
    pub unit: &'static str,
}

/// Every metric. `Throttled` is 1 where DynamoDB throttled a call to the end, whatever came of it, and `Faults` where
/// something failed for another reason, so that each is somebody's alarm. `ServerErrors` are the answers of 500 and
/// above, as the gateway counts them too.
pub const METRICS: &[Metric] = &[
    count("Items"),
    count("EvaluatedItems"),
    count("Calls"),
    count("ReadUnits"),
    count("WriteUnits"),
    Metric { name: "Duration", unit: "Milliseconds" },
    count("ColdStarts"),
    count("Throttled"),
    count("Faults"),
    count("ServerErrors"),
];

/// What a job's line adds to the sums over all functions. Those are of requests: what a job reads, and how
/// long it takes, is no answer that somebody waits for.
const OF_JOBS: &[&str] = &["Throttled", "Faults"];

const fn count(name: &'static str) -> Metric {
    Metric { name, unit: "Count" }
}

/// What is said of a request.
#[derive(Debug)]
pub struct Line<'a> {
    /// The namespace of the metrics.
    pub namespace: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// The function's name.
    pub function: &'static str,
    /// Whether it is a job, which nobody waits for.
    pub job: bool,
    /// The question, where one was understood.
    pub question: Option<&'static str>,
    /// The table that was read, and the index.
    pub source: Option<(&'static str, Option<&'static str>)>,
    /// Lambda's id of the invocation.
    pub invocation_id: &'a str,
    /// API Gateway's id of the request, which the caller knows.
    pub request_id: &'a str,
    /// The status of the answer.
    pub status: u16,
    /// How many items it holds.
    pub items: usize,
    /// What it cost.
    pub meter: Meter,
    /// How long it took.
    pub duration: Duration,
    /// Whether it is the first of its process.
    pub cold_start: bool,
    /// Why it failed.
    pub error: Option<&'a Error>,
}

/// The line as it is written: CloudWatch's part, the metrics under their names, and what is to be read.
#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Written<'a> {
    #[serde(rename = "_aws")]
    aws: Metadata<'a>,
    function: &'a str,
    question: &'a str,
    items: usize,
    evaluated_items: u64,
    calls: u32,
    read_units: f64,
    write_units: f64,
    duration: f64,
    cold_starts: u8,
    throttled: u8,
    faults: u8,
    server_errors: u8,
    #[serde(rename = "status")]
    status: u16,
    #[serde(rename = "requestId")]
    request_id: &'a str,
    #[serde(rename = "invocationId")]
    invocation_id: &'a str,
    #[serde(rename = "table", skip_serializing_if = "Option::is_none")]
    table: Option<&'a str>,
    #[serde(rename = "index", skip_serializing_if = "Option::is_none")]
    index: Option<&'a str>,
    #[serde(rename = "code", skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    #[serde(rename = "cause", skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Metadata<'a> {
    timestamp: i64,
    cloud_watch_metrics: [Directive<'a>; 2],
}

#[derive(Serialize)]
#[serde(rename_all = "PascalCase")]
struct Directive<'a> {
    namespace: &'a str,
    dimensions: [&'static [&'static str]; 1],
    metrics: Vec<&'static Metric>,
}

impl Line<'_> {
    /// The line, in CloudWatch's embedded metric format.
    ///
    /// Metrics are given by function and question, and once more without dimensions, so that a few
    /// alarms watch every function there is. Of a job, only what an alarm is to hear is in the latter.
    /// Source: Amazon CloudWatch user guide, "Specification: embedded metric format".
    #[must_use]
    pub fn to_json(&self) -> String {
        let of_all = METRICS.iter().filter(|metric| !self.job || OF_JOBS.contains(&metric.name));
        let failed = self.status >= 500;
        let throttled = self.error.is_some_and(|error| error.code() == Code::Throttled);
        let written = Written {
            aws: Metadata {
                timestamp: self.timestamp,
                cloud_watch_metrics: [
                    Directive {
                        namespace: self.namespace,
                        dimensions: [&["Function", "Question"]],
                        metrics: METRICS.iter().collect(),
                    },
                    Directive { namespace: self.namespace, dimensions: [&[]], metrics: of_all.collect() },
                ],
            },
            function: self.function,
            question: self.question.unwrap_or("none"),
            items: self.items,
            evaluated_items: self.meter.evaluated,
            calls: self.meter.calls,
            read_units: self.meter.read_units,
            write_units: self.meter.write_units,
            duration: (self.duration.as_secs_f64() * 1000.0 * 1000.0).round() / 1000.0,
            cold_starts: u8::from(self.cold_start),
            throttled: u8::from(throttled || self.meter.throttles > 0),
            faults: u8::from(failed && !throttled),
            server_errors: u8::from(failed && !self.job),
            status: self.status,
            request_id: self.request_id,
            invocation_id: self.invocation_id,
            table: self.source.map(|(table, _)| table),
            index: self.source.and_then(|(_, index)| index),
            code: self.error.map(|error| error.code().as_str()),
            // A caller's mistake may quote what the caller sent, so its code is all that is kept.
            cause: self.error.filter(|_| failed).map(|error| chain(error)),
        };
        // It holds texts and finite numbers, so there is nothing in it that is no JSON.
        serde_json::to_string(&written).unwrap_or_default()
    }
}
