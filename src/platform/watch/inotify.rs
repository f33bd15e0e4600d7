//! Watches folders using inotify. The kernel queues an event before the call that causes it returns.

use std::{io, mem::MaybeUninit, os::fd::OwnedFd, path::Path, time::Duration};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::inotify::{CreateFlags, ReadFlags, Reader, WatchFlags, add_watch, init},
    io::Errno,
};

use super::Moved;

#[derive(Debug)]
pub struct Watch(OwnedFd);

/// Returns the kernel setting that caused an error, if one did.
pub fn limit(error: &io::Error) -> Option<&'static str> {
    match Errno::from_io_error(error)? {
        Errno::MFILE => Some("fs.inotify.max_user_instances"),
        Errno::NOSPC => Some("fs.inotify.max_user_watches"),
        _ => None,
    }
}

impl Watch {
    pub fn new() -> io::Result<Self> {
        Ok(Self(init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK)?))
    }

    /// Watches a folder, and returns its watch descriptor.
    pub fn add(&self, folder: &Path) -> io::Result<i32> {
        let events = WatchFlags::MOVED_TO | WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::ONLYDIR;
        Ok(add_watch(&self.0, folder, events)?)
    }

    /// Waits until there is something to read, or until the timeout.
    pub fn wait(&self, timeout: Duration) -> io::Result<()> {
        let timeout = Timespec::try_from(timeout).unwrap_or_default();
        match poll(&mut [PollFd::new(&self.0, PollFlags::IN)], Some(&timeout)) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Reads the pending events, without waiting.
    pub fn read(&self) -> io::Result<Moved> {
        let mut moved = Moved::default();
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&self.0, &mut buffer);
        loop {
            match events.next() {
                Ok(event) => {
                    moved.is_all |= event.events().contains(ReadFlags::QUEUE_OVERFLOW);
                    moved.gone.extend(event.events().contains(ReadFlags::IGNORED).then(|| event.wd()));
                    // Ignore locks, which are created and removed whenever a ref moves.
                    if !event.file_name().is_some_and(|name| name.to_bytes().ends_with(b".lock")) {
                        moved.folders.push(event.wd());
                    }
                }
                Err(Errno::AGAIN) => return Ok(moved),
                Err(error) => return Err(error.into()),
            }
        }
    }
}
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limit_names_the_kernel_setting() {
        let named = |errno: Errno| limit(&errno.into());
        assert_eq!(named(Errno::MFILE), Some("fs.inotify.max_user_instances"));
        assert_eq!(named(Errno::NOSPC), Some("fs.inotify.max_user_watches"));
        assert_eq!(named(Errno::NOENT), None);
    }
}
