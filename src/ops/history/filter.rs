//! Which entries of a list about the past are wanted.

use crate::model::{clock::Period, name::RepoName};
use jiff::Timestamp;

/// What an entry has to be to be wanted; everything where nothing is said.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Filter {
    /// When
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub period: Period,
    /// Only what this repository made
    #[serde(rename = "from_repo")]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO"))]
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
