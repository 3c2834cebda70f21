//! Saves and deletes products, under their tenant and id and nowhere else.

use kit::dynamo::Session;
use kit::error::{Code, Error};
use kit::expression::Check;
use kit::item::{Item, texts};
use kit::operation::{Access, HandleFuture, Operation, Reply, Route};
use kit::request::{Expected, Method, Request};
use kit::rollout::Stages;
use kit::save;
use tables::product::TABLE;

/// `PUT` and `DELETE /products/{id}`.
pub static OPERATION: Operation = Operation {
    name: "product-save",
    rollouts: &[],
    routes: &[
        Route {
            method: Method::Put,
            path: "/products/{id}",
            access: &[Access::Put(TABLE)],
            handle: |request, tenant, stages, session| {
                save::save(&TABLE, OPERATION.rollouts, check, request, tenant, stages, session)
            },
        },
        Route {
            method: Method::Delete,
            path: "/products/{id}",
            access: &[Access::Delete(TABLE)],
            handle: delete,
        },
    ],
};

/// The names that a key never had in this table.
fn check(product: &Item) -> Result<(), Error> {
    match ["PK", "SK"].iter().find(|name| product.contains_key(**name)) {
        None => Ok(()),
        Some(name) => {
            let message = format!("{name} is not an attribute of a product");
            Err(Error::rejected(Code::InvalidAttribute, message))
        }
    }
}

fn delete<'a>(
    request: &'a Request,
    tenant: &'a str,
    _: &'a Stages,
    session: &'a mut Session<'_>,
) -> HandleFuture<'a> {
    Box::pin(async move {
        let id = request.path_parameter("id")?;
        let expected = request.expected()?;
        if expected == Some(Expected::Nothing) {
            let message = "If-None-Match has no meaning for a DELETE";
            return Err(Error::rejected(Code::InvalidParameter, message));
        }
        let mut checks = save::checks(&TABLE, tenant, expected.as_ref());
        if checks.is_empty() {
            checks.push(Check::Present("id"));
        }
        match session.delete(&TABLE, texts([("tenant", tenant), ("id", id)]), &checks).await {
            Ok(()) => Ok(Reply::Done),
            // Where the caller says what is stored, it is that which does not hold.
            Err(Error::ConditionFailed { item: None }) if expected.is_none() => {
                Err(Error::rejected(Code::NotFound, "nothing is stored with this id"))
            }
            Err(error) => Err(error),
        }
    })
}
