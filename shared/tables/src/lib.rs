//! What is stored: every table, its key, its indexes.
//!
//! One module for each table. Attribute and index names are those of the running system, to the
//! letter. This crate takes only the key types from the kit: it knows no HTTP and no SDK client.

pub mod bom;
pub mod budget;
pub mod cart;
pub mod cash_entry;
pub mod counter;
pub mod delivery;
pub mod financial_entry;
pub mod flipping;
pub mod movement;
pub mod payment;
pub mod price;
pub mod product;
pub mod property_ledger;
pub mod sales_order;
pub mod shipment;
pub mod statement_entry;
pub mod stock;
pub mod variant;

use kit::key::Table;

/// Every table, for the tests that hold them to the template.
pub const ALL: &[Table] = &[
    bom::TABLE,
    budget::TABLE,
    cart::TABLE,
    cash_entry::TABLE,
    counter::TABLE,
    delivery::TABLE,
    financial_entry::TABLE,
    flipping::TABLE,
    movement::TABLE,
    payment::TABLE,
    price::TABLE,
    product::TABLE,
    property_ledger::TABLE,
    sales_order::TABLE,
    shipment::TABLE,
    statement_entry::TABLE,
    stock::TABLE,
    variant::TABLE,
];
