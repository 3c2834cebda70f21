//! What is stored: every table, its key, its indexes.
//!
//! One module for each table. Attribute and index names are those of the running system, to the
//! letter. This crate takes only the key types from the kit: it knows no HTTP and no SDK client.

pub mod bank_account;
pub mod bom;
pub mod budget;
pub mod cart;
pub mod cash_entry;
pub mod contract;
pub mod counter;
pub mod delivery;
pub mod financial_entry;
pub mod flipping;
pub mod maintenance;
pub mod movement;
pub mod payment;
pub mod person;
pub mod price;
pub mod product;
pub mod property_ledger;
pub mod sales_order;
pub mod shipment;
pub mod statement_entry;
pub mod stock;
pub mod variant;

use kit::key::{Rollout, Table};

/// Every table, for the tests that hold them to the template.
pub const ALL: &[Table] = &[
    bank_account::TABLE,
    bom::TABLE,
    budget::TABLE,
    cart::TABLE,
    cash_entry::TABLE,
    contract::TABLE,
    counter::TABLE,
    delivery::TABLE,
    financial_entry::TABLE,
    flipping::TABLE,
    maintenance::TABLE,
    movement::TABLE,
    payment::TABLE,
    person::TABLE,
    price::TABLE,
    product::TABLE,
    property_ledger::TABLE,
    sales_order::TABLE,
    shipment::TABLE,
    statement_entry::TABLE,
    stock::TABLE,
    variant::TABLE,
];

/// Every index that a running table is given.
pub static ROLLOUTS: &[&Rollout] = &[
    &sales_order::CUSTOMER_ROLLOUT,
    &person::BY_TENANT,
    &contract::ROLLOUT,
    &bank_account::ORGANIZATION_ROLLOUT,
    &bank_account::PROVIDER_ROLLOUT,
];
