//! Batches, whose unprocessed rest the SDK never sends again by itself.

use std::time::Duration;

use kit::dynamo::Returning;
use kit::dynamo::{Session, Write};
use kit::error::Code;
use kit::expression::{Change, Check};
use kit::item::{AttributeValue, Item, texts};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::world::{Fault, World};

const TABLE: kit::key::Table = crate::declared::VISIT;

fn key(id: usize) -> Item {
    texts([("tenant", "acme"), ("id", &format!("v-{id:03}"))])
}

fn stored(world: &World) -> usize {
    let count = json!({"TableName": "Visit", "Select": "COUNT"});
    world.database.scan(serde_json::from_value(count).unwrap()).unwrap().count
}

/// What the service answers where it takes the first `taken` of these writes.
fn part_of_the_writes(world: &World, writes: &[Item], taken: usize) -> Fault {
    for item in &writes[..taken] {
        let id = item["id"].as_s().unwrap();
        world.put("Visit", json!({"tenant": {"S": "acme"}, "id": {"S": id}}));
    }
    let left: Vec<Value> = writes[taken..]
        .iter()
        .map(|item| json!({"PutRequest": {"Item": {"tenant": {"S": "acme"}, "id": {"S": item["id"].as_s().unwrap()}}}}))
        .collect();
    Fault::Reply(200, json!({"UnprocessedItems": {"Visit": left}}))
}

#[tokio::test(start_paused = true)]
async fn writes_that_come_back_are_sent_again_with_pauses() {
    let world = World::with_tables(&[TABLE]);
    let (db, items): (_, Vec<Item>) = (world.db(), (0..24).map(key).collect());
    // Half of what is sent comes back, three times over.
    let faults = [
        part_of_the_writes(&world, &items, 12),
        part_of_the_writes(&world, &items[12..], 6),
        part_of_the_writes(&world, &items[18..], 3),
    ];
    world.script(faults);
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    let started = Instant::now();
    session.batch_write(&TABLE, items.into_iter().map(Write::Put).collect()).await.unwrap();
    assert_eq!(stored(&world), 24);
    let sent: Vec<Vec<String>> = world
        .calls()
        .iter()
        .map(|call| {
            let writes = call.body["RequestItems"]["Visit"].as_array().unwrap();
            let id = |write: &Value| write["PutRequest"]["Item"]["id"]["S"].as_str().unwrap().to_owned();
            writes.iter().map(id).collect()
        })
        .collect();
    let ids = |from: usize| (from..24).map(|id| format!("v-{id:03}")).collect::<Vec<_>>();
    assert_eq!(sent, [ids(0), ids(12), ids(18), ids(21)], "only what came back is sent again");
    assert!(started.elapsed() > Duration::ZERO, "it pauses between tries");
}

/// How long ten writes that are never taken wait in all, over some runs.
async fn waits() -> Vec<Duration> {
    let world = World::with_tables(&[TABLE]);
    let (db, items): (_, Vec<Item>) = (world.db(), (0..10).map(key).collect());
    let mut waits = Vec::new();
    for _ in 0..20 {
        world.script((0..8).map(|_| part_of_the_writes(&world, &items, 0)));
        let mut session = Session::new(&db, Instant::now() + Duration::from_secs(600));
        let started = Instant::now();
        let writes = items.iter().cloned().map(Write::Put).collect();
        session.batch_write(&TABLE, writes).await.unwrap_err();
        waits.push(started.elapsed());
    }
    waits
}

#[tokio::test(start_paused = true)]
async fn pauses_grow_and_differ() {
    let waits = waits().await;
    // Seven pauses, each drawn from zero to 50 ms doubled time after time, 2 s at the most.
    let most = [100, 200, 400, 800, 1600, 2000, 2000].iter().sum::<u64>();
    assert!(waits.iter().all(|wait| *wait <= Duration::from_millis(most)), "{waits:?}");
    let mean = waits.iter().sum::<Duration>() / 20;
    assert!(mean > Duration::from_millis(most / 4), "the mean is half of the most: {mean:?}");
    assert!(
        waits.iter().collect::<std::collections::BTreeSet<_>>().len() > 10,
        "no two processes wait alike"
    );
}

#[tokio::test(start_paused = true)]
async fn writes_that_are_never_taken_are_handed_back() {
    let world = World::with_tables(&[TABLE]);
    let (db, items): (_, Vec<Item>) = (world.db(), (0..30).map(key).collect());
    world.script((0..50).map(|_| part_of_the_writes(&world, &items[..25], 0)));
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(600));
    let unfinished =
        session.batch_write(&TABLE, items.into_iter().map(Write::Put).collect()).await.unwrap_err();
    assert_eq!(unfinished.error.code(), Code::Throttled);
    assert_eq!(unfinished.remaining.len(), 30, "nothing is lost in silence");
    assert!(world.calls().len() <= 10, "it ends");
}

#[tokio::test(start_paused = true)]
async fn only_tries_without_progress_are_counted() {
    let world = World::with_tables(&[TABLE]);
    let (db, items): (_, Vec<Item>) = (world.db(), (0..25).map(key).collect());
    // One write is taken each time: 24 rounds, each a progress.
    let faults: Vec<Fault> = (0..24).map(|round| part_of_the_writes(&world, &items[round..], 1)).collect();
    world.script(faults);
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(600));
    session.batch_write(&TABLE, items.into_iter().map(Write::Put).collect()).await.unwrap();
    assert_eq!((stored(&world), world.calls().len()), (25, 25));
}

#[tokio::test]
async fn a_key_is_written_once_in_a_batch_and_the_last_write_counts() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    let with = |id, note: &str| {
        let mut item = key(id);
        item.insert("note".to_owned(), AttributeValue::S(note.to_owned()));
        Write::Put(item)
    };
    let writes =
        vec![with(1, "first"), with(2, "only"), with(1, "last"), Write::Delete(key(3)), with(3, "back")];
    session.batch_write(&TABLE, writes).await.unwrap();
    let calls = world.calls();
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].body["RequestItems"]["Visit"].as_array().map(Vec::len), Some(3));
    let item = session.get(&TABLE, key(1), true).await.unwrap().unwrap();
    assert_eq!(item["note"], AttributeValue::S("last".to_owned()));
    assert!(session.get(&TABLE, key(3), false).await.unwrap().is_some());
    assert!(session.get(&TABLE, key(4), false).await.unwrap().is_none());
}

#[tokio::test]
async fn an_empty_batch_is_no_call_and_a_large_one_is_several() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    session.batch_write(&TABLE, Vec::new()).await.unwrap();
    assert_eq!(session.batch_get(&TABLE, &[], false).await.unwrap(), Vec::<Item>::new());
    assert!(world.calls().is_empty());
    session.batch_write(&TABLE, (0..60).map(|id| Write::Put(key(id))).collect()).await.unwrap();
    assert_eq!(world.calls().len(), 3, "25 at a time");
    let found = session.batch_get(&TABLE, &(0..150).map(key).collect::<Vec<_>>(), false).await.unwrap();
    assert_eq!(found.len(), 60);
    assert_eq!(world.calls().len(), 2, "100 at a time");
    assert!(session.meter().write_units >= 60.0 && session.meter().read_units > 0.0);
}

#[tokio::test(start_paused = true)]
async fn items_come_in_the_order_asked_each_once() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    session.batch_write(&TABLE, (0..9).map(|id| Write::Put(key(id))).collect()).await.unwrap();
    world.calls();
    let left = json!({"Keys": [{"tenant": {"S": "acme"}, "id": {"S": "v-007"}}]});
    let row = |id: usize| json!({"tenant": {"S": "acme"}, "id": {"S": format!("v-{id:03}")}});
    world.script([Fault::Reply(
        200,
        json!({"Responses": {"Visit": [row(2), row(5)]}, "UnprocessedKeys": {"Visit": left}}),
    )]);
    let asked: Vec<Item> = [7, 2, 5, 2, 7].map(key).to_vec();
    let found = session.batch_get(&TABLE, &asked, false).await.unwrap();
    assert_eq!(found, [7, 2, 5].map(key));
    let calls = world.calls();
    assert_eq!(calls[0].body["RequestItems"]["Visit"]["Keys"].as_array().map(Vec::len), Some(3));
    assert_eq!(calls[1].body["RequestItems"]["Visit"]["Keys"].as_array().map(Vec::len), Some(1));
}

#[tokio::test(start_paused = true)]
async fn keys_that_are_never_read_are_handed_back() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let all = json!({"Keys": [{"tenant": {"S": "acme"}, "id": {"S": "v-001"}}]});
    world.script((0..50).map(|_| Fault::Reply(200, json!({"UnprocessedKeys": {"Visit": all}}))));
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(600));
    let unfinished = session.batch_get(&TABLE, &[key(1)], true).await.unwrap_err();
    assert_eq!((unfinished.error.code(), unfinished.remaining), (Code::Throttled, vec![key(1)]));
}

#[tokio::test]
async fn what_cannot_be_a_key_is_refused_before_it_is_sent() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    let with = |name: &str, value: AttributeValue| {
        let mut item = key(1);
        item.insert(name.to_owned(), value);
        item
    };
    let text = |value: &str| AttributeValue::S(value.to_owned());
    for (item, message) in [
        (with("day", text("")), "day must not be empty"),
        (with("day", AttributeValue::Null(true)), "day must be of type S"),
        (with("day", AttributeValue::N("1".to_owned())), "day must be of type S"),
        (with("day", text(&"é".repeat(513))), "day must have at most 1024 bytes"),
        (with("roomLookupKey", text(&"x".repeat(2049))), "roomLookupKey must have at most 2048 bytes"),
        (with("id", text("")), "id must not be empty"),
        (texts([("tenant", "acme")]), "id is missing"),
    ] {
        let error = session.put(&TABLE, item.clone(), &[]).await.unwrap_err();
        assert_eq!(error.to_string(), message);
        let unfinished =
            session.batch_write(&TABLE, vec![Write::Put(key(2)), Write::Put(item)]).await.unwrap_err();
        assert_eq!((unfinished.error.to_string().as_str(), unfinished.remaining.len()), (message, 2));
    }
    let change = [Change::Set("day", text(""))];
    let error = session.update(&TABLE, key(1), &change, &[], Returning::Nothing).await.unwrap_err();
    assert_eq!(error.to_string(), "day must not be empty");
    assert!(world.calls().is_empty());
    // Without an attribute that is an index key, the item is stored and is not in the index.
    session.put(&TABLE, key(1), &[]).await.unwrap();
}

#[tokio::test]
async fn a_write_with_a_condition_says_what_is_stored() {
    let world = World::with_tables(&[TABLE]);
    let db = world.db();
    let mut session = Session::new(&db, Instant::now() + Duration::from_secs(30));
    let text = |value: &str| AttributeValue::S(value.to_owned());
    session.put(&TABLE, key(1), &[Check::Absent("id")]).await.unwrap();
    let refused = session.put(&TABLE, key(1), &[Check::Absent("id")]).await.unwrap_err();
    assert!(matches!(refused, kit::error::Error::ConditionFailed { item: Some(item) } if *item == key(1)));
    let change = [Change::Set("status", text("PAID")), Change::Add("total", 2), Change::Remove("name")];
    let changed =
        session.update(&TABLE, key(1), &change, &[Check::Present("id")], Returning::Item).await.unwrap();
    assert_eq!((&changed["status"], &changed["total"]), (&text("PAID"), &AttributeValue::N("2".to_owned())));
    let other = [Check::Equals("status", text("OPEN"))];
    assert_eq!(session.delete(&TABLE, key(1), &other).await.unwrap_err().code(), Code::PreconditionFailed);
    let same = [Check::Equals("status", text("PAID"))];
    session.delete(&TABLE, key(1), &same).await.unwrap();
    assert!(session.get(&TABLE, key(1), true).await.unwrap().is_none());
    let nobody = session.update(&TABLE, key(1), &change, &[Check::Present("id")], Returning::Nothing).await;
    assert!(matches!(nobody.unwrap_err(), kit::error::Error::ConditionFailed { item: None }));
    assert!(world.calls().iter().all(|call| call.body["ReturnConsumedCapacity"] == "TOTAL"));
}
