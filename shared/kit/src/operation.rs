//! How a function that is not a list is declared: its route, what it may do to which tables, and the
//! plain function that does it.

use std::pin::Pin;

use crate::dynamo::Session;
use crate::error::Error;
use crate::item::Item;
use crate::key::{Rollout, Table};
use crate::request::{Method, Request};
use crate::rollout::Stages;

/// A function that writes.
#[derive(Debug)]
pub struct Operation {
    /// Its name: that of its folder, its package and its event folder.
    pub name: &'static str,
    /// The indexes being rolled out whose keys it writes.
    pub rollouts: &'static [&'static Rollout],
    /// What it does where. Of two routes with one path, each has a method of its own.
    pub routes: &'static [Route],
}

/// One route of an operation.
#[derive(Debug)]
pub struct Route {
    /// The method it is called with.
    pub method: Method,
    /// The path it is served at. Placeholders are written `{name}`.
    pub path: &'static str,
    /// What it does to which tables. The template grants exactly this.
    pub access: &'static [Access],
    /// What it does.
    pub handle: Handle,
}

/// One thing that an operation does to a table, named as in the table's permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Reads one item by key.
    Get(Table),
    /// Puts whole items.
    Put(Table),
    /// Changes attributes of items.
    Update(Table),
    /// Deletes items.
    Delete(Table),
}

/// What an operation does with a request of one tenant, while its rollouts are at these stages.
pub type Handle = for<'a> fn(&'a Request, &'a str, &'a Stages, &'a mut Session<'_>) -> HandleFuture<'a>;

/// The future of a [`Handle`].
pub type HandleFuture<'a> = Pin<Box<dyn Future<Output = Result<Reply, Error>> + Send + 'a>>;

/// The answer of an operation that went well.
#[derive(Debug, Clone, PartialEq)]
pub enum Reply {
    /// The item was created.
    Created(Item),
    /// The item as it is now.
    Item(Item),
    /// It is done, and there is nothing to say.
    Done,
}
