//! The people of a tenant, by name.

use kit::list::{Answer, Direction, List, OldPath, Order, Partition, Question, Read, Sort};
use tables::person::{BY_NAME, BY_TENANT, TABLE};

/// `GET /persons`.
pub static LIST: List = List::new(
    "person",
    "/persons",
    TABLE,
    &[Question {
        name: "people-by-name",
        read: Read::Index(BY_NAME),
        partition: Partition::Tenant,
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: Some(OldPath { rollout: &BY_TENANT, scan: true, keep: &[] }),
    }],
    Answer::Page,
);
