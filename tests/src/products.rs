//! What is particular to products: single items, saving, deleting, and ids of any kind in a path.

use serde_json::{Value, json};

use crate::event::{Event, get};
use crate::world::{Answer, Fault, World, send, send_raw};

fn put(id: &str, body: &Value) -> Event {
    get("/products/{id}", "acme").method("PUT").with("id", id).raw_body(&body.to_string())
}

fn delete(id: &str) -> Event {
    get("/products/{id}", "acme").method("DELETE").with("id", id)
}

async fn save(world: &World, event: &Event) -> Answer {
    send(&world.deployed(&product_save::OPERATION), event).await
}

async fn find(world: &World, event: &Event) -> Answer {
    send(&world.deployed(&product::LIST), event).await
}

/// Ids that are hard to write into a path.
const IDS: &[&str] =
    &["p-1", "kit 1", "café", "a#b", "50% off", "a+b", "%2F", "a%20b", "a?b=c&d", "\u{1F511}"];

#[tokio::test]
async fn what_is_saved_under_an_id_is_found_under_it() {
    let world = World::new();
    for id in IDS {
        let saved = save(&world, &put(id, &json!({"name": "Açaí", "price": 12.50}))).await;
        assert_eq!(saved.status, 200, "{id}: {}", saved.body);
        let written = world.calls();
        let item = &written[0].body["Item"];
        assert_eq!((&item["tenant"]["S"], &item["id"]["S"]), (&json!("acme"), &json!(id)));
        assert!(item.get("PK").is_none() && item.get("SK").is_none());

        let one = find(&world, &get("/products/{id}", "acme").with("id", id)).await;
        assert_eq!(one.status, 200, "{id}: {}", one.body);
        assert_eq!(one.json()["id"].as_str(), Some(*id));
        assert_eq!(one.json()["version"], saved.json()["version"]);
        assert_eq!(one.headers.get("etag"), saved.headers.get("etag"));
        let read = world.calls();
        assert_eq!((read[0].operation.as_str(), read.len()), ("GetItem", 1));
        assert_eq!(read[0].body["Key"], json!({"tenant": {"S": "acme"}, "id": {"S": id}}));
    }
    let all = find(&world, &get("/products", "acme")).await;
    let mut expected: Vec<String> = IDS.iter().map(|id| (*id).to_owned()).collect();
    expected.sort_unstable();
    assert_eq!(all.ids(), expected);
}

#[tokio::test]
async fn an_id_arrives_decoded_once_from_every_gateway() {
    let world = World::new();
    let app = world.deployed(&product::LIST);
    for id in IDS.iter().chain(&["a/b"]) {
        let event = get("/products/{id}", "acme").with("id", id);
        let mut local = event.local();
        local["requestContext"]["authorizer"] = event.http()["requestContext"]["authorizer"].clone();
        for event in [event.http(), event.rest(), local] {
            let answer = send_raw(&app, &event.to_string()).await;
            assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"), "{id}: {}", answer.body);
            assert_eq!(world.calls()[0].body["Key"]["id"]["S"], json!(id), "{event}");
        }
    }
}

#[tokio::test]
async fn a_path_that_is_not_valid_is_400() {
    let world = World::new();
    let app = world.deployed(&product::LIST);
    for wrong in ["%", "%4", "%zz", "%ff"] {
        let mut event = get("/products/{id}", "acme").with("id", "x").rest();
        event["pathParameters"]["id"] = json!(wrong);
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{wrong}");
    }
    let long = "x".repeat(1025);
    for (id, message) in [("", "id must not be empty"), (&long as &str, "id must have at most 1024 bytes")] {
        let answer = send(&app, &get("/products/{id}", "acme").with("id", id)).await;
        assert_eq!((answer.status, answer.message().as_str()), (400, message));
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_single_item_is_the_tenant_s_own_and_takes_no_parameter() {
    let world = World::new();
    save(&world, &put("p-1", &json!({"name": "x"}))).await;
    let other = get("/products/{id}", "beta").with("id", "p-1");
    assert_eq!(find(&world, &other).await.status, 404);
    let asked = get("/products/{id}", "acme").with("id", "p-1").with("limit", 5);
    let answer = find(&world, &asked).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"));
    let missing = find(&world, &get("/products/{id}", "acme").with("id", "p-2")).await;
    assert_eq!(missing.message(), "nothing is stored with this id");
}

#[tokio::test]
async fn the_stock_of_one_product_is_found_by_the_product_s_id() {
    let world = World::new();
    world.put(
        "Stock",
        json!({"tenant": {"S": "acme"}, "productId": {"S": "kit 1#é"}, "quantity": {"N": "7.125"}}),
    );
    let app = world.deployed(&stock::LIST);
    let event = get("/stock/{productId}", "acme").with("productId", "kit 1#é");
    for event in [event.http(), event.rest()] {
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!(answer.body, r#"{"productId":"kit 1#é","quantity":7.125,"tenant":"acme"}"#);
        assert_eq!(answer.headers.get("etag").map(String::as_str), Some("\"#\""));
    }
}

#[tokio::test]
async fn products_by_status_are_no_question() {
    let world = World::new();
    let answer = find(&world, &get("/products", "acme").with("status", "ACTIVE")).await;
    assert_eq!((answer.status, answer.code().as_str()), (400, "unknown_parameter"));
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_save_replaces_the_whole_item() {
    let world = World::new();
    save(&world, &put("p-1", &json!({"name": "x", "colour": "red"}))).await;
    let saved = save(&world, &put("p-1", &json!({"name": "y", "empty": null}))).await;
    let stored = find(&world, &get("/products/{id}", "acme").with("id", "p-1")).await.json();
    assert_eq!(stored, saved.json());
    assert_eq!(stored["name"], "y");
    assert!(stored.get("colour").is_none() && stored.get("empty").is_none());
}

#[tokio::test]
async fn of_two_editors_the_second_is_told_about_the_first() {
    let world = World::new();
    let first = save(&world, &put("p-1", &json!({"name": "x"}))).await;
    let tag = first.headers["etag"].clone();
    // What was read goes back as it came, the version in it too.
    let mut read = first.json();
    read["name"] = json!("one");
    let one = save(&world, &put("p-1", &read).header("If-Match", &tag)).await;
    assert_eq!(one.status, 200, "{}", one.body);
    assert_ne!(one.headers["etag"], tag);
    read["name"] = json!("two");
    let two = save(&world, &put("p-1", &read).header("If-Match", &tag)).await;
    assert_eq!((two.status, two.code().as_str()), (412, "precondition_failed"));
    assert_eq!(save(&world, &delete("p-1").header("If-Match", &tag)).await.status, 412);
    let stored = find(&world, &get("/products/{id}", "acme").with("id", "p-1")).await;
    assert_eq!(stored.json()["name"], "one");
    assert_eq!(save(&world, &delete("p-1").header("If-Match", &one.headers["etag"])).await.status, 204);
}

#[tokio::test]
async fn products_of_writers_that_know_no_versions_are_not_overwritten_in_silence_either() {
    let world = World::new();
    for (stored, tag) in
        [(None, "\"#\""), (Some(json!({"N": "7"})), "\"#7\""), (Some(json!({"S": "v1"})), "\"v1\"")]
    {
        let mut product = json!({"tenant": {"S": "acme"}, "id": {"S": "p-1"}, "name": {"S": "old"}});
        if let Some(version) = stored {
            product["version"] = version;
        }
        world.put("Product", product);
        let read = find(&world, &get("/products/{id}", "acme").with("id", "p-1")).await;
        assert_eq!(read.headers.get("etag").map(String::as_str), Some(tag));
        let body = json!({"name": "new"});
        assert_eq!(save(&world, &put("p-1", &body).header("If-Match", tag)).await.status, 200, "{tag}");
        assert_eq!(save(&world, &put("p-1", &body).header("If-Match", tag)).await.status, 412, "{tag}");
    }
    assert_eq!(save(&world, &put("p-2", &json!({})).header("If-Match", "\"#\"")).await.status, 412);
    assert_eq!(save(&world, &put("p-2", &json!({})).header("If-Match", "\"#x\"")).await.status, 412);
}

#[tokio::test]
async fn a_delete_whose_answer_was_lost_says_that_nothing_is_there() {
    let world = World::new();
    save(&world, &put("p-1", &json!({}))).await;
    world.script([Fault::LoseReply]);
    assert_eq!(save(&world, &delete("p-1")).await.status, 404);
    assert_eq!(find(&world, &get("/products/{id}", "acme").with("id", "p-1")).await.status, 404);
    assert_eq!(save(&world, &delete("p-1").header("If-None-Match", "*")).await.status, 400);
}

#[tokio::test]
async fn a_placeholder_may_have_another_name_and_a_payload_1_0_of_an_http_api_is_decoded() {
    let world = World::new();
    let app = world.deployed(&price::LIST);
    let event = get("/products/{productId}/prices", "acme").with("productId", "50% off");
    let mut rest = event.rest();
    rest["resource"] = json!("/products/{id}/prices");
    rest["pathParameters"] = json!({"id": "50%25%20off"});
    let mut http = event.rest();
    http["version"] = json!("1.0");
    http["pathParameters"] = json!({"productId": "50% off"});
    for event in [rest, http] {
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert_eq!(world.calls()[0].key_condition(), "tenant = acme AND productId = 50% off");
    }
}

#[tokio::test]
async fn a_product_may_be_called_products() {
    let world = World::new();
    let mut event =
        get("/products/{id}", "").with("id", "products").claims(None).header("x-local-tenant", "acme");
    event = event.header("accept", "application/json");
    let answer = send_raw(&world.deployed(&product::LIST), &event.local().to_string()).await;
    assert_eq!((answer.status, answer.code().as_str()), (404, "not_found"));
    assert_eq!(world.calls()[0].operation, "GetItem");
}

#[tokio::test]
async fn a_condition_is_star_or_one_entity_tag() {
    let world = World::new();
    let body = json!({"name": "x"});
    assert_eq!(save(&world, &put("p-1", &body).header("If-Match", "*")).await.status, 412);
    assert_eq!(save(&world, &put("p-1", &body).header("If-None-Match", "*")).await.status, 200);
    assert_eq!(save(&world, &put("p-1", &body).header("If-None-Match", "*")).await.status, 412);
    assert_eq!(save(&world, &put("p-1", &body).header("If-Match", "*")).await.status, 200);
    world.calls();
    for (name, value) in [
        ("If-Match", "unquoted"),
        ("If-Match", "\"a\", \"b\""),
        ("If-Match", ""),
        ("If-Match", "W/\"a\""),
        ("If-None-Match", "\"a\""),
    ] {
        let answer = save(&world, &put("p-1", &body).header(name, value)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_parameter"), "{name}: {value}");
        assert!(answer.message().starts_with(name), "{}", answer.message());
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_deleted_product_is_gone_and_a_missing_one_is_404() {
    let world = World::new();
    save(&world, &put("p-1", &json!({"name": "x"}))).await;
    let deleted = save(&world, &delete("p-1")).await;
    assert_eq!((deleted.status, deleted.body.as_str()), (204, ""));
    assert_eq!(find(&world, &get("/products/{id}", "acme").with("id", "p-1")).await.status, 404);
    let again = save(&world, &delete("p-1")).await;
    assert_eq!((again.status, again.code().as_str()), (404, "not_found"));
    for expected in ["*", "\"a\""] {
        let answer = save(&world, &delete("p-1").header("If-Match", expected)).await;
        assert_eq!((answer.status, answer.code().as_str()), (412, "precondition_failed"), "{expected}");
    }
}

#[tokio::test]
async fn a_product_that_is_not_its_path_s_or_its_tenant_s_is_refused() {
    let world = World::new();
    for (body, named) in [
        (json!({"id": "p-2"}), "id and tenant"),
        (json!({"tenant": "beta"}), "id and tenant"),
        (json!({"PK": "TENANT#acme"}), "PK"),
        (json!({"SK": "PRODUCT#p-1"}), "SK"),
    ] {
        let answer = save(&world, &put("p-1", &body)).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_attribute"));
        assert!(answer.message().starts_with(named), "{}", answer.message());
    }
    for (event, code) in [
        (put("x".repeat(129).as_str(), &json!({})), "invalid_parameter"),
        (put("a\u{0}b", &json!({})), "invalid_parameter"),
        (put("p-1", &json!([])), "invalid_body"),
    ] {
        let answer = save(&world, &event).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, code));
    }
    let large = save(&world, &put("p-1", &json!({"big": "x".repeat(300_000)}))).await;
    assert_eq!((large.status, large.code().as_str()), (413, "item_too_large"));
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_save_whose_answer_was_lost_finds_itself() {
    let world = World::new();
    world.script([Fault::LoseReply]);
    let saved = save(&world, &put("p-1", &json!({})).header("If-None-Match", "*")).await;
    assert_eq!(saved.status, 200, "{}", saved.body);
}

#[tokio::test]
async fn a_path_with_two_methods_allows_both() {
    let world = World::new();
    let answer = save(&world, &get("/products/{id}", "acme").with("id", "p-1")).await;
    assert_eq!((answer.status, answer.headers.get("allow").map(String::as_str)), (405, Some("PUT, DELETE")));
    let answer = find(&world, &put("p-1", &json!({}))).await;
    assert_eq!((answer.status, answer.headers.get("allow").map(String::as_str)), (405, Some("GET")));
}
