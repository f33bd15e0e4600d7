//! Compares this machine's realm with its remotes as the last sync saw them, without using the network.

use std::{collections::BTreeMap, path::Path};

use super::{auto, shared_refs};
use crate::{
    error::OpError,
    model::{oid::Oid, repo_url::without_credentials},
    store::{Store, StoreRef, history::Relation, remote::Remote},
    wire::{RefStatus, RemoteStatus},
};

/// The maximum number of refs that one answer names for a remote.
const MAX_SHOWN: usize = 20;

/// Returns the relation of a realm to each of its remotes. The time of a remote's last answer and the problems of the
/// last sync are read from the store at `path`, if given.
///
/// # Errors
/// Returns an error if refs or commits cannot be read.
pub fn all(store: &dyn Store, path: Option<&Path>) -> Result<Vec<RemoteStatus>, OpError> {
    let remotes = store.remotes();
    if remotes.is_empty() {
        return Ok(Vec::new());
    }
    let seen: BTreeMap<StoreRef, Oid> = store.seen()?.into_iter().collect();
    remotes.iter().map(|remote| one((store, path), remote, &seen)).collect()
}

/// Returns whether a remote lacks something that this machine has, as far as the last sync saw.
///
/// # Errors
/// Returns an error if refs cannot be read.
pub fn is_unpushed(store: &dyn Store) -> Result<bool, OpError> {
    let remotes = store.remotes();
    if remotes.is_empty() {
        return Ok(false);
    }
    let (seen, ours): (BTreeMap<StoreRef, Oid>, _) = (store.seen()?.into_iter().collect(), shared_refs(store, false)?);
    let has = |remote: &Remote, (name, tip): &(StoreRef, Oid)| {
        seen.get(&StoreRef::Seen(remote.name.clone(), Box::new(name.clone()))) == Some(tip)
    };
    Ok(remotes.iter().any(|remote| !ours.iter().all(|one| has(remote, one))))
}

/// Returns whether a remote has the realm, as far as the last sync saw.
///
/// # Errors
/// Returns an error if refs cannot be read.
pub fn is_shared(store: &dyn Store) -> Result<bool, OpError> {
    let is_realm = |(name, _): &(StoreRef, Oid)| matches!(name, StoreRef::Seen(_, of) if **of == StoreRef::Realm);
    Ok(store.seen()?.iter().any(is_realm))
}

fn one(
    (store, path): (&dyn Store, Option<&Path>),
    remote: &Remote,
    seen: &BTreeMap<StoreRef, Oid>,
) -> Result<RemoteStatus, OpError> {
    let there = |name: &StoreRef| seen.get(&StoreRef::Seen(remote.name.clone(), Box::new(name.clone()))).copied();
    let mut differs = Vec::new();
    // Sessions are shared only by users who opt in, and their state matters little.
    for (name, tip) in shared_refs(store, false)? {
        let relation = match there(&name) {
            Some(there) if there == tip => continue,
            // The tip that was seen at the remote may be missing here if it was never merged.
            Some(there) => Relation::of(store, &tip, &there).unwrap_or_default(),
            None => Relation { ahead: commits(store, &tip)?, ..Relation::default() },
        };
        differs.push(RefStatus {
            name: name.to_string(),
            domain: name.domain().cloned(),
            ahead: relation.ahead,
            behind: relation.behind,
            unpushed: there(&name).is_none(),
        });
    }
    let more = differs.len().saturating_sub(MAX_SHOWN);
    let sum = |of: fn(&RefStatus) -> usize| differs.iter().map(of).sum();
    let (ahead, behind) = (sum(|one| one.ahead), sum(|one| one.behind));
    differs.truncate(MAX_SHOWN);
    Ok(RemoteStatus {
        remote: remote.name.clone(),
        url: without_credentials(&remote.url),
        synced: seen.keys().any(|name| matches!(name, StoreRef::Seen(of, _) if *of == remote.name)),
        last_contact: path.and_then(|path| auto::last_contact(path, &remote.name)),
        problems: path.map_or(0, |path| auto::last_problems(path, &remote.name).len()),
        ahead,
        behind,
        differs,
        more,
    })
}

/// The maximum number of commits to count if the remote has none of the history.
const MAX_COUNTED: usize = 1_000;

fn commits(store: &dyn Store, tip: &Oid) -> Result<usize, OpError> {
    Ok(crate::store::history::since(store, tip, &[], MAX_COUNTED)?.len())
}
