//! What a product is made of.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::bom::{BY_PRODUCT, TABLE};

/// `GET /products/{productId}/bom`.
pub static LIST: List = List::new(
    "bom",
    "/products/{productId}/bom",
    TABLE,
    &[Question {
        name: "parts-of-a-product",
        read: Read::Index(BY_PRODUCT),
        partition: Partition::Tenant,
        sort: Sort::Equals("productId"),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
);
