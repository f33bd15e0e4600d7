//! The reason and location of a parse error.

use std::fmt;

use crate::model::candidate::FileProblem;

/// A problem at a place in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The other file that has the problem, if the document refers to it.
    pub file: Option<String>,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The column, from 1, if it is known.
    pub column: Option<u32>,
    /// The problem, and what to write instead.
    pub message: String,
}

impl Problem {
    /// Creates a problem about the whole document.
    pub fn whole(message: impl Into<String>) -> Self {
        Self { file: None, line: None, column: None, message: message.into() }
    }

    /// Sets the line to that of a JSON Pointer into the document, unless the problem already has a line.
    #[must_use]
    pub fn or_at(self, document: &[u8], pointer: &str) -> Self {
        Self { line: self.line.or_else(|| super::line_at(document, pointer)), ..self }
    }

    /// Converts the problem into one of the file at `path`.
    pub fn in_file(self, path: &str) -> FileProblem {
        let Self { file, line, column, message } = self;
        FileProblem { path: path.to_owned(), referred: file, line, column, message }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(file) = &self.file {
            write!(f, "{file}: ")?;
        }
        f.write_str(&self.message)?;
        match (self.line, self.column) {
            (Some(line), Some(column)) => write!(f, " (line {line}, column {column})"),
            (Some(line), None) => write!(f, " (line {line})"),
            (None, _) => Ok(()),
        }
    }
}
