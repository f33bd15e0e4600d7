//! Processes of this machine.

use std::process::Command;

/// Returns whether a process with this marker among its arguments is running.
pub fn is_running(mark: &str) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        let output = Command::new("ps").args(["-A", "-o", "args="]).output().unwrap();
        return String::from_utf8_lossy(&output.stdout).split_whitespace().any(|word| word == mark);
    };
    let lines =
        processes.filter_map(|entry| entry.ok()).filter_map(|entry| std::fs::read(entry.path().join("cmdline")).ok());
    lines.into_iter().any(|line| line.split(|byte| *byte == 0).any(|word| word == mark.as_bytes()))
}
