//! Payments of orders.

use kit::key::{Index, Key, Table};

/// Those of one order.
pub const BY_ORDER: Index = Index::new("tenant-orderId-index", Key::pair("tenant", "orderId"));

/// The table.
pub const TABLE: Table = Table::new("Payment", Key::pair("tenant", "id"), &[BY_ORDER]);
