//! The times at which changes arrived on this machine, which determine the age of notifications
//! only. A change made on this machine arrives when it is made. For changes by others,
//! `refs/blue/local/known/<domain>` points to the commit that this machine last knew, and
//! `refs/blue/local/arrivals/<domain>` lists those that arrived before (`arrived.json`).

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::inbox;
use crate::{
    error::OpError,
    model::{name::DomainName, oid::Oid},
    store::{Edit, Store, StoreError, StoreRef, TreePath, codec, layout, read, unless_damaged, write::write},
};

/// The maximum number of arrivals that are recorded individually. If more arrive at once,
/// everything older counts as having arrived then.
const MOST: usize = 1_000;

/// The arrivals that this machine has recorded for a domain.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    /// The domain's tree when this machine last knew it.
    pub known: Option<Oid>,
    arrived: Arrived,
}

/// The content of `arrived.json`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Arrived {
    /// The arrival time of every older change that `paths` does not list.
    since: Option<Timestamp>,
    /// Later arrivals, each path with its time.
    paths: Vec<ArrivedPath>,
}

/// A path that others changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArrivedPath {
    /// The path in the domain's tree.
    pub path: String,
    /// The blob; `None` if the path was removed.
    pub blob: Option<Oid>,
    /// The time of its arrival.
    pub at: Timestamp,
}

/// Paths of a domain's tree, each with its blob, or `None` if it was removed.
pub type Paths = Vec<(TreePath, Option<Oid>)>;

/// Changes of a domain that were seen for the first time.
#[derive(Debug, Clone)]
pub struct FirstSeen {
    /// The domain.
    pub domain: DomainName,
    /// The commit of the domain.
    pub tip: Oid,
    /// The paths that arrived since the domain was last seen; `None` if it was never seen before and all of it is new.
    pub paths: Option<Paths>,
}

impl Arrivals {
    /// Returns the records of a domain. A damaged record counts as missing. If the known commit is missing, all of the
    /// domain arrives now, whatever arrived before.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn of(store: &dyn Store, domain: &DomainName) -> Result<Self, OpError> {
        let Some(commit) = store.tip(&StoreRef::Known(domain.clone()))? else {
            return Ok(Self::default());
        };
        let known = unless_damaged(tree_of(store, commit).map(Some))?;
        let name = StoreRef::Arrivals(domain.clone());
        let arrived = match store.tip(&name)? {
            Some(tip) => tree_of(store, tip).and_then(|tree| read::file(store, &name, &tree, &layout::arrived())),
            None => Ok(None),
        };
        Ok(Self { known, arrived: unless_damaged(arrived)?.unwrap_or_default() })
    }

    /// Returns when the content of a path arrived on this machine. Content without a record was made here, at
    /// `created_at`.
    pub fn when(&self, path: &TreePath, blob: Option<Oid>, created_at: Timestamp) -> Timestamp {
        let mut paths = self.arrived.paths.iter().rev();
        match paths.find(|came| came.path == path.as_str() && came.blob == blob) {
            Some(came) => came.at,
            None => self.arrived.since.map_or(created_at, |since| since.max(created_at)),
        }
    }
}

/// Records changes that were seen for the first time. If the record cannot be written, the same changes are found again
/// later.
pub fn record(store: &dyn Store, sightings: &[FirstSeen], now: impl Fn() -> jiff::Zoned) {
    for sighting in sightings {
        let _ = record_first_seen(store, sighting, &now());
    }
}

fn record_first_seen(store: &dyn Store, sighting: &FirstSeen, now: &jiff::Zoned) -> Result<(), OpError> {
    let at = now.timestamp();
    let FirstSeen { domain, tip, paths } = sighting;
    write(store, &StoreRef::Arrivals(domain.clone()), |_| {
        let mut arrived = Arrivals::of(store, domain)?.arrived;
        match paths {
            Some(paths) => {
                arrived.paths.retain(|came| !inbox::is_forgotten(came.at, at));
                let came =
                    |(path, blob): &(TreePath, Option<Oid>)| ArrivedPath { path: path.to_string(), blob: *blob, at };
                arrived.paths.extend(paths.iter().map(came));
            }
            None => arrived = Arrived { since: Some(at), paths: Vec::new() },
        }
        if arrived.paths.len() > MOST {
            arrived = Arrived { since: Some(at), paths: Vec::new() };
        }
        let edits = vec![(layout::arrived(), Edit::Put(codec::encode(&arrived)))];
        Ok::<_, OpError>(Some(inbox::local_change(edits, now)))
    })?;
    Ok(record_known(store, domain, *tip, |_| Ok(true))?)
}

/// Records that this machine moved a domain from the commit `before` to `after`, at `time`. If `before` was known,
/// `after` becomes known too. Otherwise the next read finds what arrived in between. It also finds a change whose date
/// is before that of the commit that it follows: the clock was wrong, so the date says nothing about the age of the
/// change.
pub fn record_local_change(
    store: &dyn Store,
    domain: &DomainName,
    (before, after): (Option<Oid>, Oid),
    time: Timestamp,
) {
    let is_known = |known: Option<Oid>| {
        let Some(before) = before else { return Ok(known.is_none()) };
        let follows = store.commit(&before)?;
        // The dates of commits have no fractions of seconds.
        if time.as_second() < follows.time.as_second() {
            return Ok(false);
        }
        // A merge may have changed nothing.
        Ok(known == Some(before) || known.map(|known| tree_of(store, known)).transpose()? == Some(follows.tree))
    };
    let _ = record_known(store, domain, after, is_known);
}

/// Records the known commit of a domain, if `may` returns true for the commit that was known before.
fn record_known(
    store: &dyn Store,
    domain: &DomainName,
    commit: Oid,
    may: impl FnOnce(Option<Oid>) -> Result<bool, StoreError>,
) -> Result<(), StoreError> {
    let name = StoreRef::Known(domain.clone());
    let _lease = store.lock(&name)?;
    let before = store.tip(&name)?;
    if before != Some(commit) && may(before)? {
        store.advance(&name, before, commit)?;
    }
    Ok(())
}

fn tree_of(store: &dyn Store, commit: Oid) -> Result<Oid, StoreError> {
    Ok(store.commit(&commit)?.tree)
}
