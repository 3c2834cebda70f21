//! The line that each request leaves.

use serde_json::json;

use crate::event::{get, post};
use crate::world::{World, send};

#[tokio::test]
async fn a_request_leaves_one_line_with_what_it_cost() {
    let world = World::new();
    local::sample::load(&world.database, "").unwrap();
    let app = world.deployed(&orders::LIST);
    let event = get("/orders", "acme").with("status", "PAID").with("limit", 5);
    let first = send(&app, &event).await.log;
    assert_eq!(first["Function"], "orders");
    assert_eq!(first["Question"], "orders-in-a-payment-status");
    assert_eq!((&first["table"], &first["index"]), (&json!("SalesOrder"), &json!("tenant-status-index")));
    assert_eq!((&first["Items"], &first["Calls"], &first["status"]), (&json!(5), &json!(2), &json!(200)));
    assert!(first["EvaluatedItems"].as_u64().unwrap() > 5);
    assert!(first["ReadUnits"].as_f64().unwrap() > 0.0 && first["Duration"].as_f64().unwrap() > 0.0);
    assert_eq!(first["ColdStarts"], 1);
    assert_eq!(
        (&first["requestId"], &first["invocationId"]),
        (&json!("gateway-request"), &json!("invocation"))
    );
    assert!(first.get("cause").is_none() && first.get("code").is_none());
    let second = send(&app, &event).await.log;
    assert_eq!(second["ColdStarts"], 0);
}

/// The names of the metrics of a directive.
fn names(metrics: &serde_json::Value) -> Vec<String> {
    let metrics = metrics["Metrics"].as_array().unwrap();
    metrics.iter().map(|metric| metric["Name"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn what_a_job_does_is_not_counted_among_requests() {
    let world = World::new();
    let app = world.deployed(&index_report::JOB);
    let invocation =
        kit::app::Invocation { id: "invocation".to_owned(), time_left: std::time::Duration::from_secs(60) };
    let worked = app.work(&index_report::JOB, r#"{"index":"person-by-tenant"}"#, &invocation).await;
    let line: serde_json::Value = serde_json::from_str(&worked.log).unwrap();
    assert_eq!((&line["Function"], &line["Question"]), (&json!("index-report"), &json!("person-by-tenant")));
    let [of_the_job, of_all] = [0, 1].map(|at| names(&line["_aws"]["CloudWatchMetrics"][at]));
    for name in ["EvaluatedItems", "Calls", "ReadUnits", "Duration", "ColdStarts", "Throttled", "Faults"] {
        assert!(of_the_job.contains(&name.to_owned()), "{name} of the job alone");
    }
    assert_eq!(of_all, ["Throttled", "Faults"], "what an alarm is to hear of a job");
}

#[tokio::test]
async fn what_a_job_cost_is_told_though_it_failed() {
    let world = World::new();
    world.put_all("Person", (0..30).map(|at| json!({"id": {"S": format!("p-{at}")}})));
    let app = world.deployed(&index_report::JOB);
    let invocation =
        kit::app::Invocation { id: "invocation".to_owned(), time_left: std::time::Duration::from_secs(60) };
    let asked = r#"{"index":"person-by-tenant","segments":1}"#;
    let worked = app.work(&index_report::JOB, asked, &invocation).await;
    assert!(worked.outcome.is_ok());
    let whole: serde_json::Value = serde_json::from_str(&worked.log).unwrap();
    assert_eq!(whole["Calls"], world.calls().len());
    let denied = json!({"__type": "AccessDeniedException", "message": "m"});
    let of_the_index =
        |operation: &str, body: &serde_json::Value| operation == "Scan" && body["IndexName"].is_string();
    world.script_for(of_the_index, usize::MAX, crate::world::Fault::Reply(400, denied));
    let worked = app.work(&index_report::JOB, asked, &invocation).await;
    assert!(worked.outcome.is_err());
    let line: serde_json::Value = serde_json::from_str(&worked.log).unwrap();
    assert_eq!((&line["Faults"], &line["Calls"]), (&json!(1), &json!(world.calls().len())));
    assert_eq!(line["ServerErrors"], 0, "no gateway counts what a job does");
    assert!(line["ReadUnits"].as_f64().unwrap() > 0.0, "{line}");
}

#[tokio::test]
async fn every_metric_is_a_number_and_every_dimension_a_text() {
    let world = World::new();
    let app = world.declared_with(&orders::LIST, &[("METRICS_NAMESPACE", "Chaveiro/prod")]);
    for event in [get("/orders", "acme"), get("/orders", "acme").with("limit", 0), get("/x", "acme")] {
        let line = send(&app, &event).await.log;
        assert!(line["_aws"]["Timestamp"].as_i64().unwrap() > 1_700_000_000_000);
        for metrics in line["_aws"]["CloudWatchMetrics"].as_array().unwrap() {
            assert_eq!(metrics["Namespace"], "Chaveiro/prod");
            for metric in metrics["Metrics"].as_array().unwrap() {
                let name = metric["Name"].as_str().unwrap();
                assert!(line[name].is_number(), "{name}");
            }
            for dimension in
                metrics["Dimensions"].as_array().unwrap().iter().flat_map(|set| set.as_array().unwrap())
            {
                let name = dimension.as_str().unwrap();
                assert!(line[name].as_str().is_some_and(|value| !value.is_empty()), "{name}");
            }
        }
        let of_all = &line["_aws"]["CloudWatchMetrics"][1];
        assert_eq!(of_all["Dimensions"], json!([[]]), "the alarms watch all functions at once");
        assert!(names(of_all).contains(&"Duration".to_owned()));
    }
}

#[tokio::test]
async fn no_line_holds_what_a_caller_or_a_customer_would_not_tell() {
    let world = World::new();
    let order = json!({
        "id": "o-secret-id",
        "customer": {"id": "c-secret", "name": "Maria Secreta"},
        "items": [{"productId": "p-secret", "quantity": 1, "unitPrice": 1}],
    });
    let mut lines = Vec::new();
    let create = world.deployed(&order_create::OPERATION);
    let mut wrong = order.clone();
    wrong["status"] = json!("secret".repeat(400));
    for body in [&order, &order, &wrong] {
        lines.push(send(&create, &post("/orders", "secret-tenant", body)).await.log);
    }
    let list = world.deployed(&orders::LIST);
    for event in [
        get("/orders", "secret-tenant"),
        get("/orders", "secret-tenant").with("customerId", "c-secret"),
        get("/orders", "secret-tenant").with("secret", "x"),
        get("/orders", "secret#tenant"),
        get("/orders", "secret-tenant").with("status", "secret".repeat(200)),
        get("/orders", "secret-tenant").with("from", "secret"),
    ] {
        lines.push(send(&list, &event).await.log);
    }
    for line in lines {
        let line = line.to_string();
        assert!(!line.to_lowercase().contains("secret"), "{line}");
    }
}
