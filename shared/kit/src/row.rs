//! Rows as DynamoDB sends them, and as a list answers them, digit by digit: no float stands in between.
//!
//! A page is read from the service's JSON and written as the caller's in one go, attribute by attribute in the
//! order in which the service sends them. Making values of them first takes several times as long as all the rest
//! of a request.

use std::collections::HashMap;
use std::fmt;

use aws_sdk_dynamodb::primitives::Blob;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::error::Category;
use serde_json::value::RawValue;

use crate::error::Error;
use crate::item::{AttributeValue, Item, is_json_number, listed};
use crate::key::INDEX_ONLY;

/// A row as the service sent it: the JSON of a map of attributes, each a value by its type.
#[derive(Debug, Clone, Copy)]
pub struct Row<'a>(&'a RawValue);

/// Why a text is no answer of DynamoDB, or no row. What stands in it is not told, since that may be anybody's data.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum Garbled {
    /// Its JSON is none, or another.
    #[error("it is not what DynamoDB answers: {fault} at line {line}, column {column}")]
    Json {
        /// What is wrong with it.
        fault: &'static str,
        /// Where, from 1 on.
        line: usize,
        /// Where in the line, from 1 on.
        column: usize,
    },
    /// It counts other rows than it has: to go on would cut a list in silence.
    #[error("it is not what DynamoDB answers: it counts {counted} rows and has {came}")]
    Count {
        /// What it counts.
        counted: u64,
        /// What came.
        came: usize,
    },
}

impl From<serde_json::Error> for Garbled {
    fn from(error: serde_json::Error) -> Self {
        let fault = match error.classify() {
            Category::Data => "a value that is missing or of another kind",
            Category::Eof => "an early end",
            Category::Syntax | Category::Io => "no JSON",
        };
        Self::Json { fault, line: error.line(), column: error.column() }
    }
}

/// What a query or a scan answers.
#[derive(Debug, Default)]
pub struct Answered<'a> {
    /// The rows that it kept, or what was wanted of them.
    pub rows: Vec<Row<'a>>,
    /// How many rows it kept.
    pub count: u64,
    /// How many items it looked at.
    pub evaluated: u64,
    /// What it cost, in read request units.
    pub read_units: f64,
    /// Where the range goes on; `None` at its end.
    pub last_key: Option<Item>,
}

impl<'a> Answered<'a> {
    /// That it has all the rows that it counts, where more was asked for than their count.
    ///
    /// # Errors
    ///
    /// It has others.
    pub fn is_whole(&self) -> Result<(), Garbled> {
        if self.rows.len() as u64 == self.count {
            return Ok(());
        }
        Err(Garbled::Count { counted: self.count, came: self.rows.len() })
    }

    /// Reads the JSON of an answer.
    ///
    /// # Errors
    ///
    /// It is none of a query or a scan.
    ///
    /// Source: Amazon DynamoDB API reference, `Query`, "Response syntax".
    pub fn read(json: &'a str) -> Result<Self, Garbled> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Known<'a> {
            #[serde(borrow)]
            items: Option<Vec<&'a RawValue>>,
            count: u64,
            scanned_count: u64,
            last_evaluated_key: Option<HashMap<String, KeyValue>>,
            consumed_capacity: Option<Capacity>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Capacity {
            capacity_units: Option<f64>,
        }
        let known: Known<'a> = serde_json::from_str(json)?;
        let key = |key: HashMap<String, KeyValue>| {
            key.into_iter().map(|(name, KeyValue(value))| (name, value)).collect::<Item>()
        };
        Ok(Self {
            rows: known.items.unwrap_or_default().into_iter().map(Row).collect(),
            count: known.count,
            evaluated: known.scanned_count,
            read_units: known.consumed_capacity.and_then(|told| told.capacity_units).unwrap_or_default(),
            // An empty key is none: some services that speak this protocol answer one.
            last_key: known.last_evaluated_key.map(key).filter(|key| !key.is_empty()),
        })
    }
}

impl Row<'_> {
    /// The value at a path of map attributes, such as `customer.id`, of a type that a key can have. `None` where
    /// there is none.
    ///
    /// # Errors
    ///
    /// It is no row.
    pub fn scalar(&self, path: &str) -> Result<Option<AttributeValue>, Garbled> {
        Ok(InMap(path).deserialize(&mut serde_json::Deserializer::from_str(self.0.get()))?)
    }

    /// The text at a path. `None` where there is none, and for a value of another type.
    ///
    /// # Errors
    ///
    /// It is no row.
    pub fn text(&self, path: &str) -> Result<Option<String>, Garbled> {
        Ok(match self.scalar(path)? {
            Some(AttributeValue::S(text)) => Some(text),
            _ => None,
        })
    }

    /// The attributes that the row has for an index alone.
    fn index_only(&self) -> Vec<String> {
        #[derive(Deserialize)]
        struct Known {
            #[serde(rename = "indexOnly")]
            index_only: Option<Names>,
        }
        // A writer that reads JSON may have made a list of the set.
        #[derive(Deserialize)]
        enum Names {
            #[serde(rename = "SS")]
            Set(Vec<String>),
            #[serde(rename = "L")]
            List(Vec<Scalar>),
        }
        let text = |Scalar(value)| if let Some(AttributeValue::S(text)) = value { Some(text) } else { None };
        match serde_json::from_str(self.0.get()) {
            Ok(Known { index_only: Some(Names::Set(names)) }) => names,
            Ok(Known { index_only: Some(Names::List(names)) }) => {
                names.into_iter().filter_map(text).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Writes it as a caller reads it. The attributes that it has for an index alone, and those that are `unlisted`
    /// in every item, are left out.
    fn write(&self, json: &mut String, unlisted: &[&str]) -> Result<(), Garbled> {
        let sent = self.0.get();
        let own = if unlisted.contains(&INDEX_ONLY) && sent.contains(INDEX_ONLY) {
            self.index_only()
        } else {
            Vec::new()
        };
        let both: Vec<&str>;
        let hidden = if own.is_empty() {
            unlisted
        } else {
            both = unlisted.iter().copied().chain(own.iter().map(String::as_str)).collect();
            &both
        };
        Ok(WriteMap { json, hidden }.deserialize(&mut serde_json::Deserializer::from_str(sent))?)
    }
}

/// A value of a type that a key can have; `None` for one of another type.
#[derive(Debug)]
struct Scalar(Option<AttributeValue>);

impl<'de> Deserialize<'de> for Scalar {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        InValue("").deserialize(deserializer).map(Self)
    }
}

/// A value of a key. One that cannot be read is a fault: without it the range would seem to end.
#[derive(Debug)]
struct KeyValue(AttributeValue);

impl<'de> Deserialize<'de> for KeyValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = InValue("").deserialize(deserializer)?;
        value.map(Self).ok_or_else(|| serde::de::Error::custom("no value that a key can have"))
    }
}

/// Finds the scalar at a path in a map of attributes.
struct InMap<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for InMap<'_> {
    type Value = Option<AttributeValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InMap<'_> {
    type Value = Option<AttributeValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of attributes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let (name, rest) = self.0.split_once('.').unwrap_or((self.0, ""));
        let mut found = None;
        while let Some(known) = map.next_key::<Text<'de>>()? {
            if known.as_str() == name {
                found = map.next_value_seed(InValue(rest))?;
            } else {
                map.next_value::<IgnoredAny>()?;
            }
        }
        Ok(found)
    }
}

/// Finds the scalar at a path in a value, which is the value itself where the path is empty.
struct InValue<'p>(&'p str);

impl<'de> DeserializeSeed<'de> for InValue<'_> {
    type Value = Option<AttributeValue>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for InValue<'_> {
    type Value = Option<AttributeValue>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(A_VALUE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let of = type_of(&mut map)?;
        let found = match (of.as_str(), self.0) {
            ("S", "") => Some(AttributeValue::S(map.next_value()?)),
            ("N", "") => Some(AttributeValue::N(map.next_value()?)),
            ("B", "") => {
                let bytes = BASE64.decode(map.next_value::<Text<'de>>()?.as_str());
                bytes.ok().map(|bytes| AttributeValue::B(Blob::new(bytes)))
            }
            ("M", path) if !path.is_empty() => map.next_value_seed(InMap(path))?,
            _ => {
                map.next_value::<IgnoredAny>()?;
                None
            }
        };
        only_one(&mut map)?;
        Ok(found)
    }
}

const A_VALUE: &str = "a value by its type";

/// The type of a value, which is the one name of its object.
fn type_of<'de, A: MapAccess<'de>>(map: &mut A) -> Result<Text<'de>, A::Error> {
    map.next_key()?.ok_or_else(|| A::Error::custom("a value without a type"))
}

/// That one name was all.
fn only_one<'de, A: MapAccess<'de>>(map: &mut A) -> Result<(), A::Error> {
    match map.next_key::<IgnoredAny>()? {
        None => Ok(()),
        Some(_) => Err(A::Error::custom("a value of two types")),
    }
}

/// Writes a map of attributes as a JSON object while it is read.
struct WriteMap<'o, 'h> {
    json: &'o mut String,
    hidden: &'h [&'h str],
}

impl<'de> DeserializeSeed<'de> for WriteMap<'_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WriteMap<'_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a map of attributes")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self { json, hidden } = self;
        json.push('{');
        while let Some(name) = map.next_key::<Text<'de>>()? {
            if hidden.contains(&name.as_str()) {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            name.write(json);
            json.push(':');
            map.next_value_seed(WriteValue(json))?;
            json.push(',');
        }
        close(json, '}');
        Ok(())
    }
}

/// Writes a value while it is read.
struct WriteValue<'o>(&'o mut String);

impl<'de> DeserializeSeed<'de> for WriteValue<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for WriteValue<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(A_VALUE)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let Self(json) = self;
        match type_of(&mut map)?.as_str() {
            "S" | "B" => map.next_value::<Text<'de>>()?.write(json),
            "N" => map.next_value::<Text<'de>>()?.write_number(json),
            "BOOL" => json.push_str(if map.next_value()? { "true" } else { "false" }),
            "M" => map.next_value_seed(WriteMap { json, hidden: &[] })?,
            "L" => map.next_value_seed(WriteList { json, of: Element::Value })?,
            "SS" | "BS" => map.next_value_seed(WriteList { json, of: Element::Text })?,
            "NS" => map.next_value_seed(WriteList { json, of: Element::Number })?,
            // NULL, and what a later version of DynamoDB may add.
            _ => {
                map.next_value::<IgnoredAny>()?;
                json.push_str("null");
            }
        }
        only_one(&mut map)
    }
}

/// Writes a list or a set while it is read.
struct WriteList<'o> {
    json: &'o mut String,
    of: Element,
}

#[derive(Clone, Copy)]
enum Element {
    Value,
    /// Of a set of texts, or of bytes in base64.
    Text,
    Number,
}

impl<'de> DeserializeSeed<'de> for WriteList<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for WriteList<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a list of values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        let Self { json, of } = self;
        json.push('[');
        while match of {
            Element::Value => list.next_element_seed(WriteValue(json))?,
            Element::Text => list.next_element::<Text<'de>>()?.map(|text| text.write(json)),
            Element::Number => list.next_element::<Text<'de>>()?.map(|digits| digits.write_number(json)),
        }
        .is_some()
        {
            json.push(',');
        }
        close(json, ']');
        Ok(())
    }
}

/// Ends an object or an array whose parts have a comma after each.
fn close(json: &mut String, bracket: char) {
    if json.ends_with(',') {
        json.pop();
    }
    json.push(bracket);
}

/// A text, and what is known of it.
#[derive(Debug)]
enum Text<'a> {
    /// It stood in JSON as it is, so it stands in JSON as it is again.
    Plain(&'a str),
    /// It may hold what JSON escapes.
    Any(String),
}

impl Text<'_> {
    fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) => text,
            Self::Any(text) => text,
        }
    }

    fn write(&self, json: &mut String) {
        match self {
            Self::Plain(text) => {
                json.push('"');
                json.push_str(text);
                json.push('"');
            }
            Self::Any(text) => write_string(json, text),
        }
    }

    fn write_number(&self, json: &mut String) {
        write_number(json, self.as_str());
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Characters;
        impl<'de> Visitor<'de> for Characters {
            type Value = Text<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text")
            }
            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text::Plain(text))
            }
            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text::Any(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Characters)
    }
}

/// One item as a JSON object, its attributes in the order of their names: the same item gives the same text every
/// time.
#[must_use]
pub fn to_json(item: &Item) -> String {
    let mut json = String::new();
    write_item(&mut json, item);
    json
}

fn write_item(json: &mut String, item: &Item) {
    let mut attributes: Vec<(&String, &AttributeValue)> = item.iter().collect();
    attributes.sort_unstable_by_key(|(name, _)| *name);
    json.push('{');
    for (name, value) in attributes {
        write_string(json, name);
        json.push(':');
        write_value(json, value);
        json.push(',');
    }
    close(json, '}');
}

fn write_value(json: &mut String, value: &AttributeValue) {
    match value {
        AttributeValue::S(text) => write_string(json, text),
        AttributeValue::N(digits) => write_number(json, digits),
        AttributeValue::Bool(true) => json.push_str("true"),
        AttributeValue::Bool(false) => json.push_str("false"),
        AttributeValue::M(map) => write_item(json, map),
        AttributeValue::L(list) => write_list(json, list, write_value),
        AttributeValue::Ss(set) => write_list(json, set, |json, text| write_string(json, text)),
        AttributeValue::Ns(set) => write_list(json, set, |json, digits| write_number(json, digits)),
        AttributeValue::B(blob) => write_string(json, &BASE64.encode(blob)),
        AttributeValue::Bs(set) => {
            write_list(json, set, |json, blob| write_string(json, &BASE64.encode(blob)));
        }
        _ => json.push_str("null"),
    }
}

fn write_list<T>(json: &mut String, list: &[T], write: impl Fn(&mut String, &T)) {
    json.push('[');
    for element in list {
        write(json, element);
        json.push(',');
    }
    close(json, ']');
}

/// The digits as they are stored. What is no JSON number, which DynamoDB itself never answers, becomes a string, so
/// that the answer stays JSON.
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

/// The bytes of `json` once it stands as a string inside the proxy answer, without the quotes around
/// it: there every quote and backslash takes a backslash more.
#[must_use]
pub fn escaped_len(json: &str) -> usize {
    json.len() + json.bytes().filter(|byte| matches!(byte, b'"' | b'\\')).count()
}

/// The body of a list's answer, its rows written as JSON while they are read.
#[derive(Debug)]
pub struct Rows {
    /// The body so far, open at its end.
    json: String,
    count: usize,
    /// How long the rows up to some place in the body are once they are escaped.
    escaped: usize,
    escaped_to: usize,
    most_escaped: usize,
    unlisted: &'static [&'static str],
}

impl Rows {
    /// No rows yet. `most_escaped` bounds their bytes as [`escaped_len`] counts them; the attributes
    /// `unlisted` are left out of every row.
    #[must_use]
    pub fn new(most_escaped: usize, unlisted: &'static [&'static str]) -> Self {
        let json = String::from(r#"{"items":["#);
        Self { escaped_to: json.len(), json, count: 0, escaped: 0, most_escaped, unlisted }
    }

    /// Adds a row, or leaves the rows as they are and answers `false` where it does not fit.
    ///
    /// # Errors
    ///
    /// It is no row.
    pub fn push(&mut self, row: &Row<'_>) -> Result<bool, Error> {
        let unlisted = self.unlisted;
        let before = self.begin();
        let written = row.write(&mut self.json, unlisted);
        written.map_err(|error| {
            self.json.truncate(before);
            Error::internal("reading a row", error)
        })?;
        Ok(self.end(before))
    }

    /// The same for an item.
    #[must_use = "a row that does not fit is not added"]
    pub fn push_item(&mut self, item: Item) -> bool {
        let before = self.begin();
        write_item(&mut self.json, &listed(item, self.unlisted));
        self.end(before)
    }

    fn begin(&mut self) -> usize {
        let before = self.json.len();
        if self.count > 0 {
            self.json.push(',');
        }
        before
    }

    /// Keeps the row that was written after `before` if it fits.
    fn end(&mut self, before: usize) -> bool {
        // Escaped, JSON is twice as long at most: far below the bound nothing needs to be looked at.
        if self.json.len() * 2 > self.most_escaped {
            let added = escaped_len(self.json.get(self.escaped_to..).unwrap_or_default());
            if self.escaped + added > self.most_escaped {
                self.json.truncate(before);
                return false;
            }
            self.escaped += added;
            self.escaped_to = self.json.len();
        }
        self.count += 1;
        true
    }

    /// How many rows there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// The whole body: the rows, and after them `end`, which begins with a comma or is empty.
    #[must_use]
    pub fn into_body(mut self, end: &str) -> String {
        self.json.push(']');
        self.json.push_str(end);
        self.json.push('}');
        self.json
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;
    use serde_json::{Value as Json, json};

    use super::*;
    use crate::item::from_json;

    fn item(fields: impl IntoIterator<Item = (&'static str, AttributeValue)>) -> Item {
        fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// An item in the form of the service's protocol.
    fn sent(item: &Item) -> Json {
        let value = |value: &AttributeValue| match value {
            AttributeValue::S(text) => json!({"S": text}),
            AttributeValue::N(digits) => json!({"N": digits}),
            AttributeValue::B(blob) => json!({"B": BASE64.encode(blob)}),
            AttributeValue::Bool(value) => json!({"BOOL": value}),
            AttributeValue::M(map) => json!({"M": sent(map)}),
            AttributeValue::L(list) => {
                let elements = list.iter().map(|one| sent(&Item::from([(String::new(), one.clone())])));
                json!({"L": elements.map(|mut element| element[""].take()).collect::<Vec<_>>()})
            }
            AttributeValue::Ss(set) => json!({"SS": set}),
            AttributeValue::Ns(set) => json!({"NS": set}),
            AttributeValue::Bs(set) => {
                json!({"BS": set.iter().map(|b| BASE64.encode(b)).collect::<Vec<_>>()})
            }
            _ => json!({"NULL": true}),
        };
        item.iter().map(|(name, stored)| (name.clone(), value(stored))).collect()
    }

    /// What a caller reads of a row that is sent so.
    fn written(sent: &str, unlisted: &[&str]) -> String {
        let mut json = String::new();
        row(sent).write(&mut json, unlisted).unwrap();
        json
    }

    fn row(sent: &str) -> Row<'_> {
        Row(serde_json::from_str(sent).unwrap())
    }

    const EVERY_TYPE: &str = r#"{"b":"/wA=","bs":["eA=="],"list":[],"map":{},"n":99999999999999999999,"ns":[1,2.50],"null":null,"ss":["a","b"],"tenth":0.1,"yes":true}"#;

    fn every_type() -> Item {
        item([
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
        ])
    }

    #[test]
    fn every_type_is_listed_as_it_is_stored_and_as_it_is_sent() {
        assert_eq!(to_json(&every_type()), EVERY_TYPE);
        let sent = sent(&every_type()).to_string();
        assert_eq!(written(&sent, &[]), EVERY_TYPE);
    }

    #[test]
    fn an_answer_is_read_with_its_cost_and_the_place_where_it_goes_on() {
        let json = r#"{"Count":1,"ScannedCount":3,"Items":[{"id":{"S":"a"}}],
            "ConsumedCapacity":{"TableName":"T","CapacityUnits":2.5},
            "LastEvaluatedKey":{"id":{"S":"a"},"n":{"N":"7"},"b":{"B":"eA=="}}}"#;
        let answered = Answered::read(json).unwrap();
        assert_eq!((answered.count, answered.evaluated, answered.read_units), (1, 3, 2.5));
        assert_eq!(answered.rows.len(), 1);
        let key = item([
            ("id", AttributeValue::S("a".into())),
            ("n", AttributeValue::N("7".into())),
            ("b", AttributeValue::B(Blob::new("x"))),
        ]);
        assert_eq!(answered.last_key, Some(key));
        let end =
            Answered::read(r#"{"Count":0,"ScannedCount":0,"Items":null,"LastEvaluatedKey":{}}"#).unwrap();
        assert!(end.last_key.is_none() && end.rows.is_empty());
        for key in [r#"{"id":{"NEW":1}}"#, r#"{"id":{"B":"*"}}"#, r#"{"id":{"S":"a"},"n":{"NULL":true}}"#] {
            let json = format!(r#"{{"Count":0,"ScannedCount":0,"LastEvaluatedKey":{key}}}"#);
            assert!(Answered::read(&json).is_err(), "{key}");
        }
        let garbled = |json| Answered::read(json).unwrap_err().to_string();
        assert!(Answered::read("{}").is_err(), "it is no range without rows");
        assert_eq!(garbled("<html>"), "it is not what DynamoDB answers: no JSON at line 1, column 1");
        assert!(garbled(r#"{"Items":["#).contains("an early end"));
        assert!(!garbled(r#"{"Items":"secret"}"#).contains("secret"));
        assert!(answered.is_whole().is_ok());
        let cut = Answered::read(r#"{"Count":2,"ScannedCount":2,"Items":[{"id":{"S":"a"}}]}"#).unwrap();
        let problem = cut.is_whole().unwrap_err().to_string();
        assert_eq!(problem, "it is not what DynamoDB answers: it counts 2 rows and has 1");
    }

    #[test]
    fn what_is_no_row_is_a_fault_of_ours() {
        for sent in
            [r#"{"id":{}}"#, r#"{"id":{"S":"a","N":"1"}}"#, r#"{"id":"a"}"#, r#"{"id":{"S":1}}"#, "[]"]
        {
            let mut rows = Rows::new(1_000, &[]);
            assert!(rows.push(&row(sent)).is_err(), "{sent}");
        }
    }

    #[test]
    fn a_type_that_is_not_known_yet_is_null() {
        assert_eq!(written(r#"{"a":{"NEW":{"x":[1]}},"b":{"S":"c"}}"#, &[]), r#"{"a":null,"b":"c"}"#);
    }

    #[test]
    fn texts_are_found_by_their_path() {
        let json = r#"{"customer":{"M":{"id":{"S":"c-\"1\""},"n":{"N":"1"}}},"id":{"S":"o"}}"#;
        let row = row(json);
        assert_eq!(row.text("customer.id").unwrap().as_deref(), Some("c-\"1\""));
        assert_eq!(row.text("id").unwrap().as_deref(), Some("o"));
        assert_eq!(row.scalar("customer.n").unwrap(), Some(AttributeValue::N("1".into())));
        assert!(self::row(r#"{"id":{"S":1}}"#).scalar("id").is_err());
        for none in ["customer", "customer.n", "customer.id.more", "id.more", "nothing", "nothing.more", ""] {
            assert_eq!(row.text(none).unwrap(), None, "{none}");
        }
    }

    #[test]
    fn unlisted_attributes_are_left_out_at_the_top_only() {
        let sent =
            r#"{"schemaVersion":{"N":"2"},"inner":{"M":{"schemaVersion":{"N":"1"}}},"last":{"NULL":true}}"#;
        assert_eq!(written(sent, &["schemaVersion", "last"]), r#"{"inner":{"schemaVersion":1}}"#);
        assert_eq!(written(sent, &["schemaVersion", "last", "inner"]), "{}");
    }

    #[test]
    fn what_a_row_has_for_an_index_alone_is_left_out() {
        for names in [r#"{"SS":["provider"]}"#, r#"{"L":[{"S":"provider"},{"N":"1"}]}"#] {
            let json = format!(r#"{{"id":{{"S":"a"}},"indexOnly":{names},"provider":{{"S":"p"}}}}"#);
            assert_eq!(written(&json, &["indexOnly"]), r#"{"id":"a"}"#);
        }
    }

    #[test]
    fn a_row_that_does_not_fit_leaves_no_trace() {
        let sent = r#"{"id":{"S":"a"}}"#;
        let one = escaped_len(r#"{"id":"a"}"#);
        let mut rows = Rows::new(one * 2, &[]);
        assert!(rows.push(&row(sent)).unwrap());
        assert!(!rows.push(&row(sent)).unwrap(), "the comma is one byte too many");
        assert!(!rows.push_item(item([("id", AttributeValue::S("a".into()))])));
        assert_eq!(rows.count(), 1);
        assert_eq!(rows.into_body(r#","total":1"#), r#"{"items":[{"id":"a"}],"total":1}"#);
    }

    #[test]
    fn nulls_are_left_out_and_lists_keep_their_places() {
        let read = from_json(r#"{"a":null,"b":[1,null],"c":{"d":null}}"#).unwrap();
        assert_eq!(to_json(&read), r#"{"b":[1,null],"c":{}}"#);
    }

    fn values() -> impl Strategy<Value = AttributeValue> {
        let scalar = prop_oneof![
            any::<String>().prop_map(AttributeValue::S),
            "-?[1-9][0-9]{0,20}(\\.[0-9]{0,5}[1-9])?".prop_map(AttributeValue::N),
            any::<Vec<u8>>().prop_map(|bytes| AttributeValue::B(Blob::new(bytes))),
            any::<bool>().prop_map(AttributeValue::Bool),
            Just(AttributeValue::Null(true)),
            prop::collection::vec(any::<String>(), 1..4).prop_map(AttributeValue::Ss),
        ];
        scalar.prop_recursive(3, 16, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(AttributeValue::L),
                prop::collection::hash_map(any::<String>(), inner, 0..4).prop_map(AttributeValue::M),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_row_is_the_same_as_it_is_sent_and_as_an_item(
            stored in prop::collection::hash_map(any::<String>(), values(), 0..6)
        ) {
            // The test's JSON has its names in order, as an item's has.
            let sent = sent(&stored).to_string();
            let json = written(&sent, &[]);
            let stored_json = to_json(&stored);
            prop_assert_eq!(&json, &stored_json);
            prop_assert!(serde_json::from_str::<Json>(&json).unwrap().is_object());
            let row = row(&sent);
            for (name, value) in &stored {
                let scalar = matches!(value, AttributeValue::S(_) | AttributeValue::N(_) | AttributeValue::B(_));
                if !name.contains('.') {
                    prop_assert_eq!(row.scalar(name).unwrap(), scalar.then(|| value.clone()));
                }
            }
        }

        #[test]
        fn strings_are_json_strings(text in any::<String>()) {
            let mut json = String::new();
            write_string(&mut json, &text);
            prop_assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }

        #[test]
        fn the_escaped_length_is_what_the_proxy_answer_takes(text in any::<String>()) {
            let row = item([("text", AttributeValue::S(text))]);
            let json = to_json(&row);
            prop_assert_eq!(escaped_len(&json) + 2, serde_json::to_string(&json).unwrap().len());
        }

        #[test]
        fn digits_survive_both_ways(digits in "-?[1-9][0-9]{0,36}[1-9]") {
            let read = from_json(&format!(r#"{{"n":{digits}}}"#)).unwrap();
            prop_assert_eq!(to_json(&read), format!(r#"{{"n":{digits}}}"#));
        }
    }
}
