//! The first page of what is pending, kept beside the store: with thousands of changes, reading both
//! sides of each takes longer than anybody wants to wait for a list. It is disposable. Whatever it was
//! made of is in its key, and what does not fit, or cannot be read, is made anew.

use std::{io::Write as _, path::PathBuf};

use serde::{Deserialize, Serialize};

use super::{
    inbox::{self, Inbox},
    pending::Pending,
};
use crate::ops::ctx::Acting;
use crate::{
    error::OpError,
    model::{hash, name::ReaderName},
    store::{
        StoreRef,
        overview::{Line, Overview},
    },
    wire::{Notification, State},
};

/// How many are kept: a page as it is unless somebody wants a longer one, and one to tell that there
/// are more.
const KEPT: usize = crate::wire::DEFAULT_LIMIT + 1;
/// From how many pending ones on it is worth it.
const WORTHWHILE: usize = KEPT;

/// The cached file.
#[derive(Debug, Serialize, Deserialize)]
struct Kept {
    key: String,
    first: First,
    /// Over all of the above.
    checksum: String,
}

/// The first page of what is pending.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct First {
    /// The notifications, most important first.
    pub notifications: Vec<Notification>,
    /// The number of pending notifications.
    pub total: usize,
    /// When the first of them all came.
    oldest_arrival: jiff::Timestamp,
}

/// Returns the first page of what is pending for a reader, if it is kept, is of no other state of the
/// realm, and holds `limit` notifications and the next one.
pub fn first(acting: Acting<'_>, reader: &ReaderName, limit: usize, now: jiff::Timestamp) -> Option<First> {
    if limit == 0 || limit >= KEPT {
        return None;
    }
    let text = std::fs::read(path(acting, reader)?).ok()?;
    let kept: Kept = serde_json::from_slice(&text).ok()?;
    let is_whole = kept.checksum == checksum(&kept.key, &kept.first);
    // Finding those that have expired takes reading all of them.
    let is_fresh = !inbox::is_expired(kept.first.oldest_arrival, now);
    (is_whole && is_fresh && kept.key == key(acting, reader).ok()?).then_some(kept.first)
}

/// Caches the first page. A failure to write is ignored.
pub fn keep(acting: Acting<'_>, reader: &ReaderName, pending: &Pending) {
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
    let kept = Kept { checksum: checksum(&key, &first), key, first };
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

fn path(acting: Acting<'_>, reader: &ReaderName) -> Option<PathBuf> {
    Some(acting.store.cache_folder()?.join(format!("pending/{}/{reader}.json", acting.repo)))
}

fn checksum(key: &str, first: &First) -> String {
    hash::of_text(format!("{key}\n{}", serde_json::to_string(first).unwrap_or_default()))
}

/// Everything that decides what is pending, but for the time: the program, and of each domain its tip,
/// what the reader knows of it, and what is known of arrivals.
fn key(acting: Acting<'_>, reader: &ReaderName) -> Result<String, OpError> {
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
