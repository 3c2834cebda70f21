//! Rows as DynamoDB sends them, and as a list answers them, digit by digit: no float stands in between.
//!
//! A page is read from the service's JSON and written as the caller's. A row is therefore borrowed from the
//! answer that it came in, in the order in which it is written: making a map of owned values of each first
//! takes several times as long as all the rest of a request.

use std::borrow::Cow;
use std::fmt;

use aws_sdk_dynamodb::primitives::Blob;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::{Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use crate::item::{AttributeValue, Item, is_json_number};
use crate::key::INDEX_ONLY;

/// How many attributes a row is thought to have, before it is read.
const ATTRIBUTES: usize = 16;

/// A map of attributes, ordered by their names: the same item gives the same text every time.
#[derive(Debug, Clone, Default)]
pub struct Row<'a>(Vec<(Text<'a>, Value<'a>)>);

/// A stored value.
#[derive(Debug, Clone)]
enum Value<'a> {
    S(Text<'a>),
    /// The digits.
    N(Text<'a>),
    /// The bytes in base64.
    B(Text<'a>),
    Bool(bool),
    M(Row<'a>),
    L(Vec<Value<'a>>),
    /// A set of texts, or of bytes in base64.
    Texts(Vec<Text<'a>>),
    Ns(Vec<Text<'a>>),
    /// NULL, and what a later version of DynamoDB may add.
    Null,
}

/// A text, and what is known of it.
#[derive(Debug, Clone)]
enum Text<'a> {
    /// It stood in JSON as it is, so it stands in JSON as it is again.
    Plain(&'a str),
    /// It may hold what JSON escapes.
    Any(Cow<'a, str>),
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
    /// Reads the JSON of an answer.
    ///
    /// # Errors
    ///
    /// It is none of a query or a scan.
    ///
    /// Source: Amazon DynamoDB API reference, `Query`, "Response syntax".
    pub fn read(json: &'a str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Known<'a> {
            #[serde(borrow)]
            items: Option<Vec<Row<'a>>>,
            count: Option<u64>,
            scanned_count: Option<u64>,
            #[serde(borrow)]
            last_evaluated_key: Option<Row<'a>>,
            consumed_capacity: Option<Capacity>,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "PascalCase")]
        struct Capacity {
            capacity_units: Option<f64>,
        }
        let known: Known<'a> = serde_json::from_str(json)?;
        Ok(Self {
            rows: known.items.unwrap_or_default(),
            count: known.count.unwrap_or_default(),
            evaluated: known.scanned_count.unwrap_or_default(),
            read_units: known.consumed_capacity.and_then(|told| told.capacity_units).unwrap_or_default(),
            // An empty key is none: some services that speak this protocol answer one.
            last_key: known.last_evaluated_key.map(|key| key.to_key()).filter(|key| !key.is_empty()),
        })
    }
}

impl<'a> Row<'a> {
    /// The text at a path of map attributes, such as `customer.id`. `None` where there is none, and for a
    /// value of another type.
    #[must_use]
    pub fn text(&self, path: &str) -> Option<&str> {
        let (names, last) = path.rsplit_once('.').unwrap_or(("", path));
        let mut row = self;
        for name in names.split('.').filter(|name| !name.is_empty()) {
            let Value::M(inner) = row.get(name)? else { return None };
            row = inner;
        }
        match row.get(last)? {
            Value::S(text) => Some(text.as_str()),
            _ => None,
        }
    }

    /// The value of an attribute of a type that a key can have. `None` where there is none.
    #[must_use]
    pub fn scalar(&self, name: &str) -> Option<AttributeValue> {
        match self.get(name)? {
            Value::S(text) => Some(AttributeValue::S(text.as_str().to_owned())),
            Value::N(digits) => Some(AttributeValue::N(digits.as_str().to_owned())),
            Value::B(base64) => Some(AttributeValue::B(Blob::new(BASE64.decode(base64.as_str()).ok()?))),
            _ => None,
        }
    }

    /// The row as a key: its attributes of types that a key can have.
    #[must_use]
    pub fn to_key(&self) -> Item {
        let names = self.0.iter().map(|(name, _)| name.as_str());
        names.filter_map(|name| Some((name.to_owned(), self.scalar(name)?))).collect()
    }

    fn get(&self, name: &str) -> Option<&Value<'a>> {
        let at = self.0.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        self.0.get(at).map(|(_, value)| value)
    }

    /// The attributes that the row has for an index alone. A writer that reads JSON may have made a list of
    /// the set.
    fn index_only(&self) -> Vec<&str> {
        match self.get(INDEX_ONLY) {
            Some(Value::Texts(names)) => names.iter().map(Text::as_str).collect(),
            Some(Value::L(values)) => values
                .iter()
                .filter_map(|value| match value {
                    Value::S(name) => Some(name.as_str()),
                    _ => None,
                })
                .collect(),
            _ => Vec::new(),
        }
    }

    /// The attributes that an item has for an index alone, and those that are `unlisted` in every item, are
    /// left out.
    fn write(&self, json: &mut String, unlisted: &[&str]) {
        let own = if unlisted.contains(&INDEX_ONLY) { self.index_only() } else { Vec::new() };
        json.push('{');
        let mut first = true;
        for (name, value) in &self.0 {
            if unlisted.contains(&name.as_str()) || own.contains(&name.as_str()) {
                continue;
            }
            if !first {
                json.push(',');
            }
            first = false;
            name.write(json);
            json.push(':');
            value.write(json);
        }
        json.push('}');
    }
}

impl Value<'_> {
    fn write(&self, json: &mut String) {
        match self {
            Self::S(text) | Self::B(text) => text.write(json),
            Self::N(digits) => digits.write_number(json),
            Self::Bool(true) => json.push_str("true"),
            Self::Bool(false) => json.push_str("false"),
            Self::M(row) => row.write(json, &[]),
            Self::L(values) => write_list(json, values, |json, value| value.write(json)),
            Self::Texts(texts) => write_list(json, texts, |json, text| text.write(json)),
            Self::Ns(numbers) => write_list(json, numbers, |json, digits| digits.write_number(json)),
            Self::Null => json.push_str("null"),
        }
    }
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

    /// The digits as they are stored. What is no JSON number, which DynamoDB itself never answers, becomes
    /// a string, so that the answer stays JSON.
    fn write_number(&self, json: &mut String) {
        if is_json_number(self.as_str()) {
            json.push_str(self.as_str());
        } else {
            self.write(json);
        }
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

/// One item as a JSON object.
#[must_use]
pub fn to_json(item: &Item) -> String {
    let mut json = String::new();
    Row::from(item).write(&mut json, &[]);
    json
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
    #[must_use = "a row that does not fit is not added"]
    pub fn push(&mut self, row: &Row<'_>) -> bool {
        let before = self.json.len();
        if self.count > 0 {
            self.json.push(',');
        }
        row.write(&mut self.json, self.unlisted);
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

impl<'a> From<&'a Item> for Row<'a> {
    fn from(item: &'a Item) -> Self {
        let mut attributes: Vec<(Text<'a>, Value<'a>)> =
            item.iter().map(|(name, value)| (Text::from(name), Value::from(value))).collect();
        attributes.sort_unstable_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
        Self(attributes)
    }
}

impl<'a> From<&'a AttributeValue> for Value<'a> {
    fn from(value: &'a AttributeValue) -> Self {
        match value {
            AttributeValue::S(text) => Self::S(Text::from(text)),
            AttributeValue::N(digits) => Self::N(Text::from(digits)),
            AttributeValue::B(blob) => Self::B(base64(blob)),
            AttributeValue::Bool(value) => Self::Bool(*value),
            AttributeValue::M(map) => Self::M(Row::from(map)),
            AttributeValue::L(list) => Self::L(list.iter().map(Self::from).collect()),
            AttributeValue::Ss(set) => Self::Texts(set.iter().map(Text::from).collect()),
            AttributeValue::Ns(set) => Self::Ns(set.iter().map(Text::from).collect()),
            AttributeValue::Bs(set) => Self::Texts(set.iter().map(base64).collect()),
            _ => Self::Null,
        }
    }
}

impl<'a> From<&'a String> for Text<'a> {
    fn from(text: &'a String) -> Self {
        Self::Any(Cow::Borrowed(text))
    }
}

fn base64(blob: &Blob) -> Text<'static> {
    Text::Any(Cow::Owned(BASE64.encode(blob)))
}

impl<'de: 'a, 'a> Deserialize<'de> for Row<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Attributes;
        impl<'de> Visitor<'de> for Attributes {
            type Value = Row<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a map of attributes")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Row<'de>, A::Error> {
                let mut attributes = Vec::with_capacity(ATTRIBUTES);
                while let Some(attribute) = map.next_entry::<Text<'de>, Value<'de>>()? {
                    attributes.push(attribute);
                }
                attributes.sort_unstable_by(|(one, _), (other, _)| one.as_str().cmp(other.as_str()));
                Ok(Row(attributes))
            }
        }
        deserializer.deserialize_map(Attributes)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Value<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Typed;
        impl<'de> Visitor<'de> for Typed {
            type Value = Value<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a value by its type")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value<'de>, A::Error> {
                let Some(name) = map.next_key::<Text<'de>>()? else {
                    return Err(A::Error::custom("a value without a type"));
                };
                let value = match name.as_str() {
                    "S" => Value::S(map.next_value()?),
                    "N" => Value::N(map.next_value()?),
                    "B" => Value::B(map.next_value()?),
                    "BOOL" => Value::Bool(map.next_value()?),
                    "M" => Value::M(map.next_value()?),
                    "L" => Value::L(map.next_value()?),
                    "SS" | "BS" => Value::Texts(map.next_value()?),
                    "NS" => Value::Ns(map.next_value()?),
                    _ => {
                        map.next_value::<IgnoredAny>()?;
                        Value::Null
                    }
                };
                match map.next_key::<IgnoredAny>()? {
                    None => Ok(value),
                    Some(_) => Err(A::Error::custom("a value of two types")),
                }
            }
        }
        deserializer.deserialize_map(Typed)
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
                Ok(Text::Any(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Characters)
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

    fn written(row: &Row<'_>, unlisted: &'static [&'static str]) -> String {
        let mut json = String::new();
        row.write(&mut json, unlisted);
        json
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
        assert_eq!(written(&serde_json::from_str::<Row<'_>>(&sent).unwrap(), &[]), EVERY_TYPE);
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
        let end = Answered::read(r#"{"Count":0,"Items":null,"LastEvaluatedKey":{}}"#).unwrap();
        assert!(end.last_key.is_none() && end.rows.is_empty());
        assert!(Answered::read(r#"{"Items":[{"id":{}}]}"#).is_err());
        assert!(Answered::read(r#"{"Items":[{"id":{"S":"a","N":"1"}}]}"#).is_err());
        assert!(Answered::read("<html>").is_err());
    }

    #[test]
    fn a_type_that_is_not_known_yet_is_null() {
        let row: Row<'_> = serde_json::from_str(r#"{"a":{"NEW":{"x":[1]}},"b":{"S":"c"}}"#).unwrap();
        assert_eq!(written(&row, &[]), r#"{"a":null,"b":"c"}"#);
    }

    #[test]
    fn texts_are_found_by_their_path() {
        let json = r#"{"customer":{"M":{"id":{"S":"c-\"1\""},"n":{"N":"1"}}},"id":{"S":"o"}}"#;
        let row: Row<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(row.text("customer.id"), Some("c-\"1\""));
        assert_eq!(row.text("id"), Some("o"));
        for none in ["customer", "customer.n", "customer.id.more", "id.more", "nothing", "nothing.more", ""] {
            assert_eq!(row.text(none), None, "{none}");
        }
    }

    #[test]
    fn unlisted_attributes_are_left_out_at_the_top_only() {
        let inner = AttributeValue::M(item([("schemaVersion", AttributeValue::N("1".into()))]));
        let row = item([("schemaVersion", AttributeValue::N("2".into())), ("inner", inner)]);
        assert_eq!(written(&Row::from(&row), &["schemaVersion"]), r#"{"inner":{"schemaVersion":1}}"#);
    }

    #[test]
    fn what_a_row_has_for_an_index_alone_is_left_out() {
        for names in [r#"{"SS":["provider"]}"#, r#"{"L":[{"S":"provider"},{"N":"1"}]}"#] {
            let json = format!(r#"{{"id":{{"S":"a"}},"indexOnly":{names},"provider":{{"S":"p"}}}}"#);
            let row: Row<'_> = serde_json::from_str(&json).unwrap();
            assert_eq!(written(&row, &["indexOnly"]), r#"{"id":"a"}"#);
        }
    }

    #[test]
    fn a_row_that_does_not_fit_leaves_no_trace() {
        let row = item([("id", AttributeValue::S("a".into()))]);
        let one = escaped_len(r#"{"id":"a"}"#);
        let mut rows = Rows::new(one * 2, &[]);
        assert!(rows.push(&Row::from(&row)));
        assert!(!rows.push(&Row::from(&row)), "the comma is one byte too many");
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
            let sent = sent(&stored).to_string();
            let row: Row<'_> = serde_json::from_str(&sent).unwrap();
            let json = written(&row, &[]);
            let stored_json = to_json(&stored);
            prop_assert_eq!(&json, &stored_json);
            prop_assert!(serde_json::from_str::<Json>(&json).unwrap().is_object());
            for (name, value) in &stored {
                let scalar = matches!(value, AttributeValue::S(_) | AttributeValue::N(_) | AttributeValue::B(_));
                prop_assert_eq!(row.scalar(name), scalar.then(|| value.clone()));
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
