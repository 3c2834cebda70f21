//! The stock movements of a product.

use kit::list::{Answer, Direction, List, Order, Partition, Question, Read, Sort};
use tables::movement::{BY_PRODUCT, TABLE};

/// `GET /products/{productId}/movements`.
pub static LIST: List = List::new(
    "movement",
    "/products/{productId}/movements",
    TABLE,
    &[Question {
        name: "movements-of-a-product",
        read: Read::Index(BY_PRODUCT),
        partition: Partition::Tenant,
        sort: Sort::Equals("productId"),
        filter: None,
        order: Order::Key(Direction::Ascending),
        until: None,
    }],
    Answer::Page,
);
