//! What is stored: every table, its key, its indexes.
//!
//! One module for each table. Attribute and index names are those of the running system, to the
//! letter. This crate takes only the key types from the kit: it knows no HTTP and no SDK client.

pub mod cart;
pub mod counter;
pub mod sales_order;

use kit::key::Table;

/// Every table, for the tests that hold them to the template.
pub const ALL: &[Table] = &[cart::TABLE, counter::TABLE, sales_order::TABLE];
