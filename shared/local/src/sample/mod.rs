//! Sample data: two tenants and everything that the lists show of them. The same data every time.
//!
//! Both tenants have items of the same ids, where the tenant is in the key, and no name in common, so that a
//! row of the other tenant is seen at once. The items have the keys of the new indexes, as those of a new
//! system have. Numbers have more digits than a float keeps, and sets, nested maps and binary stand
//! among the attributes, so that it is seen whether items pass through whole.

mod accounts;
mod catalogue;
mod fulfilment;
mod histories;
mod keys;
mod orders;
mod people;
mod property;

use dynoxide::types::{AttributeValue, Item};
use dynoxide::{Database, ImportOptions};
use fastrand::Rng;
use jiff::Timestamp;
use serde_json::Value;

use crate::database::DatabaseError;

/// The tenants.
pub const TENANTS: [&str; 2] = ["acme", "beta"];

/// The orders that each tenant has.
pub const ORDERS: u32 = 260;

/// What fixes the drawn part of the data.
const SEED: u64 = 20_260_201;

/// Items of one table, as DynamoDB JSON.
#[derive(Debug, Clone)]
pub struct Items {
    /// The table, without the prefix of a deployment.
    pub table: &'static str,
    /// The items.
    pub items: Vec<Value>,
}

/// All sample data, each table once.
pub fn items() -> Vec<Items> {
    let mut all: Vec<Items> = Vec::new();
    for (place, name) in TENANTS.into_iter().enumerate() {
        let tenant = Tenant { name, place };
        let orders = orders::orders(tenant);
        let of_tenant = [
            orders.items,
            catalogue::items(tenant),
            fulfilment::items(tenant, &orders.orders),
            property::items(tenant),
            histories::items(tenant),
            people::items(tenant),
            accounts::items(tenant),
        ];
        for own in of_tenant.into_iter().flatten() {
            match all.iter_mut().find(|known| known.table == own.table) {
                Some(known) => known.items.extend(own.items),
                None => all.push(own),
            }
        }
    }
    for Items { table, items } in &mut all {
        keys::give(table, items);
    }
    all
}

/// Writes all sample data into tables whose names begin with `table_prefix`.
///
/// # Errors
///
/// A table that is not there, or an item that the database refuses.
pub fn load(database: &Database, table_prefix: &str) -> Result<(), DatabaseError> {
    for Items { table, items } in items() {
        let refused = |problem: String| DatabaseError::Table { table: table.to_owned(), problem };
        let items: Result<Vec<_>, _> = items.into_iter().map(stored).collect();
        let items = items.map_err(|error| refused(error.to_string()))?;
        let imported =
            database.import_items(&format!("{table_prefix}{table}"), items, ImportOptions::default());
        imported.map_err(|error| refused(error.to_string()))?;
    }
    Ok(())
}

/// An item from its DynamoDB JSON.
fn stored(item: Value) -> serde_json::Result<Item> {
    let Value::Object(attributes) = item else { return serde_json::from_value(item) };
    attributes.into_iter().map(|(name, value)| Ok((name, attribute(value)?))).collect()
}

/// A value from its DynamoDB JSON. Texts, numbers and maps, which are most of the data, are moved and not
/// read anew, which would take as long as all the rest.
fn attribute(mut value: Value) -> serde_json::Result<AttributeValue> {
    let only = value.as_object_mut().and_then(|object| object.iter_mut().next());
    Ok(match only.map(|(kind, inner)| (kind.as_str(), inner)) {
        Some(("S", Value::String(text))) => AttributeValue::S(std::mem::take(text)),
        Some(("N", Value::String(digits))) => AttributeValue::N(std::mem::take(digits)),
        Some(("M", map)) => AttributeValue::M(stored(map.take())?),
        _ => serde_json::from_value(value)?,
    })
}

/// The tenant whose data is made.
#[derive(Debug, Clone, Copy)]
struct Tenant {
    name: &'static str,
    place: usize,
}

impl Tenant {
    /// What chance decides in one domain, the same every time.
    fn rng(self, domain: u64) -> Rng {
        Rng::with_seed(SEED.wrapping_add(domain * 1_000).wrapping_add(self.place as u64))
    }

    /// What belongs to this tenant of two things.
    fn own<T>(self, [first, second]: [T; 2]) -> T {
        if self.place == 0 { first } else { second }
    }

    /// The composite key of what belongs to the tenant and is asked by this. A part that no key takes
    /// gives an empty key, which the database refuses.
    fn key_of(self, entity: &str) -> String {
        kit::key::composite(&[self.name, entity]).unwrap_or_default()
    }

    /// An id that no other tenant has: `person-1001`.
    fn id_of(self, what: &str, number: usize) -> String {
        format!("{what}-{}{number:03}", self.place + 1)
    }
}

/// Adds an attribute to an item.
fn add(item: &mut Value, name: &str, value: Value) {
    if let Some(attributes) = item.as_object_mut() {
        attributes.insert(name.to_owned(), value);
    }
}

/// One of several texts.
fn pick<const N: usize>(rng: &mut Rng, from: [&'static str; N]) -> &'static str {
    rng.choice(from).unwrap_or_default()
}

/// A number with this many decimals, exact: `decimal(6490, 2)` is `64.90`.
fn decimal(units: i64, decimals: u8) -> String {
    let one = 10_i64.pow(u32::from(decimals));
    let sign = if units < 0 { "-" } else { "" };
    let (whole, fraction) = ((units / one).abs(), (units % one).abs());
    format!("{sign}{whole}.{fraction:0width$}", width = usize::from(decimals))
}

/// Cents as an amount.
fn amount(cents: i64) -> String {
    decimal(cents, 2)
}

/// A fixed instant.
fn at(text: &str) -> Timestamp {
    text.parse().unwrap_or(Timestamp::UNIX_EPOCH)
}

/// An instant as it is stored: UTC, three digits after the second.
fn instant(at: Timestamp) -> String {
    format!("{at:.3}")
}

/// A version as a save writes it: a UUID of that instant (RFC 9562, version 7).
fn version(at: Timestamp, rng: &mut Rng) -> String {
    let milliseconds = at.as_millisecond();
    format!(
        "{:08x}-{:04x}-7{:03x}-{:x}{:03x}-{:012x}",
        milliseconds >> 16,
        milliseconds & 0xffff,
        rng.u16(..0x1000),
        rng.u8(8..12),
        rng.u16(..0x1000),
        rng.u64(..1 << 48),
    )
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::LazyLock;

    use serde_json::json;

    use super::*;
    use crate::{database, template::Template};

    static ALL: LazyLock<Vec<Items>> = LazyLock::new(items);

    fn of(table: &str) -> &'static [Value] {
        &ALL.iter().find(|items| items.table == table).unwrap().items
    }

    fn distinct(items: &[Value], tenant: &str, pointer: &str) -> BTreeSet<String> {
        counted(items, tenant, pointer).into_keys().collect()
    }

    /// How often each value occurs.
    fn counted(items: &[Value], tenant: &str, pointer: &str) -> BTreeMap<String, usize> {
        let mut counted = BTreeMap::new();
        for item in items.iter().filter(|item| item["tenant"]["S"] == tenant) {
            let value = item.pointer(pointer).unwrap_or_else(|| panic!("{pointer}: {item}"));
            *counted.entry(value.as_str().unwrap().to_owned()).or_default() += 1;
        }
        counted
    }

    fn template() -> Template {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        Template::load(path).unwrap().with_parameters(&[("TablePrefix", "dev-")]).unwrap()
    }

    #[test]
    fn it_is_the_same_every_time() {
        for again in items() {
            assert_eq!(again.items, of(again.table));
        }
    }

    #[test]
    fn decimals_are_exact() {
        assert_eq!(decimal(6_490, 2), "64.90");
        assert_eq!(decimal(5, 3), "0.005");
        assert_eq!(decimal(-5, 1), "-0.5");
        assert_eq!(decimal(-12_345_678, 6), "-12.345678");
    }

    /// Every key of every table, from the template: the tenant's own items have it, as text, and no key
    /// of the table itself twice.
    #[test]
    fn every_table_has_items_with_all_its_keys_and_where_it_can_the_same_ids_for_both_tenants() {
        for table in template().tables().unwrap() {
            let name = table["TableName"].as_str().unwrap().strip_prefix("dev-").unwrap();
            // Jobs note down there how far they are.
            if name == tables::maintenance::TABLE.name {
                continue;
            }
            let Some(Items { items, .. }) = ALL.iter().find(|items| items.table == name) else {
                panic!("there is no sample data for {name}");
            };
            let names = |schema: &Value| -> Vec<String> {
                let keys = schema.as_array().unwrap().iter();
                keys.map(|key| key["AttributeName"].as_str().unwrap().to_owned()).collect()
            };
            let key = names(&table["KeySchema"]);
            let mut seen = BTreeSet::new();
            for item in items {
                let values: Vec<&str> = key.iter().map(|name| item[name]["S"].as_str().unwrap()).collect();
                assert!(seen.insert(values), "{name}: {item}");
                for index in table["GlobalSecondaryIndexes"].as_array().into_iter().flatten() {
                    for attribute in names(&index["KeySchema"]) {
                        // What is of no unit is not in the index of units.
                        if (name, attribute.as_str()) == ("PropertyLedger", "unitLookupKey")
                            && item["unitId"].is_null()
                        {
                            assert!(item[&attribute].is_null(), "{item}");
                            continue;
                        }
                        let value = item[&attribute]["S"].as_str().unwrap_or_default();
                        assert!(!value.is_empty(), "{name} lacks {attribute}: {item}");
                    }
                }
            }
            let pointer = format!("/{}/S", key.last().unwrap());
            let [acme, beta] = TENANTS.map(|tenant| distinct(items, tenant, &pointer));
            let shared = key.len() == 1;
            assert!(shared || acme.is_subset(&beta) || beta.is_subset(&acme), "{name}: {acme:?} {beta:?}");
            assert!(!acme.is_empty() && !beta.is_empty(), "{name}");
        }
        let count: usize = ALL.iter().map(|items| items.items.len()).sum();
        assert!(count < 8_000, "{count} items take long to load");
    }

    #[test]
    fn orders_cover_what_lists_ask() {
        let orders = of("SalesOrder");
        assert_eq!(orders.len(), 2 * ORDERS as usize);
        assert_eq!(distinct(orders, "acme", "/id/S"), distinct(orders, "beta", "/id/S"));
        for tenant in TENANTS {
            assert_eq!(distinct(orders, tenant, "/status/S").len(), 4);
            assert_eq!(distinct(orders, tenant, "/orderStatus/S").len(), 5);
            assert_eq!(distinct(orders, tenant, "/customer/M/id/S").len(), 12);
            let instants = distinct(orders, tenant, "/createdAt/S");
            assert!(instants.len() < ORDERS as usize, "some instants are shared");
            assert!(instants.iter().all(|at| at.len() == "2026-02-01T03:00:00.000Z".len()), "{instants:?}");
            let years: BTreeSet<&str> = instants.iter().map(|at| &at[..4]).collect();
            assert!(years.len() >= 7, "{years:?}");
            assert!(years.iter().all(|year| ("2018"..="2026").contains(year)), "{years:?}");
        }
        let names = |tenant| distinct(orders, tenant, "/customer/M/name/S");
        assert!(names("acme").is_disjoint(&names("beta")), "a row of another tenant is seen at once");
    }

    #[test]
    fn carts_belong_to_the_same_customers() {
        let (orders, carts) = (of("SalesOrder"), of("Cart"));
        for tenant in TENANTS {
            let customers = distinct(orders, tenant, "/customer/M/id/S");
            assert!(distinct(carts, tenant, "/customerId/S").is_subset(&customers));
            assert_eq!(counted(carts, tenant, "/customerId/S")["c-001"], 3);
        }
    }

    #[test]
    fn what_is_said_of_products_is_said_of_products_that_there_are() {
        let (products, orders) = (of("Product"), of("SalesOrder"));
        for tenant in TENANTS {
            let ids = distinct(products, tenant, "/id/S");
            for id in ["p-001", "p-090", "p-101", "p-112", "kit #1 café", "kit 1/2 dúzia"] {
                assert!(ids.contains(id), "{id}");
            }
            assert_eq!(distinct(of("Stock"), tenant, "/productId/S"), ids);
            for table in ["Price", "Variant", "Bom", "Movement"] {
                assert!(distinct(of(table), tenant, "/productId/S").is_subset(&ids), "{table}");
            }
            assert!(distinct(of("Bom"), tenant, "/part/M/productId/S").is_subset(&ids));
            for order in orders.iter().filter(|order| order["tenant"]["S"] == tenant) {
                for line in order["items"]["L"].as_array().unwrap() {
                    assert!(ids.contains(line["M"]["productId"]["S"].as_str().unwrap()));
                }
            }
            assert_eq!(distinct(products, tenant, "/version/S").len(), ids.len());
            assert_eq!(distinct(products, tenant, "/status/S").len(), 3);
            let movements = counted(of("Movement"), tenant, "/productId/S");
            assert_eq!(movements["p-001"], 130);
            assert!(movements.len() < ids.len(), "some products never moved");
            assert_eq!(counted(of("Variant"), tenant, "/productId/S")["p-071"], 15);
            assert_eq!(counted(of("Bom"), tenant, "/productId/S")["kit #1 café"], 4);
        }
        let names = |tenant| distinct(products, tenant, "/name/S");
        assert!(names("acme").is_disjoint(&names("beta")), "a row of another tenant is seen at once");
    }

    #[test]
    fn stock_is_what_the_movements_leave() {
        let thousandths = |text: &str| {
            let (whole, fraction) = text.split_once('.').unwrap();
            assert_eq!(fraction.len(), 3, "{text}");
            format!("{whole}{fraction}").parse::<i64>().unwrap()
        };
        let mut left: BTreeMap<(String, String), i64> = BTreeMap::new();
        let key = |item: &Value| {
            (item["tenant"]["S"].as_str().unwrap().into(), item["productId"]["S"].as_str().unwrap().into())
        };
        for movement in of("Movement") {
            let balance = left.entry(key(movement)).or_default();
            *balance += thousandths(movement["quantity"]["N"].as_str().unwrap());
            assert!(*balance >= 0, "{movement}");
            assert_eq!(thousandths(movement["balance"]["N"].as_str().unwrap()), *balance);
        }
        for stock in of("Stock") {
            let moved = left.remove(&key(stock)).unwrap_or_default();
            assert_eq!(thousandths(stock["onHand"]["N"].as_str().unwrap()), moved, "{stock}");
        }
        assert_eq!(left, BTreeMap::new());
    }

    #[test]
    fn deliveries_payments_and_shipments_are_of_orders_that_there_are() {
        let orders = of("SalesOrder");
        for tenant in TENANTS {
            let ids = distinct(orders, tenant, "/id/S");
            for table in ["Delivery", "Payment", "Shipment"] {
                let counted = counted(of(table), tenant, "/orderId/S");
                assert!(counted.keys().all(|id| ids.contains(id)), "{table}");
                assert!(counted.len() < ids.len(), "{table}: some orders have none");
                assert!(counted.values().any(|count| *count == 1), "{table}");
                assert!(counted.values().filter(|count| **count >= 3).count() >= 5, "{table}");
                // The order of the events.
                assert!(tenant == "beta" || counted["order-0025"] > 1, "{table}");
            }
        }
    }

    #[test]
    fn what_is_paid_of_a_paid_order_is_its_total() {
        let cents = |text: &str| text.replace('.', "").parse::<i64>().unwrap();
        let payments = of("Payment");
        for order in of("SalesOrder").iter().filter(|order| order["status"]["S"] == "PAID") {
            let of_order = payments.iter().filter(|payment| {
                payment["tenant"] == order["tenant"] && payment["orderId"]["S"] == order["id"]["S"]
            });
            let paid: i64 = of_order.map(|payment| cents(payment["amount"]["N"].as_str().unwrap())).sum();
            assert_eq!(paid, cents(order["total"]["N"].as_str().unwrap()), "{order}");
        }
    }

    #[test]
    fn composite_keys_are_the_tenant_and_what_they_are_asked_by() {
        for (table, key, of_what, date) in [
            ("FinancialEntry", "unitLookupKey", "unitId", "dueDate"),
            ("Budget", "propertyLookupKey", "propertyId", "createdAt"),
            ("Flipping", "tenantProjectKey", "projectId", "createdAt"),
            ("PropertyLedger", "propertyLookupKey", "propertyId", "entryDate"),
        ] {
            let instant = date == "createdAt";
            let width = if instant { "2026-02-01T03:00:00.000Z".len() } else { "2026-02-01".len() };
            let items = of(table);
            for item in items {
                let text = |name: &str| item[name]["S"].as_str().unwrap();
                assert_eq!(text(key), format!("{}#{}", text("tenant"), text(of_what)));
                assert_eq!(text(date).len(), width, "{item}");
            }
            for tenant in TENANTS {
                let dates = distinct(items, tenant, &format!("/{date}/S"));
                let years: BTreeSet<&str> = dates.iter().map(|date| &date[..4]).collect();
                assert!(years.len() >= 2, "{table}: {years:?}");
            }
        }
        let entries = of("FinancialEntry");
        let dates = distinct(entries, "acme", "/dueDate/S");
        assert_eq!(dates.first().map(String::as_str), Some("2025-01-10"));
        assert!(dates.last().is_some_and(|date| date.starts_with("2026-12")), "{dates:?}");
        assert!(entries.iter().all(|entry| entry["correction"]["N"].as_str().unwrap().len() == 39));
    }

    #[test]
    fn ledgers_go_over_three_years_and_some_entries_are_of_no_unit() {
        let entries = of("PropertyLedger");
        for tenant in TENANTS {
            let counted = counted(entries, tenant, "/propertyId/S");
            assert!(counted["prop-01"] >= 250, "{counted:?}");
            assert!(counted.len() >= 3, "{counted:?}");
            let days = distinct(entries, tenant, "/entryDate/S");
            assert_eq!(days.first().map(|day| &day[..7]), Some("2023-07"));
            assert_eq!(days.last().map(|day| &day[..7]), Some("2026-06"));
            assert!(days.len() * 3 < counted["prop-01"] * 2, "many entries share their day");
            let kinds = distinct(entries, tenant, "/kind/S");
            assert!(kinds.len() >= 5, "{kinds:?}");
        }
        let mut of_units: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for entry in entries {
            let text = |name: &str| entry[name]["S"].as_str();
            let Some(unit) = text("unitId") else { continue };
            let key = format!("{}#{unit}", text("tenant").unwrap());
            assert_eq!(text("unitLookupKey"), Some(key.as_str()));
            of_units.entry(unit).or_default().insert(text("propertyId").unwrap());
        }
        assert!(of_units.len() >= 3, "{of_units:?}");
        assert!(of_units.values().all(|properties| properties.len() == 1), "{of_units:?}");
        assert!(entries.iter().any(|entry| entry["unitId"].is_null()));
        let names = |tenant| distinct(entries, tenant, "/description/S");
        assert!(names("acme").is_disjoint(&names("beta")), "a row of another tenant is seen at once");
    }

    #[test]
    fn books_and_accounts_have_a_quiet_month_a_busy_one_and_balances_that_add_up() {
        let cents = |item: &Value, name: &str| -> i64 {
            item[name]["N"].as_str().unwrap().replace('.', "").parse().unwrap()
        };
        for (table, partition, entity, named) in [
            ("CashEntry", "bookMonthKey", "bookId", ["book-1", "book-2"]),
            ("StatementEntry", "accountMonthKey", "accountId", ["acc-1", "acc-2"]),
        ] {
            for (tenant, name) in TENANTS.into_iter().flat_map(|tenant| named.map(|name| (tenant, name))) {
                let mut months: BTreeMap<&str, usize> = BTreeMap::new();
                let mut days: BTreeMap<&str, usize> = BTreeMap::new();
                let mut sorted: BTreeMap<&str, &Value> = BTreeMap::new();
                for item in of(table) {
                    let text = |name: &str| item[name]["S"].as_str().unwrap();
                    if (text("tenant"), text(entity)) != (tenant, name) {
                        continue;
                    }
                    let (day, id) = (text("date"), text("id"));
                    assert_eq!(text(partition), format!("{tenant}#{name}#{}", &day[..7]));
                    assert_eq!(text("entryKey"), format!("{day}#{id}"));
                    *months.entry(&day[..7]).or_default() += 1;
                    *days.entry(day).or_default() += 1;
                    sorted.insert(text("entryKey"), item);
                }
                assert_eq!(months.len(), 35, "{table}: {months:?}");
                assert_eq!(months.keys().next(), Some(&"2023-07"));
                assert_eq!(months.keys().next_back(), Some(&"2026-06"));
                assert!(!months.contains_key("2025-02"), "{table}: {months:?}");
                assert_eq!(months["2026-05"], 5 * months["2026-04"], "{table}");
                let ties = days.values().filter(|count| **count > 1).count();
                assert!(ties >= 35, "{table}: {ties} days have several entries");
                assert!(days.contains_key("2024-02-29") && days.contains_key("2026-01-31"), "{table}");
                let items: Vec<&Value> = sorted.into_values().collect();
                for pair in items.windows(2) {
                    let left = cents(pair[0], "balance") + cents(pair[1], "amount");
                    assert_eq!(cents(pair[1], "balance"), left, "{}", pair[1]);
                }
            }
        }
        assert!(of("CashEntry").iter().all(|entry| cents(entry, "balance") >= 0));
    }

    #[test]
    fn every_item_is_in_the_new_indexes_of_its_table() {
        for rollout in tables::ROLLOUTS {
            for item in of(rollout.table.name) {
                let verdict = kit::rollout::judge(rollout, &keys::as_read(item.as_object().unwrap()));
                assert!(matches!(verdict, kit::rollout::Verdict::Right), "{}: {item}", rollout.name);
                let version: u32 = item["schemaVersion"]["N"].as_str().unwrap().parse().unwrap();
                assert!(version >= rollout.schema_version, "{item}");
            }
        }
    }

    #[test]
    fn people_have_names_as_people_write_them() {
        let people = of("Person");
        let [acme, beta] = TENANTS.map(|tenant| counted(people, tenant, "/name/S"));
        assert!(acme.keys().all(|name| !beta.contains_key(name)), "a row of another tenant is seen at once");
        for (names, count) in [(acme, 120), (beta, 60)] {
            assert_eq!((names.values().sum::<usize>(), names.len()), (count, count - 1), "two have one name");
            assert!(names.keys().any(|name| *name == name.to_uppercase()));
            assert!(names.keys().any(|name| *name == name.to_lowercase()));
            assert!(names.keys().any(|name| name.contains('\'')));
            assert!(names.keys().filter(|name| !name.is_ascii()).count() * 2 > count);
        }
        assert!(people.iter().any(|person| person["email"].is_null()));
        let emails: BTreeSet<&str> =
            people.iter().filter_map(|person| person["email"]["S"].as_str()).collect();
        assert!(emails.iter().all(|email| email.is_ascii() && !email.contains("..")), "{emails:?}");
    }

    #[test]
    fn contracts_are_about_properties_and_people_that_there_are() {
        let contracts = of("Contract");
        for tenant in TENANTS {
            let mut known = distinct(of("Person"), tenant, "/id/S");
            known.extend(distinct(of("Budget"), tenant, "/propertyId/S"));
            let entities = counted(contracts, tenant, "/entity/S");
            assert!(entities.keys().all(|entity| known.contains(entity)), "{entities:?}");
            assert!(entities["prop-01"] > 20, "more than a page");
            let mut instants: BTreeMap<&str, usize> = BTreeMap::new();
            for contract in contracts.iter().filter(|contract| contract["tenant"]["S"] == tenant) {
                let at = contract["createdAt"]["S"].as_str().unwrap();
                assert_eq!(at.len(), "2026-02-01T03:00:00.000Z".len());
                assert!(at < "2026-07", "{at}");
                if contract["entity"]["S"] == "prop-01" {
                    *instants.entry(at).or_default() += 1;
                }
                for party in contract["parties"]["L"].as_array().unwrap() {
                    assert!(known.contains(party["M"]["personId"]["S"].as_str().unwrap()), "{contract}");
                }
            }
            assert!(instants.values().any(|count| *count == 2), "{instants:?}");
        }
    }

    #[test]
    fn accounts_tell_by_their_id_whose_they_are() {
        let mut own = 0;
        let mut seen: BTreeMap<(String, String), BTreeSet<&str>> = BTreeMap::new();
        for account in of("BankAccount") {
            let text = |name: &str| account[name]["S"].as_str().unwrap();
            let parts: Vec<&str> = text("id").split('#').collect();
            assert_eq!(parts[..2], [text("organizationId"), text("provider")]);
            assert_eq!(text("organizationLookupKey"), format!("{}#{}", text("tenant"), parts[0]));
            assert_eq!(text("providerLookupKey"), format!("{}#{}", text("tenant"), parts[1]));
            for (what, part) in [("organization", parts[0]), ("provider", parts[1])] {
                seen.entry((what.to_owned(), part.to_owned())).or_default().insert(text("tenant"));
            }
            match account["indexOnly"]["SS"].as_array() {
                None => own += 1,
                Some(names) => assert_eq!(names, &["provider", "organizationId"]),
            }
        }
        assert_eq!(own, 16, "few have both of themselves");
        assert!(seen.values().all(|tenants| tenants.len() == 2), "both tenants have all: {seen:?}");
    }

    #[test]
    fn the_database_takes_it() {
        let database = database::open(&template()).unwrap();
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

    #[test]
    fn a_database_without_the_new_indexes_takes_it_too() {
        let parameters: Vec<String> = tables::ROLLOUTS.iter().map(|rollout| rollout.parameter()).collect();
        let none: Vec<(&str, &str)> = parameters.iter().map(|name| (name.as_str(), "none")).collect();
        let database = database::open(&template().with_parameters(&none).unwrap()).unwrap();
        load(&database, "dev-").unwrap();
    }
}
