//! Stock: how much of a product there is. One item for each product.

use kit::key::{Key, Table};

/// The table.
pub const TABLE: Table = Table::new("Stock", Key::pair("tenant", "productId"), &[]);
