//! The result of a command.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// The result of a command.
#[derive(Debug)]
pub struct Run {
    pub stdout: String,
    pub stderr: String,
    pub code: i32,
    pub(super) line: String,
    pub(super) root: PathBuf,
}

impl Run {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// Asserts the exit code. Returns the run.
    #[track_caller]
    pub fn exits(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Returns standard output and standard error.
    pub fn all(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Formats a run: the command, its output and exit code. Values that depend on the machine are replaced.
impl std::fmt::Display for Run {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bin = Path::new(env!("CARGO_BIN_EXE_git-blue")).display().to_string();
        let place = |text: &str| text.replace(&self.root.display().to_string(), "[TEMP]").replace(&bin, "[GIT-BLUE]");
        writeln!(f, "$ {}", place(&self.line))?;
        f.write_str(&place(&self.stdout))?;
        if !self.stderr.is_empty() {
            write!(f, "[stderr]\n{}", place(&self.stderr))?;
        }
        write!(f, "[exit {}]", self.code)
    }
}
