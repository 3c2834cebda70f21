//! Orders over eight years, the carts of the same customers, and the counter that numbers the orders.

use fastrand::Rng;
use jiff::{Timestamp, ToSpan as _};
use serde_json::{Value, json};

use super::catalogue::SOLD;
use super::{Items, ORDERS, Tenant, amount, instant, pick};

/// Payment statuses, the usual ones more than once.
const STATUSES: [&str; 8] = ["PAID", "PAID", "PAID", "PAID", "OPEN", "OPEN", "OVERDUE", "CANCELLED"];

/// What customers are called, by tenant.
pub(super) const CUSTOMERS: [[&str; 12]; 2] = [
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

/// The instants of the first orders of each tenant: around the day that began at one in the morning
/// in São Paulo, two of them the same.
const FIRST: [&str; 5] = [
    "2018-11-04T02:59:59.999Z",
    "2018-11-04T03:00:00.000Z",
    "2018-11-04T03:00:00.000Z",
    "2018-11-05T01:59:59.999Z",
    "2018-11-05T02:00:00.000Z",
];

/// The orders of a tenant, and the items of these tables.
pub(super) struct Orders {
    pub(super) orders: Vec<Order>,
    pub(super) items: Vec<Items>,
}

/// What other domains say about an order.
pub(super) struct Order {
    pub(super) id: String,
    pub(super) at: Timestamp,
    pub(super) status: &'static str,
    pub(super) order_status: &'static str,
    pub(super) cents: i64,
    pub(super) customer: &'static str,
}

pub(super) fn orders(tenant: Tenant) -> Orders {
    let mut rng = tenant.rng(0);
    let customers: Vec<Customer> = customers(tenant, &mut rng);
    let (mut orders, mut stored, mut carts) = (Vec::new(), Vec::new(), Vec::new());
    let mut at = Timestamp::UNIX_EPOCH;
    for number in 1..=ORDERS {
        at = next_instant(number, at, &mut rng);
        let Some(customer) = customers.get(rng.usize(..customers.len())) else { continue };
        let (order, item) = order(tenant, number, at, customer, &mut rng);
        orders.push(order);
        stored.push(item);
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
    let counter = json!({
        "tenant": { "S": tenant.name },
        "name": { "S": "order" },
        "value": { "N": ORDERS.to_string() },
    });
    let items = vec![
        Items { table: "SalesOrder", items: stored },
        Items { table: "Cart", items: carts },
        Items { table: "Counter", items: vec![counter] },
    ];
    Orders { orders, items }
}

struct Customer {
    id: String,
    name: &'static str,
    document: String,
}

fn customers(tenant: Tenant, rng: &mut Rng) -> Vec<Customer> {
    let customer = |(place, name): (usize, &'static str)| Customer {
        id: format!("c-{:03}", place + 1),
        name,
        // Eleven digits that no check digit fits: nobody's document.
        document: format!("{:09}00", rng.u32(1..1_000_000_000)),
    };
    tenant.own(CUSTOMERS).into_iter().enumerate().map(customer).collect()
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

fn order(tenant: Tenant, number: u32, at: Timestamp, customer: &Customer, rng: &mut Rng) -> (Order, Value) {
    let status = pick(rng, STATUSES);
    let order_status = match status {
        "CANCELLED" => "RETURNED",
        "PAID" => pick(rng, ["PICKING", "SHIPPED", "DELIVERED", "DELIVERED"]),
        _ => pick(rng, ["NEW", "NEW", "PICKING", "SHIPPED"]),
    };
    let lines = lines(rng);
    let cents: i64 = lines.iter().map(|line| line.cents * line.quantity).sum();
    let id = format!("order-{number:04}");
    let item = json!({
        "tenant": { "S": tenant.name },
        "id": { "S": id },
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
        "total": { "N": amount(cents) },
    });
    (Order { id, at, status, order_status, cents, customer: customer.name }, item)
}

fn cart(tenant: Tenant, number: u32, at: Timestamp, customer: &str, rng: &mut Rng) -> Value {
    json!({
        "tenant": { "S": tenant.name },
        "id": { "S": format!("cart-{number:04}") },
        "customerId": { "S": customer },
        "items": { "L": lines(rng).iter().map(Line::stored).collect::<Vec<Value>>() },
        "updatedAt": { "S": instant(at) },
    })
}

struct Line {
    product: &'static str,
    description: &'static str,
    quantity: i64,
    cents: i64,
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
    let chosen = rng.choose_multiple(SOLD, count);
    let line = |(product, description, cents): (&'static str, &'static str, i64)| Line {
        product,
        description,
        quantity: rng.i64(1..=24),
        cents,
    };
    chosen.into_iter().map(line).collect()
}
