//! From a question and its parameters to a query: which key, which condition, which order. Pure: it
//! reads no clock and calls nothing.

use jiff::ToSpan;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::dates;
use crate::error::{Code, Error};
use crate::item::Item;
use crate::key::{self, Derived, KeyAttribute, KeyFault, MAX_SORT_BYTES, Month, SEPARATOR, TENANT, Table};
use crate::list::{
    Days, Direction, Filter, FilterPart, List, OldPath, Order, PAGING, PERIOD, Partition, Question, Sort,
    has_placeholder,
};
use crate::request::shown;
use crate::rollout::Stages;

/// The longest period of a walk, in months. It touches one partition more where it begins within a month.
pub const MAX_MONTHS: i64 = 36;

/// A query that answers a question for one tenant, or one of several that are read one after the other.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The list's name.
    pub list: &'static str,
    /// The question's name.
    pub question: &'static str,
    /// The table that is read.
    pub table: Table,
    /// The index that is read, or the table itself.
    pub index: Option<&'static str>,
    /// The partition key attribute and its value.
    pub partition: (&'static str, String),
    /// The sort key attribute and what is read of it.
    pub sort: Option<(&'static str, Range)>,
    /// Whether the whole table is scanned for rows that have the partition attribute's value, since no key
    /// answers the question yet.
    pub scan: bool,
    /// What rows are kept of those read.
    pub keep: Vec<Keep>,
    /// The direction in which the key is read.
    pub direction: Direction,
    /// The attribute that rows are ordered by instead of the key.
    pub order_by: Option<(&'static str, Direction)>,
    /// How that attribute is made of others, where stored rows need not have it yet.
    pub order_from: Option<&'static Derived>,
    /// The attributes of a start key whose values the question itself fixes.
    pub fixed: Vec<(&'static str, String)>,
    /// The attributes of a start key that a cursor has to carry.
    pub carried: Vec<KeyAttribute>,
    /// The tenant and everything that was asked: what a cursor is bound to.
    pub asked: Vec<(String, String)>,
    /// The parameters of the question that would leave less to read.
    pub narrowing: &'static [&'static str],
}

/// Rows are kept whose attribute has this value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// The attribute's path.
    pub attribute: &'static str,
    /// The part of it that is looked at.
    pub part: FilterPart,
    /// The value, with the `#` around it that delimit the part.
    pub value: String,
}

/// Where a page starts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Start {
    /// Which of the question's queries is read first.
    pub query: usize,
    /// After which key; `None` for the beginning of that query.
    pub key: Option<Item>,
}

/// What is read of a sort key. A key takes one condition only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Range {
    /// This value.
    Equals(String),
    /// This value and all after it.
    AtLeast(String),
    /// This value and all before it.
    AtMost(String),
    /// From the first value to the second, both included.
    Between(String, String),
}

/// Plans the queries for the parameters of a request, in the order in which they are read: one, or one
/// for each month of a walk. `turned` is the direction that the caller asks for instead of the declared
/// one.
///
/// # Errors
///
/// 400 for parameters that no question takes, and for values that no key takes.
pub fn plan(
    list: &'static List,
    tenant: &str,
    parameters: &[(String, String)],
    turned: Option<Direction>,
    zone: &TimeZone,
    stages: &Stages,
) -> Result<Vec<Plan>, Error> {
    let asked: Vec<&(String, String)> =
        parameters.iter().filter(|(name, _)| !PAGING.contains(&name.as_str())).collect();
    let question = choose(list, &asked)?;
    let value = |parameter: &str| {
        let (_, value) = asked
            .iter()
            .find(|(name, _)| name == parameter)
            .ok_or_else(|| Error::internal("planning a query", "a chosen question lacks a parameter"))?;
        if value.is_empty() {
            return Err(invalid(parameter, "must not be empty"));
        }
        Ok(value.as_str())
    };

    let table = *list.table();
    let key = *question.key(&table);
    let composed = |parameter: &str, key: Result<String, KeyFault>| {
        key.map_err(|fault| invalid(parameter, &fault.to_string()))
    };
    let ranges: Vec<(String, Option<Range>)> = match question.partition {
        Partition::Tenant => vec![(tenant.to_owned(), range(question, &asked, &value, zone)?)],
        Partition::TenantAnd(parameter) => {
            let partition = composed(parameter, key::composite(&[tenant, value(parameter)?]))?;
            vec![(partition, range(question, &asked, &value, zone)?)]
        }
        Partition::TenantAndMonths(parameter) => {
            let entity = value(parameter)?;
            let months = months(question, &asked, &value)?.into_iter();
            let partition = |month| composed(parameter, key::month_partition(tenant, entity, month));
            months.map(|(month, range)| Ok((partition(month)?, range))).collect::<Result<_, Error>>()?
        }
    };
    let keep = question.filter.iter().map(|filter| kept(filter, &value)).collect::<Result<Vec<_>, _>>()?;
    let (direction, order_by) = match question.order {
        Order::Key(declared) => (turned.unwrap_or(declared), None),
        Order::By(attribute, direction) => (Direction::Ascending, Some((attribute, direction))),
    };
    let mut bound: Vec<(String, String)> = asked.iter().copied().cloned().collect();
    bound.sort_unstable();
    bound.insert(0, ("tenant".to_owned(), tenant.to_owned()));

    let query = |(partition, range): (String, Option<Range>)| {
        let sort = key.sort.map(|attribute| attribute.name).zip(range);
        let mut fixed = vec![(key.partition.name, partition.clone())];
        if let Some((attribute, Range::Equals(value))) = &sort {
            fixed.push((attribute, value.clone()));
        }
        if table.key.partition.name != key.partition.name && table.key.sort.is_some() {
            // A declaration does not compile unless such a table is partitioned by tenant.
            fixed.push((table.key.partition.name, tenant.to_owned()));
        }
        let mut carried: Vec<KeyAttribute> = Vec::new();
        for attribute in key.attributes().chain(table.key.attributes()) {
            let known = fixed.iter().any(|(name, _)| *name == attribute.name);
            if !known && !carried.iter().any(|other| other.name == attribute.name) {
                carried.push(attribute);
            }
        }
        Plan {
            list: list.name(),
            question: question.name,
            table,
            index: question.index(),
            partition: (key.partition.name, partition),
            sort,
            scan: false,
            keep: keep.clone(),
            direction,
            order_by,
            order_from: None,
            fixed,
            carried,
            asked: bound.clone(),
            narrowing: question.optional(),
        }
    };
    let mut plans: Vec<Plan> = ranges.into_iter().map(query).collect();
    if let Some(old) = question.old_path(stages) {
        let keep = old.keep.iter().map(|filter| kept(filter, &value)).collect::<Result<Vec<_>, _>>()?;
        return Ok(plans.into_iter().map(|plan| on_old_path(plan, old, tenant, keep.clone())).collect());
    }
    if direction == Direction::Descending {
        plans.reverse();
    }
    Ok(plans)
}

/// What a filter keeps.
fn kept<'a>(filter: &Filter, value: &impl Fn(&str) -> Result<&'a str, Error>) -> Result<Keep, Error> {
    let value = value(filter.parameter)?;
    let value = match filter.part {
        FilterPart::Whole => value.to_owned(),
        FilterPart::First => format!("{value}{SEPARATOR}"),
        FilterPart::Inner => format!("{SEPARATOR}{value}{SEPARATOR}"),
    };
    Ok(Keep { attribute: filter.attribute, part: filter.part, value })
}

/// The same rows in the same order, read without the index that is not there yet.
fn on_old_path(plan: Plan, old: &OldPath, tenant: &str, keep: Vec<Keep>) -> Plan {
    let order_by = plan.order_by.or_else(|| {
        let sort = old.rollout.index.key.sort?;
        Some((sort.name, plan.direction))
    });
    let order_from = old
        .rollout
        .derived
        .iter()
        .find(|derived| order_by.is_some_and(|(attribute, _)| attribute == derived.attribute));
    Plan {
        index: None,
        partition: (TENANT, tenant.to_owned()),
        sort: None,
        scan: old.scan,
        keep,
        direction: Direction::Ascending,
        order_by,
        order_from,
        ..plan
    }
}

/// What is read of the sort key.
fn range<'a>(
    question: &Question,
    asked: &[&(String, String)],
    value: &impl Fn(&str) -> Result<&'a str, Error>,
    zone: &TimeZone,
) -> Result<Option<Range>, Error> {
    match question.sort {
        Sort::All | Sort::Month(_) => Ok(None),
        Sort::Equals(parameter) => {
            let value = value(parameter)?;
            if value.len() > MAX_SORT_BYTES {
                return Err(invalid(parameter, &format!("must have at most {MAX_SORT_BYTES} bytes")));
            }
            Ok(Some(Range::Equals(value.to_owned())))
        }
        Sort::Days(days) => period(asked, days, zone),
    }
}

/// The months that are asked for, oldest first, and what is read of each.
fn months<'a>(
    question: &Question,
    asked: &[&(String, String)],
    value: &impl Fn(&str) -> Result<&'a str, Error>,
) -> Result<Vec<(Month, Option<Range>)>, Error> {
    if let Sort::Month(parameter) = question.sort {
        return Ok(vec![(dates::parse_month(parameter, value(parameter)?)?, None)]);
    }
    let (Some(from), Some(to)) = days(asked)? else {
        return Err(Error::internal("planning a walk", "a chosen question lacks an end"));
    };
    if from.checked_add(MAX_MONTHS.months()).is_ok_and(|end| to >= end) {
        let [from_name, to_name] = PERIOD;
        let message = format!("{from_name} and {to_name} must lie within {MAX_MONTHS} months");
        return Err(Error::rejected(Code::PeriodTooLong, message));
    }
    let mut months = Vec::new();
    let mut next = Some(Month::of(from));
    while let Some(month) = next.filter(|month| month.first_day() <= to) {
        let (first, last) = (from.max(month.first_day()), to.min(month.last_day()));
        months.push((month, Some(Range::Between(dates::first_of_day(first), dates::last_of_day(last)))));
        next = month.next();
    }
    Ok(months)
}

/// The question that exactly these parameters ask.
fn choose(list: &'static List, asked: &[&(String, String)]) -> Result<&'static Question, Error> {
    let takes = |question: &Question, name: &str| {
        question.required().contains(&Some(name)) || question.optional().contains(&name)
    };
    for (name, _) in asked {
        if !list.questions().iter().any(|question| takes(question, name)) {
            return Err(unknown_parameter(list, name));
        }
    }
    list.questions()
        .iter()
        .find(|question| {
            asked.iter().all(|(name, _)| takes(question, name))
                && question
                    .required()
                    .into_iter()
                    .flatten()
                    .all(|parameter| asked.iter().any(|(name, _)| name == parameter))
        })
        .ok_or_else(|| {
            let in_query = |name: &&str| !has_placeholder(list.path(), name);
            let names: Vec<&str> = asked.iter().map(|(name, _)| name.as_str()).filter(in_query).collect();
            let given = if names.is_empty() {
                "a request without parameters".to_owned()
            } else {
                names.join(" with ")
            };
            Error::rejected(
                Code::UnsupportedQuestion,
                format!("no key answers {given}; this list answers {}", answered(list)),
            )
        })
}

/// A parameter that the list does not take.
pub fn unknown_parameter(list: &List, name: &str) -> Error {
    let mut message =
        format!("{} is not a parameter of this list; it answers {}", shown(name), answered(list));
    let paging = list.answer().paging().join(", ");
    if !paging.is_empty() {
        message = format!("{message}; each with {paging}");
    }
    Error::rejected(Code::UnknownParameter, message)
}

/// The questions of a list, as its callers ask them.
#[must_use]
pub fn answered(list: &List) -> String {
    let ways: Vec<String> = list
        .questions()
        .iter()
        .map(|question| {
            // What stands in the path is always given.
            let asked = |name: &&str| !has_placeholder(list.path(), name);
            let required = question.required().into_iter().flatten().filter(asked).map(str::to_owned);
            let optional = question.optional().iter().map(|name| format!("[{name}]"));
            let way: Vec<String> = required.chain(optional).collect();
            if way.is_empty() { "a request without parameters".to_owned() } else { way.join(" ") }
        })
        .collect();
    ways.join("; ")
}

/// The days `from` and `to`, each where it is given.
fn days(asked: &[&(String, String)]) -> Result<(Option<Date>, Option<Date>), Error> {
    let [from_name, to_name] = PERIOD;
    let day = |name: &str| {
        let given = asked.iter().find(|(known, _)| known == name);
        given.map(|(_, value)| dates::parse_day(name, value)).transpose()
    };
    let (from, to) = (day(from_name)?, day(to_name)?);
    if let (Some(from), Some(to)) = (from, to)
        && from > to
    {
        return Err(Error::rejected(
            Code::ReversedPeriod,
            format!("{from_name} ({from}) must not be after {to_name} ({to})"),
        ));
    }
    Ok((from, to))
}

fn period(asked: &[&(String, String)], kind: Days, zone: &TimeZone) -> Result<Option<Range>, Error> {
    let (from, to) = days(asked)?;
    let first = |day| match kind {
        Days::Dates => dates::first_of_day(day),
        Days::Instants => dates::first_instant_of_day(day, zone),
    };
    let last = |day| match kind {
        Days::Dates => dates::last_of_day(day),
        Days::Instants => dates::last_instant_of_day(day, zone),
    };
    Ok(match (from, to) {
        (None, None) => None,
        (Some(from), None) => Some(Range::AtLeast(first(from))),
        (None, Some(to)) => Some(Range::AtMost(last(to))),
        (Some(from), Some(to)) => {
            let (low, high) = (first(from), last(to));
            // A day that the time zone skipped holds nothing, and the service refuses a range that ends
            // before it begins. Nothing is stored as the bare second that `low` is.
            let high = if high < low { low.clone() } else { high };
            Some(Range::Between(low, high))
        }
    })
}

fn invalid(parameter: &str, why: &str) -> Error {
    Error::rejected(Code::InvalidParameter, format!("{parameter} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{Index, Key};
    use crate::list::{Answer, Read};

    const BY_UNIT: Index = Index::new("unit-index", Key::pair("unitLookupKey", "dueDate"));
    const TABLE: Table = Table::new("Entry", Key::pair("tenant", "id"), &[BY_UNIT]);
    static LIST: List = List::new(
        "entries",
        "/entries",
        TABLE,
        &[Question {
            name: "entries-of-a-unit",
            read: Read::Index(BY_UNIT),
            partition: Partition::TenantAnd("unitId"),
            sort: Sort::Days(Days::Dates),
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        }],
        Answer::Cursor { reversible: true },
    );

    fn planned(parameters: &[(&str, &str)]) -> Result<Plan, Error> {
        let owned: Vec<(String, String)> =
            parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        plan(&LIST, "acme", &owned, None, &TimeZone::UTC, &Stages::default()).map(|mut plans| plans.remove(0))
    }

    #[test]
    fn a_composite_partition_and_a_period_become_one_condition_each() {
        let plan = planned(&[("unitId", "7"), ("from", "2026-02-01"), ("to", "2026-02-28")]).unwrap();
        assert_eq!(plan.partition, ("unitLookupKey", "acme#7".to_owned()));
        assert_eq!(
            plan.sort,
            Some(("dueDate", Range::Between("2026-02-01".to_owned(), "2026-02-28~".to_owned())))
        );
        let carried: Vec<&str> = plan.carried.iter().map(|attribute| attribute.name).collect();
        assert_eq!(carried, ["dueDate", "id"], "the tenant and the partition are known from the question");
    }

    #[test]
    fn one_end_of_a_period_is_enough() {
        let range = |parameters: &[(&str, &str)]| planned(parameters).unwrap().sort.map(|(_, range)| range);
        let unit = ("unitId", "7");
        assert_eq!(range(&[unit]), None);
        assert_eq!(range(&[unit, ("from", "2026-02-01")]), Some(Range::AtLeast("2026-02-01".into())));
        assert_eq!(range(&[unit, ("to", "2026-02-01")]), Some(Range::AtMost("2026-02-01~".into())));
    }

    #[test]
    fn what_no_key_answers_names_what_a_key_does() {
        let error = planned(&[("from", "2026-02-01")]).unwrap_err();
        assert_eq!(error.code(), Code::UnsupportedQuestion);
        assert_eq!(error.to_string(), "no key answers from; this list answers unitId [from] [to]");
        let error = planned(&[("unitId", "7"), ("color", "red")]).unwrap_err();
        assert_eq!(error.code(), Code::UnknownParameter);
        assert!(error.to_string().starts_with("\"color\" is not a parameter"), "{error}");
    }

    #[test]
    fn values_that_no_key_takes_are_named() {
        let message = |parameters: &[(&str, &str)]| planned(parameters).unwrap_err().to_string();
        assert_eq!(message(&[("unitId", "")]), "unitId must not be empty");
        assert_eq!(message(&[("unitId", "a#b")]), "unitId must not contain \"#\"");
        assert_eq!(
            message(&[("unitId", "7"), ("from", "2026-02-02"), ("to", "2026-02-01")]),
            "from (2026-02-02) must not be after to (2026-02-01)"
        );
    }
}
