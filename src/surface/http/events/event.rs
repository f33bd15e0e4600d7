//! Events, their position in the stream, and their text.

use std::fmt;

use bytes::Bytes;
use jiff::Timestamp;
use serde_json::{Value, json};

use crate::{
    model::{
        name::{ContractRef, RealmName, RepoName},
        rank::Rank,
    },
    wire::{SessionLine, all_realms::NotificationForRepo},
};

/// The time of a read of a realm, in seconds since 1970, and an id of the realm's state.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkpoint {
    pub at: i64,
    pub state: String,
}

impl Checkpoint {
    /// Returns the checkpoint of a time at which there was no realm.
    pub fn without_realm(at: i64) -> Self {
        Self { at, state: "0".repeat(12) }
    }
}

/// The position of a client in the stream: the number of events after a checkpoint that it has received. They are
/// counted within the stream of one repository, or of all repositories. The default is before all events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Position {
    pub checkpoint: Checkpoint,
    pub received: usize,
    pub repo: Option<RepoName>,
}

/// A filter of events, in addition to the repository.
#[derive(Debug, Clone, Default)]
pub struct EventFilter {
    /// Only notifications of at least this importance.
    pub rank: Option<Rank>,
    /// Only notifications of this contract.
    pub contract: Option<ContractRef>,
}

#[derive(Debug)]
struct Event {
    name: &'static str,
    /// The rank and the contract of a notification.
    rank: Option<Rank>,
    contract: Option<ContractRef>,
    /// The event in the format of the protocol.
    text: String,
}

/// Events that are sent at once to all subscribers of the same repository, or of all repositories.
#[derive(Debug)]
pub struct EventBatch {
    events: Vec<Event>,
    /// The text of all events.
    text: Bytes,
}

/// The changes that events are made from.
#[derive(Debug, Default)]
pub struct Changes {
    pub notifications: Vec<NotificationForRepo>,
    pub sessions: Vec<SessionLine>,
}

impl Changes {
    /// Returns the notifications that arrived, and the sessions that changed, at this second or later.
    pub fn since(&self, second: i64) -> Self {
        let is_since = |at: Timestamp| at.as_second() >= second;
        let moved = |one: &&SessionLine| is_since(one.last_activity) || one.ended_at.is_some_and(is_since);
        let arrived = |one: &&NotificationForRepo| is_since(one.notification.arrived_at);
        Self {
            notifications: self.notifications.iter().filter(arrived).cloned().collect(),
            sessions: self.sessions.iter().filter(moved).cloned().collect(),
        }
    }
}

impl Position {
    pub fn parse(text: &str) -> Option<Self> {
        let (at, rest) = text.split_once('-')?;
        let (rest, repo) = match rest.split_once('@') {
            Some((rest, repo)) => (rest, Some(repo.parse().ok()?)),
            None => (rest, None),
        };
        let (state, received) = rest.split_once('.').unwrap_or((rest, "0"));
        let is_state = state.len() == 12 && state.bytes().all(|byte| byte.is_ascii_hexdigit());
        let checkpoint = Checkpoint { at: at.parse().ok()?, state: is_state.then(|| state.to_owned())? };
        Some(Self { checkpoint, received: received.parse().ok()?, repo })
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.checkpoint.at, self.checkpoint.state)?;
        if self.received == 0 {
            return Ok(());
        }
        write!(f, ".{}", self.received)?;
        self.repo.as_ref().map_or(Ok(()), |repo| write!(f, "@{repo}"))
    }
}

impl EventFilter {
    fn is_all(&self) -> bool {
        self.rank.is_none() && self.contract.is_none()
    }

    fn accepts(&self, event: &Event) -> bool {
        event.name == "realm"
            || (self.rank.is_none_or(|least| event.rank.is_some_and(|rank| rank <= least))
                && (self.contract.is_none() || event.contract == self.contract))
    }
}

impl Event {
    /// Returns an event. Its data contains no line breaks, which would end it.
    fn new(name: &'static str, id: &Position, data: &Value) -> Self {
        Self { name, rank: None, contract: None, text: format!("event: {name}\nid: {id}\ndata: {data}\n\n") }
    }
}

impl EventBatch {
    /// Returns the events for the change of a realm from one checkpoint to another, for subscribers of `repo`. Only the
    /// last event has the later checkpoint, so a client that is disconnected before gets the rest when it reconnects.
    pub fn new(
        realm: &RealmName,
        [before, after]: [&Checkpoint; 2],
        repo: Option<&RepoName>,
        changes: &Changes,
    ) -> Self {
        let id = |received| Position { checkpoint: before.clone(), received, repo: repo.cloned() };
        let Changes { notifications, sessions } = changes;
        let mut events = Vec::new();
        for one in notifications {
            let about = &one.notification;
            let contract =
                about.contract.clone().map(|contract| ContractRef { domain: about.domain.clone(), contract });
            let event = Event::new("notification", &id(events.len() + 1), &json!(one));
            events.push(Event { rank: Some(about.rank), contract, ..event });
        }
        for one in sessions {
            let mut data = json!(one);
            data["realm"] = json!(realm);
            events.push(Event::new("session", &id(events.len() + 1), &data));
        }
        let last = Position { checkpoint: after.clone(), received: 0, repo: None };
        events.push(Event::new("realm", &last, &json!({"realm": realm, "state": after.state})));
        Self::of(events)
    }

    /// Returns an event that says that a realm cannot be read.
    pub fn problem(realm: &RealmName, checkpoint: &Checkpoint, problem: &str) -> Self {
        let id = Position { checkpoint: checkpoint.clone(), received: 0, repo: None };
        Self::of(vec![Event::new("realm", &id, &json!({"realm": realm, "state": null, "problem": problem}))])
    }

    /// Returns these events, and others after them.
    pub fn then(self, others: Self) -> Self {
        Self::of(self.events.into_iter().chain(others.events).collect())
    }

    fn of(events: Vec<Event>) -> Self {
        let text = events.iter().map(|event| &*event.text).collect::<String>().into();
        Self { events, text }
    }

    /// Returns the number of events.
    pub fn count(&self) -> usize {
        self.events.len()
    }

    /// Returns the text of the wanted events. Clients that want all of them share one buffer.
    pub fn text(&self, filter: &EventFilter) -> Bytes {
        if filter.is_all() { self.text.clone() } else { self.text_after(0, filter).into() }
    }

    /// Returns the text of the wanted events after the first `received`.
    pub fn text_after(&self, received: usize, filter: &EventFilter) -> String {
        let rest = self.events.iter().skip(received);
        rest.filter(|event| filter.accepts(event)).map(|event| &*event.text).collect()
    }
}

/// Returns the start of a stream: the delay before reconnecting and, if nothing was missed, the current id.
pub fn hello(checkpoint: &Checkpoint, is_all_heard: bool) -> String {
    let id = if is_all_heard { format!("id: {}-{}\n", checkpoint.at, checkpoint.state) } else { String::new() };
    format!("retry: 2000\n{id}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(at: i64) -> Checkpoint {
        Checkpoint { at, state: format!("{at:012x}") }
    }

    #[test]
    fn a_written_position_can_be_parsed() {
        let repo: RepoName = "a.b-c_d".parse().unwrap();
        for (received, repo) in [(0, None), (3, None), (3, Some(repo))] {
            let position = Position { checkpoint: checkpoint(12), received, repo };
            assert_eq!(Position::parse(&position.to_string()), Some(position));
        }
        for odd in ["", "x", "1-2", "1-00000000000g", "1-000000000001.x", "1-000000000001.1@..", "../.."] {
            assert_eq!(Position::parse(odd), None, "{odd}");
        }
    }

    #[test]
    fn clients_that_want_everything_share_one_text() {
        let told = EventBatch::new(&"r".parse().unwrap(), [&checkpoint(1), &checkpoint(2)], None, &Changes::default());
        assert_eq!(told.text(&EventFilter::default()).as_ptr(), told.text(&EventFilter::default()).as_ptr());
        let picky = EventFilter { rank: Some(Rank::default()), contract: None };
        assert_eq!(told.text(&picky), told.text(&EventFilter::default()), "that the realm moved is told to everybody");
        assert_eq!(told.text_after(1, &EventFilter::default()), "");
    }
}
