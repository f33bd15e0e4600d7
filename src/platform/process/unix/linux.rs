//! Finds descendants of this process on Linux.

use std::collections::BTreeMap;

use rustix::process::{Pid, Signal, getpid, kill_process, set_child_subreaper};

/// Makes this process the parent of descendants whose parent has ended.
pub fn adopt_orphans() {
    // Supported since Linux 3.4. If it is forbidden, only the group ends, as on other systems.
    let _ = set_child_subreaper(Some(getpid()));
}

/// Kills the descendants of this process.
pub fn kill_below() {
    for pid in below() {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn below() -> Vec<Pid> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let processes = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    // A process may end while its entry is read.
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

/// Returns the parent from `/proc/<pid>/stat`: the second word after the program's name, which may contain any
/// character.
fn parent(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_for_any_program_name() {
        assert_eq!(parent("12 (sh) S 7 12 12 0"), Some(7));
        assert_eq!(parent("12 (a) b (c) Z 1 12 12 0"), Some(1));
        assert_eq!(parent("12 (sh"), None);
    }

    #[test]
    fn a_grandchild_is_a_descendant() {
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
