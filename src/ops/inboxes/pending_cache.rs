//! Caches the first page of the pending notifications beside the store, because with thousands of changes, reading both
//! sides of each takes long. The cache may be deleted at any time. Its key covers everything that it was computed from;
//! a file with another key, or a damaged one, is replaced.

use std::{io::Write as _, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    inbox::{self, Inbox},
    pending::Pending,
};
use crate::ops::ctx::ActingRepo;
use crate::{
    error::OpError,
    model::{hash, name::ReaderName},
    store::{
        StoreRef,
        overview::{Line, Overview},
    },
    wire::{Notification, State},
};

/// The number of notifications that are cached: a page of the default size, and one more to know whether others follow.
const KEPT: usize = crate::wire::DEFAULT_LIMIT + 1;
/// The number of pending notifications from which on caching pays off.
const WORTHWHILE: usize = KEPT;

/// The cached file.
#[derive(Debug, Serialize, Deserialize)]
struct CacheFile {
    key: String,
    first: First,
    /// The checksum of the fields above.
    checksum: String,
}

/// The first page of the pending notifications.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// The notifications, most important first.
    pub notifications: Vec<Notification>,
    /// The number of pending notifications.
    pub total: usize,
    /// The arrival of the oldest pending notification.
    oldest_arrival: jiff::Timestamp,
}

/// Returns the first page for a reader, if it is cached for the current state of the realm and has at least `limit`
/// notifications and the following one.
pub fn first(acting: ActingRepo<'_>, reader: &ReaderName, limit: usize, now: jiff::Timestamp) -> Option<First> {
    if limit == 0 || limit >= KEPT {
        return None;
    }
    let text = std::fs::read(path(acting, reader)?).ok()?;
    let kept: CacheFile = serde_json::from_slice(&text).ok()?;
    let is_whole = kept.checksum == checksum(&kept.key, &kept.first);
    // Once the oldest has expired, all must be read to find the others that have expired.
    let is_fresh = !inbox::is_expired(kept.first.oldest_arrival, now);
    (is_whole && is_fresh && kept.key == key(acting, reader).ok()?).then_some(kept.first)
}

/// Caches the first page. A failure to write is ignored.
pub fn keep(acting: ActingRepo<'_>, reader: &ReaderName, pending: &Pending) {
    let all = &pending.notifications;
    if all.len() < WORTHWHILE || all.iter().any(|one| one.state != State::Pending) {
        return;
    }
    let oldest = all.iter().map(|one| one.arrived_at).min();
    let (Some(path), Some(oldest_arrival), Ok(key)) = (path(acting, reader), oldest, key(acting, reader)) else {
        return;
    };
    let notifications = all.iter().take(KEPT).cloned().collect();
    let first = First { notifications, total: all.len(), oldest_arrival };
    let kept = CacheFile { checksum: checksum(&key, &first), key, first };
    let write = || -> std::io::Result<()> {
        let folder = path.parent().unwrap_or(&path);
        std::fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        file.write_all(&serde_json::to_vec(&kept)?)?;
        file.persist(&path)?;
        Ok(())
    };
    let _ = write();
}

fn path(acting: ActingRepo<'_>, reader: &ReaderName) -> Option<PathBuf> {
    Some(acting.store.cache_folder()?.join(format!("pending/{}/{reader}.json", acting.repo)))
}

fn checksum(key: &str, first: &First) -> String {
    hash::of_text(format!("{key}\n{}", serde_json::to_string(first).unwrap_or_default()))
}

/// Returns a hash of everything that decides what is pending, except the time: the version of the program, and for
/// each domain its tip, the reader's baseline and the recorded arrivals.
fn key(acting: ActingRepo<'_>, reader: &ReaderName) -> Result<String, OpError> {
    let inbox = Inbox::open(acting.store, acting.repo, reader)?;
    let mut text = format!("ranked {} {} {}\n", env!("CARGO_PKG_VERSION"), acting.realm, acting.repo);
    for Line { name, tip, .. } in Overview::open(acting.store)?.domains_of(acting.repo) {
        let baseline = inbox.baseline(acting.store, name)?.map(|tree| tree.to_string()).unwrap_or_default();
        let arrivals = acting.store.tip(&StoreRef::Arrivals(name.clone()))?;
        let arrivals = arrivals.map(|tip| tip.to_string()).unwrap_or_default();
        text += &format!("{name} {tip} {baseline} {arrivals}\n");
    }
    Ok(hash::of_text(&text))
}
