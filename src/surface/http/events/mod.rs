//! Server-sent events. [`hub`] looks at a realm, once for all who listen to it, [`past`] says what happened since somebody
//! heard of it last, [`event`] is what is told, and [`stream`] the body of the answer.
//!
//! The id of an event says how the realm stood and when, and how many events have come since. Whoever was cut off goes
//! on behind the last one that it heard, as long as this process remembers it; from another process it hears of
//! everything since, rather twice than never.

mod event;
mod hub;
mod past;
mod queue;
mod stream;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response,
    header::{CACHE_CONTROL, CONNECTION, CONTENT_TYPE, HeaderValue},
};
use tokio::sync::{Semaphore, watch};

use super::{Body, all_realms::Narrowed, answer, connections::Endless, context::Contexts};
use crate::{
    error::{ErrorCode, OpError},
    model::name::{ContractRef, RealmName},
    surface::arguments::Arguments,
};

use event::{Mark, Position, Wanted};
use hub::{Hub, Listener};
use queue::Outlet;
use stream::Stream;

/// The most clients that listen at a time. They hold no place of those who ask.
pub const MAX_STREAMS: usize = 1_024;
/// The most realms that are listened to: each takes a thread.
const MAX_REALMS: usize = 16;
/// Everybody who listens.
#[derive(Debug)]
pub struct Events {
    contexts: Contexts,
    hubs: Mutex<BTreeMap<RealmName, Arc<Hub>>>,
    streams: Arc<Semaphore>,
    /// Those who listen to no realm, because there is none: they wait for the end of the daemon.
    waiting: Mutex<Vec<Outlet>>,
    stopping: watch::Receiver<bool>,
}

/// What a client hears when it begins to listen.
#[derive(Default)]
struct Joined {
    listeners: Vec<Listener>,
    mark: Mark,
    missed: String,
}

impl Events {
    /// Returns what nobody listens to yet, and at most `streams` may.
    pub fn new(contexts: Contexts, streams: usize, stopping: watch::Receiver<bool>) -> Arc<Self> {
        let streams = Arc::new(Semaphore::new(streams.min(MAX_STREAMS)));
        let events = Arc::new(Self {
            contexts,
            hubs: Mutex::default(),
            streams,
            waiting: Mutex::default(),
            stopping: stopping.clone(),
        });
        tokio::spawn(end(events.clone(), stopping));
        events
    }

    /// Returns a stream of what happens from now on, or since the event that the client heard last.
    ///
    /// # Errors
    /// Returns an error if too many listen already, or the realm cannot be read.
    pub async fn stream(
        self: Arc<Self>,
        arguments: &Arguments,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, OpError> {
        let narrowed: Narrowed = arguments.read_as()?;
        let wanted = wanted(arguments)?;
        let busy = |_| OpError::cannot(ErrorCode::Busy, "too many listeners").next("try again later");
        let permit = self.streams.clone().try_acquire_owned().map_err(busy)?;
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(Position::parse);
        let (outlet, waiting) = Outlet::new();
        let (events, only) = (self.clone(), wanted.clone());
        let join = move || events.join(&narrowed, &only, last.as_ref(), &outlet);
        let joined = tokio::task::spawn_blocking(join).await;
        let Joined { listeners, mark, missed } =
            joined.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("cannot listen: {error}"))))?;
        let first = format!("{}{missed}", event::hello(&mark, missed.is_empty()));
        let mut response = Response::new(Stream::new(first, waiting, wanted, listeners, permit).boxed());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        // A connection that has no place of its own answers nothing else.
        headers.insert(CONNECTION, HeaderValue::from_static("close"));
        answer::guard(headers);
        response.extensions_mut().insert(Endless);
        Ok(response)
    }

    /// Joins the hubs of the wanted realms.
    fn join(
        &self,
        narrowed: &Narrowed,
        wanted: &Wanted,
        last: Option<&Position>,
        outlet: &Outlet,
    ) -> Result<Joined, OpError> {
        let realms = match &narrowed.realm {
            Some(realm) => vec![realm.clone()],
            None => self.contexts.realms()?,
        };
        let mut joined = Joined::default();
        for realm in realms {
            match self.join_realm(&realm, narrowed, last, outlet) {
                Ok((listener, mark, missed)) => {
                    joined.listeners.push(listener);
                    joined.mark = mark;
                    missed.iter().for_each(|(told, heard)| joined.missed += &told.text_after(*heard, wanted));
                }
                // One realm of many that cannot be read, or does not have the repository, hides no other.
                Err(_) if narrowed.realm.is_none() => {}
                Err(error) => return Err(error),
            }
        }
        if joined.listeners.is_empty() {
            let mut waiting = locked(&self.waiting);
            waiting.retain(|outlet| !outlet.is_closed());
            waiting.push(outlet.clone());
        }
        Ok(joined)
    }

    fn join_realm(
        &self,
        realm: &RealmName,
        narrowed: &Narrowed,
        last: Option<&Position>,
        outlet: &Outlet,
    ) -> Result<hub::Joined, OpError> {
        loop {
            let hub = self.hub(realm)?;
            if let Some(joined) = hub.join(&self.contexts, &narrowed.repo, last, outlet)? {
                return Ok(joined);
            }
            // It ended just now, because nobody listened.
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

/// Reads which of the events somebody wants.
fn wanted(arguments: &Arguments) -> Result<Wanted, OpError> {
    let parsed = |problem: String| OpError::usage(problem);
    let rank = arguments.text("rank").map(|word| word.parse().map_err(parsed)).transpose()?;
    let contract = arguments.text("contract").map(str::parse::<ContractRef>).transpose()?;
    Ok(Wanted { rank, contract })
}

/// Ends all streams once the daemon stops.
async fn end(events: Arc<Events>, mut stopping: watch::Receiver<bool>) {
    let _ = stopping.wait_for(|stop| *stop).await;
    locked(&events.waiting).clear();
    locked(&events.hubs).values().for_each(|hub| hub.end());
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
