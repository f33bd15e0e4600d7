//! Watching by inotify: the kernel queues what happens before it returns to whoever does it.

use std::{io, os::fd::OwnedFd, path::Path, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify::{CreateFlags, WatchFlags, add_watch, init},
    io::{Errno, read},
};

#[derive(Debug)]
pub struct Watch(OwnedFd);

impl Watch {
    pub fn new() -> io::Result<Self> {
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    pub fn add(&mut self, folder: &Path) {
        let events = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::ONLYDIR;
        let _ = add_watch(&self.0, folder, events);
    }

    pub fn wait(&mut self, timeout: Duration) -> io::Result<bool> {
        let timeout = Timespec::try_from(timeout).unwrap_or_default();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(false),
            result => result?,
        };
        // What it was does not matter: everything is looked at again.
        let mut buffer = [0; 4096];
        loop {
            match read(&self.0, &mut buffer) {
                Err(Errno::AGAIN) => return Ok(true),
                result => result?,
            };
        }
    }
}
