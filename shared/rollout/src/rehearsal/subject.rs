//! The items of each rollout as a system writes them that does not know of the index yet, how they change,
//! and what lists are asked of them.

use std::collections::HashMap;

use fastrand::Rng;
use jiff::Timestamp;
use kit::dates;
use kit::item::{self, AttributeValue, Item, MAX_ITEM_BYTES, at_path};
use kit::key::{MAX_SORT_BYTES, Rollout};
use kit::list::List;
use kit::operation::Operation;
use kit::row::to_json;
use serde_json::{Map, Value, json};

use super::Failure;

/// The two tenants. The second one is small, so that all of its pages are looked at.
pub const TENANTS: [&str; 2] = ["acme", "beta"];

/// The most items that the small tenant has at first.
const SMALL: usize = 150;

/// How many items an entity has on average: a customer's orders, an organization's accounts.
const PER_ENTITY: usize = 40;

/// An attribute that changes with every write, so that a write which was undone shows.
pub const MARK: &str = "mark";

/// One rollout that is rehearsed.
#[derive(Debug, Clone, Copy)]
pub struct Subject {
    pub rollout: &'static Rollout,
    pub list: &'static List,
    pub save: &'static Operation,
    /// An item that a system wrote before it knew of the index.
    item: fn(&mut Rng, &str, usize, usize) -> Item,
    /// What a caller sends to have an item created that the index can hold.
    created: fn(Item) -> Item,
    /// Another value for what the key is derived from, if that ever changes.
    pub change: Option<Rekey>,
    /// What keeps an item out of the index.
    faults: &'static [fn(&mut Item)],
    /// What the list is asked, with the attribute that is looked at.
    questions: &'static [(&'static str, Matches)],
}

/// Draws another value for an attribute that the key is derived from, of so many entities.
type Rekey = fn(&mut Rng, usize) -> (&'static str, AttributeValue);

/// Whether the old way of reading finds an item for a parameter's value.
type Matches = fn(&Item, &str) -> bool;

/// What a list is asked.
#[derive(Debug, Clone)]
pub struct Asked {
    pub tenant: &'static str,
    pub parameter: Option<(&'static str, String)>,
    matches: Matches,
}

impl Asked {
    /// Whether an item belongs to the answer.
    pub fn holds(&self, item: &Item) -> bool {
        let value = self.parameter.as_ref().map(|(_, value)| value.as_str()).unwrap_or_default();
        text(item, "tenant") == Some(self.tenant) && (self.matches)(item, value)
    }
}

impl std::fmt::Display for Asked {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.parameter {
            None => write!(formatter, "{}", self.tenant),
            Some((name, value)) => write!(formatter, "{} {name}={value}", self.tenant),
        }
    }
}

/// The text at a path.
pub fn text<'a>(item: &'a Item, path: &str) -> Option<&'a str> {
    at_path(item, path)?.as_s().ok().map(String::as_str)
}

/// Every rollout that there is.
static SUBJECTS: [Subject; 5] = [
    Subject {
        rollout: &tables::sales_order::CUSTOMER_ROLLOUT,
        list: &orders::LIST,
        save: &order_create::OPERATION,
        item: order,
        created: |mut order| {
            for ours in ["tenant", "number", "createdAt"] {
                order.remove(ours);
            }
            order
        },
        change: Some(|rng, entities| ("customer", customer(rng, entities))),
        faults: &[
            |order| without(order, "customer"),
            |order| set(order, "customer", s("c-1")),
            |order| set(order, "customer", map([("id", s(""))])),
            |order| set(order, "customer", map([("id", n(7))])),
            |order| set(order, "customer", map([("id", s(&"é".repeat(MAX_SORT_BYTES / 2 + 1)))])),
            as_large_as_can_be,
        ],
        questions: &[("customerId", |order, value| text(order, "customer.id") == Some(value))],
    },
    Subject {
        rollout: &tables::person::BY_TENANT,
        list: &person::LIST,
        save: &person_save::OPERATION,
        item: someone,
        created: |person| person,
        change: Some(|rng, _| ("name", s(&name(rng)))),
        faults: &[
            |person| without(person, "name"),
            |person| set(person, "name", s("")),
            |person| set(person, "name", n(7)),
            |person| set(person, "name", s(&"木".repeat(MAX_SORT_BYTES / 3 + 1))),
            |person| without(person, "tenant"),
            |person| set(person, "tenant", n(7)),
            as_large_as_can_be,
        ],
        questions: &[("", |_, _| true)],
    },
    Subject {
        rollout: &tables::contract::ROLLOUT,
        list: &contract::LIST,
        save: &contract_save::OPERATION,
        item: agreement,
        created: |contract| contract,
        change: Some(|rng, entities| ("entity", s(&format!("unit-{}", rng.usize(..entities))))),
        faults: &[
            |contract| without(contract, "entity"),
            |contract| set(contract, "entity", s("")),
            |contract| set(contract, "entity", n(7)),
            |contract| set(contract, "entity", s("unit#7")),
            |contract| set(contract, "entity", s(&"x".repeat(kit::key::MAX_PARTITION_BYTES))),
            |contract| without(contract, "createdAt"),
            |contract| set(contract, "createdAt", n(7)),
            |contract| set(contract, "createdAt", s("")),
            |contract| set(contract, "createdAt", s(&"2".repeat(MAX_SORT_BYTES + 1))),
            |contract| without(contract, "tenant"),
            as_large_as_can_be,
        ],
        questions: &[("entity", |contract, value| text(contract, "entity") == Some(value))],
    },
    Subject {
        rollout: &tables::bank_account::ORGANIZATION_ROLLOUT,
        list: &bank_account::LIST,
        save: &bank_account_save::OPERATION,
        item: account,
        created: |account| account,
        change: None,
        faults: ACCOUNT_FAULTS,
        questions: &[("organizationId", of_an_organization)],
    },
    Subject {
        rollout: &tables::bank_account::PROVIDER_ROLLOUT,
        list: &bank_account::LIST,
        save: &bank_account_save::OPERATION,
        item: account,
        created: |account| account,
        change: None,
        faults: ACCOUNT_FAULTS,
        questions: &[("provider", |account, value| {
            text(account, "id").is_some_and(|id| id.contains(&format!("#{value}#")))
        })],
    },
];

/// What keeps an account out of both indexes.
const ACCOUNT_FAULTS: &[fn(&mut Item)] = &[
    |account| rename(account, |id| id.replace('#', "-")),
    |account| rename(account, |id| format!("{id}#1")),
    |account| {
        rename(account, |id| id.split_once('#').map(|(_, rest)| format!("#{rest}")).unwrap_or_default());
    },
    |account| {
        set(account, "provider", s("another"));
        set(account, "organizationId", s("another"));
    },
    |account| without(account, "tenant"),
    as_large_as_can_be,
];

fn of_an_organization(account: &Item, value: &str) -> bool {
    text(account, "id").is_some_and(|id| id.starts_with(&format!("{value}#")))
}

impl Subject {
    /// The subject of a rollout.
    pub fn of(rollout: &Rollout) -> Result<Self, Failure> {
        let subject = SUBJECTS.iter().find(|subject| subject.rollout.name == rollout.name).copied();
        subject.ok_or_else(|| format!("{} is rehearsed nowhere", rollout.name).into())
    }

    /// How many entities there are for so many items.
    pub fn entities(items: usize) -> usize {
        (items / PER_ENTITY).max(2)
    }

    /// The items of a running system: those that are as they should be, and those that no index can hold.
    pub fn old(&self, rng: &mut Rng, items: usize) -> (Vec<Item>, Vec<Item>) {
        let (entities, each) = (Self::entities(items), (items / 5000).max(1));
        let spoiled = (self.faults.len() * each).min(items / 4);
        let small = SMALL.min(items / 5);
        let (mut fine, mut faulty) = (Vec::with_capacity(items), Vec::new());
        for number in 0..items {
            let [large_tenant, small_tenant] = TENANTS;
            let tenant =
                if number % (items / small.max(1)).max(1) == 0 { small_tenant } else { large_tenant };
            let mut item = (self.item)(rng, tenant, number, entities);
            match self.faults.get(number % self.faults.len().max(1)).filter(|_| number < spoiled) {
                Some(spoil) => {
                    spoil(&mut item);
                    faulty.push(item);
                }
                None => fine.push(item),
            }
        }
        (fine, faulty)
    }

    /// An item that is new to the system.
    pub fn new_item(&self, rng: &mut Rng, number: usize, entities: usize) -> Item {
        let tenant = if rng.u8(..20) == 0 { TENANTS[1] } else { TENANTS[0] };
        (self.item)(rng, tenant, number, entities)
    }

    /// The same item as somebody enters it who knows what an item needs; none where its id is what is wrong.
    pub fn mended(&self, rng: &mut Rng, faulty: &Item, entities: usize) -> Option<Item> {
        let tenant = text(faulty, "tenant")?;
        let id = text(faulty, "id")?;
        let mut item = (self.item)(rng, tenant, 1, entities);
        set(&mut item, "id", s(id));
        kit::rollout::derive(self.rollout, &item).ok().map(|_| item)
    }

    /// The event by which a caller creates an item, or saves it whole.
    pub fn saving(&self, item: &Item) -> Result<String, Failure> {
        let route = self.save.routes.first().ok_or("the operation has no route")?;
        let (method, path) = (route.method.as_str(), route.path);
        let tenant = text(item, "tenant").unwrap_or_default().to_owned();
        let id = text(item, "id").unwrap_or_default().to_owned();
        let body = to_json(&(self.created)(item.clone()));
        Ok(event(method, path, &tenant, &[("id", &id)], "", Some(body)).to_string())
    }

    /// What the list is asked: of each tenant, for some of its entities.
    pub fn questions(&self, rng: &mut Rng, items: usize) -> Vec<Asked> {
        let entities = Self::entities(items);
        let mut asked = Vec::new();
        for (parameter, matches) in self.questions {
            for tenant in TENANTS {
                if parameter.is_empty() {
                    asked.push(Asked { tenant, parameter: None, matches: *matches });
                    continue;
                }
                for entity in [0, rng.usize(..entities)] {
                    let word = match *parameter {
                        "customerId" => "c",
                        "entity" => "unit",
                        "organizationId" => "org",
                        _ => "bank",
                    };
                    let parameter = Some((*parameter, format!("{word}-{entity}")));
                    asked.push(Asked { tenant, parameter, matches: *matches });
                }
            }
        }
        asked
    }

    /// The event of a page of the list.
    pub fn page(&self, asked: &Asked, page: usize, limit: usize) -> String {
        let mut query = format!("page={page}&limit={limit}");
        if let Some((name, value)) = &asked.parameter {
            // The values are of letters, digits and hyphens.
            query.push_str(&format!("&{name}={value}"));
        }
        event("GET", self.list.path(), asked.tenant, &[], &query, None).to_string()
    }
}

/// An event of an HTTP API.
fn event(
    method: &str,
    route: &str,
    tenant: &str,
    in_path: &[(&str, &str)],
    query: &str,
    body: Option<String>,
) -> Value {
    let in_path: Vec<&(&str, &str)> =
        in_path.iter().filter(|(name, _)| route.contains(&format!("{{{name}}}"))).collect();
    let path = in_path
        .iter()
        .fold(route.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value));
    let mut event = json!({
        "version": "2.0",
        "routeKey": format!("{method} {route}"),
        "rawPath": path,
        "rawQueryString": query,
        "headers": {},
        "requestContext": {
            "http": {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "rehearsal",
            "stage": "$default",
            "authorizer": {"jwt": {"claims": {"custom:tenant": tenant}, "scopes": null}},
        },
        "isBase64Encoded": false,
    });
    if let Some(fields) = event.as_object_mut() {
        if !in_path.is_empty() {
            let values: Map<String, Value> =
                in_path.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
            fields.insert("pathParameters".to_owned(), Value::Object(values));
        }
        fields.extend(body.map(|body| ("body".to_owned(), Value::String(body))));
    }
    event
}

pub fn s(text: &str) -> AttributeValue {
    AttributeValue::S(text.to_owned())
}

pub fn n(number: usize) -> AttributeValue {
    AttributeValue::N(number.to_string())
}

fn map<const N: usize>(fields: [(&str, AttributeValue); N]) -> AttributeValue {
    AttributeValue::M(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

pub fn set(item: &mut Item, name: &str, value: AttributeValue) {
    item.insert(name.to_owned(), value);
}

fn without(item: &mut Item, name: &str) {
    item.remove(name);
}

fn rename(item: &mut Item, name: impl Fn(&str) -> String) {
    let renamed = text(item, "id").map(name);
    item.extend(renamed.map(|id| ("id".to_owned(), AttributeValue::S(id))));
}

/// Lets an item grow until nothing can be added to it.
fn as_large_as_can_be(item: &mut Item) {
    set(item, "note", s("x"));
    let room = MAX_ITEM_BYTES.saturating_sub(item::size(item));
    set(item, "note", s(&"x".repeat(room)));
}

fn item<const N: usize>(fields: [(&str, AttributeValue); N]) -> Item {
    let fields = fields.into_iter().map(|(name, value)| (name.to_owned(), value));
    fields.collect::<HashMap<_, _>>()
}

/// An instant in the past; two numbers have the same.
fn instant(number: usize) -> AttributeValue {
    let seconds = i64::try_from(number / 2).unwrap_or_default() * 61 + 1_700_000_000;
    s(&dates::instant(Timestamp::from_second(seconds).unwrap_or_default()))
}

fn customer(rng: &mut Rng, entities: usize) -> AttributeValue {
    let id = rng.usize(..entities);
    map([("id", s(&format!("c-{id}"))), ("name", s(&name(rng)))])
}

fn order(rng: &mut Rng, tenant: &str, number: usize, entities: usize) -> Item {
    let line =
        map([("productId", s("p-1")), ("quantity", n(rng.usize(1..9))), ("unitPrice", n(rng.usize(..900)))]);
    item([
        ("tenant", s(tenant)),
        ("id", s(&format!("o-{number:07}"))),
        ("number", n(number + 1)),
        ("createdAt", instant(number)),
        ("customer", customer(rng, entities)),
        ("status", s("OPEN")),
        ("orderStatus", s("NEW")),
        ("items", AttributeValue::L(vec![line])),
        (MARK, n(0)),
    ])
}

fn someone(rng: &mut Rng, tenant: &str, number: usize, _: usize) -> Item {
    item([
        ("tenant", s(tenant)),
        ("id", s(&format!("p-{number:07}"))),
        ("name", s(&name(rng))),
        ("phone", s(&format!("+55 11 9{:08}", rng.usize(..100_000_000)))),
        (MARK, n(0)),
    ])
}

fn agreement(rng: &mut Rng, tenant: &str, number: usize, entities: usize) -> Item {
    item([
        ("tenant", s(tenant)),
        ("id", s(&format!("k-{number:07}"))),
        ("entity", s(&format!("unit-{}", rng.usize(..entities)))),
        ("createdAt", instant(number)),
        ("rent", n(rng.usize(900..9_000))),
        (MARK, n(0)),
    ])
}

/// Some accounts have the parts of their id once more, as attributes of their own.
fn account(rng: &mut Rng, tenant: &str, number: usize, entities: usize) -> Item {
    let (organization, bank) =
        (format!("org-{}", rng.usize(..entities)), format!("bank-{}", rng.usize(..entities)));
    let mut account = item([
        ("tenant", s(tenant)),
        ("id", s(&format!("{organization}#{bank}#{number:07}"))),
        ("label", s(&name(rng))),
        (MARK, n(0)),
    ]);
    if number.is_multiple_of(4) {
        set(&mut account, "provider", s(&bank));
    }
    if number.is_multiple_of(6) {
        set(&mut account, "organizationId", s(&organization));
    }
    account
}

/// A name, with the letters and accents that names have.
fn name(rng: &mut Rng) -> String {
    const GIVEN: [&str; 10] =
        ["Ana", "Álvaro", "Antônio", "Ângela", "Bruno", "Çelik", "João", "Lúcia", "Zélia", "ana maria"];
    const FAMILY: [&str; 10] =
        ["Silva", "Souza", "D'Ávila", "Gonçalves", "Araújo", "Müller", "Conceição", "Lima", "Sá", "Brandão"];
    let pick =
        |rng: &mut Rng, names: [&'static str; 10]| names.get(rng.usize(..10)).copied().unwrap_or_default();
    format!("{} {} {}", pick(rng, GIVEN), pick(rng, FAMILY), rng.u16(..1000))
}
