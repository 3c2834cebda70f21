//! The one line that a request leaves in the log: JSON to read and search, and CloudWatch embedded
//! metrics to draw and alarm on. It holds no item, no cursor, no parameter's value and no identity.

use std::time::Duration;

use serde_json::{Value, json};

use crate::dynamo::Meter;
use crate::error::{Code, Error, chain};

/// How long a request took, in the metrics.
const DURATION: &str = "Duration";

/// Every metric, with its unit.
pub const METRICS: &[(&str, &str)] = &[
    ("Items", "Count"),
    ("EvaluatedItems", "Count"),
    ("Calls", "Count"),
    ("ReadUnits", "Count"),
    ("WriteUnits", "Count"),
    (DURATION, "Milliseconds"),
    ("ColdStarts", "Count"),
    ("Throttled", "Count"),
    ("Faults", "Count"),
];

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

impl Line<'_> {
    /// The line, in CloudWatch's embedded metric format.
    ///
    /// Metrics are given by function and question, and once more without dimensions, so that a few
    /// alarms watch every function there is. Source: Amazon CloudWatch user guide, "Specification:
    /// embedded metric format".
    #[must_use]
    pub fn to_json(&self) -> String {
        let metric = |(name, unit): &(&str, &str)| json!({"Name": name, "Unit": unit});
        // How long a job takes is nobody's waiting time.
        let (all, alarming): (Vec<Value>, Vec<Value>) = (
            METRICS.iter().map(metric).collect(),
            METRICS.iter().filter(|(name, _)| !self.job || *name != DURATION).map(metric).collect(),
        );
        let directive = |dimensions: Value, metrics: Vec<Value>| json!({"Namespace": self.namespace, "Dimensions": dimensions, "Metrics": metrics});
        let mut line = json!({
            "_aws": {
                "Timestamp": self.timestamp,
                "CloudWatchMetrics": [
                    directive(json!([["Function", "Question"]]), all),
                    directive(json!([[]]), alarming),
                ],
            },
            "Function": self.function,
            "Question": self.question.unwrap_or("none"),
            "Items": self.items,
            "EvaluatedItems": self.meter.evaluated,
            "Calls": self.meter.calls,
            "ReadUnits": self.meter.read_units,
            "WriteUnits": self.meter.write_units,
            DURATION: (self.duration.as_secs_f64() * 1000.0 * 1000.0).round() / 1000.0,
            "ColdStarts": u8::from(self.cold_start),
            "Throttled": u8::from(self.error.is_some_and(|error| error.code() == Code::Throttled)),
            "Faults": u8::from(self.status >= 500),
            "status": self.status,
            "requestId": self.request_id,
            "invocationId": self.invocation_id,
        });
        let more = [
            ("table", self.source.map(|(table, _)| Value::from(table))),
            ("index", self.source.and_then(|(_, index)| index).map(Value::from)),
            ("code", self.error.map(|error| Value::from(error.code().as_str()))),
            // A caller's mistake may quote what the caller sent, so its code is all that is kept.
            ("cause", self.error.filter(|_| self.status >= 500).map(|error| Value::from(chain(error)))),
        ];
        if let Some(fields) = line.as_object_mut() {
            fields.extend(more.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))));
        }
        line.to_string()
    }
}
