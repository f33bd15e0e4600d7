//! The log of `--debug`: a file that only the user can read, never standard output or error.

use std::{
    fs::File,
    io::Write as _,
    path::Path,
    sync::{Arc, Mutex},
};

use crate::{
    env::Env,
    error::OpError,
    platform::files::{self, Access},
};

/// The size at which the log starts over, in bytes.
const MAX_LOG: u64 = 8 << 20;

/// A log; `None` unless `--debug` is given.
#[derive(Debug, Clone, Default)]
pub struct Log(Option<Arc<Sink>>);

#[derive(Debug)]
struct Sink {
    env: Env,
    file: Mutex<File>,
}

impl Log {
    /// Opens the log `mcp.log`, readable only by the user.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn open(env: &Env, folder: &Path) -> Result<Self, OpError> {
        let path = folder.join("mcp.log");
        let failed = |error| OpError::io("write", &path)(error);
        let is_grown = path.symlink_metadata().is_ok_and(|at| at.len() > MAX_LOG || !at.is_file());
        if is_grown {
            std::fs::remove_file(&path).map_err(failed)?;
        }
        let file = files::private(File::options().create(true).append(true)).open(&path).map_err(failed)?;
        files::narrow(&path, Access::Private).map_err(failed)?;
        Ok(Self(Some(Arc::new(Sink { env: env.clone(), file: Mutex::new(file) }))))
    }

    /// Writes a line.
    pub fn say(&self, text: impl FnOnce() -> String) {
        if let Some(sink) = &self.0 {
            sink.write(&text());
        }
    }
}

impl Sink {
    fn write(&self, text: &str) {
        let line = format!("{} {} {}\n", self.env.now(), std::process::id(), text.escape_debug());
        // A log that cannot be written must not stop the server.
        if let Ok(mut file) = self.file.lock() {
            let _ = file.write_all(line.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_private_and_each_message_is_one_line() {
        let folder = tempfile::tempdir().unwrap();
        let env = Env::isolated("/", [("GIT_BLUE_NOW".into(), "2026-01-24T12:00:00Z".into())]);
        let path = folder.path().join("mcp.log");
        std::fs::write(&path, "before\n").unwrap();
        Log::open(&env, folder.path()).unwrap().say(|| "a\n\u{1b}[2Jb".into());
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(text.ends_with("a\\n\\u{1b}[2Jb\n") && text.contains("2026-01-24T12:00:00Z"), "{text}");
        assert!(!files::is_open_to_others(&path).unwrap());
    }
}
