//! A DynamoDB that fails as a service and a network do, at a port of its own for each function that asks it.
//!
//! It speaks HTTP/1.1 by itself, because no HTTP server resets a connection in the middle of an answer.

use std::io;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use fastrand::Rng;
use serde::Serialize;
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

use crate::Failure;
use crate::bench::database::Replies;

/// In how many pieces a slow body comes.
const PIECES: usize = 20;

/// For how many calls in a row a fault comes at most: one more than the SDK makes of one.
const LONGEST_SPELL: u8 = 4;

/// The largest request that DynamoDB takes, in bytes.
///
/// Source: Amazon DynamoDB developer guide, "Quotas".
const MOST_BYTES: usize = 16 * 1024 * 1024;

/// What can go wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// The account's rate is exceeded.
    Throttled,
    /// That of the table or of an index is.
    ThroughputExceeded,
    /// The service answers 500.
    ServerError,
    /// It answers 503.
    Unavailable,
    /// The connection is reset instead of an answer.
    Reset,
    /// It is reset in the middle of the body.
    ResetInBody,
    /// Nothing ever comes.
    Stall,
    /// The body comes in pieces, and in time.
    Slow,
    /// The body comes in pieces, and takes longer than a try may.
    Trickle,
}

impl Fault {
    /// Every fault.
    pub const ALL: [Self; 9] = [
        Self::Throttled,
        Self::ThroughputExceeded,
        Self::ServerError,
        Self::Unavailable,
        Self::Reset,
        Self::ResetInBody,
        Self::Stall,
        Self::Slow,
        Self::Trickle,
    ];

    /// Its name, as it is given on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Throttled => "throttled",
            Self::ThroughputExceeded => "throughput-exceeded",
            Self::ServerError => "server-error",
            Self::Unavailable => "unavailable",
            Self::Reset => "reset",
            Self::ResetInBody => "reset-in-body",
            Self::Stall => "stall",
            Self::Slow => "slow",
            Self::Trickle => "trickle",
        }
    }

    /// The status that a list has to answer where every call has this fault.
    #[must_use]
    pub const fn answers(self) -> &'static [u16] {
        match self {
            Self::Throttled | Self::ThroughputExceeded => &[503],
            Self::ServerError | Self::Unavailable | Self::Reset | Self::ResetInBody => &[500],
            Self::Stall | Self::Trickle => &[504],
            Self::Slow => &[200],
        }
    }
}

/// Of how many calls in a hundred each fault begins, in the order of [`Fault::ALL`].
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Shares(pub [f64; Fault::ALL.len()]);

impl Default for Shares {
    /// Of what costs a function seconds, little.
    fn default() -> Self {
        Self([0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.02, 0.1, 0.02])
    }
}

/// When calls fail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Weather {
    /// Never.
    Fair,
    /// Every call, with this fault.
    Only(Fault),
    /// By chance. A fault that has come stays for one to four calls in a row, so that some outlast the tries of
    /// the SDK.
    Mixed(Shares),
}

/// How long a slow body takes.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// One that comes in time.
    pub slow: Duration,
    /// One that does not.
    pub trickle: Duration,
}

/// The database, and how it fails.
pub struct DynamoDb {
    replies: Arc<Replies>,
    weather: Mutex<Weather>,
    pace: Pace,
    seed: u64,
    ports: AtomicU64,
    given: [AtomicU64; Fault::ALL.len()],
}

/// What one function asks.
pub struct Port {
    /// Its URL.
    pub url: String,
    open: AtomicUsize,
    chance: Mutex<Chance>,
}

impl DynamoDb {
    /// A database with these replies. `seed` fixes what chance decides, for each port by itself.
    #[must_use]
    pub fn new(replies: Arc<Replies>, pace: Pace, seed: u64) -> Arc<Self> {
        let weather = Mutex::new(Weather::Fair);
        Arc::new(Self {
            replies,
            weather,
            pace,
            seed,
            ports: AtomicU64::default(),
            given: Default::default(),
        })
    }

    /// When calls fail from now on.
    pub fn set(&self, weather: Weather) {
        *self.weather.lock().unwrap_or_else(PoisonError::into_inner) = weather;
    }

    /// How often a fault was given so far.
    #[must_use]
    pub fn given(&self, fault: Fault) -> u64 {
        let place = Fault::ALL.iter().position(|known| *known == fault);
        let given = place.and_then(|place| self.given.get(place));
        given.map(|given| given.load(Ordering::Relaxed)).unwrap_or_default()
    }

    /// Another port.
    ///
    /// # Errors
    ///
    /// There is none.
    pub async fn open(self: &Arc<Self>) -> Result<Arc<Port>, Failure> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let number = self.ports.fetch_add(1, Ordering::Relaxed);
        let port = Arc::new(Port {
            url: format!("http://{}", listener.local_addr()?),
            open: AtomicUsize::default(),
            chance: Mutex::new(Chance { rng: Rng::with_seed(self.seed.wrapping_add(number)), spell: None }),
        });
        let (database, own) = (self.clone(), port.clone());
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (database, port) = (database.clone(), own.clone());
                tokio::spawn(async move {
                    port.open.fetch_add(1, Ordering::Relaxed);
                    // What ends a connection is the client's matter.
                    let _ = database.serve(stream, &port).await;
                    port.open.fetch_sub(1, Ordering::Relaxed);
                });
            }
        });
        Ok(port)
    }

    async fn serve(&self, stream: TcpStream, port: &Port) -> io::Result<()> {
        stream.set_nodelay(true)?;
        let mut stream = BufReader::new(stream);
        while let Some(request) = read(&mut stream).await? {
            let weather = *self.weather.lock().unwrap_or_else(PoisonError::into_inner);
            let fault = port.chance.lock().unwrap_or_else(PoisonError::into_inner).next(weather);
            let place = Fault::ALL.iter().position(|known| Some(*known) == fault);
            if let Some(given) = place.and_then(|place| self.given.get(place)) {
                given.fetch_add(1, Ordering::Relaxed);
            }
            let (status, reply) = match fault.and_then(refusal) {
                Some(refusal) => refusal,
                None => match self.replies.reply(&request.operation, &request.body) {
                    Ok(reply) => ("200 OK", reply),
                    Err(problem) => ("400 Bad Request", Bytes::from(problem.to_string())),
                },
            };
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/x-amz-json-1.0\r\ncontent-length: {}\r\n\
                 x-amzn-requestid: 4KBNVRGD25RG1KEO9UT4V3FQDJVV4KQNSO5AEMVJF66Q9ASUAAJG\r\n\r\n",
                reply.len()
            );
            let whole = [head.as_bytes(), &reply].concat();
            let socket = stream.get_mut();
            match fault {
                Some(Fault::Reset) => return socket.set_zero_linger(),
                Some(Fault::ResetInBody) => {
                    let (first, _) = whole.split_at(head.len() + reply.len() / 2);
                    socket.write_all(first).await?;
                    return socket.set_zero_linger();
                }
                Some(Fault::Stall) => {
                    // Until the client has enough of it.
                    socket.read_u8().await?;
                }
                Some(Fault::Slow) => in_pieces(socket, &whole, self.pace.slow).await?,
                Some(Fault::Trickle) => in_pieces(socket, &whole, self.pace.trickle).await?,
                _ => socket.write_all(&whole).await?,
            }
        }
        Ok(())
    }
}

impl Port {
    /// How many connections are open.
    #[must_use]
    pub fn connections(&self) -> usize {
        self.open.load(Ordering::Relaxed)
    }
}

/// What chance decides at a port.
struct Chance {
    rng: Rng,
    /// A fault that stays, and for how many more calls.
    spell: Option<(Fault, u8)>,
}

impl Chance {
    /// What the next call has.
    fn next(&mut self, weather: Weather) -> Option<Fault> {
        let shares = match weather {
            Weather::Fair => return None,
            Weather::Only(fault) => return Some(fault),
            Weather::Mixed(shares) => shares,
        };
        let (fault, left) = self.spell.take().or_else(|| {
            let mut drawn = self.rng.f64() * 100.0;
            let mut shares = Fault::ALL.into_iter().zip(shares.0);
            let (fault, _) = shares.find(|(_, share)| {
                drawn -= share;
                drawn < 0.0
            })?;
            Some((fault, self.rng.u8(1..=LONGEST_SPELL)))
        })?;
        self.spell = (left > 1).then_some((fault, left - 1));
        Some(fault)
    }
}

struct Request {
    operation: String,
    body: Bytes,
}

/// The next request, or `None` where the client has closed the connection.
async fn read(stream: &mut BufReader<TcpStream>) -> io::Result<Option<Request>> {
    let (mut operation, mut length) = (String::new(), 0);
    let mut line = String::new();
    loop {
        line.clear();
        if stream.read_line(&mut line).await? == 0 {
            return Ok(None);
        }
        if line == "\r\n" {
            break;
        }
        let Some((name, value)) = line.split_once(':') else { continue };
        if name.eq_ignore_ascii_case("x-amz-target") {
            value.trim().rsplit('.').next().unwrap_or_default().clone_into(&mut operation);
        } else if name.eq_ignore_ascii_case("content-length") {
            let told = value.trim().parse().ok().filter(|length| *length <= MOST_BYTES);
            length = told.ok_or(io::ErrorKind::InvalidData)?;
        }
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    Ok(Some(Request { operation, body: body.into() }))
}

/// What the service says where it refuses, with DynamoDB's own codes and texts.
fn refusal(fault: Fault) -> Option<(&'static str, Bytes)> {
    let (status, code, message) = match fault {
        Fault::Throttled => (
            "400 Bad Request",
            "com.amazon.coral.availability#ThrottlingException",
            "Rate of requests exceeds the allowed throughput.",
        ),
        Fault::ThroughputExceeded => (
            "400 Bad Request",
            "com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException",
            "The level of configured provisioned throughput for the table was exceeded. Consider increasing \
             your provisioning level with the UpdateTable API.",
        ),
        Fault::ServerError => (
            "500 Internal Server Error",
            "com.amazonaws.dynamodb.v20120810#InternalServerError",
            "Internal server error",
        ),
        Fault::Unavailable => (
            "503 Service Unavailable",
            "com.amazon.coral.availability#ServiceUnavailableException",
            "Service is unavailable. Please try again.",
        ),
        _ => return None,
    };
    Some((status, Bytes::from(json!({"__type": code, "message": message}).to_string())))
}

/// Writes slowly: all of it within this time.
async fn in_pieces(socket: &mut TcpStream, whole: &[u8], time: Duration) -> io::Result<()> {
    for piece in whole.chunks(whole.len().div_ceil(PIECES).max(1)) {
        socket.write_all(piece).await?;
        tokio::time::sleep(time.div_f64(PIECES as f64)).await;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use kit::app::{App, Invocation};
    use kit::config::{endpoint, settings};
    use kit::dynamo::Db;
    use tokio::time::{Instant, timeout};

    use super::*;
    use crate::stress::known;

    const PACE: Pace = Pace { slow: Duration::from_millis(60), trickle: Duration::from_secs(6) };

    fn database() -> Arc<DynamoDb> {
        let project = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
        DynamoDb::new(Replies::of(known::database(project, &[]).unwrap()), PACE, 1)
    }

    /// A request as the SDK sends it, and the reply as far as it comes.
    async fn ask(port: &Port) -> (String, io::Result<()>) {
        let mut socket = TcpStream::connect(port.url.trim_start_matches("http://")).await.unwrap();
        let body = r##"{"TableName":"SalesOrder","KeyConditionExpression":"#0 = :0","Limit":1,
            "ExpressionAttributeNames":{"#0":"tenant"},"ExpressionAttributeValues":{":0":{"S":"acme"}}}"##;
        let head = "POST / HTTP/1.1\r\nX-Amz-Target: DynamoDB_20120810.Query\r\nhost: localhost";
        let request = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
        socket.write_all(request.as_bytes()).await.unwrap();
        let mut reply = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let came = match timeout(Duration::from_millis(200), socket.read(&mut buffer)).await {
                Err(_) => return (text(reply), Err(io::ErrorKind::TimedOut.into())),
                Ok(Err(error)) => return (text(reply), Err(error)),
                Ok(Ok(0)) => return (text(reply), Ok(())),
                Ok(Ok(came)) => came,
            };
            reply.extend_from_slice(&buffer[..came]);
            let whole = text(reply.clone());
            if let Some((head, body)) = whole.split_once("\r\n\r\n")
                && head.contains(&format!("content-length: {}\r\n", body.len()))
            {
                return (whole, Ok(()));
            }
        }
    }

    fn text(bytes: Vec<u8>) -> String {
        String::from_utf8(bytes).unwrap()
    }

    #[tokio::test]
    async fn each_fault_is_what_a_client_sees_of_it() {
        let database = database();
        let port = database.open().await.unwrap();
        let (fair, end) = ask(&port).await;
        assert!(fair.starts_with("HTTP/1.1 200 OK\r\n") && fair.contains(r#""Count":0"#), "{fair}");
        assert!(end.is_ok());
        for fault in Fault::ALL {
            database.set(Weather::Only(fault));
            let began = Instant::now();
            let (reply, end) = ask(&port).await;
            let end = end.map_err(|error| error.kind());
            match fault {
                Fault::Throttled => assert!(reply.contains("#ThrottlingException"), "{reply}"),
                Fault::ThroughputExceeded => {
                    assert!(reply.starts_with("HTTP/1.1 400 Bad Request\r\n"), "{reply}");
                    assert!(reply.contains("#ProvisionedThroughputExceededException"), "{reply}");
                }
                Fault::ServerError => assert!(reply.starts_with("HTTP/1.1 500 "), "{reply}"),
                Fault::Unavailable => assert!(reply.starts_with("HTTP/1.1 503 "), "{reply}"),
                Fault::Reset => {
                    assert_eq!((reply.as_str(), end), ("", Err(io::ErrorKind::ConnectionReset)));
                }
                Fault::ResetInBody => {
                    assert_eq!(end, Err(io::ErrorKind::ConnectionReset));
                    assert!(fair.starts_with(&reply) && reply.len() < fair.len(), "{reply}");
                    assert!(reply.contains("\r\n\r\n"), "not even the head came: {reply}");
                }
                Fault::Stall => assert_eq!((reply.as_str(), end), ("", Err(io::ErrorKind::TimedOut))),
                Fault::Slow => {
                    assert_eq!((reply.as_str(), end), (fair.as_str(), Ok(())));
                    assert!(began.elapsed() >= PACE.slow / 2, "{:?}", began.elapsed());
                }
                Fault::Trickle => {
                    assert_eq!(end, Err(io::ErrorKind::TimedOut));
                    assert!(fair.starts_with(&reply) && !reply.is_empty(), "{reply}");
                }
            }
            assert_eq!(database.given(fault), 1, "{}", fault.name());
        }
        for _ in 0..100 {
            if port.connections() == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(port.connections(), 0, "the client has closed them all");
    }

    #[test]
    fn faults_come_as_often_as_is_said_and_the_same_with_the_same_seed() {
        let weather = Weather::Mixed(Shares([1.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.0]));
        let drawn = |seed| {
            let mut chance = Chance { rng: Rng::with_seed(seed), spell: None };
            (0..40_000).map(|_| chance.next(weather)).collect::<Vec<_>>()
        };
        let calls = drawn(7);
        assert_eq!(calls, drawn(7));
        assert_ne!(calls, drawn(8));
        let share = |fault| calls.iter().filter(|drawn| **drawn == Some(fault)).count() as f64 / 400.0;
        // Two and a half calls each on average, and no other begins meanwhile.
        assert!((2.0..2.8).contains(&share(Fault::Throttled)), "{}", share(Fault::Throttled));
        assert!((4.2..5.5).contains(&share(Fault::Reset)), "{}", share(Fault::Reset));
        assert!(calls.iter().flatten().all(|fault| matches!(fault, Fault::Throttled | Fault::Reset)));
    }

    #[tokio::test]
    async fn a_list_answers_each_fault_with_its_status_in_time() {
        let database = database();
        let port = database.open().await.unwrap();
        let environment = |name: &str| match name {
            "AWS_ENDPOINT_URL_DYNAMODB" => Some(port.url.clone()),
            _ => Some("test".to_owned()).filter(|_| name.starts_with("AWS_")),
        };
        let settings = settings((&orders::LIST).into(), |_| None).unwrap();
        let app = App::new(&orders::LIST, settings, Db::connect(endpoint(environment).unwrap(), "").unwrap());
        let event = crate::asking::event(&orders::LIST, &[]).to_string();
        for fault in Fault::ALL {
            database.set(Weather::Only(fault));
            let hangs = matches!(fault, Fault::Stall | Fault::Trickle);
            let time_left = Duration::from_millis(if hangs { 500 } else { 10_000 });
            let began = Instant::now();
            let handled = app.handle(&event, &Invocation { id: "i".to_owned(), time_left }).await;
            assert_eq!([handled.response.status_code], fault.answers(), "{}", handled.log);
            assert!(began.elapsed() < time_left, "{}: {:?}", fault.name(), began.elapsed());
        }
    }
}
