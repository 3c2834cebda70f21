//! Saves bank accounts, each with the keys of its organization and its provider.

use kit::operation::{Access, Operation, Route};
use kit::request::Method;
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
        handle: |request, tenant, stages, session| {
            save::save(&TABLE, OPERATION.rollouts, |_| Ok(()), request, tenant, stages, session)
        },
    }],
};
