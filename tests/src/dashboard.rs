//! The dashboard draws what the code emits, and nothing that does not exist.

use std::collections::BTreeSet;

use kit::observe::METRICS;
use local::template::Template;
use serde_json::Value;

use crate::world::template_text;

const NAMESPACE: &str = "Chaveiro/prod";

/// The dashboard of a stack called `prod`.
fn dashboard(text: &str) -> Value {
    let template = Template::parse(text).unwrap();
    let pseudo = [("AWS::StackName", "prod"), ("AWS::Region", "sa-east-1")];
    let resources = template.with_parameters(&pseudo).unwrap().resources().unwrap();
    let body = &resources["Dashboard"]["Properties"]["DashboardBody"];
    // What only a deployment knows is left as it is: the ids of the gateway and of the alarms.
    let body = body.as_str().or_else(|| body["Fn::Sub"].as_str()).unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// What is wrong with a dashboard, and the names of the project's metrics that it draws.
fn faults(dashboard: &Value) -> (Vec<String>, BTreeSet<String>) {
    let (mut found, mut drawn) = (Vec::new(), BTreeSet::new());
    let mut taken: BTreeSet<(u64, u64)> = BTreeSet::new();
    for widget in dashboard["widgets"].as_array().unwrap() {
        let title = widget["properties"]["title"].as_str().unwrap_or_default();
        let side = |name: &str| widget[name].as_u64().unwrap();
        if side("x") + side("width") > 24 {
            found.push(format!("{title}: it is wider than a dashboard"));
        }
        for x in side("x")..side("x") + side("width") {
            for y in side("y")..side("y") + side("height") {
                if !taken.insert((x, y)) {
                    found.push(format!("{title}: it lies over another at {x}, {y}"));
                }
            }
        }
        if widget["type"] == "alarm" {
            continue;
        }
        let mut ids: Vec<&str> = Vec::new();
        for metric in widget["properties"]["metrics"].as_array().unwrap() {
            let metric = metric.as_array().unwrap();
            let options = metric.last().unwrap();
            let expression = options["expression"].as_str();
            match (metric[0].as_str(), expression) {
                (Some("AWS/ApiGateway"), None) => {
                    let known = ["5xx", "4xx"].contains(&metric[1].as_str().unwrap());
                    if !known || metric[2] != "ApiId" {
                        found.push(format!("{title}: a gateway has no metric {metric:?}"));
                    }
                }
                (Some(namespace), None) => {
                    let name = metric[1].as_str().unwrap();
                    drawn.insert(name.to_owned());
                    let plain = metric.len() == 3 && options.is_object();
                    if namespace != NAMESPACE || !METRICS.iter().any(|known| known.name == name) || !plain {
                        found.push(format!("{title}: the code emits no {metric:?}"));
                    }
                    if options.get("stat").or(widget["properties"].get("stat")).is_none() {
                        found.push(format!("{title}: {name} has no statistic"));
                    }
                }
                (None, Some(expression)) if expression.starts_with("SEARCH(") => {
                    let name = expression.split('"').nth(1).unwrap_or_default();
                    drawn.insert(name.to_owned());
                    let head = format!("SEARCH('{{{NAMESPACE},Function,Question}} MetricName=\"{name}\"', '");
                    if !expression.starts_with(&head) || !METRICS.iter().any(|known| known.name == name) {
                        found.push(format!("{title}: the code emits nothing for {expression}"));
                    }
                }
                (None, Some(expression)) => {
                    for id in expression.split(" / ") {
                        if !ids.contains(&id) {
                            found.push(format!("{title}: there is no {id} in {expression}"));
                        }
                    }
                }
                _ => found.push(format!("{title}: {metric:?} is no metric")),
            }
            ids.extend(options["id"].as_str());
        }
    }
    (found, drawn)
}

#[test]
fn every_widget_draws_what_the_code_emits_and_every_metric_is_drawn() {
    let (found, drawn) = faults(&dashboard(&template_text()));
    assert_eq!(found, Vec::<String>::new());
    let emitted: BTreeSet<String> = METRICS.iter().map(|metric| metric.name.to_owned()).collect();
    assert_eq!(drawn, emitted);
}

#[test]
fn a_dashboard_that_is_wrong_is_caught() {
    let text = template_text();
    for (from, to, caught) in [
        (r#"MetricName=\"ReadUnits\""#, r#"MetricName=\"ReadUnit\""#, "the code emits nothing for"),
        ("Function,Question} MetricName", "Function} MetricName", "the code emits nothing for"),
        (r#""EvaluatedItems", {"#, r#""Evaluated", {"#, "the code emits no"),
        ("evaluated / shown", "evaluated / items", "there is no items"),
        (r#""x": 12, "y": 2,"#, r#""x": 11, "y": 2,"#, "it lies over another"),
        (r#""x": 12, "y": 2,"#, r#""x": 13, "y": 2,"#, "it is wider than a dashboard"),
        (r#"{ "stat": "p50", "#, "{ ", "Duration has no statistic"),
    ] {
        let at = text.find("  Dashboard:\n").unwrap();
        let (before, after) = text.split_at(at);
        assert!(after.contains(from), "the dashboard no longer holds {from}");
        let mutant = format!("{before}{}", after.replacen(from, to, 1));
        let (found, _) = faults(&dashboard(&mutant));
        assert!(found.iter().any(|fault| fault.contains(caught)), "{to} is not caught: {found:?}");
    }
}
