//! How far maintenance jobs are. Nothing here is a customer's.

use kit::key::{Key, Table};

/// The table: one item for a job as a whole, and one for each part of it.
pub const TABLE: Table = Table::new("Maintenance", Key::pair("job", "part"), &[]);
