//! The carts of a customer.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::cart::{BY_CUSTOMER, TABLE};

/// `GET /carts`.
pub static LIST: List = List::new(
    "cart",
    "/carts",
    TABLE,
    &[Question {
        name: "carts-of-a-customer",
        read: Read::Index(BY_CUSTOMER),
        partition: Partition::Tenant,
        sort: Sort::Equals("customerId"),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
);
