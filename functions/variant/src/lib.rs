//! The variants of a product.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::variant::{BY_PRODUCT, TABLE};

/// `GET /products/{productId}/variants`.
pub static LIST: List = List::new(
    "variant",
    "/products/{productId}/variants",
    TABLE,
    &[Question {
        name: "variants-of-a-product",
        read: Read::Index(BY_PRODUCT),
        partition: Partition::Tenant,
        sort: Sort::Equals("productId"),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
);
