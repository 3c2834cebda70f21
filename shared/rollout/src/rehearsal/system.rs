//! The system that is rehearsed with: the embedded DynamoDB on a port of this machine, and the functions as
//! the template would deploy them at a stage.

use std::time::Duration;

use dynoxide::{Database, ImportOptions};
use kit::app::{App, Invocation};
use kit::config;
use kit::dynamo::Db;
use kit::function::Function;
use kit::item::{AttributeValue, Item};
use kit::key::Rollout;
use kit::rollout::Stage;
use local::template::Template;
use serde_json::{Value, json};

use super::Failure;
use crate::connection::{made_up, told};

/// How long a request may take.
const PATIENCE: Duration = Duration::from_secs(28);

/// The database and where it answers.
pub struct System {
    pub database: Database,
    pub endpoint: String,
    template: Template,
    rollout: &'static Rollout,
}

impl System {
    /// Serves a database with the template's tables, the index of `rollout` and those of the same table that
    /// come after it not yet begun.
    pub async fn serve(template: Template, rollout: &'static Rollout) -> Result<Self, Failure> {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let endpoint = format!("http://{}", listener.local_addr()?);
        let later = tables::ROLLOUTS.iter().skip_while(|other| other.name != rollout.name).skip(1);
        let later: Vec<String> = later
            .filter(|other| other.table.name == rollout.table.name)
            .map(|other| other.parameter())
            .collect();
        let stages: Vec<(&str, &str)> = later.iter().map(|name| (name.as_str(), "none")).collect();
        let template = template.with_parameters(&stages)?;
        let database = Database::memory()?;
        let system = Self { database, endpoint, template, rollout };
        local::database::create_tables(&system.database, &system.at(Stage::None)?)?;
        tokio::spawn(dynoxide::server::serve_on(listener, system.database.clone()));
        Ok(system)
    }

    /// The rollouts of the same table that are done.
    pub fn done(&self) -> Vec<&'static Rollout> {
        let earlier = tables::ROLLOUTS.iter().copied().take_while(|other| other.name != self.rollout.name);
        earlier.filter(|other| other.table.name == self.rollout.table.name).collect()
    }

    /// The template at a stage of the rollout.
    fn at(&self, stage: Stage) -> Result<Template, Failure> {
        Ok(self.template.clone().with_parameters(&[(&self.rollout.parameter(), stage.as_str())])?)
    }

    /// Creates the tables as they are at a stage once more, with a prefix.
    pub fn copy_tables(&self, stage: Stage, prefix: &str) -> Result<(), Failure> {
        let template = self.at(stage)?.with_parameters(&[("TablePrefix", prefix)])?;
        Ok(local::database::create_tables(&self.database, &template)?)
    }

    /// Gives the table of the rollout what the template gives it at a stage.
    pub fn deploy(&self, before: Stage, after: Stage) -> Result<(), Failure> {
        let table = |stage| -> Result<Value, Failure> {
            let tables = self.at(stage)?.tables()?;
            let ours = tables
                .into_iter()
                .find(|table| table.get("TableName").is_some_and(|name| name == self.rollout.table.name));
            ours.ok_or_else(|| format!("template.yaml has no table {}", self.rollout.table.name).into())
        };
        let (before, after) = (table(before)?, table(after)?);
        let indexes = |table: &Value| -> Vec<Value> {
            table.get("GlobalSecondaryIndexes").and_then(Value::as_array).cloned().unwrap_or_default()
        };
        let known = indexes(&before);
        for index in indexes(&after).into_iter().filter(|index| !known.contains(index)) {
            let request = json!({
                "TableName": self.rollout.table.name,
                "AttributeDefinitions": after.get("AttributeDefinitions"),
                "GlobalSecondaryIndexUpdates": [{"Create": index}],
            });
            self.database.update_table(serde_json::from_value(request)?)?;
        }
        Ok(())
    }

    /// A client of the database.
    pub fn db(&self, prefix: &str) -> Result<Db, Failure> {
        let var = |name: &str| match name {
            "AWS_ENDPOINT_URL_DYNAMODB" => Some(self.endpoint.clone()),
            name => made_up(name),
        };
        let endpoint = config::endpoint(var).map_err(|error| told(&error))?;
        Ok(Db::connect(endpoint, prefix).map_err(|error| told(&error))?)
    }

    /// A function with the environment that the template gives it at a stage.
    pub fn app(&self, function: impl Into<Function>, stage: Stage) -> Result<App, Failure> {
        let function = function.into();
        let deployed = self.at(stage)?.functions()?;
        let deployed = deployed.iter().find(|deployed| deployed.folder == function.name());
        let environment = deployed
            .ok_or_else(|| format!("template.yaml has no function {}", function.name()))?
            .environment();
        let variable = self.rollout.variable();
        if environment.get(&variable).is_none_or(|value| value != stage.as_str()) {
            return Err(format!("template.yaml gives {} no {variable}", function.name()).into());
        }
        let var = |name: &str| match name {
            "CURSOR_KEY" => Some(local::watch::CURSOR_KEY.to_owned()),
            name => environment.get(name).and_then(Value::as_str).map(str::to_owned),
        };
        let settings = config::settings(function, var).map_err(|error| told(&error))?;
        Ok(App::new(function, settings, self.db("")?))
    }

    /// Puts items past everything.
    pub fn import(&self, table: &str, items: &[Item]) -> Result<(), Failure> {
        let items = items.iter().map(foreign_item).collect();
        self.database.import_items(table, items, ImportOptions::default())?;
        Ok(())
    }

    /// All items of a table as they are stored.
    pub fn items(&self, table: &str) -> Result<Vec<Item>, Failure> {
        let mut items = Vec::new();
        self.scan(json!({"TableName": table}), |page| items.extend(page.into_iter().map(native_item)))?;
        Ok(items)
    }

    /// How many entries the index has.
    pub fn entries(&self) -> Result<u64, Failure> {
        let request = json!({"TableName": self.rollout.table.name, "IndexName": self.rollout.index.name});
        let mut count = 0;
        self.scan(request, |page| count += page.len() as u64)?;
        Ok(count)
    }

    fn scan(&self, mut request: Value, mut page: impl FnMut(Vec<dynoxide::Item>)) -> Result<(), Failure> {
        // Each round goes on after the last, up to the end of what is in memory.
        loop {
            let answer = self.database.scan(serde_json::from_value(request.clone())?)?;
            page(answer.items.unwrap_or_default());
            let Some(next) = answer.last_evaluated_key else { return Ok(()) };
            if let Some(fields) = request.as_object_mut() {
                fields.insert("ExclusiveStartKey".to_owned(), serde_json::to_value(next)?);
            }
        }
    }

    /// Changes attributes of an item that is stored, past everything. Gives whether it was.
    pub fn update(&self, key: &Item, changes: &[(&str, AttributeValue)]) -> Result<bool, Failure> {
        let place = |letter: char, at: usize| format!("{letter}{at}");
        let sets: Vec<String> =
            (0..changes.len()).map(|at| format!("{} = {}", place('#', at), place(':', at))).collect();
        let names: serde_json::Map<String, Value> =
            changes.iter().enumerate().map(|(at, (name, _))| (place('#', at), json!(name))).collect();
        let mut values = serde_json::Map::new();
        for (at, (_, value)) in changes.iter().enumerate() {
            values.insert(place(':', at), serde_json::to_value(foreign(value))?);
        }
        let request = json!({
            "TableName": self.rollout.table.name,
            "Key": serde_json::to_value(foreign_item(key))?,
            "UpdateExpression": format!("SET {}", sets.join(", ")),
            "ConditionExpression": "attribute_exists(id)",
            "ExpressionAttributeNames": names,
            "ExpressionAttributeValues": values,
        });
        match self.database.update_item(serde_json::from_value(request)?) {
            Ok(_) => Ok(true),
            Err(dynoxide::DynoxideError::ConditionalCheckFailedException(..)) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Puts an item whole, past everything.
    pub fn put(&self, item: &Item) -> Result<(), Failure> {
        let item = serde_json::to_value(foreign_item(item))?;
        let request = json!({"TableName": self.rollout.table.name, "Item": item});
        self.database.put_item(serde_json::from_value(request)?)?;
        Ok(())
    }

    /// Deletes an item, past everything.
    pub fn delete(&self, key: &Item) -> Result<(), Failure> {
        let key = serde_json::to_value(foreign_item(key))?;
        let request = json!({"TableName": self.rollout.table.name, "Key": key});
        self.database.delete_item(serde_json::from_value(request)?)?;
        Ok(())
    }
}

/// Sends an event to a function. Gives status and body.
pub async fn send(app: &App, event: &str) -> (u16, String) {
    let invocation = Invocation { id: "rehearsal".to_owned(), time_left: PATIENCE };
    let handled = app.handle(event, &invocation).await;
    (handled.response.status_code, handled.response.body)
}

fn foreign_item(item: &Item) -> dynoxide::Item {
    item.iter().map(|(name, value)| (name.clone(), foreign(value))).collect()
}

/// A value as the embedded database has it. The rehearsal has no other types.
fn foreign(value: &AttributeValue) -> dynoxide::AttributeValue {
    match value {
        AttributeValue::S(text) => dynoxide::AttributeValue::S(text.clone()),
        AttributeValue::N(digits) => dynoxide::AttributeValue::N(digits.clone()),
        AttributeValue::Bool(flag) => dynoxide::AttributeValue::BOOL(*flag),
        AttributeValue::Ss(texts) => dynoxide::AttributeValue::SS(texts.clone()),
        AttributeValue::L(values) => dynoxide::AttributeValue::L(values.iter().map(foreign).collect()),
        AttributeValue::M(item) => dynoxide::AttributeValue::M(foreign_item(item)),
        _ => dynoxide::AttributeValue::NULL(true),
    }
}

fn native_item(item: dynoxide::Item) -> Item {
    item.into_iter().map(|(name, value)| (name, native(value))).collect()
}

fn native(value: dynoxide::AttributeValue) -> AttributeValue {
    match value {
        dynoxide::AttributeValue::S(text) => AttributeValue::S(text),
        dynoxide::AttributeValue::N(digits) => AttributeValue::N(digits),
        dynoxide::AttributeValue::BOOL(flag) => AttributeValue::Bool(flag),
        dynoxide::AttributeValue::SS(texts) => AttributeValue::Ss(texts),
        dynoxide::AttributeValue::L(values) => AttributeValue::L(values.into_iter().map(native).collect()),
        dynoxide::AttributeValue::M(item) => AttributeValue::M(native_item(item)),
        _ => AttributeValue::Null(true),
    }
}
