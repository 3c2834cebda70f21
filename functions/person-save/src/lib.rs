//! Saves people, each with the name that it is sorted by.

use kit::operation::{Access, Operation, Route};
use kit::request::Method;
use kit::save;
use tables::person::{BY_TENANT, TABLE};

/// `PUT /persons/{id}`.
pub static OPERATION: Operation = Operation {
    name: "person-save",
    rollouts: &[&BY_TENANT],
    routes: &[Route {
        method: Method::Put,
        path: "/persons/{id}",
        access: &[Access::Put(TABLE)],
        handle: |request, tenant, stages, session| {
            save::save(&TABLE, OPERATION.rollouts, |_| Ok(()), request, tenant, stages, session)
        },
    }],
};
