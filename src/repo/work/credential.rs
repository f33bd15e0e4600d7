//! Asks git's credential helpers for the password of a host, without prompting the user.

use std::{
    collections::BTreeMap,
    ffi::OsString,
    io::Write as _,
    process::{Command, Stdio},
    time::Duration,
};

use crate::platform::process;

/// The time limit for a program that prints a password, in which a person may unlock a password manager.
pub const MAX_PASSWORD_TIME: Duration = Duration::from_secs(60);

/// Returns the HTTPS password for a host, if a helper has it.
pub fn password(host: &str, vars: &BTreeMap<OsString, OsString>) -> Option<String> {
    // In git's protocol the host is on its own line, so it must not contain a line ending.
    if host.chars().any(char::is_control) {
        return None;
    }
    let mut child = Command::new("git")
        .args(["credential", "fill"])
        .current_dir("/")
        .env_clear()
        .envs(vars)
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ASKPASS", "")
        .env("SSH_ASKPASS", "")
        .env("GCM_INTERACTIVE", "never")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .ok()?;
    let asked = child.stdin.take()?.write_all(format!("protocol=https\nhost={host}\n\n").as_bytes());
    let (_, output) = process::output_at_most(child, MAX_PASSWORD_TIME).ok()??;
    asked.ok()?;
    let text = String::from_utf8(output).ok()?;
    text.lines().find_map(|line| line.strip_prefix("password=")).map(str::to_owned)
}
