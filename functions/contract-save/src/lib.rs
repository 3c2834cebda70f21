//! Saves contracts, each with the key of its entity.

use kit::dates;
use kit::error::{Code, Error};
use kit::item::{AttributeValue, Item};
use kit::operation::{Access, Operation, Route};
use kit::request::Method;
use kit::save;
use tables::contract::{ROLLOUT, TABLE};

/// `PUT /contracts/{id}`.
pub static OPERATION: Operation = Operation {
    name: "contract-save",
    rollouts: &[&ROLLOUT],
    routes: &[Route {
        method: Method::Put,
        path: "/contracts/{id}",
        access: &[Access::Put(TABLE)],
        handle: |request, tenant, stages, session| {
            save::save(&TABLE, OPERATION.rollouts, check, request, tenant, stages, session)
        },
    }],
};

/// Contracts are sorted by the instant they were created, so it has to be one, written as all are.
fn check(contract: &Item) -> Result<(), Error> {
    match contract.get("createdAt") {
        Some(AttributeValue::S(text)) if !dates::is_instant(text) => {
            let message = "createdAt must be an instant in UTC to the second or the millisecond, such as 2026-02-01T12:00:00.000Z";
            Err(Error::rejected(Code::InvalidAttribute, message))
        }
        // What else can be wrong with it, the index knows.
        _ => Ok(()),
    }
}
