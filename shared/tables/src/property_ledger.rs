//! The ledger of properties and units: what was earned and spent on each.

use kit::key::{Index, Key, Table};

/// The entries of one property by day. Its partition is `tenant#propertyId`.
pub const BY_PROPERTY: Index =
    Index::new("propertyLookupKey-entryDate-index", Key::pair("propertyLookupKey", "entryDate"));

/// The entries of one unit by day. Its partition is `tenant#unitId`.
pub const BY_UNIT: Index =
    Index::new("unitLookupKey-entryDate-index", Key::pair("unitLookupKey", "entryDate"));

/// The table.
pub const TABLE: Table = Table::new("PropertyLedger", Key::pair("tenant", "id"), &[BY_PROPERTY, BY_UNIT]);
