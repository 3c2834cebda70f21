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

    /// The methods and paths it is served at. Of a list, the first is the list and the second, if there
    /// is one, its item.
    #[must_use]
    pub fn routes(self) -> Vec<(Method, &'static str)> {
        match self {
            Self::List(list) => {
                let paths = std::iter::once(list.path()).chain(list.item_path());
                paths.map(|path| (Method::Get, path)).collect()
            }
            Self::Operation(operation) => {
                operation.routes.iter().map(|route| (route.method, route.path)).collect()
            }
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
