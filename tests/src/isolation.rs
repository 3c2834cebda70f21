//! No tenant sees another's rows, whatever is asked of whichever list.

use kit::list::List;

use crate::asking::{asked, item};
use crate::declared;
use crate::event::{Event, get};
use crate::registry;
use crate::world::{World, send};

/// Every question of a list about `x`.
fn questions(list: &List, tenant: &str) -> Vec<Event> {
    list.questions().iter().map(|question| asked(list, question, tenant, "x")).collect()
}

/// The single items of a list, where it has them.
async fn keeps_items_apart(list: &'static List, app: &kit::app::App) {
    let (Some(path), Some(sort)) = (list.item_path(), list.table().key.sort) else { return };
    for (tenant, id, found) in [
        ("acme", "same", Some("acme")),
        ("beta", "same", Some("beta")),
        ("acme", "other", None),
        ("beta", "own", None),
        ("acm", "same", None),
    ] {
        let answer = send(app, &get(path, tenant).with(sort.name, id)).await;
        let secret = answer.json()["secret"].as_str().map(str::to_owned);
        assert_eq!(secret.as_deref(), found, "{}: {tenant} {id}", list.name());
    }
}

async fn keeps_tenants_apart(world: &World, list: &'static List, app: &kit::app::App) {
    // Where the id alone is the key, two tenants have no id in common.
    let same =
        |tenant| if list.table().key.sort.is_some() { "same".to_owned() } else { format!("same-{tenant}") };
    let mine = |tenant, other: &str| [other.to_owned(), same(tenant)];
    let (acme, beta) = (mine("acme", "own"), mine("beta", "other"));
    for (tenant, ids) in [("acme", &acme), ("beta", &beta)] {
        for id in ids {
            world.put(list.table().name, item(list, tenant, "x", id));
        }
    }
    for (tenant, own) in [("acme", acme), ("beta", beta)] {
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
    keeps_items_apart(list, app).await;
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
