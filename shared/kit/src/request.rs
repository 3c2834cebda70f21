//! What the caller asks, read from an event of API Gateway: HTTP API (payload 2.0) or REST (1.0).
//!
//! The event is read by hand and not by `lambda_http`, which takes the process down on some events that
//! a caller can send, and refuses others that API Gateway does send (decision 2). Nothing here fails on
//! a field of an unexpected type: what is not understood is not there.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::error::{Code, Error};

/// The longest tenant, in bytes of UTF-8.
pub const MAX_TENANT_BYTES: usize = 128;

/// An HTTP method that a function serves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST.
    Post,
    /// PUT.
    Put,
    /// DELETE.
    Delete,
}

impl Method {
    /// The method's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        }
    }
}

/// A request as it came.
#[derive(Debug)]
pub struct Request {
    method: String,
    path: String,
    query: Query,
    headers: Value,
    authorizer: Value,
    body: Option<String>,
    body_is_base64: bool,
    gateway_request_id: Option<String>,
}

#[derive(Debug)]
enum Query {
    /// As it stands in the URL.
    Raw(String),
    /// As API Gateway decoded it.
    Decoded(Vec<(String, String)>),
}

impl Request {
    /// Reads an event.
    ///
    /// # Errors
    ///
    /// 400 `invalid_event` where it is not an HTTP event of API Gateway.
    pub fn read(event: &str) -> Result<Self, Error> {
        let foreign = || {
            Error::rejected(
                Code::InvalidEvent,
                "the event is not a request of an API Gateway HTTP API (payload 2.0) or REST API",
            )
        };
        let mut event: Value = serde_json::from_str(event).map_err(|_| foreign())?;
        let context = event.get_mut("requestContext").map(Value::take).unwrap_or_default();
        let http = context.get("http").filter(|http| http.is_object());
        let (method, path, query) = if let Some(http) = http {
            let query = text(&event, "rawQueryString").unwrap_or_default();
            (text(http, "method"), text(&event, "rawPath"), Query::Raw(query))
        } else {
            (text(&event, "httpMethod"), text(&event, "path"), Query::Decoded(decoded_query(&event)))
        };
        let (Some(method), Some(path)) = (method, path) else { return Err(foreign()) };
        Ok(Self {
            method,
            path,
            query,
            gateway_request_id: text(&context, "requestId"),
            authorizer: context.get("authorizer").cloned().unwrap_or_default(),
            headers: event.get_mut("headers").map(Value::take).unwrap_or_default(),
            body: text(&event, "body"),
            body_is_base64: event.get("isBase64Encoded").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// The id that API Gateway gave the request.
    #[must_use]
    pub fn gateway_request_id(&self) -> Option<&str> {
        self.gateway_request_id.as_deref()
    }

    /// Checks that the request is one to this route. What comes before the route's own segments is the
    /// stage or the mapping of a custom domain.
    ///
    /// # Errors
    ///
    /// 404 for another path, 405 for another method.
    pub fn check_route(&self, method: Method, path: &str) -> Result<(), Error> {
        let segments = |path: &str| -> Vec<String> {
            path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
        };
        if !segments(&self.path).ends_with(&segments(path)) {
            return Err(Error::rejected(Code::NotFound, format!("nothing is served here; try {path}")));
        }
        if self.method != method.as_str() {
            return Err(Error::rejected(
                Code::MethodNotAllowed,
                format!("{path} is served with {} only", method.as_str()),
            ));
        }
        Ok(())
    }

    /// The tenant that the authorizer vouches for, in the claim `claim`. It comes from nowhere else.
    ///
    /// # Errors
    ///
    /// 401 where there is no such claim; 403 where it cannot be the tenant of a key.
    pub fn tenant(&self, claim: &str) -> Result<String, Error> {
        let claims = [
            // HTTP API: JWT authorizer, Lambda authorizer.
            self.authorizer.get("jwt").and_then(|jwt| jwt.get("claims")),
            self.authorizer.get("lambda"),
            // REST API: Cognito authorizer, Lambda authorizer.
            self.authorizer.get("claims"),
            Some(&self.authorizer),
        ];
        let claimed =
            claims.into_iter().flatten().find_map(|claims| claims.get(claim)).filter(|v| !v.is_null());
        #[cfg(debug_assertions)]
        let stand_in = self.header("x-local-tenant").map(|tenant| Value::String(tenant.to_owned()));
        #[cfg(debug_assertions)]
        let claimed = claimed.or(if self.authorizer.is_null() { stand_in.as_ref() } else { None });
        let Some(claimed) = claimed else {
            return Err(Error::rejected(
                Code::Unauthenticated,
                "the request carries no identity with a tenant",
            ));
        };
        let tenant = claimed.as_str().unwrap_or_default();
        let refused = if tenant.trim().is_empty() {
            "must be a text that is not empty"
        } else if tenant.len() > MAX_TENANT_BYTES {
            "must have at most 128 bytes"
        } else if tenant.contains('#') || tenant.chars().any(char::is_control) {
            "must not contain \"#\" or control characters"
        } else {
            return Ok(tenant.to_owned());
        };
        Err(Error::rejected(Code::InvalidTenant, format!("the tenant of the identity {refused}")))
    }

    /// The parameters of the query string, each name once.
    ///
    /// # Errors
    ///
    /// 400 for a query string that is not valid, and for a repeated parameter.
    pub fn query(&self) -> Result<Vec<(String, String)>, Error> {
        let pairs = match &self.query {
            Query::Raw(raw) => parse_query(raw)?,
            Query::Decoded(pairs) => pairs.clone(),
        };
        for (position, (name, _)) in pairs.iter().enumerate() {
            if pairs.iter().take(position).any(|(before, _)| before == name) {
                return Err(Error::rejected(
                    Code::RepeatedParameter,
                    format!("{} must be given once", shown(name)),
                ));
            }
        }
        Ok(pairs)
    }

    /// The value of a header, whatever the case of its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.as_object()?.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1.as_str()
    }

    /// Whether the caller takes a gzip answer, by `Accept-Encoding` (RFC 9110, section 12.5.3).
    #[must_use]
    pub fn accepts_gzip(&self) -> bool {
        let Some(accepted) = self.header("accept-encoding") else { return false };
        let quality = |coding: &str| {
            accepted.split(',').find_map(|part| {
                let mut pieces = part.split(';').map(str::trim);
                if !pieces.next()?.eq_ignore_ascii_case(coding) {
                    return None;
                }
                let q = pieces.find_map(|piece| piece.strip_prefix("q=")).unwrap_or("1");
                Some(q.parse::<f32>().unwrap_or(0.0))
            })
        };
        quality("gzip").or_else(|| quality("*")).is_some_and(|quality| quality > 0.0)
    }

    /// The body as text.
    ///
    /// # Errors
    ///
    /// 400 where there is none, where it is not the base64 it says it is, or not UTF-8.
    pub fn body(&self) -> Result<String, Error> {
        let refused = |message: &str| Error::rejected(Code::InvalidBody, message);
        let body = self.body.as_deref().filter(|body| !body.is_empty());
        let body = body.ok_or_else(|| refused("the request needs a body"))?;
        if !self.body_is_base64 {
            return Ok(body.to_owned());
        }
        let bytes = BASE64.decode(body).map_err(|_| refused("the body is not valid base64"))?;
        String::from_utf8(bytes).map_err(|_| refused("the body must be UTF-8 text"))
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The parameters of a REST event. API Gateway has decoded them, and lists repeated ones apart.
fn decoded_query(event: &Value) -> Vec<(String, String)> {
    let string = |name: &String, value: &Value| Some((name.clone(), value.as_str()?.to_owned()));
    if let Some(several) = event.get("multiValueQueryStringParameters").and_then(Value::as_object) {
        let pairs = several.iter().flat_map(|(name, values)| {
            values.as_array().into_iter().flatten().filter_map(move |value| string(name, value))
        });
        return pairs.collect();
    }
    let single = event.get("queryStringParameters").and_then(Value::as_object);
    single.into_iter().flatten().filter_map(|(name, value)| string(name, value)).collect()
}

/// Reads a query string as a form is written (URL standard, `application/x-www-form-urlencoded`), but
/// refuses what the standard repairs: a half escape, bytes that are not UTF-8, and characters that must
/// be escaped in a query.
fn parse_query(raw: &str) -> Result<Vec<(String, String)>, Error> {
    let refused = |message: &str| Error::rejected(Code::InvalidQueryString, message);
    if raw.chars().any(|c| !c.is_ascii_graphic() || matches!(c, '"' | '#' | '<' | '>')) {
        return Err(refused("the query string holds a character that must be percent-encoded"));
    }
    let decode = |text: &str| {
        let bytes = text.as_bytes();
        let whole_escapes = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
            bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        });
        if !whole_escapes {
            return Err(refused(
                "the query string holds a \"%\" that is not followed by two hexadecimal digits",
            ));
        }
        percent_decode_str(&text.replace('+', " "))
            .decode_utf8()
            .map(std::borrow::Cow::into_owned)
            .map_err(|_| refused("the query string holds bytes that are not UTF-8"))
    };
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        })
        .collect()
}

/// A name that the caller chose, fit to stand in a message: quoted, shortened, without control
/// characters.
#[must_use]
pub fn shown(name: &str) -> String {
    let plain: String = name.chars().filter(|c| !c.is_control()).take(40).collect();
    format!("\"{plain}\"")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn parse(raw: &str) -> Vec<(String, String)> {
        parse_query(raw).unwrap()
    }

    #[test]
    fn a_query_is_decoded_once() {
        assert_eq!(
            parse("name=Silva%2C%20Ana&x=a%2523"),
            [("name".to_owned(), "Silva, Ana".to_owned()), ("x".to_owned(), "a%23".to_owned()),]
        );
        assert_eq!(parse("a=1+2&b"), [("a".to_owned(), "1 2".to_owned()), ("b".to_owned(), String::new())]);
        assert_eq!(parse(""), []);
    }

    #[test]
    fn what_must_be_escaped_is_refused() {
        for raw in ["a=x y", "a=<", "a=\"", "a=%2", "a=%zz", "a=%ff", "a=\u{e9}", "a=%", "a=\n"] {
            assert_eq!(parse_query(raw).unwrap_err().code(), Code::InvalidQueryString, "{raw}");
        }
    }

    fn accepts(header: &str) -> bool {
        let event = serde_json::json!({
            "requestContext": {"http": {"method": "GET"}},
            "rawPath": "/",
            "headers": {"Accept-Encoding": header},
        });
        Request::read(&event.to_string()).unwrap().accepts_gzip()
    }

    #[test]
    fn gzip_is_accepted_as_the_header_says() {
        assert!(accepts("gzip"));
        assert!(accepts("br;q=1.0, gzip;q=0.8, *;q=0.1"));
        assert!(accepts("*"));
        assert!(!accepts("gzip;q=0"));
        assert!(!accepts("br, identity"));
        assert!(!accepts("gzip;q=0, *"));
    }

    proptest! {
        #[test]
        fn no_event_panics(event in "\\{(\"(version|httpMethod|path|rawPath|headers|requestContext)\":(\"x\"|1|null|\\{\\}|\\[\\]),?){0,5}\\}?") {
            if let Ok(request) = Request::read(&event) {
                let _ = request.query();
                let _ = request.tenant("custom:tenant");
            }
        }

        #[test]
        fn every_text_arrives_whole(name in "[a-z]{1,5}", value in any::<String>()) {
            let encoded = percent_encoding::utf8_percent_encode(&value, percent_encoding::NON_ALPHANUMERIC);
            prop_assert_eq!(parse(&format!("{name}={encoded}")), [(name, value)]);
        }
    }
}
