//! How a list answers: pages with a total, pages with a cursor, or the whole collection.

use std::cmp::Ordering;

use aws_sdk_dynamodb::types::AttributeValue;

use crate::body::Body;
use crate::config::Settings;
use crate::dynamo::{Session, Want};
use crate::error::{Code, Error};
use crate::http::{self, ENVELOPE_BYTES, MAX_ANSWER_BYTES, Response, Success};
use crate::item::{self, Item, at_path};
use crate::list::{Answer, Direction, FilterPart, List, PAGING};
use crate::plan::{Plan, Range, Start, plan, unknown_parameter};
use crate::request::{Request, shown};
use crate::row::{Garbled, Row, Rows, write_string};

/// The rows of a page unless the caller says otherwise.
const DEFAULT_LIMIT: u64 = 20;

/// The most rows of a page.
const MAX_LIMIT: u64 = 100;

/// The last page that can be asked for: the largest number that every reader of the answer's JSON understands.
///
/// Source: RFC 8259, section 6.
const MAX_PAGE: u64 = (1 << 53) - 1;

/// The most JSON that is read for a compressed answer, in bytes. It has to fit into a function's memory
/// together with its compressed form, and seldom compresses to what Lambda hands back if it is larger.
const MAX_READ_BYTES: usize = 32 * 1024 * 1024;

/// What a list was asked.
#[derive(Debug)]
pub struct Asked {
    /// The queries that answer it, in the order in which they are read. There is one at least.
    plans: Vec<Plan>,
    paging: Paging,
}

#[derive(Debug)]
enum Paging {
    Page { page: u64, limit: u64 },
    Cursor { limit: u64, start: Start },
    All,
}

/// Reads what a list is asked. Nothing is called yet.
///
/// # Errors
///
/// 400 for parameters that the list does not take, and for values it cannot use.
pub fn ask(
    list: &'static List,
    request: &Request,
    tenant: &str,
    settings: &Settings,
) -> Result<Asked, Error> {
    let mut parameters = request.query()?;
    let in_path = request.path_parameters();
    if let Some((name, _)) =
        parameters.iter().find(|(name, _)| in_path.iter().any(|(known, _)| known == name))
    {
        let message = format!("{} stands in the path and is no parameter of this list", shown(name));
        return Err(Error::rejected(Code::UnknownParameter, message));
    }
    parameters.extend(in_path.iter().cloned());
    let paging = list.answer().paging();
    let value =
        |name: &str| parameters.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    if let Some(name) = PAGING.iter().find(|name| !paging.contains(name) && value(name).is_some()) {
        return Err(unknown_parameter(list, name));
    }
    let turned = match value("order") {
        None => None,
        Some("asc") => Some(Direction::Ascending),
        Some("desc") => Some(Direction::Descending),
        Some(_) => return Err(Error::rejected(Code::InvalidOrder, "order must be asc or desc")),
    };
    let plans = plan(list, tenant, &parameters, turned, &settings.time_zone, &settings.stages)?;
    let limit = || bounded("limit", value("limit"), DEFAULT_LIMIT, MAX_LIMIT, Code::LimitOutOfRange);
    let paging = match list.answer() {
        Answer::Page => Paging::Page {
            page: bounded("page", value("page"), 1, MAX_PAGE, Code::PageOutOfRange)?,
            limit: limit()?,
        },
        Answer::Cursor { .. } => Paging::Cursor {
            limit: limit()?,
            start: match (value("cursor"), &settings.cursor_keys) {
                (None, _) => Start::default(),
                (Some(cursor), Some(keys)) => keys.open(&plans, cursor)?,
                (Some(_), None) => return Err(Error::internal("opening a cursor", "there is no key")),
            },
        },
        Answer::All => Paging::All,
    };
    Ok(Asked { plans, paging })
}

impl Asked {
    /// The first of the queries.
    ///
    /// # Errors
    ///
    /// A fault of ours: there is none.
    pub fn plan(&self) -> Result<&Plan, Error> {
        self.plans.first().ok_or_else(|| Error::internal("answering a list", "no query is planned"))
    }
}

fn bounded(name: &str, value: Option<&str>, default: u64, most: u64, code: Code) -> Result<u64, Error> {
    let Some(value) = value else { return Ok(default) };
    let number = if value.bytes().all(|byte| byte.is_ascii_digit()) { value.parse().ok() } else { None };
    number
        .filter(|number| (1..=most).contains(number))
        .ok_or_else(|| Error::rejected(code, format!("{name} must be between 1 and {most}")))
}

/// Reads the answer. Gives also how many items it holds.
///
/// # Errors
///
/// Those of the calls, and 413 for an answer that Lambda cannot hand back.
pub async fn answer(
    asked: &Asked,
    accepts_gzip: bool,
    settings: &Settings,
    session: &mut Session<'_>,
) -> Result<(Response, usize), Error> {
    let plan = asked.plan()?;
    // An answer that may be compressed is read whole, within reason; another one ends where it no longer
    // fits, before more is read.
    let most = MAX_ANSWER_BYTES - ENVELOPE_BYTES;
    let most_read = if accepts_gzip { MAX_READ_BYTES } else { most };
    let (rows, end, narrower) = match &asked.paging {
        Paging::Page { page, limit } => {
            let narrower = "use a smaller limit";
            let mut rows = Rows::new(most_read, plan.table.unlisted);
            let skip = (page - 1) * limit;
            let total = if plan.order_by.is_some() || !plan.keep.is_empty() {
                page_by_places(plan, skip, *limit, &mut rows, session).await
            } else {
                page_in_order(plan, skip, *limit, &mut rows, session).await
            }?
            .ok_or_else(|| http::too_large(accepts_gzip, narrower))?;
            (rows, format!(r#","page":{page},"limit":{limit},"total":{total}"#), narrower.to_owned())
        }
        Paging::Cursor { limit, start } => {
            let mut rows = Rows::new(most, plan.table.unlisted);
            let limit = usize::try_from(*limit).unwrap_or(usize::MAX);
            let next = session.query_page(&asked.plans, start.clone(), limit, &mut rows).await?;
            let mut end = String::from(r#","nextCursor":"#);
            match (next, &settings.cursor_keys) {
                (None, _) => end.push_str("null"),
                (Some(start), Some(keys)) => write_string(&mut end, &keys.seal(&asked.plans, &start)?),
                (Some(_), None) => return Err(Error::internal("sealing a cursor", "there is no key")),
            }
            (rows, end, "use a smaller limit".to_owned())
        }
        Paging::All => {
            let narrower = narrower(plan);
            let mut rows = Rows::new(most_read, plan.table.unlisted);
            if !collection(plan, &mut rows, session).await? {
                return Err(http::too_large(accepts_gzip, &narrower));
            }
            (rows, String::new(), narrower)
        }
    };
    let count = rows.count();
    Ok((http::json(Success::Ok, rows.into_body(&end), accepts_gzip, &narrower)?, count))
}

/// Reads the single item of a list's table that the path names, as it is at this moment.
///
/// # Errors
///
/// 404 where there is none; 400 for a parameter, since none is taken; those of the call.
pub async fn item(
    list: &'static List,
    request: &Request,
    tenant: &str,
    session: &mut Session<'_>,
) -> Result<Item, Error> {
    request.refuse_parameters("of a single item")?;
    let table = list.table();
    let Some(sort) = table.key.sort else {
        return Err(Error::internal("reading an item", "its table has no sort key"));
    };
    let id = request.path_parameter(sort.name)?;
    let key = item::texts([(table.key.partition.name, tenant), (sort.name, id)]);
    // Whoever saves an item and reads it again sees what was saved.
    let item = session.get(table, key, true).await?.ok_or_else(|| {
        Error::rejected(Code::NotFound, format!("nothing is stored with this {}", sort.name))
    })?;
    Ok(item::listed(item, table.unlisted))
}

/// What the caller of a whole collection can do to get less of it.
fn narrower(plan: &Plan) -> String {
    if plan.narrowing.is_empty() {
        "ask for less".to_owned()
    } else {
        format!("narrow it with {}", plan.narrowing.join(", "))
    }
}

/// A page in the order of the key, in one pass over the range: count up to the page, read the page,
/// count the rest. Gives the total, or `None` where a row does not fit.
async fn page_in_order(
    plan: &Plan,
    skip: u64,
    limit: u64,
    rows: &mut Rows,
    session: &mut Session<'_>,
) -> Result<Option<u64>, Error> {
    let mut total = 0;
    let mut start = None;
    if skip > 0 {
        (total, start) = session.count(plan, None, Some(skip)).await?;
        if start.is_none() {
            return Ok(Some(total));
        }
    }
    let mut left = limit;
    while left > 0 {
        let mut body = Body::default();
        let part = session.query(plan, Want::Rows, Some(left), start, &mut body).await?;
        for row in &part.items {
            if !rows.push(row)? {
                return Ok(None);
            }
        }
        total += part.count;
        left = left.saturating_sub(part.count);
        start = part.next;
        if start.is_none() {
            return Ok(Some(total));
        }
    }
    let (rest, _) = session.count(plan, start, None).await?;
    Ok(Some(total + rest))
}

/// How many places after a page are kept, for rows of it that turn out to be gone.
const SPARE_PLACES: usize = 100;

/// A page in an order that is not the key's, or of rows that a filter keeps: one pass over the range
/// reads the place of each row, and the page's rows are fetched by key. Gives the total, or `None` where
/// a row does not fit.
async fn page_by_places(
    plan: &Plan,
    skip: u64,
    limit: u64,
    rows: &mut Rows,
    session: &mut Session<'_>,
) -> Result<Option<u64>, Error> {
    let skip = usize::try_from(skip).unwrap_or(usize::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let needed = skip.saturating_add(limit).saturating_add(SPARE_PLACES);
    let (mut total, mut places): (u64, Vec<Place>) = (0, Vec::new());
    let mut start = None;
    // Each call moves on in the range, and the request's deadline ends a range that is too long.
    loop {
        let mut body = Body::default();
        let part = session.query(plan, Want::Places, None, start, &mut body).await?;
        total += part.count;
        for row in &part.items {
            places.push(Place::new(plan, row).map_err(|error| Error::internal("reading a row", error))?);
        }
        // What cannot be on the page is forgotten, so that a long range fits into memory.
        if let Some((_, direction)) = plan.order_by {
            places.sort_by(|a, b| a.compare(b, direction));
        }
        places.truncate(needed);
        start = part.next;
        if start.is_none() {
            break;
        }
    }
    let mut places = places.iter().skip(skip);
    let mut gone = 0;
    // Each turn takes places, until the page is full or there are none left.
    loop {
        let keys: Vec<Item> =
            places.by_ref().take(limit.saturating_sub(rows.count())).map(|place| place.key(plan)).collect();
        if keys.is_empty() {
            return Ok(Some(total.saturating_sub(gone)));
        }
        // A replica that is behind would not have rows which the index has already.
        let found = session.batch_get(&plan.table, &keys, true).await?;
        // Between the two reads a row may have been deleted, or may have left the question's range: the index
        // is behind the table. Such a row is neither shown nor counted, and the next one takes its place.
        gone += keys.len() as u64;
        for item in found.into_iter().filter(|item| still_asked(plan, item)) {
            if !rows.push_item(item) {
                return Ok(None);
            }
            gone = gone.saturating_sub(1);
        }
    }
}

/// Whether an item belongs to the rows that `plan` reads.
fn still_asked(plan: &Plan, item: &Item) -> bool {
    let text = |path: &str| at_path(item, path).and_then(|value| value.as_s().ok());
    let equals = |path: &str, value: &String| text(path) == Some(value);
    let (partition, value) = &plan.partition;
    equals(partition, value)
        && match &plan.sort {
            Some((attribute, Range::Equals(value))) => equals(attribute, value),
            _ => true,
        }
        && plan.keep.iter().all(|keep| match keep.part {
            FilterPart::Whole => equals(keep.attribute, &keep.value),
            FilterPart::First => text(keep.attribute).is_some_and(|text| text.starts_with(&keep.value)),
            FilterPart::Inner => text(keep.attribute).is_some_and(|text| text.contains(&keep.value)),
        })
}

fn text(value: &AttributeValue) -> &str {
    value.as_s().map(String::as_str).unwrap_or_default()
}

/// Where a row stands among the others, in little memory: there may be many.
struct Place {
    /// The value that it is ordered by.
    by: Option<String>,
    /// The values of the table's key, in its order.
    key: Vec<AttributeValue>,
}

impl Place {
    fn new(plan: &Plan, row: &Row<'_>) -> Result<Self, Garbled> {
        let by = match (plan.order_from, plan.order_by) {
            (Some(derived), _) => {
                let texts = derived
                    .from
                    .iter()
                    .map(|path| row.text(path))
                    .collect::<Result<Option<Vec<String>>, Garbled>>()?;
                texts.and_then(|texts| {
                    (derived.value)(&texts.iter().map(String::as_str).collect::<Vec<&str>>()).ok()
                })
            }
            (None, Some((attribute, _))) => row.text(attribute)?,
            (None, None) => None,
        };
        let attributes = plan.table.key.attributes();
        let key = attributes
            .map(|part| Ok(row.scalar(part.name)?.unwrap_or(AttributeValue::Null(true))))
            .collect::<Result<_, Garbled>>()?;
        Ok(Self { by, key })
    }

    /// By value, and a place without one last either way; equal ones by key, in the same direction.
    fn compare(&self, other: &Self, direction: Direction) -> Ordering {
        let by_value = match (&self.by, &other.by) {
            (Some(a), Some(b)) if direction == Direction::Ascending => a.cmp(b),
            (Some(a), Some(b)) => b.cmp(a),
            (a, b) => b.is_some().cmp(&a.is_some()),
        };
        let by_key = self.key.iter().map(text).cmp(other.key.iter().map(text));
        by_value.then(if direction == Direction::Ascending { by_key } else { by_key.reverse() })
    }

    fn key(&self, plan: &Plan) -> Item {
        let attributes = plan.table.key.attributes().map(|part| part.name.to_owned());
        attributes.zip(self.key.iter().cloned()).collect()
    }
}

/// All rows of the range. `false` where they do not fit.
async fn collection(plan: &Plan, rows: &mut Rows, session: &mut Session<'_>) -> Result<bool, Error> {
    let mut start = None;
    // Each call moves on in the range; its bytes and the request's deadline end one that is too long.
    loop {
        let mut body = Body::default();
        let part = session.query(plan, Want::Rows, None, start, &mut body).await?;
        for row in &part.items {
            if !rows.push(row)? {
                return Ok(false);
            }
        }
        start = part.next;
        if start.is_none() {
            return Ok(true);
        }
    }
}
