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
        let (stop, stopped) = mpsc::channel();
        let start = Instant::now();
        let show = move || {
            let _ = write!(std::io::stderr(), "\r{what} … {} s", start.elapsed().as_secs());
        };
        let is_shown_at_once = delay.is_zero();
        let update = {
            let show = show.clone();
            move || {
                let mut is_shown = is_shown_at_once;
                while stopped.recv_timeout(if is_shown { STEP } else { delay }) == Err(RecvTimeoutError::Timeout) {
                    show();
                    is_shown = true;
                }
                if is_shown {
                    // Clears the line.
                    let _ = write!(std::io::stderr(), "\r\u{1b}[K");
                }
            }
        };
        let thread = std::thread::Builder::new().spawn(update).ok()?;
        // Not in the thread, which may start only when the work is done already.
        if is_shown_at_once {
            show();
        }
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
