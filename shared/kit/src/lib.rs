//! How a list works: from an event of API Gateway to an answer read from DynamoDB by key.
//!
//! The kit knows no table. A function declares its list ([`list::List`]) or its operation
//! ([`operation::Operation`]) as a constant, and its `main` is [`run`].
//!
//! Most of the kit is pure: [`request`] reads an event, [`plan`] turns a question into a query,
//! [`cursor`] seals a place, [`row`] writes JSON, [`http`] shapes the answer. One module talks to
//! DynamoDB ([`dynamo`]), one reads the environment ([`config`]).

pub mod answer;
pub mod app;
pub mod body;
pub mod config;
pub mod cursor;
pub mod dates;
pub mod dynamo;
pub mod error;
pub mod expression;
pub mod function;
pub mod http;
pub mod id;
pub mod item;
pub mod job;
pub mod key;
pub mod list;
pub mod load;
pub mod observe;
pub mod operation;
pub mod plan;
pub mod report;
pub mod request;
pub mod rollout;
pub mod row;
pub mod save;
pub mod trust;

pub use app::run;
