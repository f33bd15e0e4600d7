//! Judges imports by their range, and by the version that their code is adapted to.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Basis, Judge, Outcome, Verdict, flow};
use crate::model::{
    binding::Import,
    bundle,
    contract::Contract,
    domain_view::{DomainView, ImportResolution, ImportStanding},
    name::{ContractName, DomainName, RepoName},
    version::Version,
};

/// The states of a domain's imports, by importer and contract.
pub type States = BTreeMap<(RepoName, ContractName), ImportState>;

/// Whether an import still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ImportEffect {
    /// It holds: this is proved, or the range accepts the version and there is no verdict.
    Satisfied,
    /// It holds, but only because an older version is still served: the range refuses the current one.
    Behind,
    /// It does not hold: the range refuses the version, or a value exists that its code does not accept.
    Broken,
    /// The range accepts the version, but it is not known whether its code accepts all values; or the contract cannot be
    /// read.
    Unknown,
}

impl ImportEffect {
    /// Returns whether the import gets a version that its code is known to accept.
    pub fn holds(self) -> bool {
        matches!(self, Self::Satisfied | Self::Behind)
    }
}

/// The state of an import.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportState {
    /// The state according to its range alone.
    pub resolution: ImportResolution,
    /// The consequences of the resolved version for code that is adapted to an older one. `None` if they are unknown,
    /// or if there are no schemas.
    pub verdict: Option<Verdict>,
    /// The version whose document decides the state, but cannot be read. The verdict is then unknown.
    pub unreadable: Option<Version>,
}

/// A document that is published, but cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreadableDocument;

impl ImportState {
    /// Returns the state of an import in a domain. The view must contain the documents of [`needed_versions`].
    pub fn of(domain: &DomainView, import: &Import, judge: &Judge<'_>) -> Self {
        let contract = &import.contract;
        let is_published =
            |version: &Version| domain.versions.get(contract).is_some_and(|versions| versions.contains(version));
        let document = |version: &Version| match domain.document(contract, version) {
            None if domain.is_damaged(contract) && is_published(version) => Err(UnreadableDocument),
            document => Ok(document),
        };
        Self::new(domain.resolve_import(import), import, document, judge)
    }

    /// Returns the state of an import, given its state by range and access to the documents of [`needed_versions`].
    pub fn new<'d>(
        resolution: ImportResolution,
        import: &Import,
        document: impl Fn(&Version) -> Result<Option<&'d Contract>, UnreadableDocument>,
        judge: &Judge<'_>,
    ) -> Self {
        let unreadable = needed_versions(import, &resolution).into_iter().find(|version| document(version).is_err());
        let unreadable = unreadable.cloned();
        let verdict = decided_by(&resolution).and_then(|new| {
            let old = import.adapted();
            if old == Some(new) && import.expects.is_none() {
                return Some(Verdict::compatible(new, new));
            }
            if let Some(version) = &unreadable {
                let reason = format!("{} {version} cannot be read", import.contract);
                return Some(Verdict::unknown(old.unwrap_or(new), new, reason));
            }
            let read = |version: &Version| document(version).ok().flatten();
            of_documents(import, old.and_then(read), read(new)?, judge)
        });
        Self { resolution, verdict, unreadable }
    }

    /// Returns the state of an import according to its range alone.
    pub fn by_range(resolution: ImportResolution) -> Self {
        Self { resolution, verdict: None, unreadable: None }
    }

    /// Returns whether the import still holds.
    pub fn effect(&self) -> ImportEffect {
        if self.resolution == ImportResolution::Unreadable {
            return ImportEffect::Unknown;
        }
        match (self.resolution.resolved(), self.verdict.as_ref().map(|verdict| verdict.verdict)) {
            (None, _) | (_, Some(Outcome::Breaks)) => ImportEffect::Broken,
            (_, Some(Outcome::Unknown)) => ImportEffect::Unknown,
            (_, Some(Outcome::Compatible) | None) => match self.resolution.served() {
                Some(_) => ImportEffect::Behind,
                None => ImportEffect::Satisfied,
            },
        }
    }

    /// Returns whether the import gets a version that its code is known to accept.
    pub fn holds(&self) -> bool {
        self.effect().holds()
    }

    /// Returns whether the import is broken.
    pub fn is_broken(&self) -> bool {
        self.effect() == ImportEffect::Broken
    }

    /// Returns whether its contract, or a version that decides its state, cannot be read.
    pub fn is_unreadable(&self) -> bool {
        self.resolution == ImportResolution::Unreadable || self.unreadable.is_some()
    }

    /// Returns whether only the range is known to accept the version.
    pub fn is_by_range(&self) -> bool {
        self.resolution.resolved().is_some() && self.verdict.is_none()
    }

    /// Returns whether the import is proved to be satisfied, and gets everything that it expects.
    pub fn is_proved(&self) -> bool {
        self.holds() && !self.is_by_range() && !self.lacks_properties()
    }

    /// Returns whether the import holds, but expects properties that are never sent.
    pub fn lacks_properties(&self) -> bool {
        self.holds() && self.verdict.as_ref().is_some_and(|verdict| !verdict.unnamed.is_empty())
    }

    /// Returns which version of the contract, in this domain, cannot be read.
    pub fn unreadable_version(&self, domain: &DomainName, import: &Import) -> Option<String> {
        let version = self.unreadable.as_ref()?;
        Some(format!("{domain}/{} {version} cannot be read", import.contract))
    }

    /// Returns whether the import accepts the current version, an older one, or none, if that is known.
    pub fn standing(&self) -> ImportStanding {
        match self.is_unreadable() {
            _ if self.is_broken() => ImportStanding::Broken,
            true => ImportStanding::Unknown,
            false => self.resolution.standing(),
        }
    }

    /// Returns the verdict, unless it compares a version with itself.
    pub fn between_versions(&self) -> Option<&Verdict> {
        let is_itself = |one: &Verdict| one.basis == Basis::Schemas && one.old_version == one.new_version;
        self.verdict.as_ref().filter(|verdict| !is_itself(verdict))
    }
}

/// Returns the verdict of a version for an import: whether it satisfies what the import expects or, if the import
/// expects nothing, what changed since the version that its code is adapted to.
pub fn of_documents(import: &Import, old: Option<&Contract>, new: &Contract, judge: &Judge<'_>) -> Option<Verdict> {
    let expects = import.expects.as_ref().map(|expects| bundle::sent(expects, new.flow));
    let expects = expects.as_deref();
    let of_schemas = match (expects, old.and_then(|old| flow::verdict(old, new))) {
        (_, Some(reversed)) => Some(reversed),
        (Some(expects), None) => Some(judge.satisfies_expects(expects, import.adapted(), new)),
        (None, None) => old.and_then(|old| judge.for_importers(old, new)),
    };
    match (of_schemas, old.and_then(|old| judge.of_values(old, new, expects))) {
        (Some(schemas), Some(values)) if schemas.verdict == Outcome::Breaks => Some(schemas.and(values)),
        (None, None) => old.and_then(|old| judge.keeps_values(old, new)),
        (schemas, values) => values.or(schemas),
    }
}

/// Returns the versions whose documents decide the state of an import: the one that its code is adapted to, and the
/// one that it resolves to. Returns none if they are equal and the import expects nothing.
pub fn needed_versions<'a>(import: &'a Import, resolution: &'a ImportResolution) -> Vec<&'a Version> {
    let Some(new) = decided_by(resolution) else { return Vec::new() };
    match (import.adapted(), &import.expects) {
        (Some(old), _) if old != new => vec![old, new],
        (_, Some(_)) => vec![new],
        (_, None) => Vec::new(),
    }
}

/// Returns the version that an import resolves to, or would resolve to if its range accepted it.
fn decided_by(resolution: &ImportResolution) -> Option<&Version> {
    match resolution {
        ImportResolution::Satisfied(version) | ImportResolution::Behind { served: version, .. } => Some(version),
        ImportResolution::Broken { current } => Some(current),
        ImportResolution::Missing | ImportResolution::Unreadable => None,
    }
}
