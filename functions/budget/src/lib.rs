//! The budgets of a property, oldest first.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::budget::{BY_PROPERTY, TABLE};

/// `GET /budgets`.
pub static LIST: List = List::new(
    "budget",
    "/budgets",
    TABLE,
    &[Question {
        name: "budgets-of-a-property",
        read: Read::Index(BY_PROPERTY),
        partition: Partition::TenantAnd("propertyId"),
        sort: Sort::Days(Days::Instants),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::All,
);
