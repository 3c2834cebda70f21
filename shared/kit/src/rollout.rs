//! How a new index of a table that is in use goes live: in stages, each a deployment of its own, and each
//! with a way back.
//!
//! | stage | the index exists | new items get its key | old items may be loaded | lists read it |
//! |---|---|---|---|---|
//! | `none` | | | | |
//! | `create` | yes | | | |
//! | `write` | yes | yes | | |
//! | `backfill` | yes | yes | yes | |
//! | `read` | yes | yes | yes | yes |
//!
//! This module is the pure part: what a stage means, and what an item needs to be in the index. Writers
//! use it for the items they put, [`crate::load`] for those that are stored already, [`crate::report`]
//! to tell whether any is missing.

use std::collections::BTreeMap;

use aws_sdk_dynamodb::types::AttributeValue;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::expression::{Change, Check};
use crate::item::{self, Item, at_path, key_fault};
use crate::key::{INDEX_ONLY, KeyAttribute, KeyFault, MAX_SORT_BYTES, Rollout, SCHEMA_VERSION};
use crate::row::to_json;

/// How far a new index is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// It does not exist.
    None,
    /// It exists, and nothing is written for it.
    Create,
    /// Writers write its key.
    Write,
    /// The items that are stored already may be loaded.
    Backfill,
    /// Lists read it.
    Read,
}

impl Stage {
    /// All of them, in the order in which they are deployed.
    pub const ALL: [Self; 5] = [Self::None, Self::Create, Self::Write, Self::Backfill, Self::Read];

    /// The stage as the template's parameter and a function's environment give it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Create => "create",
            Self::Write => "write",
            Self::Backfill => "backfill",
            Self::Read => "read",
        }
    }

    /// The stage of this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.as_str() == name)
    }

    /// The stage that is deployed after it.
    #[must_use]
    pub fn next(self) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| *stage > self)
    }
}

/// The stages of the rollouts that a function takes part in.
#[derive(Debug, Clone, Default)]
pub struct Stages(Vec<(&'static str, Stage)>);

impl Stages {
    /// These stages, by the rollout's name.
    #[must_use]
    pub fn new(stages: Vec<(&'static str, Stage)>) -> Self {
        Self(stages)
    }

    /// The stage of a rollout. One that nothing is said of is done: it is read.
    #[must_use]
    pub fn of(&self, rollout: &Rollout) -> Stage {
        self.0.iter().find(|(name, _)| *name == rollout.name).map_or(Stage::Read, |(_, stage)| *stage)
    }
}

/// Why an item cannot be in an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Obstacle {
    /// The attribute that stands in the way.
    pub attribute: &'static str,
    /// What is wrong with it.
    pub fault: KeyFault,
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.attribute, self.fault)
    }
}

/// A change to a stored item that makes it right, and what must still hold of the item for that.
#[derive(Debug, Clone)]
pub struct Fix {
    /// The change. Nothing but what the index needs is written.
    pub changes: Vec<Change>,
    /// The item is still stored, and what its key is derived from is as it was read.
    pub checks: Vec<Check>,
}

impl Fix {
    /// How many bytes the item is larger afterwards at most, as DynamoDB counts them.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let added = self.changes.iter().map(|change| match change {
            Change::Set(name, value) => item::size(&Item::from([((*name).to_owned(), value.clone())])),
            Change::AddText(name, text) => name.len() + text.len(),
            Change::Add(..) | Change::Remove(_) => 0,
        });
        added.sum()
    }
}

/// What stands in the way of an item that has no room left for a key, in place of an attribute.
pub const THE_ITEM: &str = "the item";

/// What a stored item is to an index.
#[derive(Debug, Clone)]
pub enum Verdict {
    /// It is in the index, under its right key.
    Right,
    /// It should be in the index, and is not, or under another key.
    Wrong(Fix),
    /// It cannot be in the index.
    Impossible {
        /// Why.
        obstacle: Obstacle,
        /// Whether the old way of reading finds it: then it would be gone from a screen.
        found: bool,
        /// Takes a key away that it has nevertheless, and by which it would be found in a place where it
        /// does not belong.
        fix: Option<Fix>,
    },
}

/// The values of the attributes that an item's key in the index is derived to.
///
/// # Errors
///
/// The attribute that stands in the way.
pub fn derive(rollout: &Rollout, item: &Item) -> Result<Vec<(&'static str, String)>, Obstacle> {
    let key = rollout.index.key;
    let mut values = Vec::with_capacity(rollout.derived.len());
    for derived in rollout.derived {
        let mut texts = Vec::with_capacity(derived.from.len());
        for path in derived.from {
            texts.push(text(item, path)?);
        }
        let told = derived.from.last().copied().unwrap_or(derived.attribute);
        let obstacle = |fault| Obstacle { attribute: told, fault };
        let value = (derived.value)(&texts).map_err(obstacle)?;
        let (attribute, bound) =
            key.bounds().find(|(attribute, _)| attribute.name == derived.attribute).unwrap_or((
                KeyAttribute { name: derived.attribute, scalar: crate::key::ScalarType::S },
                MAX_SORT_BYTES,
            ));
        if let Some(fault) = key_fault(&attribute, bound, &AttributeValue::S(value.clone())) {
            return Err(obstacle(fault));
        }
        if derived.may_be_stored
            && item.get(derived.attribute).is_some_and(|stored| stored.as_s().ok() != Some(&value))
        {
            return Err(Obstacle { attribute: derived.attribute, fault: KeyFault::Disagrees(told) });
        }
        values.push((derived.attribute, value));
    }
    for (attribute, bound) in key.bounds() {
        if values.iter().any(|(name, _)| *name == attribute.name) {
            continue;
        }
        let fault = match item.get(attribute.name) {
            None => Some(KeyFault::Missing),
            Some(value) => key_fault(&attribute, bound, value),
        };
        if let Some(fault) = fault {
            return Err(Obstacle { attribute: attribute.name, fault });
        }
    }
    Ok(values)
}

/// The text at a path, which must be there.
fn text<'a>(item: &'a Item, path: &'static str) -> Result<&'a str, Obstacle> {
    let fault = match at_path(item, path) {
        Some(AttributeValue::S(text)) if text.is_empty() => KeyFault::Empty,
        Some(AttributeValue::S(text)) => return Ok(text),
        Some(_) => KeyFault::WrongType("S"),
        None => KeyFault::Missing,
    };
    Err(Obstacle { attribute: path, fault })
}

/// What a stored item is to the index of a rollout.
#[must_use]
pub fn judge(rollout: &Rollout, item: &Item) -> Verdict {
    match derive(rollout, item) {
        Ok(values) => {
            let mut changes = Vec::new();
            for (attribute, value) in values {
                let value = AttributeValue::S(value);
                if item.get(attribute) == Some(&value) {
                    continue;
                }
                changes.push(Change::Set(attribute, value));
                if may_be_stored(rollout, attribute) {
                    changes.push(note_index_only(item, attribute));
                }
            }
            if changes.is_empty() {
                return Verdict::Right;
            }
            match other_obstacle(rollout, item) {
                None => Verdict::Wrong(fix(rollout, item, changes)),
                Some(obstacle) => Verdict::Impossible { obstacle, found: is_found(rollout, item), fix: None },
            }
        }
        Err(obstacle) => {
            let ours = rollout.derived.iter().filter(|derived| !derived.may_be_stored);
            let stale: Vec<Change> = ours
                .filter(|derived| item.contains_key(derived.attribute))
                .map(|derived| Change::Remove(derived.attribute))
                .collect();
            let fix = (!stale.is_empty()).then(|| fix(rollout, item, stale));
            Verdict::Impossible { obstacle, found: is_found(rollout, item), fix }
        }
    }
}

/// Whether the old way of reading finds an item.
fn is_found(rollout: &Rollout, item: &Item) -> bool {
    rollout.found_by.iter().all(|path| text(item, path).is_ok())
}

/// A key attribute of another index of the table whose value no key can have. Such an item was stored before
/// that index was there, and may be refused whatever is changed of it.
fn other_obstacle(rollout: &Rollout, item: &Item) -> Option<Obstacle> {
    let ours = |name: &str| rollout.derived.iter().any(|derived| derived.attribute == name);
    let bounds = rollout.table.key_bounds().into_iter().filter(|(attribute, _)| !ours(attribute.name));
    bounds.into_iter().find_map(|(attribute, bound)| {
        let fault = key_fault(&attribute, bound, item.get(attribute.name)?)?;
        Some(Obstacle { attribute: attribute.name, fault })
    })
}

/// Whether an item has a value for an attribute of the index's key that DynamoDB takes in no write once the
/// index exists, whoever writes it.
#[must_use]
pub fn is_unwritable(rollout: &Rollout, item: &Item) -> bool {
    rollout.index.key.bounds().any(|(attribute, bound)| {
        item.get(attribute.name).is_some_and(|value| key_fault(&attribute, bound, value).is_some())
    })
}

/// Notes that an item has this attribute for the index alone.
fn note_index_only(item: &Item, attribute: &'static str) -> Change {
    match item.get(INDEX_ONLY) {
        None | Some(AttributeValue::Ss(_)) => Change::AddText(INDEX_ONLY, attribute),
        // What is no set of texts takes no more of them, and is made one.
        Some(_) => {
            let names = item::index_only(item).into_iter().chain([attribute]).map(str::to_owned);
            Change::Set(INDEX_ONLY, AttributeValue::Ss(names.collect()))
        }
    }
}

fn may_be_stored(rollout: &Rollout, attribute: &str) -> bool {
    rollout.derived.iter().any(|derived| derived.attribute == attribute && derived.may_be_stored)
}

/// These changes, together with the schema version, and what they rely on.
fn fix(rollout: &Rollout, item: &Item, mut changes: Vec<Change>) -> Fix {
    let mut seen: Vec<&'static str> = Vec::new();
    for derived in rollout.derived {
        seen.extend(derived.from);
        if derived.may_be_stored {
            seen.push(derived.attribute);
        }
    }
    if changes.iter().any(|change| matches!(change, Change::Set(INDEX_ONLY, _))) {
        seen.push(INDEX_ONLY);
    }
    if schema_version(item) < u64::from(rollout.schema_version) {
        changes.push(Change::Set(SCHEMA_VERSION, AttributeValue::N(rollout.schema_version.to_string())));
        seen.push(SCHEMA_VERSION);
    }
    seen.sort_unstable();
    seen.dedup();
    let mut checks = vec![Check::Present(rollout.table.key.partition.name)];
    let in_key = |path: &str| rollout.table.key.attributes().any(|attribute| attribute.name == path);
    checks.extend(seen.into_iter().filter(|path| !in_key(path)).map(|path| match at_path(item, path) {
        Some(value) => Check::Equals(path, value.clone()),
        None => Check::Absent(path),
    }));
    Fix { changes, checks }
}

/// The schema version of an item; 0 where it has none that is a whole number.
fn schema_version(item: &Item) -> u64 {
    match item.get(SCHEMA_VERSION) {
        Some(AttributeValue::N(digits)) => digits.parse().unwrap_or_default(),
        _ => 0,
    }
}

/// The attribute paths that [`judge`] looks at, those of the table's key first.
#[must_use]
pub fn looked_at(rollout: &Rollout) -> Vec<&'static str> {
    let key = rollout.table.key.attributes().chain(rollout.index.key.attributes());
    let mut paths: Vec<&'static str> = key.map(|attribute| attribute.name).collect();
    for derived in rollout.derived {
        paths.extend(derived.from);
        paths.push(derived.attribute);
    }
    paths.extend(rollout.found_by);
    paths.extend(rollout.table.key_bounds().into_iter().map(|(attribute, _)| attribute.name));
    paths.extend([SCHEMA_VERSION, INDEX_ONLY]);
    let mut seen = std::collections::HashSet::new();
    paths.retain(|path| seen.insert(*path));
    paths
}

/// Gives an item that is about to be written the keys of those indexes whose stage asks for it. An item
/// that an index could not hold is refused at every stage, so that a screen may save the same before and
/// after.
///
/// # Errors
///
/// [`Error::KeyAttribute`] with the attribute that stands in the way.
pub fn give_keys(rollouts: &[&Rollout], stages: &Stages, item: &mut Item) -> Result<(), Error> {
    for rollout in rollouts {
        let values = derive(rollout, item).map_err(|obstacle| Error::KeyAttribute {
            attribute: obstacle.attribute.to_owned(),
            fault: obstacle.fault,
        })?;
        if stages.of(rollout) < Stage::Write {
            continue;
        }
        for (attribute, value) in values {
            let ours = item.insert(attribute.to_owned(), AttributeValue::S(value)).is_none();
            if ours && may_be_stored(rollout, attribute) {
                match item.get_mut(INDEX_ONLY) {
                    Some(AttributeValue::Ss(names)) => names.push(attribute.to_owned()),
                    _ => {
                        let names = AttributeValue::Ss(vec![attribute.to_owned()]);
                        item.insert(INDEX_ONLY.to_owned(), names);
                    }
                }
            }
        }
        let version = schema_version(item).max(u64::from(rollout.schema_version));
        item.insert(SCHEMA_VERSION.to_owned(), AttributeValue::N(version.to_string()));
    }
    Ok(())
}

/// The most items that are named one by one, of those that cannot be in an index.
const MOST_NAMED: usize = 50;

/// The items that cannot be in an index, counted, and the first of them named.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Unindexable {
    /// How many there are.
    pub count: u64,
    /// How many of them the old way of reading finds. They would be gone from a screen.
    pub would_vanish: u64,
    /// How many there are for each reason.
    pub reasons: BTreeMap<String, u64>,
    /// The first of them, those that would vanish before the others.
    pub items: Vec<Named>,
}

/// An item that cannot be in an index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Named {
    /// Its key, as JSON.
    pub key: String,
    /// What stands in the way.
    pub reason: String,
    /// Whether it would be gone from a screen.
    pub would_vanish: bool,
}

impl Unindexable {
    /// Counts an item.
    pub fn add(&mut self, rollout: &Rollout, item: &Item, obstacle: Obstacle, found: bool) {
        let reason = obstacle.to_string();
        self.count += 1;
        self.would_vanish += u64::from(found);
        *self.reasons.entry(reason.clone()).or_default() += 1;
        let key = to_json(&item::key_of(&rollout.table, item));
        self.name(Named { key, reason, would_vanish: found });
    }

    /// Counts those of another part of the table.
    pub fn merge(&mut self, other: Self) {
        self.count += other.count;
        self.would_vanish += other.would_vanish;
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        for named in other.items {
            self.name(named);
        }
    }

    fn name(&mut self, named: Named) {
        if self.items.len() < MOST_NAMED {
            self.items.push(named);
        } else if named.would_vanish
            && let Some(other) = self.items.iter_mut().find(|other| !other.would_vanish)
        {
            *other = named;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::key::{Derived, Index, Key, Table};

    const BY_OWNER: Index = Index::new("owner-index", Key::pair("ownerKey", "at"));
    const TABLE: Table = Table {
        unlisted: &["ownerKey", SCHEMA_VERSION, INDEX_ONLY],
        ..Table::new("Visit", Key::single("id"), &[BY_OWNER])
    };
    static ROLLOUT: Rollout = Rollout {
        name: "visits-by-owner",
        table: TABLE,
        index: BY_OWNER,
        derived: &[
            Derived {
                attribute: "ownerKey",
                from: &["tenant", "owner.id"],
                value: crate::key::composite,
                may_be_stored: false,
            },
            Derived {
                attribute: "at",
                from: &["id"],
                value: |texts| Ok(texts.concat()),
                may_be_stored: true,
            },
        ],
        found_by: &["tenant", "owner.id"],
        schema_version: 2,
    };

    fn visit(json: &str) -> Item {
        item::from_json(json).unwrap()
    }

    fn fix_of(json: &str) -> Fix {
        match judge(&ROLLOUT, &visit(json)) {
            Verdict::Wrong(fix) | Verdict::Impossible { fix: Some(fix), .. } => fix,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_fix_relies_on_what_it_was_made_of_and_on_nothing_else() {
        let fix = fix_of(r#"{"id":"v-1","tenant":"acme","owner":{"id":"o-1"},"more":1}"#);
        assert_eq!(
            format!("{:?}", fix.changes),
            format!(
                "{:?}",
                [
                    Change::Set("ownerKey", AttributeValue::S("acme#o-1".into())),
                    Change::Set("at", AttributeValue::S("v-1".into())),
                    Change::AddText(INDEX_ONLY, "at"),
                    Change::Set(SCHEMA_VERSION, AttributeValue::N("2".into())),
                ]
            )
        );
        assert_eq!(
            format!("{:?}", fix.checks),
            format!(
                "{:?}",
                [
                    Check::Present("id"),
                    Check::Absent("at"),
                    Check::Equals("owner.id", AttributeValue::S("o-1".into())),
                    Check::Absent(SCHEMA_VERSION),
                    Check::Equals("tenant", AttributeValue::S("acme".into())),
                ]
            )
        );
    }

    #[test]
    fn a_higher_schema_version_stays() {
        let fix = fix_of(r#"{"id":"v-1","tenant":"acme","owner":{"id":"o-1"},"schemaVersion":3}"#);
        assert!(!format!("{:?}", fix.changes).contains(SCHEMA_VERSION), "{:?}", fix.changes);
    }

    #[test]
    fn a_key_that_nothing_stands_for_is_taken_away() {
        let fix = fix_of(r#"{"id":"v-1","tenant":"acme","ownerKey":"acme#o-1","owner":{}}"#);
        assert!(format!("{:?}", fix.changes).starts_with("[Remove(\"ownerKey\")"), "{:?}", fix.changes);
    }

    #[test]
    fn what_is_stored_must_agree_and_is_not_noted_as_ours() {
        let own =
            visit(r#"{"id":"v-1","tenant":"acme","owner":{"id":"o-1"},"at":"v-1","ownerKey":"acme#o-1"}"#);
        assert!(matches!(judge(&ROLLOUT, &own), Verdict::Right));
        let mut given = own;
        give_keys(&[&ROLLOUT], &Stages::default(), &mut given).unwrap();
        assert!(!given.contains_key(INDEX_ONLY));
        let other = visit(r#"{"id":"v-1","tenant":"acme","owner":{"id":"o-1"},"at":"v-2"}"#);
        let Verdict::Impossible { obstacle, found, .. } = judge(&ROLLOUT, &other) else { panic!() };
        assert_eq!((obstacle.to_string().as_str(), found), ("at does not agree with id", true));
    }

    proptest! {
        /// Whatever an item is: once it has been given its keys, or mended, it is right, and nothing else
        /// of it has changed.
        #[test]
        fn what_is_given_or_mended_is_right(
            owner in prop::option::of("[a-c#]{0,3}"),
            stale in prop::option::of("[a-c#]{1,3}"),
            at in prop::option::of("v-[12]"),
        ) {
            let mut fields = vec![r#""id":"v-1","tenant":"acme""#.to_owned()];
            fields.extend(owner.map(|owner| format!(r#""owner":{{"id":"{owner}"}}"#)));
            fields.extend(stale.map(|key| format!(r#""ownerKey":"{key}""#)));
            fields.extend(at.map(|at| format!(r#""at":"{at}""#)));
            let before = visit(&format!("{{{}}}", fields.join(",")));
            let mut after = before.clone();
            match judge(&ROLLOUT, &before) {
                Verdict::Right | Verdict::Impossible { fix: None, .. } => {}
                Verdict::Wrong(fix) | Verdict::Impossible { fix: Some(fix), .. } => {
                    for change in fix.changes {
                        match change {
                            Change::Set(name, value) => { after.insert(name.to_owned(), value); }
                            Change::Remove(name) => { after.remove(name); }
                            Change::AddText(name, text) => {
                                after.insert(name.to_owned(), AttributeValue::Ss(vec![text.to_owned()]));
                            }
                            Change::Add(..) => panic!("no number is added to"),
                        }
                    }
                }
            }
            let settled = matches!(judge(&ROLLOUT, &after), Verdict::Right | Verdict::Impossible { fix: None, .. });
            prop_assert!(settled, "{after:?}");
            let shown = |item: &Item| to_json(&item::listed(item.clone(), TABLE.unlisted));
            prop_assert_eq!(shown(&after), shown(&before));
            let mut given = before;
            given.remove("ownerKey");
            if give_keys(&[&ROLLOUT], &Stages::default(), &mut given).is_ok() {
                prop_assert!(matches!(judge(&ROLLOUT, &given), Verdict::Right), "{given:?}");
            }
        }
    }
}
