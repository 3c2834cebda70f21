//! What a deployment may not do to tables that are in use.
//!
//! DynamoDB makes or deletes one index of a table per update, a rollout moves by one stage per deployment,
//! and lists read an index only once everything that screens show is in it. CloudFormation finds out about
//! the first after minutes, and about the others never.

use std::collections::BTreeMap;

use kit::dynamo::{Db, Session};
use kit::key::{Rollout, Table};
use kit::report::{self, Report, ReportRequest};
use kit::rollout::{Stage, Stages};
use local::template::{Template, TemplateError};
use serde_json::Value;
use tokio::time::{Duration, Instant};

use crate::connection::{Place, connect, told};
use crate::progress;
use crate::samconfig::Parameters;

/// How long a report may take.
const PATIENCE: Duration = Duration::from_secs(24 * 60 * 60);

/// What may not be known of a deployment.
#[derive(Debug, thiserror::Error)]
pub enum DeploymentError {
    /// The template, or a parameter that it is given.
    #[error("template.yaml: {0}")]
    Template(#[from] TemplateError),
    /// A stage that there is not.
    #[error("{0} has the value {1:?}, which is no stage")]
    Stage(String, String),
    /// The database.
    #[error("{0}")]
    Database(String),
}

/// The tables that exist, by their names without the prefix, each with its indexes and their status.
pub type Live = BTreeMap<String, Vec<(String, String)>>;

/// The template with the parameters that it will have: those of `to`, else those of `from` that it still has,
/// since a deployment leaves what it is not told as it is, else its defaults.
///
/// # Errors
///
/// A parameter of `to` that the template does not have, or a value that it does not allow.
pub fn template_at(
    template: Template,
    from: &Parameters,
    to: &Parameters,
) -> Result<Template, DeploymentError> {
    let declared = template.root().get("Parameters").cloned().unwrap_or(Value::Null);
    let kept =
        from.iter().filter(|(name, _)| declared.get(name.as_str()).is_some() && !to.contains_key(*name));
    let values: Vec<(&str, &str)> =
        kept.chain(to).map(|(name, value)| (name.as_str(), value.as_str())).collect();
    Ok(template.with_parameters(&values)?)
}

/// The value of a parameter.
#[must_use]
pub fn parameter<'a>(template: &'a Template, name: &str) -> &'a str {
    template.parameters().get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The stage that a rollout is at and the one that it goes to. A stack may say of an index what is not so, of
/// imported tables above all: one that is not there has not begun, and one that is being made is no further.
fn stages(
    template: &Template,
    from: &Parameters,
    live: &Live,
    rollout: &Rollout,
) -> Result<(Stage, Stage), DeploymentError> {
    let name = rollout.parameter();
    let stage =
        |text: &str| Stage::parse(text).ok_or_else(|| DeploymentError::Stage(name.clone(), text.to_owned()));
    // Tables of another prefix are other tables. A stack that does not know the parameter, and no stack at
    // all, have not begun.
    let same =
        from.get("TablePrefix").map(String::as_str).unwrap_or_default() == parameter(template, "TablePrefix");
    let before = from.get(&name).filter(|_| same).map_or(Ok(Stage::None), |text| stage(text))?;
    let index = live.get(rollout.table.name).map(|indexes| {
        indexes.iter().find(|(name, _)| name == rollout.index.name).map(|(_, status)| status.as_str())
    });
    let before = match index {
        Some(None) => Stage::None,
        Some(Some(status)) if status != "ACTIVE" => before.min(Stage::Create),
        Some(Some(_)) | None => before,
    };
    Ok((before, stage(parameter(template, &name))?))
}

/// Why functions that are built for the processor `built` may not be deployed: the template has another one.
#[must_use]
pub fn against_build(template: &Template, built: &str) -> Option<String> {
    let wanted = parameter(template, "Architecture");
    (built != wanted).then(|| {
        format!(
            "the functions are built for {built}, and the stack's are for {wanted}: run make build ARCH={wanted}"
        )
    })
}

/// The rollouts whose index lists are about to read, of tables that exist.
///
/// # Errors
///
/// A value that is no stage.
pub fn to_verify(
    template: &Template,
    from: &Parameters,
    live: &Live,
) -> Result<Vec<&'static Rollout>, DeploymentError> {
    let mut rollouts = Vec::new();
    for rollout in tables::ROLLOUTS.iter().copied().filter(|rollout| live.contains_key(rollout.table.name)) {
        if matches!(stages(template, from, live, rollout)?, (before, Stage::Read) if before != Stage::Read) {
            rollouts.push(rollout);
        }
    }
    Ok(rollouts)
}

/// Why the deployment of `template`, which has its parameters already, may not happen: nothing where it may.
/// `from` are the parameters of what is deployed, none where nothing is. `reports` are those of
/// [`to_verify`], made at stage `backfill`.
///
/// # Errors
///
/// A template that cannot be read, and a value that is no stage.
pub fn refusals(
    template: &Template,
    from: &Parameters,
    live: &Live,
    reports: &[Report],
) -> Result<Vec<String>, DeploymentError> {
    if let Some(reason) = against_creation(template, from, live) {
        return Ok(vec![reason]);
    }
    let mut reasons = Vec::new();
    let prefix = parameter(template, "TablePrefix");
    for table in template.tables()? {
        let name = table.get("TableName").and_then(Value::as_str).unwrap_or_default();
        let name = name.strip_prefix(prefix).unwrap_or(name);
        if let Some(indexes) = live.get(name) {
            let wanted = index_names(&table);
            reasons.extend(against_update(name, &wanted, indexes));
            reasons.extend(against_removal(name, &wanted, indexes));
        }
    }
    for rollout in tables::ROLLOUTS.iter().filter(|rollout| live.contains_key(rollout.table.name)) {
        let (before, after) = stages(template, from, live, rollout)?;
        if let Some(next) = before.next().filter(|next| after > *next) {
            reasons.push(format!(
                "{}: {} follows {}, not {}, and each stage is a deployment of its own; set {}={}",
                rollout.name,
                next.as_str(),
                before.as_str(),
                after.as_str(),
                rollout.parameter(),
                next.as_str(),
            ));
        }
        if before == Stage::Read && after < Stage::Write {
            reasons.push(format!(
                "{}: lists read the index until they are told otherwise, and would miss what is saved meanwhile; \
                 set {}={} first",
                rollout.name,
                rollout.parameter(),
                Stage::Backfill.as_str(),
            ));
        }
        if after != Stage::Read || before == Stage::Read {
            continue;
        }
        match reports.iter().find(|report| report.index == rollout.name) {
            None => {
                reasons.push(format!("{}: nobody has looked whether lists may read the index", rollout.name));
            }
            Some(report) if report.verified => {}
            Some(report) => {
                let against = report.next.iter().flat_map(|next| &next.reasons);
                reasons.extend(against.map(|reason| format!("{}: not safe to read: {reason}", rollout.name)));
            }
        }
    }
    Ok(reasons)
}

/// Why a first deployment may not make its tables: some of them are there, as after one that was rolled back,
/// which deletes no table. With another DynamoDB API nothing is in the way, since the tables there are not
/// those that a stack makes.
fn against_creation(template: &Template, from: &Parameters, live: &Live) -> Option<String> {
    // A stack has parameters, since some have no default.
    if !from.is_empty() || live.is_empty() || !parameter(template, "DynamoDbEndpoint").is_empty() {
        return None;
    }
    let prefix = parameter(template, "TablePrefix");
    let names: Vec<String> = live.keys().map(|name| format!("{prefix}{name}")).collect();
    Some(format!(
        "there is no stack yet, and tables that it would make exist and belong to no stack: {}; import them (the \
         README says how), or delete them if they are empty",
        names.join(", ")
    ))
}

/// The names of a table's indexes in the template.
pub(crate) fn index_names(table: &Value) -> Vec<&str> {
    let indexes = table.get("GlobalSecondaryIndexes").and_then(Value::as_array).into_iter().flatten();
    indexes.filter_map(|index| index.get("IndexName")?.as_str()).collect()
}

/// Why one update cannot give a table these indexes instead of those that it has.
fn against_update(table: &str, wanted: &[&str], live: &[(String, String)]) -> Option<String> {
    // An index that the code does not know is of somebody else, and no stack deletes it.
    let gone = live.iter().map(|(name, _)| name.as_str());
    let gone = gone.filter(|name| !wanted.contains(name) && declares(table, name));
    let new = wanted.iter().copied().filter(|name| !live.iter().any(|(known, _)| known == name));
    // What goes away is first: it makes room, and nobody waits for it.
    let steps: Vec<(&str, &str)> =
        gone.map(|name| (name, "is deleted")).chain(new.map(|name| (name, "is made"))).collect();
    let busy = live.iter().find(|(_, status)| status != "ACTIVE");
    match (steps.as_slice(), busy) {
        ([], _) => None,
        ([(name, what)], Some((other, status))) if name != other => Some(format!(
            "{table}: {name} {what} only once {other} is ACTIVE, and it is {status}: one index of a table at a time"
        )),
        ([_], _) => None,
        (steps, _) => {
            let order: Vec<String> = steps
                .iter()
                .map(|(name, what)| {
                    let parameter =
                        parameter_of(table, name).map(|name| format!(" ({name})")).unwrap_or_default();
                    format!("{name}{parameter} {what}")
                })
                .collect();
            Some(format!(
                "{table}: DynamoDB makes or deletes one index of a table per update, and this is {} updates; \
                 deploy them one after the other: {}",
                steps.len(),
                order.join(", then ")
            ))
        }
    }
}

/// Whether the code has this index of the table.
fn declares(table: &str, index: &str) -> bool {
    let indexes = tables::ALL.iter().filter(|known| known.name == table).flat_map(|known| known.indexes);
    indexes.into_iter().any(|known| known.name == index)
}

/// Why a table may not lose indexes: lists read those that the code declares, and only of one that a rollout
/// owns a stage says whether they still do.
fn against_removal(table: &str, wanted: &[&str], live: &[(String, String)]) -> Vec<String> {
    let declared = tables::ALL.iter().filter(|known| known.name == table).flat_map(|known| known.indexes);
    let gone = declared.map(|index| index.name).filter(|name| {
        let exists = live.iter().any(|(known, _)| known == name);
        exists && !wanted.contains(name) && parameter_of(table, name).is_none()
    });
    gone.map(|name| {
        format!(
            "{table}: {name} would be deleted, and the code declares it for its lists; put it back into \
             template.yaml, or, where no list reads it any more, deploy that first and then take it out of \
             shared/tables as well"
        )
    })
    .collect()
}

/// The parameter that sets the stage of an index.
pub(crate) fn parameter_of(table: &str, index: &str) -> Option<String> {
    let ours = |rollout: &&&Rollout| rollout.table.name == table && rollout.index.name == index;
    tables::ROLLOUTS.iter().find(ours).map(|rollout| rollout.parameter())
}

/// What a deployment would do, and why it may not.
#[derive(Debug)]
pub struct Checked {
    /// Why not; nothing where it may happen.
    pub refusals: Vec<String>,
    /// The stages that would change, in words.
    pub moves: Vec<String>,
}

/// The database that the template's functions read. `local` says that it is the local stack's.
///
/// # Errors
///
/// Settings of this machine that are missing or cannot be used.
pub fn database_of(template: &Template, local: bool) -> Result<Db, DeploymentError> {
    let place = Place {
        local,
        table_prefix: Some(parameter(template, "TablePrefix").to_owned()),
        url: Some(parameter(template, "DynamoDbEndpoint").to_owned()),
    };
    connect(&place).map_err(DeploymentError::Database)
}

/// The tables of the template that exist.
///
/// # Errors
///
/// A template that cannot be read, and a database that does not tell.
pub async fn live(template: &Template, db: &Db) -> Result<Live, DeploymentError> {
    let mut live = Live::new();
    for table in declared(template)? {
        let described =
            Session::new(db, Instant::now() + PATIENCE).describe(table).await.map_err(|error| {
                DeploymentError::Database(format!("looking at {}: {}", table.name, told(&error)))
            })?;
        live.extend(described.map(|described| (table.name.to_owned(), described.indexes)));
    }
    Ok(live)
}

/// Looks at the tables as they are and says what of a deployment may not happen. `built` is the processor that
/// the functions are built for, if they are to be deployed too. `local` says that the tables are the local
/// stack's.
///
/// # Errors
///
/// See [`DeploymentError`].
pub async fn check(
    template: Template,
    from: &Parameters,
    to: &Parameters,
    built: Option<&str>,
    local: bool,
) -> Result<Checked, DeploymentError> {
    let template = template_at(template, from, to)?;
    // Nothing else has to be asked then, and no table read.
    if let Some(reason) = built.and_then(|built| against_build(&template, built)) {
        return Ok(Checked { refusals: vec![reason], moves: Vec::new() });
    }
    let database = |problem: String| DeploymentError::Database(problem);
    let db = database_of(&template, local)?;
    let deadline = Instant::now() + PATIENCE;
    let live = live(&template, &db).await?;
    let mut reports = Vec::new();
    for rollout in to_verify(&template, from, &live)? {
        let request = ReportRequest { index: rollout.name.to_owned(), segments: None };
        let stages = Stages::new(vec![(rollout.name, Stage::Backfill)]);
        let bar = progress::items(rollout.name, 0);
        let report = report::run(rollout, &request, &stages, &db, deadline, &|items| bar.inc(items)).await;
        bar.finish_and_clear();
        reports.push(
            report.map_err(|error| database(format!("looking at {}: {}", rollout.name, told(&error))))?,
        );
    }
    let mut moves = Vec::new();
    for rollout in tables::ROLLOUTS.iter().filter(|rollout| live.contains_key(rollout.table.name)) {
        let (before, after) = stages(&template, from, &live, rollout)?;
        if before != after {
            moves.push(format!("{} goes from {} to {}", rollout.name, before.as_str(), after.as_str()));
        }
    }
    Ok(Checked { refusals: refusals(&template, from, &live, &reports)?, moves })
}

/// The tables that the code declares and the template has.
fn declared(template: &Template) -> Result<Vec<&'static Table>, TemplateError> {
    let prefix = parameter(template, "TablePrefix");
    let names: Vec<Value> =
        template.tables()?.iter().filter_map(|table| table.get("TableName").cloned()).collect();
    let has = |table: &&Table| names.iter().any(|name| *name == format!("{prefix}{}", table.name));
    Ok(tables::ALL.iter().filter(has).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tables::{bank_account, sales_order};

    const SETTLED: &[(&str, &str)] = &[
        ("OrdersByCustomerStage", "read"),
        ("PersonByTenantStage", "read"),
        ("ContractByEntityStage", "read"),
        ("BankByOrganizationStage", "read"),
        ("BankByProviderStage", "read"),
    ];

    fn parameters(pairs: &[(&str, &str)]) -> Parameters {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    /// A running system, but for these stages.
    fn deployed(stages: &[(&str, &str)]) -> Parameters {
        let mut all = parameters(SETTLED);
        all.extend(parameters(stages));
        all
    }

    fn template(from: &Parameters, to: &[(&str, &str)]) -> Template {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        template_at(Template::load(path).unwrap(), from, &parameters(to)).unwrap()
    }

    fn active(indexes: &[&str]) -> Vec<(String, String)> {
        indexes.iter().map(|name| ((*name).to_owned(), "ACTIVE".to_owned())).collect()
    }

    fn live(table: &Table, without: &[&str]) -> Live {
        let names: Vec<&str> =
            table.indexes.iter().map(|index| index.name).filter(|name| !without.contains(name)).collect();
        Live::from([(table.name.to_owned(), active(&names))])
    }

    fn report(rollout: &Rollout, against: &[&str]) -> Report {
        Report {
            index: rollout.name.to_owned(),
            table: rollout.table.name.to_owned(),
            index_name: rollout.index.name.to_owned(),
            table_exists: true,
            status: Some("ACTIVE".to_owned()),
            stage: "backfill".to_owned(),
            segments: 1,
            done: true,
            items: 10,
            eligible: 10,
            indexed: 10,
            to_load: 0,
            to_remove: 0,
            entries: Some(10),
            unwritable: 0,
            unindexable: kit::rollout::Unindexable::default(),
            schema_versions: BTreeMap::new(),
            read_units: 1.0,
            verified: against.is_empty(),
            next: Some(kit::report::Next {
                stage: "read".to_owned(),
                safe: against.is_empty(),
                reasons: against.iter().map(|reason| (*reason).to_owned()).collect(),
            }),
        }
    }

    #[test]
    fn a_new_system_begins_where_lists_read_every_index() {
        let template = template(&Parameters::new(), &[]);
        assert_eq!(parameter(&template, "BankByProviderStage"), "read");
        assert!(to_verify(&template, &Parameters::new(), &Live::new()).unwrap().is_empty());
        assert!(refusals(&template, &Parameters::new(), &Live::new(), &[]).unwrap().is_empty());
    }

    #[test]
    fn an_index_of_another_system_is_in_nobodys_way() {
        let from = deployed(&[("OrdersByCustomerStage", "none")]);
        let template = template(&from, &[("OrdersByCustomerStage", "create")]);
        let mut live = live(&sales_order::TABLE, &[sales_order::CUSTOMER_ROLLOUT.index.name]);
        live.get_mut("SalesOrder").unwrap().extend(active(&["of-the-warehouse"]));
        assert_eq!(refusals(&template, &from, &live, &[]).unwrap(), Vec::<String>::new());
    }

    #[test]
    fn two_new_indexes_of_one_table_are_two_updates() {
        let from = deployed(&[("BankByOrganizationStage", "none"), ("BankByProviderStage", "none")]);
        let table = bank_account::TABLE;
        let none = live(&table, &[bank_account::BY_ORGANIZATION.name, bank_account::BY_PROVIDER.name]);
        let both =
            template(&from, &[("BankByOrganizationStage", "create"), ("BankByProviderStage", "create")]);
        assert_eq!(
            refusals(&both, &from, &none, &[]).unwrap(),
            [
                "BankAccount: DynamoDB makes or deletes one index of a table per update, and this is 2 updates; \
                 deploy them one after the other: organizationLookupKey-index (BankByOrganizationStage) is made, \
                 then providerLookupKey-index (BankByProviderStage) is made"
            ]
        );
        let one = template(&from, &[("BankByOrganizationStage", "create")]);
        assert!(refusals(&one, &from, &none, &[]).unwrap().is_empty());
    }

    #[test]
    fn one_index_made_and_another_deleted_are_two_updates() {
        let from = deployed(&[("BankByOrganizationStage", "create"), ("BankByProviderStage", "none")]);
        let organization = live(&bank_account::TABLE, &[bank_account::BY_PROVIDER.name]);
        let swap = template(&from, &[("BankByOrganizationStage", "none"), ("BankByProviderStage", "create")]);
        let reasons = refusals(&swap, &from, &organization, &[]).unwrap();
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(
            reasons[0].ends_with(
                "organizationLookupKey-index (BankByOrganizationStage) is deleted, \
                 then providerLookupKey-index (BankByProviderStage) is made"
            ),
            "{reasons:?}"
        );
        // Going back alone is fine, from wherever.
        let back = template(&from, &[("BankByOrganizationStage", "none")]);
        assert!(refusals(&back, &from, &organization, &[]).unwrap().is_empty());
    }

    #[test]
    fn an_index_waits_for_another_that_is_being_made() {
        let from = deployed(&[("BankByOrganizationStage", "create"), ("BankByProviderStage", "none")]);
        let creating = vec![("organizationLookupKey-index".to_owned(), "CREATING".to_owned())];
        let busy = Live::from([("BankAccount".to_owned(), creating)]);
        let next = template(&from, &[("BankByProviderStage", "create")]);
        assert_eq!(
            refusals(&next, &from, &busy, &[]).unwrap(),
            [
                "BankAccount: providerLookupKey-index is made only once organizationLookupKey-index is ACTIVE, \
                 and it is CREATING: one index of a table at a time"
            ]
        );
        // To give up the one that is being made, nothing has to be waited for.
        let back = template(&from, &[("BankByOrganizationStage", "none")]);
        assert!(refusals(&back, &from, &busy, &[]).unwrap().is_empty());
    }

    #[test]
    fn an_index_that_no_rollout_owns_is_not_deleted() {
        let from = deployed(&[]);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let text = std::fs::read_to_string(path).unwrap();
        let (before, cart) = text.split_once("TableName: !Sub '${TablePrefix}Cart'").unwrap();
        let renamed = cart.replacen("IndexName: tenant-customerId-index", "IndexName: other-index", 1);
        let without = format!("{before}TableName: !Sub '${{TablePrefix}}Cart'{renamed}");
        let without = template_at(Template::parse(&without).unwrap(), &from, &Parameters::new()).unwrap();
        let carts = live(&tables::cart::TABLE, &[]);
        let live_with_other = |mut live: Live| {
            live.get_mut("Cart").unwrap().push(("other-index".to_owned(), "ACTIVE".to_owned()));
            live
        };
        assert_eq!(
            refusals(&without, &from, &live_with_other(carts.clone()), &[]).unwrap(),
            [
                "Cart: tenant-customerId-index would be deleted, and the code declares it for its lists; put it \
                 back into template.yaml, or, where no list reads it any more, deploy that first and then take it \
                 out of shared/tables as well"
            ]
        );
        assert!(refusals(&template(&from, &[]), &from, &carts, &[]).unwrap().is_empty());
    }

    #[test]
    fn an_index_is_read_only_once_it_is_verified() {
        let rollout = &sales_order::CUSTOMER_ROLLOUT;
        let from = deployed(&[("OrdersByCustomerStage", "backfill")]);
        let orders = live(&sales_order::TABLE, &[]);
        let read = template(&from, &[("OrdersByCustomerStage", "read")]);
        let asked: Vec<&str> =
            to_verify(&read, &from, &orders).unwrap().iter().map(|rollout| rollout.name).collect();
        assert_eq!(asked, [rollout.name]);
        assert!(refusals(&read, &from, &orders, &[report(rollout, &[])]).unwrap().is_empty());
        assert_eq!(
            refusals(
                &read,
                &from,
                &orders,
                &[report(rollout, &["7 items are not in the index: run the load"])]
            )
            .unwrap(),
            ["orders-by-customer: not safe to read: 7 items are not in the index: run the load"]
        );
        assert_eq!(refusals(&read, &from, &orders, &[]).unwrap().len(), 1);
        // Once it is read, a deployment of something else reads no table.
        let from = deployed(&[]);
        assert!(to_verify(&template(&from, &[]), &from, &orders).unwrap().is_empty());
    }

    #[test]
    fn no_stage_is_skipped_on_the_way_and_no_index_is_deleted_that_is_read() {
        let orders = live(&sales_order::TABLE, &[]);
        let from = deployed(&[("OrdersByCustomerStage", "create")]);
        let skipping = template(&from, &[("OrdersByCustomerStage", "backfill")]);
        assert_eq!(
            refusals(&skipping, &from, &orders, &[]).unwrap(),
            [
                "orders-by-customer: write follows create, not backfill, and each stage is a deployment of its own; \
                 set OrdersByCustomerStage=write"
            ]
        );
        let from = deployed(&[]);
        for stage in ["write", "backfill"] {
            let back = template(&from, &[("OrdersByCustomerStage", stage)]);
            assert!(refusals(&back, &from, &orders, &[]).unwrap().is_empty(), "{stage}");
        }
        for stage in ["none", "create"] {
            let gone = template(&from, &[("OrdersByCustomerStage", stage)]);
            assert_eq!(
                refusals(&gone, &from, &orders, &[]).unwrap(),
                [
                    "orders-by-customer: lists read the index until they are told otherwise, and would miss what is \
                  saved meanwhile; set OrdersByCustomerStage=backfill first"
                ],
                "{stage}"
            );
        }
        let from = deployed(&[("OrdersByCustomerStage", "backfill")]);
        let back = template(&from, &[("OrdersByCustomerStage", "none")]);
        assert!(refusals(&back, &from, &orders, &[]).unwrap().is_empty());
    }

    #[test]
    fn tables_without_a_stack_are_imported_before_anything_is_deployed() {
        let none = Parameters::new();
        let mut left = live(&sales_order::TABLE, &[]);
        left.extend(live(&bank_account::TABLE, &[]));
        let reason = "there is no stack yet, and tables that it would make exist and belong to no stack: \
                      x-BankAccount, x-SalesOrder; import them (the README says how), or delete them if they are \
                      empty";
        for stage in ["none", "create", "read"] {
            let first = template(&none, &[("TablePrefix", "x-"), ("OrdersByCustomerStage", stage)]);
            assert_eq!(refusals(&first, &none, &left, &[]).unwrap(), [reason], "{stage}");
        }
        // The tables of another DynamoDB API are none of a stack's.
        let elsewhere: Vec<(&str, &str)> = SETTLED
            .iter()
            .map(|(name, _)| (*name, "none"))
            .chain([("DynamoDbEndpoint", "http://other:8000")])
            .collect();
        assert!(
            refusals(
                &template(&none, &elsewhere),
                &none,
                &Live::from([("Cart".to_owned(), active(&["tenant-customerId-index"]))]),
                &[]
            )
            .unwrap()
            .is_empty()
        );
    }

    #[test]
    fn a_running_system_that_was_imported_has_not_begun() {
        let none = parameters(&[("JwtIssuer", "https://issuer")]);
        let orders = live(&sales_order::TABLE, &[sales_order::BY_CUSTOMER.name]);
        let at_once = template(&none, &[]);
        let missing = report(&sales_order::CUSTOMER_ROLLOUT, &["tenant-customerId-index does not exist"]);
        assert_eq!(
            refusals(&at_once, &none, &orders, &[missing]).unwrap(),
            [
                "orders-by-customer: create follows none, not read, and each stage is a deployment of its own; \
                 set OrdersByCustomerStage=create",
                "orders-by-customer: not safe to read: tenant-customerId-index does not exist",
            ]
        );
        let first = template(&none, &[("OrdersByCustomerStage", "none")]);
        assert!(refusals(&first, &none, &orders, &[]).unwrap().is_empty());
        // A stack from before the parameter has not begun either, and neither have tables of another prefix.
        let older = parameters(&[("TimeZone", "UTC")]);
        let other = parameters(&[("TablePrefix", "x-"), ("OrdersByCustomerStage", "backfill")]);
        for from in [older, other] {
            let next = template(&from, &[("TablePrefix", "")]);
            let verified = report(&sales_order::CUSTOMER_ROLLOUT, &[]);
            let reasons = refusals(&next, &from, &orders, &[verified]).unwrap();
            assert_eq!(reasons.len(), 1, "{reasons:?}");
            assert!(reasons[0].starts_with("orders-by-customer: create follows none"), "{reasons:?}");
        }
    }

    #[test]
    fn an_index_that_is_not_there_has_not_begun_whatever_the_stack_says() {
        let from = deployed(&[]);
        let imported = live(&sales_order::TABLE, &[sales_order::BY_CUSTOMER.name]);
        let same = template(&from, &[]);
        let missing = report(&sales_order::CUSTOMER_ROLLOUT, &["tenant-customerId-index does not exist"]);
        let reasons = refusals(&same, &from, &imported, &[missing]).unwrap();
        assert_eq!(reasons.len(), 2, "{reasons:?}");
        assert!(reasons[0].starts_with("orders-by-customer: create follows none"), "{reasons:?}");
        let mut making = imported;
        let creating = (sales_order::BY_CUSTOMER.name.to_owned(), "CREATING".to_owned());
        making.get_mut("SalesOrder").unwrap().push(creating);
        assert_eq!(to_verify(&same, &from, &making).unwrap().len(), 1);
        let reasons = refusals(&same, &from, &making, &[]).unwrap();
        assert!(reasons[0].starts_with("orders-by-customer: write follows create"), "{reasons:?}");
    }

    #[test]
    fn functions_are_deployed_to_the_processor_that_they_are_built_for() {
        let stack = parameters(&[("Architecture", "x86_64")]);
        let kept = template(&stack, &[]);
        assert_eq!(against_build(&kept, "x86_64"), None);
        assert_eq!(
            against_build(&kept, "arm64").unwrap(),
            "the functions are built for arm64, and the stack's are for x86_64: run make build ARCH=x86_64"
        );
        let config = "[default.deploy.parameters]\nparameter_overrides = { Architecture = \"arm64\" }\n";
        let told = crate::samconfig::parameters(config).unwrap();
        let pairs: Vec<(&str, &str)> =
            told.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(against_build(&template(&stack, &pairs), "arm64"), None);
        assert_eq!(against_build(&template(&Parameters::new(), &[]), "arm64"), None);
    }

    #[test]
    fn what_a_deployment_is_not_told_stays_as_it_is() {
        let from =
            deployed(&[("OrdersByCustomerStage", "write"), ("TablePrefix", "dev-"), ("Forgotten", "x")]);
        let to = template(&from, &[("TimeZone", "UTC")]);
        assert_eq!(parameter(&to, "OrdersByCustomerStage"), "write");
        assert_eq!(parameter(&to, "TablePrefix"), "dev-");
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let typo = parameters(&[("OrderByCustomerStage", "none")]);
        let error = template_at(Template::load(path).unwrap(), &from, &typo).unwrap_err();
        assert_eq!(error.to_string(), "template.yaml: Parameters.OrderByCustomerStage: is not declared");
    }
}
