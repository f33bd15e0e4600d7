//! Merges what was fetched from a remote, ref by ref, after checking it.

use std::collections::{BTreeMap, BTreeSet};

use super::{KnownTips, RejectedRefs, Syncing, add, conflict, invalid_refs::InvalidRef, line, problem};
use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        conflict::{Conflict, Standing},
        contract::Contract,
        name::{ContractName, DomainName, RemoteName},
        oid::Oid,
        set_aside::SetAside,
        text::comma_separated_at_most,
        transfer::{Transfer, Transfers},
        version::Version,
    },
    store::{
        Change, Edit, Parents, Store, StoreError, StoreRef, append_only, codec,
        history::{self, Relation},
        layout,
        merge::{self, Overrides},
        read,
        remote::Listing,
        unless_damaged,
    },
    wire::{RefUpdate, RemoteSync, SyncConflict, SyncProblem},
};

/// The maximum number of invalid names that a message shows.
const MAX_NAMED: usize = 20;
/// The maximum number of retries if another process moves a ref in the meantime.
const MAX_RACES: u32 = 16;

/// The result of merging one ref.
enum Outcome {
    Same,
    Ahead,
    Moved(Option<Oid>, Oid, RefUpdate, Vec<Conflict>),
}

/// The domains of this machine, by their names in lower case.
#[derive(Default)]
struct DomainsByCase(BTreeMap<String, DomainName>);

impl DomainsByCase {
    fn of(store: &dyn Store) -> Result<Self, StoreError> {
        let domains = store.domains()?.into_iter().map(|(name, _)| (name.as_str().to_ascii_lowercase(), name));
        Ok(Self(domains.collect()))
    }

    fn add(&mut self, name: StoreRef) {
        if let StoreRef::Domain(domain) = name {
            self.0.insert(domain.as_str().to_ascii_lowercase(), domain);
        }
    }

    /// Returns the domain whose name differs only in case from that of a ref.
    fn collision(&self, name: &StoreRef) -> Option<&DomainName> {
        let domain = name.domain()?;
        self.0.get(&domain.as_str().to_ascii_lowercase()).filter(|other| *other != domain)
    }
}

/// Returns the problem of a domain whose name differs only in case from that of a domain on this machine, which the
/// remote may have as well.
fn collision(name: &StoreRef, own: &StoreRef, is_shared: bool) -> SyncProblem {
    let (other, own) = (name.shared_name(), own.shared_name());
    let pushed =
        if is_shared { "" } else { ", which is not pushed: publish its contracts in a domain with another name" };
    let message = format!("{other} differs only in case from {own} on this machine{pushed}");
    problem(ErrorCode::NameCollision.as_str(), Some(name), message)
}

impl Syncing<'_> {
    /// Merges the refs of the remote. Returns those that were not merged and must not be pushed.
    pub(super) fn merge_fetched(
        &self,
        listing: &Listing,
        here: &KnownTips,
        unsound: &RejectedRefs,
        report: &mut RemoteSync,
    ) -> Result<Vec<StoreRef>, OpError> {
        self.same_realm(listing, here, unsound)?;
        let mut bad = Vec::new();
        if !listing.ignored.is_empty() {
            let names = listing.ignored.iter().map(|name| format!("{name:?}"));
            let message = format!("ignored names that are not valid: {}", comma_separated_at_most(MAX_NAMED, names));
            add(report, problem("bad-name", None, message));
        }
        let mut wanted: Vec<_> = self.wanted(listing).into_iter().collect();
        // The realm's own ref comes first, because it records renames that the others need.
        wanted.sort_by_key(|(name, _)| *name != StoreRef::Realm);
        wanted.retain(|(name, theirs)| here.seen.get(name) != Some(theirs) || here.tips.get(name) != Some(theirs));
        let mut domains = if wanted.is_empty() { DomainsByCase::default() } else { DomainsByCase::of(self.store)? };
        for (name, theirs) in wanted {
            if let Some(problem) = self.unfit(&name, &theirs, unsound)? {
                add(report, problem);
                bad.push(name);
                continue;
            }
            if let Some(own) = domains.collision(&name) {
                let own = StoreRef::Domain(own.clone());
                let is_shared = listing.tip(&own).is_some();
                add(report, collision(&name, &own, is_shared));
                bad.extend((!is_shared).then_some(own).into_iter().chain([name]));
                continue;
            }
            let seen = self.seen(&name)?;
            if let Some(before) = seen.filter(|before| *before != theirs)
                && !self.is_newer(&before, &theirs)
            {
                report.rewound.push(line(&name, Some(before), Some(theirs), RefUpdate::Rewound));
            }
            if let Outcome::Moved(old, new, update, conflicts) = self.merge_until_won(&name, &theirs)? {
                report.received.push(line(&name, old, Some(new), update));
                let tree = self.store.commit(&new)?.tree;
                for problem in self.replaced_offers(&name, old, &theirs, &tree)? {
                    add(report, problem);
                }
                let recorded = self.newly_recorded(&name, old, &tree)?;
                let conflicts: BTreeSet<_> = conflicts.into_iter().chain(recorded).collect();
                report.conflicts.extend(conflicts.into_iter().map(|one| self.reported(&name, &tree, one)));
            }
            self.note_seen(&name, theirs)?;
            domains.add(name);
        }
        self.note_deleted(listing, here, report)?;
        Ok(bad)
    }

    /// Returns whether the remote's ref was only fast-forwarded. Its previous tip may be missing on this machine.
    pub(super) fn is_newer(&self, before: &Oid, now: &Oid) -> bool {
        Relation::of(self.store, before, now).is_ok_and(|relation| relation.is_contained)
    }

    fn note_deleted(&self, listing: &Listing, here: &KnownTips, report: &mut RemoteSync) -> Result<(), OpError> {
        let listed: BTreeSet<&StoreRef> = listing.refs.iter().map(|(name, _)| name).collect();
        for (name, before) in &here.seen {
            if self.is_shared(name) && !listed.contains(name) {
                report.rewound.push(line(name, Some(*before), None, RefUpdate::Deleted));
                let seen = self.seen_ref(name);
                let _lease = self.store.lock(&seen)?;
                self.store.forget(&seen, *before)?;
            }
        }
        Ok(())
    }

    pub(super) fn note_seen(&self, name: &StoreRef, tip: Oid) -> Result<(), OpError> {
        let seen = self.seen_ref(name);
        let _lease = self.store.lock(&seen)?;
        let before = self.store.tip(&seen)?;
        if before != Some(tip) {
            self.store.advance(&seen, before, tip)?;
        }
        Ok(())
    }

    /// Checks that the remote has this realm, or none yet.
    pub(super) fn same_realm(
        &self,
        listing: &Listing,
        here: &KnownTips,
        unsound: &RejectedRefs,
    ) -> Result<(), OpError> {
        let Some(tip) = listing.tip(&StoreRef::Realm).filter(|tip| here.seen.get(&StoreRef::Realm) != Some(tip)) else {
            return Ok(());
        };
        match unsound.get(&StoreRef::Realm) {
            Some(why) => Err(self.known_here().invalid_error(&StoreRef::Realm, &tip, why)),
            None => self.known_here().require_same(&tip),
        }
    }

    /// Returns why a ref must not be merged, if there is a reason.
    pub(super) fn unfit(
        &self,
        name: &StoreRef,
        theirs: &Oid,
        unsound: &RejectedRefs,
    ) -> Result<Option<SyncProblem>, OpError> {
        let why = match unsound.get(name) {
            Some(why) => vec![why.clone()],
            None => {
                let known: Vec<Oid> = [self.store.tip(name)?, self.seen(name)?].into_iter().flatten().collect();
                self.known_here().problems(name, theirs, &known)?
            }
        };
        if !why.is_empty() {
            let InvalidRef { message, next_step } = self.known_here().invalid_ref(name, theirs, &why.join("; "));
            let problem = problem(ErrorCode::InvalidRemoteData.as_str(), Some(name), message);
            return Ok(Some(SyncProblem { next_step: Some(next_step), ..problem }));
        }
        Ok(None)
    }

    /// Returns a problem for each offer of a contract that this machine made while another one offered the contract to
    /// another repository.
    fn replaced_offers(
        &self,
        name: &StoreRef,
        old: Option<Oid>,
        theirs: &Oid,
        tree: &Oid,
    ) -> Result<Vec<SyncProblem>, OpError> {
        let (Some(old), Some(domain)) = (old, name.domain()) else { return Ok(Vec::new()) };
        let relation = Relation::of(self.store, &old, theirs)?;
        // Whoever has the commits of this machine replaced the offer on purpose.
        if relation.is_contained {
            return Ok(Vec::new());
        }
        let last = |tree: &Oid, contract: &ContractName| -> Result<Option<Transfer>, OpError> {
            let record: Option<Transfers> =
                unless_damaged(read::file(self.store, name, tree, &layout::transfers(contract)))?;
            // A rename is no offer.
            let named = record.map(|record| record.with_newer_names(|repo| renamed::newer(self.store, repo)));
            Ok(named.transpose()?.and_then(|record| record.transfers.last().cloned()))
        };
        let bases = relation.bases.iter().map(|base| Ok(self.store.commit(base)?.tree));
        let bases = bases.collect::<Result<Vec<_>, StoreError>>()?;
        let before = self.store.commit(&old)?.tree;
        let mut problems = Vec::new();
        for file in read::folder(self.store, &before, layout::TRANSFERS)? {
            let Some(contract) = layout::stem(&file.name) else { continue };
            let (Some(own), Some(now)) = (last(&before, &contract)?, last(tree, &contract)?) else { continue };
            let known = bases.iter().map(|base| last(base, &contract)).collect::<Result<Vec<_>, _>>()?;
            if own.from == now.from && own.to != now.to && !known.contains(&Some(own.clone())) {
                let message = format!(
                    "{domain}/{contract} is offered to {}, not to {}: another machine offered it at the same time",
                    now.to, own.to
                );
                problems.push(problem("offer-replaced", Some(name), message));
            }
        }
        Ok(problems)
    }

    /// Returns the open conflicts in the tree of a ref, except for those that were recorded at the commit `old`.
    fn newly_recorded(&self, name: &StoreRef, old: Option<Oid>, tree: &Oid) -> Result<Vec<Conflict>, OpError> {
        let held = match old {
            Some(old) => read::conflicts_in(self.store, &self.store.commit(&old)?.tree)?.open(|_, _| false),
            None => Vec::new(),
        };
        let is_yanked = |contract: &ContractName, version: &Version| {
            self.current(name, tree, contract).is_some_and(|current| current.yanked_reason(version).is_some())
        };
        let mut open = read::conflicts_in(self.store, tree)?.open(is_yanked);
        open.retain(|one| !held.contains(one));
        Ok(open)
    }

    /// Returns a conflict with the steps for this repository.
    fn reported(&self, name: &StoreRef, tree: &Oid, one: Conflict) -> SyncConflict {
        let here = self.ctx.realm.as_ref().ok().and_then(|here| here.repo.as_ref());
        let current = match &one {
            Conflict::Contract(contract, _) => self.current(name, tree, contract),
            _ => None,
        };
        let elsewhere = current.as_ref().map(|current| &current.owner).filter(|owner| Some(*owner) != here);
        conflict(name.domain(), one, Standing { elsewhere, ..Standing::default() })
    }

    /// Returns the current document of a contract, unless it cannot be read.
    fn current(&self, name: &StoreRef, tree: &Oid, contract: &ContractName) -> Option<Contract> {
        read::file(self.store, name, tree, &layout::contract(contract)).ok().flatten()
    }

    fn merge_until_won(&self, name: &StoreRef, theirs: &Oid) -> Result<Outcome, OpError> {
        let _lease = self.store.lock(name)?;
        let mut races = 0;
        loop {
            let ours = self.store.tip(name)?;
            match self.step(name, ours, theirs) {
                Err(error) if error.code == ErrorCode::WriteRace && races < MAX_RACES => races += 1,
                result => return result,
            }
        }
    }

    fn step(&self, name: &StoreRef, ours: Option<Oid>, theirs: &Oid) -> Result<Outcome, OpError> {
        let Some(tip) = ours else {
            self.store.advance(name, None, *theirs)?;
            return Ok(Outcome::Moved(None, *theirs, RefUpdate::New, Vec::new()));
        };
        if tip == *theirs {
            return Ok(Outcome::Same);
        }
        let relation = Relation::of(self.store, &tip, theirs)?;
        if relation.contains {
            return Ok(Outcome::Ahead);
        }
        let examined = append_only::examine(self.store, name, &tip, theirs)?;
        if relation.is_contained && examined.overrides.files.is_empty() {
            self.store.advance(name, ours, *theirs)?;
            return Ok(Outcome::Moved(ours, *theirs, RefUpdate::FastForward, Vec::new()));
        }
        if examined.overrides.files.is_empty() && self.is_superseded(name, &tip, theirs)? {
            self.store.advance(name, ours, *theirs)?;
            return Ok(Outcome::Moved(ours, *theirs, RefUpdate::FastForward, Vec::new()));
        }
        let overrides = [&Overrides::default(), &examined.overrides];
        let mut merged = merge::merge_with_overrides(self.store, name, &relation, [&tip, theirs], overrides)?;
        let held = read::set_aside_in(self.store, &self.store.commit(&tip)?.tree)?;
        for record in examined.records.iter().filter(|record| !held.contains_key(&record.id())) {
            merged.edits.insert(layout::set_aside(&record.id()), Edit::Put(codec::encode(record)));
        }
        let change = Change {
            edits: merged.edits.into_iter().collect(),
            message: message(name, &self.remote.name, &examined.records),
            author: self.ctx.signature()?,
            committer: None,
            parents: Parents::Merge(*theirs),
        };
        let new = self.store.commit_change(name, ours, &change)?;
        Ok(Outcome::Moved(ours, new, RefUpdate::Merged, merged.conflicts))
    }

    /// Returns whether the commits that only this machine has can be dropped for `theirs`, which contains all of their
    /// changes: as a rule, somebody pulled a commit and published it again. A merge would name the wrong author.
    fn is_superseded(&self, name: &StoreRef, ours: &Oid, theirs: &Oid) -> Result<bool, StoreError> {
        let own = merge::superseded(self.store, name, ours, theirs)?;
        // Another remote that has them would bring them back.
        let is_of_ref = |seen: &StoreRef| matches!(seen, StoreRef::Seen(_, of) if **of == *name);
        for (_, tip) in self.store.seen()?.iter().filter(|(seen, _)| !own.is_empty() && is_of_ref(seen)) {
            let pushed = match history::added(self.store, theirs, tip) {
                Err(error) if error.is_damage() => return Ok(false),
                pushed => pushed?,
            };
            if pushed.iter().any(|commit| own.contains(commit)) {
                return Ok(false);
            }
        }
        Ok(!own.is_empty())
    }
}

fn message(name: &StoreRef, from: &RemoteName, set_aside: &[SetAside]) -> String {
    let mut text = format!("merge {} from {from}\n", name.shared_name());
    if !set_aside.is_empty() {
        text += "\nSet aside, because a rule was broken:\n";
    }
    for one in set_aside {
        text += &format!("  {} by {}\n", one.id(), one.author);
    }
    text
}
