//! The prices of a product.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::price::{BY_PRODUCT, TABLE};

/// `GET /products/{productId}/prices`.
pub static LIST: List = List::new(
    "price",
    "/products/{productId}/prices",
    TABLE,
    &[Question {
        name: "prices-of-a-product",
        read: Read::Index(BY_PRODUCT),
        partition: Partition::Tenant,
        sort: Sort::Equals("productId"),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
);
