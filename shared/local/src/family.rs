//! Ends a child process with everything that it started.
//!
//! The reloading server puts each function into a process group of its own, so the child's group is
//! not enough: descendants are looked up, and whatever outlives the child is ended one by one.

use std::collections::BTreeSet;
use std::process::Command;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use tokio::process::Child;
use tokio::time::{Instant, sleep};

/// Asks the child to end, waits for it as long as `patience` lasts, and ends what is left of it and of
/// its descendants.
pub async fn end(child: &mut Child, patience: Duration) {
    let Some(root) = child.id().and_then(|id| i32::try_from(id).ok()) else { return };
    let Some(group) = Pid::from_raw(root) else { return };
    // Looked up before the signal, too: who loses a parent to it descends from the child no more.
    let mut family = descendants(root);
    // An error means that nothing is there to hear the signal, which is what is wanted.
    let _gone = kill_process_group(group, Signal::TERM);
    let until = Instant::now() + patience;
    loop {
        family.extend(descendants(root));
        match child.try_wait() {
            Ok(None) if Instant::now() < until => sleep(Duration::from_millis(50)).await,
            Ok(None) | Err(_) => {
                let _gone = kill_process_group(group, Signal::KILL);
                let _status = child.wait().await;
                break;
            }
            Ok(Some(_)) => break,
        }
    }
    for signal in [Signal::TERM, Signal::KILL] {
        let until = Instant::now() + Duration::from_secs(1);
        for pid in family.iter().copied().filter_map(Pid::from_raw) {
            let _gone = kill_process(pid, signal);
        }
        while !family.is_empty() && Instant::now() < until {
            let alive: BTreeSet<i32> = processes().into_iter().map(|(pid, _)| pid).collect();
            family.retain(|pid| alive.contains(pid));
            sleep(Duration::from_millis(20)).await;
        }
    }
}

/// The processes that descend from one.
fn descendants(root: i32) -> BTreeSet<i32> {
    let processes = processes();
    let mut found = BTreeSet::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let children = processes.iter().filter(|(_, its_parent)| *its_parent == parent);
        parents.extend(children.map(|(pid, _)| *pid).filter(|pid| found.insert(*pid)));
    }
    found
}

/// All processes that have not ended yet, each with its parent.
fn processes() -> Vec<(i32, i32)> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return processes_by_ps() };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter_map(|pid: i32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name stands in parentheses and may hold anything; the state and the parent follow it.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let (state, parent) = (fields.next()?, fields.next()?);
        if state == "Z" { None } else { Some((pid, parent.parse().ok()?)) }
    })
    .collect()
}

/// The same where there is no `/proc`.
fn processes_by_ps() -> Vec<(i32, i32)> {
    let Ok(output) = Command::new("ps").args(["-A", "-o", "pid=,ppid=,stat="]).output() else {
        return Vec::new();
    };
    let text = String::from_utf8_lossy(&output.stdout);
    let line = |line: &str| {
        let mut fields = line.split_whitespace();
        let (pid, parent, state) = (fields.next()?, fields.next()?, fields.next()?);
        if state.starts_with('Z') { None } else { Some((pid.parse().ok()?, parent.parse().ok()?)) }
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use std::process::Stdio;

    use rustix::process::getpgid;

    use super::*;

    fn alive(pid: i32) -> bool {
        processes().iter().any(|(known, _)| *known == pid)
    }

    /// Whether a process leads a group of its own: the program's `sleep` does, and nothing that comes and
    /// goes before it, where `python3` is a script that looks for the real one.
    fn leads_a_group(pid: i32) -> bool {
        let pid = Pid::from_raw(pid);
        pid.is_some() && getpgid(pid).ok() == pid
    }

    #[tokio::test]
    async fn a_deaf_child_and_a_grandchild_in_a_group_of_its_own_end_too() {
        let program = "import signal, subprocess; signal.signal(signal.SIGTERM, signal.SIG_IGN); \
                       subprocess.run(['sleep', '60'], start_new_session=True)";
        let mut child = tokio::process::Command::new("python3")
            .args(["-c", program])
            .stdin(Stdio::null())
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let root = i32::try_from(child.id().unwrap()).unwrap();
        let until = Instant::now() + Duration::from_secs(20);
        let family = loop {
            let family = descendants(root);
            if family.iter().copied().any(leads_a_group) || Instant::now() >= until {
                break family;
            }
            sleep(Duration::from_millis(10)).await;
        };
        let complete = family.iter().copied().any(leads_a_group);
        // Before anything is asserted, so that a failing test leaves nothing behind.
        end(&mut child, Duration::from_millis(200)).await;
        let left: Vec<i32> = family.iter().copied().filter(|pid| alive(*pid)).collect();
        for pid in left.iter().copied().filter_map(Pid::from_raw) {
            let _gone = kill_process(pid, Signal::KILL);
        }
        assert!(complete, "no sleep was started: {family:?}");
        assert_eq!(left, Vec::<i32>::new());
        assert!(!alive(root));
    }
}
