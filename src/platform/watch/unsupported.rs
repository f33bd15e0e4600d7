//! Systems without inotify, on which the modification times of folders are compared instead.

use std::{io, path::Path, time::Duration};

use super::Moved;

/// A watch, which can never be created.
#[derive(Debug)]
pub enum Watch {}

impl Watch {
    pub fn new() -> io::Result<Self> {
        Err(io::ErrorKind::Unsupported.into())
    }

    pub fn add(&self, _: &Path) -> io::Result<i32> {
        match *self {}
    }

    pub fn wait(&self, _: Duration) -> io::Result<()> {
        match *self {}
    }

    pub fn read(&self) -> io::Result<Moved> {
        match *self {}
    }
}

/// Returns `None`, because no system setting would help.
pub fn limit(_: &io::Error) -> Option<&'static str> {
    None
}
