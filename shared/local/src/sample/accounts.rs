//! Bank accounts. The id of one says whose it is and where, and is the key alone.

use fastrand::Rng;
use jiff::ToSpan as _;
use jiff::civil::date;
use serde_json::{Value, json};

use super::{Items, Tenant, add, amount, at, instant, pick, version};

/// Organizations `org-1` to `org-12`, of which some begin as others are called whole.
const ORGANIZATIONS: [[&str; 12]; 2] = [
    [
        "Serra Alta Comércio Ltda.",
        "Serra Alta Imóveis Ltda.",
        "Condomínio Edifício Ipê",
        "Condomínio Edifício Manacá",
        "Associação dos Lojistas da Sé",
        "Fundação Três Poderes",
        "Empório Jaçanã",
        "Clube Náutico da Represa",
        "Cooperativa Cafeeira Mogiana",
        "Instituto Butiá",
        "Oficina Escola Brás",
        "Galeria Itororó",
    ],
    [
        "Sítio Novo Comércio Ltda.",
        "Sítio Novo Locações Ltda.",
        "Condomínio Edifício Jacarandá",
        "Condomínio Edifício Pitangueira",
        "Associação dos Artesãos de Olinda",
        "Fundação Mercado de São José",
        "Empório Graúna",
        "Iate Clube Itapuã",
        "Cooperativa do Sisal",
        "Instituto Caatinga",
        "Oficina Escola Carnaúba",
        "Galeria Iracema",
    ],
];

/// Providers, of which one begins as another is called whole.
const PROVIDERS: [&str; 6] = ["itau", "bradesco", "caixa", "bb", "itau-bba", "sicredi"];

pub(super) fn items(tenant: Tenant) -> Vec<Items> {
    let mut rng = tenant.rng(6);
    let mut accounts = Vec::new();
    for (place, holder) in tenant.own(ORGANIZATIONS).into_iter().enumerate() {
        // Two at one provider, and one each at two others.
        for step in [0, 0, 1, 3] {
            let provider = PROVIDERS.get((place + step) % PROVIDERS.len()).copied().unwrap_or_default();
            let organization = format!("org-{}", place + 1);
            let number = accounts.len() + 1;
            accounts.push(account(tenant, number, (&organization, provider, holder), &mut rng));
        }
    }
    vec![Items { table: "BankAccount", items: accounts }]
}

fn account(
    tenant: Tenant,
    number: usize,
    (organization, provider, holder): (&str, &str, &str),
    rng: &mut Rng,
) -> Value {
    let in_bank = format!("{}{:04}-{}", tenant.place + 1, number * 137, number * 7 % 10);
    let opened = date(2016, 1, 4) + rng.i32(0..3_300).days();
    let updated = at("2025-10-01T12:00:00Z") + rng.i64(1..20_000_000_000).milliseconds();
    let mut item = json!({
        "id": { "S": format!("{organization}#{provider}#{in_bank}") },
        "tenant": { "S": tenant.name },
        "kind": { "S": pick(rng, ["CHECKING", "CHECKING", "SAVINGS", "ESCROW"]) },
        "holder": { "M": {
            "name": { "S": holder },
            // No check digit fits: nobody's document.
            "document": { "S": format!("{:012}00", rng.u64(1..1_000_000_000_000)) },
        } },
        "branch": { "S": format!("{:04}", rng.u32(1..10_000)) },
        "currency": { "S": "BRL" },
        "balance": { "N": amount(rng.i64(-500_000..90_000_000)) },
        "overdraft": { "M": {
            "limit": { "N": amount(rng.i64(0..20) * 500_000) },
            "dailyRate": { "N": format!("0.00{:024}1", rng.u64(..)) },
        } },
        "transfers": { "SS": ["PIX", pick(rng, ["TED", "BOLETO"])] },
        "active": { "BOOL": rng.u32(..10) > 0 },
        "openedOn": { "S": opened.to_string() },
        "updatedAt": { "S": instant(updated) },
        "version": { "S": version(updated, rng) },
    });
    // Most writers leave to the id what it says.
    if number.is_multiple_of(6) {
        add(&mut item, "organizationId", json!({ "S": organization }));
        add(&mut item, "provider", json!({ "S": provider }));
    }
    item
}
