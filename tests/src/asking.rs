//! How any list is asked and what any question finds, from its declaration.

use kit::list::{List, Partition, Question, Sort};
use serde_json::{Value, json};

use crate::event::{Event, get};

/// The day of every item made here.
const DAY: &str = "2026-03-05";

/// An event that asks a question of a list about this entity.
pub fn asked(list: &List, question: &Question, tenant: &str, entity: &str) -> Event {
    question.required().into_iter().flatten().fold(get(list.path(), tenant), |event, name| match name {
        "month" => event.with(name, "2026-03"),
        "from" => event.with(name, "2026-03-01"),
        "to" => event.with(name, "2026-03-09"),
        _ => event.with(name, entity),
    })
}

/// The first question of a list, about some entity.
pub fn first_asked(list: &'static List) -> Event {
    asked(list, &list.questions()[0], "acme", "x")
}

/// An item that every question of the list about this entity finds.
pub fn item(list: &List, tenant: &str, entity: &str, id: &str) -> Value {
    let mut item = json!({"secret": {"S": tenant}});
    for key in std::iter::once(&list.table().key).chain(list.table().indexes.iter().map(|index| &index.key)) {
        for attribute in key.attributes() {
            item[attribute.name] = json!({"S": entity});
        }
    }
    if let Some(sort) = list.table().key.sort {
        item[sort.name] = json!({"S": id});
    }
    for question in list.questions() {
        let key = question.key(list.table());
        let partition = match question.partition {
            Partition::Tenant => tenant.to_owned(),
            Partition::TenantAnd(_) => format!("{tenant}#{entity}"),
            Partition::TenantAndMonths(_) => format!("{tenant}#{entity}#2026-03"),
        };
        item[key.partition.name] = json!({"S": partition});
        match (question.partition, question.sort, key.sort) {
            (Partition::TenantAndMonths(_), _, Some(sort)) => {
                item[sort.name] = json!({"S": format!("{DAY}#{id}")});
            }
            (_, Sort::Days(_), Some(sort)) => item[sort.name] = json!({"S": format!("{DAY}T12:00:00.000Z")}),
            _ => {}
        }
        if let Some(filter) = question.filter
            && let Some((outer, inner)) = filter.attribute.split_once('.')
        {
            item[outer] = json!({"M": {inner: {"S": entity}}});
        }
    }
    item["tenant"] = json!({"S": tenant});
    item["id"] = json!({"S": id});
    item
}
