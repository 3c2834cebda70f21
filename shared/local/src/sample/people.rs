//! People, and contracts about them and about properties. No id is used by both tenants, since the id alone
//! is the key.

use fastrand::Rng;
use jiff::ToSpan as _;
use jiff::civil::date;
use serde_json::{Value, json};

use super::{Items, Tenant, add, amount, at, decimal, instant, pick, version};

/// Who is no single person.
const COMPANIES: [[&str; 8]; 2] = [
    [
        "D'Ávila Transportes Ltda.",
        "Ótica Visão",
        "Água Boa Saneamento S.A.",
        "Elétrica Três Corações ME",
        "açaí & cia. distribuidora",
        "CONSTRUTORA PORTAL DO SERTÃO",
        "Vidraçaria Ipiranga",
        "Jardins do Éden Paisagismo",
    ],
    [
        "Sant'Anna Mudanças Ltda.",
        "Óleo & Gás Recôncavo S.A.",
        "Âncora Administradora",
        "Dedetização Mata Atlântica ME",
        "padaria pão nosso",
        "ELEVADORES NORDESTE",
        "Serralheria Capibaribe",
        "Chaveiro Boa Viagem",
    ],
];

/// Two people each.
const NAMESAKES: [&str; 2] = ["José da Silva", "Maria das Dores"];

const GIVEN: [[&str; 15]; 2] = [
    [
        "Álvaro",
        "Beatriz",
        "Cecília",
        "Débora",
        "Érico",
        "Flávia",
        "Gonçalo",
        "Helena",
        "Inês",
        "Júlio",
        "Lúcia",
        "Otávio",
        "Patrícia",
        "Sebastião",
        "Úrsula",
    ],
    [
        "Adélia",
        "Bráulio",
        "Caetana",
        "Dirceu",
        "Estêvão",
        "Fátima",
        "Genésio",
        "Heloísa",
        "Ígor",
        "Jandira",
        "Leônidas",
        "Olívia",
        "Plínio",
        "Severina",
        "Valdomiro",
    ],
];

const SURNAMES: [[&str; 12]; 2] = [
    [
        "Araújo",
        "Bragança",
        "Camargo",
        "de Assis",
        "Espíndola",
        "Fagundes",
        "Guimarães",
        "Junqueira",
        "Leitão",
        "Magalhães",
        "Paixão",
        "Vilaça",
    ],
    [
        "Albuquerque",
        "Bezerra",
        "Cavalcânti",
        "do Ó",
        "Falcão",
        "Gusmão",
        "Lacerda",
        "Maranhão",
        "Nóbrega",
        "Queirós",
        "Sampaio",
        "Wanderley",
    ],
];

const CITIES: [[(&str, &str); 4]; 2] = [
    [("São Paulo", "SP"), ("Belo Horizonte", "MG"), ("Maringá", "PR"), ("Goiânia", "GO")],
    [("Olinda", "PE"), ("Belém", "PA"), ("Salvador", "BA"), ("Teresina", "PI")],
];

/// How many people each tenant has.
const PEOPLE: [usize; 2] = [120, 60];

/// The properties that contracts are about, the first of them with more than a page of contracts.
const PROPERTIES: [(&str, usize); 6] =
    [("prop-01", 24), ("prop-02", 4), ("prop-03", 3), ("prop-04", 3), ("prop-05", 2), ("prop-06", 2)];

pub(super) fn items(tenant: Tenant) -> Vec<Items> {
    let mut rng = tenant.rng(5);
    let count = tenant.own(PEOPLE);
    let ids: Vec<String> = (1..=count).map(|number| tenant.id_of("person", number)).collect();
    let people = (0..count).zip(&ids).map(|(place, id)| person(tenant, place, id, &mut rng)).collect();
    vec![
        Items { table: "Person", items: people },
        Items { table: "Contract", items: contracts(tenant, &ids, &mut rng) },
    ]
}

/// The name of the person at a place, and whether it is a company. Names are written as people write them.
fn name(tenant: Tenant, place: usize) -> (String, bool) {
    let companies = tenant.own(COMPANIES);
    if let Some(company) = companies.get(place) {
        return ((*company).to_owned(), true);
    }
    let place = place - companies.len();
    if place < 2 {
        return (tenant.own(NAMESAKES).to_owned(), false);
    }
    let (given, surnames) = (tenant.own(GIVEN), tenant.own(SURNAMES));
    // Each time round, every given name is followed by the next surname.
    let surname = (place % given.len() + place / given.len()) % surnames.len();
    let part = |names: &[&'static str], place: usize| names.get(place).copied().unwrap_or_default();
    let name = format!("{} {}", part(&given, place % given.len()), part(&surnames, surname));
    let name = match place % 9 {
        4 => name.to_uppercase(),
        7 => name.to_lowercase(),
        _ => name,
    };
    (name, false)
}

fn person(tenant: Tenant, place: usize, id: &str, rng: &mut Rng) -> Value {
    let (name, company) = name(tenant, place);
    let (city, state) = rng.choice(tenant.own(CITIES)).unwrap_or_default();
    let created = at("2019-02-01T12:00:00Z") + rng.i64(0..200_000_000_000).milliseconds();
    let updated = created + rng.i64(1..30_000_000_000).milliseconds();
    // No check digit fits: nobody's document.
    let document = match company {
        true => format!("{:012}00", rng.u64(1..1_000_000_000_000)),
        false => format!("{:09}00", rng.u32(1..1_000_000_000)),
    };
    let score: String = (0..29).map(|_| rng.digit(10)).collect();
    let mut item = json!({
        "id": { "S": id },
        "tenant": { "S": tenant.name },
        "name": { "S": name },
        "kind": { "S": if company { "COMPANY" } else { "INDIVIDUAL" } },
        "roles": { "SS": match company {
            true => vec!["SUPPLIER", pick(rng, ["CUSTOMER", "CARRIER"])],
            false => vec![pick(rng, ["CUSTOMER", "CUSTOMER", "LESSEE", "STAFF"])],
        } },
        "document": { "S": document },
        "phone": { "S": format!("+55 {} 90000-{:04}", tenant.own([11, 81]), rng.u32(..10_000)) },
        "address": { "M": { "city": { "S": city }, "state": { "S": state } } },
        "creditLimit": { "N": amount(rng.i64(0..5_000_000)) },
        "score": { "N": format!("0.{score}7") },
        "active": { "BOOL": rng.u32(..12) > 0 },
        "createdAt": { "S": instant(created) },
        "updatedAt": { "S": instant(updated) },
        "version": { "S": version(updated, rng) },
    });
    if !company {
        let born = date(1945, 1, 1) + rng.i32(0..22_000).days();
        add(&mut item, "birthDate", json!({ "S": born.to_string() }));
    }
    // Some have none.
    if place % 10 != 9 {
        let folded = tables::person::sort_name(&name, "").unwrap_or_default();
        let mailbox = folded.trim().replace(' ', ".");
        let domain = tenant.own(["correio.example", "postal.example"]);
        add(&mut item, "email", json!({ "S": format!("{mailbox}.{}@{domain}", place + 1) }));
    }
    item
}

/// Contracts about each property and about the first of the people, some of them of the same instant.
fn contracts(tenant: Tenant, people: &[String], rng: &mut Rng) -> Vec<Value> {
    let properties = PROPERTIES.map(|(property, count)| (property, count, true));
    let persons = people.iter().take(8).map(|person| (person.as_str(), 2, false));
    let mut contracts = Vec::new();
    for (entity, count, property) in properties.into_iter().chain(persons) {
        let mut created = at("2023-03-01T12:00:00Z") + rng.i64(0..20_000_000_000).milliseconds();
        for place in 0..count {
            if place % 5 != 4 {
                created += rng.i64(1..3_500_000_000).milliseconds();
            }
            let number = contracts.len() + 1;
            let kind = match property {
                true => pick(rng, ["LEASE", "MANAGEMENT", "MAINTENANCE"]),
                false => pick(rng, ["SERVICE", "SUPPLY"]),
            };
            let starts = date(2023, 4, 1) + rng.i32(0..36).months();
            let party = |role: &str, person: &str| json!({ "M": { "role": { "S": role }, "personId": { "S": person } } });
            let first = if property { people.get(rng.usize(..people.len())) } else { None };
            let first = first.map_or(entity, String::as_str);
            let witness = people.get(rng.usize(..people.len())).map_or(entity, String::as_str);
            let updated = created + rng.i64(1..9_000_000_000).milliseconds();
            contracts.push(json!({
                "id": { "S": tenant.id_of("contract", number) },
                "tenant": { "S": tenant.name },
                "entity": { "S": entity },
                "kind": { "S": kind },
                "title": { "S": format!(
                    "Contrato nº {number}/{}, {}",
                    starts.year(),
                    tenant.own(["Serra Alta Imóveis", "Sítio Novo Locações"]),
                ) },
                "status": { "S": pick(rng, ["DRAFT", "SIGNED", "SIGNED", "SIGNED", "TERMINATED"]) },
                "parties": { "L": [party("CONTRACTOR", first), party("WITNESS", witness)] },
                "amount": { "N": amount(rng.i64(80_000..2_500_000)) },
                "readjustment": { "M": {
                    "index": { "S": pick(rng, ["IPCA", "IGP-M"]) },
                    // None of it rounded off.
                    "factor": { "N": decimal(rng.i64(1_000_000_000_000_000_000..1_150_000_000_000_000_000), 18) },
                } },
                "startsOn": { "S": starts.to_string() },
                "endsOn": { "S": (starts + 30.months() - 1.day()).to_string() },
                "clauses": { "SS": rng.choose_multiple(["fiança", "rescisão", "reajuste", "vistoria"], 2) },
                "createdAt": { "S": instant(created) },
                "updatedAt": { "S": instant(updated) },
                "version": { "S": version(updated, rng) },
            }));
        }
    }
    contracts
}
