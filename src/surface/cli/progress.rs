//! Shows a line at the terminal while a long operation runs.

use std::{
    io::Write as _,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread::JoinHandle,
    time::{Duration, Instant},
};

/// The interval at which the line is updated.
const STEP: Duration = Duration::from_millis(500);

/// A line that appears after a delay and is removed when this is dropped.
#[derive(Debug)]
pub struct Progress {
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Progress {
    /// Shows `what` and the elapsed time on standard error after `delay`. Returns `None` if no thread can be started;
    /// the line is not essential.
    pub fn start(what: String, delay: Duration) -> Option<Self> {
        let mut terminal = std::io::stderr();
        let (stop, stopped) = mpsc::channel();
        let start = Instant::now();
        let show = move || {
            let mut wait = delay;
            while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let _ = write!(terminal, "\r{what} … {} s", start.elapsed().as_secs());
                wait = STEP;
            }
            if wait == STEP {
                // Clears the line.
                let _ = write!(terminal, "\r\u{1b}[K");
            }
        };
        let thread = std::thread::Builder::new().spawn(show).ok()?;
        Some(Self { stop: Some(stop), thread: Some(thread) })
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        drop(self.stop.take());
        // Wait for the thread, so that it does not overwrite what is written next.
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
