//! Reads which parameters `sam deploy` gives the template, from `samconfig.toml`.

use std::collections::BTreeMap;

use serde_json::Value;

/// Parameters of the template, by name.
pub type Parameters = BTreeMap<String, String>;

/// Why samconfig.toml could not be read.
#[derive(Debug, thiserror::Error)]
pub enum SamconfigError {
    /// It is not TOML.
    #[error("samconfig.toml is not TOML: {0}")]
    Toml(#[from] toml::de::Error),
    /// Its parameters are not written as any of the forms that are read here.
    #[error("samconfig.toml: parameter_overrides {0}")]
    Overrides(String),
}

/// The parameters of the default environment's deployments: `Name="value" Other="value"`, a list of such
/// texts, or a table.
///
/// # Errors
///
/// See [`SamconfigError`].
pub fn parameters(text: &str) -> Result<Parameters, SamconfigError> {
    let root: Value = toml::from_str(text)?;
    let of = |command: &str| root.pointer(&format!("/default/{command}/parameters/parameter_overrides"));
    let mut parameters = Parameters::new();
    if let Some(overrides) = of("deploy").or_else(|| of("global")) {
        add(overrides, &mut parameters)?;
    }
    Ok(parameters)
}

/// The name of the stack that the default environment deploys, if it is told.
///
/// # Errors
///
/// See [`SamconfigError`].
pub fn stack_name(text: &str) -> Result<Option<String>, SamconfigError> {
    let root: Value = toml::from_str(text)?;
    let of = |command: &str| root.pointer(&format!("/default/{command}/parameters/stack_name"))?.as_str();
    Ok(of("deploy").or_else(|| of("global")).map(str::to_owned))
}

fn add(overrides: &Value, parameters: &mut Parameters) -> Result<(), SamconfigError> {
    match overrides {
        Value::String(text) => pairs(text, parameters),
        Value::Array(several) => several.iter().try_for_each(|one| add(one, parameters)),
        Value::Object(table) => {
            for (name, value) in table {
                let value = match value {
                    Value::String(text) => text.clone(),
                    Value::Array(several) => several
                        .iter()
                        .map(plain)
                        .collect::<Option<Vec<_>>>()
                        .ok_or_else(|| wrong(name))?
                        .join(","),
                    other => plain(other).ok_or_else(|| wrong(name))?,
                };
                parameters.insert(name.clone(), value);
            }
            Ok(())
        }
        _ => Err(SamconfigError::Overrides("must be a text, a list or a table".to_owned())),
    }
}

fn wrong(name: &str) -> SamconfigError {
    SamconfigError::Overrides(format!("has a value of {name} that is none"))
}

fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// Reads `Name="value" Other=value`, a backslash before what stands for itself.
fn pairs(text: &str, parameters: &mut Parameters) -> Result<(), SamconfigError> {
    let mut letters = text.chars().peekable();
    loop {
        while letters.next_if(|letter| letter.is_whitespace()).is_some() {}
        if letters.peek().is_none() {
            return Ok(());
        }
        let mut name = String::new();
        while let Some(letter) = letters.next_if(|letter| *letter != '=' && !letter.is_whitespace()) {
            name.push(letter);
        }
        if name.is_empty() || letters.next() != Some('=') {
            let message = format!("must be Name=\"value\" pairs, and {name:?} is none");
            return Err(SamconfigError::Overrides(message));
        }
        let quote = letters.next_if(|letter| matches!(letter, '"' | '\''));
        let ends = |letter: char| quote.map_or(letter.is_whitespace(), |quote| letter == quote);
        let (mut value, mut ended) = (String::new(), quote.is_none());
        while let Some(letter) = letters.next() {
            if ends(letter) {
                ended = true;
                break;
            }
            match letter {
                '\\' if matches!(letters.peek(), Some('"' | '\'' | ' ')) => value.extend(letters.next()),
                _ => value.push(letter),
            }
        }
        if !ended {
            return Err(SamconfigError::Overrides(format!("does not close the quotes of {name}")));
        }
        parameters.insert(name, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(overrides: &str) -> Result<Parameters, SamconfigError> {
        parameters(&format!(
            "version = 0.1\n[default.deploy.parameters]\nstack_name = \"s\"\nparameter_overrides = {overrides}\n"
        ))
    }

    fn expected(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn the_stack_is_named_for_deploy_or_for_all_commands() {
        let text = "[default.global.parameters]\nstack_name = 'all'\n";
        assert_eq!(stack_name(text).unwrap().as_deref(), Some("all"));
        let text = format!("{text}[default.deploy.parameters]\nstack_name = 'chaveiro'\n");
        assert_eq!(stack_name(&text).unwrap().as_deref(), Some("chaveiro"));
        assert_eq!(stack_name("[prod.deploy.parameters]\nstack_name = 'x'\n").unwrap(), None);
    }

    #[test]
    fn the_form_that_sam_writes_is_read() {
        let text = r#""JwtIssuer=\"https://a/b?c=d\" JwtAudience=\"a,b\" TablePrefix=\"\" BankByProviderStage=\"none\"""#;
        let wanted = [
            ("JwtIssuer", "https://a/b?c=d"),
            ("JwtAudience", "a,b"),
            ("TablePrefix", ""),
            ("BankByProviderStage", "none"),
        ];
        assert_eq!(read(text).unwrap(), expected(&wanted));
    }

    #[test]
    fn lists_tables_and_values_without_quotes_are_read() {
        let wanted = expected(&[("A", "x y"), ("B", "2")]);
        assert_eq!(read(r#"["A='x y'", "B=2"]"#).unwrap(), wanted);
        assert_eq!(read(r#"'A="x y"   B=2 '"#).unwrap(), wanted);
        assert_eq!(read(r#"'A=x\ y B=2'"#).unwrap(), wanted);
        assert_eq!(read(r#"{ A = "x y", B = 2 }"#).unwrap(), wanted);
        assert_eq!(read(r#"'A="say \"x\""'"#).unwrap(), expected(&[("A", "say \"x\"")]));
        assert_eq!(parameters("version = 0.1").unwrap(), Parameters::new());
    }

    #[test]
    fn what_is_not_understood_is_no_silence() {
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            problem(r#""A""#),
            "samconfig.toml: parameter_overrides must be Name=\"value\" pairs, and \"A\" is none"
        );
        assert_eq!(
            problem(r#"'A="x'"#),
            "samconfig.toml: parameter_overrides does not close the quotes of A"
        );
        assert_eq!(problem("true"), "samconfig.toml: parameter_overrides must be a text, a list or a table");
        assert!(parameters("[default").unwrap_err().to_string().starts_with("samconfig.toml is not TOML"));
    }
}
