//! What a binary serves: a list or an operation.

use crate::list::List;
use crate::operation::Operation;
use crate::request::Method;

/// What a binary serves.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// A list.
    List(&'static List),
    /// An operation.
    Operation(&'static Operation),
}

impl Function {
    /// The function's name: that of its folder, its package and its event folder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List(list) => list.name(),
            Self::Operation(operation) => operation.name,
        }
    }

    /// The method and the path it is served at.
    #[must_use]
    pub const fn route(self) -> (Method, &'static str) {
        match self {
            Self::List(list) => (Method::Get, list.path()),
            Self::Operation(operation) => (operation.method, operation.path),
        }
    }
}

impl From<&'static List> for Function {
    fn from(list: &'static List) -> Self {
        Self::List(list)
    }
}

impl From<&'static Operation> for Function {
    fn from(operation: &'static Operation) -> Self {
        Self::Operation(operation)
    }
}
