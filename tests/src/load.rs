//! The load of a new index, while others write, fail, and kill it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kit::rollout::{Stage, Verdict, judge};
use serde_json::{Value, json};

use kit::key::{Index, Table};
use tables::sales_order::{BY_CREATED_AT, BY_CUSTOMER, BY_ORDER_STATUS};

use crate::rollout::{Case, TENANTS, assert_right, borrowed, cases, load, old_system, report, stored};
use crate::world::{Fault, World, meanwhile, send, work};

/// The orders' rollout, with a table that is as far as the load.
fn orders_to_load(items: u32) -> (Case, World) {
    let case = cases().remove(0);
    let world = old_system(&case, items);
    world.deploy(&borrowed(&case.at(Stage::Backfill)));
    (case, world)
}

async fn applied(world: &World, case: &Case, more: Value) -> Value {
    let mut event = json!({"dryRun": false, "writeUnitsPerSecond": 40000});
    event.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    load(world, case, Stage::Backfill, event).await.unwrap()
}

fn key(tenant: &str, id: &str) -> Value {
    json!({"tenant": {"S": tenant}, "id": {"S": id}})
}

fn is_update(table: &'static str) -> impl Fn(&str, &Value) -> bool {
    move |operation, body| operation == "UpdateItem" && body["TableName"] == table
}

/// An update of this order.
fn updates_order(id: &'static str) -> impl Fn(&str, &Value) -> bool {
    move |operation, body| {
        operation == "UpdateItem" && body["Key"]["id"]["S"] == id && body["Key"]["tenant"]["S"] == "acme"
    }
}

#[tokio::test]
async fn a_customer_who_changes_meanwhile_is_the_one_that_the_index_holds() {
    let (case, world) = orders_to_load(5);
    // A writer from before the rollout changes the customer alone; then one that knows the key changes both.
    for (id, with_key) in [("o-0001", false), ("o-0002", true)] {
        world.script_for(
            updates_order(id),
            1,
            meanwhile(move |world| {
                let mut order = world.get("SalesOrder", key("acme", id)).unwrap();
                order["customer"]["M"]["id"] = json!({"S": "c-new"});
                if with_key {
                    order["customerId"] = json!({"S": "c-new"});
                }
                world.put("SalesOrder", order);
            }),
        );
    }
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!((&loaded["done"], &loaded["lostRaces"]), (&json!(true), &json!(2)), "{loaded}");
    // The one whose writer wrote the key, too, needs no second update.
    assert_eq!((&loaded["written"], &loaded["right"]), (&json!(9), &json!(1)));
    for id in ["o-0001", "o-0002"] {
        assert_eq!(world.get("SalesOrder", key("acme", id)).unwrap()["customerId"]["S"], "c-new");
    }
    assert_right(&world, &case);
}

#[tokio::test]
async fn an_order_that_is_deleted_meanwhile_stays_deleted() {
    let (case, world) = orders_to_load(5);
    world.script_for(
        updates_order("o-0003"),
        1,
        meanwhile(|world| world.delete("SalesOrder", key("acme", "o-0003"))),
    );
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!(
        (&loaded["done"], &loaded["deleted"], &loaded["written"]),
        (&json!(true), &json!(1), &json!(9))
    );
    assert_eq!(world.get("SalesOrder", key("acme", "o-0003")), None);
    assert_right(&world, &case);
}

#[tokio::test]
async fn a_source_that_is_gone_meanwhile_leaves_no_key_behind() {
    let (case, world) = orders_to_load(5);
    world.script_for(
        updates_order("o-0001"),
        1,
        meanwhile(|world| {
            let mut order = world.get("SalesOrder", key("acme", "o-0001")).unwrap();
            order.as_object_mut().unwrap().remove("customer");
            world.put("SalesOrder", order);
        }),
    );
    // And one that has a key which nothing stands for any more.
    let mut stale = (case.old)("acme", 2);
    stale["customerId"] = json!({"S": "c-2"});
    stale["customer"] = json!({"M": {}});
    world.put("SalesOrder", stale);
    let told = report(&world, &case, Stage::Backfill).await;
    assert_eq!((&told["toLoad"], &told["toRemove"]), (&json!(9), &json!(1)), "{told}");
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!(loaded["unindexable"]["count"], 2, "{loaded}");
    for id in ["o-0001", "o-0002"] {
        assert!(world.get("SalesOrder", key("acme", id)).unwrap().get("customerId").is_none(), "{id}");
    }
    assert_right(&world, &case);
    assert_eq!(report(&world, &case, Stage::Backfill).await["verified"], true);
}

#[tokio::test]
async fn an_update_whose_answer_is_lost_finds_itself_done() {
    let (case, world) = orders_to_load(3);
    world.script_for(updates_order("o-0001"), 1, Fault::LoseReply);
    let loaded = applied(&world, &case, json!({})).await;
    // The SDK sends it again, its condition holds no more, and the item that comes back is right.
    assert_eq!((&loaded["done"], &loaded["failed"]), (&json!(true), &json!({})), "{loaded}");
    assert_eq!(
        (&loaded["written"], &loaded["right"], &loaded["lostRaces"]),
        (&json!(5), &json!(1), &json!(1)),
        "{loaded}"
    );
    assert_right(&world, &case);
}

#[tokio::test]
async fn segments_have_bounds_and_empty_ones_are_fine() {
    let (case, world) = orders_to_load(2);
    for segments in [0, -1, 1_000_001] {
        let error = load(&world, &case, Stage::Backfill, json!({"segments": segments})).await.unwrap_err();
        assert_eq!(error, "invalid_parameter: segments must be a whole number between 1 and 1000000");
    }
    for segments in [1, 64] {
        let loaded = load(&world, &case, Stage::Backfill, json!({"segments": segments})).await.unwrap();
        assert_eq!(
            (&loaded["segments"], &loaded["done"], &loaded["read"]),
            (&json!(segments), &json!(true), &json!(4))
        );
    }
    let begun =
        load(&world, &case, Stage::Backfill, json!({"segments": 1_000_000, "begin": true})).await.unwrap();
    assert_eq!(begun["segments"], 1_000_000);
    for (event, told) in [
        (json!({"segment": 1_000_000}), "segment must be a whole number between 0 and 999999"),
        (json!({"segments": 5}), "segments must be 1000000 until the load is done: it is under way"),
        (json!({"begin": true, "segment": 1}), "begin and segment exclude each other"),
        (json!({"run": "x"}), "run is not the one that is under way, "),
        (json!({"writeUnitsPerSecond": 0}), "writeUnitsPerSecond must be between 1 and 40000"),
    ] {
        let error = load(&world, &case, Stage::Backfill, event).await.unwrap_err();
        assert!(error.starts_with(&format!("invalid_parameter: {told}")), "{error}");
    }
    let wrong = load(&world, &case, Stage::Backfill, json!({"dryrun": false})).await.unwrap_err();
    assert!(wrong.starts_with("invalid_event: unknown field `dryrun`"), "{wrong}");
    let parameters = case.at(Stage::Backfill);
    let app = world.deployed_at(&backfill::JOB, &borrowed(&parameters));
    let unknown = work(&app, &json!({"index": "orders"}), Duration::from_secs(60)).await.unwrap_err();
    assert!(unknown.starts_with("invalid_parameter: index must be one of orders-by-customer, "), "{unknown}");
}

#[tokio::test]
async fn a_segment_that_is_refused_begins_no_run() {
    let (case, world) = orders_to_load(2);
    world.calls();
    for segments in [json!({"segments": 3, "segment": 3}), json!({"segment": 1_000_000})] {
        assert!(load(&world, &case, Stage::Backfill, segments).await.is_err());
        assert!(world.calls().iter().all(|call| call.operation == "GetItem"));
    }
    let loaded = load(&world, &case, Stage::Backfill, json!({"segments": 4})).await.unwrap();
    assert_eq!((&loaded["segments"], &loaded["done"]), (&json!(4), &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn a_segment_that_fails_for_a_while_is_read_again() {
    let (case, world) = orders_to_load(20);
    let fifth = |operation: &str, body: &Value| operation == "Scan" && body["Segment"] == 5;
    // The SDK tries three times by itself.
    world.script_for(fifth, 4, Fault::Reply(500, json!({"__type": "InternalServerError"})));
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!(
        (&loaded["done"], &loaded["written"], &loaded["failed"]),
        (&json!(true), &json!(40), &json!({}))
    );
    assert_right(&world, &case);
}

#[tokio::test(start_paused = true)]
async fn a_segment_that_fails_for_good_is_named_and_the_others_are_done() {
    let (case, world) = orders_to_load(20);
    let fifth = |operation: &str, body: &Value| operation == "Scan" && body["Segment"] == 5;
    world.script_for(fifth, usize::MAX, Fault::Reply(500, json!({"__type": "InternalServerError"})));
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!(loaded["done"], false);
    let failed = loaded["failed"].as_object().unwrap();
    assert_eq!(failed.keys().collect::<Vec<_>>(), ["5"]);
    assert!(failed["5"].as_str().unwrap().starts_with("Scan failed: "), "{loaded}");
    let written = loaded["written"].as_u64().unwrap();
    assert!(written > 20, "{loaded}");
    // Alone, it is an error, which a state machine tries again.
    let error =
        load(&world, &case, Stage::Backfill, json!({"dryRun": false, "segment": 5})).await.unwrap_err();
    assert!(error.starts_with("internal_error: Scan failed"), "{error}");
    world.dynamo.clear_script();
    let rest = applied(&world, &case, json!({})).await;
    assert_eq!((&rest["done"], &rest["written"], &rest["run"]), (&json!(true), &json!(40), &loaded["run"]));
    assert_right(&world, &case);
}

#[tokio::test(start_paused = true)]
async fn throttling_is_waited_out_and_slows_the_load() {
    let (case, world) = orders_to_load(50);
    let throttled = json!({"__type": "ThrottlingException", "message": "slow down"});
    world.script_for(is_update("SalesOrder"), 60, Fault::Reply(400, throttled));
    let started = tokio::time::Instant::now();
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!((&loaded["done"], &loaded["written"]), (&json!(true), &json!(100)), "{loaded}");
    assert!(loaded["throttles"].as_u64().unwrap() >= 10, "{loaded}");
    assert!(started.elapsed() > Duration::from_millis(100));
    assert_right(&world, &case);
}

#[tokio::test(start_paused = true)]
async fn a_load_keeps_to_its_pace() {
    let (case, world) = orders_to_load(100);
    let started = tokio::time::Instant::now();
    let loaded = applied(&world, &case, json!({"writeUnitsPerSecond": 20})).await;
    let (units, seconds) = (loaded["writeUnits"].as_f64().unwrap(), started.elapsed().as_secs_f64());
    assert!(units >= 400.0, "each order takes a unit in the table and one in the index at least: {loaded}");
    let rate = units / seconds;
    assert!((15.0..=22.0).contains(&rate), "{rate} units a second");
}

#[tokio::test(start_paused = true)]
async fn a_load_stops_before_its_deadline_and_goes_on_where_it_was() {
    let (case, world) = orders_to_load(100);
    let parameters = case.at(Stage::Backfill);
    let app = world.deployed_at(&backfill::JOB, &borrowed(&parameters));
    let event =
        json!({"index": case.rollout.name, "dryRun": false, "segments": 2, "writeUnitsPerSecond": 20});
    let (mut rounds, mut read) = (0, 0);
    loop {
        let started = tokio::time::Instant::now();
        let loaded = work(&app, &event, Duration::from_secs(20)).await.unwrap();
        assert!(started.elapsed() < Duration::from_secs(20), "it answers before Lambda ends it");
        rounds += 1;
        let so_far = loaded["read"].as_u64().unwrap();
        assert!(so_far >= read, "what is counted stays counted");
        read = so_far;
        if loaded["done"] == true {
            assert_eq!(read, 200, "{loaded}");
            break;
        }
        assert!(rounds < 60, "{loaded}");
    }
    assert!(rounds > 1, "{rounds}");
    assert_right(&world, &case);
    assert_eq!(applied(&world, &case, json!({})).await["written"], 0);
}

#[tokio::test]
async fn one_segment_at_a_time_ends_like_all_at_once() {
    let (case, world) = orders_to_load(30);
    let begun = applied(&world, &case, json!({"segments": 4, "begin": true})).await;
    assert_eq!(begun["segmentNumbers"], json!([0, 1, 2, 3]));
    assert_eq!(begun["written"], 0);
    let mut written = 0;
    for segment in 0..4 {
        let one = applied(&world, &case, json!({"segment": segment, "run": begun["run"]})).await;
        assert_eq!((&one["done"], &one["segment"]), (&json!(true), &json!(segment)), "{one}");
        written += one["written"].as_u64().unwrap();
    }
    assert_eq!(written, 60);
    world.calls();
    let all = applied(&world, &case, json!({"run": begun["run"]})).await;
    assert_eq!((&all["done"], &all["written"], &all["run"]), (&json!(true), &json!(60), &begun["run"]));
    assert!(world.calls().iter().all(|call| call.operation != "Scan"), "what is done is not read again");
    assert_right(&world, &case);
}

#[tokio::test]
async fn two_runs_at_once_both_end_and_a_third_writes_nothing() {
    for case in cases() {
        let world = old_system(&case, 20);
        world.deploy(&borrowed(&case.at(Stage::Backfill)));
        let (one, other) = tokio::join!(applied(&world, &case, json!({})), applied(&world, &case, json!({})));
        assert_eq!((&one["done"], &other["done"]), (&json!(true), &json!(true)), "{one} {other}");
        assert_right(&world, &case);
        assert_eq!(applied(&world, &case, json!({})).await["written"], 0);
    }
}

#[tokio::test]
async fn a_slow_runner_does_not_undo_the_place_of_a_fast_one() {
    let (case, world) = orders_to_load(40);
    let case_for = cases().remove(0);
    // While the first is about to say how far it is, another does the whole load.
    let (sender, receiver) = std::sync::mpsc::channel::<()>();
    let checkpoint = |operation: &str, body: &Value| {
        operation == "PutItem"
            && body["Item"]["part"]["S"].as_str().unwrap_or_default().starts_with("segment#")
    };
    world.script_for(
        checkpoint,
        1,
        meanwhile(move |world| {
            let world = world.clone();
            let case = &case_for;
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(applied(&world, case, json!({"segments": 1})));
                });
            });
            sender.send(()).unwrap();
        }),
    );
    let slow = applied(&world, &case, json!({"segments": 1})).await;
    receiver.try_recv().unwrap();
    assert_eq!((&slow["done"], &slow["read"]), (&json!(true), &json!(80)), "{slow}");
    let kept = world.all("Maintenance", None);
    let segment = kept.iter().find(|item| item["part"]["S"] == "segment#000000").unwrap();
    assert_eq!(segment["done"]["BOOL"], true, "{segment}");
    assert_right(&world, &case);
}

#[tokio::test]
async fn an_item_too_large_for_its_key_is_named() {
    let (case, world) = orders_to_load(1);
    let mut large = (case.old)("acme", 9);
    large["filler"] = json!({"S": ""});
    let size = kit::item::size(&crate::rollout::stored(&large));
    large["filler"] = json!({"S": "x".repeat(400 * 1024 - size - 5)});
    world.put("SalesOrder", large);
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!(
        (&loaded["done"], &loaded["written"], &loaded["unindexable"]["count"]),
        (&json!(true), &json!(2), &json!(1))
    );
    let reasons = loaded["unindexable"]["reasons"].as_object().unwrap();
    assert_eq!(reasons.keys().collect::<Vec<_>>(), ["the item must have at most 409600 bytes"]);
    let told = report(&world, &case, Stage::Backfill).await;
    assert_eq!((&told["verified"], &told["toLoad"]), (&json!(false), &json!(0)), "{told}");
    assert_eq!(told["unindexable"]["reasons"], loaded["unindexable"]["reasons"]);
}

#[tokio::test]
async fn an_order_that_another_index_could_not_hold_is_named() {
    let case = cases().remove(0);
    // As they were stored before the index of the status was there.
    let indexes: &[Index] = &[BY_CREATED_AT, BY_ORDER_STATUS, BY_CUSTOMER];
    let before = Table { indexes, ..tables::sales_order::TABLE };
    let world = World::with_tables(&[before, tables::maintenance::TABLE]);
    for tenant in TENANTS {
        world.put("SalesOrder", (case.old)(tenant, 0));
    }
    for (number, status) in [(1, json!({"S": ""})), (2, json!({"NULL": true})), (3, json!({"N": "5"}))] {
        let mut order = (case.old)("acme", 100 + number);
        order["status"] = status;
        world.put_all("SalesOrder", [order]);
    }
    let mut missing = (case.old)("acme", 104);
    missing.as_object_mut().unwrap().remove("status");
    world.put("SalesOrder", missing);
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!((&loaded["done"], &loaded["written"]), (&json!(true), &json!(3)), "{loaded}");
    assert_eq!(
        loaded["unindexable"]["reasons"],
        json!({"status must be of type S": 2, "status must not be empty": 1}),
        "{loaded}"
    );
    assert_eq!(loaded["unindexable"]["wouldVanish"], 3);
    let told = report(&world, &case, Stage::Backfill).await;
    assert_eq!(told["unindexable"]["reasons"], loaded["unindexable"]["reasons"]);
    assert_eq!(told["next"]["safe"], false);
}

#[tokio::test]
async fn a_part_that_lacks_its_items_is_read_again_by_the_load_and_by_the_report() {
    for torn in [json!({}), json!({"Count": 2, "ScannedCount": 2}), json!({"Count": 3, "Items": []})] {
        let (case, world) = orders_to_load(5);
        let scan = |operation: &str, _: &Value| operation == "Scan";
        world.script_for(scan, 1, Fault::Reply(200, torn.clone()));
        let loaded = applied(&world, &case, json!({})).await;
        assert_eq!((&loaded["done"], &loaded["written"]), (&json!(true), &json!(10)), "{torn}: {loaded}");
        world.script_for(scan, 1, Fault::Reply(200, torn));
        assert_eq!(report(&world, &case, Stage::Backfill).await["items"], loaded["read"]);
    }
}

#[tokio::test]
async fn an_item_whose_change_dynamodb_refuses_is_named_and_the_load_goes_on() {
    let (case, world) = orders_to_load(5);
    let refused = json!({"__type": "ValidationException", "message": "for a reason of its own"});
    world.script_for(updates_order("o-0002"), 1, Fault::Reply(400, refused));
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!((&loaded["done"], &loaded["written"]), (&json!(true), &json!(9)), "{loaded}");
    assert_eq!(loaded["unindexable"]["reasons"], json!({"the item is refused by DynamoDB": 1}));
    // It is still to be loaded, and the next run loads it.
    assert_eq!(report(&world, &case, Stage::Backfill).await["toLoad"], 1);
    assert_eq!(applied(&world, &case, json!({})).await["written"], 1);
    assert_right(&world, &case);
}

#[tokio::test]
async fn a_note_that_became_a_list_is_a_set_again() {
    let case = cases().remove(3);
    let world = World::at(&borrowed(&case.at(Stage::Backfill)));
    let mut account = (case.old)("acme", 1);
    account["indexOnly"] = json!({"L": [{"S": "organizationId"}]});
    account["organizationId"] = json!({"S": "acme-1"});
    world.put("BankAccount", account.clone());
    let loaded = applied(&world, &case, json!({})).await;
    assert_eq!((&loaded["written"], &loaded["unindexable"]["count"]), (&json!(1), &json!(0)), "{loaded}");
    let stored = world.get("BankAccount", json!({"id": account["id"]})).unwrap();
    let mut names: Vec<&str> =
        stored["indexOnly"]["SS"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    names.sort_unstable();
    assert_eq!(names, ["organizationId", "provider"]);
    assert_right(&world, &case);
}

#[tokio::test]
async fn an_index_that_would_stop_writers_is_not_made() {
    for (case, attribute) in [(cases().remove(2), "createdAt"), (cases().remove(3), "provider")] {
        let world = old_system(&case, 3);
        let told = report(&world, &case, Stage::None).await;
        assert_eq!(
            (&told["next"]["stage"], &told["next"]["safe"]),
            (&json!("create"), &json!(true)),
            "{told}"
        );
        let mut item = (case.old)("acme", 1);
        item[attribute] = json!({"N": "7"});
        world.put(case.rollout.table.name, item);
        let told = report(&world, &case, Stage::None).await;
        assert_eq!((&told["unwritable"], &told["next"]["safe"]), (&json!(1), &json!(false)), "{told}");
        assert!(
            told["next"]["reasons"][0].as_str().unwrap().starts_with("1 items have a value in"),
            "{told}"
        );
    }
}

#[tokio::test]
async fn a_runner_of_an_earlier_run_ends_where_a_later_one_has_begun() {
    let (case, world) = orders_to_load(10);
    let first = applied(&world, &case, json!({"segments": 1, "begin": true})).await;
    let other = cases().remove(0);
    // While it is about to read where it is, another ends its run and begins the next.
    let place = |operation: &str, body: &Value| {
        operation == "GetItem"
            && body["Key"]["part"]["S"].as_str().unwrap_or_default().starts_with("segment#")
    };
    world.script_for(
        place,
        1,
        meanwhile(move |world| {
            let world = world.clone();
            let case = &other;
            std::thread::scope(|scope| {
                scope.spawn(move || {
                    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
                    runtime.block_on(async {
                        applied(&world, case, json!({"segments": 1})).await;
                        applied(&world, case, json!({"segments": 1})).await;
                    });
                });
            });
        }),
    );
    let slow = applied(&world, &case, json!({"segments": 1, "run": first["run"]})).await;
    assert_eq!((&slow["done"], &slow["written"]), (&json!(true), &json!(0)), "{slow}");
    let kept = world.all("Maintenance", None);
    let segment = kept.iter().find(|item| item["part"]["S"] == "segment#000000").unwrap();
    assert_ne!(segment["run"]["S"], first["run"], "the later run's place stays");
    assert_right(&world, &case);
}

#[tokio::test]
async fn a_report_has_bounds_and_ends_before_its_deadline() {
    let (case, world) = orders_to_load(3);
    let parameters = case.at(Stage::Backfill);
    let app = world.deployed_at(&index_report::JOB, &borrowed(&parameters));
    for segments in [0, 1_000_001] {
        let event = json!({"index": case.rollout.name, "segments": segments});
        let error = work(&app, &event, Duration::from_secs(60)).await.unwrap_err();
        assert_eq!(error, "invalid_parameter: segments must be a whole number between 1 and 1000000");
    }
    let event = json!({"index": case.rollout.name, "segments": 64});
    let told = work(&app, &event, Duration::from_secs(60)).await.unwrap();
    assert_eq!((&told["segments"], &told["items"], &told["done"]), (&json!(64), &json!(6), &json!(true)));
    let late = work(&app, &event, Duration::from_secs(5)).await.unwrap();
    assert_eq!((&late["done"], &late["verified"]), (&json!(false), &json!(false)), "{late}");
}

/// What must be true of the table at the end, whatever the load did.
struct Ledger {
    live: BTreeMap<(String, String), Value>,
    deleted: Vec<(String, String)>,
}

/// Kills the load of a rollout twenty times at random points, while others save, change and delete items,
/// and looks for what is lost.
async fn twenty_kills(case: Case) {
    let mut random = fastrand::Rng::with_seed(20_261_130);
    let world = old_system(&case, 150);
    world.deploy(&borrowed(&case.at(Stage::Backfill)));
    let table = case.rollout.table.name;
    let name = |item: &Value| -> (String, String) {
        (item["tenant"]["S"].as_str().unwrap().to_owned(), item["id"]["S"].as_str().unwrap().to_owned())
    };
    let mut ledger = Ledger {
        live: world.all(table, None).into_iter().map(|item| (name(&item), item)).collect(),
        deleted: Vec::new(),
    };
    let parameters = case.at(Stage::Backfill);
    let saver = world.deployed_at(case.saver, &borrowed(&parameters));
    let primary = |tenant: &str, id: &str| {
        if case.rollout.table.key.sort.is_some() { key(tenant, id) } else { json!({"id": {"S": id}}) }
    };
    let (mut kills, mut at_work, mut resumed, mut number) = (0, 0, 0, 0);
    for _ in 0..60 {
        // Slow enough for pages of 25 items and for kills between them. The clock is one of the tests', so
        // that nobody waits.
        let event = json!({"segments": 2, "writeUnitsPerSecond": 2});
        let mut run = Box::pin(applied(&world, &case, event));
        let (mut life, mut ended) = (random.u64(2..12), false);
        while life > 0 && !ended {
            let step = random.u64(1..4).min(life);
            life -= step;
            let pause = std::time::Duration::from_millis(step * 1000 + random.u64(0..1000));
            tokio::select! {
                biased;
                loaded = &mut run => {
                    assert_eq!(loaded["done"], true, "{loaded}");
                    ended = true;
                }
                () = tokio::time::sleep(pause) => {}
            }
            let tenant = TENANTS[random.usize(0..2)];
            let any = ledger.live.keys().nth(random.usize(0..ledger.live.len())).unwrap().clone();
            match random.u32(0..3) {
                0 => {
                    number += 1;
                    let answer = send(&saver, &(case.save)(tenant, number)).await;
                    assert!([200, 201].contains(&answer.status), "{}", answer.body);
                    let id = answer.json()["id"].as_str().unwrap().to_owned();
                    let saved = world.get(table, primary(tenant, &id)).unwrap();
                    ledger.live.insert((tenant.to_owned(), id), saved);
                }
                1 => {
                    world.delete(table, primary(&any.0, &any.1));
                    ledger.live.remove(&any);
                    ledger.deleted.push(any);
                }
                _ => {
                    let mut item = world.get(table, primary(&any.0, &any.1)).unwrap();
                    change(&case, &mut item, random.u32(0..3));
                    world.put(table, item.clone());
                    ledger.live.insert(any, item);
                }
            }
        }
        kills += u32::from(!ended);
        let wrong = |item: &Value| matches!(judge(case.rollout, &stored(item)), Verdict::Wrong(_));
        at_work += u32::from(!ended && world.all(table, None).iter().any(wrong));
        resumed +=
            u32::from(world.all("Maintenance", None).iter().any(|part| part.get("position").is_some()));
        if kills == 20 {
            break;
        }
    }
    assert!(at_work >= 10, "most kills met a load that was done: {at_work}");
    assert!(resumed >= 5, "no load went on in the middle of a segment: {resumed}");
    assert_eq!(kills, 20);
    let last = applied(&world, &case, json!({"segments": 2})).await;
    assert_eq!((&last["done"], &last["failed"]), (&json!(true), &json!({})), "{last}");
    let fresh = applied(&world, &case, json!({"segments": 2})).await;
    assert_eq!(fresh["written"], 0, "{}: {fresh}", case.rollout.name);
    assert_right(&world, &case);
    let stored: BTreeMap<(String, String), Value> =
        world.all(table, None).into_iter().map(|item| (name(&item), item)).collect();
    for gone in &ledger.deleted {
        assert!(!stored.contains_key(gone), "{gone:?} is back");
    }
    let names = |items: &BTreeMap<(String, String), Value>| items.keys().cloned().collect::<BTreeSet<_>>();
    let differing: Vec<_> = names(&stored).symmetric_difference(&names(&ledger.live)).cloned().collect();
    assert_eq!(differing, []);
    let ours: Vec<&str> = case.rollout.derived.iter().map(|derived| derived.attribute).collect();
    for (name, mut item) in stored {
        let mut expected = ledger.live[&name].clone();
        for item in [&mut item, &mut expected] {
            for name in ours.iter().chain(&["schemaVersion", "indexOnly"]) {
                item.as_object_mut().unwrap().remove(*name);
            }
        }
        assert_eq!(item, expected, "{name:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn twenty_kills_of_the_load_of_orders_lose_nothing() {
    twenty_kills(cases().remove(0)).await;
}

#[tokio::test(start_paused = true)]
async fn twenty_kills_of_the_load_of_people_lose_nothing() {
    twenty_kills(cases().remove(1)).await;
}

#[tokio::test(start_paused = true)]
async fn twenty_kills_of_the_load_of_contracts_lose_nothing() {
    twenty_kills(cases().remove(2)).await;
}

#[tokio::test(start_paused = true)]
async fn twenty_kills_of_the_load_of_accounts_by_organization_lose_nothing() {
    twenty_kills(cases().remove(3)).await;
}

#[tokio::test(start_paused = true)]
async fn twenty_kills_of_the_load_of_accounts_by_provider_lose_nothing() {
    twenty_kills(cases().remove(4)).await;
}

/// What the key of an item is derived from becomes something else, by a writer that writes the key too, as
/// every writer does at this stage.
fn change(case: &Case, item: &mut Value, choice: u32) {
    let (attribute, value) = match case.source {
        "customer" => {
            item["customer"]["M"]["id"] = json!({"S": format!("c-{choice}")});
            ("customerId", format!("c-{choice}"))
        }
        "name" => {
            let name = format!("Nome {choice}");
            item["name"] = json!({"S": name});
            let sorted = tables::person::sort_name(&name, item["id"]["S"].as_str().unwrap()).unwrap();
            ("sortName", sorted)
        }
        "entity" => {
            item["entity"] = json!({"S": format!("e-{choice}")});
            ("entityLookupKey", format!("{}#e-{choice}", item["tenant"]["S"].as_str().unwrap()))
        }
        _ => {
            item["balance"] = json!({"N": choice.to_string()});
            return;
        }
    };
    item[attribute] = json!({"S": value});
}
