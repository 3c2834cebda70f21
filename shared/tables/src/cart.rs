//! Carts: what a customer of a tenant is about to order.

use kit::key::{Index, Key, Table};

/// The carts of one customer.
pub const BY_CUSTOMER: Index = Index::new("tenant-customerId-index", Key::pair("tenant", "customerId"));

/// The table.
pub const TABLE: Table = Table::new("Cart", Key::pair("tenant", "id"), &[BY_CUSTOMER]);
