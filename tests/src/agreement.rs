//! The template and the declarations say the same, in both directions. To show that this bites, the
//! same check is run on templates that are wrong in one place each.

use std::collections::{BTreeMap, BTreeSet};

use kit::config::gives_cursors;
use kit::function::Function;
use kit::key::{Key, Projection, Table};
use kit::operation::Access;
use local::template::{Grant, Template};
use serde_json::{Value, json};

use crate::registry;
use crate::world::template_text;

/// What the declaration of a function needs to be allowed.
fn needed(function: Function) -> BTreeSet<(String, String)> {
    let mut needed = BTreeSet::new();
    let mut need = |action: &str, resource: String| {
        needed.insert((format!("dynamodb:{action}"), resource));
    };
    match function {
        Function::List(list) => {
            let table = list.table().name;
            for question in list.questions() {
                match question.index() {
                    Some(index) => need("Query", format!("{table}/index/{index}")),
                    None => need("Query", table.to_owned()),
                }
                if question.fetches_rows_by_key(list.answer()) {
                    need("BatchGetItem", table.to_owned());
                }
            }
            if list.item_path().is_some() {
                need("GetItem", table.to_owned());
            }
        }
        Function::Operation(operation) => {
            for access in operation.routes.iter().flat_map(|route| route.access) {
                match access {
                    Access::Get(table) => need("GetItem", table.name.to_owned()),
                    Access::Put(table) => need("PutItem", table.name.to_owned()),
                    Access::Update(table) => need("UpdateItem", table.name.to_owned()),
                    Access::Delete(table) => need("DeleteItem", table.name.to_owned()),
                }
            }
        }
    }
    needed
}

/// Everything in which a template differs from the declarations.
fn differences(text: &str) -> Vec<String> {
    let template = match Template::parse(text) {
        Ok(template) => template,
        Err(error) => return vec![error.to_string()],
    };
    let mut found = Vec::new();
    match functions(&template) {
        Ok(differences) => found.extend(differences),
        Err(error) => found.push(error.to_string()),
    }
    match tables(&template) {
        Ok(differences) => found.extend(differences),
        Err(error) => found.push(error.to_string()),
    }
    found
}

fn functions(template: &Template) -> Result<Vec<String>, local::template::TemplateError> {
    let mut found = Vec::new();
    let deployed = template.functions()?;
    let declared: BTreeMap<&str, Function> =
        registry::all().into_iter().map(|function| (function.name(), function)).collect();
    for name in declared.keys() {
        if !deployed.iter().any(|function| function.folder == *name) {
            found.push(format!("{name}: the template has no function of this folder"));
        }
    }
    for function in &deployed {
        let name = &function.folder;
        let Some(declaration) = declared.get(name.as_str()) else {
            found.push(format!("{name}: the template deploys what no folder declares"));
            continue;
        };
        let camel: String = name.split('-').map(|word| word[..1].to_uppercase() + &word[1..]).collect();
        if function.id != format!("{camel}Function") {
            found.push(format!("{name}: its resource is called {}", function.id));
        }
        let routes: BTreeSet<(&str, &str)> =
            function.routes.iter().map(|route| (route.method.as_str(), route.path.as_str())).collect();
        let declared = declaration.routes();
        if routes != declared.iter().map(|(method, path)| (method.as_str(), *path)).collect() {
            found.push(format!("{name}: it is served at {routes:?}"));
        }
        if !function.other_policies.is_empty() {
            found.push(format!(
                "{name}: it has a policy that is not written out: {:?}",
                function.other_policies
            ));
        }
        let granted: BTreeSet<(String, String)> = function
            .grants
            .iter()
            .map(|Grant { action, resource }| (action.clone(), resource.clone()))
            .collect();
        let needed = needed(*declaration);
        for (action, resource) in granted.difference(&needed) {
            found.push(format!("{name}: it may {action} on {resource} without need"));
        }
        for (action, resource) in needed.difference(&granted) {
            found.push(format!("{name}: it may not {action} on {resource}"));
        }
        let environment = function.environment();
        let mut expected = BTreeSet::from(["TABLE_PREFIX", "TENANT_CLAIM", "TIME_ZONE", "METRICS_NAMESPACE"]);
        if matches!(declaration, Function::List(list) if gives_cursors(list)) {
            expected.insert("CURSOR_KEY");
        }
        // Those depend on a parameter of the template.
        let conditional = ["AWS_ENDPOINT_URL_DYNAMODB", "CURSOR_KEY_PREVIOUS"];
        let set: BTreeSet<&str> =
            environment.keys().map(String::as_str).filter(|name| !conditional.contains(name)).collect();
        if set != expected {
            found.push(format!("{name}: its environment sets {set:?} where it reads {expected:?}"));
        }
        for (property, value) in [("Runtime", json!("provided.al2023")), ("Handler", json!("bootstrap"))] {
            if function.properties.get(property) != Some(&value) {
                found.push(format!("{name}: its {property} is not {value}"));
            }
        }
        let timeout = function.properties.get("Timeout").and_then(Value::as_u64).unwrap_or(3);
        if !(5..=29).contains(&timeout) {
            found.push(format!("{name}: a time-out of {timeout} s is not below the gateway's"));
        }
    }
    Ok(found)
}

fn key_of(schema: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let parts = schema.as_array().into_iter().flatten();
    parts.map(|part| (text(&part["AttributeName"]), text(&part["KeyType"]))).collect()
}

fn declared_key(key: &Key) -> Vec<(String, String)> {
    let roles = ["HASH", "RANGE"];
    key.attributes()
        .zip(roles)
        .map(|(attribute, role)| (attribute.name.to_owned(), role.to_owned()))
        .collect()
}

fn tables(template: &Template) -> Result<Vec<String>, local::template::TemplateError> {
    let mut found = Vec::new();
    let resources = template.resources()?;
    let deployed: BTreeMap<&String, &serde_json::Map<String, Value>> =
        resources.iter().filter(|(_, resource)| resource["Type"] == "AWS::DynamoDB::Table").collect();
    for name in deployed.keys() {
        if !tables::ALL.iter().any(|table| table.name == name.as_str()) {
            found.push(format!("{name}: the template has a table that no code declares"));
        }
    }
    for table in tables::ALL {
        match deployed.get(&table.name.to_owned()) {
            Some(resource) => found.extend(table_differences(table, resource)),
            None => found.push(format!("{}: the template has no such table", table.name)),
        }
    }
    Ok(found)
}

fn table_differences(table: &Table, resource: &serde_json::Map<String, Value>) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |what: &str, right: bool| {
        if !right {
            found.push(format!("{}: {what}", table.name));
        }
    };
    let properties = &resource["Properties"];
    check("it has another name", properties["TableName"] == table.name);
    check("it is not on demand", properties["BillingMode"] == "PAY_PER_REQUEST");
    let recovery = &properties["PointInTimeRecoverySpecification"]["PointInTimeRecoveryEnabled"];
    check("it has no point-in-time recovery", recovery == true);
    for policy in ["DeletionPolicy", "UpdateReplacePolicy"] {
        check(&format!("its {policy} is not Retain"), resource.get(policy) == Some(&json!("Retain")));
    }
    check("it has another key", key_of(&properties["KeySchema"]) == declared_key(&table.key));
    let defined: BTreeSet<(String, String)> = properties["AttributeDefinitions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|attribute| {
            let text = |name: &str| attribute[name].as_str().unwrap_or_default().to_owned();
            (text("AttributeName"), text("AttributeType"))
        })
        .collect();
    let keys: BTreeSet<(String, String)> = table
        .key_bounds()
        .into_iter()
        .map(|(attribute, _)| (attribute.name.to_owned(), attribute.scalar.as_str().to_owned()))
        .collect();
    check(&format!("its attributes are {defined:?} where its keys have {keys:?}"), defined == keys);
    let indexes: BTreeMap<String, (Vec<(String, String)>, String)> = properties["GlobalSecondaryIndexes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|index| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            let projection = text(&index["Projection"]["ProjectionType"]);
            (text(&index["IndexName"]), (key_of(&index["KeySchema"]), projection))
        })
        .collect();
    let declared: BTreeMap<String, (Vec<(String, String)>, String)> = table
        .indexes
        .iter()
        .map(|index| {
            let projection = match index.projection {
                Projection::All => "ALL",
                Projection::KeysOnly => "KEYS_ONLY",
            };
            (index.name.to_owned(), (declared_key(&index.key), projection.to_owned()))
        })
        .collect();
    check(&format!("its indexes are {indexes:?} where it has {declared:?}"), indexes == declared);
    found
}

#[test]
fn the_template_and_the_declarations_agree() {
    assert_eq!(differences(&template_text()), Vec::<String>::new());
}

/// A change to the template, and what the check must say of it.
struct Mutant {
    from: &'static str,
    to: &'static str,
    caught: &'static str,
}

#[test]
fn a_template_that_is_wrong_in_one_place_is_caught() {
    let mutants = [
        Mutant {
            from: "        - IndexName: tenant-status-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: status, KeyType: RANGE }\n          Projection: { ProjectionType: ALL }\n",
            to: "",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "{ AttributeName: status, AttributeType: S }",
            to: "{ AttributeName: status, AttributeType: N }",
            caught: "SalesOrder: its attributes are",
        },
        Mutant {
            from: "tenant-createdAt-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: createdAt, KeyType: RANGE }\n          Projection: { ProjectionType: ALL }",
            to: "tenant-createdAt-index\n          KeySchema:\n            - { AttributeName: tenant, KeyType: HASH }\n            - { AttributeName: createdAt, KeyType: RANGE }\n          Projection: { ProjectionType: KEYS_ONLY }",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "tenant-createdAt-index\n          KeySchema",
            to: "tenant-created-index\n          KeySchema",
            caught: "SalesOrder: its indexes are",
        },
        Mutant {
            from: "Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            to: "Action: [dynamodb:Query, dynamodb:Scan]\n              Resource: [!Sub '${Cart.Arn}",
            caught: "cart: it may dynamodb:Scan on",
        },
        Mutant {
            from: "Resource: [!Sub '${Cart.Arn}/index/tenant-customerId-index']",
            to: "Resource: '*'",
            caught: "cart: it may dynamodb:Query on *",
        },
        Mutant {
            from: "Resource: [!Sub '${Cart.Arn}/index/tenant-customerId-index']",
            to: "Resource: [!Sub '${Cart.Arn}/index/*']",
            caught: "cart: it may dynamodb:Query on Cart/index/*",
        },
        Mutant {
            from: "      Policies:\n        - Statement:\n            - Effect: Allow\n              Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            to: "      Policies:\n        - DynamoDBReadPolicy: { TableName: !Ref Cart }\n        - Statement:\n            - Effect: Allow\n              Action: [dynamodb:Query]\n              Resource: [!Sub '${Cart.Arn}",
            caught: "cart: it has a policy that is not written out",
        },
        Mutant {
            from: "Action: [dynamodb:PutItem]\n              Resource: [!GetAtt SalesOrder.Arn]",
            to: "Action: [dynamodb:DeleteItem]\n              Resource: [!GetAtt SalesOrder.Arn]",
            caught: "order-create: it may not dynamodb:PutItem on SalesOrder",
        },
        Mutant {
            from: "    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Counter'",
            to: "    Properties:\n      TableName: !Sub '${TablePrefix}Counter'",
            caught: "Counter: its UpdateReplacePolicy is not Retain",
        },
        Mutant {
            from: "    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Cart'",
            to: "    UpdateReplacePolicy: Retain\n    Properties:\n      TableName: !Sub '${TablePrefix}Cart'",
            caught: "Cart: its DeletionPolicy is not Retain",
        },
        Mutant {
            from: "PointInTimeRecoveryEnabled: true",
            to: "PointInTimeRecoveryEnabled: false",
            caught: "it has no point-in-time recovery",
        },
        Mutant {
            from: "Method: GET, Path: /carts",
            to: "Method: GET, Path: /cart",
            caught: "cart: it is served at",
        },
        Mutant {
            from: "Method: POST, Path: /orders",
            to: "Method: ANY, Path: /orders",
            caught: "order-create: it is served at",
        },
        Mutant { from: "        TABLE_PREFIX: !Ref TablePrefix\n", to: "", caught: "its environment sets" },
        Mutant { from: "    Timeout: 29\n", to: "    Timeout: 60\n", caught: "a time-out of 60 s" },
        Mutant {
            from: "  CartFunction:\n",
            to: "  BasketFunction:\n",
            caught: "cart: its resource is called BasketFunction",
        },
        Mutant {
            from: "CodeUri: functions/cart",
            to: "CodeUri: functions/basket",
            caught: "cart: the template has no function of this folder",
        },
        Mutant {
            from: "        - { AttributeName: name, KeyType: RANGE }\n",
            to: "",
            caught: "Counter: it has another key",
        },
    ];
    let text = template_text();
    for mutant in mutants {
        assert!(text.contains(mutant.from), "the template no longer holds {:?}", mutant.from);
        let found = differences(&text.replacen(mutant.from, mutant.to, 1));
        let caught = found.iter().any(|difference| difference.contains(mutant.caught));
        assert!(caught, "{:?} for {:?} is not caught: {found:?}", mutant.to, mutant.from);
    }
}
