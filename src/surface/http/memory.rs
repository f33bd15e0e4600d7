//! Answers that stay true while their realm stands still. The kernel says whether it did: asking costs
//! a few microseconds, and what was published before a request is in its answer.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use super::{answer::Kept, desk::Desk};
use crate::{error::OpError, model::name::RealmName, ops::rest::Rest};

/// How long an answer is kept at most: time passes in some of them, and remotes are looked at by others.
const AGE: Duration = Duration::from_secs(1);
/// How many realms are watched; each takes one of the few watches that a user has.
const MAX_REALMS: usize = 16;
/// How much is kept of one realm, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// What was answered.
#[derive(Debug, Default)]
pub struct Memory(Mutex<BTreeMap<RealmName, Watched>>);

#[derive(Debug)]
struct Watched {
    rest: Rest,
    /// Counts the changes: an answer that was begun before one is not kept after it.
    changes: u64,
    answers: HashMap<String, (Instant, Arc<Kept>)>,
    bytes: usize,
}

/// The state of a realm when an answer to it was begun.
#[derive(Debug, Clone, Copy)]
pub struct Begun(u64);

impl Memory {
    /// Returns what was answered to this, if it is still true.
    pub fn of(&self, realm: &RealmName, asked: &str) -> Option<Arc<Kept>> {
        let mut all = self.locked();
        let watched = all.get_mut(realm)?;
        watched.look();
        let (since, kept) = watched.answers.get(asked)?;
        (since.elapsed() < AGE).then(|| kept.clone())
    }

    /// Notices what happens to a realm from now on.
    ///
    /// # Errors
    /// Where the realm cannot be watched.
    pub fn begin(&self, desk: &Desk, realm: &RealmName) -> Result<Begun, OpError> {
        if let Some(watched) = self.locked().get_mut(realm) {
            watched.look();
            return Ok(Begun(watched.changes));
        }
        let rest = Rest::begin(&desk.nowhere()?, realm)?;
        let mut all = self.locked();
        if all.len() >= MAX_REALMS && !all.contains_key(realm) {
            all.pop_first();
        }
        let new = || Watched { rest, changes: 0, answers: HashMap::new(), bytes: 0 };
        Ok(Begun(all.entry(realm.clone()).or_insert_with(new).changes))
    }

    /// Keeps an answer, unless something happened since it was begun.
    pub fn keep(&self, realm: &RealmName, begun: Begun, asked: String, kept: Arc<Kept>) {
        let mut all = self.locked();
        let Some(watched) = all.get_mut(realm) else { return };
        watched.look();
        if watched.changes != begun.0 {
            return;
        }
        watched.bytes += asked.len() + 2 * kept.len();
        if watched.bytes > MAX_BYTES {
            watched.answers.clear();
            watched.bytes = asked.len() + 2 * kept.len();
        }
        watched.answers.insert(asked, (Instant::now(), kept));
    }

    /// Watches a realm no more: what was there is gone, or another.
    pub fn forget(&self, realm: &RealmName) {
        self.locked().remove(realm);
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<RealmName, Watched>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn look(&mut self) {
        if self.rest.is_broken() {
            self.changes += 1;
            self.answers.clear();
            self.bytes = 0;
        }
    }
}
