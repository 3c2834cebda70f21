//! Products: what a tenant sells.
//!
//! A product is stored under its tenant and its id, whoever writes it, and has no index.

use kit::key::{Key, Table};

/// The table.
pub const TABLE: Table = Table::new("Product", Key::pair("tenant", "id"), &[]);
