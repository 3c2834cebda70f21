//! Flippings: properties bought, renewed and sold again, by project.

use kit::key::{Index, Key, Table};

/// The flippings of one project by the instant they were created. Its partition is `tenant#projectId`.
pub const BY_PROJECT: Index =
    Index::new("tenantProjectKey-index", Key::pair("tenantProjectKey", "createdAt"));

/// The table.
pub const TABLE: Table = Table::new("Flipping", Key::pair("tenant", "id"), &[BY_PROJECT]);
