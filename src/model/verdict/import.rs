//! How an import stands: by its range, and by what its code was written against.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{BrokenDirection, Judge, Outcome, Verdict};
use crate::model::{
    binding::Import,
    domain_view::{DomainView, Standing},
    name::{ContractName, RepoName},
    version::Version,
};

/// How the imports of a domain stand, by who imports what.
pub type States = BTreeMap<(RepoName, ContractName), ImportState>;

/// Whether an import still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Holds {
    /// It does: proved, or by the version range where there is no verdict.
    Satisfied,
    /// It does not: its range refuses the version, or a value does what its code does not expect.
    Breaks,
    /// Its range accepts the version; whether the values do is not known.
    Unknown,
}

/// How an import stands.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportState {
    /// By its range alone.
    pub standing: Standing,
    /// What the version that counts means for code that was written against an older one; none where
    /// that is not known, or where no schema says anything.
    pub verdict: Option<Verdict>,
}

impl ImportState {
    /// Returns how an import stands in a domain. The documents of both versions must be in the view.
    pub fn of(domain: &DomainView, import: &Import, judge: &Judge<'_>) -> Self {
        let standing = domain.standing(import);
        let verdict = compared_versions(import, &standing).and_then(|(old, new)| {
            if old == new {
                return Some(Verdict::same(new));
            }
            let (old, new) = (domain.document(&import.contract, old)?, domain.document(&import.contract, new)?);
            judge.verdict(old, new, BrokenDirection::Backwards)
        });
        Self { standing, verdict }
    }

    /// Returns it with what two documents say of each other.
    pub fn with(standing: Standing, import: &Import, verdict: Option<Verdict>) -> Self {
        let same = compared_versions(import, &standing).filter(|(old, new)| old == new).map(|(_, new)| new);
        let verdict = verdict.or_else(|| same.map(Verdict::same));
        Self { standing, verdict }
    }

    /// Returns whether it holds.
    pub fn holds(&self) -> Holds {
        match (self.standing.resolved(), self.verdict.as_ref().map(|verdict| verdict.verdict)) {
            (None, _) | (_, Some(Outcome::Breaks)) => Holds::Breaks,
            (_, Some(Outcome::Unknown)) => Holds::Unknown,
            (_, Some(Outcome::Compatible) | None) => Holds::Satisfied,
        }
    }

    /// Returns whether it does not hold.
    pub fn is_broken(&self) -> bool {
        self.holds() == Holds::Breaks
    }

    /// Returns whether its range accepts the version, and that is all that is known.
    pub fn is_by_range(&self) -> bool {
        self.standing.resolved().is_some() && self.verdict.is_none()
    }

    /// Returns the word for it: `current`, `stale` or `broken`.
    pub fn word(&self) -> &'static str {
        if self.is_broken() { "broken" } else { self.standing.word() }
    }

    /// Returns the verdict where it says more than that a version is itself.
    pub fn told(&self) -> Option<&Verdict> {
        self.verdict.as_ref().filter(|verdict| verdict.old_version != verdict.new_version)
    }
}

/// Returns the versions whose documents decide how an import stands: the one that its code was written
/// against, and the one that it gets.
pub fn compared_versions<'a>(import: &'a Import, standing: &'a Standing) -> Option<(&'a Version, &'a Version)> {
    let new = match standing {
        Standing::Satisfied(version) | Standing::Behind { served: version, .. } => version,
        Standing::Broken { current } => current,
        Standing::Missing => return None,
    };
    Some((import.adapted()?, new))
}
