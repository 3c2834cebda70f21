//! Movements of stock: what came in and went out.

use kit::key::{Index, Key, Table};

/// The movements of one product.
pub const BY_PRODUCT: Index = Index::new("tenant-productId-index", Key::pair("tenant", "productId"));

/// The table.
pub const TABLE: Table = Table::new("Movement", Key::pair("tenant", "id"), &[BY_PRODUCT]);
