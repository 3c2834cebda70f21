//! What happens to orders: payments, shipments, deliveries.

use fastrand::Rng;
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};

use super::orders::Order;
use super::{Items, Tenant, amount, decimal, instant, pick};

/// Where things go: street, city, state, postal code, latitude and longitude in millionths.
type Address = (&'static str, &'static str, &'static str, &'static str, i64, i64);

const ADDRESSES: [[Address; 4]; 2] = [
    [
        ("Rua Barão de Itapetininga, 255", "São Paulo", "SP", "01042-001", -23_544_861, -46_640_278),
        ("Avenida Getúlio Vargas, 1300", "Belo Horizonte", "MG", "30112-021", -19_935_120, -43_930_477),
        ("Rua Sete de Setembro, 98", "Maringá", "PR", "87013-010", -23_420_999, -51_933_056),
        ("Travessa do Açude, 12", "Goiânia", "GO", "74003-010", -16_680_882, -49_253_269),
    ],
    [
        ("Ladeira da Misericórdia, 7", "Olinda", "PE", "53020-080", -8_013_409, -34_850_811),
        ("Rua João Alfredo, 45", "Belém", "PA", "66010-080", -1_452_953, -48_503_890),
        ("Praça da Sé, 1", "Salvador", "BA", "40020-210", -12_973_590, -38_509_730),
        ("Avenida Conceição, 860", "Teresina", "PI", "64001-020", -5_089_920, -42_803_310),
    ],
];

const CARRIERS: [[(&str, &str); 3]; 2] = [
    [("t-01", "Rápido Paulistano"), ("t-02", "Expresso Águia"), ("t-03", "Motoboys da Sé")],
    [("t-01", "Rodoviário Nordestão"), ("t-02", "Jangada Encomendas"), ("t-03", "Balsa & Cia.")],
];

pub(super) fn items(tenant: Tenant, orders: &[Order]) -> Vec<Items> {
    let mut rng = tenant.rng(2);
    let mut made = Made::default();
    for order in orders {
        made.payments(tenant, order, &mut rng);
        // What left the house did so in up to three parcels, each with a shipment of its own.
        let parcels = match order.order_status {
            "SHIPPED" | "DELIVERED" | "RETURNED" => rng.choice([1, 1, 2, 3]).unwrap_or(1),
            _ => 0,
        };
        for parcel in 1..=parcels {
            made.shipment(tenant, order, (parcel, parcels), &mut rng);
        }
        made.deliveries(tenant, order, &mut rng);
    }
    vec![
        Items { table: "Payment", items: made.payments },
        Items { table: "Shipment", items: made.shipments },
        Items { table: "Delivery", items: made.deliveries },
    ]
}

/// Rows of one tenant. Each table numbers its own.
#[derive(Default)]
struct Made {
    payments: Vec<Value>,
    shipments: Vec<Value>,
    deliveries: Vec<Value>,
}

impl Made {
    /// Paid orders are paid in up to four instalments, down to the cent; others are about to be.
    fn payments(&mut self, tenant: Tenant, order: &Order, rng: &mut Rng) {
        let (instalments, status) = match order.status {
            "PAID" => (rng.choice([1, 1, 1, 2, 4]).unwrap_or(1), "CONFIRMED"),
            "OPEN" => (rng.i64(0..=1), "PENDING"),
            "OVERDUE" => (1, "OVERDUE"),
            _ => (0, "CANCELLED"),
        };
        let method = pick(rng, ["PIX", "BOLETO", "CREDIT_CARD"]);
        for instalment in 1..=instalments {
            let rest = if instalment == instalments { order.cents % instalments } else { 0 };
            let cents = order.cents / instalments + rest;
            let due = order.at + (instalment * 30 * 24).hours();
            let number = self.payments.len() + 1;
            let mut item = json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("payment-{number:04}") },
                "orderId": { "S": order.id },
                "method": { "S": method },
                "status": { "S": status },
                "amount": { "N": amount(cents) },
                // 1.39 % of it, none of it rounded off.
                "fee": { "N": decimal(cents * 139, 6) },
                "instalment": { "M": {
                    "number": { "N": instalment.to_string() },
                    "of": { "N": instalments.to_string() },
                } },
                "payer": { "M": { "name": { "S": order.customer } } },
                "dueDate": { "S": day(due) },
            });
            if let (true, Some(attributes)) = (status == "CONFIRMED", item.as_object_mut()) {
                let paid = due - rng.i64(1..90_000_000).milliseconds();
                attributes.insert("paidAt".to_owned(), json!({ "S": instant(paid) }));
                let bank = tenant.own(["Banco da Praça", "Caixa do Sertão"]);
                attributes.insert("bank".to_owned(), json!({ "S": bank }));
            }
            self.payments.push(item);
        }
    }

    fn shipment(&mut self, tenant: Tenant, order: &Order, (parcel, parcels): (i64, i64), rng: &mut Rng) {
        let (carrier, name) = rng.choice(tenant.own(CARRIERS)).unwrap_or_default();
        let package = |rng: &mut Rng| {
            let size = [20, 30, 40].map(|cm| json!({ "N": (cm + rng.i64(0..9)).to_string() }));
            json!({ "M": {
                "weightKg": { "N": decimal(rng.i64(150..28_000), 3) },
                "sizeCm": { "L": size },
            } })
        };
        let packages: Vec<Value> = (0..rng.u32(1..=2)).map(|_| package(rng)).collect();
        // Letters and digits are base64, and 64 of them are the 48 bytes of a SHA-384.
        let digest: String = (0..64).map(|_| rng.alphanumeric()).collect();
        let number = self.shipments.len() + 1;
        self.shipments.push(json!({
            "tenant": { "S": tenant.name },
            "id": { "S": format!("shipment-{number:04}") },
            "orderId": { "S": order.id },
            "status": { "S": if order.order_status == "SHIPPED" { "IN_TRANSIT" } else { "ARRIVED" } },
            "carrier": { "M": { "id": { "S": carrier }, "name": { "S": name } } },
            "trackingCode": { "S": format!("CH{:09}BR", rng.u32(..1_000_000_000)) },
            "parcel": { "M": { "number": { "N": parcel.to_string() }, "of": { "N": parcels.to_string() } } },
            "packages": { "L": packages },
            "handling": { "SS": ["frágil", pick(rng, ["este lado para cima", "manter refrigerado"])] },
            "freight": { "N": amount(rng.i64(990..18_000)) },
            "invoice": { "M": {
                "number": { "N": rng.u32(1..999_999).to_string() },
                "series": { "N": "1" },
                "digest": { "B": digest },
            } },
            "shippedAt": { "S": instant(order.at + rng.i64(3_600_000..200_000_000).milliseconds()) },
        }));
    }

    /// What was delivered took up to three attempts; what came back was refused.
    fn deliveries(&mut self, tenant: Tenant, order: &Order, rng: &mut Rng) {
        let (attempts, outcome) = match order.order_status {
            "DELIVERED" => (rng.choice([1, 1, 2, 3]).unwrap_or(1), "DELIVERED"),
            "RETURNED" => (1, "REFUSED"),
            _ => (0, ""),
        };
        let (street, city, state, postal_code, latitude, longitude) =
            rng.choice(tenant.own(ADDRESSES)).unwrap_or_default();
        let mut at = order.at + 2.hours();
        for attempt in 1..=attempts {
            at += rng.i64(50_000_000..200_000_000).milliseconds();
            let number = self.deliveries.len() + 1;
            self.deliveries.push(json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("delivery-{number:04}") },
                "orderId": { "S": order.id },
                "attempt": { "N": i64::to_string(&attempt) },
                "status": { "S": if attempt == attempts { outcome } else { "NOBODY_HOME" } },
                "at": { "S": instant(at) },
                "recipient": { "S": order.customer },
                "address": { "M": {
                    "street": { "S": street },
                    "city": { "S": city },
                    "state": { "S": state },
                    "postalCode": { "S": postal_code },
                    "location": { "M": {
                        "latitude": { "N": decimal(latitude + rng.i64(-9_000..9_000), 6) },
                        "longitude": { "N": decimal(longitude + rng.i64(-9_000..9_000), 6) },
                    } },
                } },
                "proof": { "SS": ["assinatura", pick(rng, ["foto da fachada", "código do porteiro"])] },
                "distanceKm": { "N": decimal(rng.i64(800..60_000), 3) },
            }));
        }
    }
}

/// The day of an instant, where the tenants are.
fn day(at: Timestamp) -> String {
    let zone = TimeZone::get("America/Sao_Paulo").unwrap_or(TimeZone::UTC);
    at.to_zoned_datetime(zone).date().to_string()
}
