//! The template and the declarations say the same, in both directions, whatever stage each new index is
//! at. To show that this bites, the same check is run on templates that are wrong in one place each.

use std::collections::{BTreeMap, BTreeSet};

use kit::config::gives_cursors;
use kit::function::Function;
use kit::job::Work;
use kit::key::{Key, Rollout, Table};
use kit::operation::Access;
use kit::rollout::{Stage, Stages};
use local::template::{Grant, Template, TemplateError};
use serde_json::{Value, json};

use crate::registry;
use crate::world::template_text;

/// How far each index is that is rolled out.
type At = Vec<(&'static Rollout, Stage)>;

/// All of them at this stage.
fn all_at(stage: Stage) -> At {
    tables::ROLLOUTS.iter().map(|rollout| (*rollout, stage)).collect()
}

/// These at those stages, and all others read.
fn only(stages: &[(&str, Stage)]) -> At {
    let stage = |rollout: &Rollout| stages.iter().find(|(name, _)| *name == rollout.name);
    let rollouts = tables::ROLLOUTS.iter().copied();
    rollouts.map(|rollout| (rollout, stage(rollout).map_or(Stage::Read, |(_, stage)| *stage))).collect()
}

/// All of them together at each stage, each of them alone, and those of one table in every combination.
fn everywhere() -> Vec<At> {
    let mut everywhere: Vec<At> = Stage::ALL.into_iter().map(all_at).collect();
    for stage in Stage::ALL {
        for (at, rollout) in tables::ROLLOUTS.iter().enumerate() {
            everywhere.push(only(&[(rollout.name, stage)]));
            let after = tables::ROLLOUTS.iter().skip(at + 1);
            for other in after.filter(|other| other.table.name == rollout.table.name) {
                everywhere.extend(
                    Stage::ALL.map(|elsewhere| only(&[(rollout.name, stage), (other.name, elsewhere)])),
                );
            }
        }
    }
    everywhere
}

fn stages(at: &At) -> Stages {
    Stages::new(at.iter().map(|(rollout, stage)| (rollout.name, *stage)).collect())
}

/// What the declaration of a function needs to be allowed.
fn needed(function: Function, stages: &Stages) -> BTreeSet<(String, String)> {
    let mut needed = BTreeSet::new();
    let mut need = |action: &str, resource: String| {
        needed.insert((format!("dynamodb:{action}"), resource));
    };
    match function {
        Function::List(list) => {
            let table = list.table().name;
            for question in list.questions() {
                if let Some(old) = question.old_path(stages) {
                    need(if old.scan { "Scan" } else { "Query" }, table.to_owned());
                    need("BatchGetItem", table.to_owned());
                }
                // That of its key it has at every stage: a right that comes with the deployment which needs
                // it may come too late.
                match question.index() {
                    Some(index) => need("Query", format!("{table}/index/{index}")),
                    None => need("Query", table.to_owned()),
                }
                if question.fetches_rows_by_key(list.answer()) {
                    need("BatchGetItem", table.to_owned());
                }
            }
            if list.item_path().is_some() {
                need("GetItem", table.to_owned());
            }
        }
        Function::Operation(operation) => {
            for access in operation.routes.iter().flat_map(|route| route.access) {
                match access {
                    Access::Get(table) => need("GetItem", table.name.to_owned()),
                    Access::Put(table) => need("PutItem", table.name.to_owned()),
                    Access::Update(table) => need("UpdateItem", table.name.to_owned()),
                    Access::Delete(table) => need("DeleteItem", table.name.to_owned()),
                }
            }
        }
        Function::Job(job) => {
            if let Work::Load(progress) = job.work() {
                for action in ["GetItem", "PutItem", "UpdateItem"] {
                    need(action, progress.name.to_owned());
                }
            }
            for rollout in job.rollouts() {
                let (table, stage) = (rollout.table.name, stages.of(rollout));
                match job.work() {
                    Work::Load(_) if stage >= Stage::Backfill => {
                        need("Scan", table.to_owned());
                        need("UpdateItem", table.to_owned());
                    }
                    Work::Load(_) => {}
                    Work::Report => {
                        need("DescribeTable", table.to_owned());
                        need("Scan", table.to_owned());
                        if stage >= Stage::Create {
                            need("Scan", format!("{table}/index/{}", rollout.index.name));
                        }
                    }
                }
            }
        }
    }
    needed
}

/// Everything in which a template differs from the declarations while indexes are at these stages.
fn differences(template: &Template, at: &At) -> Vec<String> {
    // Values that no default has, so that each is seen where it belongs.
    let mut parameters = vec![
        ("TablePrefix".to_owned(), "x-"),
        ("TenantClaim".to_owned(), "claim"),
        ("TimeZone".to_owned(), "Zone/City"),
        ("CursorKeyVersion".to_owned(), "new"),
        ("CursorKeyPreviousVersion".to_owned(), "old"),
        ("AlarmTopicArn".to_owned(), "topic"),
    ];
    parameters.extend(at.iter().map(|(rollout, stage)| (rollout.parameter(), stage.as_str())));
    let parameters: Vec<(&str, &str)> =
        parameters.iter().map(|(name, value)| (name.as_str(), *value)).collect();
    let found = || -> Result<Vec<String>, TemplateError> {
        let mut found = stage_parameters(template);
        let template = template.clone().with_parameters(&parameters)?;
        found.extend(functions(&template, &stages(at))?);
        found.extend(changing_policies(&template)?);
        found.extend(tables(&template, &stages(at))?);
        found.extend(surroundings(&template)?);
        Ok(found)
    };
    found().unwrap_or_else(|error| vec![error.to_string()])
}

/// Lists whose own policy changes from stage to stage. A deployment changes a policy before its function, so
/// the function would for some seconds do what it may do no more.
fn changing_policies(template: &Template) -> Result<Vec<String>, TemplateError> {
    let parameters: Vec<String> = tables::ROLLOUTS.iter().map(|rollout| rollout.parameter()).collect();
    let read: Vec<(&str, &str)> = parameters.iter().map(|name| (name.as_str(), "read")).collect();
    let at_the_end = template.clone().with_parameters(&read)?.functions()?;
    let lists: Vec<&str> = registry::lists().iter().map(|list| list.name()).collect();
    Ok(template
        .functions()?
        .into_iter()
        .zip(at_the_end)
        .filter(|(function, _)| lists.contains(&function.folder.as_str()))
        .filter(|(now, then)| now.properties.get("Policies") != then.properties.get("Policies"))
        .map(|(function, _)| format!("{}: its own policy changes with a stage", function.folder))
        .collect())
}

/// The parameters that set the stages.
fn stage_parameters(template: &Template) -> Vec<String> {
    let mut found = Vec::new();
    let parameters = template.root()["Parameters"].as_object().unwrap();
    let declared: BTreeSet<String> = tables::ROLLOUTS.iter().map(|rollout| rollout.parameter()).collect();
    for name in parameters.keys().filter(|name| name.ends_with("Stage")) {
        if !declared.contains(name) {
            found.push(format!("{name}: no index is rolled out by it"));
        }
    }
    for name in declared {
        let Some(parameter) = parameters.get(&name) else {
            found.push(format!("{name}: the template has no such parameter"));
            continue;
        };
        // A new system has all indexes from the beginning.
        if parameter["Default"] != Stage::Read.as_str() {
            found.push(format!("{name}: its default is {}", parameter["Default"]));
        }
        if parameter["AllowedValues"] != json!(Stage::ALL.map(Stage::as_str)) {
            found.push(format!("{name}: it may be {}", parameter["AllowedValues"]));
        }
    }
    found
}

/// The namespace of the metrics, as the template writes it.
fn namespace() -> Value {
    json!({"Fn::Sub": "Chaveiro/${AWS::StackName}"})
}

/// The sum of a metric over five minutes, as an alarm reckons with it.
fn sum(id: &str, metric: Value) -> Value {
    json!({"Id": id, "ReturnData": false, "MetricStat": {"Metric": metric, "Period": 300, "Stat": "Sum"}})
}

/// The alarms: when each of them wakes somebody. It is written out here as well as in the template, so that
/// a threshold is not changed in passing.
fn alarms() -> BTreeMap<&'static str, Value> {
    let told = json!({"Namespace": namespace(), "MetricName": "ServerErrors"});
    let gateway = json!({
        "Namespace": "AWS/ApiGateway",
        "MetricName": "5xx",
        "Dimensions": [{"Name": "ApiId", "Value": {"Ref": "Api"}}],
    });
    let runs = |name: &str| {
        json!({
            "Namespace": "AWS/States",
            "MetricName": name,
            "Dimensions": [{"Name": "StateMachineArn", "Value": {"Ref": "BackfillStateMachine"}}],
        })
    };
    BTreeMap::from([
        (
            "FaultsAlarm",
            json!({
                "Namespace": namespace(),
                "MetricName": "Faults",
                "Statistic": "Sum",
                "Period": 300,
                "EvaluationPeriods": 1,
                "Threshold": 1,
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "TreatMissingData": "notBreaching",
                "AlarmActions": ["topic"],
            }),
        ),
        (
            "ThrottledAlarm",
            json!({
                "Namespace": namespace(),
                "MetricName": "Throttled",
                "Statistic": "Sum",
                "Period": 300,
                "EvaluationPeriods": 3,
                "DatapointsToAlarm": 2,
                "Threshold": 1,
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "TreatMissingData": "notBreaching",
                "AlarmActions": ["topic"],
            }),
        ),
        (
            "DurationAlarm",
            json!({
                "Namespace": namespace(),
                "MetricName": "Duration",
                "ExtendedStatistic": "p95",
                "EvaluateLowSampleCountPercentile": "ignore",
                "Period": 300,
                "EvaluationPeriods": 3,
                "Threshold": 3000,
                "ComparisonOperator": "GreaterThanThreshold",
                "TreatMissingData": "notBreaching",
                "AlarmActions": ["topic"],
            }),
        ),
        (
            "GatewayFaultsAlarm",
            json!({
                "Metrics": [
                    {
                        "Id": "untold",
                        "Label": "5xx that no function told of",
                        "Expression": "gateway - FILL(told, 0)",
                    },
                    sum("gateway", gateway),
                    sum("told", told),
                ],
                "EvaluationPeriods": 6,
                "DatapointsToAlarm": 2,
                "Threshold": 1,
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "TreatMissingData": "notBreaching",
                "AlarmActions": ["topic"],
            }),
        ),
        (
            "BackfillAlarm",
            json!({
                "Metrics": [
                    {
                        "Id": "ended",
                        "Label": "runs that failed",
                        "Expression": "FILL(failed, 0) + FILL(late, 0)",
                    },
                    sum("failed", runs("ExecutionsFailed")),
                    sum("late", runs("ExecutionsTimedOut")),
                ],
                "EvaluationPeriods": 3,
                "DatapointsToAlarm": 1,
                "Threshold": 1,
                "ComparisonOperator": "GreaterThanOrEqualToThreshold",
                "TreatMissingData": "notBreaching",
                "AlarmActions": ["topic"],
            }),
        ),
    ])
}

/// What the alarms of a template are otherwise than agreed. Only their descriptions are free.
fn alarm_differences(resources: &BTreeMap<String, serde_json::Map<String, Value>>) -> Vec<String> {
    let mut found = Vec::new();
    let mut expected = alarms();
    for (id, resource) in
        resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Alarm")
    {
        let mut alarm = resource["Properties"].clone();
        if alarm.as_object_mut().unwrap().remove("AlarmDescription").is_none() {
            found.push(format!("{id}: it does not say what it means"));
        }
        let Some(agreed) = expected.remove(id.as_str()) else {
            found.push(format!("{id}: such an alarm is not agreed"));
            continue;
        };
        if alarm != agreed || resource.len() != 2 {
            found.push(format!("{id}: it is {alarm} where it should be {agreed}"));
        }
    }
    found.extend(expected.keys().map(|id| format!("{id}: there is no such alarm")));
    found
}

/// What is neither a function nor a table: the gateway, the logs, the alarms, the cursor key.
fn surroundings(template: &Template) -> Result<Vec<String>, TemplateError> {
    let mut found = Vec::new();
    let resources = template.resources()?;
    let mut check = |what: &str, right: bool| {
        if !right {
            found.push(what.to_owned());
        }
    };
    let known = [
        "AWS::CloudWatch::Alarm",
        "AWS::CloudWatch::Dashboard",
        "AWS::DynamoDB::Table",
        "AWS::IAM::Policy",
        "AWS::Logs::LogGroup",
        "AWS::SecretsManager::Secret",
        "AWS::Serverless::Function",
        "AWS::Serverless::HttpApi",
        "AWS::Serverless::StateMachine",
    ];
    for (id, resource) in &resources {
        let kind = resource["Type"].as_str().unwrap_or_default();
        check(&format!("{id}: a resource of type {kind} is not expected"), known.contains(&kind));
        match kind {
            "AWS::IAM::Policy" => check(&format!("{id}: it is no old path"), id.ends_with("OldPath")),
            "AWS::Logs::LogGroup" => {
                let retention = resource["Properties"].get("RetentionInDays");
                check(&format!("{id}: its entries are kept for ever"), retention.is_some());
            }
            "AWS::SecretsManager::Secret" => {
                let retained = ["DeletionPolicy", "UpdateReplacePolicy"]
                    .iter()
                    .all(|policy| resource.get(*policy) == Some(&json!("Retain")));
                check(&format!("{id}: it is not retained"), retained);
            }
            "AWS::Serverless::HttpApi" => {
                let api = &resource["Properties"];
                check("Api: its default authorizer is not Jwt", api["Auth"]["DefaultAuthorizer"] == "Jwt");
                let authorizer = &api["Auth"]["Authorizers"]["Jwt"]["JwtConfiguration"];
                check(
                    "Api: the authorizer has no issuer",
                    authorizer["issuer"] == json!({"Ref": "JwtIssuer"}),
                );
                check(
                    "Api: the authorizer has no audience",
                    authorizer["audience"] == json!({"Ref": "JwtAudience"}),
                );
                let origins = &api["CorsConfiguration"]["AllowOrigins"];
                check("Api: its origins are not a parameter", *origins == json!({"Ref": "AllowedOrigins"}));
                check("Api: it writes no access log", api["AccessLogSettings"].is_object());
            }
            "AWS::Serverless::StateMachine" => {
                let machine = resource["Properties"].as_object().unwrap();
                let policies = json!([{"Statement": [{
                    "Effect": "Allow",
                    "Action": ["lambda:InvokeFunction"],
                    "Resource": [
                        {"Fn::GetAtt": ["BackfillFunction", "Arn"]},
                        {"Fn::GetAtt": ["IndexReportFunction", "Arn"]},
                    ],
                }]}]);
                check(
                    &format!("{id}: it may not do exactly this: invoke the two jobs"),
                    machine.get("Policies") == Some(&policies),
                );
                let properties: BTreeSet<&str> = machine.keys().map(String::as_str).collect();
                check(
                    &format!("{id}: it has {properties:?}"),
                    properties == BTreeSet::from(["Definition", "Policies", "Type"]) && resource.len() == 2,
                );
            }
            _ => {}
        }
    }
    found.extend(alarm_differences(&resources));
    Ok(found)
}

fn functions(template: &Template, stages: &Stages) -> Result<Vec<String>, TemplateError> {
    let mut found = Vec::new();
    let deployed = template.functions()?;
    let declared: BTreeMap<&str, Function> =
        registry::all().into_iter().map(|function| (function.name(), function)).collect();
    for name in declared.keys() {
        if !deployed.iter().any(|function| function.folder == *name) {
            found.push(format!("{name}: the template has no function of this folder"));
        }
    }
    for function in &deployed {
        let name = &function.folder;
        let Some(declaration) = declared.get(name.as_str()) else {
            found.push(format!("{name}: the template deploys what no folder declares"));
            continue;
        };
        let camel: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        if function.id != format!("{camel}Function") {
            found.push(format!("{name}: its resource is called {}", function.id));
        }
        let routes: BTreeSet<(&str, &str)> =
            function.routes.iter().map(|route| (route.method.as_str(), route.path.as_str())).collect();
        let declared = declaration.routes();
        if routes != declared.iter().map(|(method, path)| (method.as_str(), *path)).collect() {
            found.push(format!("{name}: it is served at {routes:?}"));
        }
        if !function.other_policies.is_empty() {
            found.push(format!(
                "{name}: it has a policy that is not written out: {:?}",
                function.other_policies
            ));
        }
        let granted: BTreeSet<(String, String)> = function
            .grants
            .iter()
            .map(|Grant { action, resource }| (action.clone(), resource.clone()))
            .collect();
        let needed = needed(*declaration, stages);
        for (action, resource) in granted.difference(&needed) {
            found.push(format!("{name}: it may {action} on {resource} without need"));
        }
        for (action, resource) in needed.difference(&granted) {
            found.push(format!("{name}: it may not {action} on {resource}"));
        }
        // IAM refuses a statement about nothing.
        let policies = function.properties["Policies"].as_array().into_iter().flatten();
        let mut statements = policies.flat_map(|policy| policy["Statement"].as_array().into_iter().flatten());
        if statements.any(|statement| statement["Resource"] == json!([])) {
            found.push(format!("{name}: a statement of its policy names no resource"));
        }
        let attributes: Vec<&str> = function.attributes.keys().map(String::as_str).collect();
        if attributes.iter().any(|name| !["Type", "Metadata"].contains(name)) {
            found.push(format!("{name}: its resource has {attributes:?}"));
        }
        // Its rights are there before it is told to use them, since it names their policy.
        let old_path = declaration.rollouts().iter().any(|rollout| stages.of(rollout) < Stage::Read);
        let description = match declaration {
            Function::List(_) if old_path => {
                Some(json!({"Fn::Sub": format!("Reads the old way, by ${{{camel}OldPath}}")}))
            }
            Function::List(_) if !declaration.rollouts().is_empty() => Some(json!("Reads its index")),
            _ => None,
        };
        if function.properties.get("Description") != description.as_ref() {
            found.push(format!("{name}: it is described as {:?}", function.properties.get("Description")));
        }
        if function.attributes.get("Metadata") != Some(&json!({"BuildMethod": "rust-cargolambda"})) {
            found.push(format!("{name}: it is built by another method"));
        }
        let known = [
            "Architectures",
            "CodeUri",
            "Description",
            "Environment",
            "Events",
            "Handler",
            "LoggingConfig",
            "MemorySize",
            "Policies",
            "Runtime",
            "Timeout",
        ];
        for property in function.properties.keys().filter(|property| !known.contains(&property.as_str())) {
            found.push(format!("{name}: its {property} is not expected"));
        }
        for event in function.properties.get("Events").and_then(Value::as_object).into_iter().flatten() {
            let settings = event.1["Properties"].as_object().into_iter().flatten();
            for (setting, _) in
                settings.filter(|(name, _)| !["ApiId", "Method", "Path"].contains(&name.as_str()))
            {
                found.push(format!("{name}: its route {} has {setting}", event.0));
            }
        }
        let environment = function.environment();
        let secret = |version: &str| json!({"Fn::Sub": format!("{{{{resolve:secretsmanager:${{CursorKey}}:SecretString:::{version}}}}}")});
        let gives = matches!(declaration, Function::List(list) if gives_cursors(list));
        let cursor_keys = [("CURSOR_KEY", "new"), ("CURSOR_KEY_PREVIOUS", "old")];
        for (variable, version) in cursor_keys {
            let expected = gives.then(|| secret(version));
            if environment.get(variable) != expected.as_ref() {
                found.push(format!("{name}: its {variable} is {:?}", environment.get(variable)));
            }
        }
        let values = [
            ("TABLE_PREFIX", json!("x-")),
            ("TENANT_CLAIM", json!("claim")),
            ("TIME_ZONE", json!("Zone/City")),
            ("METRICS_NAMESPACE", namespace()),
        ];
        for (variable, value) in values {
            if environment.get(variable).is_some_and(|set| *set != value) {
                found.push(format!("{name}: its {variable} is {}", environment[variable]));
            }
        }
        let mut expected = BTreeSet::from(["TABLE_PREFIX", "TENANT_CLAIM", "TIME_ZONE", "METRICS_NAMESPACE"]);
        let rollouts = declaration.rollouts();
        let variables: Vec<String> = rollouts.iter().map(|rollout| rollout.variable()).collect();
        for (variable, rollout) in variables.iter().zip(&rollouts) {
            expected.insert(variable);
            let stage = json!(stages.of(rollout).as_str());
            if environment.get(variable).is_some_and(|set| *set != stage) {
                found.push(format!("{name}: its {variable} is {}", environment[variable]));
            }
        }
        if matches!(declaration, Function::List(list) if gives_cursors(list)) {
            expected.insert("CURSOR_KEY");
        }
        // Those depend on a parameter of the template.
        let conditional = ["AWS_ENDPOINT_URL_DYNAMODB", "CURSOR_KEY_PREVIOUS"];
        let set: BTreeSet<&str> =
            environment.keys().map(String::as_str).filter(|name| !conditional.contains(name)).collect();
        if set != expected {
            found.push(format!("{name}: its environment sets {set:?} where it reads {expected:?}"));
        }
        let (memory, timeout) = match declaration {
            // The longest that there is.
            Function::Job(_) => (512, 900),
            // Below the gateway's 30 s.
            Function::List(_) | Function::Operation(_) => (256, 29),
        };
        for (property, value) in [
            ("Runtime", json!("provided.al2023")),
            ("Handler", json!("bootstrap")),
            ("Architectures", json!(["arm64"])),
            ("MemorySize", json!(memory)),
            ("Timeout", json!(timeout)),
        ] {
            if function.properties.get(property) != Some(&value) {
                found.push(format!("{name}: its {property} is not {value}"));
            }
        }
    }
    Ok(found)
}

fn key_of(schema: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parts = schema.as_array().into_iter().flatten();
    parts.map(|part| (text(&part["AttributeName"]), text(&part["KeyType"]))).collect()
}

fn declared_key(key: &Key) -> Vec<(String, String)> {
    let roles = ["HASH", "RANGE"];
    key.attributes()
        .zip(roles)
        .map(|(attribute, role)| (attribute.name.to_owned(), role.to_owned()))
        .collect()
}

fn tables(template: &Template, stages: &Stages) -> Result<Vec<String>, TemplateError> {
    let mut found = Vec::new();
    let resources = template.resources()?;
    let deployed: BTreeMap<&String, &serde_json::Map<String, Value>> =
        resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::DynamoDB::Table").collect();
    for name in deployed.keys() {
        if !tables::ALL.iter().any(|table| table.name == name.as_str()) {
            found.push(format!("{name}: the template has a table that no code declares"));
        }
    }
    for table in tables::ALL {
        match deployed.get(&table.name.to_owned()) {
            Some(resource) => found.extend(table_differences(table, resource, stages)),
            None => found.push(format!("{}: the template has no such table", table.name)),
        }
    }
    Ok(found)
}

fn table_differences(
    table: &Table,
    resource: &serde_json::Map<String, Value>,
    stages: &Stages,
) -> Vec<String> {
    let mut found = Vec::new();
    let exists = |name: &str| {
        let rollout = tables::ROLLOUTS
            .iter()
            .find(|rollout| rollout.table.name == table.name && rollout.index.name == name);
        rollout.is_none_or(|rollout| stages.of(rollout) >= Stage::Create)
    };
    let declared: Vec<_> = table.indexes.iter().filter(|index| exists(index.name)).collect();
    let mut check = |what: &str, right: bool| {
        if !right {
            found.push(format!("{}: {what}", table.name));
        }
    };
    let properties = &resource["Properties"];
    check("it has another name", properties["TableName"] == format!("x-{}", table.name));
    check("it is not on demand", properties["BillingMode"] == "PAY_PER_REQUEST");
    let recovery = &properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"];
    check("it has no point-in-time recovery", recovery == true);
    for policy in ["DeletionPolicy", "UpdateReplacePolicy"] {
        check(&format!("its {policy} is not Retain"), resource.get(policy) == Some(&json!("Retain")));
    }
    check("it has another key", key_of(&properties["KeySchema"]) == declared_key(&table.key));
    let defined: BTreeSet<(String, String)> = properties["AttributeDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|attribute| {
            let text = |name: &str| attribute[name].as_str().unwrap_or_default().to_owned();
            (text("AttributeName"), text("AttributeType"))
        })
        .collect();
    let keys: BTreeSet<(String, String)> = std::iter::once(&table.key)
        .chain(declared.iter().map(|index| &index.key))
        .flat_map(Key::attributes)
        .map(|attribute| (attribute.name.to_owned(), attribute.scalar.as_str().to_owned()))
        .collect();
    check(&format!("its attributes are {defined:?} where its keys have {keys:?}"), defined == keys);
    let indexes: BTreeMap<String, (Vec<(String, String)>, String)> = properties["GlobalSecondaryIndexes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|index| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let projection = text(&index["Projection"]["ProjectionType"]);
            (text(&index["IndexName"]), (key_of(&index["KeySchema"]), projection))
        })
        .collect();
    check("its list of indexes is empty", properties.get("GlobalSecondaryIndexes") != Some(&json!([])));
    let declared: BTreeMap<String, (Vec<(String, String)>, String)> = declared
        .into_iter()
        .map(|index| (index.name.to_owned(), (declared_key(&index.key), "ALL".to_owned())))
        .collect();
    check(&format!("its indexes are {indexes:?} where it has {declared:?}"), indexes == declared);
    found
}

#[test]
fn the_template_and_the_declarations_agree() {
    let template = Template::parse(&template_text()).unwrap();
    for at in everywhere() {
        let told: Vec<(&str, &str)> =
            at.iter().map(|(rollout, stage)| (rollout.name, stage.as_str())).collect();
        assert_eq!(differences(&template, &at), Vec::<String>::new(), "{told:?}");
    }
}

/// A change to the template, and what the check must say of it.
struct Mutant {
    from: &'static str,
    to: &'static str,
    caught: &'static str,
}

#[test]
fn a_template_that_is_wrong_in_one_place_is_caught() {
    let more = [
        Mutant {
            from: "            - !Sub '{{resolve:secretsmanager:${CursorKey}:SecretString:::${CursorKeyPreviousVersion}}}'\n",
            to: "            - !Sub '{{resolve:secretsmanager:${CursorKey}:SecretString:::${CursorKeyVersion}}}'\n",
            caught: "cash: its CURSOR_KEY_PREVIOUS is",
        },
        Mutant {
            from: "          CURSOR_KEY: !Sub '{{resolve:secretsmanager:${CursorKey}:",
            to: "          CURSOR_KEY: !Sub '{{resolve:secretsmanager:${OtherKey}:",
            caught: "cash: its CURSOR_KEY is",
        },
        Mutant {
            from: "Action: [dynamodb:GetItem]",
            to: "Action: [dynamodb:Query]",
            caught: "product: it may not dynamodb:GetItem on Product",
        },
        Mutant {
            from: "TableName: !Sub '${TablePrefix}Cart'",
            to: "TableName: Cart",
            caught: "Cart: it has another name",
        },
        Mutant {
            from: "TENANT_CLAIM: !Ref TenantClaim",
            to: "TENANT_CLAIM: !Ref TablePrefix",
            caught: "its TENANT_CLAIM is",
        },
        Mutant {
            from: "METRICS_NAMESPACE: !Sub 'Chaveiro/${AWS::StackName}'",
            to: "METRICS_NAMESPACE: Chaveiro",
            caught: "its METRICS_NAMESPACE is",
        },
        Mutant {
            from: "Resources:\n",
            to: "Resources:\n  More:\n    Type: AWS::IAM::ManagedPolicy\n    Properties: {}\n",
            caught: "type AWS::IAM::ManagedPolicy is not expected",
        },
        Mutant {
            from: "  CartFunction:\n    Type: AWS::Serverless::Function\n",
            to: "  CartFunction:\n    Type: AWS::Serverless::Function\n    Connectors: {}\n",
            caught: "cart: its resource has",
        },
        Mutant {
            from: "      CodeUri: functions/cart\n",
            to: "      CodeUri: functions/cart\n      FunctionUrlConfig: { AuthType: NONE }\n",
            caught: "cart: its FunctionUrlConfig is not expected",
        },
        Mutant {
            from: "      CodeUri: functions/cart\n",
            to: "      CodeUri: functions/cart\n      MemorySize: 128\n",
            caught: "cart: its MemorySize is not 256",
        },
        Mutant {
            from: "Method: GET, Path: /carts }",
            to: "Method: GET, Path: /carts, Auth: { Authorizer: NONE } }",
            caught: "cart: its route List has Auth",
        },
        Mutant {
            from: "        DefaultAuthorizer: Jwt\n",
            to: "",
            caught: "its default authorizer is not Jwt",
        },
        Mutant {
            from: "        AllowOrigins: !Ref AllowedOrigins\n",
            to: "        AllowOrigins: ['*']\n",
            caught: "its origins are not a parameter",
        },
        Mutant {
            from: "      RetentionInDays: !Ref LogRetentionDays\n",
            to: "      LogGroupClass: STANDARD\n",
            caught: "its entries are kept for ever",
        },
        Mutant {
            from: "    Type: AWS::SecretsManager::Secret\n    DeletionPolicy: Retain\n",
            to: "    Type: AWS::SecretsManager::Secret\n",
            caught: "CursorKey: it is not retained",
        },
        Mutant {
            from: "    Default: arm64\n",
            to: "    Default: x86_64\n",
            caught: "its Architectures is not",
        },
        Mutant {
            from: "BuildMethod: rust-cargolambda",
            to: "BuildMethod: makefile",
            caught: "it is built by another method",
        },
    ];
    let mutants = [
        Mutant {
            from: "        - IndexName: tenant-status-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: status, KeyType: RANGE }\n          Projection: { ProjectionType: ALL }\n",
            to: "",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "{ AttributeName: status, AttributeType: S }",
            to: "{ AttributeName: status, AttributeType: N }",
            caught: "SalesOrder: its attributes are",
        },
        Mutant {
            from: "tenant-createdAt-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: createdAt, KeyType: RANGE }\n          Projection: { ProjectionType: ALL }",
            to: "tenant-createdAt-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: createdAt, KeyType: RANGE }\n          Projection: { ProjectionType: KEYS_ONLY }",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "tenant-createdAt-index\n          KeySchema",
            to: "tenant-created-index\n          KeySchema",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            to: "Action: [dynamodb:Query, dynamodb:Scan]\n              Resource: [!Sub '${Cart.Arn}",
            caught: "cart: it may dynamodb:Scan on",
        },
        Mutant {
            from: "Resource: [!Sub '${Cart.Arn}/index/tenant-customerId-index']",
            to: "Resource: '*'",
            caught: "cart: it may dynamodb:Query on *",
        },
        Mutant {
            from: "Resource: [!Sub '${Cart.Arn}/index/tenant-customerId-index']",
            to: "Resource: [!Sub '${Cart.Arn}/index/*']",
            caught: "cart: it may dynamodb:Query on Cart/index/*",
        },
        Mutant {
            from: "      Policies:\n        - Statement:\n            - Effect: Allow\n              Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            to: "      Policies:\n        - DynamoDBReadPolicy: { TableName: !Ref Cart }\n        - Statement:\n            - Effect: Allow\n              Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            caught: "cart: it has a policy that is not written out",
        },
        Mutant {
            from: "Action: [dynamodb:PutItem]\n              Resource: [!GetAtt SalesOrder.Arn]",
            to: "Action: [dynamodb:DeleteItem]\n              Resource: [!GetAtt SalesOrder.Arn]",
            caught: "order-create: it may not dynamodb:PutItem on SalesOrder",
        },
        Mutant {
            from: "    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Counter'",
            to: "    Properties:\n      TableName: !Sub '${TablePrefix}Counter'",
            caught: "Counter: its UpdateReplacePolicy is not Retain",
        },
        Mutant {
            from: "    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Cart'",
            to: "    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Cart'",
            caught: "Cart: its DeletionPolicy is not Retain",
        },
        Mutant {
            from: "PointInTimeRecoveryEnabled: true",
            to: "PointInTimeRecoveryEnabled: false",
            caught: "it has no point-in-time recovery",
        },
        Mutant {
            from: "Method: GET, Path: /carts",
            to: "Method: GET, Path: /cart",
            caught: "cart: it is served at",
        },
        Mutant {
            from: "Method: POST, Path: /orders",
            to: "Method: ANY, Path: /orders",
            caught: "order-create: it is served at",
        },
        Mutant { from: "        TABLE_PREFIX: !Ref TablePrefix\n", to: "", caught: "its environment sets" },
        Mutant { from: "    Timeout: 29\n", to: "    Timeout: 60\n", caught: "its Timeout is not 29" },
        Mutant {
            from: "  CartFunction:\n",
            to: "  BasketFunction:\n",
            caught: "cart: its resource is called BasketFunction",
        },
        Mutant {
            from: "CodeUri: functions/cart",
            to: "CodeUri: functions/basket",
            caught: "cart: the template has no function of this folder",
        },
        Mutant {
            from: "        - { AttributeName: name, KeyType: RANGE }\n",
            to: "",
            caught: "Counter: it has another key",
        },
    ];
    for mutant in mutants.into_iter().chain(more) {
        is_caught(mutant, &all_at(Stage::Read));
    }
}

#[test]
fn an_alarm_that_is_not_as_agreed_is_caught() {
    let mutants = [
        ("      MetricName: Faults\n", "      MetricName: Failures\n", "FaultsAlarm: it is"),
        ("      Statistic: Sum\n", "      Statistic: Average\n", "FaultsAlarm: it is"),
        ("      Period: 300\n", "      Period: 60\n", "FaultsAlarm: it is"),
        ("          ReturnData: false\n", "", "GatewayFaultsAlarm: it is"),
        ("            Stat: Sum\n", "            Stat: Average\n", "GatewayFaultsAlarm: it is"),
        ("            Period: 300\n", "            Period: 60\n", "GatewayFaultsAlarm: it is"),
        ("MetricName: ServerErrors }", "MetricName: Errors }", "GatewayFaultsAlarm: it is"),
        ("      EvaluationPeriods: 1\n", "      EvaluationPeriods: 10\n", "FaultsAlarm: it is"),
        ("      Threshold: 1\n", "      Threshold: 1000000\n", "FaultsAlarm: it is"),
        ("      MetricName: Throttled\n", "      MetricName: Throttles\n", "ThrottledAlarm: it is"),
        ("      DatapointsToAlarm: 2\n", "", "ThrottledAlarm: it is"),
        ("      Threshold: 3000\n", "      Threshold: 1000000\n", "DurationAlarm: it is"),
        ("      ExtendedStatistic: p95\n", "      ExtendedStatistic: p1\n", "DurationAlarm: it is"),
        ("LowSampleCountPercentile: ignore", "LowSampleCountPercentile: evaluate", "DurationAlarm: it is"),
        ("GreaterThanOrEqualToThreshold", "LessThanThreshold", "FaultsAlarm: it is"),
        ("TreatMissingData: notBreaching", "TreatMissingData: ignore", "FaultsAlarm: it is"),
        (
            "{ Name: ApiId, Value: !Ref Api }",
            "{ Name: ApiName, Value: nothing }",
            "GatewayFaultsAlarm: it is",
        ),
        ("'gateway - FILL(told, 0)'", "gateway", "GatewayFaultsAlarm: it is"),
        ("MetricName: ExecutionsFailed", "MetricName: ExecutionsStarted", "BackfillAlarm: it is"),
        (
            "Name: StateMachineArn, Value: !Ref",
            "Name: StateMachineArn, Value: !GetAtt",
            "BackfillAlarm: it is",
        ),
        ("[!Ref AlarmTopicArn]", "[]", "FaultsAlarm: it is"),
        (
            "  FaultsAlarm:\n    Type: AWS::CloudWatch::Alarm\n",
            "  FaultsAlarm:\n    Type: AWS::CloudWatch::Alarm\n    Condition: AnyLoads\n",
            "FaultsAlarm: it is",
        ),
        ("  ThrottledAlarm:\n", "  ThrottlesAlarm:\n", "ThrottledAlarm: there is no such alarm"),
        ("  ThrottledAlarm:\n", "  ThrottlesAlarm:\n", "ThrottlesAlarm: such an alarm is not agreed"),
    ];
    for (from, to, caught) in mutants {
        is_caught(Mutant { from, to, caught }, &all_at(Stage::Read));
    }
}

fn is_caught(mutant: Mutant, at: &At) {
    let text = template_text();
    assert!(text.contains(mutant.from), "the template no longer holds {:?}", mutant.from);
    let found = match Template::parse(&text.replacen(mutant.from, mutant.to, 1)) {
        Ok(template) => differences(&template, at),
        Err(error) => vec![error.to_string()],
    };
    let caught = found.iter().any(|difference| difference.contains(mutant.caught));
    assert!(caught, "{:?} for {:?} is not caught: {found:?}", mutant.to, mutant.from);
}

#[test]
fn a_template_that_is_wrong_at_one_stage_is_caught() {
    let mutants = [
        (
            all_at(Stage::Read),
            Mutant {
                from: "    Condition: PersonOldPathNeeded\n",
                to: "",
                caught: "person: it may dynamodb:Scan on Person without need",
            },
        ),
        (
            all_at(Stage::Backfill),
            Mutant {
                from: "Action: [dynamodb:Scan, dynamodb:BatchGetItem]\n            Resource: [!GetAtt Person.Arn]",
                to: "Action: [dynamodb:Scan, dynamodb:BatchGetItem]\n            Resource: [!GetAtt Contract.Arn]",
                caught: "person: it may dynamodb:Scan on Contract without need",
            },
        ),
        (
            only(&[("bank-by-provider", Stage::Backfill)]),
            Mutant {
                from: "!Not [!And [Condition: BankByOrganizationReads, Condition: BankByProviderReads]]",
                to: "!Not [!Or [Condition: BankByOrganizationReads, Condition: BankByProviderReads]]",
                caught: "bank-account: it may not dynamodb:Scan on BankAccount",
            },
        ),
        (
            all_at(Stage::Backfill),
            Mutant {
                from: "Resource: [!Sub '${Person.Arn}/index/tenant-sortName-index']",
                to: "Resource: [!If [PersonByTenantReads, !Sub '${Person.Arn}/index/tenant-sortName-index', !GetAtt Person.Arn]]",
                caught: "person: its own policy changes with a stage",
            },
        ),
        (
            all_at(Stage::Backfill),
            Mutant {
                from: "by ${PersonOldPath}'",
                to: "by ${ContractOldPath}'",
                caught: "person: it is described as",
            },
        ),
        (
            all_at(Stage::Backfill),
            Mutant {
                // The role would have it, too, and could not be made before its own policy.
                from: "      CodeUri: functions/person\n",
                to: "      CodeUri: functions/person\n      Tags: { OldPath: !Ref PersonOldPath }\n",
                caught: "person: its Tags is not expected",
            },
        ),
        (
            all_at(Stage::Backfill),
            Mutant {
                from: "      Roles: [!Ref PersonFunctionRole]\n",
                to: "      Roles: [!Ref CartFunctionRole]\n",
                caught: "cart: it may dynamodb:Scan on Person without need",
            },
        ),
        (
            all_at(Stage::None),
            Mutant {
                from: "  PersonByTenantExists: !Not [!Equals [!Ref PersonByTenantStage, none]]\n",
                to: "  PersonByTenantExists: !Not [!Equals [!Ref PersonByTenantStage, never]]\n",
                caught: "Person: its indexes are",
            },
        ),
        (
            all_at(Stage::None),
            Mutant {
                from: "- !If [PersonByTenantExists, { AttributeName: sortName, AttributeType: S }, !Ref AWS::NoValue]",
                to: "- { AttributeName: sortName, AttributeType: S }",
                caught: "Person: its attributes are",
            },
        ),
        (
            only(&[("bank-by-organization", Stage::None), ("bank-by-provider", Stage::None)]),
            Mutant {
                from: "      GlobalSecondaryIndexes: !If\n        - BankAnyExists\n",
                to: "      GlobalSecondaryIndexes: !If\n        - AnyExists\n",
                caught: "BankAccount: its list of indexes is empty",
            },
        ),
        (
            all_at(Stage::Read),
            Mutant {
                from: "      CodeUri: functions/person-save\n      Environment:\n        Variables:\n          PERSON_BY_TENANT_STAGE: !Ref PersonByTenantStage\n",
                to: "      CodeUri: functions/person-save\n",
                caught: "person-save: its environment sets",
            },
        ),
        (
            only(&[("person-by-tenant", Stage::Write)]),
            Mutant {
                from: "      CodeUri: functions/person-save\n      Environment:\n        Variables:\n          PERSON_BY_TENANT_STAGE: !Ref PersonByTenantStage\n",
                to: "      CodeUri: functions/person-save\n      Environment:\n        Variables:\n          PERSON_BY_TENANT_STAGE: !Ref ContractByEntityStage\n",
                caught: "person-save: its PERSON_BY_TENANT_STAGE is",
            },
        ),
        (
            only(&[("person-by-tenant", Stage::Write)]),
            Mutant {
                from: "  PersonByTenantLoads: !Or [!Equals [!Ref PersonByTenantStage, backfill],",
                to: "  PersonByTenantLoads: !Or [!Equals [!Ref PersonByTenantStage, write],",
                caught: "backfill: it may dynamodb:UpdateItem on Person without need",
            },
        ),
        (
            all_at(Stage::Create),
            Mutant {
                from: "            - !If\n              - AnyLoads\n",
                to: "            - !If\n              - AnyExists\n",
                caught: "backfill: a statement of its policy names no resource",
            },
        ),
        (
            all_at(Stage::Create),
            Mutant {
                from: "                  - !If\n                    - PersonByTenantExists\n",
                to: "                  - !If\n                    - PersonByTenantLoads\n",
                caught: "index-report: it may not dynamodb:Scan on Person/index/tenant-sortName-index",
            },
        ),
        (
            all_at(Stage::Write),
            Mutant {
                from: "  OrdersOldPathNeeded: !Not [Condition: OrdersByCustomerReads]\n",
                to: "  OrdersOldPathNeeded: !Not [Condition: OrdersByCustomerExists]\n",
                caught: "orders: it may not dynamodb:Query on SalesOrder",
            },
        ),
        (
            all_at(Stage::Read),
            Mutant {
                from: "              Resource:\n                - !GetAtt BackfillFunction.Arn\n                - !GetAtt IndexReportFunction.Arn\n",
                to: "              Resource: '*'\n",
                caught: "BackfillStateMachine: it may not do exactly this",
            },
        ),
        (
            all_at(Stage::Read),
            Mutant {
                from: "    Default: read\n",
                to: "    Default: none\n",
                caught: "OrdersByCustomerStage: its default is",
            },
        ),
        (
            all_at(Stage::Read),
            Mutant {
                from: "    AllowedValues: [none, create, write, backfill, read]\n",
                to: "    AllowedValues: [none, create, backfill, read]\n",
                caught: "OrdersByCustomerStage: it may be",
            },
        ),
        (
            all_at(Stage::Read),
            Mutant { from: "      Timeout: 900\n", to: "", caught: "backfill: its Timeout is not 900" },
        ),
    ];
    for (at, mutant) in mutants {
        is_caught(mutant, &at);
    }
}
