//! Counters: one item for each tenant and name, its attribute `value` the last number given out.

use kit::key::{Key, Table};

/// The `name` of the counter that numbers the orders of a tenant.
pub const ORDER_NUMBER: &str = "order";

/// The number attribute that holds the last number given out.
pub const VALUE: &str = "value";

/// The table.
pub const TABLE: Table = Table::new("Counter", Key::pair("tenant", "name"), &[]);
