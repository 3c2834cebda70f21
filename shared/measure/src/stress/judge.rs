//! Whether an answer is right, or a clear error.

use std::collections::BTreeMap;

use axum::body::Bytes;
use axum::http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::stress::gateway::REQUEST_ID;

/// What came back of a request.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The status.
    pub status: u16,
    /// The headers.
    pub headers: HeaderMap,
    /// The body, whole.
    pub body: Bytes,
}

/// What must stand in no error: it is of the inside.
const INSIDE: [&str; 4] = ["dynamo", "query", "127.0.0.1", "connection"];

/// The deepest nesting of a body that is read. DynamoDB stores 32 levels.
const MAX_DEPTH: usize = 128;

/// A body as it is compared: numbers by the digits they are written with, objects in whichever order they have
/// their names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Json {
    /// An object.
    Object(BTreeMap<String, Self>),
    /// An array, in its order.
    Array(Vec<Self>),
    /// A text, without its escapes.
    Text(String),
    /// A number as it is written, `true`, `false` or `null`.
    Word(String),
}

impl Json {
    /// Reads a body; `None` for one that is no JSON, or nested too deeply.
    #[must_use]
    pub fn read(body: &[u8]) -> Option<Self> {
        Self::of(serde_json::from_slice(body).ok()?, MAX_DEPTH)
    }

    fn of(raw: &RawValue, depth: usize) -> Option<Self> {
        let text = raw.get();
        let depth = depth.checked_sub(1)?;
        match text.as_bytes().first()? {
            b'{' => {
                let named: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
                let read = named.into_iter().map(|(name, raw)| Some((name, Self::of(raw, depth)?)));
                read.collect::<Option<_>>().map(Self::Object)
            }
            b'[' => {
                let elements: Vec<&RawValue> = serde_json::from_str(text).ok()?;
                elements.into_iter().map(|raw| Self::of(raw, depth)).collect::<Option<_>>().map(Self::Array)
            }
            b'"' => serde_json::from_str(text).ok().map(Self::Text),
            _ => Some(Self::Word(text.to_owned())),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    error: Named,
    #[serde(rename = "requestId")]
    request_id: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    code: String,
    message: String,
}

/// What is wrong with an answer: it has to be one of the `allowed` statuses; a 200 with the `right` body, which
/// no answer is if there is none, and an error with its code, in the form of all errors. `None` if nothing is.
#[must_use]
pub fn problem(answer: &Answer, right: Option<&Json>, allowed: &[u16]) -> Option<String> {
    let Answer { status, headers, body } = answer;
    let shown = || String::from_utf8_lossy(body.get(..300).unwrap_or(body)).into_owned();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if !allowed.contains(status) {
        return Some(format!("{status} where {allowed:?} is allowed: {}", shown()));
    }
    if header("content-type") != Some("application/json") {
        return Some(format!("{status} with the content type {:?}", header("content-type")));
    }
    if *status == 200 {
        let same = right.is_some_and(|right| Json::read(body).as_ref() == Some(right));
        return (!same).then(|| format!("200 with a wrong body: {}", shown()));
    }
    let code = match status {
        500 => "internal_error",
        503 => "throttled",
        504 => "timed_out",
        _ => return Some(format!("{status} is no answer to a fault: {}", shown())),
    };
    let Ok(Told { error, request_id }) = serde_json::from_slice(body) else {
        return Some(format!("{status} with a body that is no error: {}", shown()));
    };
    if error.code != code {
        return Some(format!("{status} with the code {}", error.code));
    }
    let message = error.message.to_lowercase();
    if message.is_empty() || INSIDE.iter().any(|word| message.contains(word)) {
        return Some(format!("{status} with the message {:?}", error.message));
    }
    if request_id.is_empty() || header(REQUEST_ID).is_some_and(|given| given != request_id) {
        return Some(format!("{status} with the id {request_id:?} of another request"));
    }
    let seconds = header("retry-after").and_then(|seconds| seconds.parse::<u32>().ok());
    if *status == 503 && seconds.is_none() {
        return Some("503 without a time to come back".to_owned());
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    const RIGHT: &[u8] = br#"{"items":[],"page":1,"limit":20,"total":0}"#;
    const ALL: &[u16] = &[200, 500, 503, 504];

    fn answer(status: u16, body: impl Into<Bytes>) -> Answer {
        let headers = [("content-type", "application/json"), ("retry-after", "1"), (REQUEST_ID, "r-1")];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        Answer { status, headers: headers.into_iter().collect(), body: body.into() }
    }

    fn error(code: &str) -> String {
        format!(r#"{{"error":{{"code":"{code}","message":"try again"}},"requestId":"r-1"}}"#)
    }

    fn problem(answer: &Answer, right: &[u8], allowed: &[u16]) -> Option<String> {
        super::problem(answer, Json::read(right).as_ref(), allowed)
    }

    #[test]
    fn a_body_is_the_same_digit_by_digit_in_whichever_order_of_names() {
        let same = |a: &str, b: &str| problem(&answer(200, a.to_owned()), b.as_bytes(), ALL).is_none();
        for (a, b) in [
            (r#"{"a":0.1,"b":[1,{"c":null,"d":true}]}"#, r#" {"b": [1, {"d": true, "c": null}], "a": 0.1} "#),
            (r#"{"a":"\u00e9\/"}"#, r#"{"a":"é/"}"#),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
            ("[]", "[ ]"),
        ] {
            assert!(same(a, b) && same(b, a), "{a} {b}");
        }
        for (a, b) in [
            ("0.10000000000000000000001", "0.1"),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345679"),
            ("1", "1.0"),
            ("100", "1e2"),
            ("0", "-0"),
            ("1", r#""1""#),
            ("null", r#""null""#),
            ("[1,2]", "[2,1]"),
            ("[1,1]", "[1]"),
            (r#"{"a":{"b":0.3}}"#, r#"{"a":{"b":0.30000000000000000001}}"#),
            (r#"{"a":null}"#, "{}"),
            ("[]", "{}"),
        ] {
            assert!(!same(a, b) && !same(b, a), "{a} {b}");
        }
        let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
        assert!(same(&deep(MAX_DEPTH), &deep(MAX_DEPTH)));
        assert_eq!(Json::read(deep(1_000_000).as_bytes()), None);
        for no_json in ["", "{", "1 2", "01", r#"{"a":1,}"#, r#""\ud800""#] {
            assert_eq!(Json::read(no_json.as_bytes()), None, "{no_json}");
        }
        assert!(super::problem(&answer(200, RIGHT), None, ALL).is_some(), "no answer is known to be right");
    }

    #[test]
    fn right_answers_and_clear_errors_pass() {
        assert_eq!(problem(&answer(200, RIGHT), RIGHT, ALL), None);
        for (status, code) in [(500, "internal_error"), (503, "throttled"), (504, "timed_out")] {
            assert_eq!(problem(&answer(status, error(code)), RIGHT, ALL), None);
        }
    }

    #[test]
    fn everything_else_is_caught() {
        let wrong_total = String::from_utf8_lossy(RIGHT).replace(r#""total":0"#, r#""total":1"#);
        let of_the_inside = error("internal_error").replace("try again", "DynamoDB throttles");
        let mut without_a_time = answer(503, error("throttled"));
        without_a_time.headers.remove("retry-after");
        let mut another_kind = answer(200, RIGHT);
        another_kind.headers.insert("content-type", "text/plain".parse().unwrap());
        for (wrong, told) in [
            (answer(200, wrong_total), "wrong body"),
            (answer(200, &RIGHT[1..]), "wrong body"),
            (answer(404, error("not_found")), "allowed"),
            (answer(500, r#"{"message":"Internal Server Error"}"#), "no error"),
            (answer(500, ""), "no error"),
            (answer(500, error("internal_error").replace("\"error\"", "\"more\":1,\"error\"")), "no error"),
            (answer(500, error("timed_out")), "code"),
            (answer(504, error("throttled")), "code"),
            (answer(500, of_the_inside), "message"),
            (answer(504, error("timed_out").replace("r-1", "r-2")), "another request"),
            (without_a_time, "time to come back"),
            (another_kind, "content type"),
        ] {
            let problem = problem(&wrong, RIGHT, ALL).unwrap_or_else(|| panic!("{wrong:?} passes"));
            assert!(problem.contains(told), "{problem}");
        }
        assert!(problem(&answer(504, error("timed_out")), RIGHT, &[200]).is_some(), "it is not allowed");
    }
}
