//! The dashboard draws what the functions emit, and nothing that does not exist. What they emit is taken
//! from the lines that they write.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use kit::app::Invocation;
use kit::function::Function;
use local::template::Template;
use serde_json::{Value, json};

use crate::event::{get, post};
use crate::registry;
use crate::world::{CURSOR_KEY, World, send, template_text};

/// How long a point of a graph is, in seconds: as long as an alarm's.
const PERIOD: u64 = 300;

/// What a search leaves the jobs out of, since it is of answers: a load of a million items would hide them.
/// What is paid for and what failed is drawn of jobs as well.
const OF_ANSWERS: [&str; 2] = ["Duration", "EvaluatedItems"];

/// What is known of a metric that was emitted.
#[derive(Default)]
struct Metric {
    units: BTreeSet<String>,
    /// The sets of dimensions that it has.
    dimensions: BTreeSet<BTreeSet<String>>,
}

/// The metrics that were emitted, by namespace and name.
type Emitted = BTreeMap<(String, String), Metric>;

/// The resources of a template, by logical id.
type Resources = BTreeMap<String, serde_json::Map<String, Value>>;

/// A line of a graph, or the lines that a search finds.
struct Drawn {
    namespace: String,
    name: String,
    /// The dimensions with their values. A search finds every value, so it gives none.
    dimensions: BTreeMap<String, String>,
    /// The functions that a search leaves out.
    left_out: BTreeSet<String>,
    statistic: String,
    period: u64,
}

/// A template of a stack called `prod`.
fn template(text: &str) -> Template {
    let pseudo = [("AWS::StackName", "prod"), ("AWS::Region", "sa-east-1")];
    Template::parse(text).unwrap().with_parameters(&pseudo).unwrap()
}

/// The dashboard among the resources of a stack called `prod`.
fn dashboard(resources: &Resources) -> Value {
    let body = &resources["Dashboard"]["Properties"]["DashboardBody"];
    // What only a deployment knows is left as it is: the ids of the gateway and of the alarms.
    let body = body.as_str().or_else(|| body["Fn::Sub"].as_str()).unwrap();
    serde_json::from_str(body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// What a list, a writer and a job of a stack called `prod` write into the log.
async fn lines() -> String {
    let functions = template(&template_text()).functions().unwrap();
    let environment = functions[0].environment();
    let namespace = environment["METRICS_NAMESPACE"].as_str().unwrap();
    let settings = [("METRICS_NAMESPACE", namespace), ("CURSOR_KEY", CURSOR_KEY)];
    let world = World::new();
    let order = json!({
        "customer": {"id": "c-7", "name": "Maria"},
        "items": [{"productId": "p-1", "quantity": 1, "unitPrice": 1}],
    });
    let writer = world.declared_with(&order_create::OPERATION, &settings);
    let created = send(&writer, &post("/orders", "acme", &order)).await;
    let list = world.declared_with(&orders::LIST, &settings);
    let listed = send(&list, &get("/orders", "acme")).await;
    assert_eq!((created.status, listed.status), (201, 200));
    let job = world.declared_with(&index_report::JOB, &settings);
    let invocation = Invocation { id: "invocation".to_owned(), time_left: Duration::from_secs(60) };
    let worked = job.work(&index_report::JOB, r#"{"index":"person-by-tenant"}"#, &invocation).await;
    assert!(worked.outcome.is_ok());
    format!("{}\n{}\n{}", created.log, listed.log, worked.log)
}

/// The metrics that CloudWatch finds in lines of the log.
fn emitted(lines: &str) -> Emitted {
    let mut emitted = Emitted::new();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    for line in lines.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        for directive in line["_aws"]["CloudWatchMetrics"].as_array().unwrap() {
            let sets = directive["Dimensions"].as_array().unwrap().iter();
            let sets = sets.map(|set| set.as_array().unwrap().iter().map(text).collect());
            let sets: BTreeSet<BTreeSet<String>> = sets.collect();
            for metric in directive["Metrics"].as_array().unwrap() {
                let key = (text(&directive["Namespace"]), text(&metric["Name"]));
                let known = emitted.entry(key).or_default();
                known.units.insert(text(&metric["Unit"]));
                known.dimensions.extend(sets.iter().cloned());
            }
        }
    }
    emitted
}

/// What a search looks for. None if it is not written as CloudWatch reads it.
///
/// Source: Amazon CloudWatch user guide, "CloudWatch search expression syntax".
fn search(expression: &str) -> Option<Drawn> {
    let (schema, rest) = expression.strip_prefix("SEARCH('{")?.split_once("} ")?;
    let (term, rest) = rest.split_once("', '")?;
    let (statistic, period) = rest.strip_suffix(')')?.split_once("', ")?;
    let (namespace, dimensions) = schema.split_once(',')?;
    let mut terms = term.split(" NOT ");
    let name = terms.next()?.strip_prefix("MetricName=\"")?.strip_suffix('"')?;
    let left_out = terms.map(|term| Some(term.strip_prefix("Function=\"")?.strip_suffix('"')?.to_owned()));
    Some(Drawn {
        // The name of a stack may have a hyphen, and such a namespace has to stand in quotes.
        namespace: namespace.strip_prefix('"')?.strip_suffix('"')?.to_owned(),
        name: name.to_owned(),
        dimensions: dimensions.split(',').map(|name| (name.to_owned(), String::new())).collect(),
        left_out: left_out.collect::<Option<_>>()?,
        statistic: statistic.to_owned(),
        period: period.parse().ok()?,
    })
}

/// What a metric of a widget draws, where it is no expression. None if it is not written as CloudWatch
/// reads it.
fn line(widget: &Value, metric: &[Value]) -> Option<Drawn> {
    let (options, texts) = metric.split_last()?;
    let texts: Option<Vec<String>> = texts.iter().map(|text| text.as_str().map(str::to_owned)).collect();
    let texts = texts?;
    let [namespace, name, dimensions @ ..] = texts.as_slice() else { return None };
    let pairs = dimensions.chunks(2).map(|pair| Some((pair.first()?.clone(), pair.get(1)?.clone())));
    Some(Drawn {
        namespace: namespace.clone(),
        name: name.clone(),
        dimensions: pairs.collect::<Option<_>>()?,
        left_out: BTreeSet::new(),
        statistic: options.get("stat").or(widget.get("stat"))?.as_str()?.to_owned(),
        period: widget["period"].as_u64()?,
    })
}

/// The names of the jobs.
fn jobs() -> BTreeSet<String> {
    let jobs = registry::all().into_iter().filter(|function| matches!(function, Function::Job(_)));
    jobs.map(|function| function.name().to_owned()).collect()
}

/// Whether CloudWatch has such a statistic, of those that mean something here. A percentile below the
/// middle tells of nobody who waits.
fn is_statistic(name: &str) -> bool {
    let percentile = name.strip_prefix('p').and_then(|number| number.parse().ok());
    ["Sum", "SampleCount", "Average", "Maximum"].contains(&name)
        || percentile.is_some_and(|percentile: u8| (50..100).contains(&percentile))
}

/// What is wrong with what a widget of this title draws.
fn wrong(title: &str, drawn: &Drawn, emitted: &Emitted) -> Vec<String> {
    let Drawn { namespace, name, dimensions, left_out, statistic, period } = drawn;
    let mut found = Vec::new();
    if !is_statistic(statistic) {
        found.push(format!("{name} has no statistic {statistic}"));
    }
    if *period != PERIOD {
        found.push(format!("a point of {name} is {period} s"));
    }
    if namespace == "AWS/ApiGateway" {
        let of_ours = *dimensions == BTreeMap::from([("ApiId".to_owned(), "${Api}".to_owned())]);
        if !["5xx", "4xx"].contains(&name.as_str()) || !of_ours {
            found.push(format!("a gateway of ours has no {name} by {dimensions:?}"));
        }
        return found;
    }
    let names: BTreeSet<String> = dimensions.keys().cloned().collect();
    let without_jobs = OF_ANSWERS.contains(&name.as_str()) && !names.is_empty();
    if *left_out != (if without_jobs { jobs() } else { BTreeSet::new() }) {
        found.push(format!("{name} leaves out {left_out:?}"));
    }
    match emitted.get(&(namespace.clone(), name.clone())) {
        Some(metric) if metric.dimensions.contains(&names) => {
            let unit = if title.ends_with("(ms)") { "Milliseconds" } else { "Count" };
            if metric.units != BTreeSet::from([unit.to_owned()]) {
                found.push(format!("{name} is in {:?}", metric.units));
            }
        }
        _ => found.push(format!("nothing emits {name} of {namespace} by {names:?}")),
    }
    found
}

/// What is wrong with a widget that draws metrics, and the names of the metrics that it draws.
fn graph_faults(widget: &Value, emitted: &Emitted) -> (Vec<String>, BTreeSet<String>) {
    let (mut found, mut names, mut ids) = (Vec::new(), BTreeSet::new(), Vec::new());
    let title = widget["title"].as_str().unwrap_or_default();
    let metrics = widget["metrics"].as_array().unwrap();
    // One request may count in two metrics, so that their sum is of nothing.
    if widget["stacked"] == true && metrics.len() > 1 {
        found.push("it lays one metric upon another".to_owned());
    }
    for metric in metrics {
        let metric = metric.as_array().unwrap();
        let options = metric.last().unwrap().as_object().unwrap();
        let known = ["expression", "id", "label", "stat", "yAxis"];
        let unknown = options.keys().filter(|option| !known.contains(&option.as_str()));
        found.extend(unknown.map(|option| format!("a metric has no {option}")));
        let expression = options.get("expression").and_then(Value::as_str);
        let drawn = match expression {
            None => line(widget, metric),
            Some(text) if text.starts_with("SEARCH") => search(text),
            Some(text) => {
                let unknown = text.split(" / ").filter(|id| !ids.contains(id));
                found.extend(unknown.map(|id| format!("there is no {id} in {text}")));
                continue;
            }
        };
        ids.extend(options.get("id").and_then(Value::as_str));
        match drawn {
            Some(drawn) => {
                found.extend(wrong(title, &drawn, emitted));
                names.insert(drawn.name);
            }
            None => found.push(format!("CloudWatch does not read {metric:?}")),
        }
    }
    (found.into_iter().map(|fault| format!("{title}: {fault}")).collect(), names)
}

/// Widgets that are wider than a dashboard or lie over another.
fn misplaced(widgets: &[Value]) -> Vec<String> {
    let mut found = Vec::new();
    let mut taken: BTreeSet<(u64, u64)> = BTreeSet::new();
    for widget in widgets {
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
    }
    found
}

/// What a dashboard shows of the alarms otherwise than they are.
fn alarm_faults(widgets: &[Value], resources: &Resources) -> Vec<String> {
    let mut found = Vec::new();
    let alarms = resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Alarm");
    let alarms: BTreeSet<String> = alarms.map(|(id, _)| format!("${{{id}.Arn}}")).collect();
    let shown = widgets.iter().filter(|widget| widget["type"] == "alarm");
    let shown = shown.flat_map(|widget| widget["properties"]["alarms"].as_array().unwrap());
    let shown: BTreeSet<String> = shown.map(|alarm| alarm.as_str().unwrap().to_owned()).collect();
    if shown != alarms {
        found.push(format!("the alarms {shown:?} are shown where there are {alarms:?}"));
    }
    let lines =
        widgets.iter().filter_map(|widget| widget["properties"]["annotations"]["horizontal"].as_array());
    for line in lines.flatten() {
        if line["value"] != resources["DurationAlarm"]["Properties"]["Threshold"] {
            found.push(format!("no alarm is at {}", line["value"]));
        }
    }
    found
}

/// What is wrong with the dashboard of a template, and the names of the metrics that it draws.
fn faults(text: &str, emitted: &Emitted) -> (Vec<String>, BTreeSet<String>) {
    let resources = template(text).resources().unwrap();
    let dashboard = dashboard(&resources);
    let widgets = dashboard["widgets"].as_array().unwrap();
    let (mut found, mut names) = (misplaced(widgets), BTreeSet::new());
    found.extend(alarm_faults(widgets, &resources));
    for widget in widgets.iter().filter(|widget| widget["type"] != "alarm") {
        let (wrong, drawn) = graph_faults(&widget["properties"], emitted);
        found.extend(wrong);
        names.extend(drawn);
    }
    (found, names)
}

#[tokio::test]
async fn every_widget_draws_what_the_functions_emit_and_every_metric_is_drawn() {
    let emitted = emitted(&lines().await);
    let (found, drawn) = faults(&template_text(), &emitted);
    assert_eq!(found, Vec::<String>::new());
    let of_the_gateway = ["4xx", "5xx"].map(str::to_owned);
    let names: BTreeSet<String> = emitted.into_keys().map(|(_, name)| name).chain(of_the_gateway).collect();
    assert_eq!(drawn, names);
}

#[tokio::test]
async fn a_dashboard_that_is_wrong_is_caught() {
    let emitted = emitted(&lines().await);
    let text = template_text();
    for (from, to, caught) in [
        (r#"MetricName=\"ReadUnits\""#, r#"MetricName=\"ReadUnit\""#, "nothing emits ReadUnit of"),
        ("Function,Question} MetricName", "Function} MetricName", "nothing emits ReadUnits of"),
        (
            r#"{\"Chaveiro/${AWS::StackName}\","#,
            r#"{\"Chaveiro\","#,
            "nothing emits ReadUnits of Chaveiro by",
        ),
        (r#"{\"Chaveiro/${AWS::StackName}\","#, "{Chaveiro/${AWS::StackName},", "CloudWatch does not read"),
        (r#"MetricName=\"ReadUnits\"'"#, r#"MetricName=\"ReadUnits\""#, "CloudWatch does not read"),
        ("'Sum', 300)", "'Smu', 300)", "ReadUnits has no statistic Smu"),
        ("'p95', 300)", "'p1', 300)", "Duration has no statistic p1"),
        ("'p95', 300)", "'p95', 60)", "a point of Duration is 60 s"),
        (r#""EvaluatedItems", {"#, r#""Evaluated", {"#, "nothing emits Evaluated of"),
        (
            r#""EvaluatedItems", {"#,
            r#""EvaluatedItems", "Function", "x", {"#,
            "nothing emits EvaluatedItems of",
        ),
        ("evaluated / shown", "evaluated / items", "there is no items"),
        (r#""period": 300, "stat": "Sum""#, r#""period": 60, "stat": "Sum""#, "a point of Items is 60 s"),
        (r#"{ "stat": "p50", "#, "{ ", "CloudWatch does not read"),
        (r#"{ "stat": "p50", "#, r#"{ "stat": "median", "#, "Duration has no statistic median"),
        (r#"{ "stat": "p50", "#, r#"{ "period": 60, "stat": "p50", "#, "a metric has no period"),
        ("How long answers take (ms)", "How long answers take", "Duration is in"),
        (r#""5xx", "ApiId", "${Api}""#, r#""5xx", "ApiId", "x""#, "a gateway of ours has no 5xx"),
        (r#""5xx", "ApiId", "#, r#""5xx", "ApiName", "#, "a gateway of ours has no 5xx"),
        (r#""5xx", "ApiId", "#, r#""5XXError", "ApiId", "#, "a gateway of ours has no 5XXError"),
        (r#" NOT Function=\"index-report\""#, "", "leaves out {\"backfill\"}"),
        (r#" NOT Function=\"index-report\""#, r#" NOT \"index-report\""#, "CloudWatch does not read"),
        (
            r#"MetricName=\"ReadUnits\""#,
            r#"MetricName=\"ReadUnits\" NOT Function=\"orders\""#,
            "ReadUnits leaves out {\"orders\"}",
        ),
        (
            r#"by question", "region": "${AWS::Region}", "view": "timeSeries", "period""#,
            r#"by question", "region": "${AWS::Region}", "view": "timeSeries", "stacked": true, "period""#,
            "it lays one metric upon another",
        ),
        (r#""${ThrottledAlarm.Arn}", "#, "", "are shown where there are"),
        (r#""value": 3000"#, r#""value": 300"#, "no alarm is at 300"),
        (r#""x": 12, "y": 2,"#, r#""x": 11, "y": 2,"#, "it lies over another"),
        (r#""x": 12, "y": 2,"#, r#""x": 13, "y": 2,"#, "it is wider than a dashboard"),
    ] {
        let at = text.find("  Dashboard:\n").unwrap();
        let (before, after) = text.split_at(at);
        assert!(after.contains(from), "the dashboard no longer holds {from}");
        let mutant = format!("{before}{}", after.replacen(from, to, 1));
        let (found, _) = faults(&mutant, &emitted);
        assert!(found.iter().any(|fault| fault.contains(caught)), "{to} is not caught: {found:?}");
    }
}

#[tokio::test]
async fn a_line_that_the_dashboard_does_not_expect_is_caught() {
    let lines = lines().await;
    let text = template_text();
    for (from, to, caught) in [
        (r#"["Function","Question"]"#, r#"["Function"]"#, "nothing emits ReadUnits of"),
        (r#"["Function","Question"]"#, r#"["Function","Query"]"#, "nothing emits ReadUnits of"),
        (r#""Dimensions":[[]]"#, r#""Dimensions":[["Function"]]"#, "nothing emits Items of"),
        ("Chaveiro/prod", "Chaveiro/test", "nothing emits ReadUnits of Chaveiro/prod"),
        (r#""Name":"Items""#, r#""Name":"Item""#, "nothing emits Items of"),
        ("Milliseconds", "Seconds", "Duration is in"),
    ] {
        assert!(lines.contains(from), "no line holds {from}: {lines}");
        let (found, _) = faults(&text, &emitted(&lines.replace(from, to)));
        assert!(found.iter().any(|fault| fault.contains(caught)), "{to} is not caught: {found:?}");
    }
}
