//! Gives the items that are stored already the key of a new index.

use kit::job::{Job, Work};
use tables::{ROLLOUTS, maintenance};

/// The job.
pub static JOB: Job = Job { name: "backfill", rollouts: ROLLOUTS, work: Work::Load(maintenance::TABLE) };
