//! Saves people, each with the name that it is sorted by.

use kit::dynamo::Session;
use kit::operation::{Access, HandleFuture, Operation, Route};
use kit::request::{Method, Request};
use kit::rollout::Stages;
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
        handle: put,
    }],
};

fn put<'a>(
    request: &'a Request,
    tenant: &'a str,
    stages: &'a Stages,
    session: &'a mut Session<'_>,
) -> HandleFuture<'a> {
    Box::pin(save::save(&TABLE, OPERATION.rollouts, |_| Ok(()), request, tenant, stages, session))
}
