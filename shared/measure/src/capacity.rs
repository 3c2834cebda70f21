//! What a question costs by key, and what the scan with a tenant filter costs that it replaces. Every number
//! is what the service answers as consumed capacity; nothing is computed.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use dynoxide::{AttributeValue, Database, ImportOptions};
use jiff::tz::TimeZone;
use kit::app::{App, Invocation};
use kit::body::Body;
use kit::config;
use kit::dynamo::{Db, Session, Want};
use kit::function::Function;
use kit::key::{self, TENANT};
use kit::list::{Answer, FilterPart, List, Partition, Question, Sort};
use kit::plan::{Keep, Plan, Range, plan};
use kit::rollout::Stages;
use local::template::Template;
use serde_json::Value;
use tokio::time::Instant;

use crate::asking::{self, ENTITY, PERIOD};
use crate::{Failure, emulator, rows};

/// The later page that is asked for beside the first.
pub const LATER_PAGE: usize = 10;

/// The rows that are put at a time.
const AT_A_TIME: usize = 5_000;

/// What one call reads at most.
///
/// Source: Amazon DynamoDB API reference, `Scan`.
const CALL_BYTES: u64 = 1024 * 1024;

/// The most lists at a time: each has its table in memory.
const MOST_AT_ONCE: usize = 4;

/// How long one request may take.
const PATIENCE: Duration = Duration::from_secs(28);

/// How long one scan of a whole table may take.
const PATIENCE_OF_A_SCAN: Duration = Duration::from_secs(60 * 60);

/// What is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// The lists.
    pub lists: Vec<&'static List>,
    /// How many rows the table has, growing.
    pub rows: Vec<usize>,
    /// How many tenants share it.
    pub tenants: usize,
    /// The size of an item, in bytes as the service counts them.
    pub item_bytes: usize,
    /// The rows of a page.
    pub limit: usize,
}

/// What was read of a question, and out of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// A page with an exact total of all that a tenant has.
    PageOfATenant,
    /// A page with an exact total of what belongs to one entity.
    PageOfAnEntity,
    /// A whole collection.
    Collection,
    /// A page with a cursor.
    Cursor,
}

/// What was consumed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cost {
    /// Read units.
    pub units: f64,
    /// Calls.
    pub calls: u64,
}

/// What a question costs in a table of so many rows.
#[derive(Debug, Clone)]
pub struct Measured {
    /// The list's name.
    pub list: &'static str,
    /// The question's name.
    pub question: &'static str,
    /// What was read.
    pub kind: Kind,
    /// How many rows the table has.
    pub rows: usize,
    /// How many of them answer the question.
    pub found: usize,
    /// The first page, or the whole collection.
    pub first: Cost,
    /// The later page, where there is one to ask for.
    pub later: Option<Cost>,
    /// The scan, for whichever page.
    pub scan: Cost,
}

/// Measures every question of the lists, several lists at a time. `progress` is told what goes on and how many
/// rows of [`work`] are done with.
///
/// # Errors
///
/// What fails, and an answer that is not of the rows that were put.
pub fn measure(
    template: &Template,
    options: &Options,
    progress: impl Fn(String, usize) + Sync,
) -> Result<Vec<Measured>, Failure> {
    let next = AtomicUsize::new(0);
    let lists = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        let mut measured = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(list) = options.lists.get(at) else { return Ok::<_, Failure>(measured) };
            let of_this = runtime.block_on(of_a_list(list, template, options, &progress));
            if of_this.is_err() {
                // Nobody begins another one.
                next.store(options.lists.len(), Ordering::Relaxed);
            }
            measured.push((at, of_this?));
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get().min(MOST_AT_ONCE));
    let mut measured = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..threads).map(|_| scope.spawn(lists)).collect();
        let mut measured = Vec::new();
        for thread in threads {
            measured.extend(thread.join().map_err(|_| "a thread died")??);
        }
        Ok::<_, Failure>(measured)
    })?;
    measured.sort_unstable_by_key(|(at, _)| *at);
    Ok(measured.into_iter().flat_map(|(_, of_a_list)| of_a_list).collect())
}

async fn of_a_list(
    list: &'static List,
    template: &Template,
    options: &Options,
    progress: &impl Fn(String, usize),
) -> Result<Vec<Measured>, Failure> {
    let database = local::database::open(template)?;
    let db = emulator::db(&database);
    let function = Function::from(list);
    let set = |name: &str| (name == "CURSOR_KEY").then(|| local::watch::CURSOR_KEY.to_owned());
    let app = App::new(function, config::settings(function, set)?, db.clone());
    let (mut measured, mut stored) = (Vec::new(), 0);
    for rows in options.rows.iter().copied() {
        while stored < rows {
            let end = rows.min(stored + AT_A_TIME);
            put(&database, list, stored..end, options)?;
            progress(format!("{}: putting rows", list.name()), end - stored);
            stored = end;
        }
        for question in list.questions() {
            measured.push(costs(&app, &db, list, question, rows, options).await?);
            progress(question.name.to_owned(), rows);
        }
    }
    Ok(measured)
}

/// How many rows are put or scanned altogether, so that progress can be told.
#[must_use]
pub fn work(options: &Options) -> usize {
    let put = options.rows.iter().max().copied().unwrap_or_default();
    let scanned: usize = options.rows.iter().sum();
    options.lists.iter().map(|list| put + scanned * list.questions().len()).sum()
}

fn put(
    database: &Database,
    list: &List,
    places: std::ops::Range<usize>,
    options: &Options,
) -> Result<(), Failure> {
    let items = places.map(|at| {
        let row = rows::row(list, at, options.tenants, options.item_bytes)?;
        Ok(row.into_iter().map(|(name, text)| (name.to_owned(), AttributeValue::S(text))).collect())
    });
    let items = items.collect::<Result<Vec<_>, Failure>>()?;
    database.import_items(list.table().name, items, ImportOptions::default())?;
    Ok(())
}

async fn costs(
    app: &App,
    db: &Db,
    list: &'static List,
    question: &Question,
    rows: usize,
    options: &Options,
) -> Result<Measured, Failure> {
    let found = rows::found(question, rows, options.tenants);
    let asked = asking::parameters(question);
    let with = |more: &[(&str, String)]| {
        let more = more.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        asked.iter().cloned().chain(more).collect::<Vec<_>>()
    };
    let limit = ("limit", options.limit.to_string());
    let mut awaited = Awaited::new(list, found, options)?;
    let wrong =
        |page: usize| move |what: String| wrong_answer(list, question, &format!("page {page}"), &what);
    let (kind, first, later) = match list.answer() {
        Answer::Page => {
            let first = request(app, list, &with(std::slice::from_ref(&limit))).await?;
            awaited.take(1, &first.body).map_err(wrong(1))?;
            let page = ("page", LATER_PAGE.to_string());
            let later = request(app, list, &with(&[limit, page])).await?;
            awaited.take(LATER_PAGE, &later.body).map_err(wrong(LATER_PAGE))?;
            let of_an_entity = rows::asks_of_an_entity(question);
            let kind = if of_an_entity { Kind::PageOfAnEntity } else { Kind::PageOfATenant };
            (kind, first.cost, Some(later.cost))
        }
        Answer::Cursor { .. } => {
            let first = request(app, list, &with(std::slice::from_ref(&limit))).await?;
            awaited.take(1, &first.body).map_err(wrong(1))?;
            let (cost, mut last) = (first.cost, Some(first));
            for page in 2..=LATER_PAGE {
                let next = last.as_ref().and_then(|read| read.body.get("nextCursor")).and_then(Value::as_str);
                let Some(cursor) = next.map(str::to_owned) else {
                    last = None;
                    break;
                };
                let read = request(app, list, &with(&[limit.clone(), ("cursor", cursor)])).await?;
                awaited.take(page, &read.body).map_err(wrong(page))?;
                last = Some(read);
            }
            (Kind::Cursor, cost, last.map(|read| read.cost))
        }
        Answer::All => {
            let all = request(app, list, &asked).await?;
            awaited.take(1, &all.body).map_err(wrong(1))?;
            (Kind::Collection, all.cost, None)
        }
    };
    let (scan, scanned) = scan(db, &replaced(list, question, &asked)?, options.item_bytes).await?;
    if scanned != found as u64 {
        return Err(wrong_answer(list, question, "the scan", &format!("{scanned} rows came, not {found}")));
    }
    Ok(Measured { list: list.name(), question: question.name, kind, rows, found, first, later, scan })
}

/// An answer and what it cost.
struct Read {
    body: Value,
    cost: Cost,
}

/// Asks a list as API Gateway does, and takes the cost from the line that the request leaves in the log.
async fn request(app: &App, list: &List, parameters: &[(String, String)]) -> Result<Read, Failure> {
    let invocation = Invocation { id: "measure".to_owned(), time_left: PATIENCE };
    let handled = app.handle(&asking::event(list, parameters).to_string(), &invocation).await;
    if handled.response.status_code != 200 {
        return Err(format!("{} answered {}", list.name(), handled.response.body).into());
    }
    let log: Value = serde_json::from_str(&handled.log)?;
    let units = log.get("ReadUnits").and_then(Value::as_f64);
    let calls = log.get("Calls").and_then(Value::as_u64);
    let (Some(units), Some(calls)) = (units, calls) else {
        return Err(format!("the log does not tell what it cost: {log}").into());
    };
    Ok(Read { body: serde_json::from_str(&handled.response.body)?, cost: Cost { units, calls } })
}

/// The scan that a question by key replaces: of the whole table, for the tenant's rows that the question asks
/// for.
fn replaced(
    list: &'static List,
    question: &Question,
    parameters: &[(String, String)],
) -> Result<Plan, Failure> {
    let tenant = asking::TENANT;
    let plans = plan(list, tenant, parameters, None, &TimeZone::UTC, &Stages::default())?;
    let mut plan = plans.into_iter().next().ok_or("no query is planned")?;
    let attribute = plan.partition.0;
    let mut keep = |attribute, part, value| plan.keep.push(Keep { attribute, part, value });
    match (question.partition, question.sort, list.table().key.sort) {
        // A walk over months has a query for each; a scan finds the rows of all of them at once.
        (Partition::TenantAndMonths(_), Sort::Days(_), Some(sort)) => {
            let of_any_month = format!("{}{}", key::composite(&[tenant, ENTITY])?, key::SEPARATOR);
            keep(attribute, FilterPart::First, of_any_month);
            let [first, last] = [PERIOD[0].parse()?, PERIOD[1].parse()?];
            let days = Range::Between(kit::dates::first_of_day(first), kit::dates::last_of_day(last));
            plan.sort = Some((sort.name, days));
            plan.partition = (TENANT, tenant.to_owned());
        }
        _ if attribute != TENANT => keep(TENANT, FilterPart::Whole, tenant.to_owned()),
        _ => {}
    }
    Ok(Plan { scan: true, index: None, order_by: None, ..plan })
}

/// Scans to the end, as a screen has to before it can cut out any page. Gives also how many rows it found.
async fn scan(db: &Db, plan: &Plan, item_bytes: usize) -> Result<(Cost, u64), Failure> {
    // More than fit into one call, which ends at its 1 MB as it would without. Only the emulator is told
    // something by it: not to fetch all that is left of the table for each call.
    let beyond = CALL_BYTES / item_bytes as u64 * 2;
    let mut session = Session::new(db, Instant::now() + PATIENCE_OF_A_SCAN);
    let (mut found, mut start) = (0, None);
    loop {
        let mut body = Body::default();
        let part = session.query(plan, Want::Rows, Some(beyond), start, &mut body).await?;
        found += part.count;
        start = part.next;
        if start.is_none() {
            break;
        }
    }
    let meter = session.meter();
    Ok((Cost { units: meter.read_units, calls: u64::from(meter.calls) }, found))
}

/// A cost is worth telling only of a right answer. This is why another one is not told of.
fn wrong_answer(list: &List, question: &Question, place: &str, what: &str) -> Failure {
    format!("{}: {}: {place}: {what}", list.name(), question.name).into()
}

/// The rows that answer a question, as far as no page has held them yet.
struct Awaited {
    list: &'static List,
    /// How many rows answer the question.
    found: usize,
    /// The rows of a page; of a whole collection, all.
    limit: usize,
    /// The values of the table's key, for each row that is still to come.
    left: BTreeSet<Vec<String>>,
}

impl Awaited {
    /// All that a question finds: the first rows of the tenant that asks, who is the first at each turn.
    fn new(list: &'static List, found: usize, options: &Options) -> Result<Self, Failure> {
        let Options { tenants, item_bytes, limit, .. } = *options;
        let key = |serial: usize| {
            let row = rows::row(list, serial * tenants, tenants, item_bytes)?;
            let key = key_of(list, |name| row.get(name).map(String::as_str));
            key.ok_or_else(|| Failure::from("a row was put without its key"))
        };
        let left = (0..found).map(key).collect::<Result<_, _>>()?;
        let limit = if matches!(list.answer(), Answer::All) { found } else { limit };
        Ok(Self { list, found, limit, left })
    }

    /// Takes what a page holds, the first being page 1. It has to hold as many rows as are due on it, all of
    /// them still to come, and to tell rightly how many there are or whether more follow.
    ///
    /// # Errors
    ///
    /// It does not: what came, and what should have.
    fn take(&mut self, page: usize, body: &Value) -> Result<(), String> {
        let items = body.get("items").and_then(Value::as_array).ok_or("no items came")?;
        let due = self.found.saturating_sub((page - 1) * self.limit).min(self.limit);
        if items.len() != due {
            return Err(format!("{} rows came, not {due}", items.len()));
        }
        for item in items {
            let key = key_of(self.list, |name| item.get(name).and_then(Value::as_str));
            if !key.as_ref().is_some_and(|key| self.left.remove(key)) {
                let key = key.unwrap_or_default().join(", ");
                return Err(format!("the row ({key}) came, which is none of the question's or came before"));
            }
        }
        let told = |name: &str| body.get(name).map_or_else(|| "nothing".to_owned(), Value::to_string);
        match self.list.answer() {
            Answer::Page if body.get("total").and_then(Value::as_u64) != Some(self.found as u64) => {
                Err(format!("the total came as {}, not {}", told("total"), self.found))
            }
            Answer::Cursor { .. } => match (body.get("nextCursor"), page * self.limit < self.found) {
                (Some(Value::String(_)), true) | (Some(Value::Null), false) => Ok(()),
                (_, true) => Err(format!("nextCursor came as {}, and more rows follow", told("nextCursor"))),
                (_, false) => Err(format!("nextCursor came as {}, and no row follows", told("nextCursor"))),
            },
            Answer::Page | Answer::All => Ok(()),
        }
    }
}

/// The values of the table's key in a row whose texts are given by name; `None` where one is missing.
fn key_of<'a>(list: &List, text: impl Fn(&str) -> Option<&'a str>) -> Option<Vec<String>> {
    list.table().key.attributes().map(|attribute| text(attribute.name).map(str::to_owned)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::lists::LISTS;

    const OPTIONS: Options =
        Options { lists: Vec::new(), rows: Vec::new(), tenants: 3, item_bytes: 512, limit: 20 };

    /// The rows of a tenant at these places of its own.
    fn items(list: &List, tenant: usize, serials: std::ops::Range<usize>) -> Vec<rows::Row> {
        serials.map(|serial| rows::row(list, serial * 3 + tenant, 3, 512).unwrap()).collect()
    }

    /// What comes of these pages, the last of them told.
    fn taken(list: &'static List, pages: &[(usize, Value)]) -> Result<(), String> {
        let mut awaited = Awaited::new(list, 50, &OPTIONS).unwrap();
        pages.iter().try_for_each(|(page, body)| awaited.take(*page, body))
    }

    #[test]
    fn only_the_rows_that_were_put_are_taken_and_each_once() {
        for list in LISTS.iter().copied() {
            let body = |items: Vec<rows::Row>, more: bool| {
                let next = more.then_some("sealed");
                match list.answer() {
                    Answer::Page => json!({"items": items, "total": 50}),
                    Answer::Cursor { .. } => json!({"items": items, "nextCursor": next}),
                    Answer::All => json!({"items": items}),
                }
            };
            let of = |tenant, serials, more| body(items(list, tenant, serials), more);
            if matches!(list.answer(), Answer::All) {
                assert_eq!(taken(list, &[(1, of(0, 0..50, false))]), Ok(()), "{}", list.name());
                assert!(taken(list, &[(1, of(0, 0..49, false))]).is_err(), "{}: one missing", list.name());
                assert!(taken(list, &[(1, of(0, 0..0, false))]).is_err(), "{}: none", list.name());
                continue;
            }
            let first = (1, of(0, 0..20, true));
            let pages = [first.clone(), (2, of(0, 20..40, true)), (3, of(0, 40..50, false))];
            assert_eq!(taken(list, &pages), Ok(()), "{}", list.name());
            let mut twice = items(list, 0, 0..19);
            twice.extend(items(list, 0, 0..1));
            for (wrong, told) in [
                (vec![(1, of(0, 0..0, true))], "0 rows came, not 20"),
                (vec![(1, of(0, 0..21, true))], "21 rows came, not 20"),
                (vec![(1, of(1, 0..20, true))], "none of the question's"),
                (vec![(1, of(0, 40..60, true))], "none of the question's"),
                (vec![(1, body(twice, true))], "came before"),
                (vec![(1, json!({"items": [{}]}))], "1 rows came, not 20"),
                (vec![(1, json!({"total": 50}))], "no items came"),
                (vec![first.clone(), (2, of(0, 19..39, true))], "came before"),
                (vec![first, (3, of(0, 40..49, false))], "9 rows came, not 10"),
                (vec![(10, of(0, 40..50, false))], "10 rows came, not 0"),
            ] {
                let problem = taken(list, &wrong).unwrap_err();
                assert!(problem.contains(told), "{}: {problem}", list.name());
            }
        }
    }

    #[test]
    fn the_total_and_the_end_are_told_rightly() {
        for list in LISTS.iter().copied() {
            let (first, last) = (items(list, 0, 0..20), items(list, 0, 40..50));
            let wrong = match list.answer() {
                Answer::Page => vec![
                    ((1, json!({"items": first, "total": 49})), "49, not 50"),
                    ((1, json!({"items": first})), "nothing, not 50"),
                    ((10, json!({"items": [], "total": 0})), "0, not 50"),
                ],
                Answer::Cursor { .. } => vec![
                    ((1, json!({"items": first, "nextCursor": null})), "null, and more rows follow"),
                    ((1, json!({"items": first})), "nothing, and more rows follow"),
                    ((3, json!({"items": last, "nextCursor": "sealed"})), "and no row follows"),
                    ((3, json!({"items": last})), "nothing, and no row follows"),
                ],
                Answer::All => Vec::new(),
            };
            for (page, told) in wrong {
                let problem = taken(list, &[page]).unwrap_err();
                assert!(problem.contains(told), "{}: {problem}", list.name());
            }
        }
    }
}
