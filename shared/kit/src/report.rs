//! Tells how far a new index is: what is in it, what is not and why, and whether the next stage is safe.
//!
//! Every item of the table is read and judged by the same rule by which writers and the load give it its
//! key. What the service itself holds in the index is counted beside that.

use std::collections::BTreeMap;
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

use crate::dynamo::{Db, Part, Scan, ScanFor, Session, pause};
use crate::error::Error;
use crate::item::{self, Item, MAX_ITEM_BYTES};
use crate::key::{KeyFault, Rollout, SCHEMA_VERSION};
use crate::load::{DEFAULT_SEGMENTS, SEGMENTS_AT_ONCE, asked_segments};
use crate::rollout::{Obstacle, Stage, Stages, THE_ITEM, Unindexable, Verdict, is_unwritable, judge};

/// How often a call is sent again.
const TRIES: u32 = 6;

/// What is kept of the time of an invocation for a part that is read already, and the answer.
const RESERVE: Duration = Duration::from_secs(5);

/// The longest that is waited before a call is sent again; the last of the tries comes before it.
const BACKOFF_CAP: Duration = Duration::from_secs(10);

/// Of how many items in the index one may be there or not there yet while others write: the index is a
/// little behind the table, and both are counted at different times. What is lost for good shows in the
/// items of the table, of which each is looked at.
const DRIFT: u64 = 1000;

/// What a report is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ReportRequest {
    /// The name of the rollout.
    pub index: String,
    /// In how many segments the table is read, 1 to [`crate::load::MAX_SEGMENTS`].
    #[serde(default)]
    pub segments: Option<i64>,
}

/// How far an index is.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Report {
    /// The name of the rollout.
    pub index: String,
    /// The table.
    pub table: String,
    /// The name of the index in the table.
    pub index_name: String,
    /// Whether there is such a table.
    pub table_exists: bool,
    /// The index's status as DynamoDB names it; none where it does not exist.
    pub status: Option<String>,
    /// The stage that is deployed, as the function was told.
    pub stage: String,
    /// In how many segments the table was read.
    pub segments: u32,
    /// Whether all of it was read.
    pub done: bool,
    /// Items of the table.
    pub items: u64,
    /// Items that should be in the index.
    pub eligible: u64,
    /// Items of those that have their right key.
    pub indexed: u64,
    /// Items that are not, or under another key: a load makes them right.
    pub to_load: u64,
    /// Items that have a key and should have none: a load takes it away.
    pub to_remove: u64,
    /// Entries of the index, counted in it; none where it cannot be read.
    pub entries: Option<u64>,
    /// Items that have a value for an attribute of the index's key which DynamoDB takes in no write once the
    /// index exists.
    pub unwritable: u64,
    /// Items that cannot be in the index.
    pub unindexable: Unindexable,
    /// How many items there are of each schema version; `none` is one as well.
    pub schema_versions: BTreeMap<String, u64>,
    /// Read request units that the report took.
    pub read_units: f64,
    /// Whether lists may read the index: it is active and holds all that screens show.
    pub verified: bool,
    /// The stage that comes after the deployed one.
    pub next: Option<Next>,
}

/// Whether the next stage is safe.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Next {
    /// The stage.
    pub stage: String,
    /// Whether it may be deployed.
    pub safe: bool,
    /// Why, or why not.
    pub reasons: Vec<String>,
}

/// What was seen in the table.
#[derive(Debug, Default)]
struct Seen {
    items: u64,
    right: u64,
    wrong: u64,
    to_remove: u64,
    unwritable: u64,
    unindexable: Unindexable,
    versions: BTreeMap<String, u64>,
    read_units: f64,
}

impl Seen {
    fn look_at(&mut self, rollout: &Rollout, item: &Item) {
        self.items += 1;
        let version = match item.get(SCHEMA_VERSION) {
            None => "none".to_owned(),
            Some(AttributeValue::N(digits)) => digits.clone(),
            Some(_) => "not a number".to_owned(),
        };
        *self.versions.entry(version).or_default() += 1;
        self.unwritable += u64::from(is_unwritable(rollout, item));
        match judge(rollout, item) {
            Verdict::Right => self.right += 1,
            // The service would refuse the update.
            Verdict::Wrong(fix) if item::size(item) + fix.bytes() > MAX_ITEM_BYTES => {
                let fault = KeyFault::TooLong(MAX_ITEM_BYTES);
                self.unindexable.add(rollout, item, Obstacle { attribute: THE_ITEM, fault }, true);
            }
            Verdict::Wrong(_) => self.wrong += 1,
            Verdict::Impossible { obstacle, found, fix } => {
                self.to_remove += u64::from(fix.is_some());
                self.unindexable.add(rollout, item, obstacle, found);
            }
        }
    }

    fn merge(&mut self, other: Self) {
        self.items += other.items;
        self.right += other.right;
        self.wrong += other.wrong;
        self.to_remove += other.to_remove;
        self.unwritable += other.unwritable;
        self.unindexable.merge(other.unindexable);
        for (version, count) in other.versions {
            *self.versions.entry(version).or_default() += count;
        }
        self.read_units += other.read_units;
    }
}

/// Reports on the index of a rollout, until `deadline` at the latest. `on_page` hears of the items of every
/// page that is read.
///
/// # Errors
///
/// 400 for a number of segments that cannot be; those of the calls.
pub async fn run(
    rollout: &Rollout,
    request: &ReportRequest,
    stages: &Stages,
    db: &Db,
    deadline: Instant,
    on_page: &(dyn Fn(u64) + Sync),
) -> Result<Report, Error> {
    let segments = asked_segments(request.segments)?.unwrap_or(DEFAULT_SEGMENTS);
    let stage = stages.of(rollout);
    let deadline = deadline.checked_sub(RESERVE).unwrap_or(deadline);
    let described = Session::new(db, deadline).describe(&rollout.table).await?;
    let table_exists = described.is_some();
    let indexes = described.unwrap_or_default().indexes;
    let status =
        indexes.iter().find(|(name, _)| name == rollout.index.name).map(|(_, status)| status.clone());
    let active = status.as_deref() == Some("ACTIVE");

    let (mut seen, mut done) = (Seen::default(), true);
    if table_exists {
        let read = |segment| read_segment(rollout, (segment, segments), db, deadline, on_page);
        let mut ended = stream::iter(0..segments).map(read).buffer_unordered(SEGMENTS_AT_ONCE as usize);
        while let Some(outcome) = ended.next().await {
            let (part, complete) = outcome?;
            seen.merge(part);
            done &= complete;
        }
    }
    let entries =
        if active && done { count_entries(rollout, segments, db, deadline, &mut seen).await? } else { None };

    let mut report = Report {
        index: rollout.name.to_owned(),
        table: rollout.table.name.to_owned(),
        index_name: rollout.index.name.to_owned(),
        table_exists,
        status,
        stage: stage.as_str().to_owned(),
        segments,
        done,
        items: seen.items,
        eligible: seen.right + seen.wrong,
        indexed: seen.right,
        to_load: seen.wrong,
        to_remove: seen.to_remove,
        entries,
        unwritable: seen.unwritable,
        unindexable: seen.unindexable,
        schema_versions: seen.versions,
        read_units: seen.read_units,
        verified: false,
        next: None,
    };
    let in_the_way = against_reading(&report);
    report.verified = in_the_way.is_empty();
    report.next = stage.next().map(|next| {
        let reasons = match next {
            Stage::None | Stage::Create => against_making(&report, &indexes),
            Stage::Write | Stage::Backfill => against_using(&report),
            Stage::Read => in_the_way.clone(),
        };
        let safe = reasons.is_empty();
        let reasons = if safe { vec![in_favour(next, &report)] } else { reasons };
        Next { stage: next.as_str().to_owned(), safe, reasons }
    });
    Ok(report)
}

/// Why the index should not be made.
fn against_making(report: &Report, indexes: &[(String, String)]) -> Vec<String> {
    let busy = indexes.iter().filter(|(_, status)| status != "ACTIVE");
    let mut reasons: Vec<String> = busy
        .map(|(name, status)| format!("{name} of the same table is {status}: one index at a time"))
        .collect();
    if report.unwritable > 0 {
        reasons.push(format!(
            "{} items have a value in the index's key that DynamoDB takes in no write once the index exists: mend \
             them, and whatever writes them",
            report.unwritable
        ));
    }
    if !report.done {
        reasons.push(TOO_LONG.to_owned());
    }
    reasons
}

/// What is said where the time did not suffice.
const TOO_LONG: &str = "the table was not read to its end in the time there was: report from a machine, with \
                        `make rollout`, which takes as long as it needs";

/// Why the index cannot be used at all.
fn against_using(report: &Report) -> Vec<String> {
    match report.status.as_deref() {
        _ if !report.table_exists => vec![format!("the table {} does not exist", report.table)],
        Some("ACTIVE") => Vec::new(),
        Some(status) => vec![format!("{} is {status}, not ACTIVE", report.index_name)],
        None => vec![format!("{} does not exist", report.index_name)],
    }
}

/// Why lists may not read the index.
fn against_reading(report: &Report) -> Vec<String> {
    let mut reasons = against_using(report);
    let mut against = |holds: bool, reason: String| {
        if holds {
            reasons.push(reason);
        }
    };
    against(!report.done, TOO_LONG.to_owned());
    against(report.to_load > 0, format!("{} items are not in the index: run the load", report.to_load));
    against(
        report.to_remove > 0,
        format!("{} items are in the index that should not be: run the load", report.to_remove),
    );
    let vanish = report.unindexable.would_vanish;
    against(
        vanish > 0,
        format!("{vanish} items that screens show cannot be in the index: mend or delete them"),
    );
    let uncounted = report.done && report.entries.is_none() && report.status.as_deref() == Some("ACTIVE");
    against(
        uncounted,
        "the entries of the index were not counted in the time there was: report again".to_owned(),
    );
    if let Some(entries) = report.entries {
        let drift = entries.abs_diff(report.indexed);
        against(
            drift > report.indexed / DRIFT,
            format!(
                "the index holds {entries} entries for {} items: it is behind, or they were written meanwhile; report again",
                report.indexed
            ),
        );
    }
    reasons
}

fn in_favour(next: Stage, report: &Report) -> String {
    match next {
        Stage::None | Stage::Create => "no other index of the table is being made".to_owned(),
        Stage::Write => format!("{} is ACTIVE", report.index_name),
        Stage::Backfill => {
            format!(
                "{} is ACTIVE; see that every function that writes the table is deployed",
                report.index_name
            )
        }
        Stage::Read => format!("all {} items that screens show are in the index", report.indexed),
    }
}

/// Reads a segment of the table. Gives also whether it was read to its end.
async fn read_segment(
    rollout: &Rollout,
    segment: (u32, u32),
    db: &Db,
    deadline: Instant,
    on_page: &(dyn Fn(u64) + Sync),
) -> Result<(Seen, bool), Error> {
    // Whole items: their size decides, too.
    let read = ScanFor::Items;
    let scan = Scan { table: &rollout.table, index: None, segment, read, limit: None, consistent: true };
    let (mut seen, mut start) = (Seen::default(), None);
    while Instant::now() < deadline {
        let part = scan_page(&scan, start, db, deadline, &mut seen.read_units).await?;
        on_page(part.items.len() as u64);
        for item in &part.items {
            seen.look_at(rollout, item);
        }
        start = part.next;
        if start.is_none() {
            return Ok((seen, true));
        }
    }
    Ok((seen, false))
}

/// How many entries the index has; none where the time does not suffice.
async fn count_entries(
    rollout: &Rollout,
    segments: u32,
    db: &Db,
    deadline: Instant,
    seen: &mut Seen,
) -> Result<Option<u64>, Error> {
    let read = |segment| async move {
        let scan = Scan {
            table: &rollout.table,
            index: Some(rollout.index.name),
            segment: (segment, segments),
            read: ScanFor::Count,
            limit: None,
            consistent: false,
        };
        let (mut count, mut read_units, mut start) = (0, 0.0, None);
        while Instant::now() < deadline {
            let part = scan_page(&scan, start, db, deadline, &mut read_units).await?;
            count += part.count;
            start = part.next;
            if start.is_none() {
                return Ok((Some(count), read_units));
            }
        }
        Ok::<(Option<u64>, f64), Error>((None, read_units))
    };
    let mut ended = stream::iter(0..segments).map(read).buffer_unordered(SEGMENTS_AT_ONCE as usize);
    let mut entries = Some(0);
    while let Some(outcome) = ended.next().await {
        let (count, read_units) = outcome?;
        seen.read_units += read_units;
        entries = entries.zip(count).map(|(so_far, more)| so_far + more);
    }
    Ok(entries)
}

/// One part of a scan, sent again a few times where it fails.
async fn scan_page(
    scan: &Scan<'_>,
    start: Option<Item>,
    db: &Db,
    deadline: Instant,
    read_units: &mut f64,
) -> Result<Part<Item>, Error> {
    let mut tries = 0;
    loop {
        let mut session = Session::new(db, deadline);
        match session.scan(scan, start.clone()).await {
            Ok(part) => {
                *read_units += session.meter().read_units;
                return Ok(part);
            }
            Err(error) if tries >= TRIES || Instant::now() >= deadline => return Err(error),
            Err(error) => {
                session.get_over(&error);
                tries += 1;
                pause(tries + 1, BACKOFF_CAP).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report() -> Report {
        Report {
            index: "x-by-y".to_owned(),
            table: "X".to_owned(),
            index_name: "y-index".to_owned(),
            table_exists: true,
            status: Some("ACTIVE".to_owned()),
            stage: "backfill".to_owned(),
            segments: 1,
            done: true,
            items: 5000,
            eligible: 5000,
            indexed: 5000,
            to_load: 0,
            to_remove: 0,
            entries: Some(5000),
            unwritable: 0,
            unindexable: Unindexable::default(),
            schema_versions: BTreeMap::new(),
            read_units: 0.0,
            verified: false,
            next: None,
        }
    }

    #[test]
    fn lists_may_read_what_nothing_stands_against() {
        assert_eq!(against_reading(&report()), Vec::<String>::new());
        // Others write while both are counted.
        assert!(against_reading(&Report { entries: Some(5004), ..report() }).is_empty());
        let harmless = Unindexable { count: 3, ..Unindexable::default() };
        assert!(against_reading(&Report { unindexable: harmless, ..report() }).is_empty());
    }

    #[test]
    fn whatever_stands_against_reading_is_named() {
        let vanishing = Unindexable { count: 1, would_vanish: 1, ..Unindexable::default() };
        for (wrong, named) in [
            (Report { table_exists: false, entries: None, status: None, ..report() }, "X does not exist"),
            (Report { status: None, entries: None, ..report() }, "y-index does not exist"),
            (
                Report { status: Some("CREATING".to_owned()), entries: None, ..report() },
                "y-index is CREATING",
            ),
            (Report { done: false, entries: None, ..report() }, "not read to its end"),
            (Report { entries: None, ..report() }, "were not counted"),
            (Report { entries: Some(4994), ..report() }, "holds 4994 entries for 5000 items"),
            (Report { entries: Some(5006), ..report() }, "holds 5006 entries for 5000 items"),
            (Report { entries: Some(9), indexed: 10, ..report() }, "holds 9 entries for 10 items"),
            (Report { to_load: 1, ..report() }, "1 items are not in the index"),
            (Report { to_remove: 1, ..report() }, "1 items are in the index that should not be"),
            (Report { unindexable: vanishing, ..report() }, "1 items that screens show cannot be"),
        ] {
            let reasons = against_reading(&wrong);
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].contains(named), "{reasons:?}");
        }
    }

    #[test]
    fn an_index_is_not_made_that_would_stop_writers() {
        let indexes = [("z-index".to_owned(), "ACTIVE".to_owned())];
        assert!(against_making(&report(), &indexes).is_empty());
        let stopped = against_making(&Report { unwritable: 2, ..report() }, &indexes);
        assert!(stopped[0].starts_with("2 items have a value in the index's key"), "{stopped:?}");
        let busy = [("z-index".to_owned(), "CREATING".to_owned())];
        assert_eq!(
            against_making(&report(), &busy),
            ["z-index of the same table is CREATING: one index at a time"]
        );
    }
}
