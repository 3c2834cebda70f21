//! A new index, from no index to the one that lists read: at every stage each screen keeps its answer, and
//! each function has no more rights than the template grants it there.

use kit::function::Function;
use kit::key::Rollout;
use kit::list::List;
use kit::rollout::{Stage, Stages, Verdict, judge};
use serde_json::{Value, json};

use crate::event::{Event, get, post};
use crate::world::{Answer, World, send, work};

/// A rollout as a system before it knows it.
pub struct Case {
    pub rollout: &'static Rollout,
    pub list: &'static List,
    pub saver: Function,
    /// An item as it was stored before: without any of the keys.
    pub old: fn(tenant: &str, number: u32) -> Value,
    /// What screens ask of the list.
    pub questions: fn(tenant: &str) -> Vec<Event>,
    /// An event that saves an item as a screen does.
    pub save: fn(tenant: &str, number: u32) -> Event,
    /// What the source of the key is, and how to make it something else.
    pub source: &'static str,
}

pub const TENANTS: [&str; 2] = ["acme", "beta"];

/// Every rollout there is.
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            rollout: &tables::sales_order::CUSTOMER_ROLLOUT,
            list: &orders::LIST,
            saver: Function::from(&order_create::OPERATION),
            old: |tenant, number| {
                json!({
                    "tenant": {"S": tenant},
                    "id": {"S": format!("o-{number:04}")},
                    "number": {"N": number.to_string()},
                    "status": {"S": "PAID"},
                    "orderStatus": {"S": "NEW"},
                    "createdAt": {"S": format!("2026-02-01T12:{:02}:{:02}.000Z", number / 60 % 60, number % 60)},
                    "customer": {"M": {"id": {"S": format!("c-{}", number % 3)}, "name": {"S": "Conceição"}}},
                    "tags": {"SS": ["a", "b"]},
                })
            },
            questions: |tenant| {
                (0..3).map(|n| get("/orders", tenant).with("customerId", format!("c-{n}"))).collect()
            },
            save: |tenant, number| {
                let order = json!({
                    "id": format!("new-{number}"),
                    "customer": {"id": format!("c-{}", number % 3)},
                    "items": [{"productId": "p-1", "quantity": 1, "unitPrice": 10}],
                });
                post("/orders", tenant, &order)
            },
            source: "customer",
        },
        Case {
            rollout: &tables::person::BY_TENANT,
            list: &person::LIST,
            saver: Function::from(&person_save::OPERATION),
            old: |tenant, number| {
                let name = ["Ângela", "ana", "ANA MARIA", "D'Ávila", "Zélia", "ana"][number as usize % 6];
                json!({
                    "tenant": {"S": tenant},
                    "id": {"S": format!("{tenant}-{number:04}")},
                    "name": {"S": name},
                    "document": {"N": "12345678901234567890"},
                })
            },
            questions: |tenant| vec![get("/persons", tenant)],
            save: |tenant, number| {
                let name = ["Bruno", "ânia", "Çelik"][number as usize % 3];
                put("/persons/{id}", tenant, &format!("new-{tenant}-{number}"), &json!({"name": name}))
            },
            source: "name",
        },
        Case {
            rollout: &tables::contract::ROLLOUT,
            list: &contract::LIST,
            saver: Function::from(&contract_save::OPERATION),
            old: |tenant, number| {
                json!({
                    "tenant": {"S": tenant},
                    "id": {"S": format!("{tenant}-{number:04}")},
                    "entity": {"S": format!("e-{}", number % 3)},
                    "createdAt": {"S": format!("2026-02-01T12:{:02}:{:02}.000Z", number / 60 % 60, number % 60)},
                })
            },
            questions: |tenant| {
                (0..3).map(|n| get("/contracts", tenant).with("entity", format!("e-{n}"))).collect()
            },
            save: |tenant, number| {
                let contract = json!({
                    "entity": format!("e-{}", number % 3),
                    "createdAt": format!("2026-03-01T12:00:{:02}.000Z", number % 60),
                });
                put("/contracts/{id}", tenant, &format!("new-{tenant}-{number}"), &contract)
            },
            source: "entity",
        },
        Case {
            rollout: &tables::bank_account::ORGANIZATION_ROLLOUT,
            list: &bank_account::LIST,
            saver: Function::from(&bank_account_save::OPERATION),
            old: old_account,
            questions: |tenant| {
                (0..3)
                    .map(|n| get("/bank-accounts", tenant).with("organizationId", format!("{tenant}-{n}")))
                    .collect()
            },
            save: save_account,
            source: "id",
        },
        Case {
            rollout: &tables::bank_account::PROVIDER_ROLLOUT,
            list: &bank_account::LIST,
            saver: Function::from(&bank_account_save::OPERATION),
            old: old_account,
            questions: |tenant| {
                ["itau", "bb"]
                    .iter()
                    .map(|name| get("/bank-accounts", tenant).with("provider", name))
                    .collect()
            },
            save: save_account,
            source: "id",
        },
    ]
}

/// Most accounts have no attributes for the parts of their id, and some have.
fn old_account(tenant: &str, number: u32) -> Value {
    let (organization, provider) = (format!("{tenant}-{}", number % 3), ["itau", "bb"][number as usize % 2]);
    let mut account = json!({
        "tenant": {"S": tenant},
        "id": {"S": format!("{organization}#{provider}#{number:04}")},
        "balance": {"N": "0.10"},
    });
    if number.is_multiple_of(5) {
        account["provider"] = json!({"S": provider});
        account["organizationId"] = json!({"S": organization});
    }
    account
}

fn save_account(tenant: &str, number: u32) -> Event {
    let id = format!("{tenant}-{}#itau#new-{number}", number % 3);
    put("/bank-accounts/{id}", tenant, &id, &json!({"balance": 1}))
}

pub fn put(route: &str, tenant: &str, id: &str, body: &Value) -> Event {
    get(route, tenant).method("PUT").with("id", id).raw_body(&body.to_string())
}

impl Case {
    /// The parameters of the template while this rollout is at a stage. Others of the same table have not
    /// begun, those of other tables are done.
    pub fn at(&self, stage: Stage) -> Vec<(String, String)> {
        let others = tables::ROLLOUTS.iter().filter(|other| other.table.name == self.rollout.table.name);
        let stage_of =
            |rollout: &Rollout| if rollout.name == self.rollout.name { stage } else { Stage::None };
        others.map(|rollout| (rollout.parameter(), stage_of(rollout).as_str().to_owned())).collect()
    }
}

/// The parameters as they are taken.
pub fn borrowed(parameters: &[(String, String)]) -> Vec<(&str, &str)> {
    parameters.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
}

/// Everything that the screens of a list see, page by page. Of rows that are equal in what they are sorted
/// by, DynamoDB promises no order, so those of one question are compared by id where `sorted`.
pub async fn seen(world: &World, case: &Case, stage: Stage) -> Vec<Value> {
    let parameters = case.at(stage);
    let app = world.deployed_at(case.list, &borrowed(&parameters));
    let mut all = Vec::new();
    for tenant in TENANTS {
        for question in (case.questions)(tenant) {
            let mut rows = Vec::new();
            for page in 1.. {
                let asked = question.clone().with("limit", 7).with("page", page);
                let answer = send(&app, &asked).await;
                assert_eq!(answer.status, 200, "{} at {stage:?}: {}", case.rollout.name, answer.body);
                let body = answer.json();
                let items = body["items"].as_array().unwrap().clone();
                let last = items.len() < 7;
                rows.extend(items);
                if last {
                    assert_eq!(rows.len() as u64, answer.total(), "{} at {stage:?}", case.rollout.name);
                    break;
                }
            }
            // Accounts are sorted by provider or organization alone: the rest of their order is nobody's.
            if case.rollout.table.name == "BankAccount" {
                rows.sort_by_key(|row| row["id"].as_str().unwrap().to_owned());
            }
            all.push(json!({"tenant": tenant, "rows": rows}));
        }
    }
    all
}

/// A table as it was before, with items of two tenants that can and cannot be in the index.
pub fn old_system(case: &Case, items: u32) -> World {
    let world = World::at(&borrowed(&case.at(Stage::None)));
    for tenant in TENANTS {
        world.put_all(case.rollout.table.name, (0..items).map(|number| (case.old)(tenant, number)));
    }
    world
}

pub async fn load(world: &World, case: &Case, stage: Stage, event: Value) -> Result<Value, String> {
    let parameters = case.at(stage);
    let app = world.deployed_at(&backfill::JOB, &borrowed(&parameters));
    let mut event = event;
    event["index"] = json!(case.rollout.name);
    work(&app, &event, std::time::Duration::from_secs(900)).await
}

pub async fn report(world: &World, case: &Case, stage: Stage) -> Value {
    let parameters = case.at(stage);
    let app = world.deployed_at(&index_report::JOB, &borrowed(&parameters));
    work(&app, &json!({"index": case.rollout.name}), std::time::Duration::from_secs(900)).await.unwrap()
}

/// Every item of the table is what the rule says, and the index holds exactly those that it should.
pub fn assert_right(world: &World, case: &Case) {
    let table = case.rollout.table.name;
    let mut eligible = 0;
    for item in world.all(table, None) {
        match judge(case.rollout, &stored(&item)) {
            Verdict::Right => eligible += 1,
            Verdict::Impossible { fix: None, .. } => {}
            wrong => panic!("{}: {item} is {wrong:?}", case.rollout.name),
        }
    }
    assert_eq!(world.all(table, Some(case.rollout.index.name)).len(), eligible, "{}", case.rollout.name);
}

/// An item as the kit has it.
pub fn stored(item: &Value) -> kit::item::Item {
    item.as_object().unwrap().iter().map(|(name, value)| (name.clone(), attribute(value))).collect()
}

fn attribute(value: &Value) -> kit::item::AttributeValue {
    use kit::item::AttributeValue as A;
    let (kind, value) = value.as_object().unwrap().iter().next().unwrap();
    let text = || value.as_str().unwrap().to_owned();
    let texts = || value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect();
    match kind.as_str() {
        "S" => A::S(text()),
        "N" => A::N(text()),
        "SS" => A::Ss(texts()),
        "NULL" => A::Null(true),
        "BOOL" => A::Bool(value.as_bool().unwrap()),
        "M" => A::M(stored(value)),
        "L" => A::L(value.as_array().unwrap().iter().map(attribute).collect()),
        other => panic!("{other} is not used here"),
    }
}

fn updates(world: &World, table: &str) -> usize {
    world
        .calls()
        .iter()
        .filter(|call| call.operation == "UpdateItem" && call.body["TableName"] == table)
        .count()
}

#[tokio::test]
async fn every_screen_keeps_its_answer_at_every_stage() {
    for case in cases() {
        let world = old_system(&case, 24);
        let before = seen(&world, &case, Stage::None).await;
        let rows = before.iter().map(|question| question["rows"].as_array().unwrap().len());
        assert_eq!(rows.sum::<usize>(), 48, "{}", case.rollout.name);
        for stage in [Stage::Create, Stage::Write, Stage::Backfill] {
            world.deploy(&borrowed(&case.at(stage)));
            assert_eq!(seen(&world, &case, stage).await, before, "{} at {stage:?}", case.rollout.name);
        }
        load(&world, &case, Stage::Backfill, json!({"dryRun": false, "writeUnitsPerSecond": 40000}))
            .await
            .unwrap();
        assert_eq!(seen(&world, &case, Stage::Backfill).await, before, "{} once loaded", case.rollout.name);
        assert_right(&world, &case);
        world.calls();
        assert_eq!(seen(&world, &case, Stage::Read).await, before, "{} at read", case.rollout.name);
        for call in world.calls() {
            assert!(["Query", "BatchGetItem"].contains(&call.operation.as_str()), "{}", call.operation);
            assert!(
                call.operation != "Query" || call.index() == Some(case.rollout.index.name),
                "{}",
                call.body
            );
        }
        // And back again, stage by stage, with the keys that are stored now.
        for stage in [Stage::Backfill, Stage::Write, Stage::Create, Stage::None] {
            assert_eq!(seen(&world, &case, stage).await, before, "{} back at {stage:?}", case.rollout.name);
            world.deploy(&borrowed(&case.at(stage)));
        }
    }
}

#[tokio::test]
async fn what_is_saved_is_on_its_screen_at_every_stage() {
    for case in cases() {
        let world = old_system(&case, 3);
        let mut answers: Vec<Value> = Vec::new();
        for (number, stage) in Stage::ALL.into_iter().enumerate() {
            let number = u32::try_from(number).unwrap() * 3;
            world.deploy(&borrowed(&case.at(stage)));
            if stage == Stage::Read {
                load(&world, &case, stage, json!({"dryRun": false, "writeUnitsPerSecond": 40000}))
                    .await
                    .unwrap();
            }
            let saver = world.deployed_at(case.saver, &borrowed(&case.at(stage)));
            let answer = send(&saver, &(case.save)("acme", number)).await;
            assert!(
                [200, 201].contains(&answer.status),
                "{} at {stage:?}: {}",
                case.rollout.name,
                answer.body
            );
            let saved = answer.json();
            let listed = seen(&world, &case, stage).await;
            let rows: Vec<&Value> =
                listed.iter().flat_map(|question| question["rows"].as_array().unwrap()).collect();
            assert!(rows.contains(&&saved), "{} at {stage:?}: {saved} is not in {rows:?}", case.rollout.name);
            let names: Vec<String> = saved.as_object().unwrap().keys().cloned().collect();
            answers.push(json!(names));
            let keys = world.all(case.rollout.table.name, None);
            let stored = keys.iter().find(|item| item["id"]["S"] == saved["id"]).unwrap();
            for derived in case.rollout.derived {
                let written = stored.get(derived.attribute).is_some();
                assert_eq!(written, stage >= Stage::Write, "{} at {stage:?}", derived.attribute);
            }
            assert_eq!(stored.get("schemaVersion").is_some(), stage >= Stage::Write);
        }
        answers.dedup();
        assert_eq!(answers.len(), 1, "{}: {answers:?}", case.rollout.name);
    }
}

#[tokio::test]
async fn nobody_takes_an_id_of_another_tenant() {
    let world = World::new();
    for case in cases().into_iter().filter(|case| case.rollout.table.key.sort.is_none()) {
        let app = world.deployed(case.saver);
        assert_eq!(send(&app, &(case.save)("acme", 1)).await.status, 200);
        let before = world.all(case.rollout.table.name, None);
        let event = (case.save)("acme", 1).claims(Some(json!({"custom:tenant": "beta"})));
        for (event, status) in [
            (event.clone(), 409),
            (event.clone().header("If-Match", "*"), 412),
            (event.clone().header("If-None-Match", "*"), 412),
            (event.clone().header("If-Match", "\"#\""), 412),
        ] {
            let answer = send(&app, &event).await;
            assert_eq!(answer.status, status, "{}: {}", case.rollout.name, answer.body);
        }
        assert_eq!(world.all(case.rollout.table.name, None), before);
        world.delete(case.rollout.table.name, json!({"id": before[0]["id"]}));
    }
}

/// Values of an item's source that no index key can be made of, and what is said of each.
fn impossible(case: &Case) -> Vec<(Value, String)> {
    let told = match case.source {
        "customer" => "customer.id",
        other => other,
    };
    let mut values = vec![
        (json!({"S": ""}), "must not be empty"),
        (Value::Null, "is missing"),
        (json!({"NULL": true}), "must be of type S"),
        (json!({"N": "7"}), "must be of type S"),
    ];
    let long = "é".repeat(1025);
    values.push((
        json!({"S": long}),
        match told {
            "entity" => "must have at most 2048 bytes",
            _ => "must have at most 1024 bytes",
        },
    ));
    values.into_iter().map(|(value, why)| (value, format!("{told} {why}"))).collect()
}

/// An old item whose source is this.
fn with_source(case: &Case, number: u32, value: &Value) -> Value {
    let mut item = (case.old)("acme", number);
    let holder = if case.source == "customer" { &mut item["customer"]["M"] } else { &mut item };
    let name = if case.source == "customer" { "id" } else { case.source };
    if value.is_null() {
        holder.as_object_mut().unwrap().remove(name);
    } else {
        holder[name] = value.clone();
    }
    item
}

#[tokio::test]
async fn what_cannot_be_in_an_index_is_counted_and_named_and_the_load_goes_on() {
    for case in cases().into_iter().filter(|case| case.source != "id") {
        let world = World::at(&borrowed(&case.at(Stage::Backfill)));
        let table = case.rollout.table.name;
        let mut expected: Vec<String> = Vec::new();
        for (number, (value, why)) in impossible(&case).into_iter().enumerate() {
            world.put(table, with_source(&case, u32::try_from(number).unwrap(), &value));
            expected.push(why);
        }
        world.put(table, (case.old)("acme", 100));
        let before = world.all(table, None);
        let loaded =
            load(&world, &case, Stage::Backfill, json!({"dryRun": false, "segments": 3})).await.unwrap();
        assert_eq!(
            (&loaded["done"], &loaded["read"], &loaded["written"]),
            (&json!(true), &json!(6), &json!(1))
        );
        assert_eq!(loaded["unindexable"]["count"], 5, "{loaded}");
        let reasons = loaded["unindexable"]["reasons"].as_object().unwrap();
        expected.sort_unstable();
        expected.dedup();
        assert_eq!(reasons.keys().cloned().collect::<Vec<_>>(), expected);
        let named = loaded["unindexable"]["items"].as_array().unwrap();
        assert_eq!(named.len(), 5);
        assert!(named.iter().all(|item| item["key"].as_str().unwrap().contains("\"id\":")), "{named:?}");
        let unchanged = world.all(table, None).into_iter().filter(|item| before.contains(item)).count();
        assert_eq!(unchanged, 5, "nothing else is touched");
        let told = report(&world, &case, Stage::Backfill).await;
        assert_eq!(told["unindexable"]["count"], 5);
        assert_eq!(told["eligible"], 1);
        // A person without a name is on the screen today; an order without a customer is on none of a
        // customer's. One whose customer's id no key can hold is.
        let vanish = told["unindexable"]["wouldVanish"].as_u64().unwrap();
        assert_eq!(vanish, if case.source == "name" { 5 } else { 1 }, "{told}");
        assert_eq!(told["next"]["safe"], false, "{told}");
        assert_eq!(told["verified"], false);
        assert!(
            told["next"]["reasons"][0].as_str().unwrap().contains("items that screens show cannot be"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn what_cannot_be_in_an_index_is_refused_by_every_writer_at_every_stage() {
    for stage in Stage::ALL {
        for case in cases() {
            let world = World::at(&borrowed(&case.at(stage)));
            let saver = world.deployed_at(case.saver, &borrowed(&case.at(stage)));
            let bodies: Vec<(Value, &str)> = match case.source {
                "name" => vec![
                    (json!({}), "name is missing"),
                    (json!({"name": ""}), "name must not be empty"),
                    (json!({"name": null}), "name is missing"),
                    (json!({"name": 7}), "name must be of type S"),
                    (json!({"name": "é".repeat(1025)}), "name must have at most 1024 bytes"),
                    (json!({"name": "Ana", "sortName": "x"}), "sortName is set for you; leave it out"),
                    (
                        json!({"name": "Ana", "schemaVersion": 1}),
                        "schemaVersion is set for you; leave it out",
                    ),
                    (json!({"name": "Ana", "indexOnly": []}), "indexOnly is set for you; leave it out"),
                ],
                "entity" => vec![
                    (json!({"createdAt": "2026-02-01T12:00:00.000Z"}), "entity is missing"),
                    (
                        json!({"entity": "a#b", "createdAt": "2026-02-01T12:00:00Z"}),
                        "entity must not contain \"#\"",
                    ),
                    (json!({"entity": "e"}), "createdAt is missing"),
                    (
                        json!({"entity": "e", "createdAt": ""}),
                        "createdAt must be an instant in UTC to the second or the millisecond, such as 2026-02-01T12:00:00.000Z",
                    ),
                    (
                        json!({"entity": "e", "createdAt": "2026-02-01"}),
                        "createdAt must be an instant in UTC to the second or the millisecond, such as 2026-02-01T12:00:00.000Z",
                    ),
                    (json!({"entity": "e", "createdAt": 1}), "createdAt must be of type S"),
                ],
                "id" => vec![
                    (json!({"provider": "other"}), "provider does not agree with id"),
                    (json!({"organizationId": 7}), "organizationId does not agree with id"),
                ],
                _ => continue,
            };
            for (body, message) in bodies {
                let event = (case.save)("acme", 1).raw_body(&body.to_string());
                let answer = send(&saver, &event).await;
                let told = (answer.status, answer.code(), answer.message());
                assert_eq!(
                    told,
                    (400, "invalid_attribute".to_owned(), message.to_owned()),
                    "{stage:?} {body}"
                );
            }
            if case.source == "id" {
                for id in ["org#itau", "a#b#c#d", "##"] {
                    let answer = send(&saver, &put("/bank-accounts/{id}", "acme", id, &json!({}))).await;
                    assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_attribute"), "{id}");
                    assert!(answer.message().starts_with("id must "), "{}", answer.message());
                }
            }
            assert!(world.calls().is_empty());
        }
    }
}

#[tokio::test]
async fn a_question_that_no_key_can_hold_is_refused_alike_at_every_stage() {
    for stage in Stage::ALL {
        for case in cases() {
            let world = World::at(&borrowed(&case.at(stage)));
            let app = world.deployed_at(case.list, &borrowed(&case.at(stage)));
            let (parameter, values): (&str, &[&str]) = match case.rollout.name {
                "orders-by-customer" => ("customerId", &[""]),
                "contract-by-entity" => ("entity", &["", "a#b"]),
                "bank-by-organization" => ("organizationId", &["", "acme-1#itau"]),
                "bank-by-provider" => ("provider", &["", "a#b"]),
                _ => continue,
            };
            for value in values {
                let answer = send(&app, &get(case.list.path(), "acme").with(parameter, value)).await;
                assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{value}");
                assert!(answer.message().starts_with(parameter), "{}", answer.message());
            }
            assert!(world.calls().is_empty());
        }
    }
}

#[tokio::test]
async fn the_old_way_keeps_tenants_apart() {
    for case in cases() {
        let world = old_system(&case, 12);
        let app = world.deployed_at(case.list, &borrowed(&case.at(Stage::None)));
        for stranger in ["acm", "acme ", "ACME", "gamma"] {
            for question in (case.questions)("acme") {
                let answer: Answer =
                    send(&app, &question.claims(Some(json!({"custom:tenant": stranger})))).await;
                assert_eq!((answer.status, answer.total()), (200, 0), "{} {stranger}", case.rollout.name);
            }
        }
    }
}

#[tokio::test]
async fn the_old_way_reads_a_table_above_one_megabyte_to_its_end() {
    for case in cases() {
        let world = World::at(&borrowed(&case.at(Stage::None)));
        world.put_all(
            case.rollout.table.name,
            (0..60).map(|number| {
                let mut item = (case.old)("acme", number);
                item["filler"] = json!({"S": "x".repeat(50_000)});
                item
            }),
        );
        world.calls();
        let app = world.deployed_at(case.list, &borrowed(&case.at(Stage::None)));
        let mut total = 0;
        for question in (case.questions)("acme") {
            let answer = send(&app, &question).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
            assert_eq!(answer.ids().len() as u64, answer.total().min(20), "{}", case.rollout.name);
            total += answer.total();
        }
        assert_eq!(total, 60, "{}", case.rollout.name);
        let scans = world.calls().into_iter().filter(|call| call.operation == "Scan").count();
        assert_eq!(scans >= 3, case.rollout.table.key.sort.is_none(), "{}: {scans}", case.rollout.name);
    }
}

#[tokio::test]
async fn a_load_before_its_stage_is_refused_by_name() {
    for case in cases() {
        for stage in [Stage::None, Stage::Create, Stage::Write] {
            let world = World::at(&borrowed(&case.at(stage)));
            let error = load(&world, &case, stage, json!({})).await.unwrap_err();
            let expected = format!(
                "invalid_parameter: {} is at stage {}; its items are loaded at stage backfill",
                case.rollout.name,
                stage.as_str()
            );
            assert_eq!(error, expected);
            assert!(world.calls().is_empty());
        }
    }
}

#[tokio::test]
async fn nothing_is_written_unless_it_is_told_so() {
    for case in cases() {
        let world = old_system(&case, 10);
        world.deploy(&borrowed(&case.at(Stage::Backfill)));
        let before = world.all(case.rollout.table.name, None);
        let loaded = load(&world, &case, Stage::Backfill, json!({})).await.unwrap();
        assert_eq!(
            (&loaded["dryRun"], &loaded["done"], &loaded["read"], &loaded["written"]),
            (&json!(true), &json!(true), &json!(20), &json!(20)),
            "{loaded}"
        );
        assert_eq!(updates(&world, case.rollout.table.name), 0);
        assert_eq!(world.all(case.rollout.table.name, None), before);
    }
}

#[tokio::test]
async fn what_an_index_needs_is_written_and_nothing_else() {
    for case in cases() {
        let world = old_system(&case, 10);
        world.deploy(&borrowed(&case.at(Stage::Backfill)));
        let before = world.all(case.rollout.table.name, None);
        load(&world, &case, Stage::Backfill, json!({"dryRun": false})).await.unwrap();
        let ours: Vec<&str> = case.rollout.derived.iter().map(|derived| derived.attribute).collect();
        for call in world.calls().iter().filter(|call| call.body["TableName"] == case.rollout.table.name) {
            assert!(["Scan", "UpdateItem"].contains(&call.operation.as_str()), "{}", call.operation);
            if call.operation != "UpdateItem" {
                continue;
            }
            let expression = call.body["UpdateExpression"].as_str().unwrap();
            let names = expression.split([' ', ',']).filter(|word| word.starts_with('#'));
            for name in names.map(|placeholder| call.name(placeholder)) {
                assert!(ours.contains(&name) || ["schemaVersion", "indexOnly"].contains(&name), "{name}");
            }
            assert!(call.body.get("ReturnValues").is_none_or(|values| values == "NONE"));
            assert!(call.body["ConditionExpression"].as_str().unwrap().contains("attribute_exists"));
        }
        for mut item in world.all(case.rollout.table.name, None) {
            let old =
                before.iter().find(|old| old["id"] == item["id"] && old["tenant"] == item["tenant"]).unwrap();
            for name in ours.iter().chain(&["schemaVersion", "indexOnly"]) {
                if old.get(*name).is_none() {
                    item.as_object_mut().unwrap().remove(*name);
                }
            }
            assert_eq!(item, *old);
        }
    }
}

#[tokio::test]
async fn a_second_run_writes_nothing_and_is_another_run() {
    for case in cases() {
        let world = old_system(&case, 8);
        world.deploy(&borrowed(&case.at(Stage::Backfill)));
        let first = load(&world, &case, Stage::Backfill, json!({"dryRun": false})).await.unwrap();
        assert_eq!((&first["done"], &first["written"]), (&json!(true), &json!(16)), "{first}");
        world.calls();
        let second = load(&world, &case, Stage::Backfill, json!({"dryRun": false})).await.unwrap();
        assert_eq!(
            (&second["done"], &second["written"], &second["right"]),
            (&json!(true), &json!(0), &json!(16))
        );
        assert_ne!(first["run"], second["run"]);
        assert_eq!(updates(&world, case.rollout.table.name), 0);
        let told = report(&world, &case, Stage::Backfill).await;
        assert_eq!(told["verified"], true, "{told}");
        assert_eq!((&told["indexed"], &told["entries"]), (&json!(16), &json!(16)));
        let version = case.rollout.schema_version.to_string();
        assert_eq!(told["schemaVersions"], json!({version: 16}));
    }
}

#[tokio::test]
async fn two_indexes_of_one_table_are_loaded_one_after_the_other() {
    let both = |organization: &'static str, provider: &'static str| {
        [("BankByOrganizationStage", organization), ("BankByProviderStage", provider)]
    };
    let world = World::at(&both("backfill", "none"));
    world.put_all("BankAccount", (0..30).map(|number| old_account("acme", number)));
    let all = cases();
    let (by_organization, by_provider) = (&all[3], &all[4]);
    let before = seen(&world, by_provider, Stage::None).await;
    let event = |case: &Case| json!({"index": case.rollout.name, "dryRun": false});
    let app = world.deployed_at(&backfill::JOB, &both("backfill", "none"));
    work(&app, &event(by_organization), std::time::Duration::from_secs(900)).await.unwrap();
    // The first is read while the second begins.
    world.deploy(&both("read", "backfill"));
    let app = world.deployed_at(&backfill::JOB, &both("read", "backfill"));
    work(&app, &event(by_provider), std::time::Duration::from_secs(900)).await.unwrap();
    for case in [by_organization, by_provider] {
        assert_right(&world, case);
    }
    let list = world.deployed_at(&bank_account::LIST, &both("read", "read"));
    let mut rows = Vec::new();
    for question in (by_provider.questions)("acme") {
        let answer = send(&list, &question.with("limit", 100)).await;
        rows.extend(answer.json()["items"].as_array().unwrap().clone());
    }
    let mut expected: Vec<Value> =
        before.iter().flat_map(|question| question["rows"].as_array().unwrap().clone()).collect();
    let id = |row: &Value| row["id"].as_str().unwrap().to_owned();
    rows.sort_by_key(id);
    expected.sort_by_key(id);
    assert_eq!(rows, expected, "an account that had no provider of itself shows none");
    // The load of the first again lowers no schema version.
    let again = work(&app, &event(by_organization), std::time::Duration::from_secs(900)).await.unwrap();
    assert_eq!(again["written"], 0);
}

#[test]
fn names_lead_to_variables_and_parameters() {
    let names: Vec<(String, String)> =
        tables::ROLLOUTS.iter().map(|rollout| (rollout.variable(), rollout.parameter())).collect();
    let expected = [
        ("ORDERS_BY_CUSTOMER_STAGE", "OrdersByCustomerStage"),
        ("PERSON_BY_TENANT_STAGE", "PersonByTenantStage"),
        ("CONTRACT_BY_ENTITY_STAGE", "ContractByEntityStage"),
        ("BANK_BY_ORGANIZATION_STAGE", "BankByOrganizationStage"),
        ("BANK_BY_PROVIDER_STAGE", "BankByProviderStage"),
    ];
    assert_eq!(names, expected.map(|(variable, parameter)| (variable.to_owned(), parameter.to_owned())));
}

#[test]
fn a_rollout_that_nothing_is_said_of_is_done() {
    assert_eq!(Stages::default().of(&tables::person::BY_TENANT), Stage::Read);
    assert_eq!(Stage::Read.next(), None);
    assert_eq!(Stage::None.next(), Some(Stage::Create));
}

#[test]
fn every_new_key_is_left_out_of_lists() {
    for rollout in tables::ROLLOUTS {
        assert!(rollout.table.indexes.contains(&rollout.index), "{}", rollout.name);
        for derived in rollout.derived {
            let unlisted = rollout.table.unlisted.contains(&derived.attribute);
            assert_eq!(unlisted, !derived.may_be_stored, "{} of {}", derived.attribute, rollout.name);
        }
        for name in ["schemaVersion", "indexOnly"] {
            assert!(rollout.table.unlisted.contains(&name), "{name} of {}", rollout.name);
        }
    }
}
