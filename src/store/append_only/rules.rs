//! The rules for the files of a ref: who may change each of them, and which are kept forever.

use super::{Examination, Step};
use crate::model::{
    contract::Contract,
    domain::Domain,
    name::{ContractName, RepoName},
    oid::Oid,
    realm::{Rename, Repo},
    set_aside::{Rule, SetAside},
    transfer::Transfers,
};
use crate::store::{EntryKind, StoreError, layout, read, tree_file::TreeFile};

impl Examination<'_> {
    /// Returns the rule that a change breaks, and the owner of the file.
    pub(super) fn rule(
        &self,
        step: &Step<'_>,
        place: &TreeFile,
        before: Option<Oid>,
        after: Option<Oid>,
    ) -> Result<Option<(Rule, Vec<RepoName>)>, StoreError> {
        let claims = |repo: &RepoName| self.claims_to_be_by(step, repo);
        let own = |repo: &RepoName, rule| Ok((before.is_some() && !claims(repo)).then(|| (rule, vec![repo.clone()])));
        let found = match place {
            TreeFile::Realm if after.is_none() => Some((Rule::RecordRemoved, Vec::new())),
            TreeFile::Domain => return self.membership(step, before, after),
            TreeFile::Version(name, _) => {
                let held = self.read::<Contract>(before)?;
                let owner = held.map(|contract| contract.owner).or(self.owner(&step.before, name)?);
                match (before, after, owner) {
                    (Some(_), None, owner) => Some((Rule::VersionRemoved, owner.into_iter().collect())),
                    (Some(_), Some(_), owner) => Some((Rule::VersionChanged, owner.into_iter().collect())),
                    (None, _, Some(owner)) if !claims(&owner) && !self.is_offered(step, name, &owner)? => {
                        Some((Rule::ContractChanged, vec![owner]))
                    }
                    _ => None,
                }
            }
            TreeFile::Contract(name) => match (self.owner(&step.before, name)?, after) {
                (owner, None) => Some((Rule::ContractRemoved, owner.into_iter().collect())),
                (Some(owner), Some(_)) if !claims(&owner) && !self.is_offered(step, name, &owner)? => {
                    Some((Rule::ContractChanged, vec![owner]))
                }
                _ => None,
            },
            TreeFile::Transfers(name) => match self.owner(&step.before, name)? {
                Some(owner) if !claims(&owner) => Some((Rule::ContractChanged, vec![owner])),
                _ => None,
            },
            TreeFile::Approval(name, _) => match (self.owner(&step.before, name)?, before) {
                (_, Some(_)) if after.is_none() => Some((Rule::RecordRemoved, Vec::new())),
                (Some(owner), _) if !claims(&owner) => Some((Rule::ContractChanged, vec![owner])),
                _ => None,
            },
            TreeFile::Rename(old) => {
                (!self.is_honest_rename(step, old, after)?).then(|| (Rule::IdentityChanged, vec![old.clone()]))
            }
            TreeFile::Binding(repo) => return own(repo, Rule::BindingChanged),
            TreeFile::Source(_) if after.is_none() && self.is_removal(step)? => None,
            TreeFile::Source(repo) => return own(repo, Rule::SourceChanged),
            TreeFile::Repo(repo) => {
                let is_broken = match (self.read::<Repo>(before)?, self.read::<Repo>(after)?) {
                    (Some(held), Some(new)) => {
                        !held.roots.iter().all(|root| new.roots.contains(root))
                            || (held.url != new.url && !claims(repo))
                    }
                    (Some(_), None) => !claims(repo),
                    (None, _) => false,
                };
                is_broken.then(|| (Rule::IdentityChanged, vec![repo.clone()]))
            }
            TreeFile::LosingContract(..) | TreeFile::LosingRepo(..) if after.is_none() => {
                Some((Rule::RecordRemoved, Vec::new()))
            }
            TreeFile::SetAside(_) => {
                let is_broken = match (self.read::<SetAside>(before)?, self.read::<SetAside>(after)?) {
                    (None, _) => false,
                    (Some(held), Some(new)) => SetAside { settled: None, ..new } != SetAside { settled: None, ..held },
                    (Some(_), None) => true,
                };
                is_broken.then_some((Rule::RecordRemoved, Vec::new()))
            }
            _ => None,
        };
        Ok(found)
    }

    /// Returns whether a commit claims to be by a repository, under the given or a later name.
    fn claims_to_be_by(&self, step: &Step<'_>, repo: &RepoName) -> bool {
        let Some(claim) = &step.claim else { return false };
        let mut name = repo;
        for _ in 0..=self.renames.len() {
            if name == claim {
                return true;
            }
            match self.renames.get(name) {
                Some(newer) => name = newer,
                None => break,
            }
        }
        false
    }

    /// Returns whether the owner of a contract offered it to the repository that the commit claims to be by.
    fn is_offered(&self, step: &Step<'_>, name: &ContractName, owner: &RepoName) -> Result<bool, StoreError> {
        let transfers = self.read_at::<Transfers>(&step.before, &layout::transfers(name))?;
        Ok(transfers.is_some_and(|transfers| {
            transfers.offered(owner).is_some() && transfers.offered(owner) == step.claim.as_ref()
        }))
    }

    /// Returns whether a repository renamed itself: its entry has moved to the new name, and the commit claims to be by
    /// the repository. A record may be removed only if the former name is in use again.
    fn is_honest_rename(&self, step: &Step<'_>, old: &RepoName, after: Option<Oid>) -> Result<bool, StoreError> {
        let entry = |tree: &Oid, name: &RepoName| self.read_at::<Repo>(tree, &layout::repo(name));
        if after.is_none() {
            return Ok(entry(&step.info.tree, old)?.is_some());
        }
        let Some(rename) = self.read::<Rename>(after)? else { return Ok(false) };
        let (held, new) = (entry(&step.before, old)?, entry(&step.info.tree, &rename.to)?);
        let is_same = held.zip(new).is_some_and(|(held, new)| (held.url, held.roots) == (new.url, new.roots));
        Ok(is_same && rename.from == *old && step.claim.as_ref() == Some(&rename.to))
    }

    fn membership(
        &self,
        step: &Step<'_>,
        before: Option<Oid>,
        after: Option<Oid>,
    ) -> Result<Option<(Rule, Vec<RepoName>)>, StoreError> {
        let Some(held) = self.read::<Domain>(before)? else { return Ok(None) };
        let Some(new) = self.read::<Domain>(after)? else {
            return Ok(Some((Rule::RecordRemoved, held.members.into_iter().collect())));
        };
        if new.removed && self.is_removal(step)? {
            return Ok(None);
        }
        let is_taken_away = |repo: &RepoName| !new.has_member(repo) && !self.claims_to_be_by(step, repo);
        let gone: Vec<_> = held.members.into_iter().filter(is_taken_away).collect();
        Ok((!gone.is_empty()).then_some((Rule::MemberRemoved, gone)))
    }

    /// Returns whether a commit removes an unused domain, which any repository may do: one without
    /// bindings, and with retired contracts only.
    fn is_removal(&self, step: &Step<'_>) -> Result<bool, StoreError> {
        let domain = self.read_at::<Domain>(&step.info.tree, &layout::domain())?;
        if !domain.is_some_and(|domain| domain.removed)
            || !read::folder(self.store, &step.before, layout::BINDINGS)?.is_empty()
        {
            return Ok(false);
        }
        for entry in read::folder(self.store, &step.before, layout::CONTRACTS)? {
            if self.read::<Contract>(Some(entry.id))?.is_none_or(|contract| contract.retired.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the owner of a contract, even if the contract has no current version.
    fn owner(&self, tree: &Oid, name: &ContractName) -> Result<Option<RepoName>, StoreError> {
        let mut documents: Vec<_> =
            read::lookup(self.store, tree, layout::contract(name).as_str())?.into_iter().collect();
        if documents.is_empty() {
            documents.extend(read::folder(self.store, tree, layout::versions(name).as_str())?.pop());
        }
        for entry in documents.iter().filter(|entry| entry.kind == EntryKind::Blob) {
            if let Some(contract) = self.read::<Contract>(Some(entry.id))? {
                return Ok(Some(contract.owner));
            }
        }
        Ok(None)
    }
}
