//! Reads `template.yaml`: its tables as `CreateTable` requests, its functions with their routes and
//! permissions.
//!
//! The template is read as CloudFormation and SAM read it, as far as this project needs: short tags
//! become their long form, parameters and conditions are resolved, and what only a deployment knows
//! (the ARN of a table, the region) stays an intrinsic function in its long form.
//!
//! ```
//! use local::template::Template;
//!
//! let template = Template::parse(
//!     "
//! Parameters:
//!   TablePrefix: { Type: String, Default: '' }
//! Resources:
//!   Cart:
//!     Type: AWS::DynamoDB::Table
//!     Properties:
//!       TableName: !Sub '${TablePrefix}Cart'
//!       KeySchema: [{ AttributeName: id, KeyType: HASH }]
//!       AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]
//! ",
//! )?
//! .with_parameters(&[("TablePrefix", "test-")])?;
//! assert_eq!(template.tables()?[0]["TableName"], "test-Cart");
//! # Ok::<(), local::template::TemplateError>(())
//! ```

mod intrinsics;
mod yaml;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

/// The type of a table in a template.
const TABLE: &str = "AWS::DynamoDB::Table";

/// The type of a function in a template.
const FUNCTION: &str = "AWS::Serverless::Function";

/// The type of a policy that is a resource of its own.
const POLICY: &str = "AWS::IAM::Policy";

/// The properties of a table that are members of a `CreateTable` request as well.
const CREATE_TABLE: &[&str] = &[
    "TableName",
    "KeySchema",
    "AttributeDefinitions",
    "GlobalSecondaryIndexes",
    "LocalSecondaryIndexes",
    "BillingMode",
    "ProvisionedThroughput",
];

/// Why a template could not be read.
#[derive(Debug, thiserror::Error)]
pub enum TemplateError {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The text is not YAML, or not one document.
    #[error("not a YAML document: {0}")]
    Yaml(String),
    /// A part of the template is not what it has to be.
    #[error("{at}: {problem}")]
    Invalid {
        /// Where: the names from the top of the template, joined by dots.
        at: String,
        /// What is wrong there.
        problem: String,
    },
}

impl TemplateError {
    pub(crate) fn invalid(at: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Invalid { at: at.into(), problem: problem.into() }
    }
}

/// A template, and the values that its parameters have.
#[derive(Debug, Clone)]
pub struct Template {
    root: Map<String, Value>,
    parameters: BTreeMap<String, Value>,
}

/// A route of the API.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Route {
    /// The HTTP method, in capitals.
    pub method: String,
    /// The path, with its parameters in braces.
    pub path: String,
    /// The folder of the function that answers, inside `functions/`.
    pub function: String,
}

/// One action that a function may do, and where.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Grant {
    /// The action: `dynamodb:Query`.
    pub action: String,
    /// The resource, the ARN of another resource of the template written as its logical id: `Cart`,
    /// `Cart/index/tenant-customerId-index`. Anything else as it stands in the template: `*`.
    pub resource: String,
}

/// A function.
#[derive(Debug, Clone)]
pub struct Function {
    /// Its logical id: `OrderCreateFunction`.
    pub id: String,
    /// Its folder inside `functions/`: `order-create`.
    pub folder: String,
    /// Its properties, those under `Globals` merged in, resolved as far as the parameters go.
    pub properties: Map<String, Value>,
    /// Its attributes beside the properties: `Metadata`, `Condition` and the like.
    pub attributes: Map<String, Value>,
    /// Its routes.
    pub routes: Vec<Route>,
    /// What its inline statements allow.
    pub grants: Vec<Grant>,
    /// Policies that are no inline statements of the kind that `grants` can hold: managed policies,
    /// SAM policy templates, statements that deny or that say `NotAction`, `NotResource` or
    /// `Condition`, and a role of its own.
    pub other_policies: Vec<Value>,
}

impl Function {
    /// The names and values of its environment.
    pub fn environment(&self) -> Map<String, Value> {
        let variables = self.properties.get("Environment").and_then(|value| value.get("Variables"));
        variables.and_then(Value::as_object).cloned().unwrap_or_default()
    }
}

impl Template {
    /// Reads the template in a file.
    ///
    /// # Errors
    ///
    /// See [`TemplateError`].
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TemplateError> {
        let path = path.as_ref();
        let text = std::fs::read_to_string(path)
            .map_err(|source| TemplateError::Read { path: path.to_path_buf(), source })?;
        Self::parse(&text)
    }

    /// Reads a template. Its parameters have their defaults.
    ///
    /// # Errors
    ///
    /// Text that is not YAML, a key that stands twice, a tag that CloudFormation does not know.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let Value::Object(root) = yaml::parse(text)? else {
            return Err(TemplateError::invalid("template", "must be a mapping"));
        };
        let template = Self { root, parameters: BTreeMap::new() };
        let mut parameters = BTreeMap::new();
        for (name, declaration) in template.section("Parameters")? {
            if let Some(default) = declaration.get("Default") {
                let at = format!("Parameters.{name}.Default");
                let text = scalar(default).ok_or_else(|| TemplateError::invalid(at, "must be a scalar"))?;
                let value = parameter_value(declaration, &text);
                parameters.insert(name.clone(), value);
            }
        }
        Ok(Self { parameters, ..template })
    }

    /// The same template with other values of parameters. Pseudo parameters (`AWS::StackName`) may be
    /// given too; without a value they stay in place.
    ///
    /// # Errors
    ///
    /// A parameter that the template does not declare, or a value that is not one of its
    /// `AllowedValues`.
    pub fn with_parameters(mut self, values: &[(&str, &str)]) -> Result<Self, TemplateError> {
        for (name, text) in values {
            if name.starts_with("AWS::") {
                self.parameters.insert((*name).to_owned(), Value::String((*text).to_owned()));
                continue;
            }
            let at = format!("Parameters.{name}");
            let Some(declaration) = self.section("Parameters")?.get(*name) else {
                return Err(TemplateError::invalid(at, "is not declared"));
            };
            if let Some(allowed) = declaration.get("AllowedValues").and_then(Value::as_array)
                && !allowed.iter().filter_map(scalar).any(|allowed| allowed == *text)
            {
                return Err(TemplateError::invalid(at, format!("{text:?} is not one of its AllowedValues")));
            }
            let value = parameter_value(declaration, text);
            self.parameters.insert((*name).to_owned(), value);
        }
        Ok(self)
    }

    /// The whole template, short tags in their long form, nothing resolved.
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// The values that the parameters have. One without a default has none until it is given.
    pub fn parameters(&self) -> &BTreeMap<String, Value> {
        &self.parameters
    }

    /// Whether a condition of the template holds.
    ///
    /// # Errors
    ///
    /// A condition that is not declared or that depends on what only a deployment knows.
    pub fn condition(&self, name: &str) -> Result<bool, TemplateError> {
        intrinsics::Resolver::new(self).condition(name)
    }

    /// The resources whose condition holds, by logical id, resolved as far as the parameters go.
    ///
    /// # Errors
    ///
    /// See [`Template::condition`].
    pub fn resources(&self) -> Result<BTreeMap<String, Map<String, Value>>, TemplateError> {
        let mut resources = BTreeMap::new();
        for (id, resource) in self.section("Resources")? {
            let at = format!("Resources.{id}");
            let resource = object(resource, &at)?;
            if let Some(condition) = resource.get("Condition") {
                let name = condition
                    .as_str()
                    .ok_or_else(|| TemplateError::invalid(format!("{at}.Condition"), "must be a name"))?;
                if !self.condition(name)? {
                    continue;
                }
            }
            if let Some(Value::Object(resource)) = self.resolve(&Value::Object(resource.clone()), &at)? {
                resources.insert(id.clone(), resource);
            }
        }
        Ok(resources)
    }

    /// The tables as `CreateTable` requests, by logical id in order.
    ///
    /// # Errors
    ///
    /// A table without a name of its own or without a key, and see [`Template::condition`].
    pub fn tables(&self) -> Result<Vec<Value>, TemplateError> {
        let mut tables = Vec::new();
        for (id, resource) in self.of_type(TABLE)? {
            let at = format!("Resources.{id}.Properties");
            let properties = member(&resource, "Properties", &format!("Resources.{id}"))?;
            let properties = object(properties, &at)?;
            let name = member(properties, "TableName", &at)?;
            if !name.is_string() {
                let problem = "must be text that the parameters alone decide";
                return Err(TemplateError::invalid(format!("{at}.TableName"), problem));
            }
            member(properties, "KeySchema", &at)?;
            member(properties, "AttributeDefinitions", &at)?;
            let request = CREATE_TABLE.iter().filter_map(|member| {
                properties.get(*member).map(|value| ((*member).to_owned(), value.clone()))
            });
            tables.push(Value::Object(request.collect()));
        }
        Ok(tables)
    }

    /// The functions, by logical id in order.
    ///
    /// # Errors
    ///
    /// A function whose code is not a folder inside `functions/`, a route without method or path, a
    /// policy that cannot be read, and see [`Template::condition`].
    pub fn functions(&self) -> Result<Vec<Function>, TemplateError> {
        let globals = self.section("Globals")?.get("Function").cloned().unwrap_or(Value::Object(Map::new()));
        let globals = self.resolve(&globals, "Globals.Function")?.unwrap_or(Value::Null);
        let mut functions = Vec::new();
        for (id, mut resource) in self.of_type(FUNCTION)? {
            let at = format!("Resources.{id}.Properties");
            let own = resource.remove("Properties").unwrap_or(Value::Object(Map::new()));
            let properties = object(&merged(globals.clone(), own), &at)?.clone();
            let folder = folder(&properties, &at)?;
            let routes = routes(&properties, &folder, &at)?;
            let (grants, other_policies) = policies(&properties, &at)?;
            functions.push(Function {
                id,
                folder,
                properties,
                attributes: resource,
                routes,
                grants,
                other_policies,
            });
        }
        for (id, resource) in self.of_type(POLICY)? {
            let at = format!("Resources.{id}.Properties");
            let properties = object(member(&resource, "Properties", &format!("Resources.{id}"))?, &at)?;
            let document = member(properties, "PolicyDocument", &at)?;
            for role in list(member(properties, "Roles", &at)?) {
                let role = role.get("Ref").and_then(Value::as_str).unwrap_or_default();
                let function = functions.iter_mut().find(|function| format!("{}Role", function.id) == role);
                let function = function.ok_or_else(|| {
                    TemplateError::invalid(format!("{at}.Roles"), "must be the roles of functions")
                })?;
                statements(document, &at, &mut function.grants, &mut function.other_policies)?;
                function.grants.sort();
            }
        }
        Ok(functions)
    }

    /// The routes of all functions, in order.
    ///
    /// # Errors
    ///
    /// See [`Template::functions`].
    pub fn routes(&self) -> Result<Vec<Route>, TemplateError> {
        let mut routes: Vec<Route> =
            self.functions()?.into_iter().flat_map(|function| function.routes).collect();
        routes.sort_by(|a, b| (&a.path, &a.method).cmp(&(&b.path, &b.method)));
        Ok(routes)
    }

    /// A section of the template. One that is not there is empty.
    fn section(&self, name: &str) -> Result<&Map<String, Value>, TemplateError> {
        static EMPTY: std::sync::LazyLock<Map<String, Value>> = std::sync::LazyLock::new(Map::new);
        match self.root.get(name) {
            None => Ok(&EMPTY),
            Some(section) => object(section, name),
        }
    }

    /// The resources of one type, by logical id in order.
    fn of_type(
        &self,
        kind: &str,
    ) -> Result<impl Iterator<Item = (String, Map<String, Value>)>, TemplateError> {
        let resources = self.resources()?.into_iter();
        Ok(resources.filter(move |(_, resource)| resource.get("Type").is_some_and(|value| value == kind)))
    }

    fn resolve(&self, value: &Value, at: &str) -> Result<Option<Value>, TemplateError> {
        intrinsics::Resolver::new(self).resolve(value, at)
    }
}

/// The text of a scalar, as CloudFormation hands it on.
fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

fn parameter_value(declaration: &Value, text: &str) -> Value {
    let kind = declaration.get("Type").and_then(Value::as_str).unwrap_or_default();
    if kind == "CommaDelimitedList" || kind.starts_with("List<") {
        return Value::Array(text.split(',').map(|part| Value::String(part.trim().to_owned())).collect());
    }
    Value::String(text.to_owned())
}

fn object<'a>(value: &'a Value, at: &str) -> Result<&'a Map<String, Value>, TemplateError> {
    value.as_object().ok_or_else(|| TemplateError::invalid(at, "must be a mapping"))
}

fn member<'a>(map: &'a Map<String, Value>, name: &str, at: &str) -> Result<&'a Value, TemplateError> {
    map.get(name).ok_or_else(|| TemplateError::invalid(format!("{at}.{name}"), "is missing"))
}

fn text<'a>(map: &'a Map<String, Value>, name: &str, at: &str) -> Result<&'a str, TemplateError> {
    let problem = || TemplateError::invalid(format!("{at}.{name}"), "must be text");
    member(map, name, at)?.as_str().ok_or_else(problem)
}

/// One value or a list of them, as a list.
fn list(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(values) => values.iter().collect(),
        one => vec![one],
    }
}

/// Merges as SAM merges `Globals`: mappings by key, lists one after the other, and else the
/// function's own value.
fn merged(global: Value, own: Value) -> Value {
    match (global, own) {
        (Value::Object(mut global), Value::Object(own)) => {
            for (name, own) in own {
                let value = match global.remove(&name) {
                    Some(value) => merged(value, own),
                    None => own,
                };
                global.insert(name, value);
            }
            Value::Object(global)
        }
        (Value::Array(mut global), Value::Array(own)) => {
            global.extend(own);
            Value::Array(global)
        }
        (_, own) => own,
    }
}

/// The folder inside `functions/` that a function is built from.
fn folder(properties: &Map<String, Value>, at: &str) -> Result<String, TemplateError> {
    let uri = text(properties, "CodeUri", at)?;
    let folder = uri.trim_start_matches("./").trim_end_matches('/').strip_prefix("functions/");
    match folder {
        Some(folder) if !folder.is_empty() && !folder.contains('/') => Ok(folder.to_owned()),
        _ => Err(TemplateError::invalid(format!("{at}.CodeUri"), "must be a folder inside functions/")),
    }
}

fn routes(properties: &Map<String, Value>, folder: &str, at: &str) -> Result<Vec<Route>, TemplateError> {
    let mut routes = Vec::new();
    let Some(events) = properties.get("Events") else { return Ok(routes) };
    let at = format!("{at}.Events");
    for (name, event) in object(events, &at)? {
        let at = format!("{at}.{name}");
        let event = object(event, &at)?;
        if !matches!(text(event, "Type", &at)?, "HttpApi" | "Api") {
            continue;
        }
        let at = format!("{at}.Properties");
        let properties = object(event.get("Properties").unwrap_or(&Value::Null), &at)?;
        routes.push(Route {
            method: text(properties, "Method", &at)?.to_ascii_uppercase(),
            path: text(properties, "Path", &at)?.to_owned(),
            function: folder.to_owned(),
        });
    }
    Ok(routes)
}

/// What the statements of a policy allow, and those that are something else.
fn statements(
    policy: &Value,
    at: &str,
    grants: &mut Vec<Grant>,
    others: &mut Vec<Value>,
) -> Result<(), TemplateError> {
    let Some(statements) = policy.get("Statement") else {
        others.push(policy.clone());
        return Ok(());
    };
    for statement in list(statements) {
        let at = format!("{at}.Statement");
        let fields = object(statement, &at)?;
        let known = ["Effect", "Action", "Resource", "Sid"];
        if fields.keys().any(|field| !known.contains(&field.as_str()))
            || fields.get("Effect").is_none_or(|effect| effect != "Allow")
        {
            others.push(statement.clone());
            continue;
        }
        for action in list(member(fields, "Action", &at)?) {
            let action = action
                .as_str()
                .ok_or_else(|| TemplateError::invalid(format!("{at}.Action"), "must be text"))?;
            for resource in list(member(fields, "Resource", &at)?) {
                grants.push(Grant { action: action.to_owned(), resource: arn(resource) });
            }
        }
    }
    Ok(())
}

/// What the inline statements of a function allow, and the policies that are something else.
fn policies(properties: &Map<String, Value>, at: &str) -> Result<(Vec<Grant>, Vec<Value>), TemplateError> {
    let mut grants = Vec::new();
    let mut others: Vec<Value> = properties.get("Role").cloned().into_iter().collect();
    let at = format!("{at}.Policies");
    for policy in properties.get("Policies").map(list).unwrap_or_default() {
        statements(policy, &at, &mut grants, &mut others)?;
    }
    grants.sort();
    Ok((grants, others))
}

/// A resource of a statement, the ARN of another resource written as its logical id.
fn arn(resource: &Value) -> String {
    if let Some([Value::String(id), Value::String(attribute)]) =
        resource.get("Fn::GetAtt").and_then(Value::as_array).map(Vec::as_slice)
        && attribute == "Arn"
    {
        return id.clone();
    }
    let text = resource.get("Fn::Sub").unwrap_or(resource);
    let Some(text) = text.as_str() else { return resource.to_string() };
    let logical = text.strip_prefix("${").and_then(|rest| rest.split_once(".Arn}"));
    match logical {
        Some((id, rest)) if id.chars().all(|letter| letter.is_ascii_alphanumeric()) => format!("{id}{rest}"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
