//! A list that was read up to a limit.

use super::ForgeError;

/// The entries of a list, read up to a limit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed<T> {
    /// The entries that were read.
    pub entries: Vec<T>,
    /// The error for a list that is longer than the limit: what is not among the entries may be in the rest.
    pub end: Result<(), ForgeError>,
}
