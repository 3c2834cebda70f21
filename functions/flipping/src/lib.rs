//! The flippings of a project, oldest first.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::flipping::{BY_PROJECT, TABLE};

/// `GET /flippings`.
pub static LIST: List = List::new(
    "flipping",
    "/flippings",
    TABLE,
    &[Question {
        name: "flippings-of-a-project",
        read: Read::Index(BY_PROJECT),
        partition: Partition::TenantAnd("projectId"),
        sort: Sort::Days(Days::Instants),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::All,
);
