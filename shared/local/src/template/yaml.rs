//! YAML with CloudFormation's short tags, as JSON with their long forms.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::{Map, Number, Value};

use super::TemplateError;

/// The tags that stand for `Fn::` and their own name.
const FUNCTIONS: &[&str] = &[
    "And",
    "Base64",
    "Cidr",
    "Equals",
    "FindInMap",
    "GetAZs",
    "GetAtt",
    "If",
    "ImportValue",
    "Join",
    "Length",
    "Not",
    "Or",
    "Select",
    "Split",
    "Sub",
    "ToJsonString",
    "Transform",
];

/// Reads one document.
pub(super) fn parse(text: &str) -> Result<Value, TemplateError> {
    let mut documents = Yaml::load_from_str(text).map_err(|error| TemplateError::Yaml(error.to_string()))?;
    match (documents.pop(), documents.is_empty()) {
        (Some(document), true) => json(document, "template"),
        (None, _) => Err(TemplateError::Yaml("it is empty".to_owned())),
        (Some(_), false) => Err(TemplateError::Yaml("it holds more than one document".to_owned())),
    }
}

fn json(node: Yaml<'_>, at: &str) -> Result<Value, TemplateError> {
    Ok(match node {
        Yaml::Value(scalar) => match scalar {
            Scalar::Null => Value::Null,
            Scalar::Boolean(flag) => Value::Bool(flag),
            Scalar::Integer(number) => Value::Number(number.into()),
            Scalar::FloatingPoint(number) => {
                Number::from_f64(number.into_inner()).map_or(Value::Null, Value::Number)
            }
            Scalar::String(text) => Value::String(text.into_owned()),
        },
        Yaml::Sequence(nodes) => {
            let values = nodes.into_iter().enumerate();
            let values = values.map(|(index, node)| json(node, &format!("{at}[{index}]")));
            Value::Array(values.collect::<Result<_, _>>()?)
        }
        Yaml::Mapping(nodes) => {
            let mut map = Map::new();
            for (key, node) in nodes {
                let key = match json(key, at)? {
                    Value::String(key) => key,
                    Value::Number(key) => key.to_string(),
                    Value::Bool(key) => key.to_string(),
                    _ => return Err(TemplateError::invalid(at, "a key must be text")),
                };
                let value = json(node, &format!("{at}.{key}"))?;
                let value = if key == "Fn::GetAtt" { attribute(value) } else { value };
                map.insert(key, value);
            }
            Value::Object(map)
        }
        Yaml::Tagged(tag, node) => {
            let value = json(*node, at)?;
            let name = if tag.handle == "!" { tag.suffix.as_str() } else { "" };
            match name {
                "Ref" | "Condition" => function(name, value),
                "GetAtt" => function("Fn::GetAtt", attribute(value)),
                _ if FUNCTIONS.contains(&name) => function(&format!("Fn::{name}"), value),
                _ => return Err(TemplateError::invalid(at, format!("the tag {tag} is not known"))),
            }
        }
        Yaml::Representation(..) | Yaml::Alias(_) | Yaml::BadValue => {
            return Err(TemplateError::invalid(at, "holds a value that YAML does not allow there"));
        }
    })
}

fn function(name: &str, value: Value) -> Value {
    Value::Object(Map::from_iter([(name.to_owned(), value)]))
}

/// `Id.Attribute` as the pair that the long form takes.
fn attribute(value: Value) -> Value {
    match value.as_str().and_then(|text| text.split_once('.')) {
        Some((id, attribute)) => Value::Array(vec![id.into(), attribute.into()]),
        None => value,
    }
}
