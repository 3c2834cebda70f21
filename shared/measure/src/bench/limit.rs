//! A part of a processor: a control group with a quota, which is how Lambda gives a function the part that
//! goes with its memory.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::Failure;

/// The time of which a group has its part, used up or not. Where a group has used its part, it waits for the
/// next. The kernel takes no quota under 1 ms, and the shorter the period, the closer a tenth of a processor is
/// to one of a tenth of the speed: with the kernel's default, 100 ms, a request of 10 ms would see no limit.
pub const PERIOD: Duration = Duration::from_millis(10);

/// What lists the file systems that are mounted.
const MOUNTS: &str = "/proc/mounts";

/// How a kind of control groups is told its limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Version 1: a hierarchy for each resource.
    One,
    /// Version 2: one hierarchy.
    Two,
}

/// Uses whatever it gets, until the process that has started it is gone.
const IDLER: &str = "while kill -0 $PPID; do :; done";

/// A group of processes that have a part of a processor together. The group goes with this value, once its
/// processes have ended.
///
/// Where the part is less than a processor, one of them does nothing with all of it that the others leave, and gives
/// way to them. So the part is used up at any time, as it is of a processor that is so much slower. Otherwise the
/// kernel would have the next request find a part that nobody has used, and one that needs less of it would see no limit.
pub struct Limit {
    folder: PathBuf,
    idler: Option<Child>,
}

impl Limit {
    /// A group that has so much of one processor, 1.0 being all of it.
    ///
    /// # Errors
    ///
    /// The machine has no control groups for the processor, or does not let this process make one.
    pub fn new(part: f64) -> Result<Self, Failure> {
        let mounts = fs::read_to_string(MOUNTS).map_err(|error| format!("{MOUNTS}: {error}"))?;
        let mut problem = "this machine has no control groups for the processor".into();
        for (mount, kind) in hierarchies(&mounts) {
            match Self::within(&mount, kind, part) {
                Ok(limit) => return Ok(limit),
                Err(other) => problem = other,
            }
        }
        Err(problem)
    }

    fn within(mount: &Path, kind: Kind, part: f64) -> Result<Self, Failure> {
        // By the number of the process, so that two runs do not limit each other.
        let folder = mount.join(format!("chaveiro-bench-{}-{}", std::process::id(), part * 100.0));
        fs::create_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut limit = Self { folder, idler: None };
        for (file, text) in settings(kind, PERIOD.mul_f64(part)) {
            limit.write(file, &text)?;
        }
        if part < 1.0 {
            let mut idler = Command::new("nice");
            idler.args(["-n", "19", "sh", "-c", IDLER]);
            idler.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
            let idler = limit.idler.insert(idler.spawn()?).id();
            limit.hold(idler)?;
        }
        Ok(limit)
    }

    /// Has a process in the group from now on, with all of its threads.
    ///
    /// # Errors
    ///
    /// The kernel does not take it.
    pub fn hold(&self, process: u32) -> Result<(), Failure> {
        self.write("cgroup.procs", &process.to_string())
    }

    fn write(&self, file: &str, text: &str) -> Result<(), Failure> {
        let path = self.folder.join(file);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()).into())
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        if let Some(idler) = &mut self.idler {
            // It may have ended by itself.
            let _ = idler.kill();
            let _ = idler.wait();
        }
        // An empty group does nothing, where it cannot be removed.
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Where groups are that may limit the processor, by the list of what is mounted.
fn hierarchies(mounts: &str) -> Vec<(PathBuf, Kind)> {
    let hierarchy = |line: &str| {
        let mut fields = line.split(' ').skip(1);
        let (mount, kind, options) = (fields.next()?, fields.next()?, fields.next()?);
        match kind {
            "cgroup" if options.split(',').any(|option| option == "cpu") => {
                Some((PathBuf::from(mount), Kind::One))
            }
            "cgroup2" => Some((PathBuf::from(mount), Kind::Two)),
            _ => None,
        }
    };
    mounts.lines().filter_map(hierarchy).collect()
}

/// The files that say a quota, and what is written to them.
fn settings(kind: Kind, quota: Duration) -> Vec<(&'static str, String)> {
    let (quota, period) = (quota.as_micros(), PERIOD.as_micros());
    match kind {
        Kind::One => vec![("cpu.cfs_period_us", period.to_string()), ("cpu.cfs_quota_us", quota.to_string())],
        Kind::Two => vec![("cpu.max", format!("{quota} {period}"))],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hierarchies_are_found_where_they_are_mounted() {
        let one = "\
tmpfs /sys/fs/cgroup tmpfs rw,mode=755 0 0
cgroup /sys/fs/cgroup/cpuset cgroup rw,cpuset 0 0
cgroup /sys/fs/cgroup/cpu,cpuacct cgroup rw,relatime,cpu,cpuacct 0 0
cgroup2 /sys/fs/cgroup/unified cgroup2 rw 0 0
";
        let found = hierarchies(one);
        assert_eq!(found[0], (PathBuf::from("/sys/fs/cgroup/cpu,cpuacct"), Kind::One));
        assert_eq!(found[1], (PathBuf::from("/sys/fs/cgroup/unified"), Kind::Two));
        assert_eq!(found.len(), 2);
        assert_eq!(hierarchies("proc /proc proc rw 0 0\n"), []);
    }

    #[test]
    fn a_quota_is_told_to_each_kind_in_its_way() {
        let tenth = PERIOD.mul_f64(0.1);
        let one = settings(Kind::One, tenth);
        assert_eq!(one, [("cpu.cfs_period_us", "10000".to_owned()), ("cpu.cfs_quota_us", "1000".to_owned())]);
        assert_eq!(settings(Kind::Two, tenth), [("cpu.max", "1000 10000".to_owned())]);
    }

    #[test]
    fn a_group_that_cannot_be_made_is_named() {
        let problem = Limit::within(Path::new("/proc/no-such-folder"), Kind::Two, 0.1).err().unwrap();
        let group = format!("/proc/no-such-folder/chaveiro-bench-{}-10: ", std::process::id());
        assert!(problem.to_string().starts_with(&group), "{problem}");
    }
}
