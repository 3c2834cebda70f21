//! A rehearsal: a table of a running system is given its new index, stage by stage, while others write and
//! while the load is killed again and again. On this machine alone.
//!
//! Whoever writes keeps a ledger of what must be true. What is stored in the end, what is in the index and
//! what lists answer at every stage is compared with it, item by item. Whatever differs is lost.

mod loads;
mod subject;
mod system;
mod writers;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use fastrand::Rng;
use kit::item::{self, Item};
use kit::key::Rollout;
use kit::report::{self, Report, ReportRequest};
use kit::rollout::{Stage, Stages, Verdict, give_keys, judge};
use local::template::Template;
use serde_json::Value;
use tokio::time::Instant;

use crate::connection::told;
use crate::text::grouped;
pub use loads::Speed;
use loads::{Loads, count};
use subject::{Asked, Subject};
use system::{System, send};
use writers::{Writers, id, shown};

type Failure = Box<dyn std::error::Error + Send + Sync>;

/// The rows of a page that is asked for.
const LIMIT: usize = 100;

/// The most pages of a question that are all asked for. Of more, the first, the last and some between are.
const ALL_PAGES: usize = 3;

/// The most items that the load is measured with, against a bare loop; of fewer, a fifth.
const MEASURED: usize = 5_000;

/// How many losses are told one by one.
const TOLD: usize = 50;

/// What is rehearsed.
#[derive(Debug, Clone)]
pub struct Options {
    /// The index.
    pub rollout: &'static Rollout,
    /// How many items the table has at first.
    pub items: usize,
    /// What decides all that is random.
    pub seed: u64,
    /// How often the load is killed.
    pub kills: u32,
    /// This crate's program, which is the load.
    pub program: PathBuf,
    /// The template.
    pub template: PathBuf,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What is not as it should be: nothing, if all went well.
    pub lost: Vec<String>,
    /// How many loads were killed before they ended.
    pub kills: u32,
    /// How many items the last run of the load has written, as it says itself.
    pub written: u64,
    /// How many updates came second to another writer's and were done again.
    pub lost_races: u64,
    /// What others wrote meanwhile.
    pub others_wrote: u64,
    /// How fast the load is when nothing else happens.
    pub speed: Speed,
}

/// Rehearses. `report_line` hears of each step.
///
/// # Errors
///
/// What kept the rehearsal itself from going on. What was lost is in the outcome.
pub async fn run(options: &Options, report_line: impl FnMut(String)) -> Result<Outcome, Failure> {
    if options.items < 200 {
        return Err("a rehearsal needs 200 items at least".into());
    }
    let subject = Subject::of(options.rollout)?;
    let mut rng = Rng::with_seed(options.seed);
    let system = Arc::new(System::serve(Template::load(&options.template)?, options.rollout).await?);
    let (mut fine, mut faulty) = subject.old(&mut rng, options.items);
    for item in fine.iter_mut().chain(&mut faulty) {
        // One that no index can hold is left without a key.
        let _impossible = give_keys(&system.done(), &Stages::default(), item);
    }
    let table = options.rollout.table.name;
    system.import(table, &fine)?;
    system.import(table, &faulty)?;
    let measured: Vec<Item> = fine.iter().take(MEASURED.min(options.items / 5)).cloned().collect();
    let questions = subject.questions(&mut rng, options.items);
    let mut rehearsal = Rehearsal {
        subject,
        questions,
        writers: Writers::new(subject, system.clone(), options.items, fine, faulty, &mut rng),
        system,
        stage: Stage::None,
        answers: Vec::new(),
        rng,
        began: Instant::now(),
        outcome: Outcome::default(),
        report_line,
    };
    rehearsal.all(options, &measured).await?;
    Ok(rehearsal.outcome)
}

struct Rehearsal<L> {
    subject: Subject,
    questions: Vec<Asked>,
    writers: Writers,
    system: Arc<System>,
    stage: Stage,
    /// What the list answered last, page by page.
    answers: Vec<Value>,
    rng: Rng,
    began: Instant,
    outcome: Outcome,
    report_line: L,
}

impl<L: FnMut(String)> Rehearsal<L> {
    fn say(&mut self, what: &str) {
        let line = format!("{:>6.1} s  {what}", self.began.elapsed().as_secs_f64());
        (self.report_line)(line);
    }

    fn lose(&mut self, what: String) {
        self.outcome.lost.push(what);
    }

    async fn all(&mut self, options: &Options, measured: &[Item]) -> Result<(), Failure> {
        let rollout = self.subject.rollout;
        let (items, cannot) = (grouped(options.items as u64), self.writers.faulty.live.len());
        self.say(&format!(
            "{}: {items} old items of {}, {cannot} of them such as {} cannot hold; seed {}",
            rollout.name, rollout.table.name, rollout.index.name, options.seed
        ));
        self.ask(false).await?;
        self.move_to(Stage::Create).await?;
        self.write_a_while(Duration::from_millis(500)).await?;
        self.move_to(Stage::Write).await?;
        self.write_a_while(Duration::from_millis(1500)).await?;
        self.move_to(Stage::Backfill).await?;
        self.load(options).await?;
        self.ask(false).await?;
        self.compare_items()?;
        let report = self.report().await?;
        self.expect_report(&report);
        self.mend()?;
        self.ask(false).await?;
        self.verify().await?;
        self.move_to(Stage::Read).await?;
        self.write_a_while(Duration::from_millis(500)).await?;
        self.compare_items()?;
        self.verify().await?;
        let counts = self.writers.counts();
        self.outcome.others_wrote = counts.created + counts.rekeyed + counts.marked + counts.deleted;
        self.say(&format!(
            "others created {}, rekeyed {}, changed {} and deleted {} items meanwhile",
            grouped(counts.created),
            grouped(counts.rekeyed),
            grouped(counts.marked),
            grouped(counts.deleted)
        ));
        let speed = loads::speed(&self.system, self.subject, measured).await?;
        self.outcome.speed = speed;
        self.say(&format!(
            "speed over {} items with nothing else going on: load {:.0} items/s; the same updates in a bare loop \
             {:.0}, ratio {:.2}; those without their conditions {:.0}, ratio {:.2}",
            grouped(measured.len() as u64),
            speed.load,
            speed.bare,
            speed.load / speed.bare,
            speed.unconditional,
            speed.load / speed.unconditional,
        ));
        self.say_lost();
        Ok(())
    }

    fn say_lost(&mut self) {
        if self.outcome.lost.is_empty() {
            self.say("lost: nothing");
            return;
        }
        let lost = self.outcome.lost.clone();
        self.say(&format!("lost: {}", grouped(lost.len() as u64)));
        for what in lost.iter().take(TOLD) {
            self.say(&format!("  {what}"));
        }
    }

    /// Deploys a stage, and sees that the list answers as before.
    async fn move_to(&mut self, stage: Stage) -> Result<(), Failure> {
        self.system.deploy(self.stage, stage)?;
        self.say(&format!("stage {} becomes {}", self.stage.as_str(), stage.as_str()));
        self.stage = stage;
        self.ask(true).await
    }

    /// Lets the others write, and takes down what the list answers after that.
    async fn write_a_while(&mut self, how_long: Duration) -> Result<(), Failure> {
        self.writers.start(self.stage)?;
        tokio::time::sleep(how_long).await;
        self.writers.stop().await?;
        self.ask(false).await
    }

    /// Asks the list every question, page by page, while nobody writes. What it answers must be what the
    /// ledger says, and what it answered before if nothing was written since.
    async fn ask(&mut self, as_before: bool) -> Result<(), Failure> {
        let began = Instant::now();
        let app = self.system.app(self.subject.list, self.stage)?;
        let (mut answers, mut problems) = (Vec::new(), Vec::new());
        let (mut pages, mut rows) = (0, 0);
        for asked in &self.questions {
            let expected: HashSet<&str> = self
                .writers
                .live()
                .filter(|(_, item)| asked.holds(item))
                .map(|(id, _)| id.as_str())
                .collect();
            let last = expected.len().div_ceil(LIMIT).max(1);
            let every = last <= ALL_PAGES;
            let numbers = if every { (1..=last).collect() } else { vec![1, last / 2, last] };
            let mut seen = HashSet::new();
            for page in numbers {
                let (status, body) = send(&app, &self.subject.page(asked, page, LIMIT)).await;
                let place = || format!("list of {asked}, page {page}, stage {}", self.stage.as_str());
                if status != 200 {
                    problems.push(format!("{}: {status} {body}", place()));
                    continue;
                }
                let answer: Value = serde_json::from_str(&body)?;
                if count(&answer, "total") != expected.len() as u64 {
                    problems.push(format!(
                        "{}: total {}, not {}",
                        place(),
                        count(&answer, "total"),
                        expected.len()
                    ));
                }
                for row in answer.get("items").and_then(Value::as_array).into_iter().flatten() {
                    let row = item::from_json(&row.to_string())?;
                    let id = id(&row);
                    if !expected.contains(id.as_str()) {
                        problems.push(format!("{}: {id} does not belong there", place()));
                    } else if self.writers.find(&id) != Some(&row) {
                        problems.push(format!("{}: {id} is not as it was written", place()));
                    }
                    rows += 1;
                    if !seen.insert(id.clone()) {
                        problems.push(format!("{}: {id} for the second time", place()));
                    }
                }
                pages += 1;
                answers.push(answer);
            }
            if every {
                let missing = expected.iter().filter(|id| !seen.contains(**id));
                problems
                    .extend(missing.map(|id| {
                        format!("list of {asked}, stage {}: {id} is missing", self.stage.as_str())
                    }));
            }
        }
        if as_before && answers != self.answers {
            let differing = answers.iter().zip(&self.answers).filter(|(now, before)| now != before).count();
            problems.push(format!(
                "list at stage {}: {differing} pages differ from those of the stage before",
                self.stage.as_str()
            ));
        }
        self.answers = answers;
        let compared = if as_before { "as at the stage before and as written" } else { "as written" };
        let verdict =
            if problems.is_empty() { compared.to_owned() } else { format!("{} PROBLEMS", problems.len()) };
        self.say(&format!(
            "list at stage {}: {pages} pages, {} items, {verdict} ({:.1} s)",
            self.stage.as_str(),
            grouped(rows),
            began.elapsed().as_secs_f64()
        ));
        self.outcome.lost.extend(problems);
        Ok(())
    }

    /// Loads, while others write, and kills the load.
    async fn load(&mut self, options: &Options) -> Result<(), Failure> {
        let system = self.system.clone();
        let loads = Loads { program: &options.program, system: &system, subject: self.subject };
        self.writers.start(self.stage)?;
        let (began, at_first) = (Instant::now(), system.entries()?);
        for at in 0..options.kills {
            let (resumed, before) = (loads.resumes_at()?, system.entries()?);
            let rate =
                (before > at_first).then(|| (before - at_first) as f64 / began.elapsed().as_secs_f64());
            let left = (options.items as u64).saturating_sub(before);
            let killed = loads.killed(&mut self.rng, left, rate, options.kills - at).await?;
            self.outcome.kills += u32::from(killed);
            let after = system.entries()?;
            self.say(&format!(
                "load {}: resumed after {} items read, {}; entries in the index {} -> {}",
                at + 1,
                grouped(resumed),
                if killed { "killed" } else { "ended by itself" },
                grouped(before),
                grouped(after)
            ));
        }
        let resumed = loads.resumes_at()?;
        let loaded = loads.whole().await?;
        let seconds = began.elapsed().as_secs_f64();
        let (read, written) = (count(&loaded, "read"), count(&loaded, "written"));
        self.outcome.written = written;
        self.outcome.lost_races = count(&loaded, "lostRaces");
        self.say(&format!(
            "last load: resumed after {} items read, done after {}: {} written, {} right already, {} deleted \
             meanwhile, {} lost races; {} processes, {seconds:.1} s in all, {:.0} items/s",
            grouped(resumed),
            grouped(read),
            grouped(written),
            grouped(count(&loaded, "right")),
            grouped(count(&loaded, "deleted")),
            grouped(self.outcome.lost_races),
            options.kills + 1,
            read as f64 / seconds
        ));
        let named = loaded.get("unindexable").map(|all| count(all, "count")).unwrap_or_default();
        let impossible = self.writers.faulty.live.len() as u64;
        self.say(&format!("the load counts {named} items that cannot be in the index, of {impossible}"));
        if named != impossible {
            self.lose(format!("the load counted {named} items that cannot be in the index, of {impossible}"));
        }
        let again = loads.whole().await?;
        let written = count(&again, "written");
        self.say(&format!(
            "one more load: {} read, {} written",
            grouped(count(&again, "read")),
            grouped(written)
        ));
        if written > 0 {
            self.lose(format!("a load that had nothing to do wrote {written} items"));
        }
        self.writers.stop().await
    }

    /// Holds every stored item to the ledger and to the rule by which keys are made.
    fn compare_items(&mut self) -> Result<(), Failure> {
        let rollout = self.subject.rollout;
        let (mut problems, mut seen, mut right) = (Vec::new(), HashSet::new(), 0_u64);
        for item in self.system.items(rollout.table.name)? {
            let id = id(&item);
            match judge(rollout, &item) {
                Verdict::Right => right += 1,
                // The one kind that only a write can tell.
                Verdict::Wrong(_) if self.writers.faulty.live.contains_key(&id) => {}
                Verdict::Wrong(_) => problems.push(format!("{id} has not its key of the index")),
                Verdict::Impossible { fix: None, .. } => {}
                Verdict::Impossible { .. } => {
                    problems.push(format!("{id} has a key that it should not have"));
                }
            }
            let shown = shown(self.subject, item);
            match self.writers.find(&id) {
                Some(known) if *known == shown => {}
                Some(_) => problems.push(format!("{id} is not as it was last written")),
                None if self.writers.was_deleted(&id) => {
                    problems.push(format!("{id} was deleted and is back"));
                }
                None => problems.push(format!("{id} was written by nobody")),
            }
            seen.insert(id);
        }
        let gone = self.writers.live().filter(|(id, _)| !seen.contains(*id));
        problems.extend(gone.map(|(id, _)| format!("{id} is gone")));
        let entries = self.system.entries()?;
        if entries != right {
            problems.push(format!("the index has {entries} entries for {right} items"));
        }
        self.say(&format!(
            "{} stored items: {} with their key, {} entries in the index, {}",
            grouped(seen.len() as u64),
            grouped(right),
            grouped(entries),
            if problems.is_empty() {
                "all as written".to_owned()
            } else {
                format!("{} PROBLEMS", problems.len())
            }
        ));
        self.outcome.lost.extend(problems);
        Ok(())
    }

    async fn report(&mut self) -> Result<Report, Failure> {
        let rollout = self.subject.rollout;
        let request = ReportRequest { index: rollout.name.to_owned(), segments: None };
        let stages = Stages::new(vec![(rollout.name, self.stage)]);
        let deadline = Instant::now() + Duration::from_secs(600);
        let db = self.system.db("")?;
        let report = report::run(rollout, &request, &stages, &db, deadline, &|_| {}).await;
        Ok(report.map_err(|error| told(&error))?)
    }

    /// Sees that a report names what would vanish, as long as there is such.
    fn expect_report(&mut self, report: &Report) {
        let unindexable = &report.unindexable;
        self.say(&format!(
            "report: {} cannot be in the index, {} would vanish, {} to load; {}",
            unindexable.count,
            unindexable.would_vanish,
            report.to_load,
            if report.verified { "safe to read" } else { "not safe to read" }
        ));
        if report.verified {
            self.lose("the report calls it safe while items would vanish from screens".to_owned());
        }
    }

    /// Does what the report asks for: mends what would vanish from screens, or deletes it.
    fn mend(&mut self) -> Result<(), Failure> {
        let (rollout, table) = (self.subject.rollout, self.subject.rollout.table);
        let (mut mended, mut deleted) = (0, 0);
        for item in self.system.items(table.name)? {
            let id = id(&item);
            let vanishes = match judge(rollout, &item) {
                Verdict::Wrong(_) => true,
                Verdict::Impossible { found, .. } => found,
                Verdict::Right => false,
            };
            if !vanishes || !self.writers.faulty.live.contains_key(&id) {
                continue;
            }
            match self
                .subject
                .mended(&mut self.rng, &item, self.writers.entities)
                .filter(|_| mended <= deleted)
            {
                Some(mut item) => {
                    let mut rollouts = self.system.done();
                    rollouts.push(rollout);
                    give_keys(&rollouts, &Stages::default(), &mut item).map_err(|error| told(&error))?;
                    self.system.put(&item)?;
                    self.writers.faulty.live.insert(id, shown(self.subject, item));
                    mended += 1;
                }
                None => {
                    self.system.delete(&kit::item::key_of(&table, &item))?;
                    self.writers.faulty.live.remove(&id);
                    self.writers.faulty.deleted.insert(id);
                    deleted += 1;
                }
            }
        }
        self.say(&format!("what would vanish is looked after: {mended} items mended, {deleted} deleted"));
        Ok(())
    }

    async fn verify(&mut self) -> Result<(), Failure> {
        let report = self.report().await?;
        self.say(&format!(
            "report: {} of {} items in the index, {} entries, {}",
            grouped(report.indexed),
            grouped(report.eligible),
            report.entries.map_or("unknown".to_owned(), grouped),
            if report.verified { "verified" } else { "NOT verified" }
        ));
        if !report.verified {
            let reasons = report.next.map(|next| next.reasons.join("; ")).unwrap_or_default();
            self.lose(format!("the report does not call the index verified: {reasons}"));
        }
        Ok(())
    }
}
