//! A DynamoDB that answers at once: the embedded one answers a request the first time, and the same request
//! is answered the same from then on. It runs in the measuring process, so none of it is counted.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::IntoResponse;
use axum::serve::Listener as _;
use dynoxide::{Database, ImportOptions};
use kit::list::List;
use local::template::Template;
use serde_json::{Map, Value, json};

use crate::Failure;
use crate::bench::tls::{Authority, HOST};
use crate::rows;

/// What a row is made of. What it costs is less a matter of its bytes than of its attributes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Make {
    /// Of 1 KB: its keys and a text, which are half of it, and what else a product has, some twenty values of most
    /// types.
    Product,
    /// Of so many bytes: its keys, and a text that is all the rest.
    Plain(usize),
}

/// The embedded database and what it has answered so far.
pub struct Replies {
    database: Database,
    replies: Mutex<HashMap<Bytes, Bytes>>,
    calls: AtomicU64,
}

impl Replies {
    /// A database in which one tenant has rows of these lists, all of one entity.
    ///
    /// # Errors
    ///
    /// A template that cannot be read, and rows that the database does not take.
    pub fn open(
        project: &Path,
        lists: impl IntoIterator<Item = &'static List>,
        make: Make,
    ) -> Result<Arc<Self>, Failure> {
        let template = Template::load(project.join("template.yaml"))?;
        let database = local::database::open(&template)?;
        for list in lists {
            let items =
                (0..rows::OF_AN_ENTITY).map(|at| row(list, at, make)).collect::<Result<_, Failure>>()?;
            database.import_items(list.table().name, items, ImportOptions::default())?;
        }
        Ok(Self::of(database))
    }

    /// What this database replies. Nobody may write to it.
    #[must_use]
    pub fn of(database: Database) -> Arc<Self> {
        Arc::new(Self { database, replies: Mutex::default(), calls: AtomicU64::new(0) })
    }

    /// How many calls were answered so far.
    #[must_use]
    pub fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// The request that had the largest answer so far.
    ///
    /// # Errors
    ///
    /// There was none.
    pub fn request_of_the_largest(&self) -> Result<String, Failure> {
        let replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        let (request, _) = replies.iter().max_by_key(|(_, reply)| reply.len()).ok_or("nothing was asked")?;
        Ok(String::from_utf8(request.to_vec())?)
    }

    /// The reply to a request for this operation.
    ///
    /// # Errors
    ///
    /// An operation that no list uses, and a request that the database refuses.
    pub fn reply(&self, operation: &str, request: &Bytes) -> Result<Bytes, Failure> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        // The SDK writes the attributes of each key in any order, so a batch is seldom twice the same text.
        let known = match operation {
            "BatchGetItem" => Bytes::from(serde_json::from_slice::<Value>(request)?.to_string()),
            _ => request.clone(),
        };
        let mut replies = self.replies.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(reply) = replies.get(&known) {
            return Ok(reply.clone());
        }
        let reply = match operation {
            "BatchGetItem" => {
                serde_json::to_vec(&self.database.batch_get_item(serde_json::from_slice(request)?)?)?
            }
            "Query" => serde_json::to_vec(&self.database.query(serde_json::from_slice(request)?)?)?,
            _ => return Err(format!("a list asked for {operation:?}").into()),
        };
        let reply = Bytes::from(reply);
        replies.insert(known, reply.clone());
        Ok(reply)
    }
}

/// Answers on a port of its own. Gives its address.
///
/// # Errors
///
/// There is no port.
pub async fn serve(replies: Arc<Replies>) -> Result<String, Failure> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let endpoint = format!("http://{}", listener.local_addr()?);
    tokio::spawn(async move { axum::serve(listener, routes(replies)).await });
    Ok(endpoint)
}

/// Answers on a port of its own, over TLS. Gives its address, which is good for a process that trusts the
/// authority.
///
/// # Errors
///
/// There is no port.
pub async fn serve_over_tls(replies: Arc<Replies>, authority: &Authority) -> Result<String, Failure> {
    let listener = authority.listen().await?;
    let endpoint = format!("https://{HOST}:{}", listener.local_addr()?.port());
    tokio::spawn(async move { axum::serve(listener, routes(replies)).await });
    Ok(endpoint)
}

fn routes(replies: Arc<Replies>) -> Router {
    Router::new().fallback(answer).with_state(replies)
}

async fn answer(State(replies): State<Arc<Replies>>, request: Bytes) -> impl IntoResponse {
    let headers = [
        ("content-type", "application/x-amz-json-1.0"),
        ("x-amzn-requestid", "4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG"),
    ];
    match replies.reply("Query", &request) {
        Ok(reply) => (StatusCode::OK, headers, reply),
        Err(problem) => (StatusCode::BAD_REQUEST, headers, Bytes::from(problem.to_string())),
    }
}

/// A row with the keys that its list needs.
fn row(list: &List, at: usize, make: Make) -> Result<HashMap<String, dynoxide::AttributeValue>, Failure> {
    let bytes = if let Make::Plain(bytes) = make { bytes } else { 512 };
    let row = rows::row(list, at, 1, bytes)?;
    let mut row: Map<String, Value> =
        row.into_iter().map(|(name, text)| (name.to_owned(), json!({"S": text}))).collect();
    let of_a_product = json!({
        "name": {"S": format!("Café torrado em grãos \"Serra Alta\" {at}, pacote de 500 g")},
        "category": {"S": "Mercearia"},
        "unit": {"S": "un"},
        "price": {"N": format!("{}.90", 10 + at)},
        "cost": {"N": format!("{}.1275", 5 + at)},
        "tags": {"SS": ["orgânico", "artesanal", "promoção"]},
        "packSizes": {"NS": ["1", "6", "12"]},
        "supplier": {"M": {"id": {"S": "f-02"}, "name": {"S": "Grãos do Planalto S.A."}}},
        "fiscal": {"M": {
            "ncm": {"S": "0901.21.00"},
            "icms": {"N": "0.12"},
            "pis": {"N": "0.0165"},
            "cofins": {"N": "0.076"},
        }},
        "weighed": {"BOOL": false},
        "listedAt": {"S": "2026-01-02T12:00:00.000Z"},
        "updatedAt": {"S": "2026-03-04T15:30:00.123Z"},
        "version": {"S": "01jnh0q6v3k8x2m9d4r7t5w1zc"},
    });
    if let (Make::Product, Value::Object(more)) = (make, of_a_product) {
        row.extend(more);
    }
    Ok(serde_json::from_value(Value::Object(row))?)
}
