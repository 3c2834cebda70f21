//! Sales orders.
//!
//! No index has a short projection: lists answer whole orders, so a short one would cost a second
//! read for each row. Measured capacity decides when that changes.

use kit::key::{Derived, INDEX_ONLY, Index, Key, KeyFault, Rollout, SCHEMA_VERSION, Table};

/// All orders of a tenant by the instant they were created.
pub const BY_CREATED_AT: Index = Index::new("tenant-createdAt-index", Key::pair("tenant", "createdAt"));

/// The orders of a tenant in one payment status.
pub const BY_STATUS: Index = Index::new("tenant-status-index", Key::pair("tenant", "status"));

/// The orders of a tenant in one fulfilment status.
pub const BY_ORDER_STATUS: Index = Index::new("tenant-orderStatus-index", Key::pair("tenant", "orderStatus"));

/// The orders of a customer.
pub const BY_CUSTOMER: Index = Index::new("tenant-customerId-index", Key::pair("tenant", CUSTOMER_ID));

/// Where an order holds the id of its customer once more, for the index.
const CUSTOMER_ID: &str = "customerId";

/// Where an order holds the id of its customer.
pub const CUSTOMER: &str = "customer.id";

/// The table.
pub const TABLE: Table = Table {
    unlisted: &[CUSTOMER_ID, SCHEMA_VERSION, INDEX_ONLY],
    ..Table::new(
        "SalesOrder",
        Key::pair("tenant", "id"),
        &[BY_CREATED_AT, BY_STATUS, BY_ORDER_STATUS, BY_CUSTOMER],
    )
};

/// Orders of a customer are given an index; before that, all orders of the tenant were read for them.
pub static CUSTOMER_ROLLOUT: Rollout = Rollout {
    name: "orders-by-customer",
    table: TABLE,
    index: BY_CUSTOMER,
    derived: &[Derived {
        attribute: CUSTOMER_ID,
        from: &[CUSTOMER],
        value: |texts| texts.first().map(|id| (*id).to_owned()).ok_or(KeyFault::Missing),
        may_be_stored: false,
    }],
    found_by: &[CUSTOMER],
    schema_version: 1,
};
