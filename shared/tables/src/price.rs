//! Prices of products.

use kit::key::{Index, Key, Table};

/// The prices of one product.
pub const BY_PRODUCT: Index = Index::new("tenant-productId-index", Key::pair("tenant", "productId"));

/// The table.
pub const TABLE: Table = Table::new("Price", Key::pair("tenant", "id"), &[BY_PRODUCT]);
