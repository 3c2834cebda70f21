//! What an emulator never shows: throttles, time-outs, torn connections, nonsense.

use std::time::Duration;

use serde_json::json;

use crate::event::{get, post};
use crate::world::{Fault, World, send, send_within};

fn throttle() -> Fault {
    Fault::Reply(
        400,
        json!({"__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Rate exceeded"}),
    )
}

#[tokio::test(start_paused = true)]
async fn a_throttle_that_passes_is_not_seen() {
    let world = World::new();
    world.script([throttle(), throttle()]);
    let answer = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(world.calls().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_throttle_that_stays_is_503_with_a_time_to_come_back() {
    let world = World::new();
    for code in ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"] {
        let reply = Fault::Reply(
            400,
            json!({"__type": format!("com.amazonaws.dynamodb.v20120810#{code}"), "message": "m"}),
        );
        world.script([reply.clone(), reply.clone(), reply]);
        let answer = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "throttled"), "{code}");
        assert_eq!(answer.headers.get("retry-after").map(String::as_str), Some("1"));
        let counted = ["Throttled", "Faults", "ServerErrors"].map(|name| answer.log[name].as_u64());
        assert_eq!(counted, [Some(1), Some(0), Some(1)], "a throttle is one alarm's and no other's");
        assert!(answer.log["cause"].as_str().unwrap().contains(code), "{}", answer.log);
        assert_eq!(world.calls().len(), 3, "the SDK tried three times");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_hangs_is_504_of_ours_within_the_deadline() {
    let world = World::new();
    for app in [world.deployed(&orders::LIST), world.deployed(&cart::LIST)] {
        world.script((0..10).map(|_| Fault::Hang));
        let started = tokio::time::Instant::now();
        let path = if app_is_cart(&app) { "/carts" } else { "/orders" };
        let mut event = get(path, "acme");
        if path == "/carts" {
            event = event.with("customerId", "c-1");
        }
        let answer = send_within(&app, &event.http().to_string(), Duration::from_secs(8)).await;
        assert_eq!((answer.status, answer.code().as_str()), (504, "timed_out"));
        assert!(started.elapsed() < Duration::from_secs(8), "{:?}", started.elapsed());
        // The same process answers the next request.
        world.dynamo.clear_script();
        let answer = send_within(&app, &event.http().to_string(), Duration::from_secs(8)).await;
        assert_eq!(answer.status, 200);
    }
}

fn app_is_cart(app: &kit::app::App) -> bool {
    app.function().name() == "cart"
}

#[tokio::test(start_paused = true)]
async fn one_try_that_hangs_leaves_time_for_another() {
    let world = World::new();
    world.script([Fault::Hang]);
    let app = world.deployed(&orders::LIST);
    let answer = send_within(&app, &get("/orders", "acme").http().to_string(), Duration::from_secs(20)).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
}

#[tokio::test(start_paused = true)]
async fn the_gateway_s_own_time_out_is_never_reached() {
    let world = World::new();
    world.script((0..10).map(|_| Fault::Hang));
    let started = tokio::time::Instant::now();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").http().to_string();
    let answer = send_within(&app, &event, Duration::from_secs(900)).await;
    assert_eq!(answer.status, 504);
    assert!(started.elapsed() < Duration::from_secs(29), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_range_that_cannot_be_counted_in_time_is_an_error_and_no_wrong_total() {
    let world = World::new();
    let next = json!({"tenant": {"S": "acme"}, "id": {"S": "x"}, "createdAt": {"S": "x"}});
    let items = vec![json!({"id": {"S": "o"}}); 20];
    let rows = json!({"Items": items, "Count": 20, "ScannedCount": 20, "LastEvaluatedKey": next});
    let counted = json!({"Count": 1000, "ScannedCount": 1000, "LastEvaluatedKey": next});
    world.script([
        Fault::Reply(200, rows),
        Fault::Reply(200, counted),
        Fault::Hang,
        Fault::Hang,
        Fault::Hang,
    ]);
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").http().to_string();
    let answer = send_within(&app, &event, Duration::from_secs(4)).await;
    assert_eq!((answer.status, answer.code().as_str()), (504, "timed_out"));
    assert!(answer.json().get("total").is_none());
}

#[tokio::test(start_paused = true)]
async fn a_torn_connection_is_tried_again_and_then_500_without_a_word_of_the_inside() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    world.script([Fault::Reset]);
    assert_eq!(send(&app, &get("/orders", "acme")).await.status, 200);
    world.script([Fault::Reset, Fault::Reset, Fault::Reset]);
    let answer = send(&app, &get("/orders", "acme")).await;
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"));
    assert_eq!(answer.message(), "something went wrong on our side; it has been recorded");
    assert!(answer.log["cause"].as_str().unwrap().contains("connection reset"), "{}", answer.log);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_breaks_off_is_asked_for_again_and_never_half_of_a_page() {
    let world = World::new();
    world.put_all(
        "SalesOrder",
        (0..5).map(|at| {
            let created = format!("2026-02-0{}T00:00:00.000Z", at + 1);
            json!({"tenant": {"S": "acme"}, "id": {"S": format!("o-{at}")}, "createdAt": {"S": created}})
        }),
    );
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").with("limit", "3");
    let right = send(&app, &event).await;
    assert_eq!((right.status, right.ids().len()), (200, 3));
    for torn in 1..=2 {
        world.script((0..torn).map(|_| Fault::TornReply));
        assert_eq!(send(&app, &event).await.body, right.body, "{torn}");
    }
    world.script((0..3).map(|_| Fault::TornReply));
    let answer = send(&app, &event).await;
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"));
    assert!(answer.log["cause"].as_str().unwrap().contains("connection reset"), "{}", answer.log);
}

#[tokio::test]
async fn an_answer_that_has_fewer_rows_than_it_counts_is_no_page() {
    let world = World::new();
    for reply in [
        json!({"Count": 2, "ScannedCount": 2, "Items": []}),
        json!({"Count": 2, "ScannedCount": 2, "Items": null}),
        json!({"Count": 2, "ScannedCount": 2}),
    ] {
        world.script([Fault::Reply(200, reply)]);
        let answer = send(&world.deployed(&orders::LIST), &get("/orders", "acme")).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"));
        assert!(
            answer.log["cause"].as_str().unwrap().contains("it counts 2 rows and has 0"),
            "{}",
            answer.log
        );
    }
}

#[tokio::test(start_paused = true)]
async fn what_the_service_refuses_or_garbles_is_500() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let refused =
        json!({"__type": "com.amazon.coral.validate#ValidationException", "message": "secret detail"});
    for fault in [
        Fault::Reply(400, refused),
        Fault::Reply(400, json!({"__type": "AccessDeniedException", "Message": "secret detail"})),
        Fault::Reply(200, json!("secret detail")),
        Fault::Reply(200, json!({"Items": "secret detail"})),
        Fault::Reply(400, json!({})),
    ] {
        world.script([fault]);
        let answer = send(&app, &get("/orders", "acme")).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"));
        assert!(!answer.body.contains("secret"), "{}", answer.body);
        assert!(
            answer.log["cause"].as_str().is_some_and(|cause| cause.starts_with("Query failed: ")),
            "{}",
            answer.log
        );
        world.dynamo.clear_script();
    }
}

#[tokio::test]
async fn what_the_service_says_is_in_the_log_without_what_it_quotes() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for (code, message, logged) in [
        (
            "AccessDeniedException",
            "User: arn:aws:sts::1:assumed-role/orders is not authorized to perform: dynamodb:Query",
            "AccessDeniedException: User: arn:aws:sts::1:assumed-role/orders is not authorized to perform: dynamodb:Query (request ",
        ),
        (
            "ValidationException",
            "The table does not have the specified index: x-index",
            "ValidationException: The table does not have the specified index: x-index (request ",
        ),
        (
            "ResourceNotFoundException",
            "value {S:a}Maria Silva} end",
            "ResourceNotFoundException: value {...} end",
        ),
    ] {
        world.script([Fault::Reply(400, json!({"__type": code, "message": message}))]);
        let answer = send(&app, &get("/orders", "acme")).await;
        let cause = answer.log["cause"].as_str().unwrap();
        assert_eq!(answer.code(), "internal_error");
        assert!(cause.contains(logged) && !cause.contains("Maria"), "{cause}");
        assert!(!answer.body.contains(code), "{}", answer.body);
    }
}

#[tokio::test]
async fn nothing_of_a_garbled_answer_is_told() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for items in [
        json!("secret detail"),
        json!(["secret detail"]),
        json!([{"id": "secret detail"}]),
        json!([{"id": {"secret detail": 1, "S": "secret detail"}}]),
        json!([{"id": {"S": ["secret detail"]}}]),
        json!([{"id": {"BOOL": "secret detail"}}]),
    ] {
        world.script([Fault::Reply(200, json!({"Count": 1, "ScannedCount": 1, "Items": items}))]);
        let answer = send(&app, &get("/orders", "acme")).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"), "{items}");
        for told in [answer.body.clone(), answer.log.to_string()] {
            assert!(!told.contains("secret"), "{items}: {told}");
        }
        world.dynamo.clear_script();
    }
}

#[tokio::test(start_paused = true)]
async fn a_writer_says_the_same_of_its_faults() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    let body = json!({"customer": {"id": "c"}, "items": [{"productId": "p", "quantity": 1, "unitPrice": 1}]});
    world.script([throttle(), throttle(), throttle()]);
    assert_eq!(send(&app, &post("/orders", "acme", &body)).await.status, 503);
    world.script((0..10).map(|_| Fault::Hang));
    assert_eq!(send(&app, &post("/orders", "acme", &body)).await.status, 504);
}
