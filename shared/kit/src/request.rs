//! What the caller asks, read from an event of API Gateway: HTTP API (payload 2.0) or REST (1.0).
//!
//! The event is read by hand and not by `lambda_http`, which takes the process down on some events that
//! a caller can send, and refuses others that API Gateway does send (decision 2). A field of an unexpected
//! type is one that is not there, but for the parameters: one that is left out asks for more.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use percent_encoding::percent_decode_str;
use serde_json::Value;

use crate::error::{Code, Error};
use crate::item::{self, Item, ItemFault, MAX_ITEM_BYTES};
use crate::key::MAX_SORT_BYTES;

/// The longest tenant, in bytes of UTF-8.
pub const MAX_TENANT_BYTES: usize = 128;

/// The largest body that is read as an item, in bytes.
pub const MAX_BODY_BYTES: usize = 256 * 1024;

/// What an operation may add to an item that it was sent, in bytes.
const ITEM_RESERVE: usize = 4 * 1024;

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
    path: Path,
    path_parameters: Vec<(String, String)>,
    query: Query,
    is_http_api: bool,
    headers: Value,
    authorizer: Value,
    body: Option<String>,
    body_is_base64: bool,
    gateway_request_id: Option<String>,
}

/// Where a request goes.
#[derive(Debug)]
enum Path {
    /// To the route with this path, placeholders and all: API Gateway has matched it. The values of the
    /// placeholders, decoded.
    Route(String, Vec<(String, String)>),
    /// To this path, as it stands in the URL.
    Raw(String),
    /// To this path, decoded.
    Decoded(String),
}

/// What a caller says is stored before a write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expected {
    /// No item: `If-None-Match: *`.
    Nothing,
    /// Some item: `If-Match: *`.
    Anything,
    /// The item with this entity tag: `If-Match: "..."`.
    Version(String),
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
    /// 400: `invalid_event` where it is not an HTTP event of API Gateway, `invalid_parameter` where its path
    /// is not valid, `invalid_query_string` where a parameter is no text.
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
            let query = match text(&event, "rawQueryString") {
                Some(raw) => Query::Raw(raw),
                None => Query::Decoded(decoded_query(&event)?),
            };
            (text(http, "method"), http_path(&event), query)
        } else {
            (text(&event, "httpMethod"), rest_path(&event)?, Query::Decoded(decoded_query(&event)?))
        };
        let (Some(method), Some(path)) = (method, path) else { return Err(foreign()) };
        Ok(Self {
            method,
            path,
            path_parameters: Vec::new(),
            query,
            is_http_api: http.is_some(),
            gateway_request_id: text(&context, "requestId"),
            authorizer: context.get("authorizer").cloned().unwrap_or_default(),
            headers: event.get_mut("headers").map(Value::take).unwrap_or_default(),
            body: text(&event, "body"),
            body_is_base64: event.get("isBase64Encoded").and_then(Value::as_bool).unwrap_or(false),
        })
    }

    /// Whether an HTTP API sent it (payload 2.0), and not a REST API.
    #[must_use]
    pub fn is_http_api(&self) -> bool {
        self.is_http_api
    }

    /// The id that API Gateway gave a request which cannot be read.
    #[must_use]
    pub fn gateway_request_id_of(event: &str) -> Option<String> {
        text(serde_json::from_str::<Value>(event).ok()?.get("requestContext")?, "requestId")
    }

    /// The id that API Gateway gave the request.
    #[must_use]
    pub fn gateway_request_id(&self) -> Option<&str> {
        self.gateway_request_id.as_deref()
    }

    /// Finds the route that the request is for, among those of a function, and gives its place. What
    /// comes before a route's own segments is the stage or the mapping of a custom domain.
    ///
    /// # Errors
    ///
    /// 404 for another path, 405 for another method, 400 for a path that is not valid.
    pub fn route(&mut self, routes: &[(Method, &str)]) -> Result<usize, Error> {
        // Of `/products` and `/products/{id}`, a product called "products" is found by the longer.
        let mut found: Option<(&str, Vec<(String, String)>)> = None;
        for (_, path) in routes {
            if found.as_ref().is_none_or(|(known, _)| known.len() < path.len())
                && let Some(parameters) = self.matched(path)?
            {
                found = Some((path, parameters));
            }
        }
        let Some((path, parameters)) = found else {
            let paths: Vec<&str> = routes.iter().map(|(_, path)| *path).collect();
            let message = format!("nothing is served here; try {}", paths.join(" or "));
            return Err(Error::rejected(Code::NotFound, message));
        };
        self.path_parameters = parameters;
        let route = routes.iter().position(|(method, of)| *of == path && method.as_str() == self.method);
        route.ok_or_else(|| {
            let methods = allowed(routes, path);
            Error::MethodNotAllowed { message: format!("{path} is served with {methods} only"), methods }
        })
    }

    /// The placeholders' values where the request goes to `path`.
    fn matched(&self, path: &str) -> Result<Option<Vec<(String, String)>>, Error> {
        let segments = |path: &str| -> Vec<String> {
            path.split('/').filter(|segment| !segment.is_empty()).map(str::to_owned).collect()
        };
        let (wanted, given) = match &self.path {
            Path::Route(route, _) => (segments(path), segments(route)),
            Path::Raw(given) | Path::Decoded(given) => (segments(path), segments(given)),
        };
        let Some(skip) = given.len().checked_sub(wanted.len()) else { return Ok(None) };
        let mut values = Vec::new();
        for (wanted, given) in wanted.iter().zip(given.iter().skip(skip)) {
            match wanted.strip_prefix('{').and_then(|name| name.strip_suffix('}')) {
                Some(name) => match &self.path {
                    // A REST API has one name only for what stands in one place of its paths.
                    Path::Route(_, parameters) if given.starts_with('{') => {
                        let given = given.trim_matches(['{', '}']);
                        let value = parameters.iter().find(|(known, _)| known == given);
                        values.extend(value.map(|(_, value)| (name.to_owned(), value.clone())));
                    }
                    Path::Route(..) => return Ok(None),
                    Path::Raw(_) => values.push((name.to_owned(), decoded_segment(given)?)),
                    Path::Decoded(_) => values.push((name.to_owned(), given.clone())),
                },
                None if given == wanted => {}
                None => return Ok(None),
            }
        }
        Ok(Some(values))
    }

    /// The placeholders of the route and their values, decoded once.
    #[must_use]
    pub fn path_parameters(&self) -> &[(String, String)] {
        &self.path_parameters
    }

    /// The value of a placeholder of the route, fit to be a part of a key.
    ///
    /// # Errors
    ///
    /// 400 where it is empty or longer than a sort key can be.
    pub fn path_parameter(&self, name: &'static str) -> Result<&str, Error> {
        let value = self.path_parameters.iter().find(|(known, _)| known == name);
        let value = value.map(|(_, value)| value.as_str()).unwrap_or_default();
        let refused = |why: String| Err(Error::rejected(Code::InvalidParameter, format!("{name} {why}")));
        match value.len() {
            0 => refused("must not be empty".to_owned()),
            len if len > MAX_SORT_BYTES => refused(format!("must have at most {MAX_SORT_BYTES} bytes")),
            _ => Ok(value),
        }
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

    /// Checks that the query string has no parameters; `place` says where none is taken.
    ///
    /// # Errors
    ///
    /// 400 for a parameter, and for a query string that is not valid.
    pub fn refuse_parameters(&self, place: &str) -> Result<(), Error> {
        match self.query()?.first() {
            None => Ok(()),
            Some((name, _)) => {
                let message = format!("{} is not a parameter {place}", shown(name));
                Err(Error::rejected(Code::UnknownParameter, message))
            }
        }
    }

    /// The value of a header, whatever the case of its name.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.as_object()?.iter().find(|(known, _)| known.eq_ignore_ascii_case(name))?.1.as_str()
    }

    /// What the caller says is stored, by `If-Match` and `If-None-Match` (RFC 9110, section 13.1).
    ///
    /// # Errors
    ///
    /// 400 for more than one entity tag, and for an `If-None-Match` that is not `*`.
    pub fn expected(&self) -> Result<Option<Expected>, Error> {
        let refused = |message: &str| Err(Error::rejected(Code::InvalidParameter, message));
        match (self.header("if-match").map(str::trim), self.header("if-none-match").map(str::trim)) {
            (None, None) => Ok(None),
            (Some("*"), None) => Ok(Some(Expected::Anything)),
            (None, Some("*")) => Ok(Some(Expected::Nothing)),
            (Some(tag), None) => match tag.strip_prefix('"').and_then(|tag| tag.strip_suffix('"')) {
                Some(version) if !version.contains('"') => Ok(Some(Expected::Version(version.to_owned()))),
                _ => refused("If-Match must be * or one entity tag in quotes, as ETag gave it"),
            },
            (None, Some(_)) => refused("If-None-Match must be *"),
            (Some(_), Some(_)) => refused("If-Match and If-None-Match exclude each other"),
        }
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
                let q =
                    pieces.find_map(|piece| piece.strip_prefix(['q', 'Q'])?.strip_prefix('=')).unwrap_or("1");
                Some(q.parse::<f32>().unwrap_or(0.0))
            })
        };
        quality("gzip").or_else(|| quality("*")).is_some_and(|quality| quality > 0.0)
    }

    /// The body as an item.
    ///
    /// # Errors
    ///
    /// 400 where it is no JSON object, or holds what DynamoDB does not store; 413 where it is larger than
    /// [`MAX_BODY_BYTES`].
    pub fn item(&self) -> Result<Item, Error> {
        let body = self.body()?;
        if body.len() > MAX_BODY_BYTES {
            let message = format!("the body must have at most {MAX_BODY_BYTES} bytes");
            return Err(Error::rejected(Code::ItemTooLarge, message));
        }
        let item = item::from_json(&body).map_err(|fault| {
            let code = match fault {
                ItemFault::NotAnObject => Code::InvalidBody,
                _ => Code::InvalidAttribute,
            };
            Error::rejected(code, fault.to_string())
        })?;
        if item::size(&item) > MAX_ITEM_BYTES - ITEM_RESERVE {
            return Err(Error::ItemTooLarge);
        }
        Ok(item)
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

/// The methods that a path is served with.
fn allowed(routes: &[(Method, &str)], path: &str) -> String {
    let methods: Vec<&str> =
        routes.iter().filter(|(_, other)| *other == path).map(|(method, _)| method.as_str()).collect();
    methods.join(", ")
}

/// Where an HTTP API sends a request. It decodes the values of placeholders, and the raw path as well,
/// whatever its name says. The route `$default` has no placeholders: it is that of a local gateway, whose
/// raw path is raw. A route for all paths (`/{proxy+}`) says nothing of the one that was asked.
fn http_path(event: &Value) -> Option<Path> {
    let route = text(event, "routeKey").and_then(|key| Some(key.split_once(' ')?.1.to_owned()));
    match route {
        Some(route) if route.contains("+}") => Some(Path::Decoded(text(event, "rawPath")?)),
        Some(route) => Some(Path::Route(route, texts(event.get("pathParameters")).collect())),
        None => Some(Path::Raw(text(event, "rawPath")?)),
    }
}

/// Where a REST API sends a request. It leaves the values of placeholders as they stand in the URL. An HTTP
/// API that is set to payload 1.0 sends the same, says so in `version`, and decodes them.
fn rest_path(event: &Value) -> Result<Option<Path>, Error> {
    match text(event, "resource").filter(|resource| !resource.contains("+}")) {
        Some(resource) => {
            let values = texts(event.get("pathParameters"));
            let raw = text(event, "version").is_none();
            let value = |value: String| if raw { decoded_segment(&value) } else { Ok(value) };
            let decoded = values.map(|(name, given)| value(given).map(|value| (name, value)));
            Ok(Some(Path::Route(resource, decoded.collect::<Result<_, Error>>()?)))
        }
        None => Ok(text(event, "path").map(Path::Raw)),
    }
}

/// A segment of a path, decoded: unlike in a query, `+` is a plus.
fn decoded_segment(segment: &str) -> Result<String, Error> {
    decoded(segment).map_err(|why| Error::rejected(Code::InvalidParameter, format!("the path holds {why}")))
}

/// The texts of a JSON object.
fn texts(value: Option<&Value>) -> impl Iterator<Item = (String, String)> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
}

/// Decodes percent escapes, and says what is wrong with one that is none.
fn decoded(text: &str) -> Result<String, &'static str> {
    let bytes = text.as_bytes();
    let whole_escapes =
        bytes.iter().enumerate().filter(|(_, byte)| **byte == b'%').all(|(at, _)| {
            bytes.get(at + 1..at + 3).is_some_and(|hex| hex.iter().all(u8::is_ascii_hexdigit))
        });
    if !whole_escapes {
        return Err("a \"%\" that is not followed by two hexadecimal digits");
    }
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(std::borrow::Cow::into_owned).map_err(|_| "bytes that are not UTF-8")
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

/// The parameters of a REST event. API Gateway has decoded them, and lists repeated ones apart.
fn decoded_query(event: &Value) -> Result<Vec<(String, String)>, Error> {
    let given = |name: &str| match event.get(name) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Object(fields)) => Ok(fields.iter().filter(|(_, value)| !value.is_null()).collect()),
        Some(_) => Err(Error::rejected(Code::InvalidQueryString, "the parameters have no names")),
    };
    let several = given("multiValueQueryStringParameters")?;
    let mut single = given("queryStringParameters")?;
    single.retain(|(name, _)| !several.iter().any(|(known, _)| known == name));
    let each = several.into_iter().flat_map(|(name, values)| match values {
        Value::Array(values) if !values.is_empty() => values.iter().map(|value| (name, value)).collect(),
        other => vec![(name, other)],
    });
    // A parameter that was not understood and left out would ask for more than the caller asked.
    each.chain(single)
        .map(|(name, value)| match value {
            Value::String(value) => Ok((name.clone(), value.clone())),
            _ => {
                let message = format!("{} has no text as its value", shown(name));
                Err(Error::rejected(Code::InvalidQueryString, message))
            }
        })
        .collect()
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
        decoded(&text.replace('+', " ")).map_err(|why| refused(&format!("the query string holds {why}")))
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
