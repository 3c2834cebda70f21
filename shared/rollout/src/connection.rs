//! Which DynamoDB the tool talks to.

use kit::config::{self, process_var};
use kit::dynamo::Db;
use kit::error::{Error, chain};
use kit::trust::Trust;

/// Where `make run` serves the local database.
const LOCAL: &str = "http://127.0.0.1:8000";

/// Which DynamoDB it is.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// Whether it is the local stack's, whatever the environment says.
    pub local: bool,
    /// What comes before the name of every table; `TABLE_PREFIX` where it is not said.
    pub table_prefix: Option<String>,
    /// Where another service than DynamoDB itself answers, unless the environment says where.
    pub url: Option<String>,
}

/// Connects to the DynamoDB of the environment, or to that of the local stack.
///
/// # Errors
///
/// What the environment lacks, by name.
pub fn connect(place: &Place) -> Result<Db, String> {
    let var = |name: &str| match (name, place.local) {
        ("AWS_ENDPOINT_URL_DYNAMODB", true) => Some(LOCAL.to_owned()),
        ("AWS_ENDPOINT_URL_DYNAMODB", false) => {
            process_var(name).filter(|url| !url.is_empty()).or_else(|| place.url.clone())
        }
        (name, true) => made_up(name),
        (name, false) => process_var(name),
    };
    let mut endpoint = config::endpoint(var).map_err(|error| told(&error))?;
    if endpoint.trust == Trust::Amazon {
        // A person's machine may reach the service through a proxy whose certificates only the machine knows.
        endpoint.trust = Trust::Machine;
    }
    let prefix = place.table_prefix.clone().or_else(|| process_var("TABLE_PREFIX")).unwrap_or_default();
    Db::connect(endpoint, &prefix).map_err(|error| told(&error))
}

/// What a database on this machine is told in place of a region and of credentials.
pub(crate) fn made_up(name: &str) -> Option<String> {
    match name {
        "AWS_REGION" => Some("sa-east-1".to_owned()),
        "AWS_ACCESS_KEY_ID" | "AWS_SECRET_ACCESS_KEY" => Some("local".to_owned()),
        _ => None,
    }
}

/// An error of the kit with its causes: who operates a system is told all.
pub fn told(error: &Error) -> String {
    chain(error)
}
