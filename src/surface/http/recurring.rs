//! Logs what fails again and again in the background.

use std::{collections::BTreeMap, fmt::Display};

use crate::error::OpError;

/// The last failure of each piece of work. A failure is logged again only if it differs, or the work succeeded meanwhile.
#[derive(Debug)]
pub struct RecurringProblems {
    what: &'static str,
    last: BTreeMap<String, String>,
}

impl RecurringProblems {
    /// Returns a log of failures to do `what`.
    pub fn of(what: &'static str) -> Self {
        Self { what, last: BTreeMap::new() }
    }

    /// Logs the failure of the work for `name`, unless it is known. Returns its result.
    pub fn log<T>(&mut self, name: impl Display, outcome: Result<T, OpError>) -> Option<T> {
        let name = name.to_string();
        match outcome {
            Ok(done) => {
                self.last.remove(&name);
                Some(done)
            }
            Err(error) => {
                let problem = error.to_string();
                if self.last.get(&name) != Some(&problem) {
                    tracing::warn!(place = %name, %error, "{}", self.what);
                    self.last.insert(name, problem);
                }
                None
            }
        }
    }
}
