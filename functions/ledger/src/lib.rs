//! The ledger of a property or of a unit, oldest first.

use kit::list::{Answer, Days, Direction, List, Order, Partition, Question, Read, Sort};
use tables::property_ledger::{BY_PROPERTY, BY_UNIT, TABLE};

/// `GET /ledger`.
pub static LIST: List = List::new(
    "ledger",
    "/ledger",
    TABLE,
    &[
        Question {
            name: "ledger-of-a-property",
            read: Read::Index(BY_PROPERTY),
            partition: Partition::TenantAnd("propertyId"),
            sort: Sort::Days(Days::Dates),
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
        Question {
            name: "ledger-of-a-unit",
            read: Read::Index(BY_UNIT),
            partition: Partition::TenantAnd("unitId"),
            sort: Sort::Days(Days::Dates),
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
    ],
    Answer::Cursor { reversible: true },
);
