//! Intrinsic functions: what the parameters decide is resolved, what only a deployment knows stays.

use serde_json::{Map, Value};

use super::{Template, TemplateError, scalar};

/// The value that removes the property it is given to.
const NO_VALUE: &str = "AWS::NoValue";

/// Conditions may name conditions. More in a row than this can only be a circle.
const DEPTH: usize = 32;

pub(super) struct Resolver<'a> {
    template: &'a Template,
    depth: usize,
}

impl<'a> Resolver<'a> {
    pub(super) fn new(template: &'a Template) -> Self {
        Self { template, depth: 0 }
    }

    /// The value without the functions that the parameters decide. None if nothing is left of it.
    pub(super) fn resolve(&self, value: &Value, at: &str) -> Result<Option<Value>, TemplateError> {
        match value {
            Value::Object(map) => {
                if let Some((name, argument)) = single(map)
                    && let Some(result) = self.function(name, argument, at)?
                {
                    return Ok(result);
                }
                let mut resolved = Map::new();
                for (name, value) in map {
                    if let Some(value) = self.resolve(value, &format!("{at}.{name}"))? {
                        resolved.insert(name.clone(), value);
                    }
                }
                Ok(Some(Value::Object(resolved)))
            }
            Value::Array(values) => {
                let mut resolved = Vec::new();
                for (index, value) in values.iter().enumerate() {
                    resolved.extend(self.resolve(value, &format!("{at}[{index}]"))?);
                }
                Ok(Some(Value::Array(resolved)))
            }
            other => Ok(Some(other.clone())),
        }
    }

    /// The result of a function. The outer None says that it is none, or that it stays as it is.
    fn function(
        &self,
        name: &str,
        argument: &Value,
        at: &str,
    ) -> Result<Option<Option<Value>>, TemplateError> {
        Ok(match name {
            "Ref" => match argument.as_str() {
                Some(NO_VALUE) => Some(None),
                Some(name) => self.template.parameters().get(name).map(|value| Some(value.clone())),
                None => None,
            },
            "Fn::If" => {
                let Some([Value::String(condition), yes, no]) = argument.as_array().map(Vec::as_slice) else {
                    let problem = "If takes the name of a condition and two values";
                    return Err(TemplateError::invalid(at, problem));
                };
                let chosen = if self.condition(condition)? { yes } else { no };
                Some(self.resolve(chosen, at)?)
            }
            "Fn::Sub" => Some(Some(self.substitute(argument, at)?)),
            "Fn::Join" => self.join(argument, at)?.map(Some),
            _ => None,
        })
    }

    /// `Fn::Sub`: plain text if every name in it has a value, else the function with the names that
    /// are left.
    fn substitute(&self, argument: &Value, at: &str) -> Result<Value, TemplateError> {
        let empty = Map::new();
        let (text, variables) = match argument {
            Value::String(text) => (text, &empty),
            Value::Array(parts) => match parts.as_slice() {
                [Value::String(text), Value::Object(variables)] => (text, variables),
                _ => return Err(TemplateError::invalid(at, "Sub takes text, or text and a mapping")),
            },
            _ => return Err(TemplateError::invalid(at, "Sub takes text, or text and a mapping")),
        };
        let mut left = Map::new();
        let mut open = false;
        let mut result = String::new();
        let mut rest = text.as_str();
        while let Some((before, after)) = rest.split_once("${") {
            result.push_str(before);
            let Some((name, after)) = after.split_once('}') else {
                return Err(TemplateError::invalid(at, "Sub has a ${ without its }"));
            };
            rest = after;
            if let Some(literal) = name.strip_prefix('!') {
                // Stays written so as long as the function stays.
                result.push_str(&format!("${{!{literal}}}"));
                continue;
            }
            let value = match variables.get(name) {
                Some(value) => self.resolve(value, at)?,
                None => self.template.parameters().get(name).cloned(),
            };
            if let Some(text) = value.as_ref().and_then(scalar) {
                result.push_str(&text);
            } else {
                if let (true, Some(value)) = (variables.contains_key(name), value) {
                    left.insert(name.to_owned(), value);
                }
                open = true;
                result.push_str(&format!("${{{name}}}"));
            }
        }
        result.push_str(rest);
        Ok(match (open, left.is_empty()) {
            (false, _) => Value::String(result.replace("${!", "${")),
            (true, true) => serde_json::json!({ "Fn::Sub": result }),
            (true, false) => serde_json::json!({ "Fn::Sub": [result, left] }),
        })
    }

    /// `Fn::Join`, if every part is text.
    fn join(&self, argument: &Value, at: &str) -> Result<Option<Value>, TemplateError> {
        let Some([Value::String(separator), parts]) = argument.as_array().map(Vec::as_slice) else {
            return Err(TemplateError::invalid(at, "Join takes a separator and a list"));
        };
        let Some(Value::Array(parts)) = self.resolve(parts, at)? else { return Ok(None) };
        let texts: Option<Vec<String>> = parts.iter().map(scalar).collect();
        Ok(texts.map(|texts| Value::String(texts.join(separator))))
    }

    /// Whether a condition holds.
    pub(super) fn condition(&self, name: &str) -> Result<bool, TemplateError> {
        let at = format!("Conditions.{name}");
        if self.depth > DEPTH {
            return Err(TemplateError::invalid(at, "depends on itself"));
        }
        let Some(expression) = self.template.section("Conditions")?.get(name) else {
            return Err(TemplateError::invalid(at, "is not declared"));
        };
        Self { template: self.template, depth: self.depth + 1 }.holds(expression, &at)
    }

    fn holds(&self, expression: &Value, at: &str) -> Result<bool, TemplateError> {
        let problem = || TemplateError::invalid(at, "is not a condition that can be decided here");
        let (name, argument) = expression.as_object().and_then(single).ok_or_else(problem)?;
        let arguments = argument.as_array().map(Vec::as_slice);
        match (name, arguments) {
            ("Condition", None) => self.condition(argument.as_str().ok_or_else(problem)?),
            ("Fn::Not", Some([one])) => Ok(!self.holds(one, at)?),
            ("Fn::And", Some(all)) => {
                all.iter().try_fold(true, |so_far, one| Ok(self.holds(one, at)? && so_far))
            }
            ("Fn::Or", Some(all)) => {
                all.iter().try_fold(false, |so_far, one| Ok(self.holds(one, at)? || so_far))
            }
            ("Fn::Equals", Some([a, b])) => Ok(self.operand(a, at)? == self.operand(b, at)?),
            _ => Err(problem()),
        }
    }

    /// A side of `Fn::Equals`, as text.
    fn operand(&self, value: &Value, at: &str) -> Result<String, TemplateError> {
        let resolved = self.resolve(value, at)?;
        resolved.as_ref().and_then(scalar).ok_or_else(|| {
            let name = value.get("Ref").and_then(Value::as_str);
            let problem = match name {
                Some(name) => format!("compares {name}, which has no value here"),
                None => "compares what only a deployment knows".to_owned(),
            };
            TemplateError::invalid(at, problem)
        })
    }
}

/// The one entry of a mapping that has one.
fn single(map: &Map<String, Value>) -> Option<(&str, &Value)> {
    let mut entries = map.iter();
    match (entries.next(), entries.next()) {
        (Some((name, value)), None) => Some((name, value)),
        _ => None,
    }
}
