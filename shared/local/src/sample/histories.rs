//! What grows from day to day: the ledgers of properties, cash books, bank statements.
//!
//! Both tenants have entries of the same days, with the same ids.

use fastrand::Rng;
use jiff::ToSpan as _;
use jiff::civil::{Date, date};
use kit::key::KeyFault;
use serde_json::{Value, json};

use super::orders::CUSTOMERS;
use super::{Items, Tenant, add, amount, pick};

/// The first of the months that have entries.
const FIRST: Date = date(2023, 7, 1);

/// How many months have entries: as many as one request may ask for.
const MONTHS: i32 = 36;

/// The month in which nothing went through any book or account.
const QUIET: Date = date(2025, 2, 1);

/// The month in which five times as much as in others went through all of them.
const BUSY: Date = date(2026, 5, 1);

/// Properties, and those of their units that are let. The third is let as a whole.
const PROPERTIES: [(&str, &[&str]); 3] =
    [("prop-01", &["apt-101", "apt-102"]), ("prop-02", &["apt-201"]), ("prop-03", &[])];

/// What happens to a property: kind, description, cents.
type Happening = (&'static str, &'static str, i64);

/// What something has entries for, each month: its id and the days. Day 31 is the last of any month.
type Days = (&'static str, &'static [i32]);

const BOOKS: [Days; 2] = [("book-1", &[1, 1, 10, 10, 20, 31]), ("book-2", &[2, 15, 15, 31])];

const ACCOUNTS: [Days; 2] = [("acc-1", &[1, 5, 5, 5, 20, 31]), ("acc-2", &[5, 5, 31])];

pub(super) fn items(tenant: Tenant) -> Vec<Items> {
    let mut rng = tenant.rng(4);
    vec![
        Items { table: "PropertyLedger", items: ledger(tenant, &mut rng) },
        Items { table: "CashEntry", items: cash_entries(tenant, &mut rng) },
        Items { table: "StatementEntry", items: statement_entries(tenant, &mut rng) },
    ]
}

fn ledger(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let mut entries = Vec::new();
    for (property, units) in PROPERTIES {
        for month in 0..MONTHS {
            let first = FIRST + month.months();
            let mut happened: Vec<(i32, Option<&str>, Happening)> = Vec::new();
            for unit in units {
                // A readjustment every year.
                let rent = 212_500 * (1_000 + i64::from(month / 12) * 47) / 1_000;
                happened.push((5, Some(unit), ("RENT", "Aluguel recebido", rent)));
                happened.push((5, Some(unit), ("MANAGEMENT", "Taxa de administração", -rent * 8 / 100)));
                happened.push((10, Some(unit), ("CONDOMINIUM", "Condomínio", -rng.i64(61_000..84_000))));
            }
            happened.push((10, None, ("CLEANING", "Limpeza e jardinagem", -rng.i64(9_000..21_000))));
            happened.push((20, None, ("TAX", "IPTU, prestação do mês", -18_340)));
            if month % 6 == 5 && !units.is_empty() {
                let what = pick(rng, ["Conserto do portão", "Troca da fiação", "Vedação da caixa-d'água"]);
                happened.push((31, units.last().copied(), ("MAINTENANCE", what, -rng.i64(20_000..190_000))));
            }
            for (day, unit, what) in happened {
                let number = entries.len() + 1;
                entries.push(ledger_entry(tenant, number, (property, unit), in_month(first, day), what));
            }
        }
    }
    entries
}

/// An entry of a property. One that is of no unit has no attribute of a unit, and stands in no unit's ledger.
fn ledger_entry(
    tenant: Tenant,
    number: usize,
    (property, unit): (&str, Option<&str>),
    day: Date,
    (kind, description, cents): Happening,
) -> Value {
    let mut item = json!({
        "tenant": { "S": tenant.name },
        "id": { "S": format!("ledger-{number:05}") },
        "propertyId": { "S": property },
        "propertyLookupKey": { "S": tenant.key_of(property) },
        "entryDate": { "S": day.to_string() },
        "kind": { "S": kind },
        "description": { "S": format!("{description}, {}", tenant.own(["Edifício Ipê", "Edifício Jacarandá"])) },
        "amount": { "N": amount(cents) },
        "owners": { "SS": tenant.own([["Érica Magalhães", "Íris Assunção"], ["Antônia Conceição", "João Luz"]]) },
        // A third, as far as a number goes: 38 digits.
        "share": { "N": format!("0.{}", "3".repeat(38)) },
    });
    if let Some(unit) = unit {
        add(&mut item, "unitId", json!({ "S": unit }));
        add(&mut item, "unitLookupKey", json!({ "S": tenant.key_of(unit) }));
    }
    item
}

fn cash_entries(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let shop = tenant.own(["Loja Sé", "Loja São José"]);
    let operators = tenant.own([["Luís Gonçalves", "Zélia Simões"], ["Márcia Brandão", "Tânia Müller"]]);
    let mut entries = Vec::new();
    for (book, of_month) in BOOKS {
        let mut balance = 50_000;
        for day in days(of_month) {
            // What is not there cannot be spent.
            let spent = balance > 40_000 && rng.u32(..3) == 0;
            let (kind, description, cents) = if spent {
                let what =
                    ["Compra de café e açúcar", "Material de limpeza", "Sangria para depósito bancário"];
                ("OUT", pick(rng, what), -rng.i64(1_000..40_000))
            } else {
                let what = ["Venda no balcão", "Recebimento de prestação", "Suprimento de caixa"];
                ("IN", pick(rng, what), rng.i64(1_000..30_000))
            };
            balance += cents;
            let id = format!("cash-{:05}", entries.len() + 1);
            let key = tables::cash_entry::key(tenant.name, book, day, &id);
            let item = json!({
                "tenant": { "S": tenant.name },
                "bookId": { "S": book },
                "id": { "S": id },
                "date": { "S": day.to_string() },
                "kind": { "S": kind },
                "description": { "S": format!("{description}, {shop}") },
                "amount": { "N": amount(cents) },
                "balance": { "N": amount(balance) },
                "operator": { "M": { "name": { "S": pick(rng, operators) } } },
            });
            entries.push(keyed(item, key));
        }
    }
    entries
}

fn statement_entries(tenant: Tenant, rng: &mut Rng) -> Vec<Value> {
    let mut entries = Vec::new();
    for (account, of_month) in ACCOUNTS {
        let mut balance = 1_250_000;
        for day in days(of_month) {
            let name = pick(rng, tenant.own(CUSTOMERS));
            let (kind, description, cents) = match rng.u32(..6) {
                0..3 => ("PIX", format!("Pix recebido de {name}"), rng.i64(2_000..180_000)),
                3 => ("BOLETO", format!("Pagamento de boleto, {name}"), -rng.i64(5_000..240_000)),
                4 => ("TED", format!("Transferência para {name}"), -rng.i64(10_000..120_000)),
                _ => ("FEE", "Tarifa de manutenção".to_owned(), -1_990),
            };
            balance += cents;
            let id = format!("statement-{:05}", entries.len() + 1);
            let key = tables::statement_entry::key(tenant.name, account, day, &id);
            let item = json!({
                "tenant": { "S": tenant.name },
                "accountId": { "S": account },
                "id": { "S": id },
                "date": { "S": day.to_string() },
                "kind": { "S": kind },
                "description": { "S": description },
                "amount": { "N": amount(cents) },
                "balance": { "N": amount(balance) },
                // More digits than a float keeps.
                "document": { "N": format!("9{:018}", rng.u64(..1_000_000_000_000_000_000)) },
            });
            entries.push(keyed(item, key));
        }
    }
    entries
}

/// The days of entries, oldest first, for the days that each month has entries of.
fn days(of_month: &'static [i32]) -> impl Iterator<Item = Date> {
    let months = (0..MONTHS).map(|month| FIRST + month.months()).filter(|first| *first != QUIET);
    months.flat_map(move |first| {
        let times = if first == BUSY { 5 } else { 1 };
        of_month.iter().flat_map(move |day| std::iter::repeat_n(in_month(first, *day), times))
    })
}

/// This day of the month that begins with that one, or its last.
fn in_month(first: Date, day: i32) -> Date {
    (first + (day - 1).days()).min(first.last_of_month())
}

/// The item with its key. Without one, which the tests would see, the database refuses it.
fn keyed(mut item: Value, key: Result<[(&'static str, String); 2], KeyFault>) -> Value {
    for (name, value) in key.into_iter().flatten() {
        add(&mut item, name, json!({ "S": value }));
    }
    item
}
