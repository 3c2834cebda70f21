//! Budgets of properties.

use kit::key::{Index, Key, Table};

/// The budgets of one property by the instant they were created. Its partition is `tenant#propertyId`.
pub const BY_PROPERTY: Index =
    Index::new("propertyLookupKey-index", Key::pair("propertyLookupKey", "createdAt"));

/// The table.
pub const TABLE: Table = Table::new("Budget", Key::pair("tenant", "id"), &[BY_PROPERTY]);
