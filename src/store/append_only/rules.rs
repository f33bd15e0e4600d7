//! The rules for the files of a ref: who may change each of them, and which are kept forever.

use std::collections::BTreeSet;

use super::{Examination, Step};
use crate::model::{
    contract::Contract,
    domain::Domain,
    name::{ContractName, RepoName},
    oid::Oid,
    realm::{Rename, Repo},
    set_aside::{Rule, SetAside},
    transfer::Transfers,
    version::Version,
};
use crate::store::{StoreError, layout, tree_file::TreeFile};

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
        let own = |repo: &RepoName, rule| Ok((before.is_some() && !claims(repo)?).then(|| (rule, vec![repo.clone()])));
        let found = match place {
            TreeFile::Realm if after.is_none() => Some((Rule::RecordRemoved, Vec::new())),
            TreeFile::Domain => return self.membership(step, before, after),
            TreeFile::Version(name, _) => {
                let held = self.read::<Contract>(before)?;
                let owner = held.map(|contract| contract.owner).or(self.owner(step, name)?);
                match (before, after, owner) {
                    (Some(_), None, owner) => Some((Rule::VersionRemoved, owner.into_iter().collect())),
                    (Some(_), Some(_), owner) => Some((Rule::VersionChanged, owner.into_iter().collect())),
                    (None, _, Some(owner)) if !claims(&owner)? && !self.is_offered(step, name, &owner)? => {
                        Some((Rule::ContractChanged, vec![owner]))
                    }
                    _ => None,
                }
            }
            TreeFile::Contract(name) => match (self.owner(step, name)?, after) {
                (owner, None) => Some((Rule::ContractRemoved, owner.into_iter().collect())),
                (Some(owner), Some(_)) if !claims(&owner)? && !self.is_offered(step, name, &owner)? => {
                    Some((Rule::ContractChanged, vec![owner]))
                }
                _ => None,
            },
            TreeFile::Transfers(name) => match self.owner(step, name)? {
                Some(owner) if !claims(&owner)? && !self.is_renamed(before, after)? => {
                    Some((Rule::ContractChanged, vec![owner]))
                }
                _ => None,
            },
            TreeFile::Approval(name, _) => match (self.owner(step, name)?, before) {
                (_, Some(_)) if after.is_none() => Some((Rule::RecordRemoved, Vec::new())),
                (Some(owner), _) if !claims(&owner)? => Some((Rule::ContractChanged, vec![owner])),
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
                            || (held.url != new.url && !claims(repo)?)
                    }
                    (Some(_), None) => !claims(repo)?,
                    (None, _) => false,
                };
                is_broken.then(|| (Rule::IdentityChanged, vec![repo.clone()]))
            }
            TreeFile::LosingBinding(repo, _) | TreeFile::LosingRepo(repo, _) if after.is_none() && claims(repo)? => {
                None
            }
            TreeFile::LosingContract(..) | TreeFile::LosingBinding(..) | TreeFile::LosingRepo(..) => {
                Some((if after.is_none() { Rule::RecordRemoved } else { Rule::RecordChanged }, Vec::new()))
            }
            TreeFile::SetAside(_) if after.is_none() => Some((Rule::RecordRemoved, Vec::new())),
            TreeFile::SetAside(id) => {
                let is_allowed = match (self.read::<SetAside>(before)?, self.read::<SetAside>(after)?) {
                    (None, Some(new)) => new.id() == *id && self.is_justified_record(step, &new)?,
                    (Some(held), Some(new)) => {
                        let settler = new.settled.as_ref().filter(|_| held.is_open()).map(|settled| &settled.by);
                        settler.map(claims).transpose()? == Some(true)
                            && new.may_be_settled()
                            && SetAside { settled: None, ..new } == SetAside { settled: None, ..held }
                    }
                    (_, None) => false,
                };
                (!is_allowed).then_some((Rule::RecordChanged, Vec::new()))
            }
            TreeFile::Session(_) | TreeFile::EndedSession(_) | TreeFile::Realm => None,
        };
        Ok(found)
    }

    /// Returns whether a commit claims to be by a repository, under the given or a later name.
    fn claims_to_be_by(&self, step: &Step<'_>, repo: &RepoName) -> Result<bool, StoreError> {
        let Some(claim) = &step.claim else { return Ok(false) };
        self.renames.lead(self.store, repo, claim)
    }

    /// Returns whether the names of repositories that were renamed are all that a record of transfers changed.
    fn is_renamed(&self, before: Option<Oid>, after: Option<Oid>) -> Result<bool, StoreError> {
        let (Some(before), Some(after)) = (self.read::<Transfers>(before)?, self.read::<Transfers>(after)?) else {
            return Ok(false);
        };
        for (before, after) in before.transfers.iter().zip(&after.transfers) {
            for (name, later) in [(&before.from, &after.from), (&before.to, &after.to)] {
                if !self.renames.lead(self.store, name, later)? {
                    return Ok(false);
                }
            }
        }
        Ok(before.transfers.len() == after.transfers.len())
    }

    /// Returns whether the owner of a contract offered it to the repository that the commit claims to be by.
    fn is_offered(&self, step: &Step<'_>, name: &ContractName, owner: &RepoName) -> Result<bool, StoreError> {
        let transfers = self.held::<Transfers>(step, &layout::transfers(name))?;
        Ok(transfers.is_some_and(|transfers| {
            transfers.offered(owner).is_some() && transfers.offered(owner) == step.claim.as_ref()
        }))
    }

    /// Returns whether a repository renamed itself: its entry has moved to the new name, and the commit claims to be by
    /// the former one. A record may be removed only if the former name is in use again.
    pub(super) fn is_honest_rename(
        &self,
        step: &Step<'_>,
        old: &RepoName,
        after: Option<Oid>,
    ) -> Result<bool, StoreError> {
        let now = |name: &RepoName| self.read_at::<Repo>(&step.info.tree, &layout::repo(name));
        if after.is_none() {
            return Ok(now(old)?.is_some());
        }
        let Some(rename) = self.read::<Rename>(after)? else { return Ok(false) };
        let (held, new) = (self.held::<Repo>(step, &layout::repo(old))?, now(&rename.to)?);
        let is_same = held.zip(new).is_some_and(|(held, new)| (held.url, held.roots) == (new.url, new.roots));
        Ok(is_same && rename.from == *old && step.claim.as_ref() == Some(old))
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
        if new.removed && !held.removed {
            let members = held.members.into_iter().collect();
            return Ok((!self.is_removal(step)?).then_some((Rule::RecordRemoved, members)));
        }
        let mut gone = Vec::new();
        for member in held.members.into_iter().filter(|member| !new.has_member(member)) {
            if !self.claims_to_be_by(step, &member)? {
                gone.push(member);
            }
        }
        Ok((!gone.is_empty()).then_some((Rule::MemberRemoved, gone)))
    }

    /// Returns whether a commit removes an unused domain, which any repository may do: one without
    /// bindings, and with retired contracts only.
    fn is_removal(&self, step: &Step<'_>) -> Result<bool, StoreError> {
        let domain = self.read_at::<Domain>(&step.info.tree, &layout::domain())?;
        if !domain.is_some_and(|domain| domain.removed) || !self.held_names(step, layout::BINDINGS)?.is_empty() {
            return Ok(false);
        }
        for file in self.held_names(step, layout::CONTRACTS)? {
            let Some(name) = layout::stem(&file) else { return Ok(false) };
            let contract = self.held::<Contract>(step, &layout::contract(&name))?;
            if contract.is_none_or(|contract| contract.retired.is_none()) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the owner of a contract, even if its current document is missing or cannot be read.
    fn owner(&self, step: &Step<'_>, name: &ContractName) -> Result<Option<RepoName>, StoreError> {
        if let Some(contract) = self.held::<Contract>(step, &layout::contract(name))? {
            return Ok(Some(contract.owner));
        }
        let files = self.held_names(step, layout::versions(name).as_str())?;
        let versions: BTreeSet<Version> = files.iter().filter_map(|file| layout::stem(file)).collect();
        for version in versions.iter().rev() {
            if let Some(contract) = self.held::<Contract>(step, &layout::version(name, version))? {
                return Ok(Some(contract.owner));
            }
        }
        Ok(None)
    }
}
