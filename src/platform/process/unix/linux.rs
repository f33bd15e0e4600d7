//! Finding what a process started, on Linux.

use std::collections::BTreeMap;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

/// Has processes whose parent ended be handed to this one.
pub fn adopt_orphans() {
    // Linux can since 3.4; where it is forbidden, the group ends, as on other systems.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Kills the processes below this one.
pub fn kill_below() {
    for pid in below() {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn below() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // One may end while it is looked at.
    let parents: BTreeMap<i32, i32> = processes
        .filter_map(|pid| Some((pid, parent(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)?)))
        .collect();
    let own = getpid().as_raw_nonzero().get();
    let is_below = |pid: &i32| {
        let line = std::iter::successors(parents.get(pid), |parent| parents.get(parent));
        line.take(parents.len()).any(|parent| *parent == own)
    };
    parents.keys().filter(|pid| is_below(pid)).filter_map(|pid| Pid::from_raw(*pid)).collect()
}

/// Returns the parent that `/proc/<pid>/stat` names: the second word behind the program's name, which
/// may hold anything.
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_whatever_the_program_is_called() {
        assert_eq!(parent("12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (a) b (c) Z 1 12 12 0"), Some(1));
        assert_eq!(parent("12 (sh"), None);
    }

    #[test]
    fn a_grandchild_is_below() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "sleep 60 & echo $!; wait"])
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line).unwrap();
        let grandchild = Pid::from_raw(line.trim().parse().unwrap()).unwrap();
        let found = below();
        assert!(found.contains(&grandchild) && !found.contains(&getpid()), "{found:?}");
        kill_process(grandchild, Signal::KILL).unwrap();
        child.wait().unwrap();
    }
}
