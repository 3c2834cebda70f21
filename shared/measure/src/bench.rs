//! Release binaries as whole processes, beside floors of the same run: what starting takes, what a request
//! takes of the processor, the first request over TLS, memory, size.
//!
//! Absolute times are those of one machine at one moment. What can be compared is the ratio to a floor that
//! was measured in turns with the function.

pub mod database;
pub mod figures;
mod first;
pub mod limit;
pub mod process;
pub mod runtime_api;
pub mod tls;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Bytes;
use serde_json::{Value, json};

use crate::Failure;
use crate::asking::{ENTITY, TENANT};
use crate::rows::OF_AN_ENTITY;
use database::{Make, Replies};
use figures::{Figure, Spread};
use process::Process;

/// What the relay is told to send, by this variable.
pub const REQUEST_TO_RELAY: &str = "REQUEST_TO_RELAY";

/// Which list is run without priming, by this variable.
pub const LIST_UNPRIMED: &str = "LIST_UNPRIMED";

/// How long a process may take to start, or to answer a turn's requests.
const PATIENCE: Duration = Duration::from_secs(60);

/// The time that a request has.
const TIME_TO_ANSWER: Duration = Duration::from_secs(10);

/// The floor of a start.
const EMPTY: &str = "floor-empty";

/// The floor of a request.
const RELAY: &str = "floor-relay";

/// The lists that are measured: one with a total, which takes a second call to count the rest, and one with
/// a cursor, which takes one call.
const ASKED: [Asked; 2] = [
    Asked { list: &product::LIST, event: "events/product/http-all.json", query: "" },
    Asked { list: &ledger::LIST, event: "events/ledger/http-by-property.json", query: "propertyId=" },
];

/// A list that answers its whole collection, which is as large as the data are.
const WHOLE: Asked =
    Asked { list: &financial::LIST, event: "events/financial/http-by-unit.json", query: "unitId=" };

/// Whole collections: the bytes of each of their rows, and whether the caller takes gzip. The first is near what Lambda
/// hands back, the second near what is read for an answer that is compressed.
const COLLECTIONS: [(usize, bool); 2] = [(22_000, false), (120_000, true)];

/// The rows of a page, and how many times the floor's processor time a page of them may take.
const PAGES: [(usize, f64); 2] = [(20, 1.5), (100, 2.0)];

/// How many times the floor's time a start may take.
const AIM_OF_A_START: f64 = 1.3;

/// The most memory that a function may use, in bytes.
const AIM_OF_MEMORY: f64 = 16e6;

/// The largest that a binary may be, in bytes.
const AIM_OF_SIZE: f64 = 6e6;

/// A list that is asked, and with which event of the project.
struct Asked {
    list: &'static kit::list::List,
    event: &'static str,
    query: &'static str,
}

/// How much is measured.
#[derive(Debug, Clone)]
pub struct Options {
    /// How often each binary is started.
    pub starts: usize,
    /// How often each is started for its first request.
    pub firsts: usize,
    /// How often function and floor take turns in answering.
    pub rounds: usize,
    /// The requests of a turn.
    pub requests: usize,
    /// The requests before the first turn.
    pub warm_up: usize,
    /// What the rows are made of.
    pub rows: Make,
    /// Folders with other builds of the lists, which take turns with the ones that are measured: what a change
    /// gives is told by one run.
    pub beside: Vec<PathBuf>,
}

impl Options {
    /// The folders whose lists are measured, and what is told of each after a list's name.
    fn builds<'a>(&'a self, binaries: &'a Path) -> Vec<(&'a Path, String)> {
        let beside = self.beside.iter().map(|folder| {
            let name = folder.file_name().unwrap_or(folder.as_os_str());
            (folder.as_path(), format!(" in {}", name.display()))
        });
        std::iter::once((binaries, String::new())).chain(beside).collect()
    }
}

/// What came of measuring.
#[derive(Debug, Default)]
pub struct Measured {
    /// What was measured.
    pub figures: Vec<Figure>,
    /// What this machine does not let be measured, and why.
    pub not_measured: Vec<String>,
}

/// Measures the binaries in a folder. `progress` is told what goes on.
///
/// # Errors
///
/// A binary that is not there or does not answer as it should, and a machine that does not tell what a process
/// used.
pub async fn measure(
    binaries: &Path,
    project: &Path,
    options: &Options,
    progress: impl Fn(&str),
) -> Result<Measured, Failure> {
    progress("starts");
    let mut figures = starts(binaries, project, options).await?;
    progress("first requests");
    let Measured { figures: firsts, not_measured } = first::measure(binaries, project, options).await?;
    figures.extend(firsts);
    for asked in &ASKED {
        for (limit, aim) in PAGES {
            progress(&format!("{}, {limit} rows", asked.list.name()));
            figures.extend(requests(binaries, project, asked, limit, aim, options).await?);
        }
    }
    for (bytes, gzip) in COLLECTIONS {
        progress(&format!("{}, all rows", WHOLE.list.name()));
        figures.push(collection(binaries, project, bytes, gzip).await?);
    }
    figures.extend(sizes(binaries, project, options)?);
    Ok(Measured { figures, not_measured })
}

/// Time and processor time from the start of a process to its first poll.
async fn starts(binaries: &Path, project: &Path, options: &Options) -> Result<Vec<Figure>, Failure> {
    let database = Replies::open(project, ASKED.map(|asked| asked.list), options.rows)?;
    let endpoint = database::serve(database).await?;
    let builds = options.builds(binaries);
    let lists = ASKED.iter().flat_map(|asked| {
        let name = asked.list.name();
        builds.iter().map(move |(folder, suffix)| (folder.join(name), format!("start, {name}{suffix}")))
    });
    let started: Vec<(PathBuf, String)> =
        std::iter::once((binaries.join(EMPTY), String::new())).chain(lists).collect();
    let mut taken = vec![(Vec::new(), Vec::new()); started.len()];
    // The first start of each is not counted: it reads the binary from the disk.
    for turn in 0..=options.starts {
        for ((binary, _), (wall, cpu)) in started.iter().zip(&mut taken) {
            let process = start(binary, &endpoint, &[]).await?;
            if turn > 0 {
                wall.push(process.time_to_first_poll()?.as_secs_f64());
                cpu.push(process.processor_time().await?.as_secs_f64());
            }
        }
    }
    let spreads = |(wall, cpu): (Vec<f64>, Vec<f64>)| Some((Spread::of(wall)?, Spread::of(cpu)?));
    let mut spreads = taken.into_iter().map(|taken| spreads(taken).ok_or("nothing was started"));
    let (floor_wall, floor_cpu) = spreads.next().ok_or("nothing was started")??;
    let mut figures = Vec::new();
    for ((_, what), spreads) in started.into_iter().skip(1).zip(spreads) {
        let (wall, cpu) = spreads?;
        figures.push(Figure::time(what.clone(), floor_wall, wall).at_most(AIM_OF_A_START));
        figures.push(Figure::time(what + ": processor", floor_cpu, cpu));
    }
    Ok(figures)
}

/// Processor time of a page, and the memory of the process that answers it.
async fn requests(
    binaries: &Path,
    project: &Path,
    asked: &Asked,
    limit: usize,
    aim: f64,
    options: &Options,
) -> Result<Vec<Figure>, Failure> {
    let name = asked.list.name();
    let event = asked.event(project, Some(limit), false)?;
    let database = Replies::open(project, [asked.list], options.rows)?;
    let endpoint = database::serve(database.clone()).await?;

    let mut subjects = Vec::new();
    for (folder, suffix) in options.builds(binaries) {
        let process = start(&folder.join(name), &endpoint, &[]).await?;
        let memory_at_start = process.peak_memory()?;
        rows(&process.answer(&event, options.warm_up).await?, "items", limit..=limit)?;
        subjects.push(Subject { suffix, process, memory_at_start, cpu: Vec::new(), calls: 0.0 });
    }
    // What a page's rows come from: the floor asks for the same, and is answered the same.
    let relayed = [(REQUEST_TO_RELAY, database.request_of_the_largest()?)];
    let floor = start(&binaries.join(RELAY), &endpoint, &relayed).await?;
    let floor_at_start = floor.peak_memory()?;
    // A list with a cursor asks for a row more than it answers.
    rows(&floor.answer(&event, options.warm_up).await?, "Items", limit..=limit + 1)?;

    let mut floor_cpu = Vec::new();
    for _ in 0..options.rounds {
        floor_cpu.push(each(&floor, &event, options.requests).await?);
        for subject in &mut subjects {
            let before = database.calls();
            subject.cpu.push(each(&subject.process, &event, options.requests).await?);
            subject.calls = (database.calls() - before) as f64 / options.requests as f64;
        }
    }
    let floor_cpu = Spread::of(floor_cpu).ok_or("nothing was asked")?;
    let mut figures = Vec::new();
    for Subject { suffix, process, memory_at_start, cpu, calls } in subjects {
        let cpu = Spread::of(cpu).ok_or("nothing was asked")?;
        let what = format!("page of {limit}, {name}{suffix}: processor");
        figures.push(Figure::time(what, floor_cpu, cpu).at_most(aim));
        if calls > 1.0 {
            let what = format!("the same, each of its {calls} calls");
            figures.push(Figure::time(what, floor_cpu, cpu.divided_by(calls)));
        }
        if PAGES.last().is_some_and(|(most, _)| *most == limit) {
            let bytes = |what: String, floor: u64, ours: u64| {
                Figure::bytes(what, Spread::only(floor as f64), Spread::only(ours as f64))
            };
            let what = format!("peak memory after the start, {name}{suffix}");
            figures.push(bytes(what, floor_at_start, memory_at_start));
            let asked = options.warm_up + options.rounds * options.requests;
            let what = format!("peak memory after {asked} pages of {limit}, {name}{suffix}");
            let peak = bytes(what, floor.peak_memory()?, process.peak_memory()?);
            figures.push(peak.at_most_itself(AIM_OF_MEMORY));
        }
    }
    Ok(figures)
}

/// The memory of the process that answers a whole collection, beside the bytes of its rows.
async fn collection(binaries: &Path, project: &Path, bytes: usize, gzip: bool) -> Result<Figure, Failure> {
    let name = WHOLE.list.name();
    let event = WHOLE.event(project, None, gzip)?;
    let database = Replies::open(project, [WHOLE.list], Make::Plain(bytes))?;
    let endpoint = database::serve(database).await?;
    let process = start(&binaries.join(name), &endpoint, &[]).await?;
    let answer = process.answer(&event, 1).await?;
    if !gzip {
        rows(&answer, "items", OF_AN_ENTITY..=OF_AN_ENTITY)?;
    }
    let all = OF_AN_ENTITY * bytes;
    let way = if gzip { ", compressed" } else { "" };
    let what = format!("peak memory after a whole collection of {} MB, {name}{way}", all / 1_000_000);
    let figure = Figure::bytes(what, Spread::only(all as f64), Spread::only(process.peak_memory()? as f64));
    Ok(figure.at_most_itself(AIM_OF_MEMORY))
}

/// A list that answers pages, in one build of it.
struct Subject {
    /// What is told of the build.
    suffix: String,
    process: Process,
    memory_at_start: u64,
    /// The processor time of a request in each turn, in seconds.
    cpu: Vec<f64>,
    /// Calls to DynamoDB for each request.
    calls: f64,
}

/// Starts a binary whose log nobody reads.
async fn start(binary: &Path, endpoint: &str, more: &[(&str, String)]) -> Result<Process, Failure> {
    Process::start(binary, endpoint, TIME_TO_ANSWER, more, drop).await
}

/// The processor time of each of so many requests, in seconds.
async fn each(process: &Process, event: &Bytes, requests: usize) -> Result<f64, Failure> {
    let before = process.processor_time().await?;
    process.answer(event, requests).await?;
    Ok((process.processor_time().await? - before).as_secs_f64() / requests as f64)
}

/// A time is worth telling only of a right answer.
fn rows(answer: &[u8], name: &str, expected: RangeInclusive<usize>) -> Result<(), Failure> {
    let answer: Value = serde_json::from_slice(answer)?;
    let body: Value = serde_json::from_str(answer.get("body").and_then(Value::as_str).unwrap_or_default())?;
    let came = body.get(name).and_then(Value::as_array).map(Vec::len);
    if came.is_some_and(|came| expected.contains(&came)) {
        return Ok(());
    }
    Err(format!("{} rows were asked for and {came:?} came", expected.start()).into())
}

/// The size of the functions: the smallest and the largest, and the lists of other builds.
fn sizes(binaries: &Path, project: &Path, options: &Options) -> Result<Vec<Figure>, Failure> {
    let size =
        |name: &str| -> Result<f64, Failure> { Ok(process::built(&binaries.join(name))?.len() as f64) };
    let mut functions = Vec::new();
    for folder in std::fs::read_dir(project.join("functions"))? {
        let name = folder?.file_name().into_string().map_err(|name| format!("{}", name.display()))?;
        functions.push((size(&name)?, name));
    }
    functions.sort_by(|(one, _), (other, _)| one.total_cmp(other));
    let floor = Spread::only(size(RELAY)?);
    let figure = |what: &str, (bytes, name): &(f64, String)| {
        Figure::bytes(format!("size of the {what}, {name}"), floor, Spread::only(*bytes))
    };
    let (Some(smallest), Some(largest)) = (functions.first(), functions.last()) else {
        return Err("there is no function".into());
    };
    let mut figures =
        vec![figure("smallest", smallest), figure("largest", largest).at_most_itself(AIM_OF_SIZE)];
    for (folder, suffix) in options.builds(binaries).iter().skip(1) {
        for asked in &ASKED {
            let name = asked.list.name();
            let bytes = Spread::only(process::built(&folder.join(name))?.len() as f64);
            figures.push(Figure::bytes(format!("size of {name}{suffix}"), floor, bytes));
        }
    }
    Ok(figures)
}

impl Asked {
    /// The event, asking for so many rows of the tenant and the entity whose rows are there, or for all of them.
    fn event(&self, project: &Path, limit: Option<usize>, gzip: bool) -> Result<Bytes, Failure> {
        let path: PathBuf = project.join(self.event);
        let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut event: Value = serde_json::from_str(&text)?;
        let claims =
            event.pointer_mut("/requestContext/authorizer/jwt/claims").and_then(Value::as_object_mut);
        claims.ok_or("the event has no claims")?.insert("custom:tenant".to_owned(), json!(TENANT));
        if gzip {
            let headers = event.get_mut("headers").and_then(Value::as_object_mut);
            headers.ok_or("the event has no headers")?.insert("accept-encoding".to_owned(), json!("gzip"));
        }
        let event = event.as_object_mut().ok_or("the event is no object")?;
        let entity = self.query.strip_suffix('=').map(|name| (name, ENTITY.to_owned()));
        let limit = limit.map(|limit| ("limit", limit.to_string()));
        let parameters: BTreeMap<&str, String> = entity.into_iter().chain(limit).collect();
        let query: Vec<String> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
        event.insert("rawQueryString".to_owned(), json!(query.join("&")));
        event.insert("queryStringParameters".to_owned(), json!(parameters));
        Ok(serde_json::to_vec(&event)?.into())
    }
}
