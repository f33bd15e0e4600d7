//! What changes, told as it happens: server-sent events. The id of an event says how the realm stood and
//! when, so that whoever was cut off hears of everything since, from any process, rather twice than never.

use std::{
    collections::BTreeMap,
    convert::Infallible,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use hyper::{
    HeaderMap, Response,
    body::Frame,
    header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue},
};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, mpsc, watch};

use super::{
    Body,
    all_realms::{self, Narrowed},
    answer,
    context::Desk,
};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        hash,
        name::{RealmName, RepoName},
    },
    ops::{
        notifications::list,
        notify::{self, change_watch::Rest, fingerprint::Part},
    },
    surface::arguments::Arguments,
    wire::{NotificationFilter, PageRequest, SessionLine, all_realms::NotificationForRepo},
};

/// Most clients that listen at a time.
const MAX_STREAMS: usize = 256;
/// Most realms that are listened to: each takes a thread and one of the few watches that a user has.
const MAX_REALMS: usize = 16;
/// How often a silent stream says that it is there.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// How often is looked whether anybody still listens.
const STEP: Duration = Duration::from_secs(1);
/// Many changes in a row are told together.
const PAUSE: Duration = Duration::from_millis(50);

/// Everybody who listens.
#[derive(Debug)]
pub struct Events {
    desk: Desk,
    hubs: Mutex<BTreeMap<RealmName, Arc<Hub>>>,
    streams: Arc<Semaphore>,
    stopping: watch::Receiver<bool>,
}

/// One realm, and who listens to it.
#[derive(Debug)]
struct Hub {
    realm: RealmName,
    sender: broadcast::Sender<Arc<Vec<Event>>>,
    seen: Mutex<Seen>,
    /// How many listen; none once nobody looks at the realm any more.
    listeners: Mutex<Option<usize>>,
}

/// Somebody who listens to a hub.
struct Listener(Arc<Hub>);

impl Listener {
    /// Joins a hub, unless it has ended.
    fn join(hub: &Arc<Hub>) -> Option<Self> {
        let mut listeners = locked(&hub.listeners);
        *listeners = Some(listeners.as_ref()? + 1);
        Some(Self(hub.clone()))
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let mut listeners = locked(&self.0.listeners);
        *listeners = listeners.map(|count| count.saturating_sub(1));
    }
}

/// A realm as it was when it was looked at last.
#[derive(Debug, Clone, Default)]
struct Seen {
    mark: Mark,
    notifications: BTreeMap<(RepoName, String), NotificationForRepo>,
    sessions: BTreeMap<String, SessionLine>,
}

/// When something was looked at, and how it stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    at: i64,
    state: String,
}

/// Something to tell.
#[derive(Debug, Clone)]
struct Event {
    name: &'static str,
    /// Whom it is about; everybody where it is none.
    repo: Option<RepoName>,
    id: Mark,
    data: Value,
}

impl Events {
    /// Returns what nobody listens to yet.
    pub fn new(desk: Desk, stopping: watch::Receiver<bool>) -> Self {
        Self { desk, hubs: Mutex::default(), streams: Arc::new(Semaphore::new(MAX_STREAMS)), stopping }
    }

    /// Returns a stream of what happens from now on, or since the event that the client heard last.
    ///
    /// # Errors
    /// Where too many listen already, or the realm cannot be read.
    pub async fn stream(
        self: Arc<Self>,
        arguments: &Arguments,
        headers: &HeaderMap,
    ) -> Result<Response<Body>, OpError> {
        let narrowed: Narrowed = arguments.read_as()?;
        let busy = |_| OpError::cannot(ErrorCode::Busy, "too many listen already").next("try again later");
        let permit = self.streams.clone().try_acquire_owned().map_err(busy)?;
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(Mark::parse);
        let events = self.clone();
        let only = narrowed.repo.clone();
        let joined = tokio::task::spawn_blocking(move || events.join(&narrowed, last.as_ref())).await;
        let joined =
            joined.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("cannot listen: {error}"))))?;
        let (sender, receiver) = mpsc::channel(16);
        tokio::spawn(tell(joined, only, sender, self.stopping.clone()));
        let mut response = Response::new(Stream { receiver, _permit: permit }.boxed());
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer::guard(headers);
        Ok(response)
    }

    /// Joins the hubs of the wanted realms. Returns what comes from there, and what is told at once.
    fn join(&self, narrowed: &Narrowed, last: Option<&Mark>) -> Result<Joined, OpError> {
        let realms = match &narrowed.realm {
            Some(realm) => vec![realm.clone()],
            None => self.desk.realms()?,
        };
        if let (Some(realm), Some(repo)) = (&narrowed.realm, &narrowed.repo) {
            self.desk.repo(realm, repo)?;
        }
        let mut joined = Joined::default();
        for realm in realms {
            let hub = match self.hub(&realm) {
                Ok(hub) => hub,
                // One realm of many that cannot be read hides no other.
                Err(_) if narrowed.realm.is_none() => continue,
                Err(error) => return Err(error),
            };
            joined.receivers.push(hub.0.sender.subscribe());
            let seen = locked(&hub.0.seen).clone();
            joined.mark = seen.mark.clone();
            if let Some(last) = last.filter(|last| last.state != seen.mark.state) {
                joined.missed.extend(seen.since(&realm, last));
            }
            joined.listeners.push(hub);
        }
        Ok(joined)
    }

    fn hub(&self, realm: &RealmName) -> Result<Listener, OpError> {
        let mut hubs = locked(&self.hubs);
        hubs.retain(|_, hub| locked(&hub.listeners).is_some());
        if let Some(listener) = hubs.get(realm).and_then(Listener::join) {
            return Ok(listener);
        }
        if hubs.len() >= MAX_REALMS {
            return Err(OpError::cannot(ErrorCode::Busy, "too many realms are listened to already"));
        }
        let rest = Rest::begin(&self.desk.nowhere()?, realm)?;
        let seen = Seen::look(&self.desk, realm)?;
        let (sender, _) = broadcast::channel(64);
        let hub =
            Arc::new(Hub { realm: realm.clone(), sender, seen: Mutex::new(seen), listeners: Mutex::new(Some(1)) });
        let listener = Listener(hub.clone());
        hubs.insert(realm.clone(), hub.clone());
        let (desk, stopping) = (self.desk.clone(), self.stopping.clone());
        let thread = std::thread::Builder::new().name(format!("events {realm}"));
        thread.spawn(move || look_on(&desk, &hub, rest, &stopping)).map_err(OpError::io("watch", "the realm"))?;
        Ok(listener)
    }
}

/// What a client hears.
#[derive(Default)]
struct Joined {
    receivers: Vec<broadcast::Receiver<Arc<Vec<Event>>>>,
    /// Kept as long as the client listens.
    listeners: Vec<Listener>,
    mark: Mark,
    missed: Vec<Event>,
}

/// Looks at a realm each time it moves, as long as anybody listens.
fn look_on(desk: &Desk, hub: &Hub, mut rest: Rest, stopping: &watch::Receiver<bool>) {
    loop {
        let moved = rest.waited(STEP);
        {
            let mut listeners = locked(&hub.listeners);
            if *listeners == Some(0) || *stopping.borrow() {
                *listeners = None;
                return;
            }
        }
        if !moved {
            continue;
        }
        let before = locked(&hub.seen).clone();
        let events = match Seen::look(desk, &hub.realm) {
            Ok(now) if now.mark.state == before.mark.state => Vec::new(),
            Ok(now) => {
                let events = before.until(&hub.realm, &now);
                *locked(&hub.seen) = now;
                events
            }
            Err(error) => {
                let data = json!({"realm": hub.realm, "state": null, "problem": error.message});
                if let Ok(new) = desk.nowhere().and_then(|ctx| Rest::begin(&ctx, &hub.realm)) {
                    rest = new;
                }
                std::thread::sleep(STEP);
                vec![Event { name: "realm", repo: None, id: before.mark, data }]
            }
        };
        if !events.is_empty() {
            let _ = hub.sender.send(Arc::new(events));
        }
        std::thread::sleep(PAUSE);
    }
}

impl Seen {
    fn look(desk: &Desk, realm: &RealmName) -> Result<Self, OpError> {
        let all = PageRequest { limit: Some(0), cursor: None };
        let narrowed = Narrowed { realm: Some(realm.clone()), repo: None };
        // Before anything is read: what comes meanwhile is looked at again.
        let at = desk.env().now().as_second();
        let stands = notify::fingerprint::of(&desk.realm(realm)?, &Part::Realm)?;
        let sessions = all_realms::sessions(desk, &narrowed, true, &all)?.body.sessions;
        let wanted = list::Request { filter: NotificationFilter::Pending, ..Default::default() };
        let told = all_realms::notifications(desk, &narrowed, &wanted, &all)?.body.notifications;
        let moves: Vec<_> = sessions
            .iter()
            .map(|one| &one.session)
            .map(|one| format!("{} {} {:?}", one.id, one.last_activity, one.ended_at))
            .collect();
        let state = hash::short_id(&[&stands, &moves.join("\n")]);
        let id = |one: &NotificationForRepo| (one.current_repo.clone(), one.notification.id.clone());
        Ok(Self {
            mark: Mark { at, state },
            notifications: told.into_iter().map(|one| (id(&one), one)).collect(),
            sessions: sessions.into_iter().map(|one| (one.session.id.to_string(), one.session)).collect(),
        })
    }

    /// Returns what happened between this look and a later one. Only the last event has the later mark:
    /// who hears some of them hears all of them again.
    fn until(&self, realm: &RealmName, now: &Self) -> Vec<Event> {
        let notifications = now.notifications.iter().filter(|(id, _)| !self.notifications.contains_key(id));
        let sessions = now.sessions.iter().filter(|(id, one)| self.sessions.get(*id).is_none_or(|old| moved(old, one)));
        let events =
            notifications.map(|(_, one)| notification(one)).chain(sessions.map(|(_, one)| session(realm, one)));
        now.marked(realm, self.mark.clone(), events.collect())
    }

    /// Returns what happened since a mark that somebody else may have made.
    fn since(&self, realm: &RealmName, last: &Mark) -> Vec<Event> {
        let is_since = |at: Timestamp| at.as_second() >= last.at;
        let notifications = self.notifications.values().filter(|one| is_since(one.notification.arrived_at));
        let moved = |one: &&SessionLine| is_since(one.last_activity) || one.ended_at.is_some_and(is_since);
        let sessions = self.sessions.values().filter(moved).map(|one| session(realm, one));
        self.marked(realm, last.clone(), notifications.map(notification).chain(sessions).collect())
    }

    fn marked(
        &self,
        realm: &RealmName,
        before: Mark,
        events: Vec<(&'static str, Option<RepoName>, Value)>,
    ) -> Vec<Event> {
        let event = |(name, repo, data)| Event { name, repo, id: before.clone(), data };
        let data = json!({"realm": realm, "state": self.mark.state});
        let last = Event { name: "realm", repo: None, id: self.mark.clone(), data };
        events.into_iter().map(event).chain([last]).collect()
    }
}

fn moved(old: &SessionLine, new: &SessionLine) -> bool {
    (old.last_activity, old.ended_at, &old.active_rfc) != (new.last_activity, new.ended_at, &new.active_rfc)
}

fn notification(one: &NotificationForRepo) -> (&'static str, Option<RepoName>, Value) {
    ("notification", Some(one.current_repo.clone()), json!(one))
}

fn session(realm: &RealmName, one: &SessionLine) -> (&'static str, Option<RepoName>, Value) {
    let mut data = json!(one);
    data["realm"] = json!(realm);
    ("session", None, data)
}

impl Mark {
    fn parse(text: &str) -> Option<Self> {
        let (at, state) = text.split_once('-')?;
        let is_state = state.len() == 12 && state.bytes().all(|byte| byte.is_ascii_hexdigit());
        Some(Self { at: at.parse().ok()?, state: is_state.then(|| state.to_owned())? })
    }
}

impl Event {
    /// As the protocol writes it. JSON has no line ends that would end the event.
    fn text(&self) -> String {
        format!("event: {}\nid: {}-{}\ndata: {}\n\n", self.name, self.id.at, self.id.state, self.data)
    }
}

/// Writes what is heard, until the client is gone or the daemon stops.
async fn tell(
    joined: Joined,
    only: Option<RepoName>,
    sender: mpsc::Sender<Bytes>,
    mut stopping: watch::Receiver<bool>,
) {
    let Joined { receivers, listeners: _listeners, mark, missed } = joined;
    let is_for = |event: &&Event| only.is_none() || event.repo.is_none() || event.repo == only;
    let text = |events: &[Event]| events.iter().filter(is_for).map(Event::text).collect::<String>();
    // Without a last event, what happens from now on is what is told.
    let id = if mark.state.is_empty() { String::new() } else { format!("id: {}-{}\n", mark.at, mark.state) };
    let hello = if missed.is_empty() { format!("retry: 2000\n{id}\n") } else { "retry: 2000\n\n".to_owned() };
    let (merged, mut heard) = mpsc::channel::<Option<Arc<Vec<Event>>>>(16);
    let forwards: Vec<_> =
        receivers.into_iter().map(|receiver| tokio::spawn(forward(receiver, merged.clone()))).collect();
    let mut next = hello + &text(&missed);
    loop {
        if !next.is_empty() && sender.send(Bytes::from(std::mem::take(&mut next))).await.is_err() {
            break;
        }
        tokio::select! {
            () = sender.closed() => break,
            _ = stopping.wait_for(|stop| *stop) => break,
            events = heard.recv() => match events.flatten() {
                Some(events) => next = text(&events),
                // It fell behind: it comes again with the id that it heard last.
                None => break,
            },
            () = tokio::time::sleep(HEARTBEAT) => next = ":\n\n".to_owned(),
        }
    }
    for forward in forwards {
        forward.abort();
    }
}

/// Passes on what one realm tells, and nothing once that is not all of it.
async fn forward(mut from: broadcast::Receiver<Arc<Vec<Event>>>, to: mpsc::Sender<Option<Arc<Vec<Event>>>>) {
    loop {
        let events = from.recv().await.ok();
        let is_last = events.is_none();
        if to.send(events).await.is_err() || is_last {
            return;
        }
    }
}

/// A body that comes as it is told.
struct Stream {
    receiver: mpsc::Receiver<Bytes>,
    _permit: OwnedSemaphorePermit,
}

impl hyper::body::Body for Stream {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        self.receiver.poll_recv(context).map(|bytes| bytes.map(|bytes| Ok(Frame::data(bytes))))
    }
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}
