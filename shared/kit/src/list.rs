//! How a list is declared: its table, the questions it answers, and the form of its answer.
//!
//! A declaration is a constant. [`List::new`] checks it while it is compiled, so a list that names an
//! index of another table, asks for an order that its key cannot give, or has two questions for the same
//! parameters does not build:
//!
//! ```compile_fail,E0080
//! use kit::key::{Index, Key, Table};
//! use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
//!
//! const ELSEWHERE: Index = Index::new("tenant-at-index", Key::pair("tenant", "at"));
//! const TABLE: Table = Table::new("Visit", Key::pair("tenant", "id"), &[]);
//!
//! static LIST: List = List::new("visits", "/visits", TABLE, &[Question {
//!     name: "visits-by-time",
//!     read: Read::Index(ELSEWHERE), // not an index of Visit
//!     partition: Partition::Tenant,
//!     sort: Sort::All,
//!     filter: None,
//!     order: Order::Key(Direction::Ascending),
//!     until: None,
//! }], Answer::Page);
//! ```
//!
//! With the index declared on the table, the same list builds:
//!
//! ```
//! use kit::key::{Index, Key, Table};
//! use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
//!
//! const BY_TIME: Index = Index::new("tenant-at-index", Key::pair("tenant", "at"));
//! const TABLE: Table = Table::new("Visit", Key::pair("tenant", "id"), &[BY_TIME]);
//!
//! static LIST: List = List::new("visits", "/visits", TABLE, &[Question {
//!     name: "visits-by-time",
//!     read: Read::Index(BY_TIME),
//!     partition: Partition::Tenant,
//!     sort: Sort::All,
//!     filter: None,
//!     order: Order::Key(Direction::Ascending),
//!     until: None,
//! }], Answer::Page);
//! assert_eq!(LIST.name(), "visits");
//! ```

use crate::key::{Index, Key, KeyAttribute, Rollout, ScalarType, TENANT, Table};
use crate::rollout::{Stage, Stages};

/// The parameters that walk through an answer. No question may use their names.
pub const PAGING: &[&str] = &["page", "limit", "cursor", "order"];

/// The parameters of [`Sort::Days`].
pub const PERIOD: [&str; 2] = ["from", "to"];

/// A list: a table, the questions asked of it, and the form of the answer.
#[derive(Debug)]
pub struct List {
    name: &'static str,
    path: &'static str,
    item_path: Option<&'static str>,
    table: Table,
    questions: &'static [Question],
    answer: Answer,
}

/// One question of a list: the parameters that ask it and the key that answers it.
///
/// It is asked when exactly its parameters are given: all those of its partition, sort and filter, and
/// any of the two of a period.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// The business question, in words joined by hyphens. It names the question in metrics and binds
    /// cursors, so it stays as it is once deployed.
    pub name: &'static str,
    /// The key that answers it.
    pub read: Read,
    /// Where its partition key value comes from.
    pub partition: Partition,
    /// Which part of the partition is read.
    pub sort: Sort,
    /// What rows are kept of that part. A filter saves no reading and never separates tenants: it is
    /// for old read paths whose index is not there yet.
    pub filter: Option<Filter>,
    /// The order of the rows.
    pub order: Order,
    /// How it is answered until its index can be read.
    pub until: Option<OldPath>,
}

/// How a question is answered while its index is rolled out, see [`crate::rollout`].
#[derive(Debug, Clone, Copy)]
pub struct OldPath {
    /// The rollout of the index.
    pub rollout: &'static Rollout,
    /// Whether the whole table is scanned, for rows of this tenant only, or the tenant's partition of the
    /// table is read.
    pub scan: bool,
    /// What rows are kept. Their parameters are those of the question.
    pub keep: &'static [Filter],
}

/// The key that a question reads by.
#[derive(Debug, Clone, Copy)]
pub enum Read {
    /// The table's own key.
    Table,
    /// The key of one of its indexes.
    Index(Index),
}

/// Where the partition key value comes from.
#[derive(Debug, Clone, Copy)]
pub enum Partition {
    /// It is the tenant.
    Tenant,
    /// It is the tenant and this parameter, joined: `tenant#entity`.
    TenantAnd(&'static str),
    /// It is the tenant, this parameter and a month: `tenant#entity#2026-02`. The months that are asked
    /// for are read one after the other, in the order of the answer.
    TenantAndMonths(&'static str),
}

/// Which part of a partition is read.
#[derive(Debug, Clone, Copy)]
pub enum Sort {
    /// All of it.
    All,
    /// The rows whose sort key is this parameter.
    Equals(&'static str),
    /// The rows of the days `from` to `to`, both inclusive and both optional; both needed where the
    /// partitions are months, since a walk over months has two ends.
    Days(Days),
    /// The rows of the month that is this parameter. Only where the partitions are months.
    Month(&'static str),
}

/// How a sort key holds time.
#[derive(Debug, Clone, Copy)]
pub enum Days {
    /// As calendar days: `2026-02-01`, also as the beginning of a longer key.
    Dates,
    /// As instants in UTC: `2026-02-01T03:00:00.000Z`. A day is one in the configured time zone.
    Instants,
}

/// Rows are kept whose attribute is this parameter.
#[derive(Debug, Clone, Copy)]
pub struct Filter {
    /// The attribute; a dot leads into a map: `customer.id`.
    pub attribute: &'static str,
    /// The parameter.
    pub parameter: &'static str,
    /// Which part of the attribute it is.
    pub part: FilterPart,
}

/// The part of an attribute that a filter looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterPart {
    /// All of it.
    Whole,
    /// What comes before the first `#`.
    First,
    /// What stands between two `#`.
    Inner,
}

/// The order of the rows.
#[derive(Debug, Clone, Copy)]
pub enum Order {
    /// That of the sort key that is read.
    Key(Direction),
    /// That of another attribute, ties by the table's key. Only that attribute is read of the whole
    /// range, and then the page's rows by key.
    By(&'static str, Direction),
}

/// Up or down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// The smallest, or oldest, first.
    Ascending,
    /// The largest, or newest, first.
    Descending,
}

/// The form of a list's answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    /// `items`, `page`, `limit` and an exact `total`.
    Page,
    /// `items` and `nextCursor`.
    Cursor {
        /// Whether `order=asc|desc` may turn the declared order round.
        reversible: bool,
    },
    /// `items`: the whole collection.
    All,
}

impl Answer {
    /// The parameters that choose a part of the answer, of those in [`PAGING`].
    #[must_use]
    pub const fn paging(self) -> &'static [&'static str] {
        match self {
            Self::Page => &["page", "limit"],
            Self::Cursor { reversible: true } => &["limit", "cursor", "order"],
            Self::Cursor { reversible: false } => &["limit", "cursor"],
            Self::All => &[],
        }
    }
}

impl List {
    /// Declares the list `name`, served at `GET path`.
    ///
    /// # Panics
    ///
    /// In a constant, and so while compiling: where [`List::fault`] finds something.
    #[must_use]
    #[allow(clippy::panic, reason = "it is evaluated by the compiler, which reports it as an error")]
    pub const fn new(
        name: &'static str,
        path: &'static str,
        table: Table,
        questions: &'static [Question],
        answer: Answer,
    ) -> Self {
        let list = Self { name, path, item_path: None, table, questions, answer };
        match list.fault() {
            None => list,
            Some(fault) => panic!("{}", fault),
        }
    }

    /// Serves single items of the table, too, at `GET path`, which ends with the table's sort key as a
    /// placeholder: `/products/{id}`.
    ///
    /// # Panics
    ///
    /// In a constant, and so while compiling: where [`List::fault`] finds something.
    #[must_use]
    #[allow(clippy::panic, reason = "it is evaluated by the compiler, which reports it as an error")]
    pub const fn with_item(self, path: &'static str) -> Self {
        let list = Self { item_path: Some(path), ..self };
        match list.fault() {
            None => list,
            Some(fault) => panic!("{}", fault),
        }
    }

    /// The list's name: that of its folder, its package and its event folder.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The path it is served at. Placeholders are written `{name}`.
    #[must_use]
    pub const fn path(&self) -> &'static str {
        self.path
    }

    /// The path that its single items are served at, if they are.
    #[must_use]
    pub const fn item_path(&self) -> Option<&'static str> {
        self.item_path
    }

    /// The table it reads.
    #[must_use]
    pub const fn table(&self) -> &Table {
        &self.table
    }

    /// The questions it answers.
    #[must_use]
    pub const fn questions(&self) -> &'static [Question] {
        self.questions
    }

    /// The form of its answer.
    #[must_use]
    pub const fn answer(&self) -> Answer {
        self.answer
    }

    /// What is wrong with the declaration, if anything is.
    #[must_use]
    #[allow(
        clippy::indexing_slicing,
        reason = "a constant function has no iterators, and the bounds are the loops' own"
    )]
    pub const fn fault(&self) -> Option<&'static str> {
        if self.questions.is_empty() {
            return Some("a list needs a question");
        }
        if let Some(path) = self.item_path {
            match self.table.key.sort {
                Some(sort)
                    if ends_with_placeholder(path, sort.name)
                        && str_eq(self.table.key.partition.name, TENANT) => {}
                _ => return Some("the path of an item ends with the table's sort key as its placeholder"),
            }
        }
        let mut at = 0;
        while at < self.questions.len() {
            let question = &self.questions[at];
            if let Some(fault) = question.fault(&self.table, self.answer) {
                return Some(fault);
            }
            if placeholders(self.path) != question.placeholders_in(self.path) {
                return Some("the path names a parameter that a question does not need");
            }
            let mut before = 0;
            while before < at {
                let other = &self.questions[before];
                if str_eq(other.name, question.name) {
                    return Some("two questions have the same name");
                }
                if question.covers(other) && other.covers(question) {
                    return Some("two questions are asked by the same parameters");
                }
                before += 1;
            }
            at += 1;
        }
        None
    }
}

impl Question {
    /// The key it reads by.
    #[must_use]
    pub const fn key<'a>(&'a self, table: &'a Table) -> &'a Key {
        match &self.read {
            Read::Table => &table.key,
            Read::Index(index) => &index.key,
        }
    }

    /// The name of the index it reads, if it reads one.
    #[must_use]
    pub const fn index(&self) -> Option<&'static str> {
        match self.read {
            Read::Table => None,
            Read::Index(index) => Some(index.name),
        }
    }

    /// The parameters that must be given: those of the partition, the sort key and the filter.
    #[must_use]
    pub const fn required(&self) -> [Option<&'static str>; 4] {
        let partition = match self.partition {
            Partition::Tenant => None,
            Partition::TenantAnd(parameter) | Partition::TenantAndMonths(parameter) => Some(parameter),
        };
        let (sort, end) = match (self.sort, self.partition) {
            (Sort::Equals(parameter) | Sort::Month(parameter), _) => (Some(parameter), None),
            (Sort::Days(_), Partition::TenantAndMonths(_)) => (Some(PERIOD[0]), Some(PERIOD[1])),
            (Sort::All | Sort::Days(_), _) => (None, None),
        };
        let filter = match self.filter {
            Some(filter) => Some(filter.parameter),
            None => None,
        };
        [partition, sort, end, filter]
    }

    /// How many of the parameters it needs stand in this path.
    #[allow(
        clippy::indexing_slicing,
        reason = "a constant function has no iterators, and the bounds are the loops' own"
    )]
    const fn placeholders_in(&self, path: &str) -> usize {
        let required = self.required();
        let (mut count, mut at) = (0, 0);
        while at < required.len() {
            if let Some(name) = required[at]
                && has_placeholder(path, name)
            {
                count += 1;
            }
            at += 1;
        }
        count
    }

    /// The parameters that may be given.
    #[must_use]
    pub const fn optional(&self) -> &'static [&'static str] {
        match (self.sort, self.partition) {
            (Sort::Days(_), Partition::Tenant | Partition::TenantAnd(_)) => &PERIOD,
            _ => &[],
        }
    }

    /// Whether a row is found by reading only what decides its place, and fetched by key afterwards.
    #[must_use]
    pub const fn fetches_rows_by_key(&self, answer: Answer) -> bool {
        matches!(answer, Answer::Page) && (matches!(self.order, Order::By(..)) || self.filter.is_some())
    }

    /// How it is answered while its index is at this stage of its rollout; `None` for its key.
    #[must_use]
    pub fn old_path(&self, stages: &Stages) -> Option<&OldPath> {
        self.until.as_ref().filter(|old| stages.of(old.rollout) < Stage::Read)
    }

    /// Whether this question takes all parameters that `other` needs.
    #[allow(
        clippy::indexing_slicing,
        reason = "a constant function has no iterators, and the bounds are the loops' own"
    )]
    const fn covers(&self, other: &Self) -> bool {
        let (mine, theirs) = (self.required(), other.required());
        let mut at = 0;
        while at < theirs.len() {
            if let Some(parameter) = theirs[at] {
                let mut known = contains(self.optional(), parameter);
                let mut own = 0;
                while own < mine.len() {
                    if let Some(name) = mine[own]
                        && str_eq(name, parameter)
                    {
                        known = true;
                    }
                    own += 1;
                }
                if !known {
                    return false;
                }
            }
            at += 1;
        }
        true
    }

    #[allow(
        clippy::indexing_slicing,
        reason = "a constant function has no iterators, and the bounds are the loops' own"
    )]
    const fn fault(&self, table: &Table, answer: Answer) -> Option<&'static str> {
        if let Read::Index(index) = self.read {
            let mut known = false;
            let mut at = 0;
            while at < table.indexes.len() {
                let of_table = &table.indexes[at];
                if str_eq(of_table.name, index.name) && key_eq(&of_table.key, &index.key) {
                    known = true;
                }
                at += 1;
            }
            if !known {
                return Some("a question reads an index that its table does not have");
            }
            // The start key of an index holds the table's key, too, and a cursor does not carry what the
            // tenant tells.
            if table.key.sort.is_some() && !str_eq(table.key.partition.name, TENANT) {
                return Some("a question reads an index of a table that is not partitioned by tenant");
            }
        }
        let key = self.key(table);
        if !matches!(key.partition.scalar, ScalarType::S) {
            return Some("a question reads a partition key that is not a string");
        }
        match (self.partition, self.sort, answer) {
            (
                Partition::TenantAndMonths(_),
                Sort::Month(_) | Sort::Days(Days::Dates),
                Answer::Cursor { .. },
            ) => {}
            (Partition::TenantAndMonths(_), ..) => {
                return Some("months are walked by day or by month, and answered with a cursor");
            }
            (_, Sort::Month(_), _) => {
                return Some("a question asks for a month where no month is a partition");
            }
            _ => {}
        }
        match (self.sort, key.sort) {
            (Sort::All, _) => {}
            (Sort::Equals(_) | Sort::Days(_) | Sort::Month(_), None) => {
                return Some("a question narrows a sort key, and its key has none");
            }
            (Sort::Equals(_) | Sort::Days(_) | Sort::Month(_), Some(sort)) => {
                if !matches!(sort.scalar, ScalarType::S) {
                    return Some("a question narrows a sort key that is not a string");
                }
            }
        }
        match (self.order, key.sort, answer) {
            (Order::Key(_), None, _) => return Some("a question orders by a sort key, and its key has none"),
            (Order::By(..), _, Answer::Cursor { .. } | Answer::All) => {
                return Some("only pages can be ordered by an attribute that is not the sort key");
            }
            _ => {}
        }
        let required = self.required();
        if let Some(old) = self.until {
            if !matches!(answer, Answer::Page) {
                return Some("an old path answers pages only");
            }
            if !old.scan && !str_eq(table.key.partition.name, TENANT) {
                return Some("an old path reads a partition of a table that is not partitioned by tenant");
            }
            match self.read {
                Read::Index(index)
                    if str_eq(index.name, old.rollout.index.name)
                        && str_eq(table.name, old.rollout.table.name) => {}
                _ => return Some("an old path belongs to the rollout of another index"),
            }
            let mut at = 0;
            while at < old.keep.len() {
                let mut own = 0;
                while own < required.len() {
                    if let Some(name) = required[own]
                        && str_eq(name, old.keep[at].parameter)
                    {
                        break;
                    }
                    own += 1;
                }
                if own == required.len() {
                    return Some("an old path keeps rows by a parameter that its question does not need");
                }
                at += 1;
            }
        }
        let mut at = 0;
        while at < required.len() {
            if let Some(parameter) = required[at] {
                if contains(PAGING, parameter) {
                    return Some("a question uses the name of a paging parameter");
                }
                if contains(self.optional(), parameter) {
                    return Some("a question uses one parameter twice");
                }
                let mut before = 0;
                while before < at {
                    if let Some(other) = required[before]
                        && str_eq(other, parameter)
                    {
                        return Some("a question uses one parameter twice");
                    }
                    before += 1;
                }
            }
            at += 1;
        }
        None
    }
}

/// Whether `{name}` stands in the path.
#[must_use]
#[allow(
    clippy::indexing_slicing,
    reason = "a constant function has no iterators, and the bounds are the loops' own"
)]
pub const fn has_placeholder(path: &str, name: &str) -> bool {
    let (path, name) = (path.as_bytes(), name.as_bytes());
    let mut at = 0;
    while at + name.len() + 2 <= path.len() {
        let mut same = path[at] == b'{' && path[at + name.len() + 1] == b'}';
        let mut byte = 0;
        while byte < name.len() {
            same = same && path[at + 1 + byte] == name[byte];
            byte += 1;
        }
        if same {
            return true;
        }
        at += 1;
    }
    false
}

/// How many placeholders a path has.
#[allow(
    clippy::indexing_slicing,
    reason = "a constant function has no iterators, and the bounds are the loop's own"
)]
const fn placeholders(path: &str) -> usize {
    let path = path.as_bytes();
    let (mut count, mut at) = (0, 0);
    while at < path.len() {
        if path[at] == b'{' {
            count += 1;
        }
        at += 1;
    }
    count
}

/// Whether a path has one placeholder, of this name, and ends with it.
#[allow(
    clippy::indexing_slicing,
    reason = "a constant function has no iterators, and the length was looked at"
)]
const fn ends_with_placeholder(path: &str, name: &str) -> bool {
    let bytes = path.as_bytes();
    placeholders(path) == 1 && has_placeholder(path, name) && bytes[bytes.len() - 1] == b'}'
}

const fn attribute_eq(a: &KeyAttribute, b: &KeyAttribute) -> bool {
    str_eq(a.name, b.name) && str_eq(a.scalar.as_str(), b.scalar.as_str())
}

const fn key_eq(a: &Key, b: &Key) -> bool {
    attribute_eq(&a.partition, &b.partition)
        && match (&a.sort, &b.sort) {
            (None, None) => true,
            (Some(a), Some(b)) => attribute_eq(a, b),
            _ => false,
        }
}

#[allow(
    clippy::indexing_slicing,
    reason = "a constant function has no iterators, and the bounds are the loop's own"
)]
const fn contains(names: &[&str], name: &str) -> bool {
    let mut at = 0;
    while at < names.len() {
        if str_eq(names[at], name) {
            return true;
        }
        at += 1;
    }
    false
}

#[allow(
    clippy::indexing_slicing,
    reason = "a constant function has no iterators, and the bounds are the loop's own"
)]
const fn str_eq(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    if a.len() != b.len() {
        return false;
    }
    let mut at = 0;
    while at < a.len() {
        if a[at] != b[at] {
            return false;
        }
        at += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    const BY_AT: Index = Index::new("at-index", Key::pair("tenant", "at"));
    const BY_NUMBER: Index = Index::new(
        "number-index",
        Key {
            partition: KeyAttribute { name: "tenant", scalar: ScalarType::S },
            sort: Some(KeyAttribute { name: "number", scalar: ScalarType::N }),
        },
    );
    const BY_TENANT: Index = Index::new("tenant-index", Key::single("tenant"));
    const TABLE: Table = Table::new("T", Key::pair("tenant", "id"), &[BY_AT, BY_NUMBER, BY_TENANT]);
    const FINE: Question = Question {
        name: "all",
        read: Read::Index(BY_AT),
        partition: Partition::Tenant,
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    };

    fn fault(questions: &'static [Question], answer: Answer) -> Option<&'static str> {
        List { name: "t", path: "/t", item_path: None, table: TABLE, questions, answer }.fault()
    }

    #[test]
    fn a_right_declaration_has_no_fault() {
        assert_eq!(fault(&[FINE], Answer::Page), None);
        const BY_PARAMETER: Question = Question { name: "one", sort: Sort::Equals("at"), ..FINE };
        assert_eq!(fault(&[FINE, BY_PARAMETER], Answer::Cursor { reversible: true }), None);
    }

    #[test]
    fn a_path_and_what_it_names_agree() {
        let list = |path, item_path| List {
            name: "t",
            path,
            item_path,
            table: TABLE,
            questions: &[Question { sort: Sort::Equals("roomId"), ..FINE }],
            answer: Answer::Page,
        };
        for (path, item_path) in
            [("/t", None), ("/rooms/{roomId}/t", None), ("/t", Some("/t/{id}")), ("/t", Some("/x/t/{id}"))]
        {
            assert_eq!(list(path, item_path).fault(), None, "{path} {item_path:?}");
        }
        for path in ["/rooms/{room}/t", "/rooms/{roomId}/{x}", "/rooms/{roomIdx}/t"] {
            let fault = "the path names a parameter that a question does not need";
            assert_eq!(list(path, None).fault(), Some(fault), "{path}");
        }
        for item_path in ["/t", "/t/{at}", "/t/{id}/x", "/{id}/{id}"] {
            let fault = "the path of an item ends with the table's sort key as its placeholder";
            assert_eq!(list("/t", Some(item_path)).fault(), Some(fault), "{item_path}");
        }
    }

    const NEW: Rollout = Rollout {
        name: "t-by-at",
        table: TABLE,
        index: BY_AT,
        derived: &[],
        found_by: &[],
        schema_version: 1,
    };
    static ROLLOUT: Rollout = NEW;
    static OTHER_INDEX: Rollout = Rollout { index: BY_TENANT, ..NEW };

    #[test]
    fn every_wrong_old_path_is_named() {
        const FILTER: Filter = Filter { attribute: "a", parameter: "a", part: FilterPart::Whole };
        let old = |rollout, scan, keep| Some(OldPath { rollout, scan, keep });
        let fault = |question: Question, key: Key, answer| {
            let table = Table { key, ..TABLE };
            question.fault(&table, answer)
        };
        let (pair, single) = (TABLE.key, Key::single("id"));
        let by_parameter = Question { sort: Sort::Equals("a"), ..FINE };
        for (expected, found) in [
            (None, fault(Question { until: old(&ROLLOUT, false, &[]), ..FINE }, pair, Answer::Page)),
            (None, fault(Question { until: old(&ROLLOUT, true, &[]), ..FINE }, single, Answer::Page)),
            (
                None,
                fault(
                    Question { until: old(&ROLLOUT, false, &[FILTER]), ..by_parameter },
                    pair,
                    Answer::Page,
                ),
            ),
            (
                Some("an old path answers pages only"),
                fault(Question { until: old(&ROLLOUT, false, &[]), ..FINE }, pair, Answer::All),
            ),
            (
                Some("an old path reads a partition of a table that is not partitioned by tenant"),
                fault(Question { until: old(&ROLLOUT, false, &[]), ..FINE }, single, Answer::Page),
            ),
            (
                Some("an old path belongs to the rollout of another index"),
                fault(Question { until: old(&OTHER_INDEX, false, &[]), ..FINE }, pair, Answer::Page),
            ),
            (
                Some("an old path belongs to the rollout of another index"),
                fault(
                    Question { read: Read::Table, until: old(&ROLLOUT, false, &[]), ..FINE },
                    pair,
                    Answer::Page,
                ),
            ),
            (
                Some("an old path keeps rows by a parameter that its question does not need"),
                fault(Question { until: old(&ROLLOUT, false, &[FILTER]), ..FINE }, pair, Answer::Page),
            ),
        ] {
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn every_wrong_declaration_is_named() {
        const OTHER: Index = Index::new("other-index", Key::pair("tenant", "at"));
        const CHANGED: Index = Index::new("at-index", Key::pair("tenant", "on"));
        const FILTER: Option<Filter> =
            Some(Filter { attribute: "a", parameter: "a", part: FilterPart::Whole });
        let cases: &[(&str, Option<&str>)] = &[
            ("a list needs a question", fault(&[], Answer::Page)),
            (
                "a question reads an index that its table does not have",
                fault(&[Question { read: Read::Index(OTHER), ..FINE }], Answer::Page),
            ),
            (
                "a question reads an index that its table does not have",
                fault(&[Question { read: Read::Index(CHANGED), ..FINE }], Answer::Page),
            ),
            (
                "a question orders by a sort key, and its key has none",
                fault(&[Question { read: Read::Index(BY_TENANT), ..FINE }], Answer::Page),
            ),
            (
                "a question narrows a sort key, and its key has none",
                fault(
                    &[Question { read: Read::Index(BY_TENANT), sort: Sort::Equals("a"), ..FINE }],
                    Answer::Page,
                ),
            ),
            (
                "a question narrows a sort key that is not a string",
                fault(
                    &[Question { read: Read::Index(BY_NUMBER), sort: Sort::Equals("a"), ..FINE }],
                    Answer::Page,
                ),
            ),
            (
                "months are walked by day or by month, and answered with a cursor",
                fault(
                    &[Question {
                        partition: Partition::TenantAndMonths("bookId"),
                        sort: Sort::Month("month"),
                        ..FINE
                    }],
                    Answer::Page,
                ),
            ),
            (
                "months are walked by day or by month, and answered with a cursor",
                fault(
                    &[Question { partition: Partition::TenantAndMonths("bookId"), ..FINE }],
                    Answer::Cursor { reversible: true },
                ),
            ),
            (
                "a question asks for a month where no month is a partition",
                fault(&[Question { sort: Sort::Month("month"), ..FINE }], Answer::Page),
            ),
            (
                "only pages can be ordered by an attribute that is not the sort key",
                fault(
                    &[Question { order: Order::By("at", Direction::Ascending), ..FINE }],
                    Answer::Cursor { reversible: false },
                ),
            ),
            (
                "a question uses the name of a paging parameter",
                fault(&[Question { sort: Sort::Equals("limit"), ..FINE }], Answer::Page),
            ),
            (
                "a question uses one parameter twice",
                fault(&[Question { sort: Sort::Equals("a"), filter: FILTER, ..FINE }], Answer::Page),
            ),
            ("two questions have the same name", fault(&[FINE, FINE], Answer::Page)),
            (
                "two questions are asked by the same parameters",
                fault(
                    &[FINE, Question { name: "period", sort: Sort::Days(Days::Dates), ..FINE }],
                    Answer::Page,
                ),
            ),
            (
                "two questions are asked by the same parameters",
                fault(
                    &[
                        Question { name: "x", sort: Sort::Equals("a"), ..FINE },
                        Question { name: "y", filter: FILTER, ..FINE },
                    ],
                    Answer::Page,
                ),
            ),
        ];
        for (expected, found) in cases {
            assert_eq!(Some(*expected), *found);
        }
    }
}
