//! No tenant sees another's rows, whatever is asked of whichever list.

use kit::list::{List, Partition, Sort};
use serde_json::{Value, json};

use crate::declared;
use crate::event::{Event, get};
use crate::registry;
use crate::world::{World, send};

/// An item that every question of the list finds when each parameter has the value `x`.
fn item(list: &List, tenant: &str, id: &str) -> Value {
    let mut item = json!({"secret": {"S": tenant}});
    for key in std::iter::once(&list.table().key).chain(list.table().indexes.iter().map(|index| &index.key)) {
        for attribute in key.attributes() {
            item[attribute.name] = json!({"S": "x"});
        }
    }
    for question in list.questions() {
        let key = question.key(list.table());
        let partition = match question.partition {
            Partition::Tenant => tenant.to_owned(),
            Partition::TenantAnd(_) => format!("{tenant}#x"),
        };
        item[key.partition.name] = json!({"S": partition});
        if let (Sort::Days(_), Some(sort)) = (question.sort, key.sort) {
            item[sort.name] = json!({"S": "2026-03-05T12:00:00.000Z"});
        }
        if let Some(filter) = question.filter
            && let Some((outer, inner)) = filter.attribute.split_once('.')
        {
            item[outer] = json!({"M": {inner: {"S": "x"}}});
        }
    }
    if let Some(sort) = list.table().key.sort {
        item[sort.name] = json!({"S": id});
    }
    item["tenant"] = json!({"S": tenant});
    item["id"] = json!({"S": id});
    item
}

/// Every question of a list, each parameter with the value `x`.
fn questions(list: &List, tenant: &str) -> Vec<Event> {
    let question = |question: &kit::list::Question| {
        let required = question.required().into_iter().flatten();
        required.fold(get(list.path(), tenant), |event, name| event.with(name, "x"))
    };
    list.questions().iter().map(question).collect()
}

async fn keeps_tenants_apart(world: &World, list: &'static List, app: &kit::app::App) {
    for (tenant, id) in [("acme", "same"), ("acme", "own"), ("beta", "same"), ("beta", "other")] {
        world.put(list.table().name, item(list, tenant, id));
    }
    for (tenant, own) in [("acme", ["own", "same"]), ("beta", ["other", "same"])] {
        for event in questions(list, tenant) {
            let answer = send(app, &event).await;
            assert_eq!(answer.status, 200, "{}: {}", list.name(), answer.body);
            let mut ids = answer.ids();
            ids.sort_unstable();
            assert_eq!(ids, own, "{} {event:?}", list.name());
            for row in answer.json()["items"].as_array().unwrap() {
                assert_eq!(row["secret"].as_str(), Some(tenant), "{} {event:?}", list.name());
            }
        }
    }
    // Nobody's rows are found by names that look like parts of other keys.
    for tenant in ["acm", "acmee", "ACME", "acme ", "acme.x"] {
        for event in questions(list, tenant) {
            let answer = send(app, &event).await;
            assert_eq!(answer.ids().len(), 0, "{} {event:?}", list.name());
        }
    }
    for call in world.calls() {
        assert_ne!(call.operation, "Scan", "{}", list.name());
    }
}

#[tokio::test]
async fn no_list_shows_another_tenant_s_rows() {
    for list in registry::lists() {
        let world = World::new();
        let app = world.deployed(list);
        keeps_tenants_apart(&world, list, &app).await;
    }
    for list in declared::LISTS {
        let world = World::with_tables(&[declared::VISIT]);
        let app = world.declared(list);
        keeps_tenants_apart(&world, list, &app).await;
    }
}
