//! Saves and deletes products, under their tenant and id and nowhere else.
//!
//! A product carries a `version` that changes with every save. The answer gives it as `ETag` too, and a
//! save or a delete that says `If-Match` happens only to that version, so that of two editors the second
//! is told about the first.

use kit::dynamo::Session;
use kit::error::{Code, Error};
use kit::expression::Check;
use kit::item::{AttributeValue, VERSION, tagged_version, texts};
use kit::operation::{Access, HandleFuture, Operation, Reply, Route};
use kit::request::{Expected, Method, Request};
use tables::product::TABLE;

/// `PUT` and `DELETE /products/{id}`.
pub static OPERATION: Operation = Operation {
    name: "product-save",
    routes: &[
        Route { method: Method::Put, path: "/products/{id}", access: &[Access::Put(TABLE)], handle: save },
        Route {
            method: Method::Delete,
            path: "/products/{id}",
            access: &[Access::Delete(TABLE)],
            handle: delete,
        },
    ],
};

/// The longest id of a product that is saved, in bytes.
const MAX_ID_BYTES: usize = 128;

fn save<'a>(request: &'a Request, tenant: &'a str, session: &'a mut Session<'_>) -> HandleFuture<'a> {
    Box::pin(async move {
        let id = request.path_parameter("id")?;
        if id.len() > MAX_ID_BYTES || id.chars().any(char::is_control) {
            let message = format!("id must have at most {MAX_ID_BYTES} bytes and no control characters");
            return Err(Error::rejected(Code::InvalidParameter, message));
        }
        let expected = request.expected()?;
        let mut product = request.item()?;
        // What came from the list goes back as it is, so the tenant's own name and the version are let in.
        product.remove(VERSION);
        let own = |name: &str, value: &str| match product.get(name) {
            None => true,
            Some(stored) => *stored == AttributeValue::S(value.to_owned()),
        };
        if !own("id", id) || !own("tenant", tenant) {
            let message = "id and tenant must be those of the path and of the identity, or be left out";
            return Err(Error::rejected(Code::InvalidAttribute, message));
        }
        if let Some(name) = ["PK", "SK"].iter().find(|name| product.contains_key(**name)) {
            return Err(Error::rejected(
                Code::InvalidAttribute,
                format!("{name} is not an attribute of a product"),
            ));
        }
        let version = kit::id::new();
        product.extend(texts([("tenant", tenant), ("id", id), (VERSION, &version)]));
        let saved = session.put(&TABLE, product.clone(), &checks(expected)).await;
        match saved {
            Ok(()) => Ok(Reply::Item(product)),
            // A write whose answer was lost is sent again by the SDK, and then finds itself.
            Err(Error::ConditionFailed { item: Some(stored) })
                if stored.get(VERSION) == Some(&AttributeValue::S(version)) =>
            {
                Ok(Reply::Item(product))
            }
            Err(error) => Err(error),
        }
    })
}

fn delete<'a>(request: &'a Request, tenant: &'a str, session: &'a mut Session<'_>) -> HandleFuture<'a> {
    Box::pin(async move {
        let id = request.path_parameter("id")?;
        let expected = request.expected()?;
        if expected == Some(Expected::Nothing) {
            let message = "If-None-Match has no meaning for a DELETE";
            return Err(Error::rejected(Code::InvalidParameter, message));
        }
        let mut checks = checks(expected);
        if checks.is_empty() {
            checks.push(Check::Present("id"));
        }
        match session.delete(&TABLE, texts([("tenant", tenant), ("id", id)]), &checks).await {
            Ok(()) => Ok(Reply::Done),
            Err(Error::ConditionFailed { item: None }) => {
                Err(Error::rejected(Code::NotFound, "nothing is stored with this id"))
            }
            Err(error) => Err(error),
        }
    })
}

/// What must hold of the stored product.
fn checks(expected: Option<Expected>) -> Vec<Check> {
    match expected {
        None => Vec::new(),
        Some(Expected::Nothing) => vec![Check::Absent("id")],
        Some(Expected::Anything) => vec![Check::Present("id")],
        Some(Expected::Version(tag)) => match tagged_version(&tag) {
            Some(version) => vec![Check::Equals(VERSION, version)],
            // Written by somebody who knows no versions.
            None => vec![Check::Present("id"), Check::Absent(VERSION)],
        },
    }
}
