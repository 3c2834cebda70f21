//! The operator's tool for a new index. Never deployed.
//!
//! [`connection`] reaches the database of an environment, [`text`] says in words what the kit's report and
//! load answer, [`samconfig`] and [`deployment`] tell what a deployment may not do, [`import`] is how a stack takes
//! over tables that exist, and [`rehearsal`] goes all the way from no index to one that lists read, on this machine
//! alone.

pub mod connection;
pub mod deployment;
pub mod import;
pub mod progress;
pub mod rehearsal;
pub mod samconfig;
pub mod text;
