//! The local stack: what `template.yaml` deploys, on one machine and in tests. Never deployed itself.
//!
//! [`template`] reads the template, [`database`] is the embedded DynamoDB with its tables, [`sample`]
//! fills them.

pub mod database;
pub mod sample;
pub mod template;
