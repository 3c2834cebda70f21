//! Sample data: two tenants with orders over eight years, the carts of the same customers, and the
//! counters that number the orders. The same data every time.

use dynoxide::{Database, ImportOptions};
use fastrand::Rng;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

use crate::database::DatabaseError;

/// The tenants. Both have orders, customers and carts of the same ids.
pub const TENANTS: [&str; 2] = ["acme", "beta"];

/// The orders that each tenant has.
pub const ORDERS: u32 = 260;

/// What fixes the drawn part of the data.
const SEED: u64 = 20_260_201;

/// Payment statuses, the usual ones more than once.
const STATUSES: [&str; 8] = ["PAID", "PAID", "PAID", "PAID", "OPEN", "OPEN", "OVERDUE", "CANCELLED"];

/// What customers are called, by tenant.
const CUSTOMERS: [[&str; 12]; 2] = [
    [
        "Ana Conceição Araújo",
        "José Antônio Guimarães",
        "Padaria São João Ltda.",
        "Érica Magalhães",
        "Construções Açaí & Cia.",
        "Luís Gonçalves",
        "Mercadinho Três Irmãos",
        "Íris Assunção",
        "Agropecuária Pantanal S.A.",
        "Fábio D'Ávila",
        "Farmácia Boa Saúde",
        "Zélia Simões",
    ],
    [
        "Imobiliária Pôr do Sol",
        "Márcia Brandão",
        "João Pereira Luz",
        "Oficina do Zé Ltda.",
        "Letícia Falcão",
        "Cafeteria Grão-Pará",
        "Antônia Conceição",
        "Gráfica Sé",
        "Raimundo Nonato Cruz",
        "Escola Pequeno Príncipe",
        "Tânia Müller",
        "Pousada Baía de Todos os Santos",
    ],
];

/// What is sold: id, description, unit price in cents.
const PRODUCTS: [(&str, &str, u64); 10] = [
    ("p-101", "Café torrado em grãos 1 kg", 6_490),
    ("p-102", "Pão de queijo congelado 2 kg", 4_290),
    ("p-103", "Açúcar demerara 5 kg", 2_375),
    ("p-104", "Feijão-carioca 1 kg", 899),
    ("p-105", "Óleo de dendê 900 ml", 1_849),
    ("p-106", "Guaraná em lata (caixa com 12)", 3_999),
    ("p-107", "Rapadura 500 g", 1_250),
    ("p-108", "Água de coco 1 l", 1_190),
    ("p-109", "Cachaça artesanal 700 ml", 8_900),
    ("p-110", "Fubá de milho 1 kg", 645),
];

/// The instants of the first orders of each tenant: around the day that began at one in the morning
/// in São Paulo, two of them the same.
const FIRST: [&str; 5] = [
    "2018-11-04T02:59:59.999Z",
    "2018-11-04T03:00:00.000Z",
    "2018-11-04T03:00:00.000Z",
    "2018-11-05T01:59:59.999Z",
    "2018-11-05T02:00:00.000Z",
];

/// Items of one table, as DynamoDB JSON.
#[derive(Debug, Clone)]
pub struct Items {
    /// The table, without the prefix of a deployment.
    pub table: &'static str,
    /// The items.
    pub items: Vec<Value>,
}

/// All sample data.
pub fn items() -> Vec<Items> {
    let mut orders = Vec::new();
    let mut carts = Vec::new();
    let mut counters = Vec::new();
    for (index, tenant) in TENANTS.into_iter().enumerate() {
        let mut rng = Rng::with_seed(SEED.wrapping_add(index as u64));
        let customers: Vec<Customer> = customers(index, &mut rng);
        let mut at = Timestamp::UNIX_EPOCH;
        for number in 1..=ORDERS {
            at = next_instant(number, at, &mut rng);
            let customer = customers.get(rng.usize(..customers.len()));
            orders.extend(customer.map(|customer| order(tenant, number, at, customer, &mut rng)));
        }
        let mut number = 0;
        for (place, customer) in customers.iter().enumerate() {
            // The first has three, the second none, the third one, the fourth two, and so on.
            for _ in 0..(3 + place * 2) % 5 % 4 {
                number += 1;
                at += rng.i64(1..600).minutes();
                carts.push(cart(tenant, number, at, &customer.id, &mut rng));
            }
        }
        counters.push(json!({
            "tenant": { "S": tenant },
            "name": { "S": "order" },
            "value": { "N": ORDERS.to_string() },
        }));
    }
    vec![
        Items { table: "SalesOrder", items: orders },
        Items { table: "Cart", items: carts },
        Items { table: "Counter", items: counters },
    ]
}

/// Writes all sample data into tables whose names begin with `table_prefix`.
///
/// # Errors
///
/// A table that is not there, or an item that the database refuses.
pub fn load(database: &Database, table_prefix: &str) -> Result<(), DatabaseError> {
    for Items { table, items } in items() {
        let refused = |problem: String| DatabaseError::Table { table: table.to_owned(), problem };
        let items =
            serde_json::from_value(Value::Array(items)).map_err(|error| refused(error.to_string()))?;
        let imported =
            database.import_items(&format!("{table_prefix}{table}"), items, ImportOptions::default());
        imported.map_err(|error| refused(error.to_string()))?;
    }
    Ok(())
}

struct Customer {
    id: String,
    name: &'static str,
    document: String,
}

fn customers(tenant: usize, rng: &mut Rng) -> Vec<Customer> {
    let names = CUSTOMERS.get(tenant).into_iter().flatten();
    let customer = |(place, name): (usize, &&'static str)| Customer {
        id: format!("c-{:03}", place + 1),
        name,
        // Eleven digits that no check digit fits: nobody's document.
        document: format!("{:09}00", rng.u32(1..1_000_000_000)),
    };
    names.enumerate().map(customer).collect()
}

/// Orders come up to three weeks apart, and now and then at the same instant as the one before.
fn next_instant(number: u32, before: Timestamp, rng: &mut Rng) -> Timestamp {
    let first = FIRST.get(number as usize - 1).and_then(|text| text.parse().ok());
    match first {
        Some(at) => at,
        None if number.is_multiple_of(13) => before,
        None => before + rng.i64(1..1_960_000_000).milliseconds(),
    }
}

fn order(tenant: &str, number: u32, at: Timestamp, customer: &Customer, rng: &mut Rng) -> Value {
    let status = STATUSES.get(rng.usize(..STATUSES.len())).copied().unwrap_or("OPEN");
    let order_status = match status {
        "CANCELLED" => "RETURNED",
        "PAID" => {
            ["PICKING", "SHIPPED", "DELIVERED", "DELIVERED"].get(rng.usize(..4)).copied().unwrap_or("NEW")
        }
        _ => ["NEW", "NEW", "PICKING", "SHIPPED"].get(rng.usize(..4)).copied().unwrap_or("NEW"),
    };
    let lines = lines(rng);
    let total: u64 = lines.iter().map(|line| line.cents * line.quantity).sum();
    json!({
        "tenant": { "S": tenant },
        "id": { "S": format!("order-{number:04}") },
        "number": { "N": number.to_string() },
        "createdAt": { "S": instant(at) },
        "status": { "S": status },
        "orderStatus": { "S": order_status },
        "customer": { "M": {
            "id": { "S": customer.id },
            "name": { "S": customer.name },
            "document": { "S": customer.document },
        } },
        "items": { "L": lines.iter().map(Line::stored).collect::<Vec<Value>>() },
        "total": { "N": amount(total) },
    })
}

fn cart(tenant: &str, number: u32, at: Timestamp, customer: &str, rng: &mut Rng) -> Value {
    json!({
        "tenant": { "S": tenant },
        "id": { "S": format!("cart-{number:04}") },
        "customerId": { "S": customer },
        "items": { "L": lines(rng).iter().map(Line::stored).collect::<Vec<Value>>() },
        "updatedAt": { "S": instant(at) },
    })
}

struct Line {
    product: &'static str,
    description: &'static str,
    quantity: u64,
    cents: u64,
}

impl Line {
    fn stored(&self) -> Value {
        json!({ "M": {
            "productId": { "S": self.product },
            "description": { "S": self.description },
            "quantity": { "N": self.quantity.to_string() },
            "unitPrice": { "N": amount(self.cents) },
        } })
    }
}

/// One to four lines of different products.
fn lines(rng: &mut Rng) -> Vec<Line> {
    let count = rng.usize(1..=4);
    let chosen = rng.choose_multiple(PRODUCTS.iter(), count);
    let line = |&(product, description, cents): &(&'static str, &'static str, u64)| Line {
        product,
        description,
        quantity: rng.u64(1..=24),
        cents,
    };
    chosen.into_iter().map(line).collect()
}

/// Cents as an amount with two decimals.
fn amount(cents: u64) -> String {
    format!("{}.{:02}", cents / 100, cents % 100)
}

/// An instant as it is stored: UTC, three digits after the second.
fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{database, template::Template};

    fn of(table: &str) -> Vec<Value> {
        items().into_iter().find(|items| items.table == table).unwrap().items
    }

    fn distinct(items: &[Value], tenant: &str, pointer: &str) -> BTreeSet<String> {
        let own = items.iter().filter(|item| item["tenant"]["S"] == tenant);
        own.map(|item| item.pointer(pointer).unwrap().as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn it_is_the_same_every_time() {
        let json = |all: Vec<Items>| all.into_iter().map(|items| items.items).collect::<Vec<_>>();
        assert_eq!(json(items()), json(items()));
    }

    #[test]
    fn orders_cover_what_lists_ask() {
        let orders = of("SalesOrder");
        assert_eq!(orders.len(), 2 * ORDERS as usize);
        assert_eq!(distinct(&orders, "acme", "/id/S"), distinct(&orders, "beta", "/id/S"));
        for tenant in TENANTS {
            assert_eq!(distinct(&orders, tenant, "/status/S").len(), 4);
            assert_eq!(distinct(&orders, tenant, "/orderStatus/S").len(), 5);
            assert_eq!(distinct(&orders, tenant, "/customer/M/id/S").len(), 12);
            let instants = distinct(&orders, tenant, "/createdAt/S");
            assert!(instants.len() < ORDERS as usize, "some instants are shared");
            assert!(instants.iter().all(|at| at.len() == "2026-02-01T03:00:00.000Z".len()), "{instants:?}");
            let years: BTreeSet<&str> = instants.iter().map(|at| &at[..4]).collect();
            assert!(years.len() >= 7, "{years:?}");
            assert!(years.iter().all(|year| ("2018"..="2026").contains(year)), "{years:?}");
        }
        let names = |tenant| distinct(&orders, tenant, "/customer/M/name/S");
        assert!(names("acme").is_disjoint(&names("beta")), "a row of another tenant is seen at once");
    }

    #[test]
    fn carts_belong_to_the_same_customers() {
        let (orders, carts) = (of("SalesOrder"), of("Cart"));
        for tenant in TENANTS {
            let customers = distinct(&orders, tenant, "/customer/M/id/S");
            assert!(distinct(&carts, tenant, "/customerId/S").is_subset(&customers));
            let first = carts
                .iter()
                .filter(|cart| cart["tenant"]["S"] == tenant && cart["customerId"]["S"] == "c-001");
            assert_eq!(first.count(), 3);
        }
    }

    #[test]
    fn the_database_takes_it() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let template = Template::load(path).unwrap().with_parameters(&[("TablePrefix", "dev-")]).unwrap();
        let database = database::open(&template).unwrap();
        load(&database, "dev-").unwrap();
        let request = json!({
            "TableName": "dev-SalesOrder",
            "IndexName": "tenant-createdAt-index",
            "KeyConditionExpression": "tenant = :t AND createdAt BETWEEN :a AND :b",
            "ExpressionAttributeValues": {
                ":t": { "S": "acme" },
                ":a": { "S": "2018-11-04T03:00:00.000Z" },
                ":b": { "S": "2018-11-05T01:59:59.999Z" },
            },
            "Select": "COUNT",
        });
        let answer = database.query(serde_json::from_value(request).unwrap()).unwrap();
        assert_eq!(answer.count, 3);
        assert!(load(&database, "").is_err());
    }
}
