//! What is particular to the list of orders.

use serde_json::{Value, json};

use crate::event::{Event, get};
use crate::world::{Answer, World, send};

/// An order whose creation instant grows with its number.
fn order(tenant: &str, number: u32, status: &str, order_status: &str, customer: &str) -> Value {
    json!({
        "tenant": {"S": tenant},
        "id": {"S": format!("o-{number:04}")},
        "number": {"N": number.to_string()},
        "status": {"S": status},
        "orderStatus": {"S": order_status},
        "createdAt": {"S": format!("2026-02-{:02}T{:02}:00:00.000Z", 1 + number / 24 % 28, number % 24)},
        "customer": {"M": {"id": {"S": customer}, "name": {"S": "Conceição"}}},
        "customerId": {"S": customer},
    })
}

fn orders() -> World {
    let world = World::new();
    for number in 0..60 {
        let status = ["OPEN", "PAID", "OVERDUE"][number as usize % 3];
        let order_status = ["NEW", "SHIPPED"][number as usize % 2];
        let customer = format!("c-{}", number % 5);
        world.put("SalesOrder", order("acme", number, status, order_status, &customer));
        world.put("SalesOrder", order("beta", number, status, order_status, &customer));
    }
    world
}

async fn ask(world: &World, event: Event) -> Answer {
    let answer = send(&world.deployed(&orders::LIST), &event).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer
}

fn ids(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers.into_iter().map(|number| format!("o-{number:04}")).collect()
}

#[tokio::test]
async fn all_orders_are_read_newest_first_on_their_index() {
    let world = orders();
    let answer = ask(&world, get("/orders", "acme").with("limit", 10).with("page", 2)).await;
    assert_eq!(answer.ids(), ids((40..50).rev()));
    assert_eq!(answer.total(), 60);
    assert_eq!((answer.json()["page"].as_u64(), answer.json()["limit"].as_u64()), (Some(2), Some(10)));
    let calls = world.calls();
    assert_eq!(calls.len(), 3, "count up to the page, read the page, count the rest");
    for call in &calls {
        assert_eq!(call.index(), Some("tenant-createdAt-index"));
        assert_eq!(call.key_condition(), "tenant = acme");
        assert_eq!(call.body["ScanIndexForward"], json!(false));
    }
    let rows: Vec<usize> =
        calls.iter().map(|call| call.reply["Items"].as_array().map_or(0, Vec::len)).collect();
    assert_eq!(rows, [0, 10, 0], "rows outside the page do not travel");
}

#[tokio::test]
async fn a_period_is_one_between_of_local_days() {
    let world = orders();
    let answer =
        ask(&world, get("/orders", "acme").with("from", "2026-02-02").with("to", "2026-02-02")).await;
    // 2026-02-02 in São Paulo is 03:00Z to 03:00Z.
    assert_eq!(answer.total(), 24);
    assert_eq!(answer.ids().first().map(String::as_str), Some("o-0050"));
    let calls = world.calls();
    assert_eq!(
        calls[0].key_condition(),
        "tenant = acme AND createdAt BETWEEN 2026-02-02T03:00:00 AND 2026-02-03T02:59:59~"
    );
}

#[tokio::test]
async fn the_time_zone_is_a_setting() {
    let world = orders();
    let app = world.declared_with(&orders::LIST, &[("TIME_ZONE", "America/Manaus")]);
    let event = get("/orders", "acme").with("from", "2026-02-02").with("to", "2026-02-02");
    assert_eq!(send(&app, &event).await.status, 200);
    assert!(
        world.calls()[0].key_condition().contains("BETWEEN 2026-02-02T04:00:00 AND 2026-02-03T03:59:59~")
    );
}

#[tokio::test]
async fn one_end_of_a_period_is_enough() {
    let world = orders();
    assert_eq!(ask(&world, get("/orders", "acme").with("from", "2026-02-03")).await.total(), 60 - 51);
    assert!(world.calls()[0].key_condition().ends_with("createdAt >= 2026-02-03T03:00:00"));
    assert_eq!(ask(&world, get("/orders", "acme").with("to", "2026-02-01")).await.total(), 27);
    assert!(world.calls()[0].key_condition().ends_with("createdAt <= 2026-02-02T02:59:59~"));
}

#[tokio::test]
async fn orders_in_a_status_are_newest_first_although_their_index_has_another_order() {
    let world = orders();
    for (parameter, value, index, expected) in [
        ("status", "PAID", "tenant-status-index", ids((0..60).filter(|n| n % 3 == 1).rev())),
        ("orderStatus", "NEW", "tenant-orderStatus-index", ids((0..60).filter(|n| n % 2 == 0).rev())),
    ] {
        let event = get("/orders", "acme").with(parameter, value).with("limit", 7).with("page", 2);
        let answer = ask(&world, event).await;
        assert_eq!(answer.ids(), expected[7..14], "{parameter}");
        assert_eq!(answer.total(), expected.len() as u64);
        let calls = world.calls();
        assert_eq!(calls[0].index(), Some(index));
        assert_eq!(calls[0].key_condition(), format!("tenant = acme AND {parameter} = {value}"));
        let read = calls[0].reply["Items"][0].as_object().unwrap();
        let mut names: Vec<&str> = read.keys().map(String::as_str).collect();
        names.sort_unstable();
        assert_eq!(names, ["createdAt", "id", "tenant"], "only what the order needs is read");
        assert_eq!(calls[1].operation, "BatchGetItem");
        let keys = calls[1].body["RequestItems"]["SalesOrder"]["Keys"].as_array().unwrap();
        assert_eq!(keys.len(), 7, "only the page's rows are fetched");
        assert_eq!(calls.len(), 2);
    }
}

#[tokio::test]
async fn orders_of_a_customer_are_read_on_their_index() {
    let world = orders();
    let answer = ask(&world, get("/orders", "acme").with("customerId", "c-3").with("limit", 5)).await;
    assert_eq!(answer.ids(), ids([58, 53, 48, 43, 38]));
    assert_eq!(answer.total(), 12);
    let calls = world.calls();
    assert_eq!((calls[0].operation.as_str(), calls[0].index()), ("Query", Some("tenant-customerId-index")));
    assert_eq!(calls[0].key_condition(), "tenant = acme AND customerId = c-3");
    assert_eq!(calls[0].body.get("FilterExpression"), None);
}

#[tokio::test]
async fn before_their_index_is_read_orders_of_a_customer_are_found_by_what_is_inside_them() {
    let world = orders();
    let app = world.deployed_at(&orders::LIST, &[("OrdersByCustomerStage", "backfill")]);
    let answer = send(&app, &get("/orders", "acme").with("customerId", "c-3").with("limit", 5)).await;
    assert_eq!(answer.ids(), ids([58, 53, 48, 43, 38]));
    assert_eq!(answer.total(), 12);
    let calls = world.calls();
    assert_eq!((calls[0].operation.as_str(), calls[0].index()), ("Query", None));
    assert_eq!(calls[0].key_condition(), "tenant = acme");
    assert_eq!(calls[0].body["FilterExpression"], json!("#1.#2 = :1"));
    assert_eq!((calls[0].name("#1"), calls[0].name("#2")), ("customer", "id"));
}

#[tokio::test]
async fn rows_without_a_creation_instant_come_last_and_are_counted() {
    let world = orders();
    let mut bare = order("acme", 99, "PAID", "NEW", "c-9");
    bare.as_object_mut().unwrap().remove("createdAt");
    world.put("SalesOrder", bare);
    let answer = ask(&world, get("/orders", "acme").with("status", "PAID").with("limit", 100)).await;
    assert_eq!(answer.ids().last().map(String::as_str), Some("o-0099"));
    assert_eq!(answer.total(), 21);
}

#[tokio::test]
async fn a_row_that_left_the_range_between_the_two_reads_is_neither_shown_nor_counted() {
    let world = orders();
    let app = world.deployed(&orders::LIST);
    // The index still answers what was there before: one order has been paid since, one is gone.
    let places = send(&app, &get("/orders", "acme").with("status", "PAID").with("limit", 100)).await.ids();
    let stale = world.calls()[0].reply.clone();
    world.put("SalesOrder", order("acme", 1, "CANCELLED", "NEW", "c-1"));
    world.delete("SalesOrder", json!({"tenant": {"S": "acme"}, "id": {"S": "o-0004"}}));
    world.script([crate::world::Fault::Reply(200, stale)]);
    let answer = send(&app, &get("/orders", "acme").with("status", "PAID").with("limit", 100)).await;
    assert_eq!(answer.total(), places.len() as u64 - 2);
    assert!(!answer.ids().contains(&"o-0001".to_owned()) && !answer.ids().contains(&"o-0004".to_owned()));
}

#[tokio::test]
async fn a_row_that_leaves_between_the_two_reads_gives_its_place_to_the_next() {
    let world = orders();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").with("status", "PAID").with("limit", 4);
    let before = send(&app, &event.clone().with("page", 1)).await;
    let all = send(&app, &get("/orders", "acme").with("status", "PAID").with("limit", 100)).await.ids();
    assert_eq!(before.ids(), all[..4]);
    let gone = all[1].clone();
    world.calls();
    // Between the query and the batch, an order of the page is deleted.
    world.script([
        crate::world::Fault::Pass,
        crate::world::meanwhile(move |world| {
            world.delete("SalesOrder", json!({"tenant": {"S": "acme"}, "id": {"S": gone}}));
        }),
    ]);
    let first = send(&app, &event).await;
    assert_eq!(first.total(), all.len() as u64 - 1);
    assert_eq!(first.ids(), [&all[..1], &all[2..5]].concat());
    let second = send(&app, &event.with("page", 2)).await;
    assert_eq!(second.ids(), all[5..9], "nobody is lost");
}

#[tokio::test]
async fn a_small_page_is_filled_though_more_rows_leave_than_it_has() {
    let world = orders();
    let app = world.deployed(&orders::LIST);
    let all = send(&app, &get("/orders", "acme").with("status", "PAID").with("limit", 100)).await.ids();
    let gone = all[..5].to_vec();
    world.script([
        crate::world::Fault::Pass,
        crate::world::meanwhile(move |world| {
            for id in &gone {
                world.delete("SalesOrder", json!({"tenant": {"S": "acme"}, "id": {"S": id}}));
            }
        }),
    ]);
    let answer = send(&app, &get("/orders", "acme").with("status", "PAID").with("limit", 1)).await;
    assert_eq!((answer.ids(), answer.total()), (all[5..6].to_vec(), all.len() as u64 - 5));
}

#[tokio::test(start_paused = true)]
async fn a_batch_that_says_nothing_of_the_table_deletes_nobody() {
    let world = orders();
    let batch = |operation: &str, _: &serde_json::Value| operation == "BatchGetItem";
    world.script_for(batch, usize::MAX, crate::world::Fault::Reply(200, json!({})));
    let answer = send(&world.deployed(&orders::LIST), &get("/orders", "acme").with("status", "PAID")).await;
    assert_eq!((answer.status, answer.code().as_str()), (500, "internal_error"), "{}", answer.body);
}

#[tokio::test]
async fn a_page_past_the_end_is_empty_and_has_the_total() {
    let world = orders();
    for event in [get("/orders", "acme"), get("/orders", "acme").with("status", "PAID")] {
        let answer = ask(&world, event.with("page", 9_007_199_254_740_991_u64)).await;
        assert_eq!(answer.ids().len(), 0);
        assert!(answer.total() == 60 || answer.total() == 20);
    }
}

#[tokio::test]
async fn equal_instants_have_one_order_and_lose_nobody() {
    let world = World::new();
    for number in 0..50 {
        let mut row = order("acme", number, "PAID", "NEW", "c-1");
        row["createdAt"] = json!({"S": "2026-02-01T12:00:00.000Z"});
        world.put("SalesOrder", row);
    }
    for question in [None, Some(("status", "PAID")), Some(("customerId", "c-1"))] {
        let mut seen = Vec::new();
        for page in 1..=8 {
            let mut event = get("/orders", "acme").with("limit", 7).with("page", page);
            if let Some((name, value)) = question {
                event = event.with(name, value);
            }
            seen.extend(ask(&world, event).await.ids());
        }
        if question.is_some() {
            let newest_first: Vec<String> = ids((0..50).rev());
            assert_eq!(seen, newest_first, "ties go by id, in the direction of the order");
        }
        seen.sort_unstable();
        assert_eq!(seen, ids(0..50), "{question:?}");
    }
}

/// 5,120 orders of exactly 1 KB: a range of 5 MB, which the service hands out in five parts or more.
fn five_megabytes() -> World {
    let world = World::new();
    world.put_all(
        "SalesOrder",
        (0..5120_u32).map(|number| {
            let created = format!(
                "2026-{:02}-{:02}T{:02}:00:00.000Z",
                1 + number / 672,
                1 + number / 24 % 28,
                number % 24
            );
            // Names and values: 1,024 bytes in all, as DynamoDB counts an item.
            let id = format!("o-{number:06}");
            let names = ["tenant", "id", "createdAt", "status", "filler"]
                .iter()
                .map(|name| name.len())
                .sum::<usize>();
            let filler = 1024 - names - "acme".len() - id.len() - created.len() - "PAID".len();
            json!({
                "tenant": {"S": "acme"},
                "id": {"S": id},
                "createdAt": {"S": created},
                "status": {"S": "PAID"},
                "filler": {"S": "x".repeat(filler)},
            })
        }),
    );
    world
}

/// Half a read unit for each 4 KB, as an eventually consistent query is billed.
const RANGE_UNITS: f64 = 5120.0 * 1024.0 / 4096.0 / 2.0;

#[tokio::test]
async fn a_page_of_five_megabytes_costs_one_reading_of_the_range() {
    let world = five_megabytes();
    let answer = ask(&world, get("/orders", "acme").with("page", 3).with("limit", 20)).await;
    assert_eq!((answer.ids().len(), answer.total()), (20, 5120));
    assert!((answer.read_units() - RANGE_UNITS).abs() < f64::EPSILON, "{}", answer.read_units());
    let most = world.calls().iter().map(|call| call.reply.to_string().len()).max().unwrap();
    assert!(most < 40_000, "only the page travels: {most} bytes at once");
}

#[tokio::test]
async fn a_page_in_another_order_costs_one_reading_and_the_page_s_rows() {
    let world = five_megabytes();
    let answer =
        ask(&world, get("/orders", "acme").with("status", "PAID").with("page", 3).with("limit", 20)).await;
    assert_eq!((answer.ids().len(), answer.total()), (20, 5120));
    // Each row fetched by key is billed by itself: a unit for up to 4 KB, read consistently.
    let page_units = 20.0;
    assert!((answer.read_units() - RANGE_UNITS - page_units).abs() < f64::EPSILON, "{}", answer.read_units());
}

#[tokio::test]
async fn a_range_of_two_and_a_half_megabytes_is_counted_to_its_end() {
    let world = World::new();
    world.put_all(
        "SalesOrder",
        (0..250_u32).map(|number| {
            let mut row = order("acme", number, "PAID", "NEW", "c-1");
            row["filler"] = json!({"S": "x".repeat(10_000)});
            row
        }),
    );
    let answer = ask(&world, get("/orders", "acme").with("limit", 5)).await;
    assert_eq!(answer.total(), 250);
    let counts: Vec<_> = world.calls().into_iter().filter(|call| call.body["Select"] == "COUNT").collect();
    assert!(counts.len() >= 3, "one count stops at 1 MB");
    assert!(
        counts.iter().all(|call| call.body.get("Limit").is_none()),
        "the page's limit is not the count's"
    );
}

#[tokio::test]
async fn a_page_past_lambda_s_limit_is_compressed_or_refused() {
    let world = World::new();
    world.put_all(
        "SalesOrder",
        (0..20_u32).map(|number| {
            let mut row = order("acme", number, "PAID", "NEW", "c-1");
            row["filler"] = json!({"S": "\"".repeat(200_000)});
            row
        }),
    );
    let app = world.deployed(&orders::LIST);
    for question in [get("/orders", "acme"), get("/orders", "acme").with("status", "PAID")] {
        let answer = send(&app, &question).await;
        assert_eq!((answer.status, answer.code().as_str()), (413, "answer_too_large"));
        assert!(answer.message().contains("limit"), "{}", answer.message());
        let answer = send(&app, &question.header("Accept-Encoding", "gzip, br")).await;
        assert_eq!((answer.status, answer.is_base64), (200, true));
        assert!(answer.bytes <= kit::http::MAX_ANSWER_BYTES);
    }
}
