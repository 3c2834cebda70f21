//! Sales orders.
//!
//! No index has a short projection: lists answer whole orders, so a short one would cost a second
//! read for each row. Measured capacity decides when that changes.

use kit::key::{Index, Key, Table};

/// All orders of a tenant by the instant they were created.
pub const BY_CREATED_AT: Index = Index::new("tenant-createdAt-index", Key::pair("tenant", "createdAt"));

/// The orders of a tenant in one payment status.
pub const BY_STATUS: Index = Index::new("tenant-status-index", Key::pair("tenant", "status"));

/// The orders of a tenant in one fulfilment status.
pub const BY_ORDER_STATUS: Index = Index::new("tenant-orderStatus-index", Key::pair("tenant", "orderStatus"));

/// Where an order holds the id of its customer.
pub const CUSTOMER_ID: &str = "customer.id";

/// The table.
pub const TABLE: Table =
    Table::new("SalesOrder", Key::pair("tenant", "id"), &[BY_CREATED_AT, BY_STATUS, BY_ORDER_STATUS]);
