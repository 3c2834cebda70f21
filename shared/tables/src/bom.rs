//! Bills of materials: what a product is made of, one item for each part.

use kit::key::{Index, Key, Table};

/// The parts of one product.
pub const BY_PRODUCT: Index = Index::new("tenant-productId-index", Key::pair("tenant", "productId"));

/// The table.
pub const TABLE: Table = Table::new("Bom", Key::pair("tenant", "id"), &[BY_PRODUCT]);
