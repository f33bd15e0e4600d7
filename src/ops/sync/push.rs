//! Pushes what a remote lacks, until the remote lists it.

use std::collections::{BTreeMap, BTreeSet};

use super::{MAX_ROUNDS, NEEDS_BRANCHES, Received, Syncing, add, line, problem, report_of, shared_refs};
use crate::{
    error::{ErrorCode, OpError},
    model::oid::Oid,
    store::{
        StoreRef,
        history::Relation,
        remote::{Listing, Mapping, Refusal},
        validate_incoming,
    },
    wire::{RefUpdate, RemoteSync},
};

/// The maximum number of attempts with a remote that cannot store what it receives, or does not report whether it did.
const MAX_TRIES: u32 = 3;
/// Messages of such servers: their disk is full, or the connection was cut.
const UNABLE: &[&str] = &["unpacker", "missing necessary objects", "failed to report status", "unable to migrate"];
/// Messages that say that others pushed in between.
const RACES: &[&str] = &["fetch first", "non-fast-forward", "stale info", "but expected", "incorrect old value"];
/// Messages of servers that refuse a push for good.
const FINAL: &[&str] = &["declined", "hidden ref", "prohibited", "not allowed", "denied", "protected", "read-only"];
/// Messages of servers that accept only branches.
const ONLY_BRANCHES: &[&str] = &["hidden ref", "prohibited", "refs/heads", "only branches", "only push branches"];

/// A ref to push: its name, its tip at the remote, and its tip here.
type RefToPush = (StoreRef, Option<Oid>, Oid);

/// The refs that a remote refused in one round.
#[derive(Default)]
struct Refused {
    /// Whether the remote refused one of them for good.
    is_final: bool,
    /// Whether another round may succeed with one of them.
    may_pass: bool,
    /// The last refusal that no push by others explains.
    unexplained: Option<(StoreRef, String)>,
}

impl Syncing<'_> {
    /// Pushes what the remote lacks. The remote's refs were merged before.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached, or accepts nothing.
    pub fn send(&self, received: Received) -> Result<RemoteSync, OpError> {
        let Received { mut report, mut listing, mut bad } = received;
        let mut unexplained = None;
        for round in 0..MAX_ROUNDS {
            let mut offered = self.missing(&listing, &bad, &mut report)?;
            if offered.is_empty() {
                return Ok(report);
            }
            let moves: Vec<_> = offered.iter().map(|(name, _, tip)| (name.clone(), *tip)).collect();
            let refused = match self.push(&moves) {
                // What was fetched is merged already, so it is reported, too.
                Err(error) if error.code == ErrorCode::Remote && listing.tip(&StoreRef::Realm).is_some() => {
                    add(&mut report, problem(error.code.as_str(), None, format!("cannot push: {}", error.message)));
                    return Ok(report);
                }
                refused => refused?,
            };
            let names: BTreeSet<_> = refused.iter().map(|(name, _)| name).collect();
            offered.retain(|(name, ..)| !names.contains(name));
            let Refused { is_final, may_pass, unexplained: why } =
                self.note_refused(&refused, round, &listing, &mut report)?;
            unexplained = why;
            if may_pass {
                // Wait before listing, not between listing and pushing: the shorter that interval, the fewer pushes of
                // others fall into it.
                self.wait(round);
            }
            // A pushed ref counts once the remote lists it.
            (listing, bad) = self.fetch_and_merge_all(&mut report)?;
            let is_unlisted = |(name, old, _): &&RefToPush| listing.tip(name) == *old;
            let unlisted = offered.iter().find(is_unlisted).map(|(name, ..)| name.clone());
            self.note_sent(&listing, offered, &mut report);
            if is_final {
                return Ok(report);
            }
            if let Some(name) = unlisted.filter(|_| !may_pass) {
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

    /// Pushes what changed since the remote was fetched, and merges nothing. Returns `None` if others changed the same
    /// refs in the meantime.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn send_unmerged(&self) -> Result<Option<RemoteSync>, OpError> {
        let (mut report, here) = (report_of(self.remote), self.known_tips()?);
        let changed = here.tips.iter().filter(|(name, tip)| here.seen.get(name) != Some(tip));
        let moves: Vec<_> = changed.map(|(name, tip)| (name.clone(), *tip)).collect();
        let fetched = |name: &StoreRef| here.seen.get(name).copied();
        let is_lost = |listing: &Listing| {
            moves.iter().any(|(name, tip)| ![fetched(name), Some(*tip)].contains(&listing.tip(name)))
        };
        let listing = self.list()?;
        if moves.is_empty() || is_lost(&listing) {
            return Ok(moves.is_empty().then_some(report));
        }
        let refused = self.push(&moves)?;
        // A pushed ref counts once the remote lists it.
        let listing_after = self.list()?;
        if !refused.is_empty() && is_lost(&listing_after) {
            return Ok(None);
        }
        self.note_refused(&refused, MAX_TRIES, &listing, &mut report)?;
        if report.problems.is_empty()
            && let Some((name, _)) = moves.iter().find(|(name, _)| listing_after.tip(name) == fetched(name))
        {
            let why = refused.first().map_or("it does not list it", |(_, refusal)| &refusal.reason);
            let message = format!("{} did not take it: {why}", self.remote.name);
            report.problems.push(problem("not-taken", Some(name), message));
        }
        Ok(Some(report))
    }

    /// Pushes refs. Returns those that the remote refused.
    fn push(&self, moves: &[(StoreRef, Oid)]) -> Result<Vec<(StoreRef, Refusal)>, OpError> {
        let pushed = self.link.push(moves).map_err(|error| self.explain(error))?;
        Ok(pushed.into_iter().filter_map(|one| Some((one.name, one.refused?))).collect())
    }

    /// Reports the refs that the remote refused for good. A remote that is unable to take refs is given up after a few
    /// rounds.
    fn note_refused(
        &self,
        refused: &[(StoreRef, Refusal)],
        round: u32,
        listing: &Listing,
        report: &mut RemoteSync,
    ) -> Result<Refused, OpError> {
        let mut all = Refused::default();
        for (name, refusal) in refused {
            let why = refusal.to_string();
            let has = |text: &str, words: &[&str]| words.iter().any(|word| text.to_lowercase().contains(word));
            let says = |words: &[&str]| has(&refusal.reason, words);
            let (is_final, is_unable) = (says(FINAL), says(UNABLE) && round + 1 >= MAX_TRIES);
            if is_unable {
                self.check_remote_intact()?;
            }
            if is_final || is_unable {
                let takes_refs = self.remote.mapping == Mapping::Branches || listing.tip(&StoreRef::Realm).is_some();
                let code = match is_final {
                    true if has(&why, ONLY_BRANCHES) && !takes_refs => NEEDS_BRANCHES,
                    true => "refused",
                    false => "not-taken",
                };
                let message = format!("{} rejected it: {why}", self.remote.name);
                report.problems.push(problem(code, Some(name), message));
                all.is_final = true;
            } else {
                all.may_pass = true;
            }
            if !has(&why, RACES) {
                all.unexplained = Some((name.clone(), why));
            }
        }
        Ok(all)
    }

    /// Returns the refs that the remote lacks, with their tips there and here.
    pub(super) fn missing(
        &self,
        listing: &Listing,
        bad: &[StoreRef],
        report: &mut RemoteSync,
    ) -> Result<Vec<RefToPush>, OpError> {
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
}
