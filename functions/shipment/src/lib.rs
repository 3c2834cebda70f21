//! The shipments of a tenant, and those of one order.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::shipment::{BY_ORDER, TABLE};

/// `GET /shipments`.
pub static LIST: List = List::new(
    "shipment",
    "/shipments",
    TABLE,
    &[
        Question {
            name: "shipments",
            read: Read::Table,
            partition: Partition::Tenant,
            sort: Sort::All,
            filter: None,
            order: Order::Key(Direction::Ascending),
            until: None,
        },
        Question {
            name: "shipments-of-an-order",
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
