//! What lists cost: read units, time, memory. Never deployed.
//!
//! Lists run here as they do on Lambda, from an event of API Gateway to an answer, on the embedded DynamoDB
//! with the tables of template.yaml and rows that are made up.

pub mod asking;
pub mod bench;
pub mod capacity;
pub mod chart;
pub mod emulator;
pub mod lists;
pub mod report;
pub mod rows;

/// Why something could not be measured, in words for the person who started it.
pub type Failure = Box<dyn std::error::Error + Send + Sync>;
