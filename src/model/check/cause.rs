//! Determines which side caused a finding, and which repositories it concerns.
//!
//! A repository is responsible for what its own files do to the realm, and for its own exports, imports and contracts.
//! Everything else in the realm is for others to fix.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Finding, Severity};
use crate::model::{
    candidate::Judged,
    domain_summary::DomainSummary,
    domain_view::unreadable_bindings,
    name::RepoName,
    verdict::{Basis, Outcome, Verdict},
};

/// The cause of a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The files that were checked: without them there would be no finding.
    #[default]
    ThisChange,
    /// It existed before these files: in the realm, or at the commit that they are compared with.
    AlreadyInTheRealm,
    /// A change that another repository published.
    AnotherRepository,
}

/// Identifies a problem across checks. Versions are not part of it: an import that is broken at 2.0.0 is the same
/// problem at 3.0.0.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(Vec<String>);

impl Key {
    /// Returns the key of an import that does not get what it expects, which is broken, too.
    fn unmet(&self) -> Self {
        Self([&self.0[..self.0.len().saturating_sub(1)], &[EXPECTS.to_owned()]].concat())
    }
}

/// Problems that existed before.
#[derive(Debug, Clone, Default)]
pub struct Known {
    before: BTreeMap<Key, Option<Extent>>,
    further: BTreeMap<Key, bool>,
}

impl Known {
    /// Creates the problems that existed before. `further` says which imports are broken further now, as far as it is known.
    pub fn new<'f>(findings: impl IntoIterator<Item = &'f Finding>, further: BTreeMap<Key, bool>) -> Self {
        // A version that the range refuses reaches no code, so a further break makes it no worse.
        let extent = |finding: &Finding| Extent::of(finding).filter(|_| finding.is_admitted());
        let before = findings.into_iter().map(|finding| (finding.key(), extent(finding))).collect();
        Self { before, further }
    }

    /// Returns whether a problem existed before, and is no worse now.
    pub fn has(&self, finding: &Finding) -> bool {
        self.has_some(finding) && !self.is_worse(finding)
    }

    /// Returns whether a problem existed before, and is worse now.
    pub fn is_worse(&self, finding: &Finding) -> bool {
        let key = finding.key();
        let before = self.before.get(&key).and_then(Option::as_ref);
        let is_larger = || before.zip(Extent::of(finding)).is_some_and(|(before, now)| !now.is_within(before));
        self.further.get(&key).copied().unwrap_or_else(is_larger)
    }

    fn has_some(&self, finding: &Finding) -> bool {
        let key = finding.key();
        self.before.contains_key(&key) || self.before.contains_key(&key.unmet())
    }
}

/// How far a version breaks an import.
#[derive(Debug, Clone)]
struct Extent {
    rule: String,
    place: Option<String>,
    /// The number of differences.
    count: usize,
}

impl Extent {
    fn of(finding: &Finding) -> Option<Self> {
        let verdict = finding.verdict.as_ref().filter(|verdict| verdict.verdict == Outcome::Breaks)?;
        let difference = verdict.difference.as_ref()?;
        let count = verdict.more + usize::from(verdict.value_difference.is_some());
        Some(Self { rule: difference.rule.clone(), place: difference.old_pointer.clone(), count })
    }

    /// Other changes of the same part, which break nothing, do not matter.
    fn is_within(&self, before: &Self) -> bool {
        self.count <= before.count && (&self.rule, &self.place) == (&before.rule, &before.place)
    }
}

/// The last part of the key of an import that does not get what it expects.
const EXPECTS: &str = "expects";

impl Finding {
    /// Returns the key of the finding.
    pub fn key(&self) -> Key {
        let text = |part: Option<String>| part.unwrap_or_default();
        let range = self.requirement.as_ref().map(ToString::to_string);
        // The message of an import finding contains the current version, so the key uses the range instead.
        let what = range.clone().unwrap_or_else(|| self.message.clone());
        // An import without a version is the same problem once there is a version that its range refuses.
        let is_import = range.is_some() && matches!(&*self.code, "missing-contract" | "only-pre-releases");
        let code = if is_import { "import-broken" } else { &*self.code };
        // What an import expects is another problem than what its range accepts.
        let is_expects = |one: &Verdict| one.basis == Basis::Expects && one.verdict == Outcome::Breaks;
        let basis = if self.verdict.as_ref().is_some_and(is_expects) { EXPECTS } else { "" };
        Key(vec![
            code.to_owned(),
            text(self.domain.as_ref().map(ToString::to_string)),
            text(self.contract.as_ref().map(ToString::to_string)),
            text(self.repo.as_ref().map(ToString::to_string)),
            text(self.pointer.clone()),
            what,
            basis.to_owned(),
        ])
    }
}

/// The repositories whose files are judged.
#[derive(Debug, Clone, Copy)]
pub(super) struct JudgedRepos<'a>(pub &'a [Judged<'a>]);

impl JudgedRepos<'_> {
    fn is(self, repo: &RepoName) -> bool {
        self.0.iter().any(|judged| judged.repo == repo)
    }

    fn owns(self, finding: &Finding, domain: &DomainSummary) -> bool {
        let owner = finding.contract.as_ref().and_then(|contract| domain.owner(contract));
        owner.is_some_and(|owner| self.is(owner))
    }

    fn changes_contracts_of(self, domain: &DomainSummary) -> bool {
        let contracts = self.0.iter().flat_map(|judged| judged.candidate.contracts_in(&domain.info.name));
        contracts.into_iter().any(|(_, declared)| declared.changed)
    }

    fn imports(self, finding: &Finding, domain: &DomainSummary) -> bool {
        let Some(contract) = &finding.contract else { return false };
        self.0.iter().any(|judged| domain.bindings.get(judged.repo).is_some_and(|own| own.import(contract).is_some()))
    }

    /// Returns the cause of a finding that exists in the realm even without the judged files.
    pub fn cause(self, finding: &Finding, domain: &DomainSummary) -> Cause {
        match &finding.repo {
            _ if self.0.is_empty() => Cause::AlreadyInTheRealm,
            Some(repo) if self.is(repo) => {
                // The import was satisfied when it was written, and the owner has changed the contract since.
                let import = finding.contract.as_ref().and_then(|contract| domain.bindings.get(repo)?.import(contract));
                // Even the version that the import was written against never promised what the import expects.
                let is_verdict = |one: &Verdict| one.basis == Basis::Expects && one.old_version == one.new_version;
                let is_own = self.owns(finding, domain) || finding.verdict.as_ref().is_some_and(is_verdict);
                let is_resolved = import.is_some_and(|import| import.resolved_version.is_some());
                if is_resolved && !is_own { Cause::AnotherRepository } else { Cause::AlreadyInTheRealm }
            }
            // Broken imports of others are caused by a version that the owner published; their exports are their own.
            Some(_) if finding.code != "not-owner" && self.owns(finding, domain) => Cause::AlreadyInTheRealm,
            Some(_) => Cause::AnotherRepository,
            None if self.owns(finding, domain) => Cause::AlreadyInTheRealm,
            None => Cause::AnotherRepository,
        }
    }

    /// Returns whether a finding in a domain concerns the judged repositories.
    pub fn is_concerned(self, finding: &Finding, domain: &DomainSummary) -> bool {
        // A repository that stops importing a contract need not care whether others do, and only
        // the owner can correct which versions are supported.
        if matches!(&*finding.code, "unused" | "supports-nothing") {
            return self.owns(finding, domain);
        }
        if finding.caused_by == Cause::ThisChange {
            return true;
        }
        let takes_part = || self.0.iter().any(|judged| domain.takes_part(judged.repo));
        match (&finding.repo, &*finding.code) {
            (Some(repo), _) if self.is(repo) => true,
            // Such a binding may import the contracts that these files change.
            (Some(repo), "damaged") if unreadable_bindings(&domain.damage).any(|unreadable| unreadable == repo) => {
                self.changes_contracts_of(domain)
            }
            (None, "damaged" | "set-aside") => takes_part(),
            (None, _) => self.owns(finding, domain) || self.imports(finding, domain),
            (Some(_), _) => self.owns(finding, domain),
        }
    }

    /// Returns the severity of a finding for the judged repositories. A broken import of another repository that these
    /// files did not cause, and a problem in another owner's contract, are only warnings. Damage, undecided verdicts
    /// and open conflicts keep their severity, because nobody can rely on the contracts involved.
    pub fn severity(self, finding: &Finding) -> Severity {
        let is_others = match &finding.repo {
            Some(repo) => !self.is(repo) && finding.caused_by != Cause::ThisChange,
            None => finding.caused_by == Cause::AnotherRepository,
        };
        let is_unreliable =
            matches!(&*finding.code, "damaged" | "version-conflict" | "set-aside" | "undecided" | "schema-too-large");
        if is_others && !is_unreliable { Severity::Warning } else { finding.severity }
    }
}
