//! Gives the items that are stored already the key of a new index.
//!
//! The table is read in segments. Each item that needs it is changed by one conditional update, which
//! writes the key and nothing else: the item must still be stored, and what the key is derived from must
//! be as it was read. Nothing is put back whole, so no write of anybody else is undone and no deleted item
//! comes back. An item that is right is not written, so the load may be run again at any time, and a second
//! run writes nothing.
//!
//! How far each segment is stands in a table of its own, written after the items of a page, and only if
//! nobody else has moved on meanwhile. A run that is killed is resumed from there; two runners of one load
//! do the same work twice at worst.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::types::AttributeValue;
use futures_util::{StreamExt, stream};
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep_until};

use crate::dates;
use crate::dynamo::{Db, Returning, Scan, ScanFor, Session, pause};
use crate::error::{Code, Error, chain};
use crate::expression::Check;
use crate::item::{Item, MAX_ITEM_BYTES, key_of, texts};
use crate::key::{KeyFault, Rollout, Table};
use crate::rollout::{Fix, Obstacle, Stage, Stages, THE_ITEM, Unindexable, Verdict, judge, looked_at};

/// The segments of a load that is not told how many.
pub const DEFAULT_SEGMENTS: u32 = 8;

/// The most segments.
///
/// Source: Amazon DynamoDB API reference, `Scan`, `TotalSegments`.
pub const MAX_SEGMENTS: u32 = 1_000_000;

/// The write units a second of a load that is not told how many, all segments together: a fortieth of what
/// a new table on demand takes.
///
/// Source: Amazon DynamoDB developer guide, "On-demand capacity mode": 4,000 write units a second.
pub const DEFAULT_WRITE_UNITS: f64 = 100.0;

/// The most write units a second, those of a table's default quota.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: throughput default quotas".
pub const MAX_WRITE_UNITS: f64 = 40_000.0;

/// How many segments are worked on at the same time, by one invocation or by as many.
pub const SEGMENTS_AT_ONCE: u32 = 8;

/// How many items of a segment are written at the same time.
pub const WRITES_AT_ONCE: usize = 8;

/// What is kept of the time of an invocation to say how far the load is.
const RESERVE: Duration = Duration::from_secs(5);

/// How often a call is sent again that fails for another reason than throttling.
const TRIES: u32 = 5;

/// How often an item is read again whose update lost a race. Whoever wins one writes the key, too, so two
/// in a row are rare.
const RACES: u32 = 20;

/// The longest that is waited before a call is sent again.
const BACKOFF_CAP: Duration = Duration::from_secs(5);

/// What a load is asked.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct LoadRequest {
    /// The name of the rollout.
    pub index: String,
    /// In how many segments the table is read, 1 to [`MAX_SEGMENTS`]. A load that is under way is resumed
    /// with the same number only.
    #[serde(default)]
    pub segments: Option<i64>,
    /// The one segment that is loaded, from 0 on; all of them where it is not said.
    #[serde(default)]
    pub segment: Option<i64>,
    /// Whether nothing is written, and only counted: true unless told otherwise.
    #[serde(default = "yes")]
    pub dry_run: bool,
    /// Write units a second, all segments together.
    #[serde(default)]
    pub write_units_per_second: Option<f64>,
    /// The run that is gone on with, as an earlier answer named it. Without it, that which is under way
    /// is, or a new one begins.
    #[serde(default)]
    pub run: Option<String>,
    /// Whether nothing is loaded yet, and only the run is begun.
    #[serde(default)]
    pub begin: bool,
}

fn yes() -> bool {
    true
}

/// What has been done of a load, by all who took part in the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Loaded {
    /// The name of the rollout.
    pub index: String,
    /// The table.
    pub table: String,
    /// The run.
    pub run: String,
    /// When it was begun, an instant in UTC.
    pub begun: String,
    /// Whether nothing was written: `written` is then what would have been.
    pub dry_run: bool,
    /// In how many segments the table is read.
    pub segments: u32,
    /// The one segment that all else here is about; all of them where it is not said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub segment: Option<u32>,
    /// Write units a second, all segments together.
    pub write_units_per_second: f64,
    /// Whether the end of the table, or of the segment, is reached. If not, the same event goes on.
    pub done: bool,
    /// Items read.
    pub read: u64,
    /// Items that were right already.
    pub right: u64,
    /// Items that were written.
    pub written: u64,
    /// Items that were deleted between reading and writing, and stay deleted.
    pub deleted: u64,
    /// Updates that came second to another writer's, and were done again.
    pub lost_races: u64,
    /// Calls that were throttled.
    pub throttles: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units.
    pub write_units: f64,
    /// Items that cannot be in the index.
    pub unindexable: Unindexable,
    /// Segments that failed in this invocation. The others went on.
    pub failed: BTreeMap<u32, String>,
    /// The numbers of the segments, where the run was only begun.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub segment_numbers: Vec<u32>,
}

/// What has been done of a segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct Counts {
    read: u64,
    right: u64,
    written: u64,
    deleted: u64,
    lost_races: u64,
    throttles: u64,
    read_units: f64,
    write_units: f64,
    unindexable: Unindexable,
}

impl Counts {
    fn merge(&mut self, other: Self) {
        self.read += other.read;
        self.right += other.right;
        self.written += other.written;
        self.deleted += other.deleted;
        self.lost_races += other.lost_races;
        self.throttles += other.throttles;
        self.read_units += other.read_units;
        self.write_units += other.write_units;
        self.unindexable.merge(other.unindexable);
    }
}

/// How far a segment is, as it is kept.
#[derive(Debug, Clone)]
struct Checkpoint {
    run: String,
    /// Changes with every write, so that no runner undoes what another has written.
    revision: u64,
    done: bool,
    /// After which item the reading goes on.
    position: Option<Item>,
    counts: Counts,
}

/// Loads the index of a rollout, or a segment of it, until `deadline` at the latest. `on_page` hears of
/// every page that is done: how many items it had, and how many of them were written.
///
/// # Errors
///
/// 400 for a request that makes no sense at this stage; those of the calls, where they outlast being sent
/// again. A load of all segments goes on where one fails, and names it in [`Loaded::failed`].
pub async fn run(
    rollout: &Rollout,
    progress: &Table,
    request: &LoadRequest,
    stages: &Stages,
    db: &Db,
    deadline: Instant,
    on_page: &(dyn Fn(u64, u64) + Sync),
) -> Result<Loaded, Error> {
    let stage = stages.of(rollout);
    if stage < Stage::Backfill {
        let message = format!(
            "{} is at stage {}; its items are loaded at stage {}",
            rollout.name,
            stage.as_str(),
            Stage::Backfill.as_str()
        );
        return Err(Error::rejected(Code::InvalidParameter, message));
    }
    let asked = asked_segments(request.segments)?;
    let most = match request.write_units_per_second {
        None => DEFAULT_WRITE_UNITS,
        Some(units) if (1.0..=MAX_WRITE_UNITS).contains(&units) => units,
        Some(_) => {
            let message = format!("writeUnitsPerSecond must be between 1 and {MAX_WRITE_UNITS}");
            return Err(Error::rejected(Code::InvalidParameter, message));
        }
    };
    let kind = if request.dry_run { "dry-run" } else { "load" };
    let job = format!("{kind}#{}", rollout.name);
    if request.begin && request.segment.is_some() {
        let message = "begin and segment exclude each other: a run is begun for all of its segments";
        return Err(Error::rejected(Code::InvalidParameter, message));
    }
    let header = Header { job: &job, progress, db, deadline };
    let segment_of = |segments: u32| {
        let whole = |segment| whole("segment", segment, 0, segments.saturating_sub(1));
        request.segment.map(whole).transpose()
    };
    let Run { id: run, segments, begun } =
        header.begin(asked, request.run.as_deref(), |segments| segment_of(segments).map(drop)).await?;
    let segment = segment_of(segments)?;
    let mut loaded = Loaded {
        index: rollout.name.to_owned(),
        table: rollout.table.name.to_owned(),
        run: run.clone(),
        begun,
        dry_run: request.dry_run,
        segments,
        segment,
        write_units_per_second: most,
        ..Loaded::default()
    };
    if request.begin {
        loaded.segment_numbers = (0..segments).collect();
        return Ok(loaded);
    }
    // A segment alone has its share of the pace, since the others are loaded at the same time.
    let share = if segment.is_some() { f64::from(segments.min(SEGMENTS_AT_ONCE)) } else { 1.0 };
    let load = Load {
        rollout,
        progress,
        db,
        job: &job,
        run: &run,
        segments,
        dry_run: request.dry_run,
        until: deadline.checked_sub(RESERVE).unwrap_or(deadline),
        deadline,
        pace: Pace::new(most / share),
        paths: looked_at(rollout),
        on_page,
    };
    let mut totals = Counts::default();
    let mut done = true;
    if let Some(segment) = segment {
        let checkpoint = load.segment(segment).await?;
        done = checkpoint.done;
        totals = checkpoint.counts;
    } else {
        let mut ended = stream::iter(0..segments)
            .map(|segment| {
                let load = &load;
                async move { (segment, load.segment(segment).await) }
            })
            .buffer_unordered(SEGMENTS_AT_ONCE as usize);
        while let Some((segment, outcome)) = ended.next().await {
            match outcome {
                Ok(checkpoint) => {
                    done &= checkpoint.done;
                    totals.merge(checkpoint.counts);
                }
                Err(error) => {
                    done = false;
                    loaded.failed.insert(segment, chain(&error));
                }
            }
        }
        drop(ended);
        if done {
            header.finish(&run).await?;
        }
    }
    Ok(Loaded {
        done,
        read: totals.read,
        right: totals.right,
        written: totals.written,
        deleted: totals.deleted,
        lost_races: totals.lost_races,
        throttles: totals.throttles,
        read_units: totals.read_units,
        write_units: totals.write_units,
        unindexable: totals.unindexable,
        ..loaded
    })
}

/// The number of segments that a job is asked to read a table in, if it is.
///
/// # Errors
///
/// 400 for a number that DynamoDB does not take.
pub fn asked_segments(segments: Option<i64>) -> Result<Option<u32>, Error> {
    segments.map(|segments| whole("segments", segments, 1, MAX_SEGMENTS)).transpose()
}

fn whole(name: &str, value: i64, least: u32, most: u32) -> Result<u32, Error> {
    u32::try_from(value).ok().filter(|value| (least..=most).contains(value)).ok_or_else(|| {
        let message = format!("{name} must be a whole number between {least} and {most}");
        Error::rejected(Code::InvalidParameter, message)
    })
}

/// The names of the attributes in the table that keeps how far a load is.
mod kept {
    /// Which load, and whether it is a dry run.
    pub const JOB: &str = "job";
    /// The load as a whole, or one of its segments.
    pub const PART: &str = "part";
    /// The part that is the load as a whole.
    pub const WHOLE: &str = "run";
    pub const RUN: &str = "run";
    pub const SEGMENTS: &str = "segments";
    pub const BEGUN: &str = "begun";
    pub const FINISHED: &str = "finished";
    pub const REVISION: &str = "revision";
    pub const DONE: &str = "done";
    pub const POSITION: &str = "position";
    pub const COUNTS: &str = "counts";
}

/// A run of a load.
struct Run {
    id: String,
    segments: u32,
    begun: String,
}

/// The load as a whole.
struct Header<'a> {
    job: &'a str,
    progress: &'a Table,
    db: &'a Db,
    deadline: Instant,
}

impl Header<'_> {
    fn session(&self) -> Session<'_> {
        Session::new(self.db, self.deadline)
    }

    fn key(&self) -> Item {
        texts([(kept::JOB, self.job), (kept::PART, kept::WHOLE)])
    }

    /// The run that is under way, or a new one, and its segments. `check` says whether a run of so many segments is
    /// what was asked for; otherwise none begins.
    async fn begin(
        &self,
        asked: Option<u32>,
        wanted: Option<&str>,
        check: impl Fn(u32) -> Result<(), Error>,
    ) -> Result<Run, Error> {
        for _ in 0..TRIES {
            let stored = self.session().get(self.progress, self.key(), true).await?;
            let run = stored.as_ref().and_then(|header| header.get(kept::RUN)?.as_s().ok()).cloned();
            let segments = stored.as_ref().and_then(|header| number(header, kept::SEGMENTS));
            let finished = stored
                .as_ref()
                .is_none_or(|header| header.get(kept::FINISHED) == Some(&AttributeValue::Bool(true)));
            if let (Some(run), Some(segments)) = (&run, segments)
                && (!finished || wanted == Some(run))
            {
                if wanted.is_some_and(|wanted| wanted != run) {
                    let message = format!("run is not the one that is under way, {run}");
                    return Err(Error::rejected(Code::InvalidParameter, message));
                }
                let segments = u32::try_from(segments).unwrap_or(MAX_SEGMENTS);
                if asked.is_some_and(|asked| asked != segments) {
                    let message =
                        format!("segments must be {segments} until the load is done: it is under way");
                    return Err(Error::rejected(Code::InvalidParameter, message));
                }
                let begun = stored.as_ref().and_then(|header| header.get(kept::BEGUN)?.as_s().ok());
                return Ok(Run { id: run.clone(), segments, begun: begun.cloned().unwrap_or_default() });
            }
            if wanted.is_some() {
                let message = "run is not one that is under way; leave it out to begin a new one";
                return Err(Error::rejected(Code::InvalidParameter, message));
            }
            let (id, segments) = (crate::id::new(), asked.unwrap_or(DEFAULT_SEGMENTS));
            check(segments)?;
            let begun = dates::instant(jiff::Timestamp::now());
            let mut header = self.key();
            header.insert(kept::RUN.to_owned(), AttributeValue::S(id.clone()));
            header.insert(kept::SEGMENTS.to_owned(), AttributeValue::N(segments.to_string()));
            header.insert(kept::BEGUN.to_owned(), AttributeValue::S(begun.clone()));
            header.insert(kept::FINISHED.to_owned(), AttributeValue::Bool(false));
            let check = match run {
                None => Check::Absent(kept::JOB),
                Some(run) => Check::Equals(kept::RUN, AttributeValue::S(run)),
            };
            match self.session().put(self.progress, header, &[check]).await {
                Ok(()) => return Ok(Run { id, segments, begun }),
                // Another runner was faster: its run is joined.
                Err(Error::ConditionFailed { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::internal("beginning a load", "others begin it all the time"))
    }

    /// Says that all segments are done.
    async fn finish(&self, run: &str) -> Result<(), Error> {
        let change = crate::expression::Change::Set(kept::FINISHED, AttributeValue::Bool(true));
        let check = Check::Equals(kept::RUN, AttributeValue::S(run.to_owned()));
        let mut session = self.session();
        match session.update(self.progress, self.key(), &[change], &[check], Returning::Nothing).await {
            // A later run has begun: this one is finished all the more.
            Ok(_) | Err(Error::ConditionFailed { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn number(item: &Item, name: &str) -> Option<u64> {
    item.get(name)?.as_n().ok()?.parse().ok()
}

/// What all segments of a load share.
struct Load<'a> {
    rollout: &'a Rollout,
    progress: &'a Table,
    db: &'a Db,
    job: &'a str,
    run: &'a str,
    segments: u32,
    dry_run: bool,
    /// When no more work is begun.
    until: Instant,
    deadline: Instant,
    pace: Pace,
    paths: Vec<&'static str>,
    on_page: &'a (dyn Fn(u64, u64) + Sync),
}

/// A part of a segment.
struct Page {
    items: Vec<Item>,
    /// Where the segment goes on; `None` at its end.
    next: Option<Item>,
    /// What reading it cost.
    cost: Counts,
}

/// What came of an item.
enum Settled {
    Right,
    Written,
    Deleted,
    Impossible { obstacle: Obstacle, found: bool, written: bool },
}

impl Load<'_> {
    fn session(&self) -> Session<'_> {
        Session::new(self.db, self.deadline)
    }

    fn time_is_up(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Loads a segment from where it is to its end, or until the time is up. While the items of a page are
    /// written, the next page is read: what changes in between fails its condition and is read again.
    async fn segment(&self, segment: u32) -> Result<Checkpoint, Error> {
        let (mut checkpoint, mut stored) = self.checkpoint(segment).await?;
        let mut ahead: Option<Page> = None;
        // Each round reads on in the segment, and the time ends one that is too long.
        while !checkpoint.done && !self.time_is_up() {
            let page = match ahead.take() {
                Some(page) => page,
                None => match self.page(segment, checkpoint.position.clone()).await? {
                    Some(page) => page,
                    None => break,
                },
            };
            let read = page.items.len() as u64;
            let after = async {
                match &page.next {
                    Some(next) => self.page(segment, Some(next.clone())).await,
                    None => Ok(None),
                }
            };
            let (counts, read_ahead) = tokio::join!(self.items(page.items), after);
            let Some(counts) = counts? else { break };
            let written = counts.written;
            let mut next = checkpoint.clone();
            next.counts.merge(page.cost);
            next.counts.merge(counts);
            next.done = page.next.is_none();
            next.position = page.next;
            next.revision += 1;
            let check = match stored {
                None => Check::Absent(kept::JOB),
                Some(revision) => Check::Equals(kept::REVISION, AttributeValue::N(revision.to_string())),
            };
            let item = self.to_item(segment, &next)?;
            match self.session().put(self.progress, item, &[check]).await {
                Ok(()) => {
                    stored = Some(next.revision);
                    checkpoint = next;
                    (self.on_page)(read, written);
                    ahead = read_ahead?;
                }
                // Another runner has moved on: its place is as good as ours.
                Err(Error::ConditionFailed { .. }) => {
                    (checkpoint, stored) = self.checkpoint(segment).await?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(checkpoint)
    }

    fn key(&self, segment: u32) -> Item {
        texts([(kept::JOB, self.job), (kept::PART, &format!("segment#{segment:06}"))])
    }

    /// How far a segment is in this run, and the revision of what is stored, if anything is.
    async fn checkpoint(&self, segment: u32) -> Result<(Checkpoint, Option<u64>), Error> {
        let stored = self.session().get(self.progress, self.key(segment), true).await?;
        let revision = stored.as_ref().map(|item| number(item, kept::REVISION).unwrap_or_default());
        let fresh = Checkpoint {
            run: self.run.to_owned(),
            revision: revision.unwrap_or_default(),
            done: false,
            position: None,
            counts: Counts::default(),
        };
        let Some(item) = stored else { return Ok((fresh, None)) };
        // Ids of runs sort by when they began.
        match item.get(kept::RUN).and_then(|run| run.as_s().ok()).map(String::as_str) {
            Some(run) if run == self.run => {}
            // A later run has begun, so this one is over.
            Some(run) if run > self.run => return Ok((Checkpoint { done: true, ..fresh }, revision)),
            // Left by an earlier one.
            _ => return Ok((fresh, revision)),
        }
        let counts = item.get(kept::COUNTS).and_then(|counts| counts.as_s().ok());
        let counts = counts.and_then(|counts| serde_json::from_str(counts).ok()).unwrap_or_default();
        let position = item.get(kept::POSITION).and_then(|position| position.as_m().ok()).cloned();
        let done = item.get(kept::DONE) == Some(&AttributeValue::Bool(true));
        Ok((Checkpoint { done, position, counts, ..fresh }, revision))
    }

    fn to_item(&self, segment: u32, checkpoint: &Checkpoint) -> Result<Item, Error> {
        let counts = serde_json::to_string(&checkpoint.counts)
            .map_err(|error| Error::internal("writing a checkpoint", error))?;
        let mut item = self.key(segment);
        item.insert(kept::RUN.to_owned(), AttributeValue::S(checkpoint.run.clone()));
        item.insert(kept::REVISION.to_owned(), AttributeValue::N(checkpoint.revision.to_string()));
        item.insert(kept::DONE.to_owned(), AttributeValue::Bool(checkpoint.done));
        item.insert(kept::COUNTS.to_owned(), AttributeValue::S(counts));
        if let Some(position) = &checkpoint.position {
            item.insert(kept::POSITION.to_owned(), AttributeValue::M(position.clone()));
        }
        Ok(item)
    }

    /// The part of a segment after `start`; `None` where the time is up before it is read.
    async fn page(&self, segment: u32, start: Option<Item>) -> Result<Option<Page>, Error> {
        let scan = Scan {
            table: &self.rollout.table,
            index: None,
            segment: (segment, self.segments),
            read: ScanFor::Paths(&self.paths),
            // What is read is written before it is remembered, so it is not too much at once.
            limit: (!self.dry_run).then(|| self.pace.page()),
            consistent: false,
        };
        let (mut cost, mut tries) = (Counts::default(), 0);
        while !self.time_is_up() {
            let mut session = self.session();
            match session.scan(&scan, start.clone()).await {
                Ok(part) => {
                    cost.read_units = session.meter().read_units;
                    return Ok(Some(Page { items: part.items, next: part.next, cost }));
                }
                Err(error) => self.try_again(&mut session, error, &mut tries, &mut cost.throttles).await?,
            }
        }
        Ok(None)
    }

    /// Makes the items of a page right; `None` where the time is up before all are.
    async fn items(&self, items: Vec<Item>) -> Result<Option<Counts>, Error> {
        let mut counts = Counts { read: items.len() as u64, ..Counts::default() };
        let mut settled = stream::iter(items).map(|item| self.settle(item)).buffer_unordered(WRITES_AT_ONCE);
        let mut complete = true;
        while let Some(outcome) = settled.next().await {
            let (item, outcome, cost) = outcome?;
            counts.merge(cost);
            match outcome {
                Some(Settled::Right) => counts.right += 1,
                Some(Settled::Written) => counts.written += 1,
                Some(Settled::Deleted) => counts.deleted += 1,
                Some(Settled::Impossible { obstacle, found, written }) => {
                    counts.written += u64::from(written);
                    counts.unindexable.add(self.rollout, &item, obstacle, found);
                }
                None => complete = false,
            }
        }
        Ok(complete.then_some(counts))
    }

    /// Makes one item right. Gives the item as it was last seen, what came of it (`None` where the time is
    /// up), and what that cost.
    async fn settle(&self, item: Item) -> Result<(Item, Option<Settled>, Counts), Error> {
        let (mut item, mut cost) = (item, Counts::default());
        let (mut races, mut tries) = (0, 0);
        loop {
            let (fix, settled) = match judge(self.rollout, &item) {
                Verdict::Right => return Ok((item, Some(Settled::Right), cost)),
                Verdict::Wrong(fix) => (fix, Settled::Written),
                Verdict::Impossible { obstacle, found, fix: Some(fix) } => {
                    (fix, Settled::Impossible { obstacle, found, written: true })
                }
                Verdict::Impossible { obstacle, found, fix: None } => {
                    return Ok((item, Some(Settled::Impossible { obstacle, found, written: false }), cost));
                }
            };
            if self.dry_run {
                return Ok((item, Some(settled), cost));
            }
            if self.time_is_up() {
                return Ok((item, None, cost));
            }
            self.pace.wait(self.until).await;
            let mut session = self.session();
            match self.write(&mut session, &item, &fix).await {
                Ok(()) => {
                    let units = session.meter().write_units;
                    cost.write_units += units;
                    self.pace.paid(units);
                    return Ok((item, Some(settled), cost));
                }
                Err(Error::ConditionFailed { item: None }) => {
                    return Ok((item, Some(Settled::Deleted), cost));
                }
                Err(Error::ConditionFailed { item: Some(stored) }) if races < RACES => {
                    races += 1;
                    cost.lost_races += 1;
                    item = *stored;
                }
                Err(Error::Refused(_)) => {
                    let obstacle = Obstacle { attribute: THE_ITEM, fault: KeyFault::Refused };
                    let settled = Settled::Impossible { obstacle, found: true, written: false };
                    return Ok((item, Some(settled), cost));
                }
                Err(Error::ItemTooLarge) => {
                    let obstacle = Obstacle { attribute: THE_ITEM, fault: KeyFault::TooLong(MAX_ITEM_BYTES) };
                    return Ok((
                        item,
                        Some(Settled::Impossible { obstacle, found: true, written: false }),
                        cost,
                    ));
                }
                Err(error) => self.try_again(&mut session, error, &mut tries, &mut cost.throttles).await?,
            }
        }
    }

    async fn write(&self, session: &mut Session<'_>, item: &Item, fix: &Fix) -> Result<(), Error> {
        let table = &self.rollout.table;
        let key = key_of(table, item);
        session.update(table, key, &fix.changes, &fix.checks, Returning::Nothing).await.map(|_| ())
    }

    /// Waits before a call is sent again, or gives its error back where that is of no use. Throttling is
    /// waited out as long as there is time, and slows all writes.
    async fn try_again(
        &self,
        session: &mut Session<'_>,
        error: Error,
        tries: &mut u32,
        throttles: &mut u64,
    ) -> Result<(), Error> {
        match &error {
            Error::Throttled(_) => {
                *throttles += 1;
                self.pace.throttled();
            }
            Error::TimedOut(_) | Error::Internal { .. } if *tries < TRIES => {}
            _ => return Err(error),
        }
        session.get_over(&error);
        *tries += 1;
        pause(*tries, BACKOFF_CAP).await;
        Ok(())
    }
}

/// How fast is written: at most so many units a second, half as many after each throttle, and slowly more
/// again.
struct Pace(Mutex<PaceState>);

struct PaceState {
    most: f64,
    rate: f64,
    /// What a write costs, as far as is known.
    cost: f64,
    /// When the next write may begin.
    next: Instant,
}

impl Pace {
    /// By how much of the most a write that went well raises the pace.
    const RECOVERY: f64 = 0.002;

    /// Waiting for less than this is not worth while: no timer is as fine.
    const LEAD: Duration = Duration::from_millis(1);

    /// How long the items of a page may take to write.
    const PAGE_SECONDS: f64 = 10.0;

    fn new(most: f64) -> Self {
        // An item takes one unit in the table and one in the index at least.
        Self(Mutex::new(PaceState { most, rate: most, cost: 2.0, next: Instant::now() }))
    }

    fn state(&self) -> std::sync::MutexGuard<'_, PaceState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many items a page should have.
    #[allow(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the value is clamped to what fits"
    )]
    fn page(&self) -> u32 {
        let state = self.state();
        (state.rate * Self::PAGE_SECONDS / state.cost).clamp(25.0, 500.0) as u32
    }

    /// Waits for the turn of a write, or until the time is up.
    async fn wait(&self, until: Instant) {
        let at = {
            let mut state = self.state();
            let at = state.next.max(Instant::now());
            state.next = at + Duration::from_secs_f64(state.cost / state.rate);
            at
        };
        if at > Instant::now() + Self::LEAD {
            sleep_until(at.min(until)).await;
        }
    }

    /// A write went well and cost this much.
    fn paid(&self, units: f64) {
        let mut state = self.state();
        state.cost = (0.9 * state.cost + 0.1 * units).max(1.0);
        state.rate = (state.rate + state.most * Self::RECOVERY).min(state.most);
    }

    fn throttled(&self) {
        let mut state = self.state();
        state.rate = (state.rate / 2.0).max(1.0_f64.min(state.most));
    }
}
