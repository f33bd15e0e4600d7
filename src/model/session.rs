//! A session: a period of work in one working tree of a repository.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{
    hash,
    name::{ContractRef, DomainName, RepoName, RfcName},
    oid::Oid,
    text::{as_text, hex_id},
};

/// The number of hours without activity after which a session is stale.
const STALE_HOURS: i64 = 24;
/// The number of hours for which an ended session is kept: 30 days.
const KEPT_HOURS: i64 = 30 * 24;
/// The number of minutes after which activity is recorded again.
const ACTIVITY_MINUTES: i64 = 5;

hex_id!(
    /// The id of a session: `sess-` and lower-case hex digits.
    SessionId,
    "sess-",
    1..=32,
    "a session id: expected sess- and up to 32 lower-case hex digits"
);

impl SessionId {
    /// Returns an id derived from all parts: the place, the time and random data.
    pub fn of(parts: &[&str]) -> Self {
        Self(format!("sess-{}", hash::short_id(parts)).into())
    }
}

as_text!(SessionId, pattern "^sess-[0-9a-f]{1,32}$");

/// A session: the content of `<id>.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// The repository.
    pub repo: RepoName,
    /// The time at which it was started.
    pub started_at: Timestamp,
    /// The time of its last activity, with a precision of a few minutes.
    pub last_activity: Timestamp,
    /// The RFC being worked on.
    pub active_rfc: Option<RfcName>,
    /// The trees of the repository's domains when the session started. Empty once it has ended.
    #[serde(default)]
    pub start: BTreeMap<DomainName, Oid>,
    /// The end of the session; `None` while it is open.
    pub ended: Option<Ended>,
}

/// The end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Ended {
    /// The time of the end.
    pub at: Timestamp,
    /// The work done in the session.
    pub work: Work,
}

/// The subject of a session, and its results so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    /// The domains that the repository takes part in.
    pub active_domains: Vec<DomainName>,
    /// The repository's own contracts that changed since the start.
    pub contracts_modified: Vec<ContractRef>,
    /// The contracts of others that it imports.
    pub contracts_watched: Vec<ContractRef>,
    /// The contracts among them that changed since the start.
    pub contracts_changed: Vec<ContractRef>,
}

/// The state of a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The session is open.
    Active,
    /// The session is open, without activity for a day.
    Stale,
    /// The session has ended.
    Ended,
}

impl Session {
    /// Returns whether the session is active, stale or ended.
    pub fn state(&self, now: Timestamp) -> State {
        match self.ended {
            Some(_) => State::Ended,
            None if is_older(self.last_activity, now, SignedDuration::from_hours(STALE_HOURS)) => State::Stale,
            None => State::Active,
        }
    }

    /// Returns the end of the session, or `now` while it is active. A stale session ended with its last activity.
    pub fn end(&self, now: Timestamp) -> Timestamp {
        match (&self.ended, self.state(now)) {
            (Some(ended), _) => ended.at,
            (None, State::Stale) => self.last_activity,
            (None, _) => now.max(self.started_at),
        }
    }

    /// Returns whether activity at this time should be recorded.
    pub fn is_activity_due(&self, now: Timestamp) -> bool {
        let is_old = is_older(self.last_activity, now, SignedDuration::from_mins(ACTIVITY_MINUTES));
        is_old && self.state(now) == State::Active
    }

    /// Returns whether it ended so long ago that its record can be deleted.
    pub fn is_forgotten(&self, now: Timestamp) -> bool {
        let is_over = self.state(now) != State::Active;
        is_over && is_older(self.end(now), now, SignedDuration::from_hours(KEPT_HOURS))
    }

    /// Returns the session as ended, with this work.
    #[must_use]
    pub fn ended(self, now: Timestamp, work: Work) -> Self {
        let at = self.end(now);
        Self { ended: Some(Ended { at, work }), start: BTreeMap::new(), ..self }
    }
}

/// Formats the time between two moments: `2h 15m`.
pub fn duration(from: Timestamp, to: Timestamp) -> String {
    let minutes = to.duration_since(from).as_mins().max(0);
    let parts = [(minutes / (24 * 60), 'd'), (minutes / 60 % 24, 'h'), (minutes % 60, 'm')];
    let said: Vec<_> = parts.iter().filter(|(n, _)| *n > 0).map(|(n, unit)| format!("{n}{unit}")).collect();
    if said.is_empty() { "0m".into() } else { said.join(" ") }
}

fn is_older(at: Timestamp, now: Timestamp, than: SignedDuration) -> bool {
    now.duration_since(at) >= than
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(hours: i64, minutes: i64) -> Timestamp {
        let start: Timestamp = "2026-01-24T10:00:00Z".parse().unwrap();
        start + SignedDuration::from_mins(hours * 60 + minutes)
    }

    fn session() -> Session {
        Session {
            id: "sess-18f5a2b3c4d".parse().unwrap(),
            repo: "blue".parse().unwrap(),
            started_at: at(0, 0),
            last_activity: at(1, 0),
            active_rfc: None,
            start: [("s3".parse().unwrap(), "12".repeat(20).parse().unwrap())].into(),
            ended: None,
        }
    }

    #[test]
    fn a_day_without_activity_is_stale() {
        assert_eq!(session().state(at(0, 0)), State::Active);
        assert_eq!(session().state(at(24, 59)), State::Active);
        assert_eq!(session().state(at(25, 0)), State::Stale);
        assert_eq!(session().ended(at(2, 0), Work::default()).state(at(99, 0)), State::Ended);
    }

    #[test]
    fn a_stale_session_ended_with_its_last_activity() {
        assert_eq!(session().end(at(2, 15)), at(2, 15));
        assert_eq!(session().end(at(100, 0)), at(1, 0));
        // Even if the clock was set back, no session ends before it starts.
        assert_eq!(session().end(at(-3, 0)), at(0, 0));
        let ended = session().ended(at(2, 15), Work::default());
        assert_eq!((ended.end(at(99, 0)), ended.start.len()), (at(2, 15), 0));
    }

    #[test]
    fn activity_is_due_every_five_minutes_while_the_session_is_active() {
        assert!(!session().is_activity_due(at(1, 4)));
        assert!(session().is_activity_due(at(1, 5)));
        assert!(!session().is_activity_due(at(25, 0)), "it is stale");
        assert!(!session().ended(at(2, 0), Work::default()).is_activity_due(at(3, 0)));
        assert!(!session().is_activity_due(at(-5, 0)), "the clock was set back");
    }

    #[test]
    fn a_session_is_forgotten_thirty_days_after_its_end() {
        let day = 24;
        assert!(!session().is_forgotten(at(1 + 30 * day - 1, 0)));
        assert!(session().is_forgotten(at(1 + 30 * day, 0)), "a stale one as well");
        let ended = session().ended(at(10, 0), Work::default());
        assert!(!ended.is_forgotten(at(9 + 30 * day, 0)) && ended.is_forgotten(at(10 + 30 * day, 0)));
    }

    #[test]
    fn durations_are_formatted_for_people() {
        for (hours, minutes, said) in [
            (2, 15, "2h 15m"),
            (0, 45, "45m"),
            (2, 0, "2h"),
            (0, 0, "0m"),
            (49, 5, "2d 1h 5m"),
            (24, 0, "1d"),
            (-1, 0, "0m"),
        ] {
            assert_eq!(duration(at(0, 0), at(hours, minutes)), said);
        }
    }

    #[test]
    fn an_id_is_a_prefix_and_hex_digits() {
        let long = format!("sess-{}", "a".repeat(33));
        for text in ["", "sess-", "sess-A", "sess-g", "sess-1/../2", "18f5", "sess-1\n", &long] {
            assert!(text.parse::<SessionId>().is_err(), "{text:?} was accepted");
        }
        let id = SessionId::of(&["1", "2026"]);
        assert_eq!(id.to_string().parse(), Ok(id.clone()));
        assert_ne!(id, SessionId::of(&["2", "2026"]));
    }

    proptest! {
        #[test]
        fn the_state_of_a_session_is_consistent_at_any_time(hours in -1000i64..2000) {
            let now = at(hours, 0);
            let session = session();
            prop_assert!(session.end(now) >= session.started_at);
            prop_assert!(!(session.is_activity_due(now) && session.is_forgotten(now)));
        }
    }
}
