//! Server-sent events. [`hub`] watches a realm once for all of its subscribers, [`history`] computes and remembers what
//! has changed, [`event`] defines the events, and [`stream`] is the body of the response.
//!
//! The id of an event contains the time and state of the realm, and the number of events since. A client that was
//! disconnected continues after the last event that it received, as long as this process remembers it. If the id comes
//! from another process, the client gets everything since then, since repeated events are better than lost ones.

mod event;
mod history;
mod hub;
mod queue;
mod stream;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, Weak},
};

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response,
    header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue},
};
use tokio::sync::{Semaphore, watch};

use super::{
    Body,
    all_realms::{self, RealmFilter},
    answer,
    connections::Streaming,
    context::Contexts,
};
use crate::{
    error::{ErrorCode, OpError},
    model::name::{ContractRef, RealmName},
    platform::files::Stamp,
    surface::{arguments::Arguments, locked::locked},
};

use event::{Checkpoint, EventBatch, EventFilter, Position};
use hub::{Hub, Listener};
use queue::EventSender;
use stream::{Listeners, Stream};

/// The maximum number of event streams at a time. They do not count against the limit of other connections.
pub const MAX_STREAMS: usize = 1_024;
/// The maximum number of realms that are watched at a time: each needs a thread.
const MAX_REALMS: usize = 16;

/// The event streams of all clients.
#[derive(Debug)]
pub struct Events {
    contexts: Contexts,
    hubs: Mutex<BTreeMap<RealmName, Arc<Hub>>>,
    streams: Arc<Semaphore>,
    /// The clients that named no realm. While there are any, a thread looks for new realms.
    of_all_realms: Mutex<Vec<OfAllRealms>>,
    stopping: watch::Receiver<bool>,
}

/// A client that named no realm: it subscribes to those that appear later, too.
#[derive(Debug)]
struct OfAllRealms {
    narrowed: RealmFilter,
    sender: EventSender,
    /// The subscriptions, until the client disconnects.
    listeners: Weak<Mutex<Vec<Listener>>>,
    /// The stamp of the realms to which it has subscribed.
    seen: Option<Stamp>,
}

/// The start of a client's stream.
#[derive(Default)]
struct Joined {
    listeners: Listeners,
    checkpoint: Checkpoint,
    missed: String,
}

impl Events {
    /// Creates an empty set of at most `streams` event streams.
    pub fn new(contexts: Contexts, streams: usize, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let streams = Arc::new(Semaphore::new(streams.min(MAX_STREAMS)));
        let events = Arc::new(Self {
            contexts,
            hubs: Mutex::default(),
            streams,
            of_all_realms: Mutex::default(),
            stopping: stopping.clone(),
        });
        tokio::spawn(end(events.clone(), stopping));
        events
    }

    /// Returns a stream of changes from now on, or since the last event that the client received.
    ///
    /// # Errors
    /// Returns an error if there are too many event streams, or the realm cannot be read.
    pub async fn stream(
        self: Arc<Self>,
        arguments: &Arguments,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, OpError> {
        let narrowed: RealmFilter = arguments.read_as()?;
        let filter = filter(arguments)?;
        let busy = |_| OpError::cannot(ErrorCode::Busy, "too many listeners").next("try again later");
        let permit = self.streams.clone().try_acquire_owned().map_err(busy)?;
        let last = headers.get("last-event-id").filter(|value| !value.is_empty());
        // A client with a damaged id gets everything, rather than missing what it did not receive.
        let last = last.map(|value| value.to_str().ok().and_then(Position::parse).unwrap_or_default());
        let (sender, waiting) = EventSender::new();
        let (events, only) = (self.clone(), filter.clone());
        let join = move || events.join(&narrowed, &only, last.as_ref(), &sender);
        let joined = tokio::task::spawn_blocking(join).await;
        let Joined { listeners, checkpoint, missed } =
            joined.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("cannot listen: {error}"))))?;
        let first = format!("{}{missed}", event::hello(&checkpoint, missed.is_empty()));
        let mut response = Response::new(Stream::new(first, waiting, filter, listeners, permit).boxed());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A connection that does not count against the limit must not be used for other requests.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        answer::add_security_headers(headers);
        response.extensions_mut().insert(Streaming);
        Ok(response)
    }

    /// Subscribes to the hubs of the wanted realms.
    fn join(
        self: &Arc<Self>,
        narrowed: &RealmFilter,
        filter: &EventFilter,
        last: Option<&Position>,
        sender: &EventSender,
    ) -> Result<Joined, OpError> {
        let seen = self.contexts.realms_stamp();
        let realms = match &narrowed.realm {
            Some(realm) => vec![realm.clone()],
            None => self.contexts.realms()?,
        };
        let mut joined = Joined::default();
        let mut unwatched = Vec::new();
        let mut is_unreadable = false;
        for realm in realms {
            match self.join_realm(&realm, narrowed, last, sender) {
                Ok((listener, checkpoint, missed)) => {
                    locked(&joined.listeners).push(listener);
                    joined.checkpoint = checkpoint;
                    missed.iter().for_each(|(told, received)| joined.missed += &told.text_after(*received, filter));
                }
                Err(error) if narrowed.realm.is_none() && error.code == ErrorCode::Busy => {
                    unwatched.push((realm, error))
                }
                // One of many realms that cannot be read, or does not have the repository, does not hide the others.
                Err(error) if narrowed.realm.is_none() => is_unreadable |= error.code != ErrorCode::UnknownRepo,
                Err(error) => return Err(error),
            }
        }
        let is_unknown = locked(&joined.listeners).is_empty() && unwatched.is_empty() && !is_unreadable;
        if let Some(repo) = narrowed.repo.as_ref().filter(|_| is_unknown) {
            return Err(all_realms::unknown_repo(repo));
        }
        if joined.checkpoint.state.is_empty() {
            // A client that reconnects gets what a realm that was created meanwhile has.
            joined.checkpoint = Checkpoint::without_realm(self.contexts.env().now().as_second());
        }
        for (realm, error) in unwatched {
            let problem = EventBatch::problem(&realm, &joined.checkpoint, &error.message);
            joined.missed += &problem.text_after(0, filter);
        }
        if narrowed.realm.is_none() {
            let listeners = Arc::downgrade(&joined.listeners);
            self.keep(OfAllRealms { narrowed: narrowed.clone(), sender: sender.clone(), listeners, seen })?;
        }
        Ok(joined)
    }

    /// Keeps a client of all realms until it disconnects, and looks for new realms meanwhile.
    fn keep(self: &Arc<Self>, client: OfAllRealms) -> Result<(), OpError> {
        let mut clients = locked(&self.of_all_realms);
        if clients.is_empty() {
            let events = self.clone();
            let watch = move || {
                while events.join_new_realms() {
                    std::thread::sleep(hub::STEP);
                }
            };
            let thread = std::thread::Builder::new().name("events".into());
            thread.spawn(watch).map_err(OpError::io("watch", "the realms"))?;
        }
        clients.push(client);
        Ok(())
    }

    /// Subscribes the clients of all realms to those that have appeared. Returns whether there are such clients.
    fn join_new_realms(&self) -> bool {
        let mut clients = locked(&self.of_all_realms);
        let now = self.contexts.realms_stamp();
        clients.retain_mut(|client| {
            let Some(listeners) = client.listeners.upgrade() else { return false };
            if client.seen != now {
                client.seen = now;
                self.join_others(client, &mut locked(&listeners));
            }
            true
        });
        !clients.is_empty()
    }

    /// Subscribes a client to the realms that it does not listen to yet. It gets everything that is pending there,
    /// since what happened there before the subscription was sent to nobody.
    fn join_others(&self, client: &OfAllRealms, listeners: &mut Vec<Listener>) {
        let mut realms = self.contexts.realms().unwrap_or_default();
        realms.retain(|realm| !listeners.iter().any(|listener| listener.realm() == realm));
        let before = Position { checkpoint: Checkpoint::without_realm(0), ..Position::default() };
        for realm in realms {
            let joined = self.join_realm(&realm, &client.narrowed, Some(&before), &client.sender);
            // A realm that cannot be read does not hide the others.
            let Ok((listener, _, missed)) = joined else { continue };
            listeners.push(listener);
            for (told, _) in missed {
                client.sender.send(&told);
            }
        }
    }

    fn join_realm(
        &self,
        realm: &RealmName,
        narrowed: &RealmFilter,
        last: Option<&Position>,
        sender: &EventSender,
    ) -> Result<hub::Joined, OpError> {
        loop {
            let hub = self.hub(realm)?;
            if let Some(joined) = hub.join(&self.contexts, &narrowed.repo, last, sender)? {
                return Ok(joined);
            }
            // The hub has just ended, because it had no subscribers.
        }
    }

    fn hub(&self, realm: &RealmName) -> Result<Arc<Hub>, OpError> {
        let mut hubs = locked(&self.hubs);
        if let Some(hub) = hubs.get(realm).filter(|hub| hub.is_live()) {
            return Ok(hub.clone());
        }
        if hubs.values().filter(|hub| hub.is_live()).count() >= MAX_REALMS {
            return Err(OpError::cannot(ErrorCode::Busy, "too many realms are being watched"));
        }
        let hub = Hub::begin(&self.contexts, realm, hubs.get(realm).map(|hub| &**hub), &self.stopping)?;
        hubs.insert(realm.clone(), hub.clone());
        while hubs.len() > MAX_REALMS {
            let ended = hubs.iter().find(|(_, hub)| !hub.is_live()).map(|(name, _)| name.clone());
            let Some(ended) = ended else { break };
            hubs.remove(&ended);
        }
        Ok(hub)
    }
}

/// Reads the filter of events.
fn filter(arguments: &Arguments) -> Result<EventFilter, OpError> {
    let parsed = |problem: String| OpError::usage(problem);
    let rank = arguments.text("rank").map(|word| word.parse().map_err(parsed)).transpose()?;
    let contract = arguments.text("contract").map(str::parse::<ContractRef>).transpose()?;
    Ok(EventFilter { rank, contract })
}

/// Ends all streams once the daemon stops.
async fn end(events: Arc<Events>, mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
    locked(&events.of_all_realms).clear();
    locked(&events.hubs).values().for_each(|hub| hub.end());
}
