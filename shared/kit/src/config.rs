//! The settings of a function, read from the environment once, here and nowhere else.

use aws_sdk_dynamodb::config::{Credentials, Region};
use jiff::tz::TimeZone;

use crate::cursor::CursorKeys;
use crate::error::Error;
use crate::function::Function;
use crate::key::Rollout;
use crate::list::{Answer, List};
use crate::rollout::{Stage, Stages};
use crate::trust::Trust;

/// The settings of a function.
#[derive(Debug)]
pub struct Settings {
    /// What comes before the name of every table: `TABLE_PREFIX`, empty by default.
    pub table_prefix: String,
    /// The claim that holds the tenant: `TENANT_CLAIM`, `custom:tenant` by default.
    pub tenant_claim: String,
    /// The time zone in which a day is a day: `TIME_ZONE`, `America/Sao_Paulo` by default.
    pub time_zone: TimeZone,
    /// The keys of cursors: `CURSOR_KEY` and `CURSOR_KEY_PREVIOUS`. Only of a list that answers cursors.
    pub cursor_keys: Option<CursorKeys>,
    /// How far the indexes are that the function takes part in rolling out: `<NAME>_STAGE`, `read` by
    /// default.
    pub stages: Stages,
    /// The namespace of the metrics: `METRICS_NAMESPACE`, `Chaveiro` by default.
    pub metrics_namespace: String,
}

/// How DynamoDB is reached.
#[derive(Debug)]
pub struct Endpoint {
    /// `AWS_REGION`.
    pub region: Region,
    /// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`. Lambda sets them for the
    /// life of the process, so no other source is asked.
    pub credentials: Credentials,
    /// `AWS_ENDPOINT_URL_DYNAMODB`, or else the service's own address.
    pub url: Option<String>,
    /// Whom the connection trusts: Amazon at the service's own address, unless a variable says what this machine is
    /// to trust (`SSL_CERT_FILE`, `SSL_CERT_DIR`) or through which proxy it is to go (`HTTPS_PROXY` and its like).
    pub trust: Trust,
}

/// The variables by which whoever deploys says how the machine reaches others.
///
/// Source: `rustls-native-certs` and `hyper-util`, by which the SDK's own client reads them.
const OWN_WAY: &[&str] = &[
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "HTTPS_PROXY",
    "https_proxy",
    "HTTP_PROXY",
    "http_proxy",
    "ALL_PROXY",
    "all_proxy",
];

/// Reads the settings of `function` with `var`, which gives a variable's value.
///
/// # Errors
///
/// What is missing or wrong, by the variable's name. A variable's value is never part of an error.
pub fn settings(function: Function, var: impl Fn(&str) -> Option<String>) -> Result<Settings, Error> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    let zone = set("TIME_ZONE").unwrap_or_else(|| "America/Sao_Paulo".to_owned());
    Ok(Settings {
        table_prefix: set("TABLE_PREFIX").unwrap_or_default(),
        tenant_claim: set("TENANT_CLAIM").unwrap_or_else(|| "custom:tenant".to_owned()),
        time_zone: TimeZone::get(&zone).map_err(|error| Error::internal("reading TIME_ZONE", error))?,
        cursor_keys: match function {
            Function::List(list) if gives_cursors(list) => {
                let current = required(&set, "CURSOR_KEY")?;
                Some(CursorKeys::new(&current, set("CURSOR_KEY_PREVIOUS").as_deref())?)
            }
            Function::List(_) | Function::Operation(_) | Function::Job(_) => None,
        },
        stages: Stages::new(
            function.rollouts().into_iter().map(|rollout| stage(rollout, &set)).collect::<Result<_, _>>()?,
        ),
        metrics_namespace: set("METRICS_NAMESPACE").unwrap_or_else(|| "Chaveiro".to_owned()),
    })
}

/// Reads how DynamoDB is reached with `var`, which gives a variable's value.
///
/// # Errors
///
/// A missing variable, by name.
pub fn endpoint(var: impl Fn(&str) -> Option<String>) -> Result<Endpoint, Error> {
    let set = |name: &str| var(name).filter(|value| !value.is_empty());
    let region = required(&set, "AWS_REGION")?;
    let url = set("AWS_ENDPOINT_URL_DYNAMODB").or_else(|| set("AWS_ENDPOINT_URL"));
    let own_way = OWN_WAY.iter().any(|name| set(name).is_some());
    Ok(Endpoint {
        trust: Trust::of(url.as_deref(), &region, own_way),
        region: Region::new(region),
        credentials: Credentials::new(
            required(&set, "AWS_ACCESS_KEY_ID")?,
            required(&set, "AWS_SECRET_ACCESS_KEY")?,
            set("AWS_SESSION_TOKEN"),
            None,
            "environment",
        ),
        url,
    })
}

/// The value of a variable of this process.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "this is the one place that reads the environment")]
pub fn process_var(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Whether a list needs cursor keys.
#[must_use]
pub fn gives_cursors(list: &List) -> bool {
    matches!(list.answer(), Answer::Cursor { .. })
}

fn stage(rollout: &Rollout, set: &impl Fn(&str) -> Option<String>) -> Result<(&'static str, Stage), Error> {
    let variable = rollout.variable();
    let stage = match set(&variable) {
        None => Some(Stage::Read),
        Some(name) => Stage::parse(&name),
    };
    let stage = stage.ok_or_else(|| {
        let names = Stage::ALL.map(Stage::as_str).join(", ");
        Error::internal("reading the environment", format!("{variable} is none of {names}"))
    })?;
    Ok((rollout.name, stage))
}

fn required(set: &impl Fn(&str) -> Option<String>, name: &'static str) -> Result<String, Error> {
    set(name).ok_or_else(|| Error::internal("reading the environment", format!("{name} is not set")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::chain;
    use crate::key::{Key, Table};
    use crate::list::{Direction, Order, Partition, Question, Read, Sort};

    const QUESTION: Question = Question {
        name: "all",
        read: Read::Table,
        partition: Partition::Tenant,
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    };
    const TABLE: Table = Table::new("T", Key::pair("tenant", "id"), &[]);
    static PAGES: List = List::new("t", "/t", TABLE, &[QUESTION], Answer::Page);
    static CURSORS: List = List::new("t", "/t", TABLE, &[QUESTION], Answer::Cursor { reversible: false });

    #[test]
    fn pages_need_no_setting() {
        let settings = settings(Function::List(&PAGES), |_| None).unwrap();
        assert_eq!(settings.tenant_claim, "custom:tenant");
        assert_eq!(settings.time_zone.iana_name(), Some("America/Sao_Paulo"));
        assert!(settings.cursor_keys.is_none());
    }

    #[test]
    fn a_proxy_or_certificates_of_one_s_own_are_left_to_the_sdk() {
        let trust = |also: &str| {
            let var = |name: &str| {
                (name.starts_with("AWS_") && !name.contains("URL") || name == also)
                    .then(|| "sa-east-1".to_owned())
            };
            endpoint(var).unwrap().trust
        };
        assert_eq!(trust(""), Trust::Amazon);
        for name in OWN_WAY {
            assert_eq!(trust(name), Trust::Machine, "{name}");
        }
    }

    #[test]
    fn a_missing_or_wrong_setting_is_named_and_its_value_is_not() {
        let error = settings(Function::List(&CURSORS), |_| None).unwrap_err();
        assert_eq!(chain(&error), "reading the environment failed: CURSOR_KEY is not set");
        let short = |name: &str| (name == "CURSOR_KEY").then(|| "hush".to_owned());
        let error = settings(Function::List(&CURSORS), short).unwrap_err();
        assert!(!chain(&error).contains("hush"), "{error}");
        let error = endpoint(|_| None).unwrap_err();
        assert_eq!(chain(&error), "reading the environment failed: AWS_REGION is not set");
    }
}
