//! The one place that talks to DynamoDB.
//!
//! A [`Session`] is one request's use of the shared client: it counts what the request costs and knows
//! how long it may take. Every call asks for its consumed capacity.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::http::HttpResponse;
use aws_sdk_dynamodb::config::retry::RetryConfig;
use aws_sdk_dynamodb::config::timeout::TimeoutConfig;
use aws_sdk_dynamodb::config::{BehaviorVersion, StalledStreamProtectionConfig};
use aws_sdk_dynamodb::error::{ProvideErrorMetadata, SdkError};
use aws_sdk_dynamodb::operation::RequestId;
use aws_sdk_dynamodb::operation::delete_item::DeleteItemError;
use aws_sdk_dynamodb::operation::describe_table::DescribeTableError;
use aws_sdk_dynamodb::operation::put_item::PutItemError;
use aws_sdk_dynamodb::operation::scan::builders::ScanFluentBuilder;
use aws_sdk_dynamodb::operation::update_item::UpdateItemError;
use aws_sdk_dynamodb::types::{
    AttributeValue, ConsumedCapacity, DeleteRequest, IndexStatus, KeysAndAttributes, PutRequest,
    ReturnConsumedCapacity, ReturnValue, ReturnValuesOnConditionCheckFailure, Select, WriteRequest,
};
use tokio::time::Instant;

use crate::body::{Body, KeepBody};
use crate::config::Endpoint;
use crate::error::{Error, Source};
use crate::expression::{Change, Check, Placeholders};
use crate::item::{self, Item, MAX_ITEM_BYTES};
use crate::key::{Key, KeyAttribute, KeyFault, Table};
use crate::list::Direction;
use crate::plan::{Plan, Start};
use crate::row::{Answered, Garbled, Row, Rows};

/// The most calls that one page of a cursor list makes: enough for a walk over months that are all empty.
pub const READ_BUDGET_CALLS: usize = 40;

/// The time before the deadline at which a page of a cursor list ends with a cursor instead of making
/// another call.
const READ_BUDGET_RESERVE: Duration = Duration::from_millis(1500);

/// The rows that the first call of a filtered page evaluates at least. Each further call evaluates four
/// times as many, so that a rare match is found in few calls and a frequent one reads little.
const FILTERED_FIRST: usize = 64;

/// The most keys of one `BatchGetItem`.
///
/// Source: Amazon DynamoDB API reference, `BatchGetItem`.
const MAX_BATCH_GET: usize = 100;

/// The most writes of one `BatchWriteItem`.
///
/// Source: Amazon DynamoDB API reference, `BatchWriteItem`.
const MAX_BATCH_WRITE: usize = 25;

/// How often a batch is sent again without any of it being taken.
const MAX_TRIES_WITHOUT_PROGRESS: u32 = 8;

const BACKOFF_BASE: Duration = Duration::from_millis(50);
const BACKOFF_CAP: Duration = Duration::from_secs(2);

/// The error codes by which DynamoDB says that it takes no more for now.
///
/// Source: Amazon DynamoDB developer guide, "Error handling: error messages and codes".
const THROTTLING: &[&str] =
    &["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded", "Throttling"];

/// What the service says of an update that would make an item larger than it stores.
///
/// Source: Amazon DynamoDB's own error text of `UpdateItem`.
const TOO_LARGE_TO_UPDATE: &str = "Item size to update has exceeded the maximum allowed size";

/// The client, and the prefix of the tables it reads. Shared by all requests of a process.
#[derive(Debug, Clone)]
pub struct Db {
    client: Client,
    table_prefix: String,
    spent: Option<Spent>,
}

/// What all sessions together have cost that have ended so far.
#[derive(Debug, Clone, Default)]
pub struct Spent(Arc<Mutex<Meter>>);

impl Spent {
    /// As much as it is.
    #[must_use]
    pub fn meter(&self) -> Meter {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn add(&self, more: Meter) {
        let mut sum = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sum.calls += more.calls;
        sum.evaluated += more.evaluated;
        sum.read_units += more.read_units;
        sum.write_units += more.write_units;
        sum.throttles += more.throttles;
    }
}

impl Db {
    /// Uses this client.
    #[must_use]
    pub fn new(client: Client, table_prefix: &str) -> Self {
        Self { client, table_prefix: table_prefix.to_owned(), spent: None }
    }

    /// The same database, and what its sessions cost from now on: for work that takes many of them, and whose cost
    /// is to be told whatever comes of it.
    #[must_use]
    pub fn metered(&self) -> (Self, Spent) {
        let spent = Spent::default();
        (Self { spent: Some(spent.clone()), ..self.clone() }, spent)
    }

    /// Makes the client for this endpoint.
    ///
    /// # Errors
    ///
    /// There is no HTTP client for it.
    pub fn connect(endpoint: Endpoint, table_prefix: &str) -> Result<Self, Error> {
        let client = endpoint.trust.client().map_err(|error| Error::internal("starting", error))?;
        let mut config = client_config().region(endpoint.region).credentials_provider(endpoint.credentials);
        config.set_http_client(client).set_endpoint_url(endpoint.url);
        Ok(Self::new(Client::from_conf(config.build()), table_prefix))
    }

    /// Makes the first connection, so that the first request does not wait for it. Whatever comes of it
    /// is ignored: the request that needs the connection says what is wrong. Costs half a read unit.
    pub async fn prime(&self, table: &Table, index: Option<&str>, key: &Key) {
        // No tenant has this name, so there is nothing to read.
        let nobody = AttributeValue::S("#".to_owned());
        let call = self
            .client
            .query()
            .table_name(self.table_name(table))
            .set_index_name(index.map(str::to_owned))
            .key_condition_expression("#0 = :0")
            .expression_attribute_names("#0", key.partition.name)
            .expression_attribute_values(":0", nobody)
            .select(Select::Count)
            .limit(1)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send();
        let _ = tokio::time::timeout(Duration::from_secs(1), call).await;
    }

    fn table_name(&self, table: &Table) -> String {
        format!("{}{}", self.table_prefix, table.name)
    }

    /// The one place where a scan begins: that of a maintenance job, or of an old path.
    #[allow(clippy::disallowed_methods, reason = "no function may scan but those whose rights say so")]
    fn scan(&self, table: &Table) -> ScanFluentBuilder {
        self.client.scan().table_name(self.table_name(table))
    }
}

/// What every client of the project is set to: it tries again twice, and gives up a try that stalls
/// early enough for another before the caller's time is over.
#[must_use]
pub fn client_config() -> aws_sdk_dynamodb::config::Builder {
    aws_sdk_dynamodb::Config::builder()
        .behavior_version(BehaviorVersion::latest())
        .retry_config(
            RetryConfig::standard()
                .with_max_attempts(3)
                .with_initial_backoff(Duration::from_millis(50))
                .with_max_backoff(Duration::from_secs(1)),
        )
        .timeout_config(
            TimeoutConfig::builder()
                .connect_timeout(Duration::from_secs(1))
                .operation_attempt_timeout(Duration::from_secs(5))
                .build(),
        )
        // A try has its own time-out, which covers a stream that stalls.
        .stalled_stream_protection(StalledStreamProtectionConfig::disabled())
}

/// What a request has cost so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Meter {
    /// Calls to DynamoDB.
    pub calls: u32,
    /// Items that the service looked at.
    pub evaluated: u64,
    /// Read request units.
    pub read_units: f64,
    /// Write request units.
    pub write_units: f64,
    /// Calls that were throttled until the SDK gave up, and were done without or made once more.
    pub throttles: u32,
}

/// One request's use of the client.
#[derive(Debug)]
pub struct Session<'a> {
    db: &'a Db,
    deadline: Instant,
    meter: Meter,
}

/// What is read of the rows of a range.
#[derive(Debug, Clone, Copy)]
pub enum Want {
    /// The rows.
    Rows,
    /// How many there are. They do not travel.
    Count,
    /// The table's key, and the attribute they are ordered by.
    Places,
}

/// What a scan reads of each item.
#[derive(Debug, Clone, Copy)]
pub enum ScanFor<'a> {
    /// All of it.
    Items,
    /// These attribute paths.
    Paths(&'a [&'a str]),
    /// Nothing: the items are counted.
    Count,
}

/// A table, as the service describes it.
#[derive(Debug, Clone, Default)]
pub struct Described {
    /// How many items it has, as the service knew some hours ago.
    pub items: u64,
    /// The names of its indexes, each with its status as the service names it.
    pub indexes: Vec<(String, String)>,
}

/// What a scan reads.
#[derive(Debug, Clone, Copy)]
pub struct Scan<'a> {
    /// The table.
    pub table: &'a Table,
    /// The index that is scanned instead of the table itself.
    pub index: Option<&'a str>,
    /// Which part of it, and of how many.
    pub segment: (u32, u32),
    /// What is read of each item. It costs the same.
    pub read: ScanFor<'a>,
    /// How many items one call looks at; as many as fit into 1 MB where it is not said.
    pub limit: Option<u32>,
    /// Whether every write that was acknowledged before is seen. Costs twice as much, and is not to be
    /// had of an index.
    pub consistent: bool,
}

/// A part of a range, made of rows or of whole items.
#[derive(Debug)]
pub struct Part<R> {
    /// The rows kept, or what was wanted of them.
    pub items: Vec<R>,
    /// How many rows were kept.
    pub count: u64,
    /// Where the range goes on; `None` at its end and nowhere else.
    pub next: Option<Item>,
}

/// A write of a batch.
#[derive(Debug, Clone, PartialEq)]
pub enum Write {
    /// Puts the whole item.
    Put(Item),
    /// Deletes the item with this key.
    Delete(Item),
}

/// What an update gives back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Returning {
    /// Nothing.
    Nothing,
    /// The attributes it changed, as they are now.
    Changed,
    /// The whole item as it is now.
    Item,
}

/// A batch that did not go through.
#[derive(Debug)]
pub struct Unfinished<T> {
    /// What was not done, as far as is known.
    pub remaining: Vec<T>,
    /// Why.
    pub error: Error,
}

impl<T> From<Unfinished<T>> for Error {
    fn from(unfinished: Unfinished<T>) -> Self {
        unfinished.error
    }
}

impl Drop for Session<'_> {
    fn drop(&mut self) {
        if let Some(spent) = &self.db.spent {
            spent.add(self.meter);
        }
    }
}

impl<'a> Session<'a> {
    /// A session that has until `deadline`.
    #[must_use]
    pub fn new(db: &'a Db, deadline: Instant) -> Self {
        Self { db, deadline, meter: Meter::default() }
    }

    /// What the session has cost so far.
    #[must_use]
    pub fn meter(&self) -> Meter {
        self.meter
    }

    /// Notes an error after which the work goes on: a throttle is told of, though nothing fails by it.
    pub fn get_over(&mut self, error: &Error) {
        self.meter.throttles += u32::from(matches!(error, Error::Throttled(_)));
    }

    /// The item with this key. A consistent read costs twice as much and sees every write that was
    /// acknowledged before.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub async fn get(&mut self, table: &Table, key: Item, consistent: bool) -> Result<Option<Item>, Error> {
        check_primary_key(table, &key)?;
        self.meter.calls += 1;
        let out = self
            .db
            .client
            .get_item()
            .table_name(self.db.table_name(table))
            .set_key(Some(key))
            .consistent_read(consistent)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| failed("GetItem", error))?;
        self.read(out.consumed_capacity());
        self.meter.evaluated += u64::from(out.item().is_some());
        Ok(out.item)
    }

    /// One call for a part of the plan's range: at most `limit` rows looked at, from `start` on. Its rows are
    /// read in the answer's `body`.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub async fn query<'b>(
        &mut self,
        plan: &Plan,
        want: Want,
        limit: Option<u64>,
        start: Option<Item>,
        body: &'b mut Body,
    ) -> Result<Part<Row<'b>>, Error> {
        let mut placeholders = Placeholders::default();
        let condition = placeholders.key_condition(plan);
        let filter = placeholders.filter(plan);
        let (select, projection) = match want {
            Want::Rows => (None, None),
            Want::Count => (Some(Select::Count), None),
            Want::Places => {
                let order: &[&str] = match (plan.order_from, &plan.order_by) {
                    (Some(derived), _) => derived.from,
                    (None, Some((attribute, _))) => &[attribute],
                    (None, None) => &[],
                };
                let key = plan.table.key.attributes().map(|attribute| attribute.name);
                let mut names: Vec<&str> = key.chain(order.iter().copied()).collect();
                names.sort_unstable();
                names.dedup();
                (None, Some(placeholders.projection(&names)))
            }
        };
        let limit = limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX));
        let keep = KeepBody::default();
        let call = if plan.scan { "Scan" } else { "Query" };
        self.meter.calls += 1;
        if plan.scan {
            let filter = filter.into_iter().fold(condition, |all, more| format!("{all} AND {more}"));
            let read = self.db.scan(&plan.table).set_filter_expression(Some(filter));
            let read = read.set_projection_expression(projection).set_select(select).set_limit(limit);
            let read = with_placeholders(read, &placeholders, start);
            let sent = read.customize().interceptor(keep.clone()).send().await;
            sent.map_err(|error| failed(call, error))?;
        } else {
            let read = self
                .db
                .client
                .query()
                .table_name(self.db.table_name(&plan.table))
                .set_index_name(plan.index.map(str::to_owned))
                .key_condition_expression(condition)
                .set_filter_expression(filter)
                .set_projection_expression(projection)
                .set_select(select)
                .set_expression_attribute_names(placeholders.names())
                .set_expression_attribute_values(placeholders.values())
                .scan_index_forward(plan.direction == Direction::Ascending)
                .set_limit(limit)
                .set_exclusive_start_key(start)
                .return_consumed_capacity(ReturnConsumedCapacity::Total);
            let sent = read.customize().interceptor(keep.clone()).send().await;
            sent.map_err(|error| failed(call, error))?;
        }
        *body = keep.take();
        let text = body.text().map_err(|error| Error::internal(call, error))?;
        let answered = Answered::read(text).map_err(|error| Error::internal(call, error))?;
        self.meter.read_units += answered.read_units;
        self.meter.evaluated += answered.evaluated;
        if !matches!(want, Want::Count) {
            answered.is_whole().map_err(|error| Error::internal(call, error))?;
        }
        Ok(Part { count: answered.count, next: answered.last_key, items: answered.rows })
    }

    /// One call for a part of what `scan` reads, from `start` on. Only a maintenance job may: a list answers
    /// by key.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub async fn scan(&mut self, scan: &Scan<'_>, start: Option<Item>) -> Result<Part<Item>, Error> {
        let mut placeholders = Placeholders::default();
        let (segment, segments) = scan.segment;
        let read = self
            .db
            .scan(scan.table)
            .set_index_name(scan.index.map(str::to_owned))
            .segment(i32::try_from(segment).unwrap_or(i32::MAX))
            .total_segments(i32::try_from(segments).unwrap_or(i32::MAX))
            .set_limit(scan.limit.map(|limit| i32::try_from(limit).unwrap_or(i32::MAX)))
            .consistent_read(scan.consistent);
        let read = match scan.read {
            ScanFor::Items => read,
            ScanFor::Paths(paths) => read.projection_expression(placeholders.projection(paths)),
            ScanFor::Count => read.select(Select::Count),
        };
        self.meter.calls += 1;
        let read = with_placeholders(read, &placeholders, start);
        let out = read.send().await.map_err(|error| failed("Scan", error))?;
        self.read(out.consumed_capacity());
        self.meter.evaluated += u64::try_from(out.scanned_count()).unwrap_or_default();
        let count = u64::try_from(out.count()).unwrap_or_default();
        let items = match (out.items, scan.read) {
            (_, ScanFor::Count) => Vec::new(),
            (Some(items), _) if items.len() as u64 == count => items,
            // An item that is passed over would never be loaded.
            (items, _) => {
                let came = items.map(|items| items.len()).unwrap_or_default();
                return Err(Error::internal("Scan", Garbled::Count { counted: count, came }));
            }
        };
        // An empty key is none: some services that speak this protocol answer one.
        Ok(Part { count, next: out.last_evaluated_key.filter(|key| !key.is_empty()), items })
    }

    /// A table as it is at this moment; `None` where there is none.
    ///
    /// # Errors
    ///
    /// Those of the call.
    pub async fn describe(&mut self, table: &Table) -> Result<Option<Described>, Error> {
        self.meter.calls += 1;
        let call = self.db.client.describe_table().table_name(self.db.table_name(table)).send();
        let out = match call.await {
            Ok(out) => out,
            Err(error)
                if error
                    .as_service_error()
                    .is_some_and(DescribeTableError::is_resource_not_found_exception) =>
            {
                return Ok(None);
            }
            Err(error) => return Err(failed("DescribeTable", error)),
        };
        let Some(described) = out.table() else { return Ok(None) };
        let indexes = described.global_secondary_indexes().iter().map(|index| {
            let status = index.index_status().map_or("UNKNOWN", IndexStatus::as_str);
            (index.index_name().unwrap_or_default().to_owned(), status.to_owned())
        });
        Ok(Some(Described {
            items: described.item_count().and_then(|count| u64::try_from(count).ok()).unwrap_or_default(),
            indexes: indexes.collect(),
        }))
    }

    /// Fills `rows` with up to `limit` rows of the plans' ranges, one range after the other from `start` on,
    /// and gives the place where the next page starts: `None` exactly when nothing is left.
    ///
    /// It goes on over parts that the service cuts, rows that the filter drops and ranges that are empty,
    /// until the page is full, the last range ends, the rows fill their bytes, or [`READ_BUDGET_CALLS`] or
    /// the time is used up. It reads one row more than the page takes, since only that tells a full page
    /// from the last one.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    pub async fn query_page(
        &mut self,
        plans: &[Plan],
        mut start: Start,
        limit: usize,
        rows: &mut Rows,
    ) -> Result<Option<Start>, Error> {
        let mut evaluate = FILTERED_FIRST;
        for call in 0..READ_BUDGET_CALLS {
            let Some(plan) = plans.get(start.query) else { return Ok(None) };
            if call > 0 && self.deadline.saturating_duration_since(Instant::now()) < READ_BUDGET_RESERVE {
                break;
            }
            let wanted = limit.saturating_sub(rows.count()) + 1;
            let look_at = if plan.keep.is_empty() { wanted } else { wanted.max(evaluate) };
            evaluate = evaluate.saturating_mul(4);
            // Rows that are fetched and not returned are left to the next page, which starts after the
            // last one that is returned; where this part gave none, it starts where the part did.
            let before = start.clone();
            let mut body = Body::default();
            // Once there are rows, time that runs out ends the page and not the request.
            let until = if rows.count() > 0 { READ_BUDGET_RESERVE } else { Duration::ZERO };
            let until = self.deadline.checked_sub(until).unwrap_or(self.deadline);
            let read = self.query(plan, Want::Rows, Some(look_at as u64), start.key, &mut body);
            let read = tokio::time::timeout_at(until, read).await;
            let part = match read.unwrap_or(Err(Error::TimedOut(None))) {
                // What was read so far is a page.
                Err(error @ (Error::Throttled(_) | Error::TimedOut(_))) if rows.count() > 0 => {
                    self.get_over(&error);
                    return Ok(Some(before));
                }
                part => part?,
            };
            let mut last = None;
            for row in &part.items {
                if rows.count() == limit || !rows.push(row)? {
                    if rows.count() == 0 {
                        return Err(Error::internal("filling a page", "a single row is larger than a page"));
                    }
                    return Ok(Some(match last {
                        Some(last) => Start { query: before.query, key: Some(start_key(plan, last)?) },
                        None => before,
                    }));
                }
                last = Some(row);
            }
            start = match part.next {
                Some(key) => Start { query: before.query, key: Some(key) },
                None => Start { query: before.query + 1, key: None },
            };
        }
        Ok((start.query < plans.len()).then_some(start))
    }

    /// How many rows the plan's range has from `start` on; at most `limit` are looked at, or all.
    /// Gives also where the range goes on.
    ///
    /// # Errors
    ///
    /// Those of the calls.
    pub async fn count(
        &mut self,
        plan: &Plan,
        mut start: Option<Item>,
        limit: Option<u64>,
    ) -> Result<(u64, Option<Item>), Error> {
        let mut counted = 0;
        // Each call moves on in the range, and the request's deadline ends a range that is too long.
        loop {
            let left = limit.map(|limit| limit.saturating_sub(counted));
            if left == Some(0) {
                return Ok((counted, start));
            }
            let mut body = Body::default();
            let part = self.query(plan, Want::Count, left, start, &mut body).await?;
            counted += part.count;
            start = part.next;
            if start.is_none() {
                return Ok((counted, None));
            }
        }
    }

    /// Puts a whole item, if the checks hold.
    ///
    /// # Errors
    ///
    /// A key attribute that cannot be stored, before any call; [`Error::ConditionFailed`] with the item
    /// that is stored; those of the call.
    pub async fn put(&mut self, table: &Table, item: Item, checks: &[Check]) -> Result<(), Error> {
        check_item(table, &item)?;
        self.meter.calls += 1;
        let mut placeholders = Placeholders::default();
        let condition = placeholders.condition(checks);
        let out = self
            .db
            .client
            .put_item()
            .table_name(self.db.table_name(table))
            .set_item(Some(item))
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names())
            .set_expression_attribute_values(placeholders.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| match error.as_service_error() {
                Some(PutItemError::ConditionalCheckFailedException(check)) => condition_failed(check.item()),
                _ => failed("PutItem", error),
            })?;
        self.written(out.consumed_capacity());
        Ok(())
    }

    /// Changes attributes of the item with this key, if the checks hold. Without checks, an item that is
    /// not stored is created.
    ///
    /// # Errors
    ///
    /// A key attribute that cannot be stored, before any call; [`Error::ConditionFailed`] with the item
    /// that is stored; those of the call.
    pub async fn update(
        &mut self,
        table: &Table,
        key: Item,
        changes: &[Change],
        checks: &[Check],
        returning: Returning,
    ) -> Result<Item, Error> {
        check_primary_key(table, &key)?;
        let bounds = table.key_bounds();
        for change in changes {
            if let Change::Set(attribute, value) = change
                && let Some((attribute, bound)) = bounds.iter().find(|(known, _)| known.name == *attribute)
            {
                check_value(attribute, *bound, value)?;
            }
        }
        self.meter.calls += 1;
        let mut placeholders = Placeholders::default();
        let update = placeholders.update(changes);
        let condition = placeholders.condition(checks);
        let out = self
            .db
            .client
            .update_item()
            .table_name(self.db.table_name(table))
            .set_key(Some(key))
            .update_expression(update)
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names())
            .set_expression_attribute_values(placeholders.values())
            .return_values(match returning {
                Returning::Nothing => ReturnValue::None,
                Returning::Changed => ReturnValue::UpdatedNew,
                Returning::Item => ReturnValue::AllNew,
            })
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| match error.as_service_error() {
                Some(UpdateItemError::ConditionalCheckFailedException(check)) => {
                    condition_failed(check.item())
                }
                // It has no code of its own.
                Some(fault) if fault.message().is_some_and(|text| text.contains(TOO_LARGE_TO_UPDATE)) => {
                    Error::ItemTooLarge
                }
                Some(fault) if fault.code() == Some("ValidationException") => Error::Refused(said(error)),
                _ => failed("UpdateItem", error),
            })?;
        self.written(out.consumed_capacity());
        Ok(out.attributes.unwrap_or_default())
    }

    /// Deletes the item with this key, if the checks hold.
    ///
    /// # Errors
    ///
    /// [`Error::ConditionFailed`] with the item that is stored; those of the call.
    pub async fn delete(&mut self, table: &Table, key: Item, checks: &[Check]) -> Result<(), Error> {
        check_primary_key(table, &key)?;
        self.meter.calls += 1;
        let mut placeholders = Placeholders::default();
        let condition = placeholders.condition(checks);
        let out = self
            .db
            .client
            .delete_item()
            .table_name(self.db.table_name(table))
            .set_key(Some(key))
            .set_condition_expression(condition)
            .set_expression_attribute_names(placeholders.names())
            .set_expression_attribute_values(placeholders.values())
            .return_values_on_condition_check_failure(ReturnValuesOnConditionCheckFailure::AllOld)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| match error.as_service_error() {
                Some(DeleteItemError::ConditionalCheckFailedException(check)) => {
                    condition_failed(check.item())
                }
                _ => failed("DeleteItem", error),
            })?;
        self.written(out.consumed_capacity());
        Ok(())
    }

    /// The items with these keys, in the order in which they are asked, each once. A key without an item
    /// is passed over.
    ///
    /// # Errors
    ///
    /// [`Unfinished`] with the keys that were not read, where the service leaves them unprocessed time
    /// after time, and where a call fails.
    pub async fn batch_get(
        &mut self,
        table: &Table,
        keys: &[Item],
        consistent: bool,
    ) -> Result<Vec<Item>, Unfinished<Item>> {
        let mut places: HashMap<Vec<u8>, usize> = HashMap::with_capacity(keys.len());
        let mut left: VecDeque<Item> = VecDeque::with_capacity(keys.len());
        for key in keys {
            if let std::collections::hash_map::Entry::Vacant(place) = places.entry(key_bytes(&table.key, key))
            {
                place.insert(left.len());
                left.push_back(key.clone());
            }
        }
        let mut found: BTreeMap<usize, Item> = BTreeMap::new();
        let mut backlog = Backlog::new(left);
        while let Some(chunk) = backlog.next(MAX_BATCH_GET) {
            let (items, unprocessed) = match self.batch_get_once(table, &chunk, consistent).await {
                Ok(done) => done,
                Err(error) => return Err(backlog.failed(chunk, error)),
            };
            for item in items {
                if let Some(place) = places.get(&key_bytes(&table.key, &item)) {
                    found.insert(*place, item);
                }
            }
            backlog = backlog.after(chunk.len(), unprocessed).await?;
        }
        Ok(found.into_values().collect())
    }

    async fn batch_get_once(
        &mut self,
        table: &Table,
        keys: &[Item],
        consistent: bool,
    ) -> Result<(Vec<Item>, Vec<Item>), Error> {
        self.meter.calls += 1;
        let name = self.db.table_name(table);
        let asked = KeysAndAttributes::builder()
            .set_keys(Some(keys.to_vec()))
            .consistent_read(consistent)
            .build()
            .map_err(|error| Error::internal("BatchGetItem", error))?;
        let out = self
            .db
            .client
            .batch_get_item()
            .request_items(&name, asked)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| failed("BatchGetItem", error))?;
        for capacity in out.consumed_capacity() {
            self.read(Some(capacity));
        }
        let items = out.responses.and_then(|mut tables| tables.remove(&name));
        let unprocessed = out.unprocessed_keys.and_then(|mut tables| tables.remove(&name));
        if items.is_none() && unprocessed.is_none() {
            return Err(Error::internal("BatchGetItem", "the answer says nothing of the table"));
        }
        let items = items.unwrap_or_default();
        self.meter.evaluated += items.len() as u64;
        Ok((items, unprocessed.map(|left| left.keys).unwrap_or_default()))
    }

    /// Does these writes, in no particular order. Of several writes of one key the last is done, since a
    /// batch takes a key once.
    ///
    /// # Errors
    ///
    /// [`Unfinished`] with the writes that were not done: all of them where a key attribute cannot be
    /// stored, and otherwise where the service leaves them unprocessed time after time, or a call fails.
    pub async fn batch_write(&mut self, table: &Table, writes: Vec<Write>) -> Result<(), Unfinished<Write>> {
        let fault = writes.iter().find_map(|write| match write {
            Write::Put(item) => check_item(table, item).err(),
            Write::Delete(_) => None,
        });
        if let Some(error) = fault {
            return Err(Unfinished { remaining: writes, error });
        }
        let mut seen: HashSet<Vec<u8>> = HashSet::with_capacity(writes.len());
        let mut left: VecDeque<Write> = VecDeque::with_capacity(writes.len());
        for write in writes.into_iter().rev() {
            let (Write::Put(item) | Write::Delete(item)) = &write;
            if seen.insert(key_bytes(&table.key, item)) {
                left.push_front(write);
            }
        }
        let mut backlog = Backlog::new(left);
        while let Some(chunk) = backlog.next(MAX_BATCH_WRITE) {
            let unprocessed = match self.batch_write_once(table, &chunk).await {
                Ok(unprocessed) => unprocessed,
                Err(error) => return Err(backlog.failed(chunk, error)),
            };
            backlog = backlog.after(chunk.len(), unprocessed).await?;
        }
        Ok(())
    }

    async fn batch_write_once(&mut self, table: &Table, writes: &[Write]) -> Result<Vec<Write>, Error> {
        self.meter.calls += 1;
        let name = self.db.table_name(table);
        let requests = writes
            .iter()
            .map(|write| {
                let request = WriteRequest::builder();
                Ok(match write {
                    Write::Put(item) => request
                        .put_request(PutRequest::builder().set_item(Some(item.clone())).build()?)
                        .build(),
                    Write::Delete(key) => request
                        .delete_request(DeleteRequest::builder().set_key(Some(key.clone())).build()?)
                        .build(),
                })
            })
            .collect::<Result<Vec<_>, aws_sdk_dynamodb::error::BuildError>>()
            .map_err(|error| Error::internal("BatchWriteItem", error))?;
        let out = self
            .db
            .client
            .batch_write_item()
            .request_items(&name, requests)
            .return_consumed_capacity(ReturnConsumedCapacity::Total)
            .send()
            .await
            .map_err(|error| failed("BatchWriteItem", error))?;
        for capacity in out.consumed_capacity() {
            self.written(Some(capacity));
        }
        let unprocessed =
            out.unprocessed_items.and_then(|mut tables| tables.remove(&name)).unwrap_or_default();
        Ok(unprocessed
            .into_iter()
            .filter_map(|request| match (request.put_request, request.delete_request) {
                (Some(put), _) => Some(Write::Put(put.item)),
                (None, Some(delete)) => Some(Write::Delete(delete.key)),
                (None, None) => None,
            })
            .collect())
    }

    fn read(&mut self, capacity: Option<&ConsumedCapacity>) {
        self.meter.read_units += capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    }

    fn written(&mut self, capacity: Option<&ConsumedCapacity>) {
        self.meter.write_units += capacity.and_then(ConsumedCapacity::capacity_units).unwrap_or_default();
    }
}

/// What of a batch is still to be sent.
struct Backlog<T> {
    left: VecDeque<T>,
    /// How often in a row nothing of what was sent was taken.
    tries: u32,
}

impl<T> Backlog<T> {
    fn new(left: VecDeque<T>) -> Self {
        Self { left, tries: 0 }
    }

    /// The next `most` of it, or fewer; `None` once nothing is left.
    fn next(&mut self, most: usize) -> Option<Vec<T>> {
        (!self.left.is_empty()).then(|| self.left.drain(..self.left.len().min(most)).collect())
    }

    /// Takes back what of `sent` was not processed, and waits before it is sent again.
    async fn after(mut self, sent: usize, unprocessed: Vec<T>) -> Result<Self, Unfinished<T>> {
        self.tries = if unprocessed.len() < sent { 0 } else { self.tries + 1 };
        if unprocessed.is_empty() {
            return Ok(self);
        }
        self.left.extend(unprocessed);
        if self.tries >= MAX_TRIES_WITHOUT_PROGRESS {
            return Err(Unfinished { remaining: self.left.into(), error: Error::Throttled(None) });
        }
        pause(self.tries, BACKOFF_CAP).await;
        Ok(self)
    }

    /// The call that sent `chunk` failed.
    fn failed(self, chunk: Vec<T>, error: Error) -> Unfinished<T> {
        Unfinished { remaining: chunk.into_iter().chain(self.left).collect(), error }
    }
}

/// The part of a row from which a page of `plan` can start: the keys of what is read and of the table.
fn start_key(plan: &Plan, row: &Row<'_>) -> Result<Item, Error> {
    let fixed = plan.fixed.iter().map(|(name, _)| *name);
    let names = fixed.chain(plan.carried.iter().map(|attribute| attribute.name));
    let mut key = Item::new();
    for name in names {
        let value = row.scalar(name).map_err(|error| Error::internal("reading a row", error))?;
        key.extend(value.map(|value| (name.to_owned(), value)));
    }
    Ok(key)
}

/// What every scan says: its placeholders, where it starts, and that its cost is told.
fn with_placeholders(
    scan: ScanFluentBuilder,
    placeholders: &Placeholders,
    start: Option<Item>,
) -> ScanFluentBuilder {
    scan.set_expression_attribute_names(placeholders.names())
        .set_expression_attribute_values(placeholders.values())
        .set_exclusive_start_key(start)
        .return_consumed_capacity(ReturnConsumedCapacity::Total)
}

/// The key of an item, as bytes that differ wherever keys differ.
fn key_bytes(key: &Key, item: &Item) -> Vec<u8> {
    let mut bytes = Vec::new();
    for attribute in key.attributes() {
        let value: &[u8] = match item.get(attribute.name) {
            Some(AttributeValue::S(text) | AttributeValue::N(text)) => text.as_bytes(),
            Some(AttributeValue::B(blob)) => blob.as_ref(),
            _ => &[],
        };
        bytes.extend_from_slice(&(value.len() as u64).to_be_bytes());
        bytes.extend_from_slice(value);
    }
    bytes
}

/// Checks every attribute of an item that is part of some key: a primary key must be whole, an index key
/// may be absent, and what is there must be something a key can be. The service refuses the same, but
/// emulators and compatible services do not all. The item's size is looked at as well.
fn check_item(table: &Table, item: &Item) -> Result<(), Error> {
    for (attribute, bound) in table.key_bounds() {
        match item.get(attribute.name) {
            Some(value) => check_value(&attribute, bound, value)?,
            None if table.key.attributes().any(|primary| primary == attribute) => {
                return Err(Error::KeyAttribute {
                    attribute: attribute.name.to_owned(),
                    fault: KeyFault::Missing,
                });
            }
            None => {}
        }
    }
    if item::size(item) > MAX_ITEM_BYTES { Err(Error::ItemTooLarge) } else { Ok(()) }
}

/// The same for a primary key alone.
fn check_primary_key(table: &Table, key: &Item) -> Result<(), Error> {
    check_item(&Table { indexes: &[], ..*table }, key)
}

fn check_value(attribute: &KeyAttribute, bound: usize, value: &AttributeValue) -> Result<(), Error> {
    match item::key_fault(attribute, bound, value) {
        None => Ok(()),
        Some(fault) => Err(Error::KeyAttribute { attribute: attribute.name.to_owned(), fault }),
    }
}

fn condition_failed(item: Option<&Item>) -> Error {
    Error::ConditionFailed { item: item.cloned().map(Box::new) }
}

fn failed<E>(doing: &'static str, error: SdkError<E, HttpResponse>) -> Error
where
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    let timed_out = match &error {
        SdkError::TimeoutError(_) => true,
        SdkError::DispatchFailure(failure) => failure.is_timeout(),
        _ => false,
    };
    if timed_out {
        return Error::TimedOut(Some(error.into()));
    }
    let throttled = error.code().is_some_and(|code| THROTTLING.contains(&code));
    let source = said(error);
    if throttled { Error::Throttled(Some(source)) } else { Error::internal(doing, source) }
}

/// The service's own words of an error: of one that it does not model, the SDK tells them in its debug format only.
fn said<E>(error: SdkError<E, HttpResponse>) -> Source
where
    E: std::error::Error + ProvideErrorMetadata + Send + Sync + 'static,
{
    let SdkError::ServiceError(answer) = &error else { return error.into() };
    let code = error.code().map(str::to_owned);
    Box::new(Said {
        code: code.unwrap_or_else(|| format!("status {}", answer.raw().status().as_u16())),
        message: error.message().unwrap_or("no message").to_owned(),
        request_id: error.request_id().unwrap_or("none").to_owned(),
    })
}

/// What the service says of a call that it does not do.
#[derive(Debug, thiserror::Error)]
#[error("{code}: {message} (request {request_id})")]
struct Said {
    code: String,
    message: String,
    request_id: String,
}

/// Waits before a call is sent again, for `cap` at most: exponential backoff with full jitter.
pub async fn pause(tries: u32, cap: Duration) {
    let longest = BACKOFF_BASE.saturating_mul(1 << tries.min(10)).min(cap);
    tokio::time::sleep(longest.mul_f64(fastrand::f64())).await;
}
