//! The state machine that loads a new index: its definition is played, as template.yaml has it, against
//! the jobs themselves.
//!
//! The player knows as much of the Amazon States Language as the definition uses, and refuses the rest.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use kit::app::{App, Invocation};
use kit::error::chain;
use kit::function::Function;
use kit::job::Job;
use kit::load::SEGMENTS_AT_ONCE;
use local::template::Template;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use crate::world::{Fault, World, template_text};

/// The largest input or output of a state, in bytes.
///
/// Source: AWS Step Functions developer guide, "Quotas related to task executions".
const MAX_PAYLOAD: usize = 262_144;

/// The most events of an execution.
///
/// Source: AWS Step Functions developer guide, "Quotas related to state machine executions".
const MAX_EVENTS: usize = 25_000;

/// Why an execution failed.
#[derive(Debug, Clone, PartialEq)]
struct Failure {
    error: String,
    cause: String,
}

type Outcome = Result<Value, Failure>;

/// The definition, and the functions that it invokes.
struct Machine {
    definition: Value,
    functions: BTreeMap<String, (&'static Job, App)>,
    /// How long an invocation of a function may take.
    time: Duration,
    seen: Mutex<Seen>,
}

/// What happened in an execution.
#[derive(Debug, Default)]
struct Seen {
    /// How often each state was entered.
    visits: BTreeMap<String, usize>,
    /// The inputs of each state's tasks.
    invoked: Vec<(String, Value)>,
    events: usize,
    /// The largest output of a state.
    most_bytes: usize,
    running: u32,
    most_running: u32,
}

fn definition() -> Value {
    let template = Template::parse(&template_text()).unwrap();
    let template = template
        .with_parameters(&[("CursorKeyVersion", "new"), ("CursorKeyPreviousVersion", "old")])
        .unwrap();
    template.resources().unwrap()["BackfillStateMachine"]["Properties"]["Definition"].clone()
}

impl Machine {
    /// The machine of the template, while indexes are at these stages.
    fn new(world: &World, stages: &[(&str, &str)]) -> Arc<Self> {
        let definition = definition();
        assert_eq!(faults(&definition), Vec::<String>::new());
        let jobs = [("BackfillFunction", &backfill::JOB), ("IndexReportFunction", &index_report::JOB)];
        let functions = jobs
            .into_iter()
            .map(|(id, job)| (id.to_owned(), (job, world.deployed_at(Function::from(job), stages))));
        Arc::new(Self {
            definition,
            functions: functions.collect(),
            // Of that, a load works for 2.7 s.
            time: Duration::from_secs(8),
            seen: Mutex::default(),
        })
    }

    /// Starts an execution. Gives what came of it, and what happened.
    async fn start(self: &Arc<Self>, input: Value) -> (Outcome, Seen) {
        let outcome = Arc::clone(self).play(self.definition.clone(), input, Value::Null).await;
        (outcome, std::mem::take(&mut *self.seen.lock().unwrap()))
    }

    /// Plays the states of a definition or of a map, from the first to the last.
    fn play(
        self: Arc<Self>,
        states: Value,
        input: Value,
        item: Value,
    ) -> Pin<Box<dyn Future<Output = Outcome> + Send>> {
        Box::pin(async move {
            let mut name = states["StartAt"].as_str().unwrap().to_owned();
            let mut data = input;
            loop {
                let state = states["States"][&name].clone();
                self.saw(|seen| {
                    *seen.visits.entry(name.clone()).or_default() += 1;
                    seen.events += if state["Type"] == "Map" { 4 } else { 2 };
                });
                let (output, next) = match self.enter(&name, &state, data, &item).await {
                    Ok((output, next)) => (output, next),
                    Err(failure) => match state.get("Catch") {
                        Some(catch) => {
                            let caught = json!({"Error": failure.error, "Cause": failure.cause});
                            (caught, Some(catch[0]["Next"].clone()))
                        }
                        None => return Err(failure),
                    },
                };
                let bytes = output.to_string().len();
                self.saw(|seen| seen.most_bytes = seen.most_bytes.max(bytes));
                match next {
                    Some(next) => (name, data) = (next.as_str().unwrap().to_owned(), output),
                    None => return Ok(output),
                }
            }
        })
    }

    fn saw(&self, note: impl FnOnce(&mut Seen)) {
        note(&mut self.seen.lock().unwrap());
    }

    /// Plays one state. Gives its output and the state that comes next.
    async fn enter(
        self: &Arc<Self>,
        name: &str,
        state: &Value,
        data: Value,
        item: &Value,
    ) -> Result<(Value, Option<Value>), Failure> {
        let context = json!({"Map": {"Item": {"Value": item}}});
        let mut input = match state.get("InputPath") {
            Some(path) => at(path, &data, &context),
            None => data.clone(),
        };
        if let Some(parameters) = state.get("Parameters") {
            input = filled(parameters, &input, &context);
        }
        let result = match state["Type"].as_str().unwrap() {
            "Pass" => state.get("Result").cloned().unwrap_or(input),
            "Task" => self.task(name, state, input).await?,
            "Map" => self.map(state, &input, &context).await?,
            "Choice" => {
                let choices = state["Choices"].as_array().unwrap();
                let choice = choices.iter().find(|choice| holds(choice, &input, &context));
                let next = choice.map_or(&state["Default"], |choice| &choice["Next"]);
                return Ok((input, Some(next.clone())));
            }
            "Succeed" => input,
            "Fail" => {
                let told = |field: &str| match state.get(format!("{field}Path")) {
                    Some(path) => at(path, &input, &context).as_str().unwrap().to_owned(),
                    None => state[field].as_str().unwrap().to_owned(),
                };
                return Err(Failure { error: told("Error"), cause: told("Cause") });
            }
            other => panic!("{name}: a state of type {other}"),
        };
        let result = match state.get("ResultSelector") {
            Some(selector) => filled(selector, &result, &context),
            None => result,
        };
        let output = match state.get("ResultPath") {
            Some(path) => placed(data, path, result),
            None => result,
        };
        let output = match state.get("OutputPath") {
            Some(path) => at(path, &output, &context),
            None => output,
        };
        Ok((output, state.get("Next").cloned()))
    }

    /// Invokes a function, and again where the state says so of its error.
    async fn task(&self, name: &str, state: &Value, input: Value) -> Outcome {
        let id = state["Resource"]["Fn::GetAtt"][0].as_str().unwrap();
        let mut tries = vec![0_u32; state["Retry"].as_array().unwrap().len()];
        loop {
            self.saw(|seen| {
                seen.events += 3;
                seen.invoked.push((name.to_owned(), input.clone()));
                seen.running += 1;
                seen.most_running = seen.most_running.max(seen.running);
            });
            let (job, app) = &self.functions[id];
            let invocation = Invocation { id: "invocation".to_owned(), time_left: self.time };
            let worked = app.work(job, &input.to_string(), &invocation).await;
            self.saw(|seen| seen.running -= 1);
            let failure = match worked.outcome {
                Ok(answer) => return Ok(answer),
                // As Lambda reports it.
                Err(error) => {
                    let error_type = error.code().as_str();
                    let cause = json!({"errorType": error_type, "errorMessage": chain(&error)});
                    Failure { error: error_type.to_owned(), cause: cause.to_string() }
                }
            };
            let retriers = state["Retry"].as_array().unwrap();
            let matches = |retrier: &Value| {
                let errors = retrier["ErrorEquals"].as_array().unwrap();
                errors.iter().any(|error| error == "States.ALL" || *error == failure.error)
            };
            let Some(at) = retriers.iter().position(matches) else { return Err(failure) };
            let number = |field: &str| u32::try_from(retriers[at][field].as_u64().unwrap()).unwrap();
            if tries[at] >= number("MaxAttempts") {
                return Err(failure);
            }
            // Jitter only makes it shorter.
            let seconds = number("IntervalSeconds") * number("BackoffRate").pow(tries[at]);
            tries[at] += 1;
            tokio::time::sleep(Duration::from_secs(seconds.into())).await;
        }
    }

    /// Plays the inner states for each item, several at the same time.
    async fn map(self: &Arc<Self>, state: &Value, input: &Value, context: &Value) -> Outcome {
        let items = at(&state["ItemsPath"], input, context).as_array().unwrap().clone();
        let slots = Arc::new(Semaphore::new(state["MaxConcurrency"].as_u64().unwrap().try_into().unwrap()));
        let mut playing = JoinSet::new();
        for (index, item) in items.into_iter().enumerate() {
            let selected = filled(&state["ItemSelector"], input, &json!({"Map": {"Item": {"Value": item}}}));
            let (machine, slots) = (Arc::clone(self), Arc::clone(&slots));
            let states = state["ItemProcessor"].clone();
            playing.spawn(async move {
                let _slot = slots.acquire_owned().await.unwrap();
                machine.saw(|seen| seen.events += 2);
                (index, machine.play(states, selected, item).await)
            });
        }
        let mut results = BTreeMap::new();
        // The first that fails ends the others, and the map.
        while let Some(played) = playing.join_next().await {
            let (index, outcome) = played.unwrap();
            results.insert(index, outcome?);
        }
        Ok(Value::Array(results.into_values().collect()))
    }
}

/// The names in a path: of `$.load.done`, those of `load` and `done`.
fn names(path: &str) -> impl Iterator<Item = &str> {
    assert!(path.starts_with('$') && !path.contains(['[', '*', '(', '\'']), "the path {path}");
    path.trim_start_matches('$').split('.').filter(|name| !name.is_empty())
}

/// What is at a path, if anything is.
fn found(path: &Value, data: &Value, context: &Value) -> Option<Value> {
    let path = path.as_str().unwrap();
    let data = if path.starts_with("$$") { context } else { data };
    names(path).try_fold(data, |data, name| data.get(name)).cloned()
}

/// What is at a path.
fn at(path: &Value, data: &Value, context: &Value) -> Value {
    found(path, data, context).unwrap_or_else(|| panic!("nothing is at {path} in {data}"))
}

/// The data with a value at a path.
fn placed(mut data: Value, path: &Value, value: Value) -> Value {
    let names: Vec<&str> = names(path.as_str().unwrap()).collect();
    let [name] = names[..] else { panic!("a result at {path}") };
    data[name] = value;
    data
}

/// A template of fields, those whose names end in `.$` filled from paths.
fn filled(template: &Value, data: &Value, context: &Value) -> Value {
    let Value::Object(fields) = template else { return template.clone() };
    let fields = fields.iter().map(|(name, value)| match name.strip_suffix(".$") {
        Some(name) => (name.to_owned(), at(value, data, context)),
        None => (name.clone(), filled(value, data, context)),
    });
    Value::Object(fields.collect())
}

/// Whether a rule of a choice holds.
fn holds(rule: &Value, data: &Value, context: &Value) -> bool {
    if let Some(rules) = rule.get("And") {
        return rules.as_array().unwrap().iter().all(|rule| holds(rule, data, context));
    }
    let value = found(&rule["Variable"], data, context);
    if let Some(present) = rule.get("IsPresent") {
        return *present == value.is_some();
    }
    let value = value.unwrap_or_else(|| panic!("nothing is at {} in {data}", rule["Variable"]));
    if let Some(flag) = rule.get("BooleanEquals") {
        return value == *flag;
    }
    // A value of another type is not greater.
    value.as_f64().is_some_and(|value| value > rule["NumericGreaterThan"].as_f64().unwrap())
}

/// What the player does not know of a definition, and where it leads nowhere.
fn faults(definition: &Value) -> Vec<String> {
    let mut found = unknown("the machine", definition, &["Comment", "StartAt", "States"]);
    found.extend(faults_of_states(definition, true));
    found
}

/// The fields that are none of these.
fn unknown(what: &str, fields: &Value, known: &[&str]) -> Vec<String> {
    let empty = Map::new();
    let fields = fields.as_object().unwrap_or(&empty);
    let unknown = fields.keys().filter(|field| !known.contains(&field.as_str()));
    unknown.map(|field| format!("{what}: the field {field} is not known")).collect()
}

fn faults_of_states(states: &Value, fails: bool) -> Vec<String> {
    let mut found = Vec::new();
    let mut reached: BTreeSet<&str> = states["StartAt"].as_str().into_iter().collect();
    let states = states["States"].as_object().unwrap();
    for (name, state) in states {
        let kind = state["Type"].as_str().unwrap_or_default();
        let (fields, needed): (&[&str], &[&str]) = match kind {
            "Pass" => (&["Result", "ResultPath", "Parameters", "Next", "End"], &[]),
            "Task" => (
                &["InputPath", "Parameters", "ResultSelector", "ResultPath", "Catch", "Next"],
                &["Resource", "Retry"],
            ),
            "Map" => (
                &["ResultPath", "Catch", "Next"],
                &["ItemsPath", "ItemSelector", "MaxConcurrency", "ItemProcessor"],
            ),
            "Choice" => (&[], &["Choices", "Default"]),
            "Succeed" => (&["OutputPath"], &[]),
            "Fail" => (&["Error", "Cause", "ErrorPath", "CausePath"], &[]),
            other => {
                found.push(format!("{name}: the type {other} is not known"));
                continue;
            }
        };
        let known: Vec<&str> = ["Type", "Comment"].iter().chain(fields).chain(needed).copied().collect();
        found.extend(unknown(name, state, &known));
        for field in needed.iter().filter(|field| state.get(**field).is_none()) {
            found.push(format!("{name}: it has no {field}"));
        }
        let list = |field: &str| state[field].as_array().cloned().unwrap_or_default();
        let (choices, catchers) = (list("Choices"), list("Catch"));
        for choice in &choices {
            let rules = choice.get("And").and_then(Value::as_array).cloned();
            let comparisons = ["Variable", "IsPresent", "BooleanEquals", "NumericGreaterThan"];
            for rule in rules.iter().flatten() {
                found.extend(unknown(name, rule, &comparisons));
            }
            let more: &[&str] = if rules.is_some() { &["And", "Next"] } else { &["Next"] };
            found.extend(unknown(name, choice, &[&comparisons, more].concat()));
        }
        for retrier in list("Retry") {
            let known = ["ErrorEquals", "IntervalSeconds", "BackoffRate", "MaxAttempts", "JitterStrategy"];
            found.extend(unknown(name, &retrier, &known));
        }
        for catcher in &catchers {
            found.extend(unknown(name, catcher, &["ErrorEquals", "Next"]));
            if catcher["ErrorEquals"] != json!(["States.ALL"]) {
                found.push(format!("{name}: it catches {}", catcher["ErrorEquals"]));
            }
        }
        if let Some(inner) = state.get("ItemProcessor") {
            found.extend(unknown(name, inner, &["ProcessorConfig", "StartAt", "States"]));
            if inner["ProcessorConfig"] != json!({"Mode": "INLINE"}) {
                found.push(format!("{name}: its mode is {}", inner["ProcessorConfig"]));
            }
            found.extend(faults_of_states(inner, false));
        }
        let ends = matches!(kind, "Succeed" | "Fail" | "Choice");
        if !ends && state.get("Next").is_some() == (state.get("End") == Some(&json!(true))) {
            found.push(format!("{name}: it must either end or go on"));
        }
        // An error that nothing catches has no cause of ours. Inside of a map, the map catches it.
        if fails && matches!(kind, "Task" | "Map") && catchers.is_empty() {
            found.push(format!("{name}: its errors are not caught"));
        }
        let leads = [state.get("Next"), state.get("Default")].into_iter().flatten();
        let leads = leads.chain(choices.iter().chain(&catchers).map(|way| &way["Next"]));
        for next in leads.map(|next| next.as_str().unwrap_or_default()) {
            match states.get_key_value(next) {
                Some((next, _)) => {
                    reached.insert(next);
                }
                None => found.push(format!("{name}: it leads to {next}, which is not there")),
            }
        }
    }
    for name in states.keys().filter(|name| !reached.contains(name.as_str())) {
        found.push(format!("{name}: nothing leads to it"));
    }
    found
}

/// The names of all states, those inside of maps among them.
fn state_names(states: &Value) -> BTreeSet<String> {
    let states = states["States"].as_object().unwrap();
    let inner = states.values().filter_map(|state| state.get("ItemProcessor")).flat_map(state_names);
    states.keys().cloned().chain(inner).collect()
}

const BACKFILL: [(&str, &str); 1] = [("PersonByTenantStage", "backfill")];

/// People as they were stored before there was an index.
fn old_people(count: usize) -> Vec<Value> {
    let person = |at: usize| {
        json!({
            "id": {"S": format!("p-{at:04}")},
            "tenant": {"S": if at.is_multiple_of(2) { "acme" } else { "globex" }},
            "name": {"S": format!("Álvaro {at}")},
            "since": {"N": "12345678901234567890.5"},
        })
    };
    (0..count).map(person).collect()
}

fn world_with(people: usize) -> World {
    let world = World::at(&BACKFILL);
    world.put_all("Person", old_people(people));
    world
}

/// What is stored, by id.
fn stored(world: &World) -> Vec<Value> {
    let mut items = world.all("Person", None);
    items.sort_by_key(|item| item["id"]["S"].as_str().unwrap().to_owned());
    items
}

/// The people as a load leaves them.
fn loaded_people(count: usize) -> Vec<Value> {
    let mut people = old_people(count);
    for person in &mut people {
        let text = |name: &str| person[name]["S"].as_str().unwrap();
        let sort_name = tables::person::sort_name(text("name"), text("id")).unwrap();
        person["sortName"] = json!({"S": sort_name});
        person["schemaVersion"] = json!({"N": "1"});
    }
    people
}

#[tokio::test(start_paused = true)]
async fn a_table_is_loaded_in_segments_until_each_is_done() {
    let world = world_with(400);
    let machine = Machine::new(&world, &BACKFILL);
    let input = json!({"index": "person-by-tenant", "dryRun": false, "writeUnitsPerSecond": 80});
    let (outcome, seen) = machine.start(input.clone()).await;
    let output = outcome.unwrap();
    assert_eq!(output["load"]["done"], true, "{output}");
    assert_eq!(output["load"]["dryRun"], false);
    assert_eq!(output["load"]["read"], 400);
    assert_eq!(output["report"]["indexed"], 400, "{output}");
    assert_eq!(output["report"]["verified"], true, "{output}");
    assert_eq!(stored(&world), loaded_people(400));
    assert_eq!(world.all("Person", Some("tenant-sortName-index")).len(), 400);

    let loads = seen.visits["Load"];
    assert!(loads > 8, "each segment was done at once");
    assert_eq!((seen.visits["Segments"], seen.visits["Loaded"]), (1, 8));
    assert_eq!(seen.most_running, SEGMENTS_AT_ONCE);
    // Each segment was told apart, and had its run and its pace from the beginning.
    let load = |segment: u64| {
        let of_it = seen.invoked.iter().filter(|(name, input)| name == "Load" && input["segment"] == segment);
        of_it.map(|(_, input)| input.clone()).collect::<Vec<_>>()
    };
    for segment in 0..8 {
        let inputs = load(segment);
        assert!(!inputs.is_empty(), "{segment}");
        for input in inputs {
            assert_eq!(input["run"], output["load"]["run"]);
            assert_eq!((&input["dryRun"], &input["writeUnitsPerSecond"]), (&json!(false), &json!(80.0)));
        }
    }

    // A second run writes nothing.
    let (outcome, _) = machine.start(input).await;
    let output = outcome.unwrap();
    assert_eq!((&output["load"]["written"], &output["load"]["right"]), (&json!(0), &json!(400)));
}

#[tokio::test(start_paused = true)]
async fn nothing_is_written_unless_it_is_asked_for() {
    let world = world_with(50);
    let machine = Machine::new(&world, &BACKFILL);
    let (outcome, _) = machine.start(json!({"index": "person-by-tenant"})).await;
    let output = outcome.unwrap();
    assert_eq!(output["load"]["dryRun"], true);
    assert_eq!(output["load"]["written"], 50, "{output}");
    assert_eq!(output["report"]["toLoad"], 50, "{output}");
    assert_eq!(stored(&world), old_people(50));
}

fn refused() -> Fault {
    Fault::Reply(
        400,
        json!({"__type": "com.amazon.coral.service#AccessDeniedException", "Message": "not now"}),
    )
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_passes_is_not_seen() {
    let world = world_with(10);
    let machine = Machine::new(&world, &BACKFILL);
    world.script([refused(), refused()]);
    let (outcome, seen) = machine.start(json!({"index": "person-by-tenant"})).await;
    assert_eq!(outcome.unwrap()["load"]["read"], 10);
    let begun = seen.invoked.iter().filter(|(name, _)| name == "Begin").count();
    assert_eq!(begun, 3, "it was tried twice again");
}

#[tokio::test(start_paused = true)]
async fn a_run_that_fails_says_why_and_is_gone_on_with_by_the_same_input() {
    let world = world_with(400);
    let machine = Machine::new(&world, &BACKFILL);
    let input = json!({"index": "person-by-tenant", "dryRun": false, "segments": 4});
    // Some of the people are written, and then nobody may do anything any more.
    world.script(std::iter::repeat_n(Fault::Pass, 200).chain(std::iter::repeat_n(refused(), 10_000)));
    let (outcome, seen) = machine.start(input.clone()).await;
    let failure = outcome.unwrap_err();
    assert_eq!(failure.error, "internal_error");
    assert!(failure.cause.contains("AccessDenied"), "{}", failure.cause);
    assert_eq!(seen.visits["Failed"], 1);
    let run = |seen: &Seen| {
        let load = seen.invoked.iter().find(|(name, _)| name == "Load");
        load.map(|(_, input)| input["run"].clone()).unwrap()
    };
    let first = run(&seen);
    let some = stored(&world).iter().filter(|person| person.get("sortName").is_some()).count();
    assert!(0 < some && some < 400, "{some}");

    world.dynamo.clear_script();
    // It has its segments: another number of them is not the same input.
    let (outcome, _) =
        machine.start(json!({"index": "person-by-tenant", "dryRun": false, "segments": 5})).await;
    assert_eq!(outcome.unwrap_err().error, "invalid_parameter");
    let (outcome, seen) = machine.start(input).await;
    let output = outcome.unwrap();
    assert_eq!(run(&seen), first);
    assert_eq!((&output["load"]["run"], &output["load"]["done"]), (&first, &json!(true)));
    assert_eq!(stored(&world), loaded_people(400));
}

#[tokio::test(start_paused = true)]
async fn a_throttle_that_stays_is_tried_again_and_then_told() {
    let world = world_with(1);
    let machine = Machine::new(&world, &BACKFILL);
    let throttle = json!({
        "__type": "com.amazonaws.dynamodb.v20120810#ThrottlingException", "message": "Rate exceeded"
    });
    world.script(std::iter::repeat_n(Fault::Reply(400, throttle), 1000));
    let started = tokio::time::Instant::now();
    let (outcome, seen) = machine.start(json!({"index": "person-by-tenant"})).await;
    let failure = outcome.unwrap_err();
    assert_eq!(failure.error, "throttled");
    assert!(failure.cause.contains("DynamoDB throttles"), "{}", failure.cause);
    assert_eq!((seen.invoked.len(), seen.visits["Begin"]), (7, 1));
    assert!(started.elapsed() > Duration::from_secs(120), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_mistake_of_the_caller_fails_at_once() {
    let world = world_with(1);
    for (input, stages, error, cause) in [
        (json!({"index": "no-such"}), &BACKFILL, "invalid_parameter", "index must be one of"),
        (json!({}), &BACKFILL, "invalid_event", "missing field `index`"),
        (
            json!({"index": "person-by-tenant", "dryrun": false}),
            &BACKFILL,
            "invalid_event",
            "unknown field `dryrun`",
        ),
        (
            json!({"index": "person-by-tenant", "segments": 0}),
            &BACKFILL,
            "invalid_parameter",
            "segments must be",
        ),
        (json!({"index": "person-by-tenant", "segments": "8"}), &BACKFILL, "invalid_event", "invalid type"),
        (
            json!({"index": "person-by-tenant"}),
            &[("PersonByTenantStage", "write")],
            "invalid_parameter",
            "person-by-tenant is at stage write",
        ),
    ] {
        let (outcome, seen) = Machine::new(&world, stages).start(input.clone()).await;
        let failure = outcome.unwrap_err();
        assert_eq!(failure.error, error, "{input}");
        assert!(failure.cause.contains(cause), "{input}: {}", failure.cause);
        assert_eq!(seen.invoked.len(), 1, "{input}");
    }
    let (outcome, seen) =
        Machine::new(&world, &BACKFILL).start(json!({"index": "person-by-tenant", "segments": 1001})).await;
    assert_eq!(outcome.unwrap_err().cause, "segments must be at most 1000 here");
    assert_eq!(seen.invoked.len(), 0);
    assert_eq!(world.all("Maintenance", None), Vec::<Value>::new(), "no run was begun");
}

#[tokio::test(start_paused = true)]
async fn the_most_segments_are_not_too_much_for_an_execution() {
    let world = world_with(20);
    let machine = Machine::new(&world, &BACKFILL);
    let mut sizes = Vec::new();
    for segments in [20, 40] {
        let (outcome, seen) = machine.start(json!({"index": "person-by-tenant", "segments": segments})).await;
        assert_eq!(outcome.unwrap()["load"]["segments"], segments);
        sizes.push((seen.events, seen.most_bytes));
    }
    let choices = &definition()["States"]["Check"]["Choices"];
    let most = usize::try_from(choices[0]["And"][1]["NumericGreaterThan"].as_u64().unwrap()).unwrap();
    // What 20 segments more add, for all that there may be. Half is left for segments that take long.
    let [(events, bytes), (more_events, more_bytes)] = sizes[..] else { panic!("{sizes:?}") };
    let expected = |few: usize, more: usize| few + (more - few) * most / 20;
    assert!(expected(events, more_events) < MAX_EVENTS / 2, "{sizes:?}");
    assert!(expected(bytes, more_bytes) < MAX_PAYLOAD / 2, "{sizes:?}");
}

#[tokio::test(start_paused = true)]
async fn every_state_is_visited() {
    let world = world_with(20);
    let machine = Machine::new(&world, &BACKFILL);
    let mut visited = BTreeSet::new();
    for input in [
        json!({"index": "person-by-tenant"}),
        json!({"index": "no-such"}),
        json!({"index": "person-by-tenant", "segments": 1001}),
    ] {
        let (_, seen) = machine.start(input).await;
        visited.extend(seen.visits.into_keys());
    }
    assert_eq!(visited, state_names(&machine.definition));
}

#[test]
fn as_many_segments_are_loaded_at_once_as_the_load_shares_its_pace_among() {
    assert_eq!(definition()["States"]["Segments"]["MaxConcurrency"], SEGMENTS_AT_ONCE);
}

/// The linters look into no definition that is written in the template, so this is where it is checked.
#[test]
fn a_definition_that_is_wrong_in_one_place_is_caught() {
    let wrong = |pointer: &str, change: &dyn Fn(&mut Map<String, Value>)| {
        let mut definition = definition();
        change(definition.pointer_mut(pointer).unwrap().as_object_mut().unwrap());
        faults(&definition)
    };
    let set = |field: &'static str, value: Value| {
        move |fields: &mut Map<String, Value>| {
            fields.insert(field.to_owned(), value.clone());
        }
    };
    let without = |field: &'static str| {
        move |fields: &mut Map<String, Value>| {
            fields.remove(field);
        }
    };
    let load = "/States/Segments/ItemProcessor/States/Load";
    for (found, caught) in [
        (wrong("/States/Segments", &set("Next", json!("Finnish"))), "it leads to Finnish"),
        (wrong("/States/Segments", &set("Next", json!("Report"))), "Finish: nothing leads to it"),
        (wrong("/States/Segments", &without("Next")), "it must either end or go on"),
        (wrong("/States/Segments", &set("ItemPath", json!("$.run"))), "the field ItemPath is not known"),
        (wrong("/States/Segments", &without("ItemsPath")), "it has no ItemsPath"),
        (wrong("/States/Segments", &set("Type", json!("Parallel"))), "the type Parallel is not known"),
        (wrong("/States/Segments", &without("Catch")), "its errors are not caught"),
        (
            wrong("/States/Segments/ItemProcessor", &set("ProcessorConfig", json!({"Mode": "DISTRIBUTED"}))),
            "its mode",
        ),
        (
            wrong("/States/IsFinished/Choices/0", &set("StringEquals", json!("yes"))),
            "StringEquals is not known",
        ),
        (wrong("/States/IsFinished", &set("Default", json!("Load"))), "it leads to Load"),
        (
            wrong(&format!("{load}/Retry/1"), &set("MaxDelaySeconds", json!(9))),
            "MaxDelaySeconds is not known",
        ),
        (wrong(load, &set("TimeoutSeconds", json!(9))), "TimeoutSeconds is not known"),
        (wrong("", &set("QueryLanguage", json!("JSONata"))), "QueryLanguage is not known"),
    ] {
        assert!(found.iter().any(|fault| fault.contains(caught)), "{caught}: {found:?}");
    }
}
