//! Those who write while an index is rolled out, and what they know must be true of it in the end.
//!
//! Each writer has items of its own, so that what it knows of them is what is stored, whoever else writes.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use fastrand::Rng;
use kit::app::App;
use kit::item::{self, AttributeValue, Item, key_of};
use kit::key::SCHEMA_VERSION;
use kit::rollout::{Stage, derive};
use tokio::task::JoinSet;

use super::Failure;
use super::subject::{MARK, Subject, n, set, text};
use super::system::{System, send};

/// How many write at the same time.
const WRITERS: usize = 4;

/// How long a writer rests between two writes, at most: others work on the same machine.
const REST: Duration = Duration::from_millis(8);

/// What must be true: every live item as lists show it, by its id, and the ids of what was deleted.
#[derive(Debug, Default)]
pub struct Ledger {
    pub live: HashMap<String, Item>,
    pub deleted: HashSet<String>,
}

/// A writer with the items that it alone writes.
struct Writer {
    rng: Rng,
    ledger: Ledger,
    /// The ids of its live items, to draw from.
    ids: Vec<String>,
    counts: Counts,
}

/// What writers did.
#[derive(Debug, Default, Clone, Copy)]
pub struct Counts {
    pub created: u64,
    pub rekeyed: u64,
    pub marked: u64,
    pub deleted: u64,
}

/// All writers. They rest unless they are told to write, and only then is known what they know.
pub struct Writers {
    subject: Subject,
    system: Arc<System>,
    pub entities: usize,
    /// The number of the next item that is created.
    next: Arc<AtomicUsize>,
    resting: Vec<Writer>,
    working: JoinSet<Result<Writer, Failure>>,
    stop: Arc<AtomicBool>,
    /// The items that nobody writes, since no index can hold them.
    pub faulty: Ledger,
}

impl Writers {
    /// Writers of these items.
    pub fn new(
        subject: Subject,
        system: Arc<System>,
        items: usize,
        fine: Vec<Item>,
        faulty: Vec<Item>,
        rng: &mut Rng,
    ) -> Self {
        let mut resting: Vec<Writer> = (0..WRITERS)
            .map(|_| Writer {
                rng: rng.fork(),
                ledger: Ledger::default(),
                ids: Vec::new(),
                counts: Counts::default(),
            })
            .collect();
        for (at, item) in fine.into_iter().enumerate() {
            if let Some(writer) = resting.get_mut(at % WRITERS) {
                writer.learn(subject, item);
            }
        }
        let mut others = Ledger::default();
        others.live.extend(faulty.into_iter().map(|item| (id(&item), shown(subject, item))));
        Self {
            subject,
            system,
            entities: Subject::entities(items),
            next: Arc::new(AtomicUsize::new(items)),
            resting,
            working: JoinSet::new(),
            stop: Arc::default(),
            faulty: others,
        }
    }

    /// Lets all of them write as functions do at a stage.
    pub fn start(&mut self, stage: Stage) -> Result<(), Failure> {
        self.stop = Arc::default();
        for writer in std::mem::take(&mut self.resting) {
            let app = self.system.app(self.subject.save, stage)?;
            let (subject, system, entities) = (self.subject, self.system.clone(), self.entities);
            let (next, stop) = (self.next.clone(), self.stop.clone());
            self.working.spawn(async move {
                let mut writer = writer;
                let keyed = stage >= Stage::Write;
                while !stop.load(Ordering::Relaxed) {
                    writer.write(subject, &system, &app, keyed, entities, &next).await?;
                    tokio::time::sleep(REST.mul_f64(writer.rng.f64())).await;
                }
                Ok(writer)
            });
        }
        Ok(())
    }

    /// Waits until none of them writes.
    pub async fn stop(&mut self) -> Result<(), Failure> {
        self.stop.store(true, Ordering::Relaxed);
        while let Some(ended) = self.working.join_next().await {
            self.resting.push(ended??);
        }
        Ok(())
    }

    /// What they did so far.
    pub fn counts(&self) -> Counts {
        self.resting.iter().fold(Counts::default(), |all, writer| Counts {
            created: all.created + writer.counts.created,
            rekeyed: all.rekeyed + writer.counts.rekeyed,
            marked: all.marked + writer.counts.marked,
            deleted: all.deleted + writer.counts.deleted,
        })
    }

    /// Every live item as lists show it.
    pub fn live(&self) -> impl Iterator<Item = (&String, &Item)> {
        self.resting.iter().map(|writer| &writer.ledger).chain([&self.faulty]).flat_map(|ledger| &ledger.live)
    }

    /// A live item.
    pub fn find(&self, id: &str) -> Option<&Item> {
        self.resting
            .iter()
            .map(|writer| &writer.ledger)
            .chain([&self.faulty])
            .find_map(|ledger| ledger.live.get(id))
    }

    /// Whether an item was deleted.
    pub fn was_deleted(&self, id: &str) -> bool {
        self.resting
            .iter()
            .map(|writer| &writer.ledger)
            .chain([&self.faulty])
            .any(|ledger| ledger.deleted.contains(id))
    }
}

/// The id of an item.
pub fn id(item: &Item) -> String {
    text(item, "id").unwrap_or_default().to_owned()
}

/// An item as lists show it.
pub fn shown(subject: Subject, item: Item) -> Item {
    item::listed(item, subject.rollout.table.unlisted)
}

impl Writer {
    fn learn(&mut self, subject: Subject, item: Item) {
        let id = id(&item);
        self.ids.push(id.clone());
        self.ledger.live.insert(id, shown(subject, item));
    }

    /// One write.
    async fn write(
        &mut self,
        subject: Subject,
        system: &System,
        app: &App,
        keyed: bool,
        entities: usize,
        next: &AtomicUsize,
    ) -> Result<(), Failure> {
        let what = self.rng.u8(..10);
        if what < 2 || self.ids.is_empty() {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let item = subject.new_item(&mut self.rng, number, entities);
            let saved = save(subject, app, &item).await?;
            self.learn(subject, saved);
            self.counts.created += 1;
            return Ok(());
        }
        let at = self.rng.usize(..self.ids.len());
        let Some(mut item) = self.ids.get(at).and_then(|id| self.ledger.live.get(id)).cloned() else {
            return Err("a writer has lost sight of its own item".into());
        };
        let stored_key = key_of(&subject.rollout.table, &item);
        if what < 4 {
            system.delete(&stored_key)?;
            let id = self.ids.swap_remove(at);
            self.ledger.live.remove(&id);
            self.ledger.deleted.insert(id);
            self.counts.deleted += 1;
            return Ok(());
        }
        let mark = n(self.rng.usize(1..1_000_000));
        let mut changes: Vec<(&str, AttributeValue)> = vec![(MARK, mark.clone())];
        set(&mut item, MARK, mark);
        if let Some(change) = subject.change.filter(|_| what < 8) {
            let (name, value) = change(&mut self.rng, entities);
            set(&mut item, name, value.clone());
            changes.push((name, value));
            self.counts.rekeyed += 1;
            // An operation that saves under an id saves what is there already, too.
            let saves_whole = subject.save.routes.first().is_some_and(|route| route.path.contains("{id}"));
            if saves_whole && self.rng.bool() {
                let saved = save(subject, app, &item).await?;
                self.ledger.live.insert(id(&saved), shown(subject, saved));
                return Ok(());
            }
            if keyed {
                let derived = derive(subject.rollout, &item).map_err(|obstacle| obstacle.to_string())?;
                changes.extend(derived.into_iter().map(|(name, value)| (name, AttributeValue::S(value))));
                let version = usize::try_from(subject.rollout.schema_version).unwrap_or_default();
                changes.push((SCHEMA_VERSION, n(version)));
            }
        } else {
            self.counts.marked += 1;
        }
        if !system.update(&stored_key, &changes)? {
            // It is missing in the end as well, and is told then.
            return Ok(());
        }
        self.ledger.live.insert(id(&item), item);
        Ok(())
    }
}

/// Has an operation save an item. Gives it as it was saved.
async fn save(subject: Subject, app: &App, item: &Item) -> Result<Item, Failure> {
    let (status, body) = send(app, &subject.saving(item)?).await;
    if !matches!(status, 200 | 201) {
        return Err(format!("{} answered {status}: {body}", subject.save.name).into());
    }
    Ok(item::from_json(&body)?)
}
