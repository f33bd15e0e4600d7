//! Watches folders by comparing their modification times, which change when a name in them does.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use crate::platform::files::Stamp;

/// The polling interval. Changes published by others should be reported within 50 ms.
const STEP: Duration = Duration::from_millis(25);

#[derive(Debug, Default)]
pub struct Watch {
    folders: BTreeMap<PathBuf, Option<Stamp>>,
    /// When to report a change again: a second change within one tick of the file system's clock
    /// does not change the time.
    again: Option<Instant>,
}

impl Watch {
    pub fn add(&mut self, folder: &Path) {
        self.folders.entry(folder.to_owned()).or_insert_with(|| Stamp::of(folder).ok());
    }

    pub fn wait(&mut self, timeout: Duration) -> bool {
        let start = Instant::now();
        loop {
            if self.has_changed() {
                self.again = Some(Instant::now() + STEP);
                return true;
            }
            if self.again.take_if(|at| *at <= Instant::now()).is_some() {
                return true;
            }
            let left = timeout.saturating_sub(start.elapsed());
            if left.is_zero() {
                return false;
            }
            thread::sleep(STEP.min(left));
        }
    }

    /// Returns whether any folder has changed since the last call.
    fn has_changed(&mut self) -> bool {
        let mut has_changed = false;
        for (folder, before) in &mut self.folders {
            let now = Stamp::of(folder).ok();
            has_changed |= std::mem::replace(before, now) != now;
        }
        has_changed
    }
}
