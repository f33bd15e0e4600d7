//! Answers that stay true while their realm stands still. The kernel says whether it did: asking costs
//! a few microseconds, and what was published before a request is in its answer.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{
        Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use crate::{error::OpError, model::name::RealmName, ops::rest::Rest};

/// How long an answer is kept at most: time passes in some of them, and remotes are looked at by others.
const AGE: Duration = Duration::from_secs(1);
/// How many realms are watched; each takes one of the few watches that a user has.
const MAX_REALMS: usize = 16;
/// How much is kept of one realm, in bytes.
const MAX_BYTES: usize = 4 << 20;

/// What was answered, by what was asked.
#[derive(Debug)]
pub struct Memory<T>(Mutex<BTreeMap<RealmName, Watched<T>>>);

#[derive(Debug)]
struct Watched<T> {
    rest: Rest,
    /// Names the state: an answer that was begun in another one is not kept in it.
    state: u64,
    answers: HashMap<Box<[u8]>, (Instant, T)>,
    bytes: usize,
}

/// The state of a realm when an answer to it was begun.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Begun {
    realm: RealmName,
    state: u64,
}

/// Returns the name of a state that no realm was in before, also none that was forgotten meanwhile.
fn next() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Clone> Memory<T> {
    /// Returns what was answered to this, if it is still true.
    pub fn of(&self, realm: &RealmName, asked: &[u8]) -> Option<T> {
        self.locked().get_mut(realm)?.answer(asked)
    }

    /// Returns what was answered to this, whichever realm it was about, if it is still true.
    pub fn of_any(&self, asked: &[u8]) -> Option<T> {
        let mut all = self.locked();
        all.values_mut().find(|watched| watched.answers.contains_key(asked))?.answer(asked)
    }

    /// Notices what happens to a realm from now on.
    ///
    /// # Errors
    /// Where the realm cannot be watched.
    pub fn begin(&self, realm: &RealmName, rest: impl FnOnce() -> Result<Rest, OpError>) -> Result<Begun, OpError> {
        if let Some(watched) = self.locked().get_mut(realm) {
            watched.look();
            return Ok(Begun { realm: realm.clone(), state: watched.state });
        }
        let rest = rest()?;
        let mut all = self.locked();
        if all.len() >= MAX_REALMS && !all.contains_key(realm) {
            all.pop_first();
        }
        let new = || Watched { rest, state: next(), answers: HashMap::new(), bytes: 0 };
        Ok(Begun { realm: realm.clone(), state: all.entry(realm.clone()).or_insert_with(new).state })
    }

    /// Keeps an answer of so many bytes, unless something happened since it was begun.
    pub fn keep(&self, begun: &Begun, asked: &[u8], answer: T, bytes: usize) {
        let mut all = self.locked();
        let Some(watched) = all.get_mut(&begun.realm) else { return };
        watched.look();
        if watched.state != begun.state {
            return;
        }
        let bytes = asked.len() + bytes;
        watched.bytes += bytes;
        if watched.bytes > MAX_BYTES {
            watched.answers.clear();
            watched.bytes = bytes;
        }
        watched.answers.insert(asked.into(), (Instant::now(), answer));
    }

    /// Watches a realm no more: what was there is gone, or another.
    pub fn forget(&self, realm: &RealmName) {
        self.locked().remove(realm);
    }

    /// Keeps nothing of what was answered, or is being answered now.
    pub fn clear(&self) {
        self.locked().values_mut().for_each(Watched::forget);
    }

    fn locked(&self) -> MutexGuard<'_, BTreeMap<RealmName, Watched<T>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T: Clone> Watched<T> {
    fn look(&mut self) {
        if self.rest.is_broken() {
            self.forget();
        }
    }

    fn forget(&mut self) {
        self.state = next();
        self.answers.clear();
        self.bytes = 0;
    }

    fn answer(&mut self, asked: &[u8]) -> Option<T> {
        self.look();
        let (since, kept) = self.answers.get(asked)?;
        (since.elapsed() < AGE).then(|| kept.clone())
    }
}
