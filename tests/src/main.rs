//! The one integration-test binary: an event in, an answer out, on the embedded DynamoDB.
//!
//! `world` is the stage: the emulator behind the SDK's own connector, with the tables of template.yaml
//! and no more rights than the template grants. Modules named after functions hold what is particular to
//! one; the others hold rules over all of them.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::needless_pass_by_value,
    reason = "a test that cannot go on fails, and says where; values are written where they are used"
)]

mod asking;
mod declared;
mod event;
mod registry;
mod world;

mod agreement;
mod batches;
mod binaries;
mod cart;
mod coverage;
mod cursor;
mod dashboard;
mod events;
mod faults;
mod identity;
mod isolation;
mod keys;
mod layers;
mod load;
mod log;
mod months;
mod order_create;
mod orders;
mod paging;
mod parameters;
mod products;
mod release;
mod rollout;
mod state_machine;
