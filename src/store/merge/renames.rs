//! Merges what repositories published that one side renamed. Renames are recorded in the realm's ref, which may not be
//! fetched yet, so they are recognized by the published commits.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;

use super::TreeMerge;
use crate::model::{
    binding::Binding,
    contract::Contract,
    domain::{Domain, Source},
    merge::{self, Newer},
    name::{ContractName, RepoName},
    oid::Oid,
    transfer::Transfers,
};
use crate::store::{Edit, StoreError, TreePath, codec, layout, read};

impl TreeMerge<'_> {
    /// Merges the last published commit of a repository that was renamed on one side, and published under its former
    /// name on the other side. Returns false if it was not renamed.
    pub(super) fn merge_renamed_source(
        &mut self,
        former: &RepoName,
        base: Option<Oid>,
        [ours, theirs]: [Option<Oid>; 2],
    ) -> Result<bool, StoreError> {
        let Some((side, new)) = self.renamed(former, ours, layout::source)? else { return Ok(false) };
        let path = layout::source(&new);
        let moved = self.blob_at(side, &path)?;
        let newer = self.newer(if side == 0 { [&new, former] } else { [former, &new] })?;
        let (our, their) = (ours.or(moved), theirs.or(moved));
        let read = |blob| read::readable::<Source>(self.store, blob);
        let (base, [ours_read, theirs_read]) = (read(base)?, [read(our)?, read(their)?]);
        let merged = match (ours_read, theirs_read) {
            (Some(ours), Some(theirs)) => Some(merge::source(base.as_ref(), &ours, &theirs, newer)),
            (ours, theirs) => ours.or(theirs),
        };
        self.merge.edits.extend(ours.map(|_| (layout::source(former), Edit::Remove)));
        self.merge.edits.extend(merged.map(|source| (path, Edit::Put(codec::encode(&source)))));
        Ok(true)
    }

    /// Merges the binding of a repository that was renamed on one side, and published another binding under its former
    /// name on the other side. Returns false if it was not renamed.
    pub(super) fn merge_renamed_binding(
        &mut self,
        former: &RepoName,
        base: Option<Oid>,
        [ours, theirs]: [Option<Oid>; 2],
    ) -> Result<bool, StoreError> {
        let Some((side, new)) = self.renamed(former, ours, layout::binding)? else { return Ok(false) };
        let moved = self.blob_at(side, &layout::binding(&new))?;
        let (Some(moved), Some(changed)) =
            (read::readable::<Binding>(self.store, moved)?, read::readable(self.store, ours.or(theirs))?)
        else {
            return Ok(false);
        };
        let base = read::readable::<Binding>(self.store, base)?;
        let is_only_moved = base.as_ref().is_some_and(|base| base.as_written() == moved.as_written());
        let (newer, our, their) = match side {
            0 if is_only_moved => (Newer::Theirs, &moved, &changed),
            0 => (self.newer([&new, former])?, &moved, &changed),
            _ if is_only_moved => (Newer::Ours, &changed, &moved),
            _ => (self.newer([former, &new])?, &changed, &moved),
        };
        let merged = merge::binding(base.as_ref(), our, their, newer);
        self.merge.edits.extend(ours.map(|_| (layout::binding(former), Edit::Remove)));
        self.put_binding(&new, Some(&moved).filter(|_| side == 0), merged);
        Ok(true)
    }

    /// Returns the side that no longer has a file of a repository because it renamed the repository, and the new name.
    /// `ours` is the file on our side. Returns `None` if the other side has the file of the new name too.
    fn renamed(
        &self,
        former: &RepoName,
        ours: Option<Oid>,
        file: fn(&RepoName) -> TreePath,
    ) -> Result<Option<(usize, RepoName)>, StoreError> {
        let side = usize::from(ours.is_some());
        let Some(new) = self.new_name(side, former)? else { return Ok(None) };
        Ok(self.blob_at(1 - side, &file(&new))?.is_none().then_some((side, new)))
    }

    /// Returns both documents of a contract, under the new name of the owner if one side renamed it, and which side has
    /// the newer one: the one of the later commit of its owner, or of the repository that took it over.
    pub(super) fn comparable(
        &self,
        name: &ContractName,
        ours: &Contract,
        theirs: &Contract,
    ) -> Result<([Contract; 2], Newer), StoreError> {
        let documents = [ours.clone(), theirs.clone()];
        let owners = [&ours.owner, &theirs.owner];
        let newer = match self.former_owner(name)? {
            _ if ours.owner == theirs.owner => return Ok((documents, self.newer(owners)?)),
            Some(former) => self.taken_over(&former, owners)?,
            None => Newer::Unknown,
        };
        let renamed = match newer {
            Newer::Ours => self.new_name(0, &theirs.owner)?.filter(|name| *name == ours.owner),
            Newer::Theirs => self.new_name(1, &ours.owner)?.filter(|name| *name == theirs.owner),
            Newer::Unknown => None,
        };
        let Some(owner) = renamed else { return Ok((documents, newer)) };
        Ok((documents.map(|document| Contract { owner: owner.clone(), ..document }), self.newer(owners)?))
    }

    /// Returns which side took a contract over from its former owner. The other side may have that one under a new name.
    fn taken_over(&self, former: &RepoName, owners: [&RepoName; 2]) -> Result<Newer, StoreError> {
        let newer = merge::taken_over(owners.map(|owner| owner == former));
        if newer != Newer::Unknown {
            return Ok(newer);
        }
        let is_renamed = |side: usize| Ok::<_, StoreError>(self.new_name(side, former)?.as_ref() == Some(owners[side]));
        Ok(merge::taken_over([is_renamed(0)?, is_renamed(1)?]))
    }

    /// Returns whether both documents have one owner, or the transfers on either side lead from the owner of the older one
    /// to that of the newer one.
    pub(super) fn is_handed_over(
        &self,
        name: &ContractName,
        [ours, theirs]: [&Contract; 2],
        newer: Newer,
    ) -> Result<bool, StoreError> {
        let (from, to) = match newer {
            _ if ours.owner == theirs.owner => return Ok(true),
            Newer::Ours => (&theirs.owner, &ours.owner),
            Newer::Theirs => (&ours.owner, &theirs.owner),
            Newer::Unknown => return Ok(false),
        };
        let newest = |repo: &RepoName| match self.new_name(0, repo)? {
            None => self.new_name(1, repo),
            renamed => Ok(renamed),
        };
        let [from, to] = [newest(from)?.unwrap_or_else(|| from.clone()), newest(to)?.unwrap_or_else(|| to.clone())];
        for side in [0, 1] {
            let record = self.blob_at(side, &layout::transfers(name))?;
            let record: Transfers = read::readable(self.store, record)?.unwrap_or_else(|| Transfers::of(name.clone()));
            if record.with_newer_names(newest)?.reached_from(&from).contains(&to) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Merges the transfers of a contract. A side that withdrew the only offer has no record.
    pub(super) fn merged_transfers(&self, base: Option<Oid>, sides: [&Transfers; 2]) -> Result<Transfers, StoreError> {
        let base = self.readable::<Transfers>(base)?;
        let [mut ours, mut theirs] = [BTreeMap::new(), BTreeMap::new()];
        if let Some(base) = &base {
            (ours, theirs) = (self.renamed_parties(0, base, sides[0])?, self.renamed_parties(1, base, sides[1])?);
        }
        Ok(merge::transfers(base.as_ref(), sides, [&ours, &theirs]))
    }

    /// Returns the repositories of a record of transfers that a side renamed: the new name replaced the former one in the
    /// record, and among the members of the domain.
    fn renamed_parties(
        &self,
        side: usize,
        base: &Transfers,
        now: &Transfers,
    ) -> Result<BTreeMap<RepoName, RepoName>, StoreError> {
        let domain = self.readable::<Domain>(self.content(side, &layout::domain())?)?;
        let (Some(before), Some(after)) = (self.in_base::<Domain>(&layout::domain())?, domain) else {
            return Ok(BTreeMap::new());
        };
        let is_only_in = |one: &Domain, other: &Domain, repo| one.has_member(repo) && !other.has_member(repo);
        let renamed = base
            .parties()
            .zip(now.parties())
            .filter(|(old, new)| is_only_in(&before, &after, old) && is_only_in(&after, &before, new));
        Ok(renamed.map(|(old, new)| (old.clone(), new.clone())).collect())
    }

    /// Returns the owner of a contract in the merge base.
    fn former_owner(&self, name: &ContractName) -> Result<Option<RepoName>, StoreError> {
        Ok(self.in_base::<Contract>(&layout::contract(name))?.map(|former| former.owner))
    }

    /// Returns a document in the merge base, or in one of them.
    fn in_base<T: DeserializeOwned>(&self, path: &TreePath) -> Result<Option<T>, StoreError> {
        for base in self.bases {
            let held = read::lookup(self.store, base, path.as_str())?.map(|entry| entry.id);
            if let Some(held) = read::readable(self.store, held)? {
                return Ok(Some(held));
            }
        }
        Ok(None)
    }

    /// Returns the new name that a side gave to the repository `former`, or `None` if it did not rename it. The side
    /// renamed it if it has no published commit under the former name any more, and the histories of both names share a
    /// published commit.
    fn new_name(&self, side: usize, former: &RepoName) -> Result<Option<RepoName>, StoreError> {
        let is_there = |path: TreePath| Ok::<_, StoreError>(self.blob_at(side, &path)?.is_some());
        let Some(held) = self.pasts[side].get(&format!("{former}.json")) else { return Ok(None) };
        if is_there(layout::source(former))? {
            return Ok(None);
        }
        for (file, _) in self.pasts[side].iter().filter(|(_, past)| !past.is_disjoint(held)) {
            let name: Option<RepoName> = file.strip_suffix(".json").and_then(|name| name.parse().ok());
            if let Some(name) = name.filter(|name| name != former)
                && is_there(layout::source(&name))?
            {
                return Ok(Some(name));
            }
        }
        Ok(None)
    }

    /// Returns which side published the later commit of a repository: the one whose history contains the other's.
    /// `repos` are its names on our side and on theirs.
    pub(super) fn newer(&self, repos: [&RepoName; 2]) -> Result<Newer, StoreError> {
        let now = |side: usize| self.blob_at(side, &layout::source(repos[side]));
        let (Some(ours), Some(theirs)) = (now(0)?, now(1)?) else {
            return Ok(Newer::Unknown);
        };
        let files = repos.map(|repo| format!("{repo}.json"));
        let had = |side: usize, blob: &Oid| {
            files.iter().filter_map(|file| self.pasts[side].get(file)).any(|past| past.contains(blob))
        };
        Ok(match (had(0, &theirs), had(1, &ours)) {
            _ if ours == theirs => Newer::Unknown,
            (true, false) => Newer::Ours,
            (false, true) => Newer::Theirs,
            _ => Newer::Unknown,
        })
    }
}
