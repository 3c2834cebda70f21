//! Saving an item whole, under the id that stands in the path: what `PUT /things/{id}` does.
//!
//! An item carries a `version` that changes with every save. The answer gives it as `ETag` too, and a save
//! that says `If-Match` happens only to that version, so that of two editors the second is told about the
//! first.

use aws_sdk_dynamodb::types::AttributeValue;

use crate::dynamo::Session;
use crate::error::{Code, Error};
use crate::expression::Check;
use crate::item::{self, Item, VERSION, tagged_version, texts};
use crate::key::{Rollout, TENANT, Table};
use crate::operation::{HandleFuture, Reply};
use crate::request::{Expected, Request};
use crate::rollout::{Stages, give_keys};

/// The attribute that holds the id.
const ID: &str = "id";

/// The longest id of an item that is saved, in bytes.
const MAX_ID_BYTES: usize = 128;

/// The id that stands in the path.
///
/// # Errors
///
/// 400 for one that is too long or holds a control character.
pub fn id(request: &Request) -> Result<&str, Error> {
    let id = request.path_parameter(ID)?;
    if id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
        let message = format!("id must have at most {MAX_ID_BYTES} bytes and no control characters");
        return Err(Error::rejected(Code::InvalidParameter, message));
    }
    Ok(id)
}

/// Saves the item of the body in `table`, whole, with the keys of these rollouts where they are as far.
/// `check` says what else is wrong with an item.
///
/// # Errors
///
/// Those of `check`; 400 for an attribute that the caller does not set, or that a key cannot have; 409 for an id that
/// another tenant has; 412 where what is stored is not what the caller says; those of the call.
pub fn save<'a>(
    table: &'static Table,
    rollouts: &'static [&'static Rollout],
    check: fn(&Item) -> Result<(), Error>,
    request: &'a Request,
    tenant: &'a str,
    stages: &'a Stages,
    session: &'a mut Session<'_>,
) -> HandleFuture<'a> {
    Box::pin(async move {
        let id = id(request)?;
        let expected = request.expected()?;
        let mut given = request.item()?;
        // What came from the list goes back as it is, so the tenant's own name and the version are let in.
        given.remove(VERSION);
        let own = |name: &str, value: &str| match given.get(name) {
            None => true,
            Some(stored) => *stored == AttributeValue::S(value.to_owned()),
        };
        if !own(ID, id) || !own(TENANT, tenant) {
            let message = "id and tenant must be those of the path and of the identity, or be left out";
            return Err(Error::rejected(Code::InvalidAttribute, message));
        }
        if let Some(name) = table.unlisted.iter().find(|name| given.contains_key(**name)) {
            let message = format!("{name} is set for you; leave it out");
            return Err(Error::rejected(Code::InvalidAttribute, message));
        }
        check(&given)?;
        let version = crate::id::new();
        given.extend(texts([(TENANT, tenant), (ID, id), (VERSION, &version)]));
        give_keys(rollouts, stages, &mut given)?;
        let checks = checks(table, tenant, expected.as_ref());
        match session.put(table, given.clone(), &checks).await {
            Ok(()) => Ok(Reply::Item(item::listed(given, table.unlisted))),
            // A write whose answer was lost is sent again by the SDK, and then finds itself.
            Err(Error::ConditionFailed { item: Some(stored) }) if has(&stored, VERSION, &version) => {
                Ok(Reply::Item(item::listed(given, table.unlisted)))
            }
            Err(Error::ConditionFailed { .. }) if expected.is_none() => {
                Err(Error::rejected(Code::AlreadyExists, "this id is taken already"))
            }
            Err(error) => Err(error),
        }
    })
}

fn has(item: &Item, name: &str, value: &str) -> bool {
    matches!(item.get(name), Some(AttributeValue::S(stored)) if stored == value)
}

/// What must hold of the stored item. Where the id alone is the key, it must be the tenant's own.
#[must_use]
pub fn checks(table: &Table, tenant: &str, expected: Option<&Expected>) -> Vec<Check> {
    let shared = table.key.partition.name != TENANT;
    let tenants = || AttributeValue::S(tenant.to_owned());
    let mut checks = match expected {
        None if shared => return vec![Check::AbsentOr(ID, TENANT, tenants())],
        None => return Vec::new(),
        Some(Expected::Nothing) => return vec![Check::Absent(ID)],
        Some(Expected::Anything) => vec![Check::Present(ID)],
        Some(Expected::Version(tag)) => match tagged_version(tag) {
            Some(version) => vec![Check::Equals(VERSION, version)],
            // Written by somebody who knows no versions.
            None => vec![Check::Present(ID), Check::Absent(VERSION)],
        },
    };
    if shared {
        checks.push(Check::Equals(TENANT, tenants()));
    }
    checks
}
