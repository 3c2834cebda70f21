//! Walks over month partitions, against a plain model in memory.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use kit::dynamo::READ_BUDGET_CALLS;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::event::{Event, get};
use crate::world::{World, send};

const PATH: &str = "/cash-books/{bookId}/entries";

/// An entry: days after the first of January 2024, and a number that is its own.
#[derive(Debug, Clone)]
struct Entry {
    day: i32,
    number: usize,
}

impl Entry {
    fn date(&self) -> Date {
        date(2024, 1, 1).checked_add(self.day.days()).unwrap()
    }

    fn id(&self) -> String {
        format!("e-{:04}", self.number)
    }

    /// The key by which entries are ordered.
    fn place(&self) -> (i32, String) {
        (self.day, self.id())
    }

    fn item(&self, tenant: &str, book: &str) -> Value {
        let mut item = self.key(tenant, book);
        item["id"] = json!({"S": self.id()});
        item["amount"] = json!({"N": "12.34"});
        item
    }

    fn key(&self, tenant: &str, book: &str) -> Value {
        let key = tables::cash_entry::key(tenant, book, self.date(), &self.id()).unwrap();
        let fields = key.into_iter().map(|(name, value)| (name.to_owned(), json!({"S": value})));
        Value::Object(fields.collect())
    }
}

#[derive(Debug, Clone)]
struct Walk {
    entries: Vec<Entry>,
    from: i32,
    days: i32,
    ascending: bool,
    limit: usize,
    /// After each page one entry of this number goes, and one comes on this day.
    changes: Vec<(usize, i32)>,
}

fn walks() -> impl Strategy<Value = Walk> {
    // Days cluster, so that months are full or empty and days have ties.
    let day = prop_oneof![3 => 0_i32..6, 2 => 28_i32..34, 1 => 0_i32..700];
    (
        prop::collection::vec(day, 0..40),
        0_i32..400,
        0_i32..700,
        any::<bool>(),
        1_usize..9,
        prop::collection::vec((0_usize..40, 0_i32..700), 0..4),
    )
        .prop_map(|(days, from, span, ascending, limit, changes)| {
            let number = days.into_iter().enumerate();
            let entries = number.map(|(number, day)| Entry { day, number }).collect();
            Walk { entries, from: from % 60, days: span, ascending, limit, changes }
        })
}

fn asked(walk: &Walk) -> Event {
    let (from, to) = (Entry { day: walk.from, number: 0 }, Entry { day: walk.from + walk.days, number: 0 });
    let event = get(PATH, "acme").with("bookId", "b-1").with("from", from.date()).with("to", to.date());
    let event = event.with("limit", walk.limit);
    if walk.ascending { event.with("order", "asc") } else { event }
}

async fn walk_to_the_end(walk: &Walk) -> Result<(), TestCaseError> {
    let world = World::new();
    world.put_all("CashEntry", walk.entries.iter().map(|entry| entry.item("acme", "b-1")));
    // Neighbours that must not be seen: another tenant's, another book's.
    world.put_all("CashEntry", walk.entries.iter().map(|entry| entry.item("beta", "b-1")));
    world.put_all("CashEntry", walk.entries.iter().map(|entry| entry.item("acme", "b-2")));
    let app = world.deployed(&cash::LIST);

    let inside = |entry: &&Entry| (walk.from..=walk.from + walk.days).contains(&entry.day);
    let mut expected: Vec<&Entry> = walk.entries.iter().filter(inside).collect();
    expected.sort_by_key(|entry| entry.place());
    if !walk.ascending {
        expected.reverse();
    }
    let expected: Vec<String> = expected.into_iter().map(Entry::id).collect();

    let mut changes = walk.changes.iter();
    let (mut seen, mut changed) = (Vec::new(), BTreeSet::new());
    let mut cursor = None::<String>;
    for _ in 0..100 {
        let mut event = asked(walk);
        if let Some(cursor) = &cursor {
            event = event.with("cursor", cursor);
        }
        let answer = send(&app, &event).await;
        prop_assert_eq!(answer.status, 200, "{}", answer.body);
        let calls = world.calls();
        prop_assert!(calls.len() <= READ_BUDGET_CALLS);
        // A partition is asked once for a page, and once more only where the service cut it short.
        let mut ended: BTreeSet<String> = BTreeSet::new();
        for call in &calls {
            let partition = call.key_condition().split(' ').nth(2).unwrap_or_default().to_owned();
            prop_assert!(!ended.contains(&partition), "{} is read twice", partition);
            if call.reply.get("LastEvaluatedKey").is_none() {
                ended.insert(partition);
            }
        }
        let ids = answer.ids();
        prop_assert!(ids.len() <= walk.limit);
        seen.extend(ids);
        cursor = answer.cursor();
        if cursor.is_none() {
            break;
        }
        if walk.changes.is_empty() {
            prop_assert!(seen.len() < expected.len(), "a cursor is there exactly while rows are left");
        }
        if let Some((gone, day)) = changes.next() {
            if let Some(entry) = walk.entries.iter().find(|entry| entry.number == *gone) {
                world.delete("CashEntry", entry.key("acme", "b-1"));
                changed.insert(entry.id());
            }
            let entry = Entry { day: *day, number: 5000 + changed.len() + seen.len() };
            world.put("CashEntry", entry.item("acme", "b-1"));
            changed.insert(entry.id());
        }
    }
    prop_assert!(cursor.is_none(), "the walk ends");
    let unique: BTreeSet<&String> = seen.iter().collect();
    prop_assert_eq!(unique.len(), seen.len(), "nothing comes twice");
    let lasting =
        |ids: &[String]| -> Vec<String> { ids.iter().filter(|id| !changed.contains(*id)).cloned().collect() };
    prop_assert_eq!(lasting(&seen), lasting(&expected), "what was there throughout comes once, in order");
    Ok(())
}

#[test]
fn a_walk_gives_every_entry_once_in_order() {
    let config = Config { cases: 250, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]));
    runner
        .run(&walks(), |walk| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(walk_to_the_end(&walk))
        })
        .unwrap();
}

#[tokio::test]
async fn a_month_is_one_partition_newest_first() {
    let world = World::new();
    let entries = [(0, 1), (0, 2), (30, 3), (31, 4)].map(|(day, number)| Entry { day, number });
    world.put_all("CashEntry", entries.iter().map(|entry| entry.item("acme", "b-1")));
    let event = get(PATH, "acme").with("bookId", "b-1").with("month", "2024-01");
    let answer = send(&world.deployed(&cash::LIST), &event).await;
    assert_eq!(answer.ids(), ["e-0003", "e-0002", "e-0001"]);
    assert_eq!(answer.cursor(), None);
    let calls = world.calls();
    assert_eq!((calls.len(), calls[0].key_condition().as_str()), (1, "bookMonthKey = acme#b-1#2024-01"));
}

#[tokio::test]
async fn a_period_narrows_its_months_and_both_of_its_days_count() {
    let world = World::new();
    let entries = [13, 14, 40, 70, 71].map(|day| Entry { day, number: usize::try_from(day).unwrap() });
    world.put_all("CashEntry", entries.iter().map(|entry| entry.item("acme", "b-1")));
    let event = get(PATH, "acme").with("bookId", "b-1").with("from", "2024-01-15").with("to", "2024-03-11");
    let answer = send(&world.deployed(&cash::LIST), &event).await;
    assert_eq!(answer.ids(), ["e-0070", "e-0040", "e-0014"]);
    let conditions: Vec<String> = world.calls().iter().map(crate::world::Call::key_condition).collect();
    assert_eq!(
        conditions,
        [
            "bookMonthKey = acme#b-1#2024-03 AND entryKey BETWEEN 2024-03-01 AND 2024-03-11~",
            "bookMonthKey = acme#b-1#2024-02 AND entryKey BETWEEN 2024-02-01 AND 2024-02-29~",
            "bookMonthKey = acme#b-1#2024-01 AND entryKey BETWEEN 2024-01-15 AND 2024-01-31~",
        ]
    );
}

#[tokio::test]
async fn the_first_page_costs_the_same_however_long_the_history_is() {
    let cost = |entries: i32| async move {
        let world = World::new();
        let entry = |number: i32| Entry { day: number % 1000, number: usize::try_from(number).unwrap() };
        world.put_all("CashEntry", (0..entries).map(|number| entry(number).item("acme", "b-1")));
        let event =
            get(PATH, "acme").with("bookId", "b-1").with("from", "2024-01-01").with("to", "2026-09-26");
        let answer = send(&world.deployed(&cash::LIST), &event.with("limit", 20)).await;
        assert_eq!(answer.ids().len(), 20);
        answer.read_units()
    };
    let (short, long) = (cost(1_000).await, cost(100_000).await);
    assert!((short - long).abs() < f64::EPSILON, "{short} and {long} read units");
}

#[tokio::test]
async fn what_is_no_walk_is_named() {
    let world = World::new();
    let app = world.deployed(&cash::LIST);
    let book = || get(PATH, "acme").with("bookId", "b-1");
    for (event, code, message) in [
        (book(), "unsupported_question", "no key answers bookId; this list answers month; from to"),
        (book().with("from", "2024-01-01"), "unsupported_question", "no key answers"),
        (
            book().with("month", "2024-01").with("from", "2024-01-01").with("to", "2024-01-02"),
            "unsupported_question",
            "no key",
        ),
        (book().with("month", "2024-13"), "invalid_date", "month must be a calendar month written YYYY-MM"),
        (
            book().with("from", "2024-02-01").with("to", "2024-01-01"),
            "reversed_period",
            "from (2024-02-01) must not be",
        ),
        (
            book().with("from", "2024-01-31").with("to", "2027-01-01"),
            "period_too_long",
            "from and to must lie within 36 months",
        ),
        (
            get(PATH, "acme").with("bookId", "b#1").with("month", "2024-01"),
            "invalid_parameter",
            "bookId must not contain",
        ),
    ] {
        let answer = send(&app, &event).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code), "{}", answer.body);
        assert!(answer.message().starts_with(message), "{}", answer.message());
    }
    let widest = book().with("from", "2024-01-31").with("to", "2026-12-01");
    let answer = send(&app, &widest).await;
    assert_eq!((answer.status, answer.cursor()), (200, None));
    assert_eq!(world.calls().len(), 36);
}

#[tokio::test]
async fn only_the_lists_that_say_so_are_turned() {
    let world = World::new();
    let event =
        get("/bank-accounts/{accountId}/statement", "acme").with("accountId", "a-1").with("month", "2024-01");
    let answer = send(&world.deployed(&statement::LIST), &event.with("order", "asc")).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"));
}

#[tokio::test]
async fn the_ledger_is_of_a_property_or_of_a_unit() {
    let world = World::new();
    let app = world.deployed(&ledger::LIST);
    for event in [get("/ledger", "acme"), get("/ledger", "acme").with("propertyId", "h").with("unitId", "u")]
    {
        let answer = send(&app, &event).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "unsupported_question"), "{}", answer.body);
    }
    assert!(world.calls().is_empty());
}
