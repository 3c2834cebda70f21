//! What a binary serves: a list, an operation, or a job.

use crate::job::Job;
use crate::key::Rollout;
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
    /// A job.
    Job(&'static Job),
}

impl Function {
    /// The function's name: that of its folder, its package and its event folder.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::List(list) => list.name(),
            Self::Operation(operation) => operation.name,
            Self::Job(job) => job.name(),
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
            Self::Job(_) => Vec::new(),
        }
    }

    /// The indexes being rolled out whose stage it has to know.
    #[must_use]
    pub fn rollouts(self) -> Vec<&'static Rollout> {
        match self {
            Self::List(list) => {
                list.questions().iter().filter_map(|question| Some(question.until?.rollout)).collect()
            }
            Self::Operation(operation) => operation.rollouts.to_vec(),
            Self::Job(job) => job.rollouts().to_vec(),
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

impl From<&'static Job> for Function {
    fn from(job: &'static Job) -> Self {
        Self::Job(job)
    }
}
