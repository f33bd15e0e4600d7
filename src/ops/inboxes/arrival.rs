//! The times at which changes arrived on this machine, from which the age of a notification counts. A change made on
//! this machine arrives when it is made. For others, `refs/blue/local/arrivals/<domain>` contains the domain's tree as
//! this machine last knew it (`known`), and the changes by others that arrived since (`arrived.json`). Nothing but the
//! age depends on these records.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::inbox;
use crate::{
    error::OpError,
    model::{name::DomainName, oid::Oid},
    store::{Edit, EntryKind, Store, StoreError, StoreRef, TreePath, codec, layout, read, write::write},
};

/// The maximum number of arrivals that are recorded individually. If more arrive at once, all older ones count as
/// arrived then.
const MOST: usize = 1_000;

/// The arrivals that this machine has recorded for a domain.
#[derive(Debug, Clone, Default)]
pub struct Arrivals {
    /// The domain's tree when it was last seen.
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
    /// The domain's tree.
    pub tree: Oid,
    /// The paths that arrived since the domain was last seen; `None` if it was never seen before and all of it is new.
    pub paths: Option<Paths>,
}

impl Arrivals {
    /// Returns the record of a domain. A damaged record counts as missing.
    ///
    /// # Errors
    /// Returns an error if the store cannot be read.
    pub fn of(store: &dyn Store, domain: &DomainName) -> Result<Self, OpError> {
        let name = StoreRef::Arrivals(domain.clone());
        let Some(tip) = store.tip(&name)? else {
            return Ok(Self::default());
        };
        let read = || -> Result<Self, StoreError> {
            let tree = store.commit(&tip)?.tree;
            let known = read::lookup(store, &tree, layout::known().as_str())?.map(|entry| entry.id);
            let arrived = read::file(store, &name, &tree, &layout::arrived())?.unwrap_or_default();
            Ok(Self { known, arrived })
        };
        match read() {
            Err(error) if error.is_damage() => Ok(Self::default()),
            result => Ok(result?),
        }
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
    write(store, &StoreRef::Arrivals(sighting.domain.clone()), |_| {
        let mut arrived = Arrivals::of(store, &sighting.domain)?.arrived;
        match &sighting.paths {
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
        let edits = vec![
            (layout::known(), Edit::Link(EntryKind::Tree, sighting.tree)),
            (layout::arrived(), Edit::Put(codec::encode(&arrived))),
        ];
        Ok::<_, OpError>(Some(inbox::local_change(edits, now)))
    })?;
    Ok(())
}

/// Records a change that was made on this machine to a domain whose tree was `before`. If that tree was known, the new
/// one becomes known too. Otherwise the arrivals in between are found at the next read.
pub fn record_local_change(store: &dyn Store, domain: &DomainName, before: Option<Oid>, after: Oid, now: &jiff::Zoned) {
    let name = StoreRef::Arrivals(domain.clone());
    let _ = write(store, &name, |_| {
        let known = Arrivals::of(store, domain)?.known;
        let edits = vec![(layout::known(), Edit::Link(EntryKind::Tree, after))];
        Ok::<_, OpError>((known == before).then(|| inbox::local_change(edits, now)))
    });
}
