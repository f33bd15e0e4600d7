//! Problems within a single document, with their location.

use std::fmt;

/// A problem of a contract or a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The JSON Pointer to the place in the document.
    pub pointer: String,
    /// The problem, in a sentence that names the place precisely enough for people.
    pub message: String,
}

impl Fault {
    /// Returns a fault at a place.
    pub fn at(pointer: impl Into<String>, message: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}
