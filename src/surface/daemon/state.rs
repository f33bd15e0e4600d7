//! Whether the daemon runs, and where: a file that it locks as long as it lives, so that a process that
//! was killed is known to be gone, and its number may be another's by now.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Seek as _, Write as _},
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    error::OpError,
    platform::{files, locks},
};

/// A daemon that runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process.
    pub pid: u32,
    /// Its port.
    pub port: u16,
    /// Its version.
    pub version: String,
}

impl Running {
    /// Returns where it is.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

/// What is known of the daemon of a home.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is none.
    Stopped,
    /// There is one that does not listen yet, or no more.
    Changing,
    /// It listens.
    Running(Running),
}

/// The right to be the daemon: held as long as this lives.
#[derive(Debug)]
pub struct Held {
    #[expect(dead_code, reason = "it is locked as long as it is open")]
    lock: File,
    /// Held open, so that the file of a daemon that follows is not written if this one's was removed.
    file: File,
    path: PathBuf,
}

/// Returns the folder of the daemon's own files, and makes it.
///
/// # Errors
/// Returns an error if it cannot be made.
pub fn folder(home: &Path) -> Result<PathBuf, OpError> {
    let folder = home.join("daemon");
    files::make_private_folder(&folder).map_err(OpError::io("create", &folder))?;
    Ok(folder)
}

/// Opens a file of the daemon that nobody else may read.
///
/// # Errors
/// Returns an error if it cannot be opened.
pub fn open(path: &Path) -> Result<File, OpError> {
    let mut options = OpenOptions::new();
    let file = files::private(options.read(true).write(true).create(true).truncate(false)).open(path);
    file.map_err(OpError::io("open", path))
}

/// Returns what is known of the daemon of a home.
///
/// # Errors
/// Returns an error if its file cannot be read.
pub fn of(home: &Path) -> Result<State, OpError> {
    let path = home.join("daemon/pid");
    let lock = match File::open(locks::file_to_lock(&path)) {
        Ok(lock) => lock,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(State::Stopped),
        Err(error) => return Err(OpError::io("read", &path)(error)),
    };
    match lock.try_lock_shared() {
        Ok(()) => return Ok(State::Stopped),
        Err(TryLockError::WouldBlock) => {}
        Err(TryLockError::Error(error)) => return Err(OpError::io("lock", &path)(error)),
    }
    let text = std::fs::read_to_string(&path).map_err(OpError::io("read", &path))?;
    Ok(serde_json::from_str(&text).map_or(State::Changing, State::Running))
}

impl Held {
    /// Takes the right to be the daemon of a home. Nothing where another process is.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made.
    pub fn take(home: &Path) -> Result<Option<Self>, OpError> {
        let path = folder(home)?.join("pid");
        let (file, lock) = (open(&path)?, open(&locks::file_to_lock(&path))?);
        match lock.try_lock() {
            Ok(()) => {
                let held = Self { lock, file, path };
                held.write("")?;
                Ok(Some(held))
            }
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(OpError::io("lock", &path)(error)),
        }
    }

    /// Says where the daemon listens.
    ///
    /// # Errors
    /// Returns an error if it cannot be written.
    pub fn say(&self, running: &Running) -> Result<(), OpError> {
        let text = serde_json::to_string(running).unwrap_or_else(|error| unreachable!("it has a JSON form: {error}"));
        self.write(&(text + "\n"))
    }

    fn write(&self, text: &str) -> Result<(), OpError> {
        let mut file = &self.file;
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(OpError::io("write", &self.path))
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let _ = self.write("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_runs_as_long_as_it_holds_its_file() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
        let held = Held::take(home.path()).unwrap().unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Changing);
        let running = Running { pid: 7, port: 7865, version: "1".into() };
        held.say(&running).unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Running(running.clone()));
        assert!(Held::take(home.path()).unwrap().is_none());
        drop(held);
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
        // What a killed one left behind says nothing.
        std::fs::write(home.path().join("daemon/pid"), serde_json::to_string(&running).unwrap()).unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
    }
}
