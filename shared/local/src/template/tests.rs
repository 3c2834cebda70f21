use serde_json::json;

use super::*;

const TEXT: &str = "
Parameters:
  TablePrefix: { Type: String, Default: '' }
  Stage: { Type: String, Default: none, AllowedValues: [none, create, read] }
  Issuer: { Type: String }
  Origins: { Type: CommaDelimitedList, Default: 'a, b' }
Conditions:
  HasIndex: !Not [!Equals [!Ref Stage, none]]
  Reads: !And [!Condition HasIndex, !Equals [!Ref Stage, read]]
  Either: !Or [!Condition Reads, !Equals ['1', 1]]
Globals:
  Function:
    Timeout: 29
    Environment: { Variables: { TABLE_PREFIX: !Ref TablePrefix, ISSUER: !Ref Issuer } }
Resources:
  Order:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub '${TablePrefix}Order'
      BillingMode: PAY_PER_REQUEST
      DeletionProtectionEnabled: true
      AttributeDefinitions:
        - { AttributeName: id, AttributeType: S }
        - !If [HasIndex, { AttributeName: at, AttributeType: S }, !Ref AWS::NoValue]
      KeySchema: [{ AttributeName: id, KeyType: HASH }]
      GlobalSecondaryIndexes: !If
        - HasIndex
        - - IndexName: at-index
            KeySchema: [{ AttributeName: at, KeyType: HASH }]
            Projection: { ProjectionType: ALL }
        - !Ref AWS::NoValue
  Extra:
    Type: AWS::DynamoDB::Table
    Condition: Reads
    Properties:
      TableName: Extra
      AttributeDefinitions: [{ AttributeName: id, AttributeType: S }]
      KeySchema: [{ AttributeName: id, KeyType: HASH }]
  OrderCreateFunction:
    Type: AWS::Serverless::Function
    Metadata: { BuildMethod: rust-cargolambda }
    Properties:
      CodeUri: ./functions/order-create/
      MemorySize: 512
      Environment: { Variables: { OWN: '1' } }
      Events:
        Create: { Type: HttpApi, Properties: { Method: post, Path: '/orders/{id}' } }
        Tick: { Type: Schedule, Properties: { Schedule: rate(1 day) } }
      Policies:
        - AWSLambdaBasicExecutionRole
        - DynamoDBReadPolicy: { TableName: !Ref Order }
        - Statement:
            - Effect: Allow
              Action: [dynamodb:Query, dynamodb:GetItem]
              Resource: [!GetAtt Order.Arn, !Sub '${Order.Arn}/index/at-index']
            - { Effect: Allow, Action: 'dynamodb:PutItem', Resource: '*' }
            - { Effect: Deny, Action: 'dynamodb:Scan', Resource: '*' }
";

fn template(parameters: &[(&str, &str)]) -> Template {
    Template::parse(TEXT).unwrap().with_parameters(parameters).unwrap()
}

fn problem(text: &str) -> String {
    let outcome = Template::parse(text).and_then(|template| {
        template.tables()?;
        template.functions()
    });
    outcome.unwrap_err().to_string()
}

#[test]
fn tables_are_create_table_requests() {
    let tables = template(&[("TablePrefix", "dev-")]).tables().unwrap();
    assert_eq!(
        tables,
        [json!({
            "TableName": "dev-Order",
            "BillingMode": "PAY_PER_REQUEST",
            "AttributeDefinitions": [{ "AttributeName": "id", "AttributeType": "S" }],
            "KeySchema": [{ "AttributeName": "id", "KeyType": "HASH" }],
        })]
    );
}

#[test]
fn conditions_on_parameters_decide_indexes_and_tables() {
    let tables = template(&[("Stage", "read")]).tables().unwrap();
    assert_eq!(tables.len(), 2);
    assert_eq!(tables[1]["GlobalSecondaryIndexes"][0]["IndexName"], "at-index");
    assert_eq!(tables[1]["AttributeDefinitions"][1]["AttributeName"], "at");
    let created = template(&[("Stage", "create")]).tables().unwrap();
    assert_eq!(created.len(), 1);
    assert_eq!(created[0]["GlobalSecondaryIndexes"][0]["IndexName"], "at-index");
    assert!(template(&[]).condition("Either").unwrap());
}

#[test]
fn a_function_has_its_folder_routes_and_environment() {
    let functions = template(&[]).functions().unwrap();
    let [function] = functions.as_slice() else { panic!("{functions:?}") };
    assert_eq!((function.id.as_str(), function.folder.as_str()), ("OrderCreateFunction", "order-create"));
    let route = Route { method: "POST".into(), path: "/orders/{id}".into(), function: "order-create".into() };
    assert_eq!(function.routes, [route]);
    assert_eq!(template(&[]).routes().unwrap(), function.routes);
    assert_eq!(function.properties["Timeout"], 29);
    assert_eq!(function.properties["MemorySize"], 512);
    assert_eq!(
        Value::Object(function.environment()),
        json!({ "TABLE_PREFIX": "", "ISSUER": { "Ref": "Issuer" }, "OWN": "1" })
    );
    assert_eq!(function.attributes["Metadata"]["BuildMethod"], "rust-cargolambda");
}

#[test]
fn permissions_are_told_apart_from_policies_of_other_kinds() {
    let function = template(&[]).functions().unwrap().remove(0);
    let grants: Vec<(&str, &str)> =
        function.grants.iter().map(|grant| (grant.action.as_str(), grant.resource.as_str())).collect();
    assert_eq!(
        grants,
        [
            ("dynamodb:GetItem", "Order"),
            ("dynamodb:GetItem", "Order/index/at-index"),
            ("dynamodb:PutItem", "*"),
            ("dynamodb:Query", "Order"),
            ("dynamodb:Query", "Order/index/at-index"),
        ]
    );
    assert_eq!(
        function.other_policies,
        [
            json!("AWSLambdaBasicExecutionRole"),
            json!({ "DynamoDBReadPolicy": { "TableName": { "Ref": "Order" } } }),
            json!({ "Effect": "Deny", "Action": "dynamodb:Scan", "Resource": "*" }),
        ]
    );
}

#[test]
fn short_tags_and_their_long_form_are_the_same() {
    let short = Template::parse("A: [!Ref X, !GetAtt X.Y.Z, !Sub '${X}', !If [C, 1, 2]]").unwrap();
    let long = Template::parse(
        "A: [{ Ref: X }, { 'Fn::GetAtt': X.Y.Z }, { 'Fn::Sub': '${X}' }, { 'Fn::If': [C, 1, 2] }]",
    )
    .unwrap();
    assert_eq!(short.root(), long.root());
    assert_eq!(short.root()["A"][1], json!({ "Fn::GetAtt": ["X", "Y.Z"] }));
}

#[test]
fn what_only_a_deployment_knows_stays() {
    let template = template(&[]);
    let resolve = |value: Value| template.resolve(&value, "test").unwrap().unwrap();
    assert_eq!(
        resolve(json!({ "Fn::Sub": "${AWS::Region}-${Stage}" })),
        json!({ "Fn::Sub": "${AWS::Region}-none" })
    );
    assert_eq!(resolve(json!({ "Fn::Sub": "${!Literal}-${Stage}" })), json!("${Literal}-none"));
    assert_eq!(
        resolve(json!({ "Fn::Sub": ["${a}-${Stage}", { "a": { "Ref": "Stage" } }] })),
        json!("none-none")
    );
    assert_eq!(
        resolve(json!({ "Fn::Sub": ["${a}", { "a": { "Ref": "Order" } }] })),
        json!({ "Fn::Sub": ["${a}", { "a": { "Ref": "Order" } }] })
    );
    let given = template.clone().with_parameters(&[("AWS::Region", "sa-east-1")]).unwrap();
    let region = json!({ "Fn::Sub": "${AWS::Region}/${Stage}" });
    assert_eq!(given.resolve(&region, "test").unwrap(), Some(json!("sa-east-1/none")));
    assert_eq!(resolve(json!({ "Ref": "Order" })), json!({ "Ref": "Order" }));
    assert_eq!(resolve(json!({ "Ref": "Origins" })), json!(["a", "b"]));
    assert_eq!(resolve(json!({ "Fn::Join": ["/", ["a", { "Ref": "Stage" }]] })), json!("a/none"));
    assert_eq!(resolve(json!({ "a": { "Ref": "AWS::NoValue" }, "b": 1 })), json!({ "b": 1 }));
}

#[test]
fn faults_say_where_and_what() {
    assert_eq!(problem(""), "not a YAML document: it is empty");
    assert!(problem("A: [").starts_with("not a YAML document: "));
    assert!(problem("A: 1\nA: 2").contains("duplicated key"));
    assert_eq!(problem("A: !Nope x"), "template.A: the tag !Nope is not known");
    assert_eq!(problem("[]"), "template: must be a mapping");
    assert_eq!(problem("Resources: 1"), "Resources: must be a mapping");
    let table = "Resources: { T: { Type: 'AWS::DynamoDB::Table', Properties: {";
    assert_eq!(problem(&format!("{table} }} }} }}")), "Resources.T.Properties.TableName: is missing");
    assert_eq!(
        problem(&format!("{table} TableName: !Sub '${{AWS::StackName}}' }} }} }}")),
        "Resources.T.Properties.TableName: must be text that the parameters alone decide"
    );
    let function = "Resources: { F: { Type: 'AWS::Serverless::Function', Properties: {";
    assert_eq!(
        problem(&format!("{function} CodeUri: . }} }} }}")),
        "Resources.F.Properties.CodeUri: must be a folder inside functions/"
    );
    assert_eq!(
        problem("Conditions: { C: !Condition C }\nResources: { T: { Type: X, Condition: C } }"),
        "Conditions.C: depends on itself"
    );
    assert_eq!(
        problem(
            "Parameters: { P: { Type: String } }\nConditions: { C: !Equals [!Ref P, a] }\nResources: { T: { Type: X, Condition: C } }"
        ),
        "Conditions.C: compares P, which has no value here"
    );
    let unknown = Template::parse("{}").unwrap().with_parameters(&[("P", "a")]).unwrap_err();
    assert_eq!(unknown.to_string(), "Parameters.P: is not declared");
    let refused = Template::parse(TEXT).unwrap().with_parameters(&[("Stage", "later")]).unwrap_err();
    assert_eq!(refused.to_string(), "Parameters.Stage: \"later\" is not one of its AllowedValues");
}

#[test]
fn the_project_s_own_template_is_read() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../template.yaml");
    let template = Template::load(path).unwrap();
    let tables = template.tables().unwrap();
    assert!(tables.iter().any(|table| table["TableName"] == "SalesOrder"));
    let routes = template.routes().unwrap();
    assert!(routes.iter().any(|route| route.path == "/orders" && route.function == "orders"));
}
