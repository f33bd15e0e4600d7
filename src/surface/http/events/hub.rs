//! Watches one realm with subscribers. Its thread waits until the realm changes, reads it once, and notifies all of
//! them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use tokio::sync::watch;

use super::{
    event::{Changes, Checkpoint, EventBatch, Position},
    history::{Audience, History, Missed, RealmSnapshot},
    locked,
    queue::EventSender,
};
use crate::{
    error::OpError,
    model::name::RealmName,
    ops::inboxes::{change_watch::ChangeWatch, realm_changes::RealmChanges},
    surface::http::context::Contexts,
};

/// The interval at which a hub checks whether it still has subscribers, and the daemon looks for new realms.
pub const STEP: Duration = Duration::from_secs(1);
/// The delay that combines changes in quick succession.
const PAUSE: Duration = Duration::from_millis(50);

/// A watched realm and its subscribers.
#[derive(Debug)]
pub struct Hub {
    realm: RealmName,
    history: Mutex<History>,
    /// Locked only briefly, and after `history` if both are locked.
    listening: Mutex<Listening>,
}

/// The subscribers of a hub.
#[derive(Debug, Default)]
struct Listening {
    /// Whether the realm is no longer watched.
    is_over: bool,
    next: u64,
    all: BTreeMap<u64, (Audience, EventSender)>,
}

/// A subscription to a hub. It ends when it is dropped.
#[derive(Debug)]
pub struct Listener {
    hub: Arc<Hub>,
    id: u64,
}

/// A new subscription, the checkpoint of the realm at that time, and the events that the client missed.
pub type Joined = (Listener, Checkpoint, Vec<Missed>);

impl Listener {
    /// Returns the realm.
    pub fn realm(&self) -> &RealmName {
        &self.hub.realm
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        locked(&self.hub.listening).all.remove(&self.id);
    }
}

impl Hub {
    /// Starts to watch a realm, on a thread that ends when there are no subscribers. Continues the history of a hub
    /// that ended before.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read or watched.
    pub fn begin(
        contexts: &Contexts,
        realm: &RealmName,
        before: Option<&Self>,
        stopping: &watch::Receiver<bool>,
    ) -> Result<Arc<Self>, OpError> {
        let change_watch = ChangeWatch::begin(&contexts.without_realm()?, realm)?;
        let ctx = contexts.realm(realm)?;
        let look = RealmSnapshot::now(&ctx)?;
        let mut history = before.map(|before| std::mem::take(&mut *locked(&before.history))).unwrap_or_default();
        history.begin(&ctx, look)?;
        let hub = Arc::new(Self { realm: realm.clone(), history: Mutex::new(history), listening: Mutex::default() });
        let (contexts, looking, stopping) = (contexts.clone(), hub.clone(), stopping.clone());
        let thread = std::thread::Builder::new().name(format!("events {realm}"));
        thread
            .spawn(move || looking.watch_realm(&contexts, change_watch, &stopping))
            .map_err(OpError::io("watch", "the realm"))?;
        Ok(hub)
    }

    /// Returns whether the realm is still watched.
    pub fn is_live(&self) -> bool {
        !locked(&self.listening).is_over
    }

    /// Ends all streams.
    pub fn end(&self) {
        *locked(&self.listening) = Listening { is_over: true, ..Listening::default() };
    }

    /// Adds a subscriber. Returns `None` if the hub has ended.
    ///
    /// # Errors
    /// Returns an error if the realm does not have the repository, or cannot be read.
    pub fn join(
        self: &Arc<Self>,
        contexts: &Contexts,
        audience: &Audience,
        last: Option<&Position>,
        sender: &EventSender,
    ) -> Result<Option<Joined>, OpError> {
        if let Some(repo) = audience {
            contexts.current_name(&self.realm, repo)?;
        }
        // A client that subscribes between two changes gets each of them once: from `history`, or from the thread.
        let mut history = locked(&self.history);
        let missed = match last {
            Some(last) => history.since(contexts, &self.realm, audience, last)?,
            None => Vec::new(),
        };
        let mut listening = locked(&self.listening);
        if listening.is_over {
            return Ok(None);
        }
        let id = listening.next;
        listening.next += 1;
        listening.all.insert(id, (audience.clone(), sender.clone()));
        Ok(Some((Listener { hub: self.clone(), id }, history.checkpoint().clone(), missed)))
    }

    /// Reads the realm each time it changes, while there are subscribers.
    fn watch_realm(&self, contexts: &Contexts, mut change_watch: ChangeWatch, stopping: &watch::Receiver<bool>) {
        let begun = Instant::now();
        let mut has_problem = false;
        loop {
            let moved = change_watch.wait_for_change(STEP);
            // The client for which this hub was started may not have subscribed yet.
            if self.ends(*stopping.borrow(), begun.elapsed() >= STEP) {
                return;
            }
            // After a problem, read the realm again even without a change: it may have come back before it was watched
            // again.
            if !moved && !has_problem {
                continue;
            }
            if has_problem {
                self.renew(contexts, &mut change_watch);
            }
            let read = self.read_changes(contexts);
            match &read {
                Ok(true) => std::thread::sleep(PAUSE),
                Ok(false) if has_problem => self.send_checkpoint(None),
                Ok(false) => {}
                Err(error) => {
                    if moved {
                        self.send_checkpoint(Some(&error.message));
                    }
                    self.renew(contexts, &mut change_watch);
                    std::thread::sleep(STEP);
                }
            }
            has_problem = read.is_err();
        }
    }

    /// Watches the realm at its current location. Keeps the previous watch if the realm cannot be found.
    fn renew(&self, contexts: &Contexts, change_watch: &mut ChangeWatch) {
        if let Ok(new) = contexts.without_realm().and_then(|ctx| ChangeWatch::begin(&ctx, &self.realm)) {
            *change_watch = new;
        }
    }

    /// Sends all subscribers the last state of the realm, or why it cannot be read.
    fn send_checkpoint(&self, problem: Option<&str>) {
        let checkpoint = locked(&self.history).checkpoint().clone();
        let batch = match problem {
            Some(problem) => EventBatch::problem(&self.realm, &checkpoint, problem),
            None => EventBatch::new(&self.realm, [&checkpoint; 2], None, &Changes::default()),
        };
        let batch = Arc::new(batch);
        self.send(|_| Some(&batch));
    }

    fn ends(&self, stops: bool, has_begun: bool) -> bool {
        let mut listening = locked(&self.listening);
        if stops || (has_begun && listening.all.is_empty()) {
            *listening = Listening { is_over: true, ..Listening::default() };
        }
        listening.is_over
    }

    /// Reads the realm, and sends what has changed. Returns whether anything has.
    fn read_changes(&self, contexts: &Contexts) -> Result<bool, OpError> {
        let ctx = contexts.realm(&self.realm)?;
        let look = RealmSnapshot::now(&ctx)?;
        let Some(mut delta) = locked(&self.history).delta(&ctx, &look)? else { return Ok(false) };
        let mut realm_changes = RealmChanges::new(&ctx);
        for audience in self.audiences() {
            delta.changes_for(contexts, &mut realm_changes, &audience, |_| true)?;
        }
        let mut history = locked(&self.history);
        let mut told = BTreeMap::new();
        // Include audiences that have subscribed since.
        for audience in self.audiences() {
            let its = delta.changes_for(contexts, &mut realm_changes, &audience, |_| true)?;
            told.insert(audience, its);
        }
        self.send(|audience| told.get(audience));
        history.push(delta, look);
        Ok(true)
    }

    fn audiences(&self) -> BTreeSet<Audience> {
        locked(&self.listening).all.values().map(|(audience, _)| audience.clone()).collect()
    }

    /// Sends each subscriber its events. Disconnects clients that do not read, so as not to wait.
    fn send<'t>(&self, told: impl Fn(&Audience) -> Option<&'t Arc<EventBatch>>) {
        let mut listening = locked(&self.listening);
        listening.all.retain(|_, (audience, sender)| told(audience).is_none_or(|told| sender.send(told)));
    }
}
