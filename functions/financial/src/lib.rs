//! The financial entries of a unit, by the day they are due.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::financial_entry::{BY_UNIT, TABLE};

/// `GET /financial-entries`.
pub static LIST: List = List::new(
    "financial",
    "/financial-entries",
    TABLE,
    &[Question {
        name: "financial-entries-of-a-unit",
        read: Read::Index(BY_UNIT),
        partition: Partition::TenantAnd("unitId"),
        sort: Sort::Days(Days::Dates),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::All,
);
