//! What changes, told as it happens: server-sent events. The id of an event says how the realm stood and when, and
//! how many events have come since. Whoever was cut off goes on behind the last one that it heard, as long as this
//! process remembers it; from another process it hears of everything since, rather twice than never.

use std::{
    collections::{BTreeMap, VecDeque},
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
        name::{ContractRef, RealmName, RepoName},
        rank::Rank,
    },
    ops::{
        notifications::list,
        notify::{self, change_watch::Rest, fingerprint::Part, pending::key},
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
/// Most events of a realm that are remembered for those who were cut off.
const MAX_REMEMBERED: usize = 2_000;
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
    past: Mutex<Past>,
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

/// A realm as it was seen last, and what was told of it before that.
#[derive(Debug, Default)]
struct Past {
    seen: Seen,
    /// What was told, each time together with how the realm stood before.
    told: VecDeque<(Mark, Arc<Vec<Event>>)>,
}

/// When something was looked at, and how it stood.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Mark {
    at: i64,
    state: String,
}

/// Where a client stands: behind so many events after a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Position {
    mark: Mark,
    heard: usize,
}

/// Which events somebody wants.
#[derive(Debug, Clone, Default)]
struct Wanted {
    repo: Option<RepoName>,
    /// Notifications that matter at least so much.
    rank: Option<Rank>,
    contract: Option<ContractRef>,
}

/// Something to tell.
#[derive(Debug, Clone)]
struct Event {
    name: &'static str,
    /// Whom it is about; everybody where it is none.
    repo: Option<RepoName>,
    /// Of a notification, how much it matters, and of which contract it is.
    rank: Option<Rank>,
    contract: Option<ContractRef>,
    id: Position,
    data: Value,
}

impl Wanted {
    fn accepts(&self, event: &Event) -> bool {
        if event.name == "realm" {
            return true;
        }
        (self.repo.is_none() || event.repo.is_none() || event.repo == self.repo)
            && self.rank.is_none_or(|least| event.rank.is_some_and(|rank| rank <= least))
            && (self.contract.is_none() || event.contract == self.contract)
    }
}

impl Past {
    /// Takes in how the realm stands now. Returns what there is to tell.
    fn take_in(&mut self, realm: &RealmName, now: Seen) -> Option<Arc<Vec<Event>>> {
        if now.mark.state == self.seen.mark.state {
            return None;
        }
        let events = Arc::new(self.seen.until(realm, &now));
        let before = std::mem::replace(&mut self.seen, now);
        self.told.push_back((before.mark, events.clone()));
        while self.told.len() > 1 && self.told.iter().map(|(_, events)| events.len()).sum::<usize>() > MAX_REMEMBERED {
            self.told.pop_front();
        }
        Some(events)
    }

    /// Returns what somebody missed that has heard everything up to a position.
    fn since(&self, realm: &RealmName, last: &Position) -> Vec<Event> {
        if last.mark == self.seen.mark {
            return Vec::new();
        }
        let Some(start) = self.told.iter().position(|(before, _)| *before == last.mark) else {
            // It heard it of another process.
            return if last.mark.state == self.seen.mark.state {
                Vec::new()
            } else {
                self.seen.since(realm, &last.mark)
            };
        };
        let after = self.told.iter().skip(start).flat_map(|(_, events)| events.iter().cloned());
        after.skip(last.heard).collect()
    }
}

impl Events {
    /// Returns what nobody listens to yet.
    pub fn new(desk: Desk, stopping: watch::Receiver<bool>) -> Self {
        Self { desk, hubs: Mutex::default(), streams: Arc::new(Semaphore::new(MAX_STREAMS)), stopping }
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
        let busy = |_| OpError::cannot(ErrorCode::Busy, "too many listen already").next("try again later");
        let permit = self.streams.clone().try_acquire_owned().map_err(busy)?;
        let last = headers.get("last-event-id").and_then(|value| value.to_str().ok()).and_then(Position::parse);
        let events = self.clone();
        let parsed = |problem: String| OpError::usage(problem);
        let rank = arguments.text("rank").map(|word| word.parse().map_err(parsed)).transpose()?;
        let contract = arguments.text("contract").map(str::parse::<ContractRef>).transpose()?;
        let only = Wanted { repo: narrowed.repo.clone(), rank, contract };
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
    fn join(&self, narrowed: &Narrowed, last: Option<&Position>) -> Result<Joined, OpError> {
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
            {
                // At once, so that nothing comes both from here and from there.
                let past = locked(&hub.0.past);
                joined.receivers.push(hub.0.sender.subscribe());
                joined.mark = past.seen.mark.clone();
                joined.missed.extend(last.map(|last| past.since(&realm, last)).unwrap_or_default());
            }
            joined.listeners.push(hub);
        }
        Ok(joined)
    }

    fn hub(&self, realm: &RealmName) -> Result<Listener, OpError> {
        let mut hubs = locked(&self.hubs);
        if let Some(listener) = hubs.get(realm).and_then(Listener::join) {
            return Ok(listener);
        }
        let is_live = |hub: &Arc<Hub>| locked(&hub.listeners).is_some();
        if hubs.values().filter(|hub| is_live(hub)).count() >= MAX_REALMS {
            return Err(OpError::cannot(ErrorCode::Busy, "too many realms are listened to already"));
        }
        let rest = Rest::begin(&self.desk.nowhere()?, realm)?;
        let seen = Seen::look(&self.desk, realm)?;
        // What was told before nobody listened goes on from there.
        let past = match hubs.remove(realm) {
            Some(hub) => {
                let mut past = std::mem::take(&mut *locked(&hub.past));
                past.take_in(realm, seen);
                past
            }
            None => Past { seen, told: VecDeque::new() },
        };
        while hubs.len() >= MAX_REALMS {
            let ended = hubs.iter().find(|(_, hub)| !is_live(hub)).map(|(name, _)| name.clone());
            let Some(ended) = ended else { break };
            hubs.remove(&ended);
        }
        let (sender, _) = broadcast::channel(64);
        let hub =
            Arc::new(Hub { realm: realm.clone(), sender, past: Mutex::new(past), listeners: Mutex::new(Some(1)) });
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
        match Seen::look(desk, &hub.realm) {
            Ok(now) => {
                let mut past = locked(&hub.past);
                if let Some(events) = past.take_in(&hub.realm, now) {
                    let _ = hub.sender.send(events);
                }
            }
            Err(error) => {
                let data = json!({"realm": hub.realm, "state": null, "problem": error.message});
                if let Ok(new) = desk.nowhere().and_then(|ctx| Rest::begin(&ctx, &hub.realm)) {
                    rest = new;
                }
                std::thread::sleep(STEP);
                let id = Position { mark: locked(&hub.past).seen.mark.clone(), heard: 0 };
                let event = Event { name: "realm", repo: None, rank: None, contract: None, id, data };
                let _ = hub.sender.send(Arc::new(vec![event]));
            }
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

    /// Returns what happened between this look and a later one. Only the last event has the later mark.
    fn until(&self, realm: &RealmName, now: &Self) -> Vec<Event> {
        let notifications = now.notifications.iter().filter(|(id, _)| !self.notifications.contains_key(id));
        let sessions = now.sessions.iter().filter(|(id, one)| self.sessions.get(*id).is_none_or(|old| moved(old, one)));
        let mut notifications: Vec<_> = notifications.map(|(_, one)| one).collect();
        notifications.sort_by_cached_key(|one| key(&one.notification));
        let notifications = notifications.into_iter().map(notification);
        let events = notifications.chain(sessions.map(|(_, one)| session(realm, one)));
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

    fn marked(&self, realm: &RealmName, before: Mark, mut events: Vec<Event>) -> Vec<Event> {
        for (at, event) in events.iter_mut().enumerate() {
            event.id = Position { mark: before.clone(), heard: at + 1 };
        }
        let data = json!({"realm": realm, "state": self.mark.state});
        let id = Position { mark: self.mark.clone(), heard: 0 };
        events.push(Event { name: "realm", repo: None, rank: None, contract: None, id, data });
        events
    }
}

fn moved(old: &SessionLine, new: &SessionLine) -> bool {
    (old.last_activity, old.ended_at, &old.active_rfc) != (new.last_activity, new.ended_at, &new.active_rfc)
}

/// Returns an event; its id is given to it among others.
fn notification(one: &NotificationForRepo) -> Event {
    let about = &one.notification;
    let contract = about.contract.clone().map(|contract| ContractRef { domain: about.domain.clone(), contract });
    Event {
        name: "notification",
        repo: Some(one.current_repo.clone()),
        rank: Some(about.rank),
        contract,
        id: Position { mark: Mark::default(), heard: 0 },
        data: json!(one),
    }
}

fn session(realm: &RealmName, one: &SessionLine) -> Event {
    let mut data = json!(one);
    data["realm"] = json!(realm);
    let id = Position { mark: Mark::default(), heard: 0 };
    Event { name: "session", repo: None, rank: None, contract: None, id, data }
}

impl Position {
    fn parse(text: &str) -> Option<Self> {
        let (at, rest) = text.split_once('-')?;
        let (state, heard) = rest.split_once('.').unwrap_or((rest, "0"));
        let is_state = state.len() == 12 && state.bytes().all(|byte| byte.is_ascii_hexdigit());
        let mark = Mark { at: at.parse().ok()?, state: is_state.then(|| state.to_owned())? };
        Some(Self { mark, heard: heard.parse().ok()? })
    }
}

impl std::fmt::Display for Position {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.mark.at, self.mark.state)?;
        if self.heard > 0 { write!(f, ".{}", self.heard) } else { Ok(()) }
    }
}

impl Event {
    /// As the protocol writes it. JSON has no line ends that would end the event.
    fn text(&self) -> String {
        format!("event: {}\nid: {}\ndata: {}\n\n", self.name, self.id, self.data)
    }
}

/// Writes what is heard, until the client is gone or the daemon stops.
async fn tell(joined: Joined, only: Wanted, sender: mpsc::Sender<Bytes>, mut stopping: watch::Receiver<bool>) {
    let Joined { receivers, listeners: _listeners, mark, missed } = joined;
    let text =
        |events: &[Event]| -> String { events.iter().filter(|event| only.accepts(event)).map(Event::text).collect() };
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
