//! Syncs a realm with one remote: fetches, merges and pushes, then lists the remote's refs again, since a push counts
//! only once the remote lists it.

pub mod auto;
mod damage;
mod invalid_refs;
mod merge_fetched;
mod push;
pub mod realm_clone;
mod realm_place;
pub mod remote_status;
pub mod same_realm;

pub use crate::locate::url;

use std::{collections::BTreeMap, time::Duration};

use self::same_realm::KnownHere;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        conflict::{Conflict, Standing},
        name::{DomainName, RealmName},
        oid::Oid,
        realm::Realm,
        repo_url::without_credentials,
    },
    ops::ctx::Ctx,
    store::{
        Store, StoreError, StoreRef, append_only,
        git::RemoteConnection,
        history::Relation,
        layout, read,
        remote::{Listing, Remote},
        validate_incoming,
    },
    wire::{RefSync, RefUpdate, RemoteSync, SetAsideCommit, SyncConflict, SyncProblem},
};

/// The maximum number of rounds with a remote to which others push at the same time.
const MAX_ROUNDS: u32 = 24;
/// The maximum wait between two rounds, in milliseconds.
const MAX_WAIT: u64 = 500;
/// The maximum number of refs that are fetched by name: git compares each name with each ref of the remote.
const MAX_NAMED: usize = 200;
/// The problem code of a remote that accepts only branches, unless it already has the realm, or already stores it in
/// branches.
pub const NEEDS_BRANCHES: &str = "needs-branches";

/// A sync of a realm with one remote.
pub struct Syncing<'a> {
    /// The context of the operation.
    pub ctx: &'a Ctx,
    /// The realm.
    pub realm: &'a RealmName,
    /// Its store.
    pub store: &'a dyn Store,
    /// The remote.
    pub remote: &'a Remote,
    /// The connection to the remote.
    pub link: RemoteConnection<'a>,
    /// Whether sessions are synced too.
    pub sessions: bool,
}

/// The state of a remote after it was merged.
pub struct Received {
    report: RemoteSync,
    listing: Listing,
    /// Refs that were not merged and must not be pushed.
    bad: Vec<StoreRef>,
}

impl Received {
    /// Returns whether a ref was fetched.
    pub fn has_fetched(&self) -> bool {
        !self.report.received.is_empty()
    }
}

/// The tips of the synced refs on this machine, and those last seen at the remote.
struct KnownTips {
    seen: BTreeMap<StoreRef, Oid>,
    tips: BTreeMap<StoreRef, Oid>,
}

/// Refs that lead to objects that git rejects, with the reason.
type RejectedRefs = BTreeMap<StoreRef, String>;

impl Syncing<'_> {
    /// Fetches from the remote and merges.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or has another realm.
    pub fn receive(&self) -> Result<Received, OpError> {
        let mut report = report_of(self.remote);
        let (listing, bad) = self.fetch_and_merge_all(&mut report)?;
        Ok(Received { report, listing, bad })
    }

    /// Lists, fetches and merges the remote's refs until all of them are on this machine. Returns the last list, and
    /// the refs that were not merged.
    fn fetch_and_merge_all(&self, report: &mut RemoteSync) -> Result<(Listing, Vec<StoreRef>), OpError> {
        for round in 0..MAX_ROUNDS {
            let listing = self.list()?;
            let here = self.known_tips()?;
            if let Some(unsound) = self.fetch(&listing, &here)? {
                let bad = self.merge_fetched(&listing, &here, &unsound, report)?;
                return Ok((listing, bad));
            }
            self.wait(round);
        }
        let message = format!("{} changed on every attempt", self.remote.name);
        Err(OpError::no(ErrorCode::Busy, message).next("git blue sync  # try again"))
    }

    /// Reports what a sync would fetch and push.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn dry_run(&self) -> Result<RemoteSync, OpError> {
        let mut report = report_of(self.remote);
        let listing = self.list()?;
        let here = self.known_tips()?;
        let Some(unsound) = self.fetch(&listing, &here)? else {
            let message = format!("{} changed during the sync; try again", self.remote.name);
            add(&mut report, problem(ErrorCode::Busy.as_str(), None, message));
            return Ok(report);
        };
        self.same_realm(&listing, &here, &unsound)?;
        for (name, theirs) in self.wanted(&listing) {
            if let Some(problem) = self.unfit(&name, &theirs, &unsound)? {
                add(&mut report, problem);
                continue;
            }
            let ours = self.store.tip(&name)?;
            if let Some(ours) = ours {
                let examined = append_only::examine(self.store, &name, &ours, &theirs)?;
                let refused = examined.records.into_iter().map(Conflict::SetAside);
                report.conflicts.extend(refused.map(|one| conflict(name.domain(), one, Standing::default())));
            }
            let update = match ours {
                None => RefUpdate::New,
                Some(ours) => {
                    let relation = Relation::of(self.store, &ours, &theirs)?;
                    match (relation.contains, relation.is_contained) {
                        (true, _) => continue,
                        (_, true) => RefUpdate::FastForward,
                        _ => RefUpdate::Merged,
                    }
                }
            };
            report.received.push(line(&name, ours, Some(theirs), update));
        }
        for (name, theirs, ours) in self.missing(&listing, &[], &mut report)? {
            report.sent.push(line(
                &name,
                theirs,
                Some(ours),
                if theirs.is_none() { RefUpdate::New } else { RefUpdate::FastForward },
            ));
        }
        Ok(report)
    }

    /// Lists the refs of the remote.
    fn list(&self) -> Result<Listing, OpError> {
        let listing = self.link.list()?;
        realm_place::require(self.ctx, self.realm, self.remote, &listing)?;
        Ok(listing)
    }

    fn known_here(&self) -> KnownHere<'_> {
        KnownHere { ctx: self.ctx, realm: self.realm, store: self.store, remote: self.remote }
    }

    /// Returns the refs of the remote that a sync merges.
    fn wanted(&self, listing: &Listing) -> Vec<(StoreRef, Oid)> {
        listing.refs.iter().filter(|(name, _)| self.is_shared(name)).cloned().collect()
    }

    fn is_shared(&self, name: &StoreRef) -> bool {
        self.sessions || !matches!(name, StoreRef::Sessions(_))
    }

    /// Fetches what is missing on this machine. Returns the refs that lead to invalid objects, with the reason. Returns
    /// `None` if not everything arrived: a listed object may be gone because the remote repacked during a push, or
    /// because somebody force-pushed.
    fn fetch(&self, listing: &Listing, here: &KnownTips) -> Result<Option<RejectedRefs>, OpError> {
        let mut absent = Vec::new();
        for (name, tip) in self.wanted(listing) {
            // The tip may be left over from a fetch that was killed. All of its objects are certain to be here only if
            // a local or remote-tracking ref pointed to it.
            if here.seen.get(&name) != Some(&tip) && here.tips.get(&name) != Some(&tip) {
                absent.push(name);
            }
        }
        // Another realm that was refused before is not fetched again.
        if let Some(tip) = listing.tip(&StoreRef::Realm).filter(|_| absent.contains(&StoreRef::Realm)) {
            self.known_here().require_related(&tip)?;
        }
        if absent.is_empty() {
            return Ok(Some(RejectedRefs::new()));
        }
        let unsound = fetch_sound(&self.link, &absent, listing, None).map_err(|error| self.explain(error))?;
        absent.retain(|name| !unsound.contains_key(name));
        for name in &absent {
            match listing.tip(name).map(|tip| self.store.commit(&tip)) {
                Some(Err(StoreError::Missing { .. })) => return Ok(None),
                Some(Err(error)) if !error.is_damage() => return Err(error.into()),
                _ => {}
            }
        }
        Ok(Some(unsound))
    }

    /// Reads all refs at once. Most have not changed, and only the others are read further.
    fn known_tips(&self) -> Result<KnownTips, StoreError> {
        let seen = self.store.seen()?.into_iter().filter_map(|(name, tip)| match name {
            StoreRef::Seen(remote, name) if remote == self.remote.name => Some((*name, tip)),
            _ => None,
        });
        Ok(KnownTips { seen: seen.collect(), tips: shared_refs(self.store, true)?.into_iter().collect() })
    }

    fn seen_ref(&self, name: &StoreRef) -> StoreRef {
        StoreRef::Seen(self.remote.name.clone(), Box::new(name.clone()))
    }

    fn seen(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        self.store.tip(&self.seen_ref(name))
    }

    /// Waits for a random time that grows with each round, so that machines do not stay in lockstep.
    fn wait(&self, round: u32) {
        let most = (20u64 << round.min(7)).min(MAX_WAIT);
        std::thread::sleep(Duration::from_millis(10 + self.ctx.env.seed().rotate_left(round) % most));
    }
}

/// Returns the refs that are synced, with their tips.
///
/// # Errors
/// Returns an error if they cannot be listed.
pub fn shared_refs(store: &dyn Store, sessions: bool) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
    let realm = store.tip(&StoreRef::Realm)?.map(|tip| (StoreRef::Realm, tip));
    let domains = store.domains()?.into_iter().map(|(name, tip)| (StoreRef::Domain(name), tip));
    let mut refs: Vec<_> = realm.into_iter().chain(domains).collect();
    if sessions {
        refs.extend(store.sessions()?.into_iter().map(|(repo, tip)| (StoreRef::Sessions(repo), tip)));
    }
    Ok(refs)
}

/// Returns the content of `realm.json` at a commit that was fetched.
///
/// # Errors
/// Returns an error if the file cannot be read, or has a newer format.
pub fn realm_at(store: &dyn Store, tip: &Oid) -> Result<Realm, OpError> {
    let problems = validate_incoming::inspect(store, &StoreRef::Realm, tip, &[])?;
    if let Some(first) = problems.first() {
        return Err(OpError::cannot(ErrorCode::InvalidRemoteData, format!("it does not contain a realm: {first}")));
    }
    let tree = store.commit(tip)?.tree;
    read::file(store, &StoreRef::Realm, &tree, &layout::realm())?.ok_or_else(|| {
        OpError::cannot(ErrorCode::InvalidRemoteData, "it does not contain a realm: there is no realm.json")
    })
}

/// Fetches refs of a listing. One ref with invalid objects does not stop the others. Returns those that git rejects.
fn fetch_sound(
    link: &RemoteConnection<'_>,
    names: &[StoreRef],
    listing: &Listing,
    depth: Option<u32>,
) -> Result<RejectedRefs, StoreError> {
    let mut unsound = RejectedRefs::new();
    if names.len() > MAX_NAMED {
        let tips = names.iter().filter_map(|name| listing.tip(name)).collect();
        match link.fetch_commits(&tips, depth) {
            // A listed commit may be gone.
            Err(error) if is_unsound(&error) || error.may_be_lost_objects() => {}
            result => return result.map(|()| unsound),
        }
    }
    let mut open = vec![names];
    while let Some(names) = open.pop() {
        match link.fetch(names, depth) {
            Err(error) if is_unsound(&error) => match names {
                [name] => drop(unsound.insert(name.clone(), error.to_string())),
                names => open.extend(names.chunks(names.len().div_ceil(2))),
            },
            result => result?,
        }
    }
    Ok(unsound)
}

/// Returns whether git received the objects, and rejected them as invalid.
fn is_unsound(error: &StoreError) -> bool {
    matches!(error, StoreError::Remote { problem, .. } if problem.contains("fsck error"))
}

fn line(name: &StoreRef, old: Option<Oid>, new: Option<Oid>, update: RefUpdate) -> RefSync {
    RefSync { name: name.to_string(), domain: name.domain().cloned(), old, new, update }
}

/// Returns the report of a remote with which nothing was synced yet.
pub fn report_of(remote: &Remote) -> RemoteSync {
    RemoteSync {
        remote: remote.name.clone(),
        url: without_credentials(&remote.url),
        received: Vec::new(),
        sent: Vec::new(),
        rewound: Vec::new(),
        conflicts: Vec::new(),
        problems: Vec::new(),
    }
}

/// Returns a problem of a ref, or of the whole remote.
pub fn problem(code: &'static str, name: Option<&StoreRef>, message: String) -> SyncProblem {
    SyncProblem { code: code.into(), name: name.map(ToString::to_string), message, next_step: None }
}

/// Adds a problem to a report, unless the report contains it.
fn add(report: &mut RemoteSync, problem: SyncProblem) {
    if !report.problems.contains(&problem) {
        report.problems.push(problem);
    }
}

/// Returns a conflict as it appears in answers.
pub fn conflict(domain: Option<&DomainName>, conflict: Conflict, standing: Standing<'_>) -> SyncConflict {
    let none = SyncConflict {
        code: conflict.code().into(),
        domain: domain.cloned(),
        contract: None,
        version: None,
        repo: None,
        set_aside: None,
        meaning: conflict.meaning(domain),
        resolution: conflict.resolution(domain, standing),
    };
    match conflict {
        Conflict::Contract(contract, version) => {
            SyncConflict { contract: Some(contract), version: Some(version), ..none }
        }
        Conflict::Lost(lost) => SyncConflict { contract: Some(lost.contract), ..none },
        Conflict::SetAside(record) => SyncConflict { set_aside: Some(SetAsideCommit::from(record)), ..none },
        Conflict::Binding(repo) | Conflict::Repo(repo) => SyncConflict { repo: Some(repo), ..none },
    }
}
