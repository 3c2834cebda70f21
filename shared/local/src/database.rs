//! The embedded DynamoDB, with the tables that the template declares. It lives in memory.

use dynoxide::Database;
use serde_json::Value;

use crate::template::{Template, TemplateError};

/// Why the embedded database could not be made ready.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseError {
    /// The template could not be read.
    #[error("template.yaml: {0}")]
    Template(#[from] TemplateError),
    /// A table of the template is not one that DynamoDB creates.
    #[error("table {table}: {problem}")]
    Table {
        /// The table's name.
        table: String,
        /// What DynamoDB says.
        problem: String,
    },
    /// The engine itself failed.
    #[error("embedded DynamoDB: {0}")]
    Engine(#[from] dynoxide::DynoxideError),
}

/// A new database in memory, with the template's tables, all empty.
///
/// # Errors
///
/// See [`DatabaseError`].
pub fn open(template: &Template) -> Result<Database, DatabaseError> {
    let database = Database::memory()?;
    create_tables(&database, template)?;
    Ok(database)
}

/// Creates the template's tables.
///
/// # Errors
///
/// See [`DatabaseError`].
pub fn create_tables(database: &Database, template: &Template) -> Result<(), DatabaseError> {
    for table in template.tables()? {
        let name = table.get("TableName").and_then(Value::as_str).unwrap_or_default().to_owned();
        let request = serde_json::from_value(table).map_err(|error| DatabaseError::Table {
            table: name.clone(),
            problem: error.to_string().trim_start_matches("VALIDATION:").to_owned(),
        })?;
        let created = database.create_table(request);
        created.map_err(|error| DatabaseError::Table { table: name, problem: error.to_string() })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_project_s_own_tables_are_created() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
        let template = Template::load(path).unwrap().with_parameters(&[("TablePrefix", "dev-")]).unwrap();
        let database = open(&template).unwrap();
        let list = database.list_tables(serde_json::from_str("{}").unwrap()).unwrap();
        for name in ["dev-Cart", "dev-Counter", "dev-SalesOrder"] {
            assert!(list.table_names.iter().any(|known| known == name), "{name}: {:?}", list.table_names);
        }
    }

    #[test]
    fn a_table_that_dynamodb_refuses_is_named() {
        let template = Template::parse(
            "
            Resources:
              T:
                Type: AWS::DynamoDB::Table
                Properties:
                  TableName: Thing
                  BillingMode: PAY_PER_REQUEST
                  AttributeDefinitions: [{ AttributeName: other, AttributeType: S }]
                  KeySchema: [{ AttributeName: id, KeyType: HASH }]
            ",
        )
        .unwrap();
        let error = open(&template).err().map(|error| error.to_string()).unwrap();
        assert!(error.starts_with("table Thing: "), "{error}");
    }
}
