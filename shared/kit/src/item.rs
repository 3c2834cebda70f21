//! Stored items as JSON, and JSON as stored items, digit by digit: no float stands in between.

use std::collections::HashMap;

pub use aws_sdk_dynamodb::types::AttributeValue;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::value::RawValue;

/// A stored item, or the part of one that was read.
pub type Item = HashMap<String, AttributeValue>;

/// The attribute that changes with every write of an item that several people edit.
pub const VERSION: &str = "version";

/// The deepest nesting that DynamoDB stores.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: nested attributes".
const MAX_DEPTH: usize = 32;

/// The most significant digits of a DynamoDB number.
///
/// Source: Amazon DynamoDB developer guide, "Data types: number".
const MAX_DIGITS: usize = 38;

/// An item of text attributes, such as a key.
#[must_use]
pub fn texts<const N: usize>(fields: [(&str, &str); N]) -> Item {
    Item::from(fields.map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned()))))
}

/// Rows of an answer, written as JSON while they are read.
#[derive(Debug)]
pub struct Rows {
    json: String,
    count: usize,
    escaped: usize,
    most_escaped: usize,
    unlisted: &'static [&'static str],
}

impl Rows {
    /// No rows yet. `most_escaped` bounds their bytes as [`escaped_len`] counts them; the attributes
    /// `unlisted` are left out of every row.
    #[must_use]
    pub fn new(most_escaped: usize, unlisted: &'static [&'static str]) -> Self {
        Self { json: String::new(), count: 0, escaped: 0, most_escaped, unlisted }
    }

    /// Adds a row, or leaves the rows as they are and answers `false` where it does not fit.
    #[must_use = "a row that does not fit is not added"]
    pub fn push(&mut self, item: &Item) -> bool {
        let before = self.json.len();
        if self.count > 0 {
            self.json.push(',');
        }
        write_map(&mut self.json, item, self.unlisted);
        let added = escaped_len(self.json.get(before..).unwrap_or_default());
        if self.escaped + added > self.most_escaped {
            self.json.truncate(before);
            return false;
        }
        self.escaped += added;
        self.count += 1;
        true
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The rows, separated by commas.
    #[must_use]
    pub fn as_json(&self) -> &str {
        &self.json
    }
}

/// The bytes of `json` once it stands as a string inside the proxy answer, without the quotes around
/// it: there every quote and backslash takes a backslash more.
#[must_use]
pub fn escaped_len(json: &str) -> usize {
    json.len() + json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// One item as a JSON object.
#[must_use]
pub fn to_json(item: &Item, unlisted: &[&str]) -> String {
    let mut json = String::new();
    write_map(&mut json, item, unlisted);
    json
}

/// Attributes in the order of their names: the same item gives the same text every time.
fn write_map(json: &mut String, map: &Item, unlisted: &[&str]) {
    let mut attributes: Vec<(&String, &AttributeValue)> =
        map.iter().filter(|(name, _)| !unlisted.contains(&name.as_str())).collect();
    attributes.sort_unstable_by_key(|(name, _)| *name);
    json.push('{');
    for (position, (name, value)) in attributes.into_iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        write_string(json, name);
        json.push(':');
        write_value(json, value);
    }
    json.push('}');
}

fn write_value(json: &mut String, value: &AttributeValue) {
    match value {
        AttributeValue::S(text) => write_string(json, text),
        AttributeValue::N(digits) => write_number(json, digits),
        AttributeValue::Bool(true) => json.push_str("true"),
        AttributeValue::Bool(false) => json.push_str("false"),
        AttributeValue::M(map) => write_map(json, map, &[]),
        AttributeValue::L(list) => write_list(json, list, write_value),
        AttributeValue::Ss(set) => write_list(json, set, |json, text| write_string(json, text)),
        AttributeValue::Ns(set) => write_list(json, set, |json, digits| write_number(json, digits)),
        AttributeValue::B(blob) => write_binary(json, blob.as_ref()),
        AttributeValue::Bs(set) => write_list(json, set, |json, blob| write_binary(json, blob.as_ref())),
        // NULL, and what a later version of DynamoDB may add.
        _ => json.push_str("null"),
    }
}

fn write_list<T>(json: &mut String, list: &[T], write: impl Fn(&mut String, &T)) {
    json.push('[');
    for (position, element) in list.iter().enumerate() {
        if position > 0 {
            json.push(',');
        }
        write(json, element);
    }
    json.push(']');
}

fn write_binary(json: &mut String, bytes: &[u8]) {
    json.push('"');
    BASE64.encode_string(bytes, json);
    json.push('"');
}

/// The digits as they are stored. What is no JSON number, which DynamoDB itself never answers, becomes
/// a string, so that the answer stays JSON.
fn write_number(json: &mut String, digits: &str) {
    if is_json_number(digits) {
        json.push_str(digits);
    } else {
        write_string(json, digits);
    }
}

/// Writes a JSON string. Control characters, quotes and backslashes are escaped, all else stays.
pub fn write_string(json: &mut String, text: &str) {
    json.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0..=0x1f => "",
            _ => continue,
        };
        json.push_str(text.get(plain_from..at).unwrap_or_default());
        if escape.is_empty() {
            json.push_str("\\u00");
            for nibble in [byte >> 4, byte & 0xf] {
                json.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
            }
        } else {
            json.push_str(escape);
        }
        plain_from = at + 1;
    }
    json.push_str(text.get(plain_from..).unwrap_or_default());
    json.push('"');
}

/// Whether `text` is a number by the grammar of JSON (RFC 8259, section 6).
fn is_json_number(text: &str) -> bool {
    fn digits(text: &str) -> (usize, &str) {
        let count = text.bytes().take_while(u8::is_ascii_digit).count();
        (count, text.get(count..).unwrap_or_default())
    }
    let unsigned = text.strip_prefix('-').unwrap_or(text);
    let (whole, rest) = digits(unsigned);
    if whole == 0 || (whole > 1 && unsigned.starts_with('0')) {
        return false;
    }
    let rest = match rest.strip_prefix('.') {
        Some(fraction) => match digits(fraction) {
            (0, _) => return false,
            (_, rest) => rest,
        },
        None => rest,
    };
    match rest.strip_prefix(['e', 'E']) {
        Some(exponent) => {
            let (count, rest) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            count > 0 && rest.is_empty()
        }
        None => rest.is_empty(),
    }
}

/// Why a JSON text is not an item.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum ItemFault {
    /// It is not JSON.
    #[error("the body must be a JSON object")]
    NotAnObject,
    /// An object has the same name twice.
    #[error("{0} stands more than once")]
    RepeatedName(String),
    /// A name is empty.
    #[error("an attribute has an empty name")]
    EmptyName,
    /// A number has more digits or a larger exponent than DynamoDB stores.
    #[error("{0} must be a number of at most 38 digits, up to 9.99E+125")]
    Number(String),
    /// It is nested deeper than DynamoDB stores.
    #[error("{0} is nested deeper than 32 levels")]
    TooDeep(String),
}

/// Reads a JSON object as an item. Numbers keep all their digits; a name whose value is `null` is left
/// out, since an absent value is never stored as NULL.
///
/// # Errors
///
/// What is wrong, with the attribute's path.
pub fn from_json(json: &str) -> Result<Item, ItemFault> {
    let raw: &RawValue = serde_json::from_str(json).map_err(|_| ItemFault::NotAnObject)?;
    match read_value(raw, "", 0)? {
        Some(AttributeValue::M(item)) => Ok(item),
        _ => Err(ItemFault::NotAnObject),
    }
}

/// `None` for `null`.
fn read_value(raw: &RawValue, path: &str, depth: usize) -> Result<Option<AttributeValue>, ItemFault> {
    if depth > MAX_DEPTH {
        return Err(ItemFault::TooDeep(path.to_owned()));
    }
    let text = raw.get();
    // The text is JSON by now, so its first byte tells its type.
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let Object(fields) = serde_json::from_str(text).map_err(|_| ItemFault::NotAnObject)?;
            let mut map = HashMap::with_capacity(fields.len());
            let mut names = std::collections::HashSet::with_capacity(fields.len());
            for (name, field) in fields {
                let path = if path.is_empty() { name.clone() } else { format!("{path}.{name}") };
                if name.is_empty() {
                    return Err(ItemFault::EmptyName);
                }
                if !names.insert(name.clone()) {
                    return Err(ItemFault::RepeatedName(path));
                }
                if let Some(value) = read_value(field, &path, depth + 1)? {
                    map.insert(name, value);
                }
            }
            Some(AttributeValue::M(map))
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|_| ItemFault::NotAnObject)?;
            let mut list = Vec::with_capacity(elements.len());
            for (position, element) in elements.into_iter().enumerate() {
                let value = read_value(element, &format!("{path}[{position}]"), depth + 1)?;
                // A list keeps its positions.
                list.push(value.unwrap_or(AttributeValue::Null(true)));
            }
            Some(AttributeValue::L(list))
        }
        Some(b'"') => {
            Some(AttributeValue::S(serde_json::from_str(text).map_err(|_| ItemFault::NotAnObject)?))
        }
        Some(b't') => Some(AttributeValue::Bool(true)),
        Some(b'f') => Some(AttributeValue::Bool(false)),
        Some(b'n') => None,
        _ if is_storable_number(text) => Some(AttributeValue::N(text.to_owned())),
        _ => return Err(ItemFault::Number(path.to_owned())),
    })
}

/// The fields of a JSON object in their order, repeated names and all.
struct Object<'a>(Vec<(String, &'a RawValue)>);

impl<'de> serde::Deserialize<'de> for Object<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Fields;
        impl<'de> serde::de::Visitor<'de> for Fields {
            type Value = Object<'de>;
            fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                formatter.write_str("a JSON object")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Object(fields))
            }
        }
        deserializer.deserialize_map(Fields)
    }
}

/// Whether DynamoDB stores this JSON number: at most 38 significant digits, and a magnitude of zero or
/// from 1E-130 to below 1E+126.
fn is_storable_number(text: &str) -> bool {
    let unsigned = text.trim_start_matches('-');
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => match exponent.parse::<i64>() {
            Ok(exponent) => (mantissa, exponent),
            Err(_) => return false,
        },
        None => (unsigned, 0),
    };
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return true;
    }
    // The power of ten of the first significant digit.
    let leading_zeros = digits.len() - significant.len();
    let (Ok(whole_len), Ok(leading)) = (i64::try_from(whole.len()), i64::try_from(leading_zeros)) else {
        return false;
    };
    let Some(magnitude) = exponent.checked_add(whole_len - 1 - leading) else { return false };
    significant.trim_end_matches('0').len() <= MAX_DIGITS && (-130..=125).contains(&magnitude)
}

/// The value at a path of map attributes: `customer.id`.
#[must_use]
pub fn at_path<'a>(item: &'a Item, path: &str) -> Option<&'a AttributeValue> {
    let mut segments = path.split('.');
    let mut value = item.get(segments.next()?)?;
    for segment in segments {
        value = value.as_m().ok()?.get(segment)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use aws_smithy_types::Blob;
    use proptest::prelude::*;

    use super::*;

    fn item(fields: impl IntoIterator<Item = (&'static str, AttributeValue)>) -> Item {
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    #[test]
    fn every_type_is_listed() {
        let all = item([
            ("ss", AttributeValue::Ss(vec!["a".into(), "b".into()])),
            ("ns", AttributeValue::Ns(vec!["1".into(), "2.50".into()])),
            ("b", AttributeValue::B(Blob::new([0xff, 0x00]))),
            ("bs", AttributeValue::Bs(vec![Blob::new("x")])),
            ("null", AttributeValue::Null(true)),
            ("list", AttributeValue::L(vec![])),
            ("map", AttributeValue::M(HashMap::new())),
            ("n", AttributeValue::N("99999999999999999999".into())),
            ("tenth", AttributeValue::N("0.1".into())),
            ("yes", AttributeValue::Bool(true)),
        ]);
        assert_eq!(
            to_json(&all, &[]),
            r#"{"b":"/wA=","bs":["eA=="],"list":[],"map":{},"n":99999999999999999999,"ns":[1,2.50],"null":null,"ss":["a","b"],"tenth":0.1,"yes":true}"#
        );
    }

    #[test]
    fn unlisted_attributes_are_left_out_at_the_top_only() {
        let inner = AttributeValue::M(item([("schemaVersion", AttributeValue::N("1".into()))]));
        let row = item([("schemaVersion", AttributeValue::N("2".into())), ("inner", inner)]);
        assert_eq!(to_json(&row, &["schemaVersion"]), r#"{"inner":{"schemaVersion":1}}"#);
    }

    #[test]
    fn a_row_that_does_not_fit_leaves_no_trace() {
        let row = item([("id", AttributeValue::S("a".into()))]);
        let one = escaped_len(r#"{"id":"a"}"#);
        let mut rows = Rows::new(one * 2, &[]);
        assert!(rows.push(&row));
        assert!(!rows.push(&row), "the comma is one byte too many");
        assert_eq!((rows.as_json(), rows.count()), (r#"{"id":"a"}"#, 1));
    }

    #[test]
    fn numbers_dynamodb_cannot_store_are_refused() {
        for fine in [
            "0",
            "-0.0",
            "1E125",
            "9.9e125",
            "1e-130",
            "12345678901234567890123456789012345678",
            "1000000000000000000000000000000000000000000",
        ] {
            assert!(is_storable_number(fine), "{fine}");
        }
        for wrong in ["1e126", "1e-131", "123456789012345678901234567890123456789", "1e99999999999999999999"]
        {
            assert!(!is_storable_number(wrong), "{wrong}");
        }
    }

    #[test]
    fn nulls_are_left_out_and_lists_keep_their_places() {
        let read = from_json(r#"{"a":null,"b":[1,null],"c":{"d":null}}"#).unwrap();
        assert_eq!(to_json(&read, &[]), r#"{"b":[1,null],"c":{}}"#);
    }

    #[test]
    fn what_is_no_item_is_refused_by_name() {
        assert_eq!(from_json("[1]"), Err(ItemFault::NotAnObject));
        assert_eq!(from_json("{"), Err(ItemFault::NotAnObject));
        assert_eq!(from_json(r#"{"a":{"b":1,"b":2}}"#), Err(ItemFault::RepeatedName("a.b".into())));
        assert_eq!(from_json(r#"{"":1}"#), Err(ItemFault::EmptyName));
        assert_eq!(from_json(r#"{"a":[{"b":1e999}]}"#), Err(ItemFault::Number("a[0].b".into())));
        let deep = format!("{}1{}", r#"{"a":"#.repeat(40), "}".repeat(40));
        assert!(matches!(from_json(&deep), Err(ItemFault::TooDeep(_))));
    }

    proptest! {
        #[test]
        fn strings_are_json_strings(text in any::<String>()) {
            let mut json = String::new();
            write_string(&mut json, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn the_escaped_length_is_what_the_proxy_answer_takes(text in any::<String>()) {
            let json = to_json(&item([("text", AttributeValue::S(text))]), &[]);
            prop_assert_eq!(escaped_len(&json) + 2, serde_json::to_string(&json).unwrap().len());
        }

        #[test]
        fn the_number_grammar_is_that_of_json(text in "[-+]?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][-+]?[0-9]{0,2})?") {
            prop_assert_eq!(is_json_number(&text), serde_json::from_str::<&RawValue>(&text).is_ok());
        }

        #[test]
        fn digits_survive_both_ways(digits in "-?[1-9][0-9]{0,37}") {
            let read = from_json(&format!(r#"{{"n":{digits}}}"#)).unwrap();
            prop_assert_eq!(to_json(&read, &[]), format!(r#"{{"n":{digits}}}"#));
        }
    }
}
