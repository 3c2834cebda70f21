//! Contracts, each with the entity that it is about.

use kit::key::{Derived, INDEX_ONLY, Index, Key, Rollout, SCHEMA_VERSION, TENANT, Table, composite};

/// The contracts of an entity by the instant they were created.
pub const BY_ENTITY: Index =
    Index::new("entityLookupKey-createdAt-index", Key::pair(ENTITY_LOOKUP_KEY, "createdAt"));

const ENTITY_LOOKUP_KEY: &str = "entityLookupKey";

/// Where a contract holds its entity.
pub const ENTITY: &str = "entity";

/// The table.
pub const TABLE: Table = Table {
    unlisted: &[ENTITY_LOOKUP_KEY, SCHEMA_VERSION, INDEX_ONLY],
    ..Table::new("Contract", Key::single("id"), &[BY_ENTITY])
};

/// Contracts of an entity are given an index; before that, the table was scanned for them.
pub static ROLLOUT: Rollout = Rollout {
    name: "contract-by-entity",
    table: TABLE,
    index: BY_ENTITY,
    derived: &[Derived {
        attribute: ENTITY_LOOKUP_KEY,
        from: &[TENANT, ENTITY],
        value: composite,
        may_be_stored: false,
    }],
    found_by: &[TENANT, ENTITY],
    schema_version: 1,
};
