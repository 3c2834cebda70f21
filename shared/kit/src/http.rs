//! The HTTP answer: status codes, headers, the form of an error, and Lambda's limit.

use std::collections::BTreeMap;
use std::io::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;

use crate::error::{Code, Error};
use crate::item::entity_tag;
use crate::operation::Reply;
use crate::row::{escaped_len, to_json, write_string};

/// The most bytes of a synchronous answer, counted with the proxy answer around the body.
///
/// Source: AWS Lambda's own error text, "Exceeded maximum allowed payload size (6291556 bytes)".
pub const MAX_ANSWER_BYTES: usize = 6_291_556;

/// What the proxy answer adds to its body at most: status, headers, and the end of a page.
pub const ENVELOPE_BYTES: usize = 16 * 1024;

/// The answer of a proxy integration. Both kinds of API take this form.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The status code.
    pub status_code: u16,
    /// The headers, one value each.
    pub headers: BTreeMap<&'static str, String>,
    /// The body: JSON, or gzip in base64.
    pub body: String,
    /// Whether the body is base64.
    pub is_base64_encoded: bool,
    /// No cookies, said to an HTTP API, since `cargo lambda watch` does not understand an answer that
    /// leaves them out. A REST API takes no such field.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookies: Option<Vec<String>>,
}

/// The status of an answer that is not an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Success {
    /// 200.
    Ok,
    /// 201.
    Created,
    /// 204, without a body.
    NoContent,
}

/// The status that goes with a code.
#[must_use]
pub const fn status(code: Code) -> u16 {
    match code {
        Code::InvalidEvent
        | Code::InvalidQueryString
        | Code::RepeatedParameter
        | Code::UnknownParameter
        | Code::UnsupportedQuestion
        | Code::InvalidParameter
        | Code::LimitOutOfRange
        | Code::PageOutOfRange
        | Code::InvalidDate
        | Code::ReversedPeriod
        | Code::PeriodTooLong
        | Code::InvalidOrder
        | Code::InvalidCursor
        | Code::InvalidBody
        | Code::InvalidAttribute => 400,
        Code::Unauthenticated => 401,
        Code::InvalidTenant => 403,
        Code::NotFound => 404,
        Code::MethodNotAllowed => 405,
        Code::AlreadyExists => 409,
        Code::PreconditionFailed => 412,
        Code::AnswerTooLarge | Code::ItemTooLarge => 413,
        Code::Internal => 500,
        Code::Throttled => 503,
        Code::TimedOut => 504,
    }
}

/// An answer with this JSON as its body. Where it is larger than Lambda hands back, it is compressed if
/// the caller takes gzip.
///
/// # Errors
///
/// 413 where it is too large all the same. `narrower` says what the caller can do.
pub fn json(success: Success, body: String, accepts_gzip: bool, narrower: &str) -> Result<Response, Error> {
    let status_code = match success {
        Success::Ok => 200,
        Success::Created => 201,
        Success::NoContent => 204,
    };
    let mut response =
        Response { status_code, headers: headers(), body, is_base64_encoded: false, cookies: None };
    // Escaped, a body is twice as long at most, and most bodies are far below that.
    let most = MAX_ANSWER_BYTES - ENVELOPE_BYTES;
    if response.body.len() * 2 <= most || escaped_len(&response.body) <= most {
        return Ok(response);
    }
    if accepts_gzip {
        response.body = BASE64.encode(gzip(&response.body)?);
        response.is_base64_encoded = true;
        response.headers.insert("content-encoding", "gzip".to_owned());
        response.headers.insert("vary", "accept-encoding".to_owned());
        if response.body.len() + ENVELOPE_BYTES <= MAX_ANSWER_BYTES {
            return Ok(response);
        }
    }
    Err(too_large(accepts_gzip, narrower))
}

/// The answer of an operation, or of a single item. An item as it is stored has its entity tag (RFC 9110,
/// section 8.8.3), by which a later change can be bound to it.
///
/// # Errors
///
/// 413 where the item is too large for an answer.
pub fn reply(reply: &Reply, accepts_gzip: bool) -> Result<Response, Error> {
    let (success, item) = match reply {
        Reply::Created(item) => (Success::Created, Some(item)),
        Reply::Item(item) => (Success::Ok, Some(item)),
        Reply::Done => (Success::NoContent, None),
    };
    let body = item.map(to_json).unwrap_or_default();
    let mut response = json(success, body, accepts_gzip, "store less in one item")?;
    if let Reply::Item(item) = reply
        && let Some(tag) = entity_tag(item)
    {
        response.headers.insert("etag", format!("\"{tag}\""));
    }
    Ok(response)
}

/// The answer is larger than Lambda hands back.
#[must_use]
pub fn too_large(accepts_gzip: bool, narrower: &str) -> Error {
    let compress = if accepts_gzip { "" } else { "accept gzip, or " };
    let message = format!("the answer is larger than {MAX_ANSWER_BYTES} bytes; {compress}{narrower}");
    Error::rejected(Code::AnswerTooLarge, message)
}

/// The answer to a request that failed. What is wrong with us is not said.
#[must_use]
pub fn error(error: &Error, request_id: &str) -> Response {
    let code = error.code();
    let message = match error {
        Error::Rejected { message, .. } | Error::MethodNotAllowed { message, .. } => message.clone(),
        Error::KeyAttribute { .. } | Error::ItemTooLarge => error.to_string(),
        Error::ConditionFailed { .. } => "what is stored is not what the request expects".to_owned(),
        Error::Throttled(_) => "too many requests at the moment; try again shortly".to_owned(),
        Error::TimedOut(_) => "there was no answer in time; try again".to_owned(),
        Error::Refused(_) | Error::Internal { .. } => {
            "something went wrong on our side; it has been recorded".to_owned()
        }
    };
    let mut body = String::from(r#"{"error":{"code":"#);
    write_string(&mut body, code.as_str());
    body.push_str(r#","message":"#);
    write_string(&mut body, &message);
    body.push_str(r#"},"requestId":"#);
    write_string(&mut body, request_id);
    body.push('}');
    let mut headers = headers();
    match error {
        Error::Throttled(_) => headers.insert("retry-after", "1".to_owned()),
        Error::MethodNotAllowed { methods, .. } => headers.insert("allow", methods.clone()),
        _ => None,
    };
    Response { status_code: status(code), headers, body, is_base64_encoded: false, cookies: None }
}

fn headers() -> BTreeMap<&'static str, String> {
    // What a list answers is one tenant's: no cache on the way may keep it.
    [("cache-control", "no-store"), ("content-type", "application/json")]
        .into_iter()
        .map(|(name, value)| (name, value.to_owned()))
        .collect()
}

fn gzip(text: &str) -> Result<Vec<u8>, Error> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(text.len() / 8), Compression::fast());
    encoder
        .write_all(text.as_bytes())
        .and_then(|()| encoder.finish())
        .map_err(|error| Error::internal("compressing an answer", error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_a_status_of_its_kind() {
        for code in Code::ALL {
            let expected = match code {
                Code::Internal | Code::Throttled | Code::TimedOut => 500..600,
                _ => 400..500,
            };
            assert!(expected.contains(&status(*code)), "{code:?}");
        }
    }

    #[test]
    fn an_error_of_ours_says_nothing_of_the_inside() {
        let response = error(&Error::internal("Query", "secret detail"), "r-1");
        assert_eq!(
            response.body,
            r#"{"error":{"code":"internal_error","message":"something went wrong on our side; it has been recorded"},"requestId":"r-1"}"#
        );
    }

    #[test]
    fn the_size_is_counted_with_its_escapes() {
        // Every second byte is a quote, which takes two bytes inside the proxy answer.
        let body = "\"a".repeat(MAX_ANSWER_BYTES / 3 + 1);
        assert!(body.len() < MAX_ANSWER_BYTES);
        let error = json(Success::Ok, body.clone(), false, "narrow it with limit").unwrap_err();
        assert_eq!(error.code(), Code::AnswerTooLarge);
        assert!(error.to_string().contains("limit"), "{error}");
        let response = json(Success::Ok, body, true, "narrow it with limit").unwrap();
        assert!(response.is_base64_encoded);
        assert_eq!(response.headers.get("content-encoding").map(String::as_str), Some("gzip"));
    }

    #[test]
    fn the_largest_plain_answer_is_within_the_limit_as_it_is_sent() {
        let body = "\"".repeat((MAX_ANSWER_BYTES - ENVELOPE_BYTES) / 2);
        let response = json(Success::Ok, body, false, "").unwrap();
        assert!(serde_json::to_vec(&response).unwrap().len() <= MAX_ANSWER_BYTES);
    }
}
