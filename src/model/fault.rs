//! What is wrong with a document in itself, and where.

use std::fmt;

/// Something wrong with a contract or a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON Pointer to the place in the document.
    pub pointer: String,
    /// What is wrong, in a sentence that names the place as far as people need it.
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
