//! Financial entries of units: what is due, and when.

use kit::key::{Index, Key, Table};

/// The entries of one unit by the day they are due. Its partition is `tenant#unitId`.
///
/// No short projection: lists answer whole entries. Measured capacity decides when that changes.
pub const BY_UNIT: Index = Index::new("unitLookupKey-index", Key::pair("unitLookupKey", "dueDate"));

/// The table.
pub const TABLE: Table = Table::new("FinancialEntry", Key::pair("tenant", "id"), &[BY_UNIT]);
