//! Creates an order.
//!
//! The caller sends the order; its tenant, its number and the instant of its creation are ours. Numbers
//! are taken from the tenant's counter before the order is written, so an order that is then refused
//! leaves a gap, and no two orders ever have the same number.

use kit::dates;
use kit::dynamo::{Returning, Session};
use kit::error::{Code, Error};
use kit::expression::{Change, Check};
use kit::item::{self, AttributeValue, Item};
use kit::key::MAX_SORT_BYTES;
use kit::operation::{Access, HandleFuture, Operation, Reply, Route};
use kit::request::{Method, Request};
use kit::rollout::{Stages, give_keys};
use tables::{counter, sales_order};

/// The longest id, in bytes.
const MAX_ID_BYTES: usize = 128;

/// The most lines of an order.
const MAX_LINES: usize = 500;

/// Attributes that an order does not choose itself, besides those that lists do not show.
const OURS: &[&str] = &["tenant", "number", "createdAt"];

/// `POST /orders`.
pub static OPERATION: Operation = Operation {
    name: "order-create",
    rollouts: &[&sales_order::CUSTOMER_ROLLOUT],
    routes: &[Route {
        method: Method::Post,
        path: "/orders",
        access: &[Access::Update(counter::TABLE), Access::Put(sales_order::TABLE)],
        handle: create,
    }],
};

fn create<'a>(
    request: &'a Request,
    tenant: &'a str,
    stages: &'a Stages,
    session: &'a mut Session<'_>,
) -> HandleFuture<'a> {
    Box::pin(async move {
        let mut order = validated(request.item()?)?;
        let id = order_id(&mut order);
        order.insert("tenant".to_owned(), AttributeValue::S(tenant.to_owned()));
        give_keys(OPERATION.rollouts, stages, &mut order)?;
        let number = next_number(tenant, session).await?;
        order.insert("number".to_owned(), number);
        let now = dates::instant(jiff::Timestamp::now());
        order.insert("createdAt".to_owned(), AttributeValue::S(now));
        let created = |order| Reply::Created(item::listed(order, sales_order::TABLE.unlisted));
        match session.put(&sales_order::TABLE, order.clone(), &[Check::Absent("id")]).await {
            Ok(()) => Ok(created(order)),
            // A write whose answer was lost is sent again by the SDK, and then finds itself.
            Err(Error::ConditionFailed { item: Some(stored) })
                if ["number", "createdAt"].iter().all(|name| stored.get(*name) == order.get(*name)) =>
            {
                Ok(created(order))
            }
            Err(Error::ConditionFailed { .. }) => Err(Error::rejected(
                Code::AlreadyExists,
                format!("an order with the id \"{id}\" is stored already"),
            )),
            Err(error) => Err(error),
        }
    })
}

/// The next number of the tenant's orders.
async fn next_number(tenant: &str, session: &mut Session<'_>) -> Result<AttributeValue, Error> {
    let key = item::texts([("tenant", tenant), ("name", counter::ORDER_NUMBER)]);
    let change = [Change::Add(counter::VALUE, 1)];
    let mut changed = session.update(&counter::TABLE, key, &change, &[], Returning::Changed).await?;
    changed
        .remove(counter::VALUE)
        .ok_or_else(|| Error::internal("numbering an order", "the counter answered no number"))
}

/// The order's id: its own, or a new one that sorts by time.
fn order_id(order: &mut Item) -> String {
    match order.get("id") {
        Some(AttributeValue::S(id)) => id.clone(),
        _ => {
            let id = kit::id::new();
            order.insert("id".to_owned(), AttributeValue::S(id.clone()));
            id
        }
    }
}

/// Checks what the keys of an order and its readers rely on. All else passes through.
fn validated(mut order: Item) -> Result<Item, Error> {
    if let Some(ours) = OURS.iter().chain(sales_order::TABLE.unlisted).find(|name| order.contains_key(**name))
    {
        return Err(invalid(ours, "is set for you; leave it out"));
    }
    if order.contains_key("id") {
        text(&order, "id", MAX_ID_BYTES)?;
    }
    text(&order, "customer.id", MAX_SORT_BYTES)?;
    for (status, initial) in [("status", "OPEN"), ("orderStatus", "NEW")] {
        if order.contains_key(status) {
            text(&order, status, MAX_SORT_BYTES)?;
        } else {
            order.insert(status.to_owned(), AttributeValue::S(initial.to_owned()));
        }
    }
    lines(&order)?;
    if order.get("total").is_some_and(|total| !at_least_zero(total)) {
        return Err(invalid("total", "must be a number that is not negative"));
    }
    Ok(order)
}

fn lines(order: &Item) -> Result<(), Error> {
    let lines = match order.get("items") {
        Some(AttributeValue::L(lines)) if (1..=MAX_LINES).contains(&lines.len()) => lines,
        _ => return Err(invalid("items", &format!("must be a list of 1 to {MAX_LINES} lines"))),
    };
    for (position, line) in lines.iter().enumerate() {
        let AttributeValue::M(line) = line else {
            return Err(invalid(&format!("items[{position}]"), "must be an object"));
        };
        let named = |name: &str| format!("items[{position}].{name}");
        if !matches!(line.get("productId"), Some(AttributeValue::S(id)) if !id.is_empty()) {
            return Err(invalid(&named("productId"), "must be a text that is not empty"));
        }
        if !line.get("quantity").is_some_and(|quantity| at_least_zero(quantity) && !is_zero(quantity)) {
            return Err(invalid(&named("quantity"), "must be a number above zero"));
        }
        if !line.get("unitPrice").is_some_and(at_least_zero) {
            return Err(invalid(&named("unitPrice"), "must be a number that is not negative"));
        }
    }
    Ok(())
}

/// Checks a text attribute that is, or becomes, part of a key.
fn text(order: &Item, path: &str, most_bytes: usize) -> Result<(), Error> {
    match item::at_path(order, path) {
        Some(AttributeValue::S(value)) if value.trim().is_empty() => Err(invalid(path, "must not be empty")),
        Some(AttributeValue::S(value)) if value.len() > most_bytes => {
            Err(invalid(path, &format!("must have at most {most_bytes} bytes")))
        }
        Some(AttributeValue::S(value)) if value.chars().any(char::is_control) => {
            Err(invalid(path, "must not contain control characters"))
        }
        Some(AttributeValue::S(_)) => Ok(()),
        Some(_) => Err(invalid(path, "must be a text")),
        None => Err(invalid(path, "is missing")),
    }
}

/// The digits decide, so that no number is rounded on the way.
fn at_least_zero(value: &AttributeValue) -> bool {
    matches!(value, AttributeValue::N(digits) if !digits.starts_with('-') || is_zero(value))
}

fn is_zero(value: &AttributeValue) -> bool {
    let AttributeValue::N(digits) = value else { return false };
    let mantissa = digits.split(['e', 'E']).next().unwrap_or_default();
    !mantissa.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
}

fn invalid(attribute: &str, why: &str) -> Error {
    Error::rejected(Code::InvalidAttribute, format!("{attribute} {why}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FINE: &str = r#"{"customer":{"id":"c-1"},"items":[{"productId":"p","quantity":1,"unitPrice":0}]}"#;

    fn read(body: &str) -> Result<Item, Error> {
        validated(item::from_json(body).unwrap())
    }

    fn message(body: &str) -> String {
        read(body).unwrap_err().to_string()
    }

    #[test]
    fn an_order_gets_its_first_statuses() {
        let order = read(FINE).unwrap();
        assert_eq!(order["status"], AttributeValue::S("OPEN".into()));
        assert_eq!(order["orderStatus"], AttributeValue::S("NEW".into()));
    }

    #[test]
    fn every_mistake_is_named() {
        assert_eq!(message("{}"), "customer.id is missing");
        assert_eq!(message(r#"{"number":1}"#), "number is set for you; leave it out");
        assert_eq!(message(&FINE.replace("c-1", " ")), "customer.id must not be empty");
        assert_eq!(message(&FINE.replace("\"c-1\"", "7")), "customer.id must be a text");
        assert_eq!(message(&FINE.replacen('{', r#"{"id":"","#, 1)), "id must not be empty");
        assert_eq!(message(&FINE.replacen('{', r#"{"status":5,"#, 1)), "status must be a text");
        assert_eq!(message(&FINE.replacen('{', r#"{"status":"","#, 1)), "status must not be empty");
        assert_eq!(
            message(r#"{"customer":{"id":"c"},"items":[]}"#),
            "items must be a list of 1 to 500 lines"
        );
        assert_eq!(
            message(&FINE.replace("quantity\":1", "quantity\":0.0")),
            "items[0].quantity must be a number above zero"
        );
        assert_eq!(
            message(&FINE.replace("quantity\":1", "quantity\":-1")),
            "items[0].quantity must be a number above zero"
        );
        assert_eq!(
            message(&FINE.replace("unitPrice\":0", "unitPrice\":\"0\"")),
            "items[0].unitPrice must be a number that is not negative"
        );
        assert_eq!(
            message(&FINE.replacen('{', r#"{"total":-0.01,"#, 1)),
            "total must be a number that is not negative"
        );
        let long = "é".repeat(MAX_SORT_BYTES / 2 + 1);
        assert_eq!(message(&FINE.replace("c-1", &long)), "customer.id must have at most 1024 bytes");
    }
}
