//! What is particular to creating an order.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::event::{get, post};
use crate::world::{Fault, World, send};

fn body() -> Value {
    json!({
        "customer": {"id": "c-7", "name": "João D'Ávila"},
        "items": [{"productId": "p-1", "quantity": 2, "unitPrice": 10.50}],
        "total": 21.5,
        "gift": null,
    })
}

#[tokio::test]
async fn a_created_order_is_found_by_every_question() {
    let world = World::new();
    let created = send(&world.deployed(&order_create::OPERATION), &post("/orders", "acme", &body())).await;
    assert_eq!(created.status, 201, "{}", created.body);
    let order = created.json();
    assert_eq!((order["tenant"].as_str(), order["number"].as_u64()), (Some("acme"), Some(1)));
    assert_eq!((order["status"].as_str(), order["orderStatus"].as_str()), (Some("OPEN"), Some("NEW")));
    assert_eq!(order["createdAt"].as_str().map(str::len), Some("2026-02-01T03:00:00.000Z".len()));
    assert!(order.get("gift").is_none(), "an absent value is not stored");
    assert!(!created.headers.contains_key("etag"), "an order is not edited, so it has no entity tag");
    assert_eq!(created.log["WriteUnits"].as_f64().map(|units| units >= 2.0), Some(true));

    let list = world.deployed(&orders::LIST);
    let day = &order["createdAt"].as_str().unwrap()[..10].to_owned();
    for event in [
        get("/orders", "acme"),
        get("/orders", "acme").with("status", "OPEN"),
        get("/orders", "acme").with("orderStatus", "NEW"),
        get("/orders", "acme").with("customerId", "c-7"),
    ] {
        let answer = send(&list, &event).await;
        assert_eq!(answer.json()["items"], json!([order]), "{event:?} on {day}");
    }
}

#[tokio::test]
async fn a_hundred_at_once_get_a_hundred_numbers() {
    let world = World::new();
    let app = std::sync::Arc::new(world.deployed(&order_create::OPERATION));
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let app = app.clone();
        tasks.spawn(async move { send(&app, &post("/orders", "acme", &body())).await });
    }
    let answers = tasks.join_all().await;
    assert!(answers.iter().all(|answer| answer.status == 201));
    let numbers: BTreeSet<u64> =
        answers.iter().map(|answer| answer.json()["number"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=100).collect());
    let ids: BTreeSet<String> =
        answers.iter().map(|answer| answer.json()["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids.len(), 100);
}

#[tokio::test]
async fn each_tenant_counts_for_itself() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    for (tenant, number) in [("acme", 1), ("beta", 1), ("acme", 2)] {
        let answer = send(&app, &post("/orders", tenant, &body())).await;
        assert_eq!(answer.json()["number"].as_u64(), Some(number), "{tenant}");
    }
    let counter = &world.calls()[0];
    assert_eq!(counter.body["ReturnValues"], json!("UPDATED_NEW"));
    assert_eq!(counter.body["UpdateExpression"], json!("ADD #0 :0"));
    assert_eq!(counter.name("#0"), "value");
}

#[tokio::test]
async fn an_order_is_never_overwritten() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    let mut with_id = body();
    with_id["id"] = json!("o-1");
    assert_eq!(send(&app, &post("/orders", "acme", &with_id)).await.status, 201);
    with_id["total"] = json!(1);
    let answer = send(&app, &post("/orders", "acme", &with_id)).await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "already_exists"));
    assert!(answer.message().contains("\"o-1\""), "{}", answer.message());
    let stored = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
    assert_eq!(stored.json()["items"][0]["total"].to_string(), "21.5");
    // Another tenant may use the same id.
    assert_eq!(send(&app, &post("/orders", "beta", &with_id)).await.status, 201);
}

#[tokio::test]
async fn a_write_whose_answer_was_lost_is_not_taken_for_somebody_else_s() {
    let world = World::new();
    world.script([Fault::Pass, Fault::LoseReply]);
    let answer = send(&world.deployed(&order_create::OPERATION), &post("/orders", "acme", &body())).await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(world.calls().len(), 3, "the counter, the write, and the write once more");
}

#[tokio::test]
async fn an_order_that_happens_to_have_the_next_number_is_not_taken_for_our_own() {
    let world = World::new();
    world.put("SalesOrder", json!({"tenant": {"S": "acme"}, "id": {"S": "o-1"}, "number": {"N": "1"}}));
    let mut order = body();
    order["id"] = json!("o-1");
    let answer = send(&world.deployed(&order_create::OPERATION), &post("/orders", "acme", &order)).await;
    assert_eq!((answer.status, answer.code().as_str()), (409, "already_exists"));
}

#[tokio::test]
async fn what_is_answered_is_what_is_stored() {
    let world = World::new();
    let body = r#"{"customer":{"id":"c"},"items":[{"productId":"p","quantity":1e2,"unitPrice":10.50}],"x":-0.0,"y":1.5E-3}"#;
    let event = post("/orders", "acme", &Value::Null).raw_body(body);
    let created = send(&world.deployed(&order_create::OPERATION), &event).await;
    let listed = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
    assert!(listed.body.contains(&format!("[{}]", created.body)), "{} {}", created.body, listed.body);
}

#[tokio::test]
async fn an_order_too_large_for_an_item_is_refused_before_it_is_numbered() {
    let world = World::new();
    let lists = format!("{}{}", "[".repeat(29), "]".repeat(29));
    let nested = vec![lists; 4_300].join(",");
    let body = format!(
        r#"{{"customer":{{"id":"c"}},"items":[{{"productId":"p","quantity":1,"unitPrice":1}}],"x":[{nested}]}}"#
    );
    let event = post("/orders", "acme", &Value::Null).raw_body(&body);
    let answer = send(&world.deployed(&order_create::OPERATION), &event).await;
    assert_eq!((answer.status, answer.code().as_str()), (413, "item_too_large"), "{}", answer.body);
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_parameter_is_not_ignored_in_silence() {
    let world = World::new();
    let event = post("/orders", "acme", &body()).with("dryRun", "true");
    let answer = send(&world.deployed(&order_create::OPERATION), &event).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"));
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn numbers_keep_their_digits_through_both_functions() {
    let world = World::new();
    let digits = "12345678901234567890123456789012345678";
    let body = format!(
        r#"{{"customer":{{"id":"c"}},"items":[{{"productId":"p","quantity":0.1,"unitPrice":{digits}}}],"big":99999999999999999999}}"#
    );
    let event = post("/orders", "acme", &Value::Null).raw_body(&body);
    let created = send(&world.deployed(&order_create::OPERATION), &event).await;
    let listed = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
    for answer in [created, listed] {
        assert!(answer.body.contains(&format!(r#""quantity":0.1,"unitPrice":{digits}"#)), "{}", answer.body);
        assert!(answer.body.contains(r#""big":99999999999999999999"#), "{}", answer.body);
    }
}

#[tokio::test]
async fn a_wrong_order_is_refused_before_any_call() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    let change = |change: fn(&mut Value)| {
        let mut body = body();
        change(&mut body);
        body
    };
    for (wrong, named) in [
        (change(|body| body["status"] = json!("")), "status"),
        (change(|body| body["status"] = json!(7)), "status"),
        (change(|body| body["orderStatus"] = json!("x".repeat(1025))), "orderStatus"),
        (change(|body| body["customer"] = json!({})), "customer.id"),
        (change(|body| body["customer"]["id"] = json!("é".repeat(513))), "customer.id"),
        (change(|body| body["tenant"] = json!("beta")), "tenant"),
        (change(|body| body["number"] = json!(1)), "number"),
        (change(|body| body["customerId"] = json!("c-8")), "customerId"),
        (change(|body| body["schemaVersion"] = json!(1)), "schemaVersion"),
        (change(|body| body["createdAt"] = json!("2020-01-01T00:00:00.000Z")), "createdAt"),
        (change(|body| body["items"] = json!([])), "items"),
        (change(|body| body["id"] = json!("x".repeat(129))), "id"),
    ] {
        let answer = send(&app, &post("/orders", "acme", &wrong)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_attribute"), "{named}");
        assert!(answer.message().starts_with(named), "{}", answer.message());
    }
    // A status of null is one that is absent.
    let answer = send(&app, &post("/orders", "acme", &change(|body| body["status"] = Value::Null))).await;
    assert_eq!((answer.status, answer.json()["status"].as_str()), (201, Some("OPEN")));
    assert_eq!(world.calls().len(), 2);
}

#[tokio::test]
async fn a_body_that_cannot_be_read_is_named() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    let empty = post("/orders", "acme", &Value::Null);
    for (raw, message) in [
        ("", "the request needs a body"),
        ("{", "the body must be a JSON object"),
        ("[]", "the body must be a JSON object"),
        ("null", "the body must be a JSON object"),
    ] {
        let answer = send(&app, &empty.clone().raw_body(raw)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_body"), "{raw}");
        assert_eq!(answer.message(), message);
    }
    assert!(world.calls().is_empty());
}
