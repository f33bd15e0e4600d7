//! The state file of the daemon. The daemon locks it while it runs: if it is killed, the lock is released, and the
//! recorded process id is known to be stale.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{Seek as _, Write as _},
    path::{Path, PathBuf},
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    error::OpError,
    platform::{files, locks},
};

/// The time to wait for a process that is checking whether a daemon runs.
const POLL_INTERVAL: Duration = Duration::from_millis(1);
/// The maximum number of times to wait.
const MOST_LOOKS: usize = 1_000;

/// A running daemon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Running {
    /// Its process id.
    pub pid: u32,
    /// Its port.
    pub port: u16,
    /// Its version.
    pub version: String,
}

impl Running {
    /// Returns its URL.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }
}

/// The state of a user's daemon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// No daemon runs.
    Stopped,
    /// A daemon runs, but does not listen yet or no longer.
    Changing,
    /// A daemon is listening.
    Running(Running),
}

/// The lock that makes this process the daemon. It is released on drop.
#[derive(Debug)]
pub struct DaemonLock {
    #[expect(dead_code, reason = "it is locked as long as it is open")]
    lock: File,
    /// Held open, so that a later daemon's file is not overwritten if this daemon's file was removed.
    file: File,
    path: PathBuf,
}

/// Returns the folder of the daemon's files, creating it if needed.
///
/// # Errors
/// Returns an error if the folder cannot be created.
pub fn folder(home: &Path) -> Result<PathBuf, OpError> {
    let folder = home.join("daemon");
    files::make_private_folder(&folder).map_err(OpError::io("create", &folder))?;
    Ok(folder)
}

/// Opens or creates a file of the daemon that only the user can read.
///
/// # Errors
/// Returns an error if the file cannot be opened.
pub fn open(path: &Path) -> Result<File, OpError> {
    let mut options = OpenOptions::new();
    let file = files::private(options.read(true).write(true).create(true).truncate(false)).open(path);
    file.map_err(OpError::io("open", path))
}

/// Returns the state of the daemon of a user's home.
///
/// # Errors
/// Returns an error if the state file cannot be read.
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

impl DaemonLock {
    /// Takes the lock of the daemon. Returns `None` if another process holds it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created.
    pub fn take(home: &Path) -> Result<Option<Self>, OpError> {
        let path = folder(home)?.join("pid");
        let (file, lock) = (open(&path)?, open(&locks::file_to_lock(&path))?);
        let failed = |error| OpError::io("lock", &path)(error);
        for _ in 0..MOST_LOOKS {
            match lock.try_lock() {
                Ok(()) => {
                    let held = Self { lock, file, path };
                    held.write("")?;
                    return Ok(Some(held));
                }
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            // A process that checks whether a daemon runs shares the lock for a moment.
            match lock.try_lock_shared() {
                Ok(()) => lock.unlock().map_err(failed)?,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(None)
    }

    /// Records where the daemon listens.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn record(&self, running: &Running) -> Result<(), OpError> {
        let text = serde_json::to_string(running).unwrap_or_else(|error| unreachable!("it has a JSON form: {error}"));
        self.write(&(text + "\n"))
    }

    fn write(&self, text: &str) -> Result<(), OpError> {
        let mut file = &self.file;
        let written = file.set_len(0).and_then(|()| file.rewind()).and_then(|()| file.write_all(text.as_bytes()));
        written.map_err(OpError::io("write", &self.path))
    }
}

impl Drop for DaemonLock {
    fn drop(&mut self) {
        let _ = self.write("");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_daemon_runs_while_it_holds_its_lock() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
        let held = DaemonLock::take(home.path()).unwrap().unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Changing);
        let running = Running { pid: 7, port: 7865, version: "1".into() };
        held.record(&running).unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Running(running.clone()));
        assert!(DaemonLock::take(home.path()).unwrap().is_none());
        drop(held);
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
        // Looking does not prevent a start.
        let looking = open(&locks::file_to_lock(&home.path().join("daemon/pid"))).unwrap();
        looking.lock_shared().unwrap();
        let looked = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(20));
            drop(looking);
        });
        drop(DaemonLock::take(home.path()).unwrap().unwrap());
        looked.join().unwrap();
        // The file of a killed daemon is ignored.
        std::fs::write(home.path().join("daemon/pid"), serde_json::to_string(&running).unwrap()).unwrap();
        assert_eq!(of(home.path()).unwrap(), State::Stopped);
    }
}
