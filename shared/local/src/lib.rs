//! The local stack: what `template.yaml` deploys, on one machine and in tests. Never deployed itself.
//!
//! [`template`] reads the template, [`database`] is the embedded DynamoDB with its tables, [`sample`]
//! fills them. The program of this package starts all of it: [`watch`] sets the functions behind
//! their routes, [`requests`] says what to ask them, and [`family`] ends them once an [`interrupt`] comes.

pub mod database;
pub mod family;
pub mod interrupt;
pub mod requests;
pub mod sample;
pub mod template;
pub mod watch;
