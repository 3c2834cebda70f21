//! The embedded DynamoDB behind the SDK's own connector: what is counted is what the service answers, and no
//! network is in between.

use aws_sdk_dynamodb::Client;
use aws_sdk_dynamodb::config::{Credentials, Region};
use aws_smithy_runtime_api::client::http::{
    HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector,
};
use aws_smithy_runtime_api::client::orchestrator::{HttpRequest, HttpResponse};
use aws_smithy_runtime_api::client::result::ConnectorError;
use aws_smithy_runtime_api::client::runtime_components::RuntimeComponents;
use aws_smithy_types::body::SdkBody;
use dynoxide::Database;
use dynoxide::errors::DynoxideError;
use kit::dynamo::Db;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A database as the kit uses it.
#[must_use]
pub fn db(database: &Database) -> Db {
    let config = kit::dynamo::client_config()
        .region(Region::from_static("sa-east-1"))
        .credentials_provider(Credentials::new("local", "local", None, None, "measure"))
        .http_client(Connector(database.clone()))
        .build();
    Db::new(Client::from_conf(config), "")
}

#[derive(Clone)]
struct Connector(Database);

impl std::fmt::Debug for Connector {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Connector")
    }
}

impl HttpClient for Connector {
    fn http_connector(&self, _: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(self.clone())
    }
}

impl HttpConnector for Connector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let Self(database) = self;
        let target = request.headers().get("x-amz-target").unwrap_or_default();
        let body = request.body().bytes().unwrap_or_default();
        let answered = match target.rsplit('.').next().unwrap_or_default() {
            "BatchGetItem" => run(body, |request| database.batch_get_item(request)),
            "GetItem" => run(body, |request| database.get_item(request)),
            "Query" => run(body, |request| database.query(request)),
            "Scan" => run(body, |request| database.scan(request)),
            other => {
                Err(DynoxideError::ValidationException(format!("a measured read made the call {other}")))
            }
        };
        let (status, reply) = match answered {
            Ok(reply) => (200, reply),
            Err(error) => (error.status_code(), error.to_json()),
        };
        let response = status
            .try_into()
            .map(|status| HttpResponse::new(status, SdkBody::from(reply)))
            .map_err(|error| ConnectorError::other(Box::new(error), None));
        HttpConnectorFuture::ready(response)
    }
}

fn run<Request: DeserializeOwned, Response: Serialize>(
    body: &[u8],
    call: impl FnOnce(Request) -> dynoxide::Result<Response>,
) -> dynoxide::Result<String> {
    let request = serde_json::from_slice(body)
        .map_err(|error| DynoxideError::ValidationException(error.to_string()))?;
    serde_json::to_string(&call(request)?)
        .map_err(|error| DynoxideError::InternalServerError(error.to_string()))
}
