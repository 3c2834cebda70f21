//! The words in which tables are declared: key attributes, keys, indexes, and what DynamoDB asks of
//! a key's value.

/// The largest partition key value, in bytes of UTF-8.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: partition key length".
pub const MAX_PARTITION_BYTES: usize = 2048;

/// The largest sort key value, in bytes of UTF-8.
///
/// Source: Amazon DynamoDB developer guide, "Quotas: sort key length".
pub const MAX_SORT_BYTES: usize = 1024;

/// The attribute that is the tenant, in every table that is partitioned by it.
pub const TENANT: &str = "tenant";

/// What joins the parts of a composite key: `tenant#entity`. No part may hold it.
pub const SEPARATOR: char = '#';

/// The DynamoDB type of a key attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// String.
    S,
    /// Number.
    N,
    /// Binary.
    B,
}

impl ScalarType {
    /// The type's name in `AttributeDefinitions`.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::S => "S",
            Self::N => "N",
            Self::B => "B",
        }
    }
}

/// One attribute of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyAttribute {
    /// The attribute's name as it is stored.
    pub name: &'static str,
    /// Its declared type.
    pub scalar: ScalarType,
}

/// The key of a table or of an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The partition (HASH) attribute.
    pub partition: KeyAttribute,
    /// The sort (RANGE) attribute, if the key has one.
    pub sort: Option<KeyAttribute>,
}

impl Key {
    /// A key of a partition attribute alone, of type string.
    #[must_use]
    pub const fn single(partition: &'static str) -> Self {
        Self { partition: KeyAttribute { name: partition, scalar: ScalarType::S }, sort: None }
    }

    /// A key of a partition and a sort attribute, both of type string.
    #[must_use]
    pub const fn pair(partition: &'static str, sort: &'static str) -> Self {
        Self {
            partition: KeyAttribute { name: partition, scalar: ScalarType::S },
            sort: Some(KeyAttribute { name: sort, scalar: ScalarType::S }),
        }
    }

    /// Its attributes, the partition attribute first.
    pub fn attributes(&self) -> impl Iterator<Item = KeyAttribute> {
        std::iter::once(self.partition).chain(self.sort)
    }

    /// The same, each with the bytes that its value may have.
    pub fn bounds(&self) -> impl Iterator<Item = (KeyAttribute, usize)> {
        std::iter::once((self.partition, MAX_PARTITION_BYTES))
            .chain(self.sort.map(|sort| (sort, MAX_SORT_BYTES)))
    }
}

/// A global secondary index. It holds whole items, since lists answer whole items.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// The index's name as it is deployed.
    pub name: &'static str,
    /// Its key.
    pub key: Key,
}

impl Index {
    /// An index.
    #[must_use]
    pub const fn new(name: &'static str, key: Key) -> Self {
        Self { name, key }
    }
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// The table's name, without the prefix of a deployment.
    pub name: &'static str,
    /// Its primary key.
    pub key: Key,
    /// Its global secondary indexes.
    pub indexes: &'static [Index],
    /// Attributes that the rollout of an index adds. List answers leave them out, so that a screen
    /// sees the same item before and after.
    pub unlisted: &'static [&'static str],
}

impl Table {
    /// A table whose items are listed whole.
    #[must_use]
    pub const fn new(name: &'static str, key: Key, indexes: &'static [Index]) -> Self {
        Self { name, key, indexes, unlisted: &[] }
    }

    /// Every attribute that is part of some key of the table, with the bytes its value may have: the
    /// smallest bound where the attribute is part of several keys.
    pub fn key_bounds(&self) -> Vec<(KeyAttribute, usize)> {
        let mut bounds: Vec<(KeyAttribute, usize)> = Vec::new();
        let keys = std::iter::once(&self.key).chain(self.indexes.iter().map(|index| &index.key));
        for key in keys {
            for (attribute, bytes) in key.bounds() {
                match bounds.iter_mut().find(|(known, _)| known.name == attribute.name) {
                    Some((_, bound)) => *bound = bytes.min(*bound),
                    None => bounds.push((attribute, bytes)),
                }
            }
        }
        bounds
    }
}

/// A new index of a table that is in use, and how the attributes of its key come from what its items
/// hold already. It goes live in steps, see [`crate::rollout`].
#[derive(Debug, Clone, Copy)]
pub struct Rollout {
    /// Its name, in words joined by hyphens: `orders-by-customer`.
    pub name: &'static str,
    /// The table, the new index among its indexes.
    pub table: Table,
    /// The index.
    pub index: Index,
    /// The attributes of the index's key that items do not have of themselves.
    pub derived: &'static [Derived],
    /// The attribute paths by which the old way of reading finds an item: one that has text at each of
    /// them is on somebody's screen, and would be gone from it if the index did not hold it.
    pub found_by: &'static [&'static str],
    /// What `schemaVersion` says of an item that has been given this key.
    pub schema_version: u32,
}

impl Rollout {
    /// The variable that tells a function the stage: `ORDERS_BY_CUSTOMER_STAGE`.
    #[must_use]
    pub fn variable(&self) -> String {
        format!("{}_STAGE", self.name.to_uppercase().replace('-', "_"))
    }

    /// The parameter of the template that sets the stage: `OrdersByCustomerStage`.
    #[must_use]
    pub fn parameter(&self) -> String {
        let mut name = String::new();
        for word in self.name.split('-') {
            let mut letters = word.chars();
            name.extend(letters.next().map(|first| first.to_ascii_uppercase()));
            name.push_str(letters.as_str());
        }
        format!("{name}Stage")
    }
}

/// An attribute of a new index's key, and what it is made of.
#[derive(Debug, Clone, Copy)]
pub struct Derived {
    /// The attribute's stored name.
    pub attribute: &'static str,
    /// The attribute paths that it is made of, all of them texts. A fault of the value is told of the
    /// last.
    pub from: &'static [&'static str],
    /// Makes the value of their texts, in that order.
    pub value: fn(&[&str]) -> Result<String, KeyFault>,
    /// Whether an item may have the attribute of itself. It is then left as it is and must agree.
    pub may_be_stored: bool,
}

/// What an item's schema version is stored as.
pub const SCHEMA_VERSION: &str = "schemaVersion";

/// Names those attributes of an item that it has for an index alone, where others have them of
/// themselves: lists leave them out of this item.
pub const INDEX_ONLY: &str = "indexOnly";

/// Why a key could not be built.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum KeyFault {
    /// A part is empty.
    #[error("must not be empty")]
    Empty,
    /// A part holds the separator.
    #[error("must not contain \"#\"")]
    Separator,
    /// The value is longer than DynamoDB takes.
    #[error("must have at most {0} bytes")]
    TooLong(usize),
    /// The value is not of the attribute's declared type.
    #[error("must be of type {0}")]
    WrongType(&'static str),
    /// The attribute is missing.
    #[error("is missing")]
    Missing,
    /// The value does not have the parts it has to have.
    #[error("must have {0} parts joined by \"#\"")]
    Parts(usize),
    /// DynamoDB refuses a change of the item, for a reason of its own.
    #[error("is refused by DynamoDB")]
    Refused,
    /// The value is not what another attribute says it is.
    #[error("does not agree with {0}")]
    Disagrees(&'static str),
}

/// Joins the parts of a composite partition key: `acme` and `unit-7` give `acme#unit-7`.
///
/// This is the only place where such a key is built. Because no part may hold the separator, two
/// different lists of parts never give the same key, and so no two tenants meet in one.
///
/// # Errors
///
/// A part that is empty or holds `#`, and a key longer than [`MAX_PARTITION_BYTES`].
pub fn composite(parts: &[&str]) -> Result<String, KeyFault> {
    for part in parts {
        if part.is_empty() {
            return Err(KeyFault::Empty);
        }
        if part.contains(SEPARATOR) {
            return Err(KeyFault::Separator);
        }
    }
    let key = parts.join("#");
    if key.len() > MAX_PARTITION_BYTES {
        return Err(KeyFault::TooLong(MAX_PARTITION_BYTES));
    }
    Ok(key)
}

/// The partition key of what belongs to an entity of a tenant in one month: `acme#book-1#2026-02`.
///
/// # Errors
///
/// See [`composite`].
pub fn month_partition(tenant: &str, entity: &str, month: Month) -> Result<String, KeyFault> {
    composite(&[tenant, entity, &month.to_string()])
}

/// The sort key of an entry: its day, and its id where a day has several: `2026-02-01#e-1`.
///
/// # Errors
///
/// See [`composite`], and a key longer than [`MAX_SORT_BYTES`].
pub fn entry_key(day: jiff::civil::Date, id: &str) -> Result<String, KeyFault> {
    let key = composite(&[&day.to_string(), id])?;
    if key.len() > MAX_SORT_BYTES { Err(KeyFault::TooLong(MAX_SORT_BYTES)) } else { Ok(key) }
}

/// A calendar month.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Month {
    first: jiff::civil::Date,
}

impl Month {
    /// The month that a day is in.
    #[must_use]
    pub fn of(day: jiff::civil::Date) -> Self {
        Self { first: day.first_of_month() }
    }

    /// Its first day.
    #[must_use]
    pub fn first_day(self) -> jiff::civil::Date {
        self.first
    }

    /// Its last day.
    #[must_use]
    pub fn last_day(self) -> jiff::civil::Date {
        self.first.last_of_month()
    }

    /// The month after it, up to the last one of the calendar.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        self.last_day().tomorrow().ok().map(Self::of)
    }
}

impl std::fmt::Display for Month {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{:04}-{:02}", self.first.year(), self.first.month())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_part_with_the_separator_is_refused() {
        assert_eq!(composite(&["acme", "a#b"]), Err(KeyFault::Separator));
        assert_eq!(composite(&["acme", ""]), Err(KeyFault::Empty));
        assert_eq!(composite(&["acme", "unit-7"]).as_deref(), Ok("acme#unit-7"));
    }

    #[test]
    fn entries_of_a_month_have_one_partition_and_sort_by_day() {
        let day = jiff::civil::date(2026, 2, 28);
        let month = Month::of(day);
        assert_eq!(month_partition("acme", "b-1", month).as_deref(), Ok("acme#b-1#2026-02"));
        assert_eq!(month.next().map(|next| next.to_string()).as_deref(), Some("2026-03"));
        assert_eq!((month.first_day().day(), month.last_day().day()), (1, 28));
        assert_eq!(entry_key(day, "e-1").as_deref(), Ok("2026-02-28#e-1"));
        assert_eq!(entry_key(day, "e#1"), Err(KeyFault::Separator));
        assert_eq!(entry_key(day, &"e".repeat(1020)), Err(KeyFault::TooLong(MAX_SORT_BYTES)));
    }

    #[test]
    fn the_smallest_bound_of_an_attribute_counts() {
        const BY_ID: Index = Index::new("id-index", Key::pair("id", "at"));
        const TABLE: Table = Table::new("T", Key::pair("tenant", "id"), &[BY_ID]);
        let bounds: Vec<(&str, usize)> =
            TABLE.key_bounds().into_iter().map(|(attribute, bytes)| (attribute.name, bytes)).collect();
        assert_eq!(bounds, [("tenant", 2048), ("id", 1024), ("at", 1024)]);
    }

    proptest! {
        #[test]
        fn different_parts_never_meet_in_one_key(
            a in prop::collection::vec("[a-c#]{0,3}", 1..4),
            b in prop::collection::vec("[a-c#]{0,3}", 1..4),
        ) {
            let join = |parts: &[String]| {
                composite(&parts.iter().map(String::as_str).collect::<Vec<_>>())
            };
            if let (Ok(x), Ok(y)) = (join(&a), join(&b)) {
                prop_assert_eq!(x == y, a == b);
            }
        }
    }
}
