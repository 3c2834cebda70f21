//! Variants of products: sizes, colours.

use kit::key::{Index, Key, Table};

/// The variants of one product.
pub const BY_PRODUCT: Index = Index::new("tenant-productId-index", Key::pair("tenant", "productId"));

/// The table.
pub const TABLE: Table = Table::new("Variant", Key::pair("tenant", "id"), &[BY_PRODUCT]);
