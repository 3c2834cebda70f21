//! The payments of a tenant, and those of one order.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::payment::{BY_ORDER, TABLE};

/// `GET /payments`.
pub static LIST: List = List::new(
    "payment",
    "/payments",
    TABLE,
    &[
        Question {
            name: "payments",
            read: Read::Table,
            partition: Partition::Tenant,
            sort: Sort::All,
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
        Question {
            name: "payments-of-an-order",
            read: Read::Index(BY_ORDER),
            partition: Partition::Tenant,
            sort: Sort::Equals("orderId"),
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
    ],
    Answer::Page,
);
