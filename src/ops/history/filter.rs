//! Which entries of a list about the past are wanted.

use jiff::Timestamp;

use crate::model::{clock::Period, name::RepoName};

/// What an entry has to be to be wanted; everything where nothing is said.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Made in this time.
    pub period: Period,
    /// Made by this repository.
    pub repo: Option<RepoName>,
}

impl Filter {
    /// Returns whether an entry made then, by that repository, is wanted.
    pub fn accepts(&self, time: Timestamp, repo: Option<&str>, now: Timestamp) -> bool {
        self.period.contains(time, now) && self.repo.as_ref().is_none_or(|wanted| repo == Some(wanted.as_str()))
    }

    /// Returns whether it accepts everything.
    pub fn is_open(&self) -> bool {
        let Self { period: Period { since, until }, repo } = self;
        since.is_none() && until.is_none() && repo.is_none()
    }
}
