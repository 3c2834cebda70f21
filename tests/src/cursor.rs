//! The cursor matrix: a cursor is refused at every tenant, question, entity, period and order of its list but its
//! own, and at every question of another list, and nothing is read.

use std::collections::BTreeSet;

use kit::app::App;
use kit::list::{Answer, Direction, Order, Sort};
use serde_json::json;

use crate::asking::{asked, item};
use crate::declared::{VISIT, VISITS};
use crate::event::{Event, get};
use crate::registry;
use crate::world::{CURSOR_KEY, World, send};

/// One way to ask a list: the list, and its event without cursor.
struct Place {
    list: &'static kit::list::List,
    event: Event,
    what: String,
    /// Whether it has rows for a cursor. Where not, cursors are only used there.
    has_rows: bool,
    /// Whether it asks the question as it is, in no other order and of no period or month of its own. Of other lists,
    /// cursors are used only at these.
    plain: bool,
    /// The list, the question and the tenant.
    asked: [&'static str; 3],
}

/// Other months and other days of a question that walks over months.
fn others(question: &kit::list::Question) -> &'static [(&'static str, &'static str)] {
    match question.sort {
        Sort::Month(_) => &[("month", "2026-04")],
        Sort::Days(_) if question.optional().is_empty() => &[("from", "2026-03-02"), ("to", "2026-03-08")],
        _ => &[],
    }
}

/// Every list by cursor, question, tenant, parameter value and order.
fn places() -> Vec<Place> {
    let mut places = Vec::new();
    for list in registry::cursor_lists() {
        for question in list.questions() {
            let entities: &[&str] = if question.required() == [None; 4] { &["-"] } else { &["r1", "r2"] };
            let periods: &[Option<(&str, &str)>] = if question.optional().is_empty() {
                &[None]
            } else {
                &[None, Some(("from", "2026-03-01")), Some(("to", "2026-03-09"))]
            };
            // The declared order by another name is the same order.
            let other = match question.order {
                Order::Key(Direction::Descending) => "asc",
                _ => "desc",
            };
            let orders: &[Option<&str>] = match list.answer() {
                Answer::Cursor { reversible: true } => &[None, Some(other)],
                _ => &[None],
            };
            for tenant in ["acme", "beta"] {
                let asked = [list.name(), question.name, tenant];
                for entity in entities {
                    for period in periods {
                        for order in orders {
                            let mut event =
                                crate::asking::asked(list, question, tenant, entity).with("limit", 1);
                            if let Some((name, day)) = period {
                                event = event.with(name, day);
                            }
                            if let Some(order) = order {
                                event = event.with("order", order);
                            }
                            let what = format!(
                                "{} {} {tenant} {entity} {period:?} {order:?}",
                                list.name(),
                                question.name
                            );
                            for (name, other) in others(question) {
                                let event = event.clone().replaced(name, other);
                                let what = format!("{what} {name}={other}");
                                places.push(Place {
                                    list,
                                    event,
                                    what,
                                    has_rows: false,
                                    plain: false,
                                    asked,
                                });
                            }
                            let plain = period.is_none() && order.is_none();
                            places.push(Place { list, event, what, has_rows: true, plain, asked });
                        }
                    }
                }
            }
        }
    }
    places
}

/// Three rows for each question, tenant and entity.
fn world() -> World {
    let world = World::new();
    world.create(&VISIT);
    let mut lists = registry::cursor_lists();
    lists.dedup_by_key(|list| list.table().name);
    for list in lists {
        for tenant in ["acme", "beta"] {
            for entity in ["r1", "r2"] {
                for number in 0..3 {
                    let id = format!("{entity}-{number}");
                    world.put(list.table().name, item(list, tenant, entity, &id));
                }
            }
        }
    }
    world
}

#[tokio::test]
async fn a_cursor_is_good_where_it_was_made_and_nowhere_else() {
    let world = world();
    let apps: Vec<(&str, App)> =
        registry::cursor_lists().into_iter().map(|list| (list.name(), world.declared(list))).collect();
    let app = |place: &Place| &apps.iter().find(|(name, _)| *name == place.list.name()).unwrap().1;
    let places = places();
    let mut cursors = Vec::new();
    for (made, place) in places.iter().enumerate().filter(|(_, place)| place.has_rows) {
        let answer = send(app(place), &place.event).await;
        assert_eq!(answer.status, 200, "{}: {}", place.what, answer.body);
        cursors.push((made, answer.cursor().unwrap_or_else(|| panic!("no cursor: {}", place.what))));
    }
    world.calls();
    let mut met = BTreeSet::new();
    for (made, cursor) in &cursors {
        let made = *made;
        let of_the_list = |place: &Place| place.list.name() == places[made].list.name();
        let near = places.iter().enumerate().filter(|(_, place)| place.plain || of_the_list(place));
        for (used, place) in near {
            let answer = send(app(place), &place.event.clone().with("cursor", cursor)).await;
            if made == used {
                assert_eq!(answer.status, 200, "{}", place.what);
                world.calls();
            } else {
                let context = format!("made for {}, used for {}", places[made].what, place.what);
                assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_cursor"), "{context}");
                met.insert((places[made].asked, place.asked));
            }
        }
        assert!(world.calls().is_empty(), "a refused cursor reads nothing");
    }
    let all: BTreeSet<[&str; 3]> = places.iter().map(|place| place.asked).collect();
    assert_eq!(
        met.len(),
        all.len() * all.len(),
        "every list, question and tenant against every other and itself"
    );
}

#[tokio::test]
async fn a_changed_cut_or_endless_cursor_is_refused() {
    let world = world();
    let app = world.declared(&VISITS);
    let event = get("/visits", "acme").with("limit", 1);
    let cursor = send(&app, &event).await.cursor().unwrap();
    world.calls();
    let mut wrong = vec![
        String::new(),
        "x".to_owned(),
        "=".repeat(20),
        cursor[..cursor.len() - 4].to_owned(),
        cursor[4..].to_owned(),
        format!("{cursor}AAAA"),
        "A".repeat(100_000),
        "não é um cursor".to_owned(),
    ];
    for at in 0..cursor.len() {
        let replacement = if cursor.as_bytes()[at] == b'A' { "B" } else { "A" };
        wrong.push(format!("{}{replacement}{}", &cursor[..at], &cursor[at + 1..]));
    }
    for cursor in wrong {
        let answer = send(&app, &event.clone().with("cursor", &cursor)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_cursor"), "{cursor}");
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn cursors_survive_one_rotation_of_the_key() {
    let world = world();
    let event = get("/visits", "acme").with("limit", 1);
    let old = send(&world.declared(&VISITS), &event).await.cursor().unwrap();
    let next = "the next cursor key of the tests, also long";
    let after = "the key after that, which is long enough too";
    let rotated = world.declared_with(&VISITS, &[("CURSOR_KEY", next), ("CURSOR_KEY_PREVIOUS", CURSOR_KEY)]);
    let answer = send(&rotated, &event.clone().with("cursor", &old)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let twice = world.declared_with(&VISITS, &[("CURSOR_KEY", after), ("CURSOR_KEY_PREVIOUS", next)]);
    assert_eq!(send(&twice, &event.clone().with("cursor", &old)).await.code(), "invalid_cursor");
    let fresh = answer.cursor().unwrap();
    assert_eq!(send(&twice, &event.clone().with("cursor", &fresh)).await.status, 200);
}

#[tokio::test]
async fn a_cursor_is_short_and_goes_into_a_url() {
    let world = World::with_tables(&[VISIT]);
    let (tenant, room) = ("t".repeat(128), "r".repeat(128));
    for number in 0..3 {
        world.put(
            "Visit",
            json!({
                "tenant": {"S": tenant},
                "id": {"S": format!("{number}{}", "i".repeat(127))},
                "day": {"S": "d".repeat(128)},
                "roomLookupKey": {"S": format!("{tenant}#{room}")},
            }),
        );
    }
    let event = get("/visits", &tenant).with("roomId", &room).with("limit", 1);
    let cursor = send(&world.declared(&VISITS), &event).await.cursor().unwrap();
    assert!(cursor.len() <= 512, "{}", cursor.len());
    assert!(cursor.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')));
    assert!(!cursor.contains(&"i".repeat(20)), "what it carries cannot be read");
}

#[tokio::test]
async fn lists_without_cursors_take_none() {
    let world = world();
    let cursor =
        send(&world.declared(&VISITS), &get("/visits", "acme").with("limit", 1)).await.cursor().unwrap();
    world.calls();
    let deployed = World::new();
    for list in registry::lists() {
        if matches!(list.answer(), Answer::Cursor { .. }) {
            continue;
        }
        for question in list.questions() {
            let event = asked(list, question, "acme", "x").with("cursor", &cursor);
            let answer = send(&deployed.deployed(list), &event).await;
            assert_eq!(
                (answer.status, answer.code().as_str()),
                (400, "unknown_parameter"),
                "{}",
                list.name()
            );
        }
    }
    assert!(deployed.calls().is_empty());
}
