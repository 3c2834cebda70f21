//! The contracts of an entity, newest first.

use kit::list::{
    Answer, Direction, Filter, FilterPart, List, OldPath, Order, Partition, Question, Read, Sort,
};
use tables::contract::{BY_ENTITY, ENTITY, ROLLOUT, TABLE};

/// `GET /contracts`.
pub static LIST: List = List::new(
    "contract",
    "/contracts",
    TABLE,
    &[Question {
        name: "contracts-of-an-entity",
        read: Read::Index(BY_ENTITY),
        partition: Partition::TenantAnd("entity"),
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Descending),
        until: Some(OldPath {
            rollout: &ROLLOUT,
            scan: true,
            keep: &[Filter { attribute: ENTITY, parameter: "entity", part: FilterPart::Whole }],
        }),
    }],
    Answer::Page,
);
