//! The publication of one commit, and the part of each domain that it concerns.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        binding::Binding,
        candidate::{Candidate, Declared},
        contract::Contract,
        domain::Source,
        domain_view::DomainView,
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        publish::{Direction, Reason, Refusal},
        verdict::Judge,
        version::Version,
    },
    ops::{
        contract::verdict::Upcoming,
        ctx::{ActingRepo, Ctx},
        domain::{self, Part},
        publish::{cycles, removal::Removal},
        sync::auto,
    },
    repo::CodeRepo,
    store::Store,
    wire::RemovedFile,
};

/// The publication of one commit.
pub struct Work<'a> {
    pub ctx: &'a Ctx,
    pub acting: ActingRepo<'a>,
    pub code: &'a CodeRepo,
    pub commit: &'a Oid,
    pub branch: &'a str,
    pub candidate: &'a Candidate,
    pub direction: Direction,
    pub judge: &'a Judge<'a>,
    /// Tries whether the commit could be published as a rollback.
    pub rolls_back: &'a dyn Fn() -> Result<(), OpError>,
}

impl Work<'_> {
    pub fn store(&self) -> &dyn Store {
        self.acting.store
    }

    /// Returns the contracts that are decided on: those that the commit changes, and all of them for a rollback.
    fn decided<'w>(&'w self, name: &'w DomainName) -> impl Iterator<Item = (&'w ContractName, &'w Declared<Contract>)> {
        let is_decided = |declared: &Declared<Contract>| declared.changed || self.direction == Direction::Rollback;
        self.candidate.contracts_in(name).filter(move |(_, declared)| is_decided(declared))
    }

    /// Returns refusals of versions that go down, with the facts that decide how to resolve them. A rollback restores all
    /// contracts of the commit, so those that only go down would be accepted.
    pub fn judge_rollback(&self, refusals: &mut [Refusal]) {
        let changed = self.candidate.contracts.values().filter(|declared| declared.changed).count();
        let mut down = Vec::new();
        for refusal in refusals {
            if let Reason::Down { is_published: true, rolls_back, .. } = &mut *refusal.reason {
                down.push(rolls_back);
            }
        }
        if !down.is_empty() && changed > down.len() && (self.rolls_back)().is_err() {
            down.into_iter().for_each(|rolls_back| *rolls_back = false);
        }
    }

    fn wanted(&self, name: &DomainName) -> Vec<(ContractName, Version)> {
        let decided = self.decided(name);
        decided.map(|(contract, declared)| (contract.clone(), declared.document.version.clone())).collect()
    }

    /// Returns the contracts that the rules need: those that are decided on, their successors, those whose files were
    /// removed, and the imports of a changed binding.
    fn contracts(&self, name: &DomainName) -> BTreeSet<ContractName> {
        let successor = |contract: &Contract| contract.deprecated.as_ref()?.replaced_by.clone();
        let decided = self.decided(name).flat_map(|(contract, declared)| {
            [Some(contract.clone()), successor(&declared.document)].into_iter().flatten()
        });
        let binding = self.candidate.bindings.get(name).filter(|declared| declared.changed).into_iter();
        let imported = binding.flat_map(|declared| &declared.document.imports).map(|import| import.contract.clone());
        let removed = self.candidate.removed_contracts.keys().filter(|(domain, _)| domain == name);
        decided.chain(imported).chain(removed.map(|(_, contract)| contract.clone())).collect()
    }

    /// Returns the contracts whose importers are checked: those that changed, and the imports of a changed binding.
    fn changed(&self, name: &DomainName) -> BTreeSet<ContractName> {
        let contracts = self.candidate.contracts_in(name).filter(|(_, declared)| declared.changed);
        let binding = self.candidate.bindings.get(name).filter(|declared| declared.changed).into_iter();
        let imported = binding.flat_map(|declared| &declared.document.imports).map(|import| import.contract.clone());
        contracts.map(|(contract, _)| contract.clone()).chain(imported).collect()
    }

    /// Returns the binding that may bring imports back, with its repository.
    fn returning(&self, name: &DomainName) -> Option<(&RepoName, &Binding)> {
        let declared = self.candidate.bindings.get(name).filter(|declared| declared.changed)?;
        Some((self.acting.repo, &declared.document))
    }

    /// Returns contracts of this repository whose files were removed since the last published commit, but that are not
    /// retired, each with whether it is imported.
    pub fn missing_files(&self, view: &DomainView) -> Vec<(RemovedFile, bool)> {
        let domain = &view.info.name;
        let removed = self.candidate.removed_contracts.iter().filter(|((of, _), _)| of == domain);
        let served = removed.filter(|((_, contract), _)| {
            let held = view.contracts.get(contract);
            held.is_some_and(|held| held.owner == *self.acting.repo && held.retired.is_none())
        });
        let gone = served.map(|((_, contract), path)| {
            let file = RemovedFile { domain: domain.clone(), contract: contract.clone(), file: path.clone() };
            (file, view.importers(contract).next().is_some())
        });
        gone.collect()
    }

    /// Calls `read` with the part of a domain that this commit concerns.
    pub fn with_part<T>(&self, name: &DomainName, read: impl FnOnce(Part<'_>) -> T) -> T {
        read(Part {
            contracts: Some(&self.contracts(name)),
            published: &self.wanted(name),
            bases: Some(&self.changed(name)),
            upcoming: Upcoming::of([self.candidate], name),
            returning: self.returning(name),
        })
    }

    /// Reads the part of a domain that this commit concerns, and returns it with the domain's tip.
    pub fn load(&self, name: &DomainName) -> Result<(Oid, DomainView), OpError> {
        let tip = domain::tip(self.store(), name).map_err(|error| self.offer_to_create(name, error))?;
        let view = self.with_part(name, |part| domain::load(self.store(), name, &tip, &part))?;
        if !view.info.has_member(self.acting.repo)
            && self.candidate.domains().contains(name)
            && let Some(removal) = Removal::of(self.store(), name, self.acting.repo)?
        {
            return Err(removal.refusal(self.store(), self.code, name, self.acting.repo)?);
        }
        Ok((tip, view))
    }

    /// Suggests the command that creates the domain, if this commit has files for it and its name is not likely
    /// misspelled.
    fn offer_to_create(&self, name: &DomainName, error: OpError) -> OpError {
        if error.code != ErrorCode::UnknownDomain || error.next_steps.is_empty() {
            return error;
        }
        let create = format!("git blue realm admin domain --name {name} --repos {}  # create it", self.acting.repo);
        let steps = auto::sync_first(self.store(), "created").into_iter().chain([create]);
        OpError { next_steps: steps.map(NextStep::from).collect(), ..error }
    }

    /// Returns the import cycles that the changed bindings create.
    pub fn cycles(&self) -> Result<Vec<String>, OpError> {
        let changed = self.candidate.bindings.iter().filter(|(_, declared)| declared.changed);
        let repo = self.acting.repo;
        let parts = changed.map(|(domain, declared)| cycles::Part { domain, repo, binding: &declared.document });
        cycles::closed(self.store(), &parts.collect::<Vec<_>>(), None)
    }

    /// Returns whether the commit has to be recorded in a domain: it changed a file there since the last published commit,
    /// or follows commits that were published concurrently.
    pub fn is_to_record(&self, view: &DomainView) -> bool {
        let name = &view.info.name;
        let is_concurrent = |source: &Source| !source.concurrent.is_empty();
        view.sources.get(self.acting.repo).is_some_and(is_concurrent) || self.has_changes(name)
    }

    fn has_changes(&self, name: &DomainName) -> bool {
        self.candidate.contracts_in(name).any(|(_, declared)| declared.changed)
            || self.candidate.bindings.get(name).is_some_and(|declared| declared.changed)
            || self.candidate.removed_bindings.contains(name)
            || self.candidate.removed_contracts.keys().any(|(domain, _)| domain == name)
    }
}
