//! Stored items: what they are made of, their size, and JSON as one, digit by digit. How an item is written as
//! JSON is told in [`crate::row`].

use std::collections::HashMap;

pub use aws_sdk_dynamodb::types::AttributeValue;
use serde_json::value::RawValue;

use crate::key::{INDEX_ONLY, KeyAttribute, KeyFault, ScalarType, Table};

/// A stored item, or the part of one that was read.
pub type Item = HashMap<String, AttributeValue>;

/// The attribute that changes with every write of an item that several people edit.
pub const VERSION: &str = "version";

/// The entity tag of an item, without its quotes: its `version`, `#` and the digits of one that is a number,
/// and `#` alone where it has none. `None` for a version that cannot stand in a header.
#[must_use]
pub fn entity_tag(item: &Item) -> Option<String> {
    match item.get(VERSION) {
        None => Some("#".to_owned()),
        Some(AttributeValue::N(digits)) => Some(format!("#{digits}")),
        Some(AttributeValue::S(version)) => {
            let plain = version.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'"');
            (plain && !version.is_empty() && !version.starts_with('#')).then(|| version.clone())
        }
        Some(_) => None,
    }
}

/// The version that an entity tag stands for; `None` for that of an item without one.
#[must_use]
pub fn tagged_version(tag: &str) -> Option<AttributeValue> {
    match tag.strip_prefix('#') {
        None => Some(AttributeValue::S(tag.to_owned())),
        Some("") => None,
        Some(digits) if is_json_number(digits) => stored_number(digits).map(AttributeValue::N),
        // A tag that none was given is that of no item.
        Some(_) => Some(AttributeValue::S(tag.to_owned())),
    }
}

/// The largest item that DynamoDB stores, in bytes as [`size`] counts them.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: item size".
pub const MAX_ITEM_BYTES: usize = 400 * 1024;

/// The longest attribute name, in bytes.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: attribute names".
const MAX_NAME_BYTES: usize = 65_535;

/// The deepest nesting that DynamoDB stores.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: nested attributes".
const MAX_DEPTH: usize = 32;

/// The most significant digits of a DynamoDB number.
///
/// Source: Amazon DynamoDB developer guide, "Data types: number".
const MAX_DIGITS: usize = 38;

/// What is wrong with a value of a key attribute that takes at most `bound` bytes, if anything is.
#[must_use]
pub fn key_fault(attribute: &KeyAttribute, bound: usize, value: &AttributeValue) -> Option<KeyFault> {
    let len = match (attribute.scalar, value) {
        (ScalarType::S, AttributeValue::S(text)) => text.len(),
        (ScalarType::B, AttributeValue::B(blob)) => blob.as_ref().len(),
        // A number always fits, and is never empty.
        (ScalarType::N, AttributeValue::N(_)) => 1,
        (scalar, _) => return Some(KeyFault::WrongType(scalar.as_str())),
    };
    match len {
        0 => Some(KeyFault::Empty),
        len if len > bound => Some(KeyFault::TooLong(bound)),
        _ => None,
    }
}

/// The key of an item in its table.
#[must_use]
pub fn key_of(table: &Table, item: &Item) -> Item {
    let key = table.key.attributes();
    key.filter_map(|part| Some((part.name.to_owned(), item.get(part.name)?.clone()))).collect()
}

/// The attributes that an item has for an index alone. A writer that reads JSON may have made a list of the
/// set.
#[must_use]
pub fn index_only(item: &Item) -> Vec<&str> {
    match item.get(INDEX_ONLY) {
        Some(AttributeValue::Ss(names)) => names.iter().map(String::as_str).collect(),
        Some(AttributeValue::L(names)) => {
            names.iter().filter_map(|name| name.as_s().ok()).map(String::as_str).collect()
        }
        _ => Vec::new(),
    }
}

/// Leaves of an item what lists show: neither what is `unlisted` in every item nor what this one has for an index
/// alone.
#[must_use]
pub fn listed(mut item: Item, unlisted: &[&str]) -> Item {
    let own: Vec<String> = if unlisted.contains(&INDEX_ONLY) {
        index_only(&item).into_iter().map(str::to_owned).collect()
    } else {
        Vec::new()
    };
    item.retain(|name, _| !unlisted.contains(&name.as_str()) && !own.contains(name));
    item
}

/// An item of text attributes, such as a key.
#[must_use]
pub fn texts<const N: usize>(fields: [(&str, &str); N]) -> Item {
    Item::from(fields.map(|(name, value)| (name.to_owned(), AttributeValue::S(value.to_owned()))))
}

/// Whether `text` is a number by the grammar of JSON (RFC 8259, section 6).
#[must_use]
pub fn is_json_number(text: &str) -> bool {
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

/// The bytes of an item as DynamoDB counts them, or a few more: a number's exact size is not told.
///
/// Source: Amazon DynamoDB developer guide, "Item sizes and formats".
#[must_use]
pub fn size(item: &Item) -> usize {
    item.iter().map(|(name, value)| name.len() + value_size(value)).sum()
}

fn value_size(value: &AttributeValue) -> usize {
    let number = |digits: &String| digits.len() / 2 + 2;
    match value {
        AttributeValue::S(text) => text.len(),
        AttributeValue::N(digits) => number(digits),
        AttributeValue::B(blob) => blob.as_ref().len(),
        AttributeValue::Ss(set) => set.iter().map(String::len).sum(),
        AttributeValue::Ns(set) => set.iter().map(number).sum(),
        AttributeValue::Bs(set) => set.iter().map(|blob| blob.as_ref().len()).sum(),
        AttributeValue::M(map) => 3 + map.len() + size(map),
        AttributeValue::L(list) => 3 + list.iter().map(|element| 1 + value_size(element)).sum::<usize>(),
        _ => 1,
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
    /// A name is empty or too long.
    #[error("a name in {0} must have 1 to 65535 bytes")]
    Name(String),
    /// A text holds half of a surrogate pair, which is no character.
    #[error("{0} must be valid Unicode")]
    Text(String),
    /// A number has more digits or a larger exponent than DynamoDB stores.
    #[error("{0} must be a number of at most 38 digits, up to 9.99E+125")]
    Number(String),
    /// It is nested deeper than DynamoDB stores.
    #[error("{0} is nested deeper than 32 levels")]
    TooDeep(String),
}

/// Reads a JSON object as an item. Numbers keep all their digits, in the form in which DynamoDB answers
/// them; a name whose value is `null` is left out, since an absent value is never stored as NULL.
///
/// # Errors
///
/// What is wrong, with the attribute's path.
pub fn from_json(json: &str) -> Result<Item, ItemFault> {
    let raw: &RawValue = serde_json::from_str(json).map_err(|_| ItemFault::NotAnObject)?;
    match read_value(raw, Place::Body, 0)? {
        Some(AttributeValue::M(item)) => Ok(item),
        _ => Err(ItemFault::NotAnObject),
    }
}

/// Where a value stands, told only when something is wrong with it.
#[derive(Clone, Copy)]
enum Place<'a> {
    Body,
    Field(&'a Place<'a>, &'a str),
    Element(&'a Place<'a>, usize),
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let short = |name: &str| name.chars().filter(|c| !c.is_control()).take(40).collect::<String>();
        match self {
            Self::Body => formatter.write_str("the body"),
            Self::Field(Self::Body, name) => formatter.write_str(&short(name)),
            Self::Field(outer, name) => write!(formatter, "{outer}.{}", short(name)),
            Self::Element(outer, position) => write!(formatter, "{outer}[{position}]"),
        }
    }
}

/// `None` for `null`.
fn read_value(raw: &RawValue, place: Place<'_>, depth: usize) -> Result<Option<AttributeValue>, ItemFault> {
    if depth > MAX_DEPTH {
        return Err(ItemFault::TooDeep(place.to_string()));
    }
    let text = raw.get();
    // The text is JSON by now, so its first byte tells its type, and only a string can still be wrong.
    let wrong_text = |_| ItemFault::Text(place.to_string());
    Ok(match text.as_bytes().first() {
        Some(b'{') => {
            let Object(fields) = serde_json::from_str(text).map_err(wrong_text)?;
            let mut map = HashMap::with_capacity(fields.len());
            let mut names = std::collections::HashSet::with_capacity(fields.len());
            for (name, field) in &fields {
                let inner = Place::Field(&place, name);
                if name.is_empty() || name.len() > MAX_NAME_BYTES {
                    return Err(ItemFault::Name(place.to_string()));
                }
                if !names.insert(name) {
                    return Err(ItemFault::RepeatedName(inner.to_string()));
                }
                if let Some(value) = read_value(field, inner, depth + 1)? {
                    map.insert(name.clone(), value);
                }
            }
            Some(AttributeValue::M(map))
        }
        Some(b'[') => {
            let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(wrong_text)?;
            let mut list = Vec::with_capacity(elements.len());
            for (position, element) in elements.into_iter().enumerate() {
                let value = read_value(element, Place::Element(&place, position), depth + 1)?;
                // A list keeps its positions.
                list.push(value.unwrap_or(AttributeValue::Null(true)));
            }
            Some(AttributeValue::L(list))
        }
        Some(b'"') => Some(AttributeValue::S(serde_json::from_str(text).map_err(wrong_text)?)),
        Some(b't') => Some(AttributeValue::Bool(true)),
        Some(b'f') => Some(AttributeValue::Bool(false)),
        Some(b'n') => None,
        _ => match stored_number(text) {
            Some(digits) => Some(AttributeValue::N(digits)),
            None => return Err(ItemFault::Number(place.to_string())),
        },
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

/// A JSON number in the form in which DynamoDB answers it: without an exponent, a plus, or a zero that
/// says nothing. `None` for what it does not store: more than 38 significant digits, or a magnitude that
/// is neither zero nor from 1E-130 to below 1E+126.
fn stored_number(text: &str) -> Option<String> {
    let (sign, unsigned) = match text.strip_prefix('-') {
        Some(unsigned) => ("-", unsigned),
        None => ("", text),
    };
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let significant = digits.trim_start_matches('0');
    if significant.is_empty() {
        return Some("0".to_owned());
    }
    // The power of ten of the first significant digit.
    let leading =
        i64::try_from(whole.len()).ok()? - i64::try_from(digits.len() - significant.len()).ok()? - 1;
    let magnitude = exponent.parse::<i64>().ok()?.checked_add(leading)?;
    let significant = significant.trim_end_matches('0');
    if significant.len() > MAX_DIGITS || !(-130..=125).contains(&magnitude) {
        return None;
    }
    Some(match usize::try_from(magnitude) {
        Ok(magnitude) if magnitude + 1 >= significant.len() => {
            format!("{sign}{significant}{}", "0".repeat(magnitude + 1 - significant.len()))
        }
        Ok(magnitude) => {
            let (whole, fraction) = significant.split_at_checked(magnitude + 1)?;
            format!("{sign}{whole}.{fraction}")
        }
        Err(_) => {
            let zeros = usize::try_from(-magnitude - 1).ok()?;
            format!("{sign}0.{}{significant}", "0".repeat(zeros))
        }
    })
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
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn numbers_take_the_form_in_which_they_are_answered() {
        for (given, stored) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("0.0000e999", "0"),
            ("10.50", "10.5"),
            ("-1e2", "-100"),
            ("1.5E+3", "1500"),
            ("12345.678e-2", "123.45678"),
            ("0.001", "0.001"),
            ("12e-5", "0.00012"),
            ("12345678901234567890123456789012345678", "12345678901234567890123456789012345678"),
        ] {
            assert_eq!(stored_number(given).as_deref(), Some(stored), "{given}");
        }
        assert_eq!(stored_number("1E125").map(|digits| digits.len()), Some(126));
        for wrong in ["1e126", "1e-131", "123456789012345678901234567890123456789", "1e99999999999999999999"]
        {
            assert_eq!(stored_number(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_size_is_never_below_the_service_s() {
        let nested = from_json(&format!(r#"{{"a":{}1{}}}"#, "[".repeat(30), "]".repeat(30))).unwrap();
        // The name, 30 lists of 3 bytes and 1 for their element, and a number.
        assert!(size(&nested) >= 1 + 30 * 4 + 2, "{}", size(&nested));
        let texts = from_json(r#"{"name":"açaí","map":{"a":true,"b":null,"c":[]}}"#).unwrap();
        assert_eq!(size(&texts), 4 + 6 + 3 + (3 + 2 + (1 + 1) + (1 + 3)));
    }

    #[test]
    fn what_is_no_item_is_refused_by_name() {
        assert_eq!(from_json("[1]"), Err(ItemFault::NotAnObject));
        assert_eq!(from_json("{"), Err(ItemFault::NotAnObject));
        assert_eq!(from_json(r#"{"a":{"b":1,"b":2}}"#), Err(ItemFault::RepeatedName("a.b".into())));
        assert_eq!(from_json(r#"{"":1}"#), Err(ItemFault::Name("the body".into())));
        let long = format!(r#"{{"a":{{"{}":1}}}}"#, "x".repeat(65_536));
        assert_eq!(from_json(&long), Err(ItemFault::Name("a".into())));
        assert_eq!(from_json(r#"{"a":["\ud800"]}"#), Err(ItemFault::Text("a[0]".into())));
        assert_eq!(from_json(r#"{"a":[{"b":1e999}]}"#), Err(ItemFault::Number("a[0].b".into())));
        let deep = format!("{}1{}", r#"{"a":"#.repeat(40), "}".repeat(40));
        assert!(matches!(from_json(&deep), Err(ItemFault::TooDeep(_))));
    }

    proptest! {
        #[test]
        fn the_number_grammar_is_that_of_json(text in "[-+]?[0-9]{0,3}(\\.[0-9]{0,2})?([eE][-+]?[0-9]{0,2})?") {
            prop_assert_eq!(is_json_number(&text), serde_json::from_str::<&RawValue>(&text).is_ok());
        }
    }
}
