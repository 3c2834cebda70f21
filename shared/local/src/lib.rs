//! The local stack: what `template.yaml` deploys, on one machine and in tests. Never deployed itself.
//!
//! [`template`] reads the template.

pub mod template;
