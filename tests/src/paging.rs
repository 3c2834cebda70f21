//! Pages against a plain model in memory: whatever the rows, the sizes, the ties, the cuts and the
//! deletes, nothing is lost and nothing comes twice.

use std::collections::BTreeSet;

use kit::dynamo::READ_BUDGET_CALLS;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Value, json};

use crate::declared::{VISIT, VISIT_COLLECTIONS, VISIT_PAGES, VISITS};
use crate::event::{Event, get};
use crate::world::{Answer, Fault, World, send};

/// A row: its day and whether the filter keeps it. Few days make many ties.
#[derive(Debug, Clone)]
struct Visit {
    id: usize,
    day: u8,
    kept: bool,
    filler: usize,
}

impl Visit {
    fn id(&self) -> String {
        format!("v-{:04}", self.id)
    }

    fn day(&self) -> String {
        format!("2026-03-{:02}", self.day)
    }

    fn item(&self, tenant: &str) -> Value {
        let kind = if self.kept { "call" } else { "walk" };
        json!({
            "tenant": {"S": tenant},
            "id": {"S": self.id()},
            "day": {"S": self.day()},
            "roomLookupKey": {"S": format!("{tenant}#r1")},
            "detail": {"M": {"kind": {"S": kind}}},
            "filler": {"S": "x".repeat(self.filler)},
            "mark": {"N": "1"},
        })
    }
}

/// A walk over the pages of a list.
#[derive(Debug, Clone)]
struct Walk {
    visits: Vec<Visit>,
    question: usize,
    limit: usize,
    descending: bool,
    from: Option<u8>,
    to: Option<u8>,
    /// After each page, the row with this number goes, if there is one.
    deletes: Vec<usize>,
}

fn visits(most: usize, filler: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Visit>> {
    prop::collection::vec((1_u8..6, any::<bool>(), filler), 0..most).prop_map(|rows| {
        let number = rows.into_iter().enumerate();
        number.map(|(id, (day, kept, filler))| Visit { id, day, kept, filler }).collect()
    })
}

fn walks() -> impl Strategy<Value = Walk> {
    // Mostly small rows; sometimes a few that are so large that the service cuts its answers.
    let rows = prop_oneof![9 => visits(45, 0..20), 1 => visits(12, 250_000..380_000)];
    (
        rows,
        0_usize..3,
        1_usize..12,
        any::<bool>(),
        prop::option::of(1_u8..6),
        prop::option::of(1_u8..6),
        prop::collection::vec(0_usize..45, 0..6),
    )
        .prop_map(|(visits, question, limit, descending, from, to, deletes)| Walk {
            visits,
            question,
            limit,
            descending,
            from,
            to: to.map(|to| to.max(from.unwrap_or(1))),
            deletes,
        })
}

impl Walk {
    fn event(&self, path: &str) -> Event {
        let event = get(path, "acme");
        let event = match self.question {
            0 => event,
            1 => event.with("roomId", "r1"),
            _ => return event.with("kind", "call"),
        };
        let days = [("from", self.from), ("to", self.to)];
        days.into_iter().fold(event, |event, (name, day)| match day {
            Some(day) => event.with(name, format!("2026-03-{day:02}")),
            None => event,
        })
    }

    /// The rows that the question is about, in no order.
    fn expected(&self) -> Vec<&Visit> {
        let in_period = |visit: &&Visit| {
            self.from.is_none_or(|from| visit.day >= from) && self.to.is_none_or(|to| visit.day <= to)
        };
        self.visits
            .iter()
            .filter(|visit| if self.question == 2 { visit.kept } else { in_period(visit) })
            .collect()
    }

    fn world(&self) -> World {
        let world = World::with_tables(&[VISIT]);
        world.put_all("Visit", self.visits.iter().map(|visit| visit.item("acme")));
        // Another tenant has the same rows and more.
        world.put_all("Visit", self.visits.iter().map(|visit| visit.item("beta")));
        world
    }
}

/// Draws the same cases every time, others for another seed.
pub fn runner(cases: u32, seed: u8) -> TestRunner {
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new_with_rng(config, TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]))
}

/// Runs a future whose pauses take no time.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap()
        .block_on(future)
}

/// The rows of all pages, and the most calls that a page took.
async fn by_cursor(walk: &Walk, world: &World) -> (Vec<String>, usize) {
    let app = world.declared(&VISITS);
    let (mut seen, mut most_calls, mut cursor) = (Vec::new(), 0, None::<String>);
    let mut deletes = walk.deletes.iter();
    let mut unseen: BTreeSet<String> = walk.expected().iter().map(|visit| visit.id()).collect();
    for _ in 0..200 {
        let mut event = walk.event("/visits").with("limit", walk.limit);
        if walk.descending {
            event = event.with("order", "desc");
        }
        if let Some(cursor) = &cursor {
            event = event.with("cursor", cursor);
        }
        let answer = send(&app, &event).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(answer.bytes <= kit::http::MAX_ANSWER_BYTES);
        let ids = answer.ids();
        assert!(ids.len() <= walk.limit);
        assert!(!answer.body.contains("mark"), "what a rollout adds is not listed");
        most_calls = most_calls.max(world.calls().len());
        cursor = answer.cursor();
        for id in &ids {
            unseen.remove(id);
        }
        assert_eq!(cursor.is_none(), unseen.is_empty(), "a cursor is there exactly while rows are left");
        seen.extend(ids);
        if cursor.is_none() {
            return (seen, most_calls);
        }
        if let Some(id) = deletes.next() {
            world.delete("Visit", json!({"tenant": {"S": "acme"}, "id": {"S": format!("v-{id:04}")}}));
            unseen.remove(&format!("v-{id:04}"));
            if unseen.is_empty() {
                // What was left went after its cursor was given: one empty page more.
                return (seen, most_calls);
            }
        }
    }
    panic!("the walk does not end");
}

/// In two halves, which run at the same time.
#[test]
fn pages_by_cursor_give_every_row_once_in_order() {
    give_every_row_once_in_order(1);
}

#[test]
fn more_pages_by_cursor_give_every_row_once_in_order() {
    give_every_row_once_in_order(2);
}

fn give_every_row_once_in_order(seed: u8) {
    let most_calls = std::cell::Cell::new(0);
    runner(260, seed)
        .run(&walks(), |walk| {
            let world = walk.world();
            let (seen, calls) = block_on(by_cursor(&walk, &world));
            most_calls.set(most_calls.get().max(calls));
            let unique: BTreeSet<&String> = seen.iter().collect();
            prop_assert_eq!(unique.len(), seen.len(), "nothing comes twice");
            // A deleted row may have been seen before it went; every other row is seen.
            let expected: BTreeSet<String> = walk.expected().iter().map(|visit| visit.id()).collect();
            let deleted: BTreeSet<String> = walk.deletes.iter().map(|id| format!("v-{id:04}")).collect();
            for id in &expected {
                prop_assert!(unique.contains(id) || deleted.contains(id), "{} is lost", id);
            }
            for id in &unique {
                prop_assert!(expected.contains(*id), "{} is not asked for", id);
            }
            let day = |id: &String| walk.visits.iter().find(|visit| &visit.id() == id).map(|visit| visit.day);
            let days: Vec<_> = seen.iter().map(day).collect();
            let ordered = if walk.descending { days.is_sorted_by(|a, b| a >= b) } else { days.is_sorted() };
            prop_assert!(ordered, "{:?}", days);
            Ok(())
        })
        .unwrap();
    assert!(most_calls.get() <= READ_BUDGET_CALLS, "{} calls for one page", most_calls.get());
}

#[test]
fn pages_by_number_give_every_row_once_and_the_exact_total() {
    runner(150, 3)
        .run(&walks(), |walk| {
            let world = walk.world();
            let app = world.declared(&VISIT_PAGES);
            let expected: BTreeSet<String> = walk.expected().iter().map(|visit| visit.id()).collect();
            let mut seen = Vec::new();
            for page in 1..=expected.len() / walk.limit + 2 {
                let event = walk.event("/visit-pages").with("limit", walk.limit).with("page", page);
                let answer = block_on(send(&app, &event));
                prop_assert_eq!(answer.status, 200, "{}", answer.body);
                prop_assert_eq!(answer.total(), expected.len() as u64);
                let ids = answer.ids();
                let full = expected.len() >= page * walk.limit;
                prop_assert!(!full || ids.len() == walk.limit, "a page is full but the last");
                seen.extend(ids);
            }
            prop_assert_eq!(seen.len(), expected.len());
            prop_assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), expected);
            Ok(())
        })
        .unwrap();
}

#[test]
fn a_collection_is_whole() {
    runner(60, 4)
        .run(&walks(), |walk| {
            let walk = Walk { question: 1, ..walk };
            let world = walk.world();
            let app = world.declared(&VISIT_COLLECTIONS);
            let answer = block_on(send(&app, &walk.event("/visit-collections")));
            prop_assert_eq!(answer.status, 200, "{}", answer.body);
            let expected: BTreeSet<String> = walk.expected().iter().map(|visit| visit.id()).collect();
            prop_assert_eq!(answer.ids().into_iter().collect::<BTreeSet<_>>(), expected);
            Ok(())
        })
        .unwrap();
}

fn row(id: usize, filler: usize) -> Visit {
    Visit { id, day: 1, kept: id.is_multiple_of(3), filler }
}

async fn page(world: &World, event: Event) -> Answer {
    let answer = send(&world.declared(&VISITS), &event).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

#[tokio::test]
async fn every_third_of_300_rows_comes_in_full_pages() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..300).map(|id| row(id, 0).item("acme")));
    let (mut pages, mut cursor) = (Vec::new(), None::<String>);
    loop {
        let mut event = get("/visits", "acme").with("kind", "call").with("limit", 10);
        if let Some(cursor) = cursor {
            event = event.with("cursor", cursor);
        }
        let answer = page(&world, event).await;
        pages.push(answer.ids());
        cursor = answer.cursor();
        if cursor.is_none() {
            break;
        }
    }
    assert!(pages.iter().all(|page| page.len() == 10), "{pages:?}");
    let seen: BTreeSet<String> = pages.concat().into_iter().collect();
    let expected: BTreeSet<String> = (0..300).step_by(3).map(|id| format!("v-{id:04}")).collect();
    assert_eq!((seen, pages.len()), (expected, 10));
}

#[tokio::test]
async fn the_last_of_500_rows_is_found_if_only_it_matches() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..500).map(|id| Visit { kept: id == 499, ..row(id, 0) }.item("acme")));
    let answer = page(&world, get("/visits", "acme").with("kind", "call")).await;
    assert_eq!((answer.ids(), answer.cursor()), (vec!["v-0499".to_owned()], None));
    assert!(world.calls().len() <= 3);
}

fn part(ids: &[&str], next: Option<&str>) -> Fault {
    let key = |id: &str| json!({"tenant": {"S": "acme"}, "id": {"S": id}, "day": {"S": "2026-03-01"}});
    let mut reply = json!({
        "Items": ids.iter().map(|id| key(id)).collect::<Vec<_>>(),
        "Count": ids.len(), "ScannedCount": ids.len(),
    });
    if let Some(next) = next {
        reply["LastEvaluatedKey"] = key(next);
    }
    Fault::Reply(200, reply)
}

#[tokio::test]
async fn an_empty_part_with_a_continuation_is_not_the_end() {
    let world = World::with_tables(&[VISIT]);
    world.script([part(&[], Some("a")), part(&["b", "c"], Some("c")), part(&["d"], None)]);
    let answer = page(&world, get("/visits", "acme")).await;
    assert_eq!((answer.ids(), answer.cursor()), (vec!["b".to_owned(), "c".to_owned(), "d".to_owned()], None));
    let calls = world.calls();
    assert_eq!(calls.len(), 3);
    assert_eq!(calls[1].body["ExclusiveStartKey"]["id"]["S"], "a");
    assert_eq!(calls[2].body["ExclusiveStartKey"]["id"]["S"], "c");
}

#[tokio::test(start_paused = true)]
async fn a_used_up_read_budget_ends_a_page_with_a_cursor() {
    let world = World::with_tables(&[VISIT]);
    world.script((0..200).map(|at| part(&[], Some(&format!("k-{at:03}")))));
    let app = world.declared(&VISITS);
    let answer = send(&app, &get("/visits", "acme")).await;
    assert_eq!((answer.status, answer.ids().len()), (200, 0));
    assert_eq!(world.calls().len(), READ_BUDGET_CALLS);
    // The next page goes on where this one ended.
    send(&app, &get("/visits", "acme").with("cursor", answer.cursor().unwrap())).await;
    assert_eq!(
        world.calls()[0].body["ExclusiveStartKey"]["id"]["S"],
        format!("k-{:03}", READ_BUDGET_CALLS - 1)
    );
}

#[tokio::test]
async fn a_page_ends_with_a_cursor_before_its_time_is_over() {
    let world = World::with_tables(&[VISIT]);
    world.script((0..100).map(|at| part(&[], Some(&format!("k-{at:03}")))));
    let app = world.declared(&VISITS);
    let event = get("/visits", "acme").http().to_string();
    // With less than the reserve left after the first call, no second one is made.
    let answer = crate::world::send_within(&app, &event, std::time::Duration::from_millis(1700)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert!(answer.cursor().is_some());
    assert_eq!(world.calls().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_or_is_throttled_leaves_the_rows_that_came_before() {
    let throttle = Fault::Reply(400, json!({"__type": "ThrottlingException", "message": "m"}));
    for (faults, throttled) in [(vec![Fault::Hang; 9], 0), (vec![throttle; 3], 1)] {
        let world = World::with_tables(&[VISIT]);
        world.script([part(&["a", "b"], Some("b"))].into_iter().chain(faults));
        let app = world.declared(&VISITS);
        let event = get("/visits", "acme").http().to_string();
        let answer = crate::world::send_within(&app, &event, std::time::Duration::from_secs(8)).await;
        assert_eq!((answer.status, answer.ids().len()), (200, 2), "{}", answer.body);
        let counted = ["Throttled", "Faults", "ServerErrors"].map(|name| answer.log[name].as_u64());
        assert_eq!(counted, [Some(throttled), Some(0), Some(0)]);
        world.dynamo.clear_script();
        world.calls();
        send(&app, &get("/visits", "acme").with("cursor", answer.cursor().unwrap())).await;
        assert_eq!(world.calls()[0].body["ExclusiveStartKey"]["id"]["S"], "b");
    }
}

#[tokio::test]
async fn the_row_that_a_cursor_names_may_go() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..9).map(|id| row(id, 0).item("acme")));
    let first = page(&world, get("/visits", "acme").with("limit", 3)).await;
    for id in &first.ids() {
        world.delete("Visit", json!({"tenant": {"S": "acme"}, "id": {"S": id}}));
    }
    let event = get("/visits", "acme").with("limit", 100).with("cursor", first.cursor().unwrap());
    let rest = page(&world, event).await;
    assert_eq!((rest.ids().len(), rest.cursor()), (6, None));
}

#[tokio::test]
async fn page_two_on_an_index_starts_with_the_keys_of_index_and_table() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..5).map(|id| row(id, 0).item("acme")));
    let event = get("/visits", "acme").with("roomId", "r1").with("limit", 2);
    let first = page(&world, event.clone()).await;
    world.calls();
    let second = page(&world, event.with("cursor", first.cursor().unwrap())).await;
    assert_eq!(second.ids().len(), 2);
    let start = world.calls()[0].body["ExclusiveStartKey"].clone();
    let last = first.ids()[1].clone();
    assert_eq!(
        start,
        json!({"tenant": {"S": "acme"}, "id": {"S": last}, "roomLookupKey": {"S": "acme#r1"}, "day": {"S": "2026-03-01"}})
    );
}

#[tokio::test]
async fn a_hundred_rows_of_100_kb_end_on_the_byte_budget_with_a_cursor() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..100).map(|id| row(id, 100_000).item("acme")));
    let app = world.declared(&VISITS);
    let (mut seen, mut cursor, mut pages) = (BTreeSet::new(), None::<String>, 0);
    loop {
        let mut event = get("/visits", "acme").with("limit", 100);
        if let Some(cursor) = &cursor {
            event = event.with("cursor", cursor);
        }
        let answer = send(&app, &event).await;
        assert_eq!(answer.status, 200, "{}", answer.body.len());
        assert!(answer.bytes <= kit::http::MAX_ANSWER_BYTES);
        let before = seen.len();
        seen.extend(answer.ids());
        assert!(seen.len() > before);
        (cursor, pages) = (answer.cursor(), pages + 1);
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((seen.len(), pages), (100, 2));
}

#[tokio::test]
async fn a_collection_of_12_mb_is_whole_as_gzip_and_refused_without() {
    let world = World::with_tables(&[VISIT]);
    world.put_all("Visit", (0..120).map(|id| row(id, 100_000).item("acme")));
    let app = world.declared(&VISIT_COLLECTIONS);
    let event = get("/visit-collections", "acme").with("roomId", "r1");
    let refused = send(&app, &event).await;
    assert_eq!((refused.status, refused.code().as_str()), (413, "answer_too_large"));
    assert!(
        refused.message().contains("from, to") && refused.message().contains("gzip"),
        "{}",
        refused.message()
    );
    let read = world.calls().len();
    let answer = send(&app, &event.header("accept-encoding", "gzip")).await;
    assert_eq!(answer.status, 200);
    assert!(answer.bytes <= kit::http::MAX_ANSWER_BYTES);
    assert!(read < world.calls().len(), "what is refused is not read to the end");
    let body = unzip(&answer);
    assert_eq!(body["items"].as_array().map(Vec::len), Some(120));
}

fn unzip(answer: &Answer) -> Value {
    use std::io::Read as _;

    use base64::Engine as _;
    assert_eq!(answer.headers.get("content-encoding").map(String::as_str), Some("gzip"));
    let bytes = base64::engine::general_purpose::STANDARD.decode(&answer.body).unwrap();
    let mut text = String::new();
    flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
    serde_json::from_str(&text).unwrap()
}
