//! `orders` under load and under faults: whether every answer is right or a clear error in time, how long
//! answers take, and whether anything is left behind.

pub mod client;
pub mod dynamodb;
pub mod gateway;
pub mod judge;
pub mod known;
pub mod told;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde_json::Value;

use crate::Failure;
use crate::bench::database::Replies;
use client::{Asking, Latency, Problems, Round};
use dynamodb::{DynamoDb, Fault, Pace, Shares, Weather};
use gateway::Environments;
use known::Question;

/// How often a fault is expected by chance for none of it to be no chance.
const SURELY_GIVEN: f64 = 20.0;

/// The most connections to DynamoDB that an environment may keep while it has nothing to do.
pub const MOST_CONNECTIONS: usize = 2;

/// How many more files and sockets it may have open then than after its start: it may have been started while
/// DynamoDB took no connection.
pub const MOST_MORE_FILES: usize = MOST_CONNECTIONS;

/// How long connections have to be closed by whoever is done with them.
const TO_CLOSE: Duration = Duration::from_secs(5);

/// How long a body takes that comes slowly.
const PACE: Pace = Pace { slow: Duration::from_millis(300), trickle: Duration::from_secs(20) };

/// How long a gateway that is not ours may take: it may build the function first.
const PATIENCE: Duration = Duration::from_secs(600);

/// What an answer may be while nothing fails.
const FAIR: &[u16] = &[200];

/// What it may be while calls to DynamoDB fail.
const FOUL: &[u16] = &[200, 500, 503, 504];

/// How much is asked, and of what.
#[derive(Debug, Clone, Serialize)]
pub struct Options {
    /// How many ask at once, step by step.
    pub steps: Vec<usize>,
    /// The requests of a step.
    pub step_requests: usize,
    /// The requests for each fault alone.
    pub alone: usize,
    /// The requests while all faults come by chance. Without any, and without those for each alone, nothing fails.
    pub requests: usize,
    /// How many ask at once meanwhile.
    pub at_once: usize,
    /// The most environments.
    pub environments: usize,
    /// The time that a function has for an event.
    pub deadline: Duration,
    /// How often faults come by chance.
    pub shares: Shares,
    /// What fixes what chance decides.
    pub seed: u64,
    /// By how much the memory of an environment may grow after the first tenth of the requests, in bytes.
    pub growth: u64,
}

/// What was measured of a number of requests.
#[derive(Debug, Clone, Serialize)]
pub struct Step {
    /// How many asked at once.
    pub at_once: usize,
    /// How many requests there were.
    pub requests: usize,
    /// How long all took, in seconds.
    pub seconds: f64,
    /// How many were answered in a second.
    pub per_second: f64,
    /// How long each took, as the client sees it.
    pub latency: Option<Latency>,
    /// How many answers had each status.
    pub statuses: BTreeMap<u16, usize>,
    /// What the functions say of themselves, where they are ours.
    pub functions: Option<Functions>,
}

/// What functions tell in their logs, and their Runtime API of them.
#[derive(Debug, Clone, Serialize)]
pub struct Functions {
    /// Read units for each request.
    pub read_units: f64,
    /// Calls to DynamoDB for each request, those that the SDK makes again not counted.
    pub calls: f64,
    /// How many environments were started.
    pub started: usize,
    /// The longest from an event to its answer, in seconds.
    pub slowest: f64,
}

/// A fault, alone or among others.
#[derive(Debug, Clone, Serialize)]
pub struct Faulty {
    /// Which one.
    pub fault: Fault,
    /// How often it was given while it was alone.
    pub given_alone: u64,
    /// What came of it then.
    pub alone: Option<Step>,
    /// How often it was given by chance.
    pub given: u64,
}

/// What the environments kept once all was over.
#[derive(Debug, Clone, Serialize)]
pub struct Kept {
    /// How many environments were measured.
    pub environments: usize,
    /// After how many requests with faults memory was measured first.
    pub after: usize,
    /// The memory of an environment then, in bytes, on average.
    pub memory_before: f64,
    /// At the end.
    pub memory_after: f64,
    /// By how much the one that grew most did.
    pub growth: u64,
    /// The most files and sockets that one has open.
    pub open_files: usize,
    /// How many more that is, of the one where it is most, than after its start.
    pub more_files: usize,
    /// The most connections to DynamoDB of one.
    pub connections: usize,
}

/// All that was measured.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Report {
    /// Without faults, step by step.
    pub steps: Vec<Step>,
    /// With faults.
    pub faults: Vec<Faulty>,
    /// With all of them by chance.
    pub mixed: Option<Step>,
    /// What was kept after that.
    pub kept: Option<Kept>,
    /// What was wrong. Empty if nothing is.
    pub problems: Problems,
}

/// Where it is told how far it is.
#[derive(Clone)]
pub struct Progress {
    /// What goes on.
    pub doing: Arc<dyn Fn(&str) + Send + Sync>,
    /// A request was answered.
    pub answered: Arc<dyn Fn() + Send + Sync>,
}

/// A gateway, and the environments behind it where they are ours.
struct Subject {
    asking: Arc<Asking>,
    questions: Arc<Vec<Question>>,
    environments: Option<Arc<Environments>>,
    problems: Problems,
}

impl Options {
    /// How many requests there will be about: what a progress bar needs.
    #[must_use]
    pub fn work(&self) -> usize {
        self.steps.len() * self.step_requests + Fault::ALL.len() * self.alone + self.requests
    }
}

/// Asks the gateway at this URL, step by step, and tells what a client sees. It has to serve the sample data.
///
/// # Errors
///
/// It does not answer, or not what the sample data say.
pub async fn at(url: &str, options: &Options, progress: &Progress) -> Result<Report, Failure> {
    let asking = Asking::new(url, PATIENCE, progress.answered.clone());
    let mut subject = Subject::new(asking, known::questions(&known::orders()), None).await?;
    let mut report = Report::default();
    subject.steps(options, progress, &mut report).await;
    Ok(Report { problems: subject.problems, ..report })
}

/// Asks the `orders` of a folder of binaries through a gateway of its own: step by step, then with each fault
/// alone, then with all of them by chance.
///
/// # Errors
///
/// It is not built, it does not answer what the sample data say while nothing fails, or the machine does not
/// tell what a process has. What is wrong later is in the report.
pub async fn own(
    binaries: &Path,
    project: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<Report, Failure> {
    with(&known::orders(), binaries, project, options, progress).await
}

/// The same, with these orders.
async fn with(
    orders: &[Value],
    binaries: &Path,
    project: &Path,
    options: &Options,
    progress: &Progress,
) -> Result<Report, Failure> {
    let database = known::database(project, orders)?;
    let database = DynamoDb::new(Replies::of(database), PACE, options.seed);
    let binary = binaries.join(orders::LIST.name());
    let environments = Environments::new(binary, database.clone(), options.environments, options.deadline);
    let url = environments.serve().await?;
    // However many wait for a place, each is answered a little after its deadline at the latest.
    let most = options.steps.iter().copied().fold(options.at_once, usize::max);
    let turns = most.div_ceil(options.environments.max(1)) + 1;
    let patience = (options.deadline + TO_CLOSE) * u32::try_from(turns)?;
    let asking = Asking::new(&url, patience, progress.answered.clone());
    let mut subject = Subject::new(asking, known::questions(orders), Some(environments.clone())).await?;
    let mut report = Report::default();
    subject.steps(options, progress, &mut report).await;
    if options.alone > 0 || options.requests > 0 {
        subject.faults(&database, options, progress, &mut report).await;
    }
    if options.requests > 0 {
        subject.mixed(&database, &environments, options, progress, &mut report).await?;
    }
    Ok(Report { problems: subject.problems, ..report })
}

impl Subject {
    /// Learns the right answers, as far as they are those of the sample data.
    async fn new(
        asking: Arc<Asking>,
        mut questions: Vec<Question>,
        environments: Option<Arc<Environments>>,
    ) -> Result<Self, Failure> {
        for question in &mut questions {
            let answer = asking.ask(question).await?;
            if answer.status != 200 {
                let body = String::from_utf8_lossy(&answer.body);
                return Err(format!("{} answers {}: {body}", question.path, answer.status).into());
            }
            question.learn(&answer.body)?;
        }
        let mut problems = Problems::default();
        if let Some(environments) = &environments {
            let seen = environments.seen(questions.len()).await;
            seen.problems.into_iter().for_each(|problem| problems.add(problem));
        }
        Ok(Self { asking, questions: Arc::new(questions), environments, problems })
    }

    /// Asks so many times, and keeps what was wrong.
    async fn ask(&mut self, what: &str, requests: usize, at_once: usize, allowed: &'static [u16]) -> Step {
        let round = self.asking.round(&self.questions, requests, at_once, allowed).await;
        self.told(what, round, at_once).await
    }

    async fn told(&mut self, what: &str, mut round: Round, at_once: usize) -> Step {
        round.latencies.sort_unstable();
        let requests = round.latencies.len();
        let seconds = round.taken.as_secs_f64();
        let mut step = Step {
            at_once,
            requests,
            seconds,
            per_second: requests as f64 / seconds,
            latency: Latency::of(&round.latencies),
            statuses: round.statuses,
            functions: None,
        };
        self.problems.extend(what, round.problems);
        if let Some(environments) = &self.environments {
            let seen = environments.seen(requests).await;
            step.functions = Some(Functions {
                read_units: seen.read_units / requests as f64,
                calls: seen.calls as f64 / requests as f64,
                started: seen.started,
                slowest: seen.slowest.as_secs_f64(),
            });
            seen.problems.into_iter().for_each(|problem| self.problems.add(format!("{what}: {problem}")));
        }
        step
    }

    async fn steps(&mut self, options: &Options, progress: &Progress, report: &mut Report) {
        for at_once in &options.steps {
            let what = format!("{at_once} at once");
            (progress.doing)(&what);
            report.steps.push(self.ask(&what, options.step_requests, *at_once, FAIR).await);
        }
    }

    /// Each fault alone, at every call.
    async fn faults(
        &mut self,
        database: &DynamoDb,
        options: &Options,
        progress: &Progress,
        report: &mut Report,
    ) {
        for fault in Fault::ALL {
            let mut faulty = Faulty { fault, given_alone: 0, alone: None, given: 0 };
            if options.alone > 0 {
                let what = format!("nothing but {}", fault.name());
                (progress.doing)(&what);
                let before = database.given(fault);
                database.set(Weather::Only(fault));
                let at_once = options.alone.min(options.environments);
                let step = self.ask(&what, options.alone, at_once, fault.answers()).await;
                database.set(Weather::Fair);
                faulty.given_alone = database.given(fault) - before;
                faulty.alone = Some(step);
                if faulty.given_alone == 0 {
                    self.problems.add(format!("{what}: it was never given"));
                }
            }
            report.faults.push(faulty);
        }
    }

    /// All faults by chance; then none, and what was kept.
    async fn mixed(
        &mut self,
        database: &DynamoDb,
        environments: &Environments,
        options: &Options,
        progress: &Progress,
        report: &mut Report,
    ) -> Result<(), Failure> {
        let what = "all faults by chance";
        (progress.doing)(what);
        let before = Fault::ALL.map(|fault| database.given(fault));
        let first = (options.requests / 10).max(1);
        database.set(Weather::Mixed(options.shares));
        let mut round = self.asking.round(&self.questions, first, options.at_once, FOUL).await;
        let settled: Vec<u64> = environments
            .all()
            .iter()
            .map(|environment| environment.process.resident_memory())
            .collect::<Result<_, _>>()?;
        let rest = options.requests.saturating_sub(first);
        round.join(self.asking.round(&self.questions, rest, options.at_once, FOUL).await);
        database.set(Weather::Fair);
        for ((faulty, before), share) in report.faults.iter_mut().zip(before).zip(options.shares.0) {
            faulty.given = database.given(faulty.fault) - before;
            if faulty.given == 0 && share / 100.0 * options.requests as f64 >= SURELY_GIVEN {
                self.problems.add(format!("{what}: {} was never given", faulty.fault.name()));
            }
        }
        report.mixed = Some(self.told(what, round, options.at_once).await);

        // Whatever they went through, all of them answer as before: they take turns.
        let after = environments.all().len() * 2;
        self.ask("after the faults", after, 1, FAIR).await;
        report.kept = Some(self.kept(environments, &settled, first, options).await?);
        Ok(())
    }

    /// What the environments keep while they have nothing to do.
    async fn kept(
        &mut self,
        environments: &Environments,
        settled: &[u64],
        after: usize,
        options: &Options,
    ) -> Result<Kept, Failure> {
        let all = environments.all();
        let began = std::time::Instant::now();
        let connections = loop {
            let most = all.iter().map(|environment| environment.port.connections()).max().unwrap_or_default();
            if most <= MOST_CONNECTIONS || began.elapsed() > TO_CLOSE {
                break most;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        };
        let (mut memory, mut open_files, mut more_files) = (Vec::new(), 0, 0);
        for environment in &all {
            memory.push(environment.process.resident_memory()?);
            let open = environment.process.open_files()?;
            open_files = open_files.max(open);
            more_files = more_files.max(open.saturating_sub(environment.open_files));
        }
        if all.len() > settled.len() {
            let late = all.len() - settled.len();
            self.problems
                .add(format!("{late} environments were started late: their memory is compared with nothing"));
        }
        let grown = memory.iter().zip(settled).map(|(after, before)| after.saturating_sub(*before));
        let mean = |of: &[u64]| of.iter().sum::<u64>() as f64 / of.len().max(1) as f64;
        let kept = Kept {
            environments: all.len(),
            after,
            memory_before: mean(settled),
            memory_after: mean(&memory),
            growth: grown.max().unwrap_or_default(),
            open_files,
            more_files,
            connections,
        };
        kept.problems(options).into_iter().for_each(|problem| self.problems.add(problem));
        Ok(kept)
    }
}

impl Kept {
    /// What is more than it may be.
    #[must_use]
    pub fn problems(&self, options: &Options) -> Vec<String> {
        let Self { environments, growth, more_files, connections, .. } = self;
        let bounds = [
            (*growth > options.growth, format!("an environment grew by {growth} bytes")),
            (
                *more_files > MOST_MORE_FILES,
                format!("an environment has {more_files} more files open than at first"),
            ),
            (
                *connections > MOST_CONNECTIONS,
                format!("an environment keeps {connections} connections to DynamoDB"),
            ),
            (*environments > options.environments, format!("{environments} environments were started")),
        ];
        bounds.into_iter().filter(|(exceeded, _)| *exceeded).map(|(_, problem)| problem).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn silent() -> Progress {
        Progress { doing: Arc::new(|_| ()), answered: Arc::new(|| ()) }
    }

    /// Where the binaries of this build are: a test's own is one folder further down.
    fn binaries() -> std::path::PathBuf {
        let test = std::env::current_exe().unwrap();
        test.parent().unwrap().parent().unwrap().to_owned()
    }

    fn project() -> &'static Path {
        Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
    }

    fn few() -> Options {
        Options {
            steps: vec![2],
            step_requests: 4,
            alone: 0,
            requests: 24,
            at_once: 4,
            environments: 2,
            deadline: Duration::from_secs(10),
            shares: Shares([6.0, 6.0, 6.0, 6.0, 6.0, 6.0, 0.0, 0.0, 0.0]),
            seed: 1,
            growth: 64_000_000,
        }
    }

    #[tokio::test]
    async fn a_few_requests_are_answered_rightly_or_clearly() {
        let orders = known::orders();
        for question in known::questions(&orders) {
            let past_the_end = question.path == "/orders?page=14&limit=20";
            assert_eq!(question.finds_none(), past_the_end, "{question:?}");
        }
        let report = with(&orders, &binaries(), project(), &few(), &silent()).await.unwrap();
        assert_eq!(report.problems.first, Vec::<String>::new());
        let [step] = report.steps.as_slice() else { panic!("{report:?}") };
        assert_eq!(step.statuses, BTreeMap::from([(200, 4)]));
        let functions = step.functions.as_ref().unwrap();
        assert!(functions.read_units > 1.0 && functions.calls > 1.0, "{functions:?}");
        let mixed = report.mixed.unwrap();
        assert_eq!(mixed.statuses.values().sum::<usize>(), 24);
        assert!(mixed.statuses.len() > 1, "no fault outlasted the tries: {mixed:?}");
        let given: u64 = report.faults.iter().map(|faulty| faulty.given).sum();
        assert!(given > 5, "{given}");
        let kept = report.kept.unwrap();
        assert_eq!(kept.environments, 2, "more asked at once than may be started");
        assert!(kept.memory_after > 1e6 && kept.open_files > 3, "{kept:?}");
    }

    #[tokio::test]
    async fn a_gateway_that_answers_otherwise_is_found_out() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answer = || async { ([("content-type", "application/json")], "{}") };
        let routes = axum::Router::new().fallback(answer);
        tokio::spawn(async move { axum::serve(listener, routes).await });
        let asking = Asking::new(&url, PATIENCE, Arc::new(|| ()));
        let questions = known::questions(&[]);
        assert!(Subject::new(asking.clone(), questions.clone(), None).await.is_err(), "it is not learned");

        // As if it had been right before, but for one answer.
        let mut right = questions.clone();
        right.iter_mut().skip(1).for_each(|question| question.right = judge::Json::read(b"{}"));
        let round = asking.round(&Arc::new(right), questions.len() * 2, 3, FAIR).await;
        assert_eq!((round.problems.count, round.statuses), (2, BTreeMap::from([(200, 40)])));
        assert!(round.problems.first[0].contains("wrong body"), "{:?}", round.problems);
    }

    #[test]
    fn what_was_kept_has_its_bounds() {
        let kept = Kept {
            environments: 2,
            after: 1,
            memory_before: 9e6,
            memory_after: 9e6,
            growth: few().growth,
            open_files: 20,
            more_files: MOST_MORE_FILES,
            connections: MOST_CONNECTIONS,
        };
        assert_eq!(kept.problems(&few()), Vec::<String>::new());
        for more in [
            Kept { environments: 3, ..kept.clone() },
            Kept { growth: few().growth + 1, ..kept.clone() },
            Kept { more_files: MOST_MORE_FILES + 1, ..kept.clone() },
            Kept { connections: MOST_CONNECTIONS + 1, ..kept },
        ] {
            assert_eq!(more.problems(&few()).len(), 1, "{more:?}");
        }
    }
}
