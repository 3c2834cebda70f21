//! The keys of the new indexes: what a system holds that has them from its first day.

use kit::item::{AttributeValue, Item};
use kit::key::Rollout;
use kit::rollout::{Stages, give_keys};
use serde_json::{Map, Value, json};

/// Gives the items of a table the keys of its new indexes, by the rule by which writers give them. An item
/// that an index cannot hold is left without.
pub(super) fn give(table: &str, items: &mut [Value]) {
    let of_table = tables::ROLLOUTS.iter().copied().filter(|rollout| rollout.table.name == table);
    let rollouts: Vec<&Rollout> = of_table.collect();
    if rollouts.is_empty() {
        return;
    }
    for attributes in items.iter_mut().filter_map(Value::as_object_mut) {
        let mut item = as_read(attributes);
        if give_keys(&rollouts, &Stages::default(), &mut item).is_err() {
            continue;
        }
        for (name, value) in item {
            if !attributes.contains_key(&name) {
                attributes.insert(name, written(&value));
            }
        }
    }
}

/// What the rule looks at of an item: its texts and numbers, and those inside maps.
pub(super) fn as_read(attributes: &Map<String, Value>) -> Item {
    let read = |value: &Value| {
        let (kind, value) = value.as_object()?.iter().next()?;
        Some(match (kind.as_str(), value) {
            ("S", Value::String(text)) => AttributeValue::S(text.clone()),
            ("N", Value::String(digits)) => AttributeValue::N(digits.clone()),
            ("M", Value::Object(map)) => AttributeValue::M(as_read(map)),
            _ => return None,
        })
    };
    attributes.iter().filter_map(|(name, value)| Some((name.clone(), read(value)?))).collect()
}

/// A value that the rule gives, as DynamoDB JSON.
fn written(value: &AttributeValue) -> Value {
    match value {
        AttributeValue::S(text) => json!({ "S": text }),
        AttributeValue::N(digits) => json!({ "N": digits }),
        AttributeValue::Ss(names) => json!({ "SS": names }),
        // There is no other, and the database would refuse this one.
        _ => Value::Null,
    }
}
