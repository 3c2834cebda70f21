//! The products of a tenant, and one by its id.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::product::TABLE;

/// `GET /products` and `GET /products/{id}`.
pub static LIST: List = List::new(
    "product",
    "/products",
    TABLE,
    &[Question {
        name: "products",
        read: Read::Table,
        partition: Partition::Tenant,
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
)
.with_item("/products/{id}");
