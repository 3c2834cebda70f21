//! Gives the items that are stored already the key of a new index.

use kit::job::Job;
use tables::{ROLLOUTS, maintenance};

/// The job.
pub static JOB: Job = Job::load("backfill", ROLLOUTS, maintenance::TABLE);
