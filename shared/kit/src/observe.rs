//! The one line that a request leaves in the log: JSON to read and search, and CloudWatch embedded
//! metrics to draw and alarm on. It holds no item, no cursor, no parameter's value and no identity.

use std::time::Duration;

use serde_json::{Value, json};

use crate::dynamo::Meter;
use crate::error::{Code, Error, chain};

/// What is said of a request.
#[derive(Debug)]
pub struct Line<'a> {
    /// The namespace of the metrics.
    pub namespace: &'a str,
    /// Milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// The function's name.
    pub function: &'static str,
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
        let metric = |name: &str, unit: &str| json!({"Name": name, "Unit": unit});
        let mut line = json!({
            "_aws": {
                "Timestamp": self.timestamp,
                "CloudWatchMetrics": [{
                    "Namespace": self.namespace,
                    "Dimensions": [["Function", "Question"], []],
                    "Metrics": [
                        metric("Items", "Count"),
                        metric("EvaluatedItems", "Count"),
                        metric("Calls", "Count"),
                        metric("ReadUnits", "Count"),
                        metric("WriteUnits", "Count"),
                        metric("Duration", "Milliseconds"),
                        metric("ColdStarts", "Count"),
                        metric("Throttled", "Count"),
                        metric("Faults", "Count"),
                    ],
                }],
            },
            "Function": self.function,
            "Question": self.question.unwrap_or("none"),
            "Items": self.items,
            "EvaluatedItems": self.meter.evaluated,
            "Calls": self.meter.calls,
            "ReadUnits": self.meter.read_units,
            "WriteUnits": self.meter.write_units,
            "Duration": (self.duration.as_secs_f64() * 1000.0 * 1000.0).round() / 1000.0,
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
