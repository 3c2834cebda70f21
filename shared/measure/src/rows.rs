//! The data that is read: rows of any list's table, spread evenly over the tenants.

use std::collections::BTreeMap;

use jiff::civil::{Date, date};
use jiff::{Span, ToSpan};
use kit::key::{self, TENANT};
use kit::list::{Days, List, Partition, Question, Sort};

use crate::Failure;
use crate::asking::MONTH;

/// How many rows of a tenant belong to one entity: twelve pages of twenty, so that the tenth is one like others.
pub const OF_AN_ENTITY: usize = 240;

/// The attribute that fills a row up to its size.
const FILLER: &str = "text";

/// The day of a tenant's first row.
const FIRST_DAY: Date = date(2000, 1, 1);

/// A row: attributes and their values, all of them texts.
pub type Row = BTreeMap<&'static str, String>;

/// The row at a place of the table. Tenants take turns; a tenant's first rows belong to its first entity, and
/// the sort keys of its rows grow from one to the next.
///
/// # Errors
///
/// A size that the keys alone exceed, and a place that is too far.
pub fn row(list: &List, at: usize, tenants: usize, bytes: usize) -> Result<Row, Failure> {
    let tenant = format!("tenant-{:04}", at % tenants);
    let serial = at / tenants;
    let entity = format!("entity-{:04}", serial / OF_AN_ENTITY);
    let id = format!("{serial:08}-{:04}", at % tenants);
    let day = FIRST_DAY.checked_add(Span::new().try_days(i64::try_from(serial)?)?)?;
    // All that belongs to a book or an account lies in one month, by day.
    let month = key::Month::of(format!("{MONTH}-01").parse()?);
    let days = i64::from(month.last_day().day());
    let within = i64::try_from(serial % OF_AN_ENTITY)? * days / i64::try_from(OF_AN_ENTITY)?;
    let of_month = month.first_day().checked_add(within.days())?;

    let table = list.table();
    let mut row = Row::new();
    for key in std::iter::once(&table.key).chain(table.indexes.iter().map(|index| &index.key)) {
        row.extend(key.attributes().map(|attribute| (attribute.name, id.clone())));
    }
    for question in list.questions() {
        let key = question.key(table);
        let partition = match question.partition {
            Partition::Tenant => tenant.clone(),
            Partition::TenantAnd(_) => key::composite(&[&tenant, &entity])?,
            Partition::TenantAndMonths(_) => key::month_partition(&tenant, &entity, month)?,
        };
        row.insert(key.partition.name, partition);
        let Some(sort) = key.sort else { continue };
        let value = match (question.partition, question.sort) {
            (Partition::TenantAndMonths(_), _) => key::entry_key(of_month, &id)?,
            (_, Sort::Equals(_)) => entity.clone(),
            (_, Sort::Days(Days::Dates)) => day.to_string(),
            (_, Sort::Days(Days::Instants)) => format!("{day}T12:00:00.000Z"),
            (_, Sort::All | Sort::Month(_)) => continue,
        };
        row.insert(sort.name, value);
    }
    row.insert(TENANT, tenant);

    let keys: usize = row.iter().map(|(name, value)| name.len() + value.len()).sum();
    let left = bytes.checked_sub(keys + FILLER.len());
    let left = left.ok_or_else(|| format!("a row of {} has no room in {bytes} bytes", table.name))?;
    row.insert(FILLER, "x".repeat(left));
    Ok(row)
}

/// How many of so many rows a question finds.
#[must_use]
pub fn found(question: &Question, rows: usize, tenants: usize) -> usize {
    let own = rows.div_ceil(tenants);
    if asks_of_an_entity(question) { own.min(OF_AN_ENTITY) } else { own }
}

/// Whether a question is about some entity, and not about all that its tenant has.
#[must_use]
pub fn asks_of_an_entity(question: &Question) -> bool {
    question.required().iter().any(Option::is_some)
}

#[cfg(test)]
mod tests {
    use kit::item::{self, AttributeValue, Item};

    use super::*;
    use crate::asking::{ENTITY, TENANT as ASKING};
    use crate::lists::LISTS;

    #[test]
    fn rows_have_their_size_and_as_many_are_found_as_is_said() {
        let (rows, tenants) = (10_000, 20);
        for list in LISTS {
            let made: Vec<Row> = (0..rows).map(|at| row(list, at, tenants, 512).unwrap()).collect();
            let texts =
                made[1].iter().map(|(name, text)| ((*name).to_owned(), AttributeValue::S(text.clone())));
            assert_eq!(item::size(&texts.collect::<Item>()), 512, "{}", list.name());
            for question in list.questions() {
                let key = question.key(list.table());
                let partition = match question.partition {
                    Partition::Tenant => ASKING.to_owned(),
                    Partition::TenantAnd(_) => format!("{ASKING}#{ENTITY}"),
                    Partition::TenantAndMonths(_) => format!("{ASKING}#{ENTITY}#{MONTH}"),
                };
                let equals = |row: &&Row| match (question.sort, key.sort) {
                    (Sort::Equals(_), Some(sort)) => row[sort.name] == ENTITY,
                    _ => true,
                };
                let matching = made.iter().filter(|row| row[key.partition.name] == partition).filter(equals);
                assert_eq!(matching.count(), found(question, rows, tenants), "{}", question.name);
            }
        }
        assert!(row(LISTS[0], 0, tenants, 32).is_err(), "the keys alone are larger");
    }
}
