//! The parts of a request that are the kit's own, each by itself: `cargo bench --package measure --bench hot`.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "what is measured here is known to work, or else there is nothing to measure"
)]

use divan::{Bencher, black_box};
use jiff::tz::TimeZone;
use kit::config::{self, Endpoint};
use kit::cursor::CursorKeys;
use kit::dynamo::Db;
use kit::item;
use kit::plan::{Plan, Start, plan};
use kit::request::Request;
use kit::rollout::Stages;
use kit::row::{Answered, Rows};
use kit::trust::Trust;
use measure::asking::{ENTITY, TENANT};

const EVENT: &str = include_str!("../../../events/ledger/http-by-unit-and-date.json");

fn main() {
    divan::main();
}

fn parameters() -> Vec<(String, String)> {
    let pairs = [("unitId", ENTITY), ("from", "2026-01-01"), ("to", "2026-06-30")];
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

fn planned() -> Vec<Plan> {
    let parameters = parameters();
    plan(&ledger::LIST, TENANT, &parameters, None, &TimeZone::UTC, &Stages::default()).unwrap()
}

/// Where a page of the ledger ended.
fn place() -> Start {
    let partition = format!("{TENANT}#{ENTITY}");
    let key = item::texts([
        ("tenant", TENANT),
        ("id", "00000001-0000"),
        ("unitLookupKey", &partition),
        ("entryDate", "2026-03-04"),
    ]);
    Start { query: 0, key: Some(key) }
}

fn keys() -> CursorKeys {
    CursorKeys::new(local::watch::CURSOR_KEY, None).unwrap()
}

#[divan::bench]
fn reading_an_event(bencher: Bencher) {
    bencher.bench(|| {
        let request = Request::read(black_box(EVENT)).unwrap();
        (request.tenant("custom:tenant").unwrap(), request.query().unwrap())
    });
}

#[divan::bench]
fn planning(bencher: Bencher) {
    let parameters = parameters();
    bencher.bench(|| {
        plan(&ledger::LIST, TENANT, black_box(&parameters), None, &TimeZone::UTC, &Stages::default())
    });
}

#[divan::bench]
fn sealing_a_cursor(bencher: Bencher) {
    let (keys, plans, place) = (keys(), planned(), place());
    bencher.bench(|| keys.seal(&plans, black_box(&place)));
}

#[divan::bench]
fn opening_a_cursor(bencher: Bencher) {
    let (keys, plans) = (keys(), planned());
    let cursor = keys.seal(&plans, &place()).unwrap();
    bencher.bench(|| keys.open(&plans, black_box(&cursor)));
}

/// An answer of so many rows, as the service sends it.
fn answer(count: usize) -> String {
    let row = include_str!("row.json");
    format!(r#"{{"Count":{count},"ScannedCount":{count},"Items":[{}]}}"#, vec![row; count].join(","))
}

#[divan::bench(args = [20, 100])]
fn reading_rows(bencher: Bencher, count: usize) {
    let answer = answer(count);
    bencher.bench(|| Answered::read(black_box(&answer)));
}

#[divan::bench(args = [20, 100])]
fn writing_rows(bencher: Bencher, count: usize) {
    let answer = answer(count);
    let answered = Answered::read(&answer).unwrap();
    bencher.bench(|| {
        let mut rows = Rows::new(usize::MAX, &[]);
        for row in black_box(&answered.rows) {
            rows.push(row).unwrap();
        }
        rows.into_body("")
    });
}

/// What a start has of it: a client that trusts nobody, Amazon's roots, or what this machine trusts. Once only, since
/// the SDK keeps what it has read of the machine.
#[divan::bench(args = [Trust::Plain, Trust::Amazon, Trust::Machine], sample_count = 1, sample_size = 1)]
fn making_the_client(bencher: Bencher, trust: Trust) {
    let variable = |name: &str| name.starts_with("AWS_").then(|| "sa-east-1".to_owned());
    let endpoint = || Endpoint { url: None, trust, ..config::endpoint(variable).unwrap() };
    bencher.with_inputs(endpoint).bench_values(|endpoint| Db::connect(endpoint, "").unwrap());
}
