//! Converts the refusal of a contract's file to findings.

use super::Finding;
use crate::model::{
    candidate::{Candidate, Declared},
    contract::Contract,
    domain_view::DomainView,
    fault::Fault,
    name::{ContractName, DomainName},
    next_version::{self, Needed},
    publish::{Reason, Refusal},
    verdict::{Judge, Promise, Verdict},
    version::Version,
};

/// A contract's file that publishing would refuse.
pub(super) struct Refused<'a> {
    domain: &'a DomainView,
    candidate: &'a Candidate,
    contract: &'a ContractName,
    declared: &'a Declared<Contract>,
    refusal: Refusal,
    /// The contract in the realm, if the refusal is about the version.
    current: Option<&'a Contract>,
    /// The step that merges the published commit, if the branch lacks the current version.
    merge: Option<&'a str>,
}

impl<'a> Refused<'a> {
    pub(super) fn new(
        (domain, candidate): (&'a DomainView, &'a Candidate),
        (contract, declared): (&'a ContractName, &'a Declared<Contract>),
        refusal: Refusal,
    ) -> Self {
        let current = domain.contracts.get(contract).filter(|_| refusal.field() == Some("version"));
        let merge = current.and_then(|current| candidate.merge_first(&domain.info.name, current));
        Self { domain, candidate, contract, declared, refusal, current, merge }
    }

    /// Returns the findings. A branch that only lacks recently published changes is not reported as broken.
    pub(super) fn findings(&self, judge: &Judge<'_>) -> Vec<Finding> {
        let bump = self.bump(judge);
        let resolution = self.resolution(bump.as_ref());
        let line = self.declared.lines.get(self.refusal.field().unwrap_or("version")).copied();
        let place = |finding: Finding| {
            let finding = finding.domain(self.name()).contract(self.contract).at(&self.declared.path, line);
            Finding { bump: bump.clone(), resolution: resolution.clone(), ..finding }
        };
        match &*self.refusal.reason {
            Reason::Down { version, current, is_published: true, .. } | Reason::Overtaken { version, current, .. } => {
                vec![place(self.below(version, current))]
            }
            Reason::Republished { version, .. } if self.is_newer(version) => vec![place(self.error(format!(
                "{} {version} has since been published with different content: merge the published commit, then raise \
                 the version",
                self.at()
            )))],
            // Callers that have the file add the lines.
            Reason::Invalid(faults) | Reason::Undecided(faults) => {
                let of = |Fault { pointer, message }: &Fault| Finding {
                    line: None,
                    place: Some(pointer.clone()),
                    ..place(self.error(format!("{}: {message}", self.at())))
                };
                faults.iter().map(of).collect()
            }
            Reason::BreaksPromise { promise, version, .. } => {
                let of = |broken: Promise| {
                    let verdict = broken.broken.first().cloned();
                    Finding {
                        line: self.declared.line(verdict.as_ref()),
                        place: verdict.as_ref().and_then(Verdict::place),
                        version: Some(version.clone()),
                        fingerprint: Some(promise.fingerprint()),
                        verdict,
                        ..place(self.refused(&self.of_promise(broken)))
                    }
                };
                promise.each().map(of).collect()
            }
            Reason::UndecidedVersion { minor, major, .. } => {
                let (version, bump) = (Some(minor.clone()), Some(major.clone()));
                vec![Finding { version, bump, ..place(self.refused(&self.refusal)) }]
            }
            _ => vec![place(self.refused(&self.refusal))],
        }
    }

    fn name(&self) -> &DomainName {
        &self.domain.info.name
    }

    fn at(&self) -> String {
        format!("{}/{}", self.name(), self.contract)
    }

    fn error(&self, message: String) -> Finding {
        Finding::error(self.refusal.code(), message)
    }

    fn refused(&self, refusal: &Refusal) -> Finding {
        self.error(format!("{refusal}{}", self.unless_older()))
    }

    /// Returns the refusal for only one of the broken promises.
    fn of_promise(&self, broken: Promise) -> Refusal {
        let mut refusal = self.refusal.clone();
        if let Reason::BreaksPromise { promise, .. } = &mut *refusal.reason {
            **promise = broken;
        }
        refusal
    }

    /// Returns the version that the file needs. If the version went down, this is the one that the content needs.
    fn bump(&self, judge: &Judge<'_>) -> Option<Version> {
        match *self.refusal.reason {
            Reason::Down { .. } | Reason::Overtaken { .. } => {
                let held = self.domain.contracts.get(self.contract)?;
                Some(next_version::needed(self.domain, held, &self.declared.document, judge).version)
            }
            _ => self.refusal.bump().cloned(),
        }
    }

    /// Returns the end of a message for a branch that may lack what was published. The comparison treats what it lacks
    /// as removed, so the version that the message asks for may be too high.
    fn unless_older(&self) -> String {
        match self.current.map(|current| &current.version) {
            Some(version) if self.merge.is_some() => {
                format!("; this branch lacks the published {version}: merge it first")
            }
            Some(version) if self.candidate.unknown.contains(self.name()) => {
                format!("; this shallow clone cannot tell whether the branch lacks {version}: git fetch --unshallow")
            }
            _ => String::new(),
        }
    }

    fn resolution(&self, needed: Option<&Version>) -> Vec<String> {
        let mut steps = match self.merge {
            Some(merge) => {
                let older_line = self.current.and_then(|current| self.candidate.of_older_line(self.name(), current));
                [merge].into_iter().chain(older_line).map(str::to_owned).collect()
            }
            None => self.corrections(),
        };
        steps.extend(self.steps_down(needed));
        steps
    }

    /// Returns the steps for a branch that contains the published commit.
    fn corrections(&self) -> Vec<String> {
        if let Some(removal) = self.refusal.remove_file(&self.declared.path) {
            return vec![removal];
        }
        // `contract bump` compares with what is published, which lacks the version of the base.
        if let Reason::InBase { needed: Needed { version, if_breaking, .. }, .. } = &*self.refusal.reason {
            let major = if_breaking.iter().map(|major| format!("{major} if it may break consumers, or else "));
            return vec![format!("write the version {}{version}, and commit", major.collect::<String>())];
        }
        let given_up = self.refusal.of_given_up();
        let is_undecided =
            matches!(&*self.refusal.reason, Reason::Republished { needed, .. } if needed.if_breaking.is_some());
        if !given_up.is_empty() || !is_undecided {
            return given_up;
        }
        let levels = [("major", "if it may break consumers; this could not be decided"), ("minor", "if it does not")];
        levels.map(|(level, when)| format!("git blue contract bump {} {level}  # {when}", self.at())).to_vec()
    }

    /// Returns the steps if the file has an older version than the realm, as after `git revert`. `needed` is the
    /// version that it needs to be newer.
    fn steps_down(&self, needed: Option<&Version>) -> Vec<String> {
        if let Some(write) = self.refusal.rewrite_file(&self.candidate.up) {
            return vec![write];
        }
        let Reason::Down { current, is_published: true, .. } = &*self.refusal.reason else { return Vec::new() };
        if self.candidate.behind.contains_key(self.name()) || self.candidate.unknown.contains(self.name()) {
            return Vec::new();
        }
        let parts = |version: &Version| (version.semver().major, version.semver().minor);
        let level = needed.map(|needed| match (parts(needed), parts(current)) {
            ((major, _), (held, _)) if major != held => "major",
            ((_, minor), (_, held)) if minor != held => "minor",
            _ => "patch",
        });
        let at = self.at();
        let bump =
            level.map(|level| format!("git blue contract bump {at} {level}  # or publish it as a newer version"));
        let rollback = "git blue contract publish --rollback --reason \"…\"  # once this commit is on the publishing \
            branch: publish the older version again";
        [rollback.to_owned()].into_iter().chain(bump).collect()
    }

    /// Returns the finding for a version below the current one. If the files never had the newer version, this is not
    /// a downgrade.
    fn below(&self, version: &Version, current: &Version) -> Finding {
        let message = |what: &str| format!("{} is {version} here and {current} in the realm; {what}", self.at());
        if self.candidate.behind.contains_key(self.name()) {
            Finding::warning("behind", message("merge the newer versions"))
        } else if self.candidate.unknown.contains(self.name()) {
            let unshallow = "this shallow clone cannot tell which is newer: git fetch --unshallow";
            Finding::warning("behind", message(unshallow))
        } else if let Reason::Overtaken { .. } = *self.refusal.reason {
            self.error(self.refusal.to_string())
        } else {
            // Publishing refuses the whole commit.
            self.error(message(&format!("publish it with --rollback, or write a version above {current}")))
        }
    }

    /// Returns whether a version was published after these files diverged from the published ones, which did not have
    /// its content then.
    fn is_newer(&self, version: &Version) -> bool {
        let before = self.candidate.before.get(&(self.name().clone(), self.contract.clone()));
        let before = before.filter(|before| before.version == *version);
        let hash = |document: &Contract| document.computed_content_hash();
        self.candidate.behind.contains_key(self.name())
            && before.map(hash) != self.domain.document(self.contract, version).map(hash)
    }
}
