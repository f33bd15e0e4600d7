//! Syncs a realm with one remote: fetches, merges and pushes, then lists the remote's refs again, since a push counts
//! only once the remote lists it.

pub mod auto;
mod damage;
mod invalid_refs;
mod merge_fetched;
pub mod realm_clone;
mod realm_place;
pub mod remote_status;
pub mod same_realm;

pub use crate::locate::url;

use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

use self::same_realm::KnownHere;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        conflict::{Conflict, Standing},
        name::{DomainName, RealmName},
        oid::Oid,
        realm::Realm,
    },
    ops::ctx::Ctx,
    store::{
        Store, StoreError, StoreRef, append_only,
        git::RemoteConnection,
        history::Relation,
        layout, read,
        remote::{Listing, Mapping, Remote},
        validate_incoming,
    },
    wire::{RefSync, RefUpdate, RemoteSync, SetAsideCommit, SyncConflict, SyncProblem},
};

/// The maximum number of rounds with a remote to which others push at the same time.
const MAX_ROUNDS: u32 = 24;
/// The maximum wait between two rounds, in milliseconds.
const MAX_WAIT: u64 = 500;
/// The maximum number of attempts with a remote that cannot store what it receives, or does not report whether it did.
const MAX_TRIES: u32 = 3;
/// The maximum number of refs that are fetched by name: git compares each name with each ref of the remote.
const MAX_NAMED: usize = 200;
/// Messages of such servers: their disk is full, or the connection was cut.
const UNABLE: &[&str] = &["unpacker", "missing necessary objects", "failed to report status", "unable to migrate"];
/// Messages that say that others pushed in between.
const RACES: &[&str] = &["fetch first", "non-fast-forward", "stale info", "but expected", "incorrect old value"];
/// Messages of servers that refuse a push for good.
const FINAL: &[&str] = &["declined", "hidden ref", "prohibited", "not allowed", "denied", "protected", "read-only"];
/// Messages of servers that accept only branches.
const ONLY_BRANCHES: &[&str] = &["hidden ref", "prohibited", "refs/heads", "only branches", "only push branches"];
/// The problem code of such a refusal, unless the remote already has the realm, or already stores it in branches.
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

/// A ref to push: its name, its tip at the remote, and its tip here.
type RefToPush = (StoreRef, Option<Oid>, Oid);

impl Syncing<'_> {
    /// Fetches from the remote and merges.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or has another realm.
    pub fn receive(&self) -> Result<Received, OpError> {
        let mut report = self.report();
        let (listing, bad) = self.fetch_and_merge_all(&mut report)?;
        Ok(Received { report, listing, bad })
    }

    /// Pushes what the remote lacks. The remote's refs were merged before.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or accepts nothing.
    pub fn send(&self, received: Received) -> Result<RemoteSync, OpError> {
        let Received { mut report, mut listing, mut bad } = received;
        // The last refusal that may be temporary, but that no push by others explains.
        let mut unexplained = None;
        for round in 0..MAX_ROUNDS {
            unexplained = None;
            let missing = self.missing(&listing, &bad, &mut report)?;
            if missing.is_empty() {
                return Ok(report);
            }
            let moves: Vec<_> = missing.iter().map(|(name, _, tip)| (name.clone(), *tip)).collect();
            let pushed = self.link.push(&moves).map_err(|error| self.explain(error))?;
            let refused: Vec<_> = pushed.into_iter().filter(|one| one.refused.is_some()).collect();
            let mut offered = missing;
            let names: BTreeSet<_> = refused.iter().map(|one| &one.name).collect();
            offered.retain(|(name, ..)| !names.contains(name));
            let (mut stop, mut raced) = (false, false);
            for one in refused {
                let Some(refusal) = one.refused else { continue };
                let why = refusal.to_string();
                let has = |text: &str, words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
                let says = |words: &[&str]| has(&refusal.reason, words);
                let (is_final, is_unable) = (says(FINAL), says(UNABLE) && round + 1 >= MAX_TRIES);
                raced |= !is_final && !is_unable;
                if !has(&why, RACES) {
                    unexplained = Some((one.name.clone(), why.clone()));
                }
                if is_unable {
                    self.check_remote_intact()?;
                }
                if is_final || is_unable {
                    stop = true;
                    let takes_refs =
                        self.remote.mapping == Mapping::Branches || listing.tip(&StoreRef::Realm).is_some();
                    let code = match is_final {
                        true if has(&why, ONLY_BRANCHES) && !takes_refs => NEEDS_BRANCHES,
                        true => "refused",
                        false => "not-taken",
                    };
                    let message = format!("{} rejected it: {why}", self.remote.name);
                    report.problems.push(problem(code, Some(&one.name), message));
                }
            }
            if raced {
                // Wait before listing, not between listing and pushing: the shorter that interval, the fewer pushes of
                // others fall into it.
                self.wait(round);
            }
            // A pushed ref counts once the remote lists it.
            (listing, bad) = self.fetch_and_merge_all(&mut report)?;
            let is_unlisted = |(name, old, _): &&RefToPush| listing.tip(name) == *old;
            let unlisted = offered.iter().find(is_unlisted).map(|(name, ..)| name.clone());
            self.note_sent(&listing, offered, &mut report);
            if stop {
                return Ok(report);
            }
            if let Some(name) = unlisted.filter(|_| !raced) {
                if round + 1 >= MAX_TRIES {
                    let message = format!(
                        "{} accepted it, but does not list it: it hides the ref, or fetches go to a mirror",
                        self.remote.name
                    );
                    report.problems.push(problem("not-taken", Some(&name), message));
                    return Ok(report);
                }
                self.wait(round);
            }
        }
        let remote = &self.remote.name;
        let (code, name, message) = match unexplained {
            Some((name, why)) => ("not-taken", Some(name), format!("{remote} rejected it on every attempt: {why}")),
            None => {
                let message = format!("others kept pushing to {remote}; the rest will be pushed by the next sync");
                (ErrorCode::Busy.as_str(), None, message)
            }
        };
        report.problems.push(problem(code, name.as_ref(), message));
        Ok(report)
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
        let mut report = self.report();
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

    fn report(&self) -> RemoteSync {
        RemoteSync {
            remote: self.remote.name.clone(),
            url: crate::model::repo_url::without_credentials(&self.remote.url),
            received: Vec::new(),
            sent: Vec::new(),
            rewound: Vec::new(),
            conflicts: Vec::new(),
            problems: Vec::new(),
        }
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

    /// Returns the refs that the remote lacks, with their tips there and here.
    fn missing(&self, listing: &Listing, bad: &[StoreRef], report: &mut RemoteSync) -> Result<Vec<RefToPush>, OpError> {
        let mut missing = Vec::new();
        let listed: BTreeMap<&StoreRef, Oid> = listing.refs.iter().map(|(name, tip)| (name, *tip)).collect();
        for (name, tip) in shared_refs(self.store, self.sessions)? {
            let there = listed.get(&name).copied();
            if there == Some(tip) || bad.contains(&name) {
                continue;
            }
            if let Some(there) = there {
                // The refs have diverged because of a write since the merge, or because this is a dry run. They must
                // not be pushed.
                let relation = Relation::of(self.store, &tip, &there)?;
                if !relation.contains {
                    continue;
                }
            }
            // Do not push what other machines would refuse.
            let known: Vec<Oid> = there.into_iter().collect();
            let problems = validate_incoming::inspect(self.store, &name, &tip, &known)?;
            if problems.is_empty() {
                missing.push((name, there, tip));
            } else if !report.problems.iter().any(|one| one.name.as_deref() == Some(&name.to_string())) {
                let message = format!("not pushed, because this machine's store is damaged: {}", problems.join("; "));
                add(report, problem(ErrorCode::Damaged.as_str(), Some(&name), message));
            }
        }
        Ok(missing)
    }

    /// Counts the refs that were offered and are now on the remote.
    fn note_sent(&self, listing: &Listing, offered: Vec<RefToPush>, report: &mut RemoteSync) {
        let is_there = |name: &StoreRef, new: &Oid| {
            listing.tip(name).is_some_and(|there| there == *new || self.is_newer(new, &there))
        };
        let sent = offered.into_iter().filter(|(name, _, new)| is_there(name, new)).map(|(name, old, new)| {
            line(&name, old, Some(new), if old.is_none() { RefUpdate::New } else { RefUpdate::FastForward })
        });
        let sent: Vec<_> = sent.collect();
        let again: BTreeSet<_> = sent.iter().map(|sent| &sent.name).collect();
        report.sent.retain(|earlier| !again.contains(&earlier.name));
        report.sent.extend(sent);
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
        Conflict::SetAside(record) => SyncConflict { set_aside: Some(SetAsideCommit::from(record)), ..none },
        Conflict::Binding(repo) | Conflict::Repo(repo) => SyncConflict { repo: Some(repo), ..none },
    }
}
