//! The deliveries of a tenant, and those of one order.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::delivery::{BY_ORDER, TABLE};

/// `GET /deliveries`.
pub static LIST: List = List::new(
    "delivery",
    "/deliveries",
    TABLE,
    &[
        Question {
            name: "deliveries",
            read: Read::Table,
            partition: Partition::Tenant,
            sort: Sort::All,
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
        Question {
            name: "deliveries-of-an-order",
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
