//! The stock of a tenant, and that of one product.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::stock::TABLE;

/// `GET /stock` and `GET /stock/{productId}`.
pub static LIST: List = List::new(
    "stock",
    "/stock",
    TABLE,
    &[Question {
        name: "stock-levels",
        read: Read::Table,
        partition: Partition::Tenant,
        sort: Sort::All,
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
)
.with_item("/stock/{productId}");
