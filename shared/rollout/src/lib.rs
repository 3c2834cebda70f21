//! The operator's tool for a new index. Never deployed.
//!
//! [`connection`] reaches the database of an environment, [`text`] says in words what the kit's report and
//! load answer, [`samconfig`] and [`deployment`] tell what a deployment may not do, and [`rehearsal`] goes
//! all the way from no index to one that lists read, on this machine alone.

pub mod connection;
pub mod deployment;
pub mod progress;
pub mod rehearsal;
pub mod samconfig;
pub mod text;
