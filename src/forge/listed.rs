//! A list that was read up to a limit.

use super::ForgeError;

/// The entries of a list, read up to a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The entries that were read.
    pub entries: Vec<T>,
    /// An error if the list is longer than the limit, so that further entries may exist.
    pub end: Result<(), ForgeError>,
}
