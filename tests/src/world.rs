//! The stage of a test: the embedded DynamoDB behind the SDK's own connector. No port is opened.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use axum::body::Bytes;
use dynoxide::Database;
use dynoxide::errors::DynoxideError;
use http_body::Frame;
use kit::app::{App, Invocation};
use kit::config;
use kit::dynamo::Db;
use kit::function::Function;
use kit::key::{Key, Table};
use local::template::{Grant, Template};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::event::Event;

/// The key that cursors are sealed with in tests: that of the events which carry one.
pub use local::watch::CURSOR_KEY;

/// The project's template, read once.
static TEMPLATE: LazyLock<Template> = LazyLock::new(|| Template::parse(&template_text()).unwrap());

/// The text of the project's template.
pub fn template_text() -> String {
    std::fs::read_to_string(root().join("template.yaml")).unwrap()
}

/// The template while indexes are at these stages.
fn template_at(stages: &[(&str, &str)]) -> Template {
    TEMPLATE.clone().with_parameters(stages).unwrap()
}

/// The project's folder.
pub fn root() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// A database and what was asked of it.
#[derive(Clone)]
pub struct World {
    pub database: Database,
    pub dynamo: Dynamo,
}

/// One call as it left the SDK, and what came back.
#[derive(Debug, Clone)]
pub struct Call {
    pub operation: String,
    pub body: Value,
    pub reply: Value,
}

impl Call {
    /// The value of a placeholder's attribute name.
    pub fn name(&self, placeholder: &str) -> &str {
        self.body["ExpressionAttributeNames"][placeholder].as_str().unwrap_or_default()
    }

    /// The key condition, with names and values in place of placeholders.
    pub fn key_condition(&self) -> String {
        let expression = self.body["KeyConditionExpression"].as_str().unwrap_or_default();
        expression
            .split(' ')
            .map(|word| {
                if word.starts_with('#') {
                    self.name(word).to_owned()
                } else if word.starts_with(':') {
                    self.body["ExpressionAttributeValues"][word]["S"].as_str().unwrap_or_default().to_owned()
                } else {
                    word.to_owned()
                }
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    pub fn index(&self) -> Option<&str> {
        self.body["IndexName"].as_str()
    }
}

/// What happens to the next call instead of reaching the database.
#[derive(Debug, Clone)]
pub enum Fault {
    /// This answer comes.
    Reply(u16, Value),
    /// No answer ever comes.
    Hang,
    /// The connection breaks.
    Reset,
    /// The call goes through, and the connection breaks in the middle of its answer.
    TornReply,
    /// The call goes through.
    Pass,
    /// The call goes through, but its answer is lost.
    LoseReply,
    /// Somebody else does this first, then the call goes through.
    Meanwhile(Meanwhile),
}

/// What somebody else does to the database.
#[derive(Clone)]
pub struct Meanwhile(Arc<dyn Fn(&World) + Send + Sync>);

impl std::fmt::Debug for Meanwhile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Meanwhile")
    }
}

/// What somebody else does before a call goes through.
pub fn meanwhile(act: impl Fn(&World) + Send + Sync + 'static) -> Fault {
    Fault::Meanwhile(Meanwhile(Arc::new(act)))
}

/// Which calls something happens to, and how often still.
type Watch = (Box<dyn Fn(&str, &Value) -> bool + Send + Sync>, usize, Fault);

/// The emulator as the SDK's HTTP client.
#[derive(Clone)]
pub struct Dynamo {
    database: Database,
    calls: Arc<Mutex<Vec<Call>>>,
    faults: Arc<Mutex<VecDeque<Fault>>>,
    watches: Arc<Mutex<Vec<Watch>>>,
    /// What may be done; everything where there is nothing.
    grants: Option<Vec<Grant>>,
}

impl World {
    /// The tables of template.yaml, empty.
    pub fn new() -> Self {
        Self::of(local::database::open(&TEMPLATE).unwrap())
    }

    /// The tables of template.yaml, empty, while indexes are at these stages: the names of the template's
    /// parameters and their values.
    pub fn at(stages: &[(&str, &str)]) -> Self {
        Self::of(local::database::open(&template_at(stages)).unwrap())
    }

    /// Gives the tables those indexes that they do not have yet at these stages, and takes away what they
    /// have no more, as a deployment does.
    pub fn deploy(&self, stages: &[(&str, &str)]) {
        for table in template_at(stages).tables().unwrap() {
            let name = table["TableName"].as_str().unwrap();
            let described = run(&json!({"TableName": name}), |request| self.database.describe_table(request));
            let (_, described) = described.unwrap();
            let names = |indexes: &Value| -> Vec<String> {
                let indexes = indexes.as_array().into_iter().flatten();
                indexes.map(|index| index["IndexName"].as_str().unwrap().to_owned()).collect()
            };
            let before = names(&described["Table"]["GlobalSecondaryIndexes"]);
            let after = names(&table["GlobalSecondaryIndexes"]);
            let new = table["GlobalSecondaryIndexes"].as_array().into_iter().flatten();
            let new = new.filter(|index| !before.contains(&index["IndexName"].as_str().unwrap().to_owned()));
            let create = new.map(|index| json!({"Create": index}));
            let gone = before.iter().filter(|name| !after.contains(name));
            let delete = gone.map(|name| json!({"Delete": {"IndexName": name}}));
            for update in create.chain(delete) {
                let request = json!({
                    "TableName": name,
                    "AttributeDefinitions": table["AttributeDefinitions"],
                    "GlobalSecondaryIndexUpdates": [update],
                });
                self.database.update_table(serde_json::from_value(request).unwrap()).unwrap();
            }
        }
    }

    /// These tables, empty.
    pub fn with_tables(tables: &[Table]) -> Self {
        let world = Self::of(Database::memory().unwrap());
        for table in tables {
            world.create(table);
        }
        world
    }

    /// Creates a table that is declared for tests.
    pub fn create(&self, table: &Table) {
        self.database.create_table(serde_json::from_value(create_request(table)).unwrap()).unwrap();
    }

    fn of(database: Database) -> Self {
        let dynamo = Dynamo {
            database: database.clone(),
            calls: Arc::default(),
            faults: Arc::default(),
            watches: Arc::default(),
            grants: None,
        };
        Self { database, dynamo }
    }

    /// A function that is deployed, with no more rights than the template grants it.
    pub fn deployed(&self, function: impl Into<Function>) -> App {
        static DEPLOYED: LazyLock<Vec<local::template::Function>> =
            LazyLock::new(|| TEMPLATE.functions().unwrap());
        self.granted(function.into(), &DEPLOYED)
    }

    /// The same while indexes are at these stages.
    pub fn deployed_at(&self, function: impl Into<Function>, stages: &[(&str, &str)]) -> App {
        self.granted(function.into(), &template_at(stages).functions().unwrap())
    }

    fn granted(&self, function: Function, deployed: &[local::template::Function]) -> App {
        let deployed = deployed.iter().find(|deployed| deployed.folder == function.name()).unwrap();
        let dynamo = Dynamo { grants: Some(deployed.grants.clone()), ..self.dynamo.clone() };
        let environment = deployed.environment();
        let stages = environment.iter().filter(|(name, _)| name.ends_with("_STAGE"));
        let stages = stages.map(|(name, stage)| (name.as_str(), stage.as_str().unwrap()));
        let settings: Vec<(&str, &str)> = stages.chain([("CURSOR_KEY", CURSOR_KEY)]).collect();
        app(function, dynamo, &settings)
    }

    /// A function that is declared for tests only.
    pub fn declared(&self, function: impl Into<Function>) -> App {
        self.declared_with(function, &[("CURSOR_KEY", CURSOR_KEY)])
    }

    /// The same with these settings.
    pub fn declared_with(&self, function: impl Into<Function>, settings: &[(&str, &str)]) -> App {
        app(function.into(), self.dynamo.clone(), settings)
    }

    /// The database as the kit uses it.
    pub fn db(&self) -> Db {
        Db::new(client(self.dynamo.clone()), "")
    }

    /// Puts an item, past all checks.
    pub fn put(&self, table: &str, item: Value) {
        let request = json!({"TableName": table, "Item": item});
        self.database.put_item(serde_json::from_value(request).unwrap()).unwrap();
    }

    /// Puts many items, past all checks.
    pub fn put_all(&self, table: &str, items: impl IntoIterator<Item = Value>) {
        let items: Vec<_> = items.into_iter().map(|item| serde_json::from_value(item).unwrap()).collect();
        self.database.import_items(table, items, dynoxide::ImportOptions::default()).unwrap();
    }

    /// An item as it is stored.
    pub fn get(&self, table: &str, key: Value) -> Option<Value> {
        let request = json!({"TableName": table, "Key": key, "ConsistentRead": true});
        let (_, reply) = run(&request, |request| self.database.get_item(request)).unwrap();
        reply.get("Item").cloned()
    }

    /// All items of a table, or all entries of an index of it.
    pub fn all(&self, table: &str, index: Option<&str>) -> Vec<Value> {
        let mut items = Vec::new();
        let mut request = json!({"TableName": table});
        if let Some(index) = index {
            request["IndexName"] = json!(index);
        }
        loop {
            let (_, reply) = run(&request, |request| self.database.scan(request)).unwrap();
            items.extend(reply["Items"].as_array().unwrap().iter().cloned());
            match reply.get("LastEvaluatedKey") {
                Some(key) => request["ExclusiveStartKey"] = key.clone(),
                None => return items,
            }
        }
    }

    /// Deletes an item.
    pub fn delete(&self, table: &str, key: Value) {
        let request = json!({"TableName": table, "Key": key});
        self.database.delete_item(serde_json::from_value(request).unwrap()).unwrap();
    }

    /// What was asked of the database since the last time, and what came back.
    pub fn calls(&self) -> Vec<Call> {
        std::mem::take(&mut self.dynamo.calls.lock().unwrap())
    }

    /// What is to happen to the next so many of those calls whose operation and body are such.
    pub fn script_for(
        &self,
        such: impl Fn(&str, &Value) -> bool + Send + Sync + 'static,
        times: usize,
        fault: Fault,
    ) {
        self.dynamo.watches.lock().unwrap().push((Box::new(such), times, fault));
    }

    /// What is to happen to the next calls.
    pub fn script(&self, faults: impl IntoIterator<Item = Fault>) {
        self.dynamo.faults.lock().unwrap().extend(faults);
    }
}

fn app(function: Function, dynamo: Dynamo, settings: &[(&str, &str)]) -> App {
    let value =
        |name: &str| settings.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
    App::new(function, config::settings(function, value).unwrap(), Db::new(client(dynamo), ""))
}

fn client(dynamo: Dynamo) -> Client {
    let config = kit::dynamo::client_config()
        .region(Region::from_static("sa-east-1"))
        .credentials_provider(Credentials::new("test", "test", None, None, "test"))
        .http_client(dynamo)
        .build();
    Client::from_conf(config)
}

/// What came of an event.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: std::collections::BTreeMap<&'static str, String>,
    pub body: String,
    pub is_base64: bool,
    pub log: Value,
    /// The bytes that Lambda would be handed.
    pub bytes: usize,
}

impl Answer {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    pub fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }

    pub fn message(&self) -> String {
        self.json()["error"]["message"].as_str().unwrap_or_default().to_owned()
    }

    pub fn ids(&self) -> Vec<String> {
        let body = self.json();
        let items = body["items"].as_array().unwrap_or_else(|| panic!("no items: {}", self.body));
        items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
    }

    pub fn total(&self) -> u64 {
        self.json()["total"].as_u64().unwrap_or_else(|| panic!("no total: {}", self.body))
    }

    pub fn cursor(&self) -> Option<String> {
        self.json()["nextCursor"].as_str().map(str::to_owned)
    }

    pub fn read_units(&self) -> f64 {
        self.log["ReadUnits"].as_f64().unwrap()
    }
}

/// What a job does with an event, with this much time left. Gives its answer, or the error that Lambda
/// would be told.
pub async fn work(app: &App, event: &Value, time_left: Duration) -> Result<Value, String> {
    let Function::Job(job) = app.function() else { panic!("{} is no job", app.function().name()) };
    let invocation = Invocation { id: "invocation".to_owned(), time_left };
    let worked = app.work(job, &event.to_string(), &invocation).await;
    worked.outcome.map_err(|error| format!("{}: {}", error.code().as_str(), kit::error::chain(&error)))
}

/// Sends an event to a function, with ten seconds left.
pub async fn send(app: &App, event: &Event) -> Answer {
    send_raw(app, &event.http().to_string()).await
}

/// The same for any text.
pub async fn send_raw(app: &App, event: &str) -> Answer {
    send_within(app, event, Duration::from_secs(10)).await
}

/// The same with this much time left.
pub async fn send_within(app: &App, event: &str, time_left: Duration) -> Answer {
    let invocation = Invocation { id: "invocation".to_owned(), time_left };
    let handled = app.handle(event, &invocation).await;
    Answer {
        bytes: serde_json::to_vec(&handled.response).unwrap().len(),
        status: handled.response.status_code,
        headers: handled.response.headers,
        body: handled.response.body,
        is_base64: handled.response.is_base64_encoded,
        log: serde_json::from_str(&handled.log).unwrap(),
    }
}

/// `CreateTable` for a table declared in code.
fn create_request(table: &Table) -> Value {
    let key_schema = |key: &Key| -> Vec<Value> {
        let roles = ["HASH", "RANGE"].into_iter();
        let named = key.attributes().zip(roles);
        named.map(|(attribute, role)| json!({"AttributeName": attribute.name, "KeyType": role})).collect()
    };
    let attributes: Vec<Value> = table
        .key_bounds()
        .into_iter()
        .map(|(attribute, _)| {
            json!({"AttributeName": attribute.name, "AttributeType": attribute.scalar.as_str()})
        })
        .collect();
    let indexes: Vec<Value> = table
        .indexes
        .iter()
        .map(|index| {
            json!({
                "IndexName": index.name,
                "KeySchema": key_schema(&index.key),
                "Projection": {"ProjectionType": "ALL"},
            })
        })
        .collect();
    let mut request = json!({
        "TableName": table.name,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": attributes,
        "KeySchema": key_schema(&table.key),
    });
    if !indexes.is_empty() {
        request["GlobalSecondaryIndexes"] = json!(indexes);
    }
    request
}

impl std::fmt::Debug for Dynamo {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Dynamo")
    }
}

fn reset() -> std::io::Error {
    std::io::ErrorKind::ConnectionReset.into()
}

/// A body that breaks off after its first part.
struct Torn(Option<Bytes>);

impl http_body::Body for Torn {
    type Data = Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        Poll::Ready(Some(self.0.take().map(Frame::data).ok_or_else(reset)))
    }
}

impl HttpClient for Dynamo {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Dynamo {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let target = request.headers().get("x-amz-target").unwrap_or_default().to_owned();
        let operation = target.rsplit('.').next().unwrap_or_default().to_owned();
        let body: Value = serde_json::from_slice(request.body().bytes().unwrap_or_default()).unwrap();
        let fault = self.watched(&operation, &body);
        let fault = fault.or_else(|| self.faults.lock().unwrap().pop_front()).unwrap_or(Fault::Pass);
        if let Fault::Meanwhile(Meanwhile(act)) = &fault {
            act(&World { database: self.database.clone(), dynamo: self.clone() });
        }
        let (status, reply) = match &fault {
            Fault::Reply(status, reply) => (*status, reply.clone()),
            Fault::Hang | Fault::Reset => (0, Value::Null),
            Fault::Pass | Fault::LoseReply | Fault::TornReply | Fault::Meanwhile(_) => {
                self.answer(&operation, &body)
            }
        };
        self.calls.lock().unwrap().push(Call { operation, body, reply: reply.clone() });
        HttpConnectorFuture::new(async move {
            // As on a network, others have their turn before the answer is there.
            tokio::task::yield_now().await;
            match fault {
                Fault::Hang => std::future::pending().await,
                Fault::Reset | Fault::LoseReply => Err(ConnectorError::io(reset().into())),
                Fault::TornReply => {
                    let mut body = reply.to_string();
                    body.truncate(body.len() / 2);
                    let torn = Torn(Some(body.into()));
                    Ok(HttpResponse::new(status.try_into().unwrap(), SdkBody::from_body_1_x(torn)))
                }
                Fault::Reply(..) | Fault::Pass | Fault::Meanwhile(_) => {
                    let body = SdkBody::from(reply.to_string());
                    Ok(HttpResponse::new(status.try_into().unwrap(), body))
                }
            }
        })
    }
}

impl Dynamo {
    /// Forgets what was to happen.
    pub fn clear_script(&self) {
        self.faults.lock().unwrap().clear();
        self.watches.lock().unwrap().clear();
    }

    fn watched(&self, operation: &str, body: &Value) -> Option<Fault> {
        let mut watches = self.watches.lock().unwrap();
        let (_, left, fault) =
            watches.iter_mut().find(|(such, left, _)| *left > 0 && such(operation, body))?;
        *left -= 1;
        Some(fault.clone())
    }

    fn answer(&self, operation: &str, body: &Value) -> (u16, Value) {
        if let Some(refused) = self.refused(operation, body) {
            return (400, refused);
        }
        let database = &self.database;
        let answered = match operation {
            "BatchGetItem" => run(body, |request| database.batch_get_item(request)),
            "BatchWriteItem" => run(body, |request| database.batch_write_item(request)),
            "DeleteItem" => run(body, |request| database.delete_item(request)),
            "DescribeTable" => run(body, |request| database.describe_table(request)),
            "GetItem" => run(body, |request| database.get_item(request)),
            "PutItem" => run(body, |request| database.put_item(request)),
            "Query" => run(body, |request| database.query(request)),
            "Scan" => run(body, |request| database.scan(request)),
            "UpdateItem" => run(body, |request| database.update_item(request)),
            other => panic!("the emulator is not asked for {other}"),
        };
        answered
            .unwrap_or_else(|error| (error.status_code(), serde_json::from_str(&error.to_json()).unwrap()))
    }

    /// What AWS says where the function's role does not allow a call.
    fn refused(&self, operation: &str, body: &Value) -> Option<Value> {
        let grants = self.grants.as_ref()?;
        let action = format!("dynamodb:{operation}");
        let tables: Vec<String> = match body["RequestItems"].as_object() {
            Some(tables) => tables.keys().cloned().collect(),
            None => vec![body["TableName"].as_str().unwrap_or_default().to_owned()],
        };
        let denied = tables.iter().find(|table| {
            let resource = match body["IndexName"].as_str() {
                Some(index) => format!("{table}/index/{index}"),
                None => (*table).clone(),
            };
            !grants.iter().any(|grant| grant.action == action && grant.resource == resource)
        })?;
        Some(json!({
            "__type": "com.amazon.coral.service#AccessDeniedException",
            "Message": format!("not authorized to perform: {action} on {denied}"),
        }))
    }
}

fn run<Request: DeserializeOwned, Response: Serialize>(
    body: &Value,
    call: impl FnOnce(Request) -> dynoxide::Result<Response>,
) -> Result<(u16, Value), DynoxideError> {
    let request = serde_json::from_value(body.clone())
        .map_err(|error| DynoxideError::ValidationException(error.to_string()))?;
    Ok((200, serde_json::to_value(call(request)?).unwrap()))
}
