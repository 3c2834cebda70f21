//! What is asked, with the right answer: worked out from the sample data alone, and then, whole, as it came
//! while nothing failed.

use std::collections::HashMap;
use std::path::Path;

use dynoxide::{AttributeValue, Database, ImportOptions};
use local::template::Template;
use serde_json::Value;

use crate::Failure;
use crate::stress::judge::Json;

/// A request, and what is known of its answer.
#[derive(Debug, Clone)]
pub struct Question {
    /// Whose orders are asked for.
    pub tenant: &'static str,
    /// Path and query.
    pub path: String,
    page: usize,
    limit: usize,
    /// The ids of the page.
    ids: Vec<String>,
    /// How many rows there are in all.
    total: usize,
    /// The whole answer, once it has come.
    pub right: Option<Json>,
}

/// One of the questions that are asked of every tenant.
struct Asked {
    query: &'static str,
    page: usize,
    limit: usize,
    among: fn(&Value) -> bool,
}

/// All questions of the list, first, later and last pages, one past the end, and a day that had 23 hours.
const ASKED: [Asked; 10] = [
    Asked { query: "", page: 1, limit: 20, among: |_| true },
    Asked { query: "page=3&limit=50", page: 3, limit: 50, among: |_| true },
    Asked { query: "page=13&limit=20", page: 13, limit: 20, among: |_| true },
    Asked { query: "page=14&limit=20", page: 14, limit: 20, among: |_| true },
    Asked {
        query: "from=2020-03-01&to=2021-06-30&limit=25",
        page: 1,
        limit: 25,
        among: |order| {
            ("2020-03-01T03:00:00.000Z".."2021-07-01T03:00:00.000Z").contains(&text(order, "/createdAt/S"))
        },
    },
    Asked {
        query: "from=2018-11-04&to=2018-11-04",
        page: 1,
        limit: 20,
        among: |order| {
            ("2018-11-04T03:00:00.000Z".."2018-11-05T02:00:00.000Z").contains(&text(order, "/createdAt/S"))
        },
    },
    Asked { query: "status=PAID", page: 1, limit: 20, among: |order| text(order, "/status/S") == "PAID" },
    Asked {
        query: "status=OPEN&page=2&limit=10",
        page: 2,
        limit: 10,
        among: |order| text(order, "/status/S") == "OPEN",
    },
    Asked {
        query: "orderStatus=DELIVERED&limit=5",
        page: 1,
        limit: 5,
        among: |order| text(order, "/orderStatus/S") == "DELIVERED",
    },
    Asked {
        query: "customerId=c-003",
        page: 1,
        limit: 20,
        among: |order| text(order, "/customer/M/id/S") == "c-003",
    },
];

/// The orders of the sample data, as DynamoDB JSON.
#[must_use]
pub fn orders() -> Vec<Value> {
    let sample = local::sample::items().into_iter().filter(|items| items.table == orders::LIST.table().name);
    sample.flat_map(|items| items.items).collect()
}

/// A database in which they are.
///
/// # Errors
///
/// A template that cannot be read, and orders that the database does not take.
pub fn database(project: &Path, orders: &[Value]) -> Result<Database, Failure> {
    let database = local::database::open(&Template::load(project.join("template.yaml"))?)?;
    let stored = |order: &Value| serde_json::from_value::<HashMap<String, AttributeValue>>(order.clone());
    let items = orders.iter().map(stored).collect::<Result<_, _>>()?;
    database.import_items(orders::LIST.table().name, items, ImportOptions::default())?;
    Ok(database)
}

/// Every question about these orders, of each tenant of the sample data.
#[must_use]
pub fn questions(orders: &[Value]) -> Vec<Question> {
    let mut questions = Vec::new();
    for tenant in local::sample::TENANTS {
        let own = orders.iter().filter(|order| text(order, "/tenant/S") == tenant);
        // Newest first; of the same instant, the embedded database has the larger id first.
        let mut own: Vec<&Value> = own.collect();
        own.sort_by_key(|order| std::cmp::Reverse((text(order, "/createdAt/S"), text(order, "/id/S"))));
        for Asked { query, page, limit, among } in ASKED {
            let found: Vec<&str> =
                own.iter().filter(|order| among(order)).map(|order| text(order, "/id/S")).collect();
            let ids = found.iter().skip((page - 1) * limit).take(limit).map(|id| (*id).to_owned()).collect();
            let path = if query.is_empty() { "/orders".to_owned() } else { format!("/orders?{query}") };
            let total = found.len();
            questions.push(Question { tenant, path, page, limit, ids, total, right: None });
        }
    }
    questions
}

impl Question {
    /// Whether its page has no row.
    #[must_use]
    pub fn finds_none(&self) -> bool {
        self.ids.is_empty()
    }

    /// Keeps this body as the right one, if it has the right rows in the right order and the right total.
    ///
    /// # Errors
    ///
    /// It has not.
    pub fn learn(&mut self, body: &[u8]) -> Result<(), Failure> {
        let answer: Value = serde_json::from_slice(body)?;
        let number = |name: &str| answer.get(name).and_then(Value::as_u64);
        let items = answer.get("items").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let ids: Vec<&str> = items.iter().map(|item| text(item, "/id")).collect();
        let Self { tenant, path, page, limit, total, .. } = self;
        for (name, right) in [("page", *page), ("limit", *limit), ("total", *total)] {
            if number(name) != Some(right as u64) {
                return Err(format!("{path} of {tenant}: {name} is {:?}, not {right}", number(name)).into());
            }
        }
        if ids != self.ids || items.iter().any(|item| text(item, "/tenant") != *tenant) {
            return Err(format!("{path} of {tenant}: the orders are {ids:?}, not {:?}", self.ids).into());
        }
        self.right = Json::read(body);
        Ok(())
    }
}

fn text<'a>(item: &'a Value, pointer: &str) -> &'a str {
    item.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use axum::body::Bytes;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_body_with_another_row_order_total_or_tenant_is_not_learned() {
        let order = |number: u8| json!({"tenant": {"S": "acme"}, "id": {"S": format!("order-{number:02}")}});
        let orders: Vec<Value> = (0..30).map(order).collect();
        let mut question = questions(&orders).remove(0);
        assert_eq!((question.ids[0].as_str(), question.ids.len(), question.total), ("order-29", 20, 30));
        let body = |ids: &[String], total: usize, tenant: &str| {
            let items: Vec<Value> = ids.iter().map(|id| json!({"id": id, "tenant": tenant})).collect();
            Bytes::from(json!({"items": items, "page": 1, "limit": 20, "total": total}).to_string())
        };
        let (ids, total) = (question.ids.clone(), question.total);
        let mut turned = ids.clone();
        turned.swap(3, 4);
        for wrong in [
            body(&ids[1..], total, "acme"),
            body(&turned, total, "acme"),
            body(&ids, total + 1, "acme"),
            body(&ids, total, "beta"),
            Bytes::from("{}"),
            Bytes::from("no JSON"),
        ] {
            assert!(question.learn(&wrong).is_err(), "{wrong:?}");
            assert!(question.right.is_none());
        }
        question.learn(&body(&ids, total, "acme")).unwrap();
        assert!(question.right.is_some());
    }
}
