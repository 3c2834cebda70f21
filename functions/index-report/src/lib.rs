//! Tells what is in a new index, what is not and why, and whether the next stage is safe.

use kit::job::Job;
use tables::ROLLOUTS;

/// The job.
pub static JOB: Job = Job::report("index-report", ROLLOUTS);
