//! Which key answers which question, written down once more by hand: the right value for each list,
//! against which the declarations are tested.

use std::collections::BTreeSet;

use kit::list::Answer;
use serde_json::{Value, json};

use crate::event::{Event, get};
use crate::registry;
use crate::world::{World, send};

/// A question as a screen asks it, and what the first call must say.
struct Row {
    list: &'static str,
    path: &'static str,
    asked: &'static [(&'static str, &'static str)],
    table: &'static str,
    index: Option<&'static str>,
    condition: &'static str,
    /// Attributes that put an item into the answer.
    item: &'static [(&'static str, &'static str)],
}

const ROWS: &[Row] = &[
    Row {
        list: "bom",
        path: "/products/{productId}/bom",
        asked: &[("productId", "p-1")],
        table: "Bom",
        index: Some("tenant-productId-index"),
        condition: "tenant = acme AND productId = p-1",
        item: &[("productId", "p-1")],
    },
    Row {
        list: "budget",
        path: "/budgets",
        asked: &[("propertyId", "h-1")],
        table: "Budget",
        index: Some("propertyLookupKey-index"),
        condition: "propertyLookupKey = acme#h-1",
        item: &[("propertyLookupKey", "acme#h-1"), ("createdAt", "2026-02-01T12:00:00.000Z")],
    },
    Row {
        list: "budget",
        path: "/budgets",
        asked: &[("propertyId", "h-1"), ("from", "2026-02-01"), ("to", "2026-02-01")],
        table: "Budget",
        index: Some("propertyLookupKey-index"),
        condition: "propertyLookupKey = acme#h-1 AND createdAt BETWEEN 2026-02-01T03:00:00 AND 2026-02-02T02:59:59~",
        item: &[("propertyLookupKey", "acme#h-1"), ("createdAt", "2026-02-02T02:59:59.999Z")],
    },
    Row {
        list: "cart",
        path: "/carts",
        asked: &[("customerId", "c-1")],
        table: "Cart",
        index: Some("tenant-customerId-index"),
        condition: "tenant = acme AND customerId = c-1",
        item: &[("customerId", "c-1")],
    },
    Row {
        list: "contract",
        path: "/contracts",
        asked: &[("entity", "e-1")],
        table: "Contract",
        index: Some("entityLookupKey-createdAt-index"),
        condition: "entityLookupKey = acme#e-1",
        item: &[("entityLookupKey", "acme#e-1"), ("createdAt", "2026-02-01T12:00:00.000Z")],
    },
    Row {
        list: "bank-account",
        path: "/bank-accounts",
        asked: &[("organizationId", "org-1")],
        table: "BankAccount",
        index: Some("organizationLookupKey-index"),
        condition: "organizationLookupKey = acme#org-1",
        item: &[("organizationLookupKey", "acme#org-1"), ("provider", "itau")],
    },
    Row {
        list: "bank-account",
        path: "/bank-accounts",
        asked: &[("provider", "itau")],
        table: "BankAccount",
        index: Some("providerLookupKey-index"),
        condition: "providerLookupKey = acme#itau",
        item: &[("providerLookupKey", "acme#itau"), ("organizationId", "org-1")],
    },
    Row {
        list: "delivery",
        path: "/deliveries",
        asked: &[],
        table: "Delivery",
        index: None,
        condition: "tenant = acme",
        item: &[],
    },
    Row {
        list: "delivery",
        path: "/deliveries",
        asked: &[("orderId", "o-1")],
        table: "Delivery",
        index: Some("tenant-orderId-index"),
        condition: "tenant = acme AND orderId = o-1",
        item: &[("orderId", "o-1")],
    },
    Row {
        list: "financial",
        path: "/financial-entries",
        asked: &[("unitId", "u-1")],
        table: "FinancialEntry",
        index: Some("unitLookupKey-index"),
        condition: "unitLookupKey = acme#u-1",
        item: &[("unitLookupKey", "acme#u-1"), ("dueDate", "2026-02-10")],
    },
    Row {
        list: "financial",
        path: "/financial-entries",
        asked: &[("unitId", "u-1"), ("from", "2026-02-01"), ("to", "2026-02-28")],
        table: "FinancialEntry",
        index: Some("unitLookupKey-index"),
        condition: "unitLookupKey = acme#u-1 AND dueDate BETWEEN 2026-02-01 AND 2026-02-28~",
        item: &[("unitLookupKey", "acme#u-1"), ("dueDate", "2026-02-28")],
    },
    Row {
        list: "flipping",
        path: "/flippings",
        asked: &[("projectId", "j-1")],
        table: "Flipping",
        index: Some("tenantProjectKey-index"),
        condition: "tenantProjectKey = acme#j-1",
        item: &[("tenantProjectKey", "acme#j-1"), ("createdAt", "2026-02-01T12:00:00.000Z")],
    },
    Row {
        list: "cash",
        path: "/cash-books/{bookId}/entries",
        asked: &[("bookId", "b-1"), ("month", "2026-02")],
        table: "CashEntry",
        index: None,
        condition: "bookMonthKey = acme#b-1#2026-02",
        item: &[("bookMonthKey", "acme#b-1#2026-02"), ("entryKey", "2026-02-10#{id}")],
    },
    Row {
        list: "cash",
        path: "/cash-books/{bookId}/entries",
        asked: &[("bookId", "b-1"), ("from", "2026-01-31"), ("to", "2026-02-10")],
        table: "CashEntry",
        index: None,
        condition: "bookMonthKey = acme#b-1#2026-02 AND entryKey BETWEEN 2026-02-01 AND 2026-02-10~",
        item: &[("bookMonthKey", "acme#b-1#2026-02"), ("entryKey", "2026-02-10#{id}")],
    },
    Row {
        list: "ledger",
        path: "/ledger",
        asked: &[("propertyId", "h-1")],
        table: "PropertyLedger",
        index: Some("propertyLookupKey-entryDate-index"),
        condition: "propertyLookupKey = acme#h-1",
        item: &[("propertyLookupKey", "acme#h-1"), ("entryDate", "2026-02-10")],
    },
    Row {
        list: "ledger",
        path: "/ledger",
        asked: &[("unitId", "u-1"), ("from", "2026-02-10"), ("to", "2026-02-10")],
        table: "PropertyLedger",
        index: Some("unitLookupKey-entryDate-index"),
        condition: "unitLookupKey = acme#u-1 AND entryDate BETWEEN 2026-02-10 AND 2026-02-10~",
        item: &[("unitLookupKey", "acme#u-1"), ("entryDate", "2026-02-10")],
    },
    Row {
        list: "statement",
        path: "/bank-accounts/{accountId}/statement",
        asked: &[("accountId", "a-1"), ("month", "2026-02")],
        table: "StatementEntry",
        index: None,
        condition: "accountMonthKey = acme#a-1#2026-02",
        item: &[("accountMonthKey", "acme#a-1#2026-02"), ("entryKey", "2026-02-10#{id}")],
    },
    Row {
        list: "statement",
        path: "/bank-accounts/{accountId}/statement",
        asked: &[("accountId", "a-1"), ("from", "2026-02-01"), ("to", "2026-02-28")],
        table: "StatementEntry",
        index: None,
        condition: "accountMonthKey = acme#a-1#2026-02 AND entryKey BETWEEN 2026-02-01 AND 2026-02-28~",
        item: &[("accountMonthKey", "acme#a-1#2026-02"), ("entryKey", "2026-02-10#{id}")],
    },
    Row {
        list: "movement",
        path: "/products/{productId}/movements",
        asked: &[("productId", "p-1")],
        table: "Movement",
        index: Some("tenant-productId-index"),
        condition: "tenant = acme AND productId = p-1",
        item: &[("productId", "p-1")],
    },
    Row {
        list: "orders",
        path: "/orders",
        asked: &[],
        table: "SalesOrder",
        index: Some("tenant-createdAt-index"),
        condition: "tenant = acme",
        item: &[("createdAt", "2026-02-01T12:00:00.000Z")],
    },
    Row {
        list: "orders",
        path: "/orders",
        asked: &[("status", "PAID")],
        table: "SalesOrder",
        index: Some("tenant-status-index"),
        condition: "tenant = acme AND status = PAID",
        item: &[("status", "PAID")],
    },
    Row {
        list: "orders",
        path: "/orders",
        asked: &[("orderStatus", "NEW")],
        table: "SalesOrder",
        index: Some("tenant-orderStatus-index"),
        condition: "tenant = acme AND orderStatus = NEW",
        item: &[("orderStatus", "NEW")],
    },
    Row {
        list: "orders",
        path: "/orders",
        asked: &[("customerId", "c-1")],
        table: "SalesOrder",
        index: Some("tenant-customerId-index"),
        condition: "tenant = acme AND customerId = c-1",
        item: &[("customerId", "c-1")],
    },
    Row {
        list: "payment",
        path: "/payments",
        asked: &[],
        table: "Payment",
        index: None,
        condition: "tenant = acme",
        item: &[],
    },
    Row {
        list: "payment",
        path: "/payments",
        asked: &[("orderId", "o-1")],
        table: "Payment",
        index: Some("tenant-orderId-index"),
        condition: "tenant = acme AND orderId = o-1",
        item: &[("orderId", "o-1")],
    },
    Row {
        list: "person",
        path: "/persons",
        asked: &[],
        table: "Person",
        index: Some("tenant-sortName-index"),
        condition: "tenant = acme",
        item: &[("sortName", "ana  i-1")],
    },
    Row {
        list: "price",
        path: "/products/{productId}/prices",
        asked: &[("productId", "p-1")],
        table: "Price",
        index: Some("tenant-productId-index"),
        condition: "tenant = acme AND productId = p-1",
        item: &[("productId", "p-1")],
    },
    Row {
        list: "product",
        path: "/products",
        asked: &[],
        table: "Product",
        index: None,
        condition: "tenant = acme",
        item: &[],
    },
    Row {
        list: "shipment",
        path: "/shipments",
        asked: &[],
        table: "Shipment",
        index: None,
        condition: "tenant = acme",
        item: &[],
    },
    Row {
        list: "shipment",
        path: "/shipments",
        asked: &[("orderId", "o-1")],
        table: "Shipment",
        index: Some("tenant-orderId-index"),
        condition: "tenant = acme AND orderId = o-1",
        item: &[("orderId", "o-1")],
    },
    Row {
        list: "stock",
        path: "/stock",
        asked: &[],
        table: "Stock",
        index: None,
        condition: "tenant = acme",
        item: &[("productId", "p-1")],
    },
    Row {
        list: "variant",
        path: "/products/{productId}/variants",
        asked: &[("productId", "p-1")],
        table: "Variant",
        index: Some("tenant-productId-index"),
        condition: "tenant = acme AND productId = p-1",
        item: &[("productId", "p-1")],
    },
];

impl Row {
    fn event(&self) -> Event {
        self.asked.iter().fold(get(self.path, "acme"), |event, (name, value)| event.with(name, value))
    }

    /// An item that answers the question, with attributes that nobody declared.
    fn item(&self, id: &str, filler: usize) -> Value {
        let mut item = json!({
            "tenant": {"S": "acme"},
            "id": {"S": id},
            "digits": {"N": "12345678901234567890123456789012345678"},
            "tenth": {"N": "0.1"},
            "undeclared": {"M": {"tags": {"SS": ["a", "b"]}, "raw": {"B": "/wA="}, "none": {"NULL": true}}},
            "filler": {"S": "x".repeat(filler)},
        });
        for (name, value) in self.item {
            match name.split_once('.') {
                Some((outer, inner)) => item[outer] = json!({"M": {inner: {"S": value}}}),
                None => item[*name] = json!({"S": value.replace("{id}", id)}),
            }
        }
        if self.table == "Stock" {
            item["productId"] = json!({"S": id});
        }
        item
    }
}

fn list(name: &str) -> &'static kit::list::List {
    registry::lists().into_iter().find(|list| list.name() == name).unwrap()
}

#[test]
fn every_question_is_written_down_here() {
    let mut missing = Vec::new();
    for list in registry::lists() {
        for question in list.questions() {
            let required: BTreeSet<&str> = question.required().into_iter().flatten().collect();
            let written = ROWS.iter().filter(|row| row.list == list.name()).any(|row| {
                let asked: BTreeSet<&str> = row.asked.iter().map(|(name, _)| *name).collect();
                asked.iter().all(|name| required.contains(name) || question.optional().contains(name))
                    && required.iter().all(|name| asked.contains(name))
            });
            if !written {
                missing.push(question.name);
            }
        }
    }
    assert_eq!(missing, Vec::<&str>::new(), "ROWS in tests/src/keys.rs says of each which key answers it");
}

#[tokio::test]
async fn every_question_reads_its_key_and_passes_the_whole_item_through() {
    for row in ROWS {
        let world = World::new();
        world.put(row.table, row.item("i-1", 0));
        let answer = send(&world.deployed(list(row.list)), &row.event()).await;
        assert_eq!(answer.status, 200, "{} {:?}: {}", row.list, row.asked, answer.body);
        let calls = world.calls();
        assert_eq!(calls[0].operation, "Query", "{}", row.list);
        assert_eq!(calls[0].body["TableName"], row.table, "{}", row.list);
        assert_eq!(calls[0].index(), row.index, "{} {:?}", row.list, row.asked);
        assert_eq!(calls[0].key_condition(), row.condition, "{} {:?}", row.list, row.asked);
        assert_eq!(answer.ids(), ["i-1"], "{} {:?}", row.list, row.asked);
        for part in [
            r#""digits":12345678901234567890123456789012345678,"#,
            r#""tenth":0.1"#,
            r#""undeclared":{"none":null,"raw":"/wA=","tags":["a","b"]}"#,
        ] {
            assert!(answer.body.contains(part), "{}: {}", row.list, answer.body);
        }
    }
}

#[tokio::test]
async fn every_question_reads_a_partition_above_one_megabyte_to_its_end() {
    for row in ROWS {
        let world = World::new();
        world.put_all(row.table, (0..30).map(|number| row.item(&format!("i-{number:02}"), 50_000)));
        let list = list(row.list);
        let app = world.deployed(list);
        let answer = send(&app, &row.event()).await;
        assert_eq!(answer.status, 200, "{} {:?}", row.list, row.asked);
        match list.answer() {
            Answer::All => assert_eq!(answer.ids().len(), 30, "{} {:?}", row.list, row.asked),
            Answer::Page => {
                assert_eq!((answer.ids().len(), answer.total()), (20, 30), "{} {:?}", row.list, row.asked);
            }
            Answer::Cursor { .. } => {
                let rest = send(&app, &row.event().with("cursor", answer.cursor().unwrap())).await;
                assert_eq!(
                    (answer.ids().len(), rest.ids().len(), rest.cursor()),
                    (20, 10, None),
                    "{}",
                    row.list
                );
            }
        }
    }
}

#[tokio::test]
async fn a_parameter_in_the_path_is_none_in_the_query() {
    let world = World::new();
    for row in ROWS.iter().filter(|row| row.path.contains('{')) {
        let name = row.path.split(['{', '}']).nth(1).unwrap();
        let event = row.event().with(name, "x-2");
        for event in [event.http(), event.rest()] {
            let answer = crate::world::send_raw(&world.deployed(list(row.list)), &event.to_string()).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"), "{}", row.list);
            let message = format!("\"{name}\" stands in the path and is no parameter of this list");
            assert_eq!(answer.message(), message);
        }
    }
    assert!(world.calls().is_empty());
}
