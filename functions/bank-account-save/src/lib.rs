//! Saves bank accounts, each with the keys of its organization and its provider.

use kit::dynamo::Session;
use kit::operation::{Access, HandleFuture, Operation, Route};
use kit::request::{Method, Request};
use kit::rollout::Stages;
use kit::save;
use tables::bank_account::{ORGANIZATION_ROLLOUT, PROVIDER_ROLLOUT, TABLE};

/// `PUT /bank-accounts/{id}`.
pub static OPERATION: Operation = Operation {
    name: "bank-account-save",
    rollouts: &[&ORGANIZATION_ROLLOUT, &PROVIDER_ROLLOUT],
    routes: &[Route {
        method: Method::Put,
        path: "/bank-accounts/{id}",
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
