//! Properties: what is due for their units, budgets for them, and those bought to be sold again.

use fastrand::Rng;
use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use serde_json::{Value, json};

use super::{Items, Tenant, amount, at, decimal, instant, pick};

/// The units that something is due for.
const UNITS: [&str; 4] = ["apt-101", "apt-102", "apt-201", "apt-202"];

/// The months that something is due in, from January 2025.
const MONTHS: i32 = 24;

/// What is paid by this day, and what is not paid by then is overdue.
const TODAY: Date = date(2026, 6, 30);

/// What is due every month: kind, description, day of the month, amount in cents.
const DUE: [(&str, &str, i32, i64); 3] = [
    ("CONDOMINIUM", "Taxa de condomínio", 10, 78_000),
    ("RESERVE", "Fundo de reserva", 10, 7_800),
    ("WATER", "Água e esgoto", 15, 6_100),
];

/// The instants of some budgets of each property: around the first day of 2026 in São Paulo, two of them
/// the same.
const TURN: [&str; 4] = [
    "2026-01-01T02:59:59.999Z",
    "2026-01-01T03:00:00.000Z",
    "2026-01-01T03:00:00.000Z",
    "2026-01-02T02:59:59.999Z",
];

pub(super) fn items(tenant: Tenant) -> Vec<Items> {
    let mut rng = tenant.rng(3);
    vec![
        Items { table: "FinancialEntry", items: financial_entries(tenant, &mut rng) },
        Items { table: "Budget", items: budgets(tenant, &mut rng) },
        Items { table: "Flipping", items: flippings(tenant, &mut rng) },
    ]
}

fn financial_entries(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let mut entries = Vec::new();
    for unit in UNITS {
        for month in 0..MONTHS {
            let first = date(2025, 1, 1) + month.months();
            for (kind, description, day, cents) in DUE {
                // A readjustment every year, and water as it runs.
                let cents = match kind {
                    "WATER" => cents + rng.i64(-2_000..4_000),
                    _ => cents * (1_000 + i64::from(month / 12) * 47) / 1_000,
                };
                let due = first + (day - 1).days();
                let number = entries.len() + 1;
                entries.push(financial_entry(tenant, number, unit, due, (kind, description, cents), rng));
            }
            if month % 6 == 5 {
                let extra = ("EXTRA", tenant.own(["Obra da fachada", "Reforma do elevador"]), 45_000);
                let number = entries.len() + 1;
                entries.push(financial_entry(tenant, number, unit, first + 19.days(), extra, rng));
            }
        }
    }
    entries
}

fn financial_entry(
    tenant: Tenant,
    number: usize,
    unit: &str,
    due: Date,
    (kind, description, cents): (&str, &str, i64),
    rng: &mut Rng,
) -> Value {
    let status = match rng.u32(..12) {
        _ if due > TODAY => "OPEN",
        0 => "OVERDUE",
        _ => "PAID",
    };
    // As many digits as a number can have: 38.
    let correction: String = (0..36).map(|_| rng.digit(10)).collect();
    let mut item = json!({
        "tenant": { "S": tenant.name },
        "id": { "S": format!("entry-{number:05}") },
        "unitId": { "S": unit },
        "unitLookupKey": { "S": tenant.key_of(unit) },
        "dueDate": { "S": due.to_string() },
        "kind": { "S": kind },
        "description": { "S": format!("{description}, {}", tenant.own(["Edifício Ipê", "Edifício Jacarandá"])) },
        "amount": { "N": amount(cents) },
        "correction": { "N": format!("1.{correction}7") },
        "status": { "S": status },
        "fine": { "M": { "rate": { "N": "0.02" }, "dailyInterest": { "N": "0.00033" } } },
        "notices": { "SS": ["e-mail", pick(rng, ["portaria", "aplicativo"])] },
    });
    if let (true, Some(attributes)) = (status == "PAID", item.as_object_mut()) {
        let paid = due - rng.i32(0..9).days();
        attributes.insert("paidOn".to_owned(), json!({ "S": paid.to_string() }));
    }
    item
}

fn budgets(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let titles = tenant.own([
        ["Reforma da cozinha", "Impermeabilização da laje", "Pintura externa", "Troca do telhado"],
        ["Instalação elétrica", "Revestimento do banheiro", "Jardim e irrigação", "Muro de divisa"],
    ]);
    let mut budgets = Vec::new();
    for property in 1..=6 {
        let property = format!("prop-{property:02}");
        let mut created = at("2025-07-01T12:00:00Z");
        for place in 0..10_usize {
            created = match place.checked_sub(3).and_then(|place| TURN.get(place)) {
                Some(text) => at(text),
                None => created + rng.i64(1..2_700_000_000).milliseconds(),
            };
            let number = budgets.len() + 1;
            let hours = rng.i64(8..400);
            let (labour, material) = (hours * rng.i64(4_500..9_900), rng.i64(50_000..3_000_000));
            budgets.push(json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("budget-{number:04}") },
                "propertyId": { "S": property },
                "propertyLookupKey": { "S": tenant.key_of(&property) },
                "createdAt": { "S": instant(created) },
                "title": { "S": pick(rng, titles) },
                "status": { "S": pick(rng, ["DRAFT", "SENT", "APPROVED", "REFUSED"]) },
                "lines": { "L": [
                    { "M": {
                        "description": { "S": "Mão de obra" },
                        "hours": { "N": hours.to_string() },
                        "amount": { "N": amount(labour) },
                    } },
                    { "M": {
                        "description": { "S": "Material de construção" },
                        "amount": { "N": amount(material) },
                    } },
                ] },
                "total": { "N": amount(labour + material) },
                // A tax of 3.65 %, none of it rounded off.
                "tax": { "N": decimal((labour + material) * 365, 6) },
                "rooms": { "SS": rng.choose_multiple(["cozinha", "área de serviço", "sótão", "salão"], 2) },
            }));
        }
    }
    budgets
}

fn flippings(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let streets = tenant.own([
        ["Rua Augusta", "Alameda Itu", "Rua Tutoia", "Rua Bocaiúva"],
        ["Rua da Aurora", "Rua do Sol", "Rua São Bento", "Rua da União"],
    ]);
    let mut flippings = Vec::new();
    for project in 1..=5 {
        let project = format!("proj-{project:02}");
        let mut created = at("2024-08-01T12:00:00Z");
        for _ in 0..9 {
            created += rng.i64(86_400_000..5_600_000_000).milliseconds();
            let bought = rng.i64(18_000_000..90_000_000);
            let spent = bought / 100 * rng.i64(8..35);
            let invested = bought + spent;
            let sold = invested / 100 * rng.i64(94..150);
            let number = flippings.len() + 1;
            flippings.push(json!({
                "tenant": { "S": tenant.name },
                "id": { "S": format!("flipping-{number:04}") },
                "projectId": { "S": project },
                "tenantProjectKey": { "S": tenant.key_of(&project) },
                "createdAt": { "S": instant(created) },
                "address": { "S": format!("{}, {}", pick(rng, streets), rng.u32(1..2_000)) },
                "stage": { "S": pick(rng, ["BOUGHT", "RENOVATION", "FOR_SALE", "SOLD"]) },
                "purchase": { "M": {
                    "price": { "N": amount(bought) },
                    "transferTaxRate": { "N": "0.03" },
                    "registry": { "S": format!("{}º Registro de Imóveis", rng.u32(1..19)) },
                } },
                "renovation": { "M": { "spent": { "N": amount(spent) } } },
                "sale": { "M": { "price": { "N": amount(sold) } } },
                "areaM2": { "N": decimal(rng.i64(2_800..21_000), 2) },
                "margin": { "N": decimal((sold - invested) * 1_000_000_000 / invested, 9) },
                "permits": { "SS": ["alvará", pick(rng, ["habite-se", "laudo técnico"])] },
            }));
        }
    }
    flippings
}
