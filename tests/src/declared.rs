//! Lists declared for the tests alone: answers and questions that the kit offers and that no deployed
//! list asks for yet.

use kit::key::{Index, Key, Table};
use kit::list::{Answer, Days, Direction, Filter, FilterPart, List, Order, Partition, Question, Read, Sort};

const BY_DAY: Index = Index::new("tenant-day-index", Key::pair("tenant", "day"));
const BY_ROOM: Index = Index::new("roomLookupKey-day-index", Key::pair("roomLookupKey", "day"));

/// Visits to rooms. The attribute `mark` stands for one that a rollout adds.
pub const VISIT: Table =
    Table { unlisted: &["mark"], ..Table::new("Visit", Key::pair("tenant", "id"), &[BY_DAY, BY_ROOM]) };

const OF_A_PERIOD: Question = Question {
    name: "visits-of-a-period",
    read: Read::Index(BY_DAY),
    partition: Partition::Tenant,
    sort: Sort::Days(Days::Dates),
    filter: None,
    order: Order::Key(Direction::Ascending),
    until: None,
};

const OF_A_ROOM: Question = Question {
    name: "visits-to-a-room",
    read: Read::Index(BY_ROOM),
    partition: Partition::TenantAnd("roomId"),
    sort: Sort::Days(Days::Dates),
    filter: None,
    order: Order::Key(Direction::Ascending),
    until: None,
};

const OF_A_KIND: Question = Question {
    name: "visits-of-a-kind",
    filter: Some(Filter { attribute: "detail.kind", parameter: "kind", part: FilterPart::Whole }),
    sort: Sort::All,
    ..OF_A_PERIOD
};

/// A list by cursor, which may be turned round.
pub static VISITS: List = List::new(
    "visits",
    "/visits",
    VISIT,
    &[OF_A_PERIOD, OF_A_ROOM, OF_A_KIND],
    Answer::Cursor { reversible: true },
);

/// The same questions at another list: its cursors are not those of `VISITS`.
pub static VISITS_AGAIN: List = List::new(
    "visits-again",
    "/visits-again",
    VISIT,
    &[OF_A_PERIOD, OF_A_ROOM, OF_A_KIND],
    Answer::Cursor { reversible: true },
);

/// The same questions by page.
pub static VISIT_PAGES: List =
    List::new("visit-pages", "/visit-pages", VISIT, &[OF_A_PERIOD, OF_A_ROOM, OF_A_KIND], Answer::Page);

/// Whole collections.
pub static VISIT_COLLECTIONS: List =
    List::new("visit-collections", "/visit-collections", VISIT, &[OF_A_ROOM], Answer::All);

/// All of them.
pub static LISTS: [&List; 4] = [&VISITS, &VISITS_AGAIN, &VISIT_PAGES, &VISIT_COLLECTIONS];
