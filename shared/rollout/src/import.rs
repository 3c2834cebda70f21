//! How a stack takes over tables that exist: what a resource import of CloudFormation is given.
//!
//! Source: AWS CloudFormation user guide, "Import AWS resources into a CloudFormation stack": a change set of
//! the type `IMPORT` has the resources that are imported and nothing else that is new, each with a
//! `DeletionPolicy`, and is told by which name each is found.

use kit::rollout::Stage;
use local::template::{Template, TemplateError};
use serde_json::{Map, Value, json};

use crate::deployment::{Live, index_names, parameter, parameter_of};

const NONE: &str = Stage::None.as_str();
const CREATE: &str = Stage::Create.as_str();

/// What a change set of the type `IMPORT` is given.
#[derive(Debug)]
pub struct Import {
    /// A template of the tables that exist, nothing else, with every value filled in.
    pub template: Value,
    /// Which table each of its resources is.
    pub resources: Value,
    /// The names of the tables.
    pub tables: Vec<String>,
}

/// What the import of the tables in `live` is given, or why they are not as `template` says, which has its
/// parameters already.
///
/// # Errors
///
/// A template that cannot be read.
pub fn import(template: &Template, live: &Live) -> Result<Result<Import, Vec<String>>, TemplateError> {
    let prefix = parameter(template, "TablePrefix");
    let mut reasons = Vec::new();
    let (mut declared, mut resources, mut tables) = (Map::new(), Vec::new(), Vec::new());
    for (id, resource) in template.resources()? {
        let Some(properties) = resource.get("Properties").filter(|_| resource_is_a_table(&resource)) else {
            continue;
        };
        let name = properties.get("TableName").and_then(Value::as_str).unwrap_or_default();
        let table = name.strip_prefix(prefix).unwrap_or(name);
        let Some(indexes) = live.get(table) else { continue };
        let wanted = index_names(properties);
        for index in &wanted {
            let status = indexes.iter().find(|(known, _)| known == index).map(|(_, status)| status.as_str());
            reasons.extend(match (status, parameter_of(table, index)) {
                (Some("ACTIVE"), _) => None,
                (Some(status), _) => Some(format!("{name}: {index} is {status}; wait until it is ACTIVE")),
                (None, Some(parameter)) => Some(format!("{name} has no {index}; set {parameter}={NONE}")),
                (None, None) => Some(format!("{name} has no {index}, which its lists read")),
            });
        }
        // A later deployment would make it once more.
        for rollout in tables::ROLLOUTS.iter().filter(|rollout| rollout.table.name == table) {
            let index = rollout.index.name;
            if indexes.iter().any(|(known, _)| known == index) && !wanted.contains(&index) {
                reasons.push(format!("{name} has {index} already; set {}={CREATE}", rollout.parameter()));
            }
        }
        resources.push(json!({
            "ResourceType": resource.get("Type"),
            "LogicalResourceId": id,
            "ResourceIdentifier": {"TableName": name},
        }));
        tables.push(name.to_owned());
        declared.insert(id, Value::Object(resource));
    }
    if tables.is_empty() {
        reasons.push("there is no table to import: make deploy makes them all".to_owned());
    }
    if !reasons.is_empty() {
        return Ok(Err(reasons));
    }
    // What later deployments compare with: by these a stack says which tables it has, and how far their indexes
    // are. No list of it has read them, so whether all is in them is still to be looked at.
    let names = tables::ROLLOUTS.iter().map(|rollout| rollout.parameter());
    let parameters: Map<String, Value> = std::iter::once("TablePrefix".to_owned())
        .chain(names)
        .map(|name| {
            let value = match parameter(template, &name) {
                value if value == Stage::Read.as_str() => Stage::Backfill.as_str(),
                value => value,
            };
            let declaration = json!({"Type": "String", "Default": value});
            (name, declaration)
        })
        .collect();
    let template = json!({
        "AWSTemplateFormatVersion": "2010-09-09",
        "Description": "Tables that existed before the stack did.",
        "Parameters": parameters,
        "Resources": declared,
    });
    Ok(Ok(Import { template, resources: Value::Array(resources), tables }))
}

fn resource_is_a_table(resource: &Map<String, Value>) -> bool {
    resource.get("Type").is_some_and(|kind| kind == "AWS::DynamoDB::Table")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deployment::template_at;
    use crate::samconfig::Parameters;

    fn template(values: &[(&str, &str)]) -> Template {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let values = values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        template_at(Template::load(path).unwrap(), &Parameters::new(), &values).unwrap()
    }

    fn live(tables: &[(&str, &[&str])]) -> Live {
        let active = |index: &&str| ((*index).to_owned(), "ACTIVE".to_owned());
        tables
            .iter()
            .map(|(name, indexes)| ((*name).to_owned(), indexes.iter().map(active).collect()))
            .collect()
    }

    const BEFORE: &[(&str, &str)] = &[
        ("OrdersByCustomerStage", "none"),
        ("PersonByTenantStage", "none"),
        ("ContractByEntityStage", "none"),
        ("BankByOrganizationStage", "none"),
        ("BankByProviderStage", "none"),
        ("TablePrefix", "old-"),
    ];

    #[test]
    fn the_tables_that_exist_are_imported_whole_and_nothing_else_is() {
        let existing = live(&[("Cart", &["tenant-customerId-index"]), ("Person", &[])]);
        let import = import(&template(BEFORE), &existing).unwrap().unwrap();
        assert_eq!(import.tables, ["old-Cart", "old-Person"]);
        assert_eq!(
            import.resources,
            json!([
                {"ResourceType": "AWS::DynamoDB::Table", "LogicalResourceId": "Cart",
                 "ResourceIdentifier": {"TableName": "old-Cart"}},
                {"ResourceType": "AWS::DynamoDB::Table", "LogicalResourceId": "Person",
                 "ResourceIdentifier": {"TableName": "old-Person"}},
            ])
        );
        let resources = import.template["Resources"].as_object().unwrap();
        assert_eq!(resources.keys().collect::<Vec<_>>(), ["Cart", "Person"]);
        for resource in resources.values() {
            assert_eq!(resource["DeletionPolicy"], "Retain");
            assert_eq!(resource["UpdateReplacePolicy"], "Retain");
        }
        assert_eq!(resources["Person"]["Properties"].get("GlobalSecondaryIndexes"), None);
        assert_eq!(
            resources["Cart"]["Properties"]["GlobalSecondaryIndexes"][0]["IndexName"],
            "tenant-customerId-index"
        );
        let text = import.template.to_string();
        assert!(!text.contains("Fn::") && !text.contains("\"Ref\"") && !text.contains("Condition"), "{text}");
        assert_eq!(import.template["Parameters"]["PersonByTenantStage"]["Default"], "none");
        assert_eq!(import.template["Parameters"]["TablePrefix"]["Default"], "old-");
    }

    #[test]
    fn every_table_fits_into_the_body_of_a_request() {
        let existing: Live = tables::ALL
            .iter()
            .map(|table| {
                let indexes = table.indexes.iter().map(|index| (index.name.to_owned(), "ACTIVE".to_owned()));
                (table.name.to_owned(), indexes.collect())
            })
            .collect();
        let import = import(&template(&[]), &existing).unwrap().unwrap();
        assert_eq!(import.tables.len(), tables::ALL.len());
        assert!(import.template.to_string().len() < 51_200);
        // The first deployment that reads the indexes has the report look at them.
        let from: Parameters = import.template["Parameters"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, declared)| (name.clone(), declared["Default"].as_str().unwrap().to_owned()))
            .collect();
        assert_eq!(from["PersonByTenantStage"], "backfill");
        let verified = crate::deployment::to_verify(&template(&[]), &from, &existing).unwrap();
        assert_eq!(verified.len(), tables::ROLLOUTS.len());
    }

    #[test]
    fn an_index_that_a_table_does_not_have_is_named() {
        let mut existing = live(&[("Cart", &[]), ("Person", &[]), ("Unknown", &[])]);
        let reasons = import(&template(&[]), &existing).unwrap().unwrap_err();
        assert_eq!(
            reasons,
            [
                "Cart has no tenant-customerId-index, which its lists read",
                "Person has no tenant-sortName-index; set PersonByTenantStage=none",
            ]
        );
        let making = vec![("tenant-sortName-index".to_owned(), "CREATING".to_owned())];
        let one = Live::from([("Person".to_owned(), making)]);
        let reasons = import(&template(&[]), &one).unwrap().unwrap_err();
        assert_eq!(reasons, ["Person: tenant-sortName-index is CREATING; wait until it is ACTIVE"]);
        let reasons = import(&template(BEFORE), &one).unwrap().unwrap_err();
        assert_eq!(reasons, ["old-Person has tenant-sortName-index already; set PersonByTenantStage=create"]);
        existing = live(&[("Person", &["tenant-sortName-index"])]);
        let reasons = import(&template(BEFORE), &existing).unwrap().unwrap_err();
        assert_eq!(reasons, ["old-Person has tenant-sortName-index already; set PersonByTenantStage=create"]);
        existing.clear();
        let reasons = import(&template(&[]), &existing).unwrap().unwrap_err();
        assert_eq!(reasons, ["there is no table to import: make deploy makes them all"]);
    }
}
