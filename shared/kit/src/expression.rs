//! DynamoDB expressions in which every attribute name and value is a placeholder: no reserved word can
//! stand in the way, and nothing a caller sends is ever part of an expression. A placeholder is declared
//! when it is used, so none is declared in vain, which the service refuses.

use std::collections::HashMap;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::list::FilterPart;
use crate::plan::{Plan, Range};

/// The names and values of the expressions of one request.
#[derive(Debug, Default)]
pub struct Placeholders {
    names: Vec<String>,
    values: Vec<AttributeValue>,
}

impl Placeholders {
    /// The placeholder of an attribute path: `customer.id` becomes `#0.#1`.
    pub fn path(&mut self, path: &str) -> String {
        let mut placeholders = Vec::new();
        for segment in path.split('.') {
            let position = self.names.iter().position(|name| name == segment).unwrap_or_else(|| {
                self.names.push(segment.to_owned());
                self.names.len() - 1
            });
            placeholders.push(format!("#{position}"));
        }
        placeholders.join(".")
    }

    /// `ProjectionExpression` of some paths.
    pub fn projection(&mut self, paths: &[&str]) -> String {
        paths.iter().map(|path| self.path(path)).collect::<Vec<_>>().join(", ")
    }

    /// The placeholder of a value.
    pub fn value(&mut self, value: AttributeValue) -> String {
        self.values.push(value);
        format!(":{}", self.values.len() - 1)
    }

    fn text(&mut self, value: &str) -> String {
        self.value(AttributeValue::S(value.to_owned()))
    }

    /// `ExpressionAttributeNames`; `None` where none is used, since the service refuses an empty map.
    #[must_use]
    pub fn names(&self) -> Option<HashMap<String, String>> {
        let names = self.names.iter().enumerate().map(|(at, name)| (format!("#{at}"), name.clone()));
        (!self.names.is_empty()).then(|| names.collect())
    }

    /// `ExpressionAttributeValues`; `None` where none is used.
    #[must_use]
    pub fn values(&self) -> Option<HashMap<String, AttributeValue>> {
        let values = self.values.iter().enumerate().map(|(at, value)| (format!(":{at}"), value.clone()));
        (!self.values.is_empty()).then(|| values.collect())
    }

    /// `KeyConditionExpression` of a plan.
    pub fn key_condition(&mut self, plan: &Plan) -> String {
        let (attribute, value) = &plan.partition;
        let mut condition = format!("{} = {}", self.path(attribute), self.text(value));
        if let Some((attribute, range)) = &plan.sort {
            let name = self.path(attribute);
            condition.push_str(" AND ");
            condition.push_str(&match range {
                Range::Equals(value) => format!("{name} = {}", self.text(value)),
                Range::AtLeast(value) => format!("{name} >= {}", self.text(value)),
                Range::AtMost(value) => format!("{name} <= {}", self.text(value)),
                Range::Between(low, high) => {
                    format!("{name} BETWEEN {} AND {}", self.text(low), self.text(high))
                }
            });
        }
        condition
    }

    /// `FilterExpression` of a plan.
    pub fn filter(&mut self, plan: &Plan) -> Option<String> {
        let conditions: Vec<String> = plan
            .keep
            .iter()
            .map(|keep| {
                let (path, value) = (self.path(keep.attribute), self.text(&keep.value));
                match keep.part {
                    FilterPart::Whole => format!("{path} = {value}"),
                    FilterPart::First => format!("begins_with({path}, {value})"),
                    FilterPart::Inner => format!("contains({path}, {value})"),
                }
            })
            .collect();
        (!conditions.is_empty()).then(|| conditions.join(" AND "))
    }

    /// `ConditionExpression` of a write: all of the checks hold.
    pub fn condition(&mut self, checks: &[Check]) -> Option<String> {
        let checks: Vec<String> = checks
            .iter()
            .map(|check| match check {
                Check::Absent(attribute) => format!("attribute_not_exists({})", self.path(attribute)),
                Check::Present(attribute) => format!("attribute_exists({})", self.path(attribute)),
                Check::Equals(attribute, value) => {
                    format!("{} = {}", self.path(attribute), self.value(value.clone()))
                }
                Check::AbsentOr(key, attribute, value) => {
                    let absent = format!("attribute_not_exists({})", self.path(key));
                    format!("({absent} OR {} = {})", self.path(attribute), self.value(value.clone()))
                }
            })
            .collect();
        (!checks.is_empty()).then(|| checks.join(" AND "))
    }

    /// `UpdateExpression` of some changes.
    pub fn update(&mut self, changes: &[Change]) -> String {
        let (mut set, mut add, mut remove) = (Vec::new(), Vec::new(), Vec::new());
        for change in changes {
            match change {
                Change::Set(attribute, value) => {
                    set.push(format!("{} = {}", self.path(attribute), self.value(value.clone())));
                }
                Change::Add(attribute, number) => {
                    let number = AttributeValue::N(number.to_string());
                    add.push(format!("{} {}", self.path(attribute), self.value(number)));
                }
                Change::AddText(attribute, text) => {
                    let texts = AttributeValue::Ss(vec![(*text).to_owned()]);
                    add.push(format!("{} {}", self.path(attribute), self.value(texts)));
                }
                Change::Remove(attribute) => remove.push(self.path(attribute)),
            }
        }
        [("SET", set), ("ADD", add), ("REMOVE", remove)]
            .into_iter()
            .filter(|(_, actions)| !actions.is_empty())
            .map(|(keyword, actions)| format!("{keyword} {}", actions.join(", ")))
            .collect::<Vec<_>>()
            .join(" ")
    }
}

/// What must hold of the stored item for a write to happen.
#[derive(Debug, Clone)]
pub enum Check {
    /// The attribute is not there. Of a key attribute: no such item is stored.
    Absent(&'static str),
    /// The attribute is there. Of a key attribute: such an item is stored.
    Present(&'static str),
    /// The attribute has this value.
    Equals(&'static str, AttributeValue),
    /// The first attribute is not there, or the second has this value. Of a key attribute first: an item
    /// that is stored already is one of those.
    AbsentOr(&'static str, &'static str, AttributeValue),
}

/// One change to a stored item.
#[derive(Debug, Clone)]
pub enum Change {
    /// The attribute takes this value.
    Set(&'static str, AttributeValue),
    /// The number grows by this much; an absent one counts as zero.
    Add(&'static str, i64),
    /// The set of texts has this one too; an absent one begins with it.
    AddText(&'static str, &'static str),
    /// The attribute goes.
    Remove(&'static str),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reserved_words_are_placeholders_and_only_used_ones_are_declared() {
        let mut placeholders = Placeholders::default();
        assert!(placeholders.names().is_none() && placeholders.values().is_none());
        let expression = placeholders.update(&[
            Change::Set("status", AttributeValue::S("PAID".into())),
            Change::Add("total", 1),
            Change::Remove("date"),
            Change::Set("customer.name", AttributeValue::S("Ana".into())),
        ]);
        assert_eq!(expression, "SET #0 = :0, #3.#4 = :2 ADD #1 :1 REMOVE #2");
        let condition = placeholders.condition(&[Check::Present("status"), Check::Absent("id")]).unwrap();
        assert_eq!(condition, "attribute_exists(#0) AND attribute_not_exists(#5)");
        assert_eq!(placeholders.names().unwrap().len(), 6);
        assert_eq!(placeholders.values().unwrap().len(), 3);
    }

    #[test]
    fn a_set_grows_and_an_item_is_free_or_one_s_own() {
        let mut placeholders = Placeholders::default();
        let update = placeholders.update(&[Change::AddText("indexOnly", "provider")]);
        assert_eq!(update, "ADD #0 :0");
        assert_eq!(placeholders.values().unwrap()[":0"], AttributeValue::Ss(vec!["provider".into()]));
        let own = Check::AbsentOr("id", "tenant", AttributeValue::S("acme".into()));
        let condition = placeholders.condition(&[own, Check::Present("x")]).unwrap();
        assert_eq!(condition, "(attribute_not_exists(#1) OR #2 = :1) AND attribute_exists(#3)");
        assert_eq!(placeholders.projection(&["id", "customer.id"]), "#1, #4.#1");
    }

    #[test]
    fn no_condition_is_none() {
        assert!(Placeholders::default().condition(&[]).is_none());
    }
}
