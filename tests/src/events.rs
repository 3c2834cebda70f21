//! The events in events/, events that are none of ours, and the two kinds of API.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use kit::function::Function;
use serde_json::{Value, json};

use crate::event::get;
use crate::registry;
use crate::world::{World, root, send_raw, work};

/// Every event file, by function.
pub fn files() -> BTreeMap<String, Vec<(PathBuf, Value)>> {
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(root().join("events")).unwrap() {
        let folder = folder.unwrap();
        let events = std::fs::read_dir(folder.path()).unwrap().map(|file| {
            let path = file.unwrap().path();
            let text = std::fs::read_to_string(&path).unwrap();
            let event =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            (path, event)
        });
        files.insert(folder.file_name().into_string().unwrap(), events.collect());
    }
    files
}

/// Every function with a route, and those events. They come from an API; a job's do not.
fn requests() -> Vec<(Function, Vec<(PathBuf, Value)>)> {
    let with_route = registry::all().into_iter().filter(|function| !is_job(*function));
    with_route.map(with_events).collect()
}

/// Every job and its events.
fn jobs() -> Vec<(Function, Vec<(PathBuf, Value)>)> {
    registry::all().into_iter().filter(|function| is_job(*function)).map(with_events).collect()
}

/// Whether it has no route.
pub fn is_job(function: Function) -> bool {
    matches!(function, Function::Job(_))
}

fn with_events(function: Function) -> (Function, Vec<(PathBuf, Value)>) {
    let events = files().remove(function.name());
    (function, events.unwrap_or_else(|| panic!("events/{} is missing", function.name())))
}

/// The parameters of a raw query string, decoded as the standard says.
fn decoded(raw: &str) -> BTreeMap<String, String> {
    let decode = |text: &str| {
        let plain = text.replace('+', " ");
        let mut bytes = Vec::new();
        let mut rest = plain.as_bytes();
        while let Some((byte, after)) = rest.split_first() {
            rest = after;
            match byte {
                b'%' => {
                    let hex = std::str::from_utf8(&after[..2]).unwrap();
                    bytes.push(u8::from_str_radix(hex, 16).unwrap());
                    rest = &after[2..];
                }
                _ => bytes.push(*byte),
            }
        }
        String::from_utf8(bytes).unwrap()
    };
    raw.split('&')
        .filter(|pair| !pair.is_empty())
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap();
            (decode(name), decode(value))
        })
        .collect()
}

/// A route's path, each placeholder replaced by its value.
fn filled(route: &str, values: &BTreeMap<String, String>) -> String {
    values.iter().fold(route.to_owned(), |path, (name, value)| path.replace(&format!("{{{name}}}"), value))
}

#[test]
fn every_event_agrees_with_itself() {
    for (function, events) in requests() {
        for (path, event) in events {
            let at = path.display();
            let http = event["requestContext"]["http"].is_object();
            // A REST API gives no version; an HTTP API set to payload 1.0 does.
            assert_eq!(event.get("version"), http.then_some(&json!("2.0")), "{at}");
            let name = path.file_name().unwrap().to_str().unwrap();
            assert_eq!(name.starts_with("http-"), http, "{at}: the name says which kind of API it is from");
            let map = |value: &Value| -> BTreeMap<String, String> {
                let pairs = value.as_object().into_iter().flatten();
                pairs
                    .map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()))
                    .collect()
            };
            let single = map(&event["queryStringParameters"]);
            let (method, path) = if http {
                assert_eq!(decoded(event["rawQueryString"].as_str().unwrap()), single, "{at}");
                assert_eq!(event["routeKey"], event["requestContext"]["routeKey"], "{at}");
                let context = &event["requestContext"]["http"];
                assert_eq!(context["path"], event["rawPath"], "{at}");
                let (method, route) = event["routeKey"].as_str().unwrap().split_once(' ').unwrap();
                assert_eq!(context["method"], method, "{at}");
                assert_eq!(filled(route, &map(&event["pathParameters"])), event["rawPath"], "{at}");
                (method.to_owned(), route.to_owned())
            } else {
                let several = event["multiValueQueryStringParameters"].as_object();
                let last: BTreeMap<String, String> = several
                    .into_iter()
                    .flatten()
                    .map(|(name, values)| (name.clone(), values[0].as_str().unwrap().to_owned()))
                    .collect();
                assert_eq!(last, single, "{at}");
                assert_eq!(event["requestContext"]["httpMethod"], event["httpMethod"], "{at}");
                let route = event["resource"].as_str().unwrap();
                assert_eq!(filled(route, &map(&event["pathParameters"])), event["path"], "{at}");
                (event["httpMethod"].as_str().unwrap().to_owned(), route.to_owned())
            };
            let routes = function.routes();
            assert!(
                routes.iter().any(|(of, at)| method == of.as_str() && path == *at),
                "{at}: no such route"
            );
        }
    }
}

#[tokio::test]
async fn every_event_is_answered_with_sample_data() {
    let world = World::new();
    local::sample::load(&world.database, "").unwrap();
    for (function, events) in requests() {
        let app = world.deployed(function);
        for (path, event) in events {
            let answer = send_raw(&app, &event.to_string()).await;
            assert!(matches!(answer.status, 200 | 201 | 204), "{}: {}", path.display(), answer.body);
            if answer.body.starts_with(r#"{"items""#) {
                let body = answer.json();
                assert_ne!(body["items"].as_array().map(Vec::len), Some(0), "{}: no items", path.display());
            }
        }
    }
}

#[tokio::test]
async fn every_event_of_a_job_is_answered_with_sample_data() {
    let world = World::new();
    local::sample::load(&world.database, "").unwrap();
    for (job, events) in jobs() {
        let app = world.deployed(job);
        assert!(!events.is_empty(), "events/{} is empty", job.name());
        for (path, event) in events {
            let answer = work(&app, &event, Duration::from_secs(60)).await;
            let answer = answer.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            assert_eq!(answer["index"], event["index"], "{}", path.display());
            assert_eq!(answer["done"], true, "{}: {answer}", path.display());
            // Sample data is that of a new system, which has all its keys.
            let left = if answer["written"].is_null() { &answer["toLoad"] } else { &answer["written"] };
            assert_eq!(*left, 0, "{}: {answer}", path.display());
            assert_eq!(answer["unindexable"]["count"], 0, "{}: {answer}", path.display());
        }
    }
}

/// The first page, the next one and the last one of each list by cursor stand in files.
#[tokio::test]
async fn the_pages_that_follow_have_events_too() {
    let world = World::new();
    local::sample::load(&world.database, "").unwrap();
    let mut wrong = Vec::new();
    for (list, first) in [
        (&cash::LIST, "http-by-month"),
        (&ledger::LIST, "http-by-property"),
        (&statement::LIST, "http-by-month"),
    ] {
        let app = world.deployed(list);
        let file = |name: &str| -> Value {
            let path = root().join("events").join(list.name()).join(format!("{name}.json"));
            let text =
                std::fs::read_to_string(&path).unwrap_or_else(|_| panic!("{} is missing", path.display()));
            serde_json::from_str(&text).unwrap()
        };
        let mut pages = vec![send_raw(&app, &file(first).to_string()).await];
        let mut cursors = Vec::new();
        while let Some(cursor) = pages.last().and_then(crate::world::Answer::cursor) {
            let mut event = file(first);
            let query = event["rawQueryString"].as_str().unwrap();
            event["rawQueryString"] = json!(format!("{query}&cursor={cursor}"));
            cursors.push(cursor);
            pages.push(send_raw(&app, &event.to_string()).await);
        }
        for (name, page) in [("http-page-2", 1), ("http-page-last", pages.len() - 1)] {
            let answer = send_raw(&app, &file(name).to_string()).await;
            let right = answer.status == 200
                && answer.ids() == pages[page].ids()
                && answer.cursor().is_none() == name.ends_with("last");
            if !right {
                wrong.push(format!("{}/{name} needs the cursor {}", list.name(), cursors[page - 1]));
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn sam_local_seals_with_the_key_of_these_events() {
    let text = std::fs::read_to_string(root().join("tools/sam-local-env.json")).unwrap();
    let environment: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(environment["Parameters"]["CURSOR_KEY"], crate::world::CURSOR_KEY);
}

#[tokio::test]
async fn both_kinds_of_api_get_the_same_answer() {
    let world = World::new();
    local::sample::load(&world.database, "").unwrap();
    let app = world.deployed(&orders::LIST);
    for event in [
        get("/orders", "acme").with("limit", 3).with("page", 2),
        get("/orders", "acme").with("status", "PAID"),
        get("/orders", "acme").with("limit", 0),
        get("/orders", "acme").claims(None),
    ] {
        let http = send_raw(&app, &event.http().to_string()).await;
        let rest = send_raw(&app, &event.rest().to_string()).await;
        assert_eq!((http.status, http.body, http.headers), (rest.status, rest.body, rest.headers));
    }
}

#[tokio::test]
async fn what_is_no_request_is_answered_all_the_same() {
    let world = World::new();
    let sqs = json!({"Records": [{"messageId": "1", "body": "x", "eventSource": "aws:sqs"}]});
    for (function, _) in requests() {
        let app = world.deployed(function);
        for event in [
            "{}".to_owned(),
            "[]".to_owned(),
            "null".to_owned(),
            "1".to_owned(),
            "\"x\"".to_owned(),
            "not json".to_owned(),
            String::new(),
            sqs.to_string(),
            json!({"version": "2.0", "requestContext": {"http": null}}).to_string(),
            json!({"requestContext": {"http": {"method": 1}}, "rawPath": "/x"}).to_string(),
            json!({"requestContext": [], "httpMethod": {}, "path": []}).to_string(),
        ] {
            let answer = send_raw(&app, &event).await;
            assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_event"), "{event}");
            assert_eq!(answer.json()["requestId"], "invocation");
        }
        // A REST event with every map null.
        let (method, path) = function.routes()[0];
        let event = json!({
            "resource": path, "path": path, "httpMethod": method.as_str(), "headers": null,
            "multiValueHeaders": null, "queryStringParameters": null, "multiValueQueryStringParameters": null,
            "pathParameters": null, "stageVariables": null, "requestContext": null, "body": null,
            "isBase64Encoded": false,
        });
        assert_eq!(send_raw(&app, &event.to_string()).await.status, 401);
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn what_no_job_is_asked_is_refused_before_any_call() {
    let world = World::new();
    for (job, events) in jobs() {
        let app = world.deployed(job);
        let mut misspelt = events[0].1.clone();
        misspelt["sgements"] = json!(4);
        let request = get("/orders", "acme").http();
        for event in [json!({}), json!([]), json!(null), json!("x"), json!({"index": 1}), misspelt, request] {
            let refused = work(&app, &event, Duration::from_secs(10)).await.unwrap_err();
            assert!(refused.starts_with("invalid_event: "), "{event}: {refused}");
        }
        let unknown = json!({"index": "orders"});
        let refused = work(&app, &unknown, Duration::from_secs(10)).await.unwrap_err();
        assert!(refused.contains("index must be one of orders-by-customer, "), "{refused}");
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_query_string_that_is_none_is_400_and_the_next_request_is_answered() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for raw in
        ["status=a b", "status=<", "status=%", "status=%4", "status=%zz", "status=%ff", "status=\u{e9}"]
    {
        let mut event = get("/orders", "acme").http();
        event["rawQueryString"] = json!(raw);
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query_string"), "{raw}");
    }
    assert!(world.calls().is_empty());
    assert_eq!(send_raw(&app, &get("/orders", "acme").http().to_string()).await.status, 200);
}

#[tokio::test]
async fn the_query_is_read_from_the_raw_string_alone() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let mut event = get("/orders", "acme").http();
    event["rawQueryString"] = json!("");
    event["queryStringParameters"] = json!({"status": "PAID"});
    assert_eq!(send_raw(&app, &event.to_string()).await.status, 200);
    assert_eq!(world.calls()[0].key_condition(), "tenant = acme");
}

#[tokio::test]
async fn a_body_that_is_not_the_base64_it_says_it_is_is_400() {
    let world = World::new();
    let app = world.deployed(&order_create::OPERATION);
    let mut event = crate::event::post("/orders", "acme", &json!({})).http();
    event["isBase64Encoded"] = json!(true);
    for body in ["%%%", "{\"a\":1}", "/w=="] {
        event["body"] = json!(body);
        let answer = send_raw(&app, &event.to_string()).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_body"), "{body}");
    }
    event["body"] = json!(
        "eyJjdXN0b21lciI6eyJpZCI6ImMifSwiaXRlbXMiOlt7InByb2R1Y3RJZCI6InAiLCJxdWFudGl0eSI6MSwidW5pdFByaWNlIjoxfV19"
    );
    assert_eq!(send_raw(&app, &event.to_string()).await.status, 201);
}

#[tokio::test]
async fn other_methods_are_405_and_say_which_is_served() {
    let world = World::new();
    for list in registry::lists() {
        let app = world.deployed(list);
        for method in ["HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "get"] {
            let event = get(list.path(), "acme").method(method);
            for event in [event.http(), event.rest()] {
                let answer = send_raw(&app, &event.to_string()).await;
                assert_eq!((answer.status, answer.code().as_str()), (405, "method_not_allowed"), "{method}");
                assert_eq!(answer.headers.get("allow").map(String::as_str), Some("GET"));
            }
        }
    }
    let answer =
        send_raw(&world.deployed(&order_create::OPERATION), &get("/orders", "acme").http().to_string()).await;
    assert_eq!((answer.status, answer.headers.get("allow").map(String::as_str)), (405, Some("POST")));
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_stage_is_not_part_of_the_path_and_other_paths_are_not_taken_in() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    for (path, status) in [
        ("/orders", 200),
        ("/orders/", 200),
        ("/prod/orders", 200),
        ("/api/v1/orders", 200),
        ("/orders/summary", 404),
        ("/orders/aggregate", 404),
        ("/prod/orders/summary", 404),
        ("/", 404),
        ("/xorders", 404),
    ] {
        let event = get(path, "acme");
        for event in [event.http(), event.rest()] {
            let answer = send_raw(&app, &event.to_string()).await;
            assert_eq!(answer.status, status, "{path}: {}", answer.body);
        }
    }
}

#[tokio::test]
async fn a_parameter_is_understood_or_refused_and_never_left_out() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let paid = get("/orders", "acme").with("status", "PAID");
    let paid_alone = |call: &crate::world::Call| call.key_condition().contains("status = PAID");
    let changed = |mut event: Value, changes: &[(&str, Value)]| {
        for (name, value) in changes {
            event[*name] = value.clone();
        }
        event.to_string()
    };
    let single = json!({"status": "PAID"});
    for event in [
        changed(
            paid.rest(),
            &[("multiValueQueryStringParameters", json!({})), ("queryStringParameters", single.clone())],
        ),
        changed(paid.rest(), &[("multiValueQueryStringParameters", json!({"limit": ["5"]}))]),
        changed(
            paid.rest(),
            &[
                ("multiValueQueryStringParameters", json!({"status": null})),
                ("queryStringParameters", single.clone()),
            ],
        ),
        changed(paid.http(), &[("rawQueryString", Value::Null), ("queryStringParameters", single)]),
    ] {
        let answer = send_raw(&app, &event).await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        assert!(world.calls().iter().all(paid_alone), "{event}");
    }
    for several in [
        json!({"status": []}),
        json!({"status": [5]}),
        json!({"status": [null]}),
        json!({"status": {"a": "b"}}),
        json!(["status"]),
        json!("status=PAID"),
    ] {
        let event = changed(paid.rest(), &[("multiValueQueryStringParameters", several)]);
        let answer = send_raw(&app, &event).await;
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid_query_string"), "{event}");
    }
    assert!(world.calls().is_empty());
}

#[tokio::test]
async fn a_route_for_all_paths_says_nothing_of_the_one_that_was_asked() {
    let world = World::new();
    world.put("Product", json!({"tenant": {"S": "acme"}, "id": {"S": "a%41+b"}}));
    let app = world.deployed(&product::LIST);
    for (path, status) in [("/products", 200), ("/prod/products/a%41+b", 200), ("/other", 404)] {
        let mut event = get("/products", "acme").http();
        event["routeKey"] = json!("ANY /{proxy+}");
        event["rawPath"] = json!(path);
        event["pathParameters"] = json!({"proxy": path});
        assert_eq!(send_raw(&app, &event.to_string()).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn an_event_that_cannot_be_read_is_answered_with_the_gateway_s_id() {
    let world = World::new();
    let mut event = get("/products/{id}", "acme").with("id", "p-1").rest();
    event["pathParameters"]["id"] = json!("%zz");
    event["requestContext"]["requestId"] = json!("of the gateway");
    let answer = send_raw(&world.deployed(&product::LIST), &event.to_string()).await;
    assert_eq!((answer.status, &answer.json()["requestId"]), (400, &json!("of the gateway")));
    assert_eq!(answer.log["requestId"], "of the gateway");
}

#[tokio::test]
async fn an_answer_is_not_kept_on_the_way_and_an_error_carries_the_request_s_id() {
    let world = World::new();
    let app = world.deployed(&orders::LIST);
    let answer = send_raw(&app, &get("/orders", "acme").http().to_string()).await;
    assert_eq!(answer.headers.get("content-type").map(String::as_str), Some("application/json"));
    assert_eq!(answer.headers.get("cache-control").map(String::as_str), Some("no-store"));
    let answer = send_raw(&app, &get("/orders", "acme").with("limit", 0).http().to_string()).await;
    assert_eq!(
        answer.json(),
        json!({
            "error": {"code": "limit_out_of_range", "message": "limit must be between 1 and 100"},
            "requestId": "gateway-request",
        })
    );
}
