//! The answers about sessions.

use serde::Deserialize;

use super::{RealmStatus, Status, Step, answer};
use crate::world::World;

#[derive(Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionLine {
    id: String,
    repo: String,
    state: String,
    started_at: String,
    last_activity: String,
    ended_at: Option<String>,
    active_rfc: Option<String>,
    is_current: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionStart {
    status: Status,
    message: String,
    session: Session,
    next_steps: Vec<Step>,
    // more
    resumed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Session {
    id: String,
    realm: String,
    repo: String,
    started_at: String,
    active_rfc: Option<String>,
    active_domains: Vec<String>,
    contracts_modified: Vec<String>,
    contracts_watched: Vec<String>,
    // more
    state: String,
    last_activity: String,
    contracts_changed: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionStatus {
    status: Status,
    realm: String,
    current_repo: String,
    session: Option<Session>,
    unreadable: Vec<String>,
    next_steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionList {
    status: Status,
    realm: String,
    current_repo: Option<String>,
    sessions: Vec<SessionLine>,
    unreadable: Vec<String>,
    total: usize,
    next_cursor: Option<String>,
    next_steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionStop {
    status: Status,
    message: String,
    summary: SessionSummary,
    next_steps: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SessionSummary {
    id: String,
    realm: String,
    repo: String,
    started_at: String,
    ended_at: String,
    duration: String,
    active_rfc: Option<String>,
    active_domains: Vec<String>,
    contracts_modified: Vec<String>,
    contracts_watched: Vec<String>,
    // more
    contracts_changed: Vec<String>,
    unreadable: Vec<String>,
}

#[test]
fn sessions() {
    let world = World::pair();
    let contracts = ["s3-access/s3-permissions"];
    let none: SessionStatus = answer(&world, "fungal", &["session", "status"]);
    assert_eq!((none.status, &*none.realm, &*none.current_repo), (Status::Success, "aperture", "fungal"));
    assert!(none.session.is_none() && none.unreadable.is_empty() && !none.next_steps.is_empty());

    let start: SessionStart = answer(&world, "fungal", &["session", "start", "--rfc", "rfc-0042-new-api"]);
    assert_eq!((start.status, &*start.message, start.resumed), (Status::Success, "session started", false));
    assert_eq!(
        start.next_steps,
        [Step::run("git blue review", "show whether changes by others break this repository")]
    );
    let session = &start.session;
    assert!(session.id.strip_prefix("sess-").unwrap().chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')));
    assert_eq!((&*session.realm, &*session.repo, &*session.state), ("aperture", "fungal", "active"));
    assert_eq!(
        (&session.started_at, session.active_rfc.as_deref()),
        (&session.last_activity, Some("rfc-0042-new-api"))
    );
    assert_eq!(session.active_domains, ["s3-access"]);
    assert!(session.contracts_modified.is_empty() && session.contracts_watched.is_empty());
    let watching: SessionStart = answer(&world, "access", &["session", "start"]);
    assert_eq!(
        (watching.session.active_rfc, &watching.session.contracts_watched[..]),
        (None, &contracts.map(Into::into)[..])
    );

    world.bump("1.1.0");
    let status: SessionStatus = answer(&world, "fungal", &["session", "status"]);
    assert_eq!(status.session.unwrap().contracts_modified, contracts);
    let status: SessionStatus = answer(&world, "access", &["session", "status"]);
    let session = status.session.unwrap();
    assert_eq!((session.contracts_modified.len(), &session.contracts_changed[..]), (0, &contracts.map(Into::into)[..]));

    let realm: RealmStatus = answer(&world, "fungal", &["status"]);
    let lines: Vec<_> = realm.sessions.iter().map(|line| (&*line.repo, &*line.state, line.is_current)).collect();
    assert_eq!(lines, [("access", "active", false), ("fungal", "active", true)]);
    assert_eq!(realm.session.as_ref(), realm.sessions.last());
    let list: SessionList = answer(&world, "fungal", &["session", "list"]);
    assert_eq!(
        (list.status, &*list.realm, list.current_repo.as_deref()),
        (Status::Success, "aperture", Some("fungal"))
    );
    assert_eq!((list.total, list.next_cursor, list.unreadable.len(), list.next_steps.len()), (2, None, 0, 0));
    assert_eq!(list.sessions.iter().map(|line| &*line.repo).collect::<Vec<_>>(), ["access", "fungal"]);

    let stop: SessionStop = answer(&world, "fungal", &["session", "stop"]);
    let summary = &stop.summary;
    assert_eq!((stop.status, stop.message), (Status::Success, format!("session ended after {}", summary.duration)));
    assert_eq!(stop.next_steps, []);
    assert_eq!((&summary.id, &*summary.realm, &*summary.repo), (&start.session.id, "aperture", "fungal"));
    let minutes = |at: &str| at.parse::<jiff::Timestamp>().unwrap().as_second() / 60;
    let took = minutes(&summary.ended_at) - minutes(&summary.started_at);
    assert_eq!(summary.duration, format!("{took}m"));
    assert_eq!(
        (summary.active_rfc.as_deref(), &summary.active_domains[..]),
        (Some("rfc-0042-new-api"), &["s3-access".to_owned()][..])
    );
    assert_eq!(summary.contracts_modified, contracts);
    assert!(
        summary.contracts_watched.is_empty() && summary.contracts_changed.is_empty() && summary.unreadable.is_empty()
    );
    let list: SessionList = answer(&world, "fungal", &["session", "list", "--ended"]);
    let states: Vec<_> = list.sessions.iter().map(|line| (&*line.state, line.ended_at.is_some())).collect();
    assert_eq!(states, [("active", false), ("ended", true)]);
}
