//! Walks over month partitions, against a plain model in memory.

use std::collections::BTreeSet;

use jiff::ToSpan;
use jiff::civil::{Date, date};
use kit::dynamo::READ_BUDGET_CALLS;
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::event::{Event, get};
use crate::paging::{block_on, runner};
use crate::world::{Fault, World, send};

const PATH: &str = "/cash-books/{bookId}/entries";

/// An entry: days after the first of January 2024, and a number that is its own.
#[derive(Debug, Clone)]
struct Entry {
    day: i32,
    number: usize,
    filler: usize,
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
        item["filler"] = json!({"S": "x".repeat(self.filler)});
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
    // Mostly small rows; sometimes some that are so large that the service cuts its answers.
    let filler = prop_oneof![9 => Just(0), 1 => Just(350_000)];
    (
        (prop::collection::vec(day, 0..40), filler),
        0_i32..400,
        0_i32..700,
        any::<bool>(),
        1_usize..9,
        prop::collection::vec((0_usize..40, 0_i32..700), 0..4),
    )
        .prop_map(|((days, filler), from, span, ascending, limit, changes)| {
            let few = if filler > 0 { 9 } else { days.len() };
            let number = days.into_iter().take(few).enumerate();
            // Odd numbers, so that others come before and after them on the same day.
            let entry = |(number, day)| Entry { day, number: 2 * number + 1001, filler };
            let entries = number.map(entry).collect();
            Walk { entries, from: from % 60, days: span, ascending, limit, changes }
        })
}

fn asked(walk: &Walk) -> Event {
    let day = |day| Entry { day, number: 0, filler: 0 }.date();
    let event = get(PATH, "acme").with("bookId", "b-1");
    let event = event.with("from", day(walk.from)).with("to", day(walk.from + walk.days));
    let event = event.with("limit", walk.limit);
    if walk.ascending { event.with("order", "asc") } else { event }
}

/// Gives the most calls that a page took.
async fn walk_to_the_end(walk: &Walk) -> Result<usize, TestCaseError> {
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
    let (mut seen, mut changed, mut most_calls) = (Vec::new(), BTreeSet::new(), 0);
    let mut cursor = None::<String>;
    for _ in 0..100 {
        let mut event = asked(walk);
        if let Some(cursor) = &cursor {
            event = event.with("cursor", cursor);
        }
        let answer = send(&app, &event).await;
        prop_assert_eq!(answer.status, 200, "{}", answer.body);
        let calls = world.calls();
        most_calls = most_calls.max(calls.len());
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
            if let Some(entry) = walk.entries.get(*gone) {
                world.delete("CashEntry", entry.key("acme", "b-1"));
                changed.insert(entry.id());
            }
            let entry = Entry { day: *day, number: 2 * gone + 1000, filler: 0 };
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
    Ok(most_calls)
}

#[test]
#[allow(clippy::print_stdout, reason = "the figure is asked for")]
fn a_walk_gives_every_entry_once_in_order() {
    let most_calls = std::cell::Cell::new(0);
    runner(250, 5)
        .run(&walks(), |walk| {
            let calls = block_on(walk_to_the_end(&walk))?;
            most_calls.set(most_calls.get().max(calls));
            Ok(())
        })
        .unwrap();
    println!("most calls of a page: {} of {READ_BUDGET_CALLS}", most_calls.get());
}

#[tokio::test]
async fn a_hundred_large_entries_of_two_months_end_on_the_byte_budget() {
    let world = World::new();
    let entry =
        |number: usize| Entry { day: i32::try_from(number).unwrap() * 55 / 100, number, filler: 100_000 };
    world.put_all("CashEntry", (0..100).map(|number| entry(number).item("acme", "b-1")));
    let app = world.deployed(&cash::LIST);
    let event = get(PATH, "acme").with("bookId", "b-1").with("from", "2024-01-01").with("to", "2024-02-29");
    let event = event.with("limit", 100);
    let first = send(&app, &event).await;
    assert!(first.bytes <= kit::http::MAX_ANSWER_BYTES && first.status == 200, "{}", first.bytes);
    let rest = send(&app, &event.with("cursor", first.cursor().unwrap())).await;
    assert_eq!((first.ids().len() + rest.ids().len(), rest.cursor()), (100, None));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_within_a_walk_ends_the_page_with_what_was_read() {
    let world = World::new();
    let entries = [0, 40].map(|day| Entry { day, number: usize::try_from(day).unwrap(), filler: 0 });
    world.put_all("CashEntry", entries.iter().map(|entry| entry.item("acme", "b-1")));
    let throttle = json!({"__type": "ThrottlingException", "message": "slow down"});
    let faults = std::iter::once(Fault::Pass).chain((0..3).map(|_| Fault::Reply(400, throttle.clone())));
    world.script(faults);
    let app = world.deployed(&cash::LIST);
    let event = get(PATH, "acme").with("bookId", "b-1").with("from", "2024-01-01").with("to", "2024-02-29");
    let first = send(&app, &event).await;
    assert_eq!((first.status, first.ids()), (200, vec!["e-0040".to_owned()]));
    let rest = send(&app, &event.with("cursor", first.cursor().unwrap())).await;
    assert_eq!((rest.ids(), rest.cursor()), (vec!["e-0000".to_owned()], None));
}

#[tokio::test]
async fn a_month_is_one_partition_newest_first() {
    let world = World::new();
    let entries = [(0, 1), (0, 2), (30, 3), (31, 4)].map(|(day, number)| Entry { day, number, filler: 0 });
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
    let entries =
        [13, 14, 40, 70, 71].map(|day| Entry { day, number: usize::try_from(day).unwrap(), filler: 0 });
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
        let number = |number: i32| usize::try_from(number).unwrap();
        let entry = |at: i32| Entry { day: at % 1000, number: number(at), filler: 0 };
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
        (
            book(),
            "unsupported_question",
            "no key answers a request without parameters; this list answers month; from to",
        ),
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
            book().with("from", "2024-01-31").with("to", "2027-01-31"),
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
    let widest = book().with("from", "2024-01-31").with("to", "2027-01-30");
    let answer = send(&app, &widest).await;
    assert_eq!((answer.status, answer.cursor()), (200, None));
    assert_eq!(world.calls().len(), 37, "36 months that begin within one touch one more");
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
