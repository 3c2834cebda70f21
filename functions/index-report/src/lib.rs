//! Tells what is in a new index, what is not and why, and whether the next stage is safe.

use kit::job::{Job, Work};
use tables::ROLLOUTS;

/// The job.
pub static JOB: Job = Job { name: "index-report", rollouts: ROLLOUTS, work: Work::Report };
