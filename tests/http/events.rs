//! Events arrive as changes happen, once, and after reconnecting too.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

use crate::{client::Daemon, world::World};

struct Listener(BufReader<TcpStream>);

#[derive(Debug, Clone, Default)]
struct Event {
    name: String,
    id: String,
    data: Value,
}

impl Listener {
    fn open(daemon: &Daemon<'_>, query: &str, last: &str) -> Self {
        let mut stream = daemon.connect();
        let last = if last.is_empty() { String::new() } else { format!("Last-Event-ID: {last}\r\n") };
        write!(stream, "GET /events{query} HTTP/1.1\r\n{}{last}\r\n", daemon.headers()).unwrap();
        let mut stream = BufReader::new(stream);
        let mut line = String::new();
        stream.read_line(&mut line).unwrap();
        assert!(line.starts_with("HTTP/1.1 200 "), "{line}");
        let mut listener = Self(stream);
        while !listener.line().is_empty() {}
        listener
    }

    /// Returns the next line of the stream, without chunk sizes.
    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// Returns the next event; one without a name only has the position of the stream.
    fn next(&mut self) -> Event {
        let mut event = Event::default();
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some(("event", name)) => event.name = name.to_owned(),
                Some(("id", id)) => {
                    event.id = id.to_owned();
                    if event.name.is_empty() {
                        return event;
                    }
                }
                Some(("data", data)) => {
                    event.data = serde_json::from_str(data).unwrap();
                    return event;
                }
                _ => {}
            }
        }
    }

    /// Returns all events up to the next change of the realm.
    fn batch(&mut self) -> Vec<Event> {
        let mut events = vec![self.next()];
        while events.last().unwrap().name != "realm" {
            events.push(self.next());
        }
        events
    }

    /// Returns whether nothing arrives for a while.
    fn is_silent(&mut self) -> bool {
        self.0.get_ref().set_read_timeout(Some(Duration::from_millis(1_500))).unwrap();
        let mut rest = String::new();
        let end = loop {
            match self.0.read_line(&mut rest) {
                Ok(0) => panic!("the stream ended: {rest}"),
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        assert!(matches!(end.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{end}");
        !rest.contains("event:")
    }
}

fn names(events: &[Event]) -> Vec<&str> {
    events.iter().map(|event| &*event.name).collect()
}

#[test]
fn publish_by_another_process_is_sent() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut all = Listener::open(&daemon, "?realm=aperture", "");
    let mut other = Listener::open(&daemon, "?realm=aperture&repo=fungal", "");
    let start = all.next();
    assert!(start.name.is_empty() && !start.id.is_empty());
    other.next();
    world.bump("1.1.0");
    let heard = all.batch();
    assert_eq!(names(&heard), ["notification", "realm"]);
    let notification = &heard[0].data;
    assert_eq!(
        (&notification["current_repo"], &notification["contract"]),
        (&"access".into(), &"s3-permissions".into())
    );
    assert_eq!(notification["changes"]["new_version"], "1.1.0");
    // Its author gets no event.
    assert_eq!(names(&other.batch()), ["realm"]);
    world.ok(&world.path("fungal"), &["session", "start"]);
    let heard = all.batch();
    assert_eq!(names(&heard), ["session", "realm"]);
    assert_eq!((&heard[0].data["repo"], &heard[0].data["state"]), (&"fungal".into(), &"active".into()));
    world.ok(&world.path("fungal"), &["session", "stop"]);
    assert_eq!(all.batch()[0].data["state"], "ended");
    // Listening marks nothing as seen.
    assert_eq!(daemon.get("/notifications?state=pending").json()["total"], 1);
    assert!(all.is_silent());
}

#[test]
fn reconnecting_client_gets_missed_events() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let last = Listener::open(&daemon, "?realm=aperture", "").next().id;
    world.bump("1.1.0");
    let mut again = Listener::open(&daemon, "?realm=aperture", &last);
    let heard = again.batch();
    assert!(names(&heard).contains(&"notification"), "{heard:?}");
    let last = heard.last().unwrap().id.clone();
    // A restarted daemon continues after the id too.
    drop((again, daemon));
    let daemon = Daemon::start(&world);
    let mut resumed = Listener::open(&daemon, "?realm=aperture", &last);
    assert_eq!(resumed.next().name, "");
    assert!(resumed.is_silent());
    world.bump("1.2.0");
    let mut resumed = Listener::open(&daemon, "", &last);
    assert!(names(&resumed.batch()).contains(&"notification"));
    // One is from the future: the clock was corrected since.
    for odd in ["x", "1-2", "99999999999-000000000001", "99999999999999999999-000000000000", "../.."] {
        let heard = Listener::open(&daemon, "?realm=aperture", odd).batch();
        assert!(names(&heard).contains(&"notification"), "{odd}: {heard:?}");
    }
}

#[test]
fn reconnecting_for_another_repository_misses_nothing() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut all = Listener::open(&daemon, "?realm=aperture", "");
    all.next();
    let text = |name: &str| crate::world::contract("1.0.0").replace("s3-permissions", name);
    for name in ["first", "second"] {
        world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text(name));
    }
    world.commit("fungal", "Two more");
    let contracts = |events: &[Event]| -> Vec<String> {
        let named = events.iter().filter_map(|event| event.data["contract"].as_str());
        named.map(str::to_owned).collect()
    };
    let last = all.next().id;
    let mut of_one = Listener::open(&daemon, "?realm=aperture&repo=access", &last);
    let heard = of_one.batch();
    assert_eq!(contracts(&heard).len(), 2, "rather twice than never: {heard:?}");
    // For the same repository it continues after the last one.
    let mut again = Listener::open(&daemon, "?realm=aperture&repo=access", &heard[0].id);
    assert_eq!(contracts(&again.batch()), contracts(&heard[1..]));
    // Nobody listened for this repository before.
    let mut own = Listener::open(&daemon, "?realm=aperture&repo=fungal", &last);
    assert_eq!(names(&own.batch()), ["realm"]);
}

#[test]
fn acknowledged_notification_is_not_sent_again() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut listener = Listener::open(&daemon, "?realm=aperture&repo=access", "");
    listener.next();
    world.bump("1.1.0");
    let id = listener.batch()[0].data["id"].as_str().unwrap().to_owned();
    daemon.post(&format!("/notifications/{id}/ack"), &Value::Null).is(200);
    world.bump("1.2.0");
    let heard = listener.batch();
    assert_eq!(names(&heard), ["notification", "realm"]);
    assert_eq!(heard[0].data["changes"]["old_version"], "1.1.0");
}

#[test]
fn realms_beyond_the_limit_are_named() {
    let world = World::new();
    for at in 10..27 {
        let name = format!("r{at}");
        world.ok(&world.repo(&name), &["init", "--realm", &name]);
    }
    let daemon = Daemon::start(&world);
    let event = Listener::open(&daemon, "", "").next();
    assert_eq!((&*event.name, &event.data["realm"]), ("realm", &"r26".into()));
    assert_eq!(event.data["problem"], "too many realms are being watched");
}

#[test]
fn realm_that_appears_later_is_watched() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let mut listener = Listener::open(&daemon, "", "");
    let start = listener.next().id;
    for name in ["first", "second"] {
        let folder = world.repo(name);
        world.ok(&folder, &["init", "--realm", name]);
        assert_eq!(listener.batch().last().unwrap().data["realm"], name);
        world.ok(&folder, &["session", "start"]);
        let mut heard = listener.batch();
        // Joining may have been more than one change.
        while heard[0].name == "realm" {
            heard = listener.batch();
        }
        assert_eq!(names(&heard), ["session", "realm"]);
        assert_eq!(heard[0].data["repo"], name);
    }
    assert_eq!(Listener::open(&daemon, "?realm=first", &start).batch()[0].name, "session");
}

#[test]
fn realm_that_can_be_read_again_is_announced() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut listener = Listener::open(&daemon, "?realm=aperture", "");
    listener.next();
    let (store, away) = (world.store(), world.path("away.git"));
    std::fs::rename(&store, &away).unwrap();
    assert!(listener.next().data["problem"].is_string());
    std::fs::rename(&away, &store).unwrap();
    let event = listener.next().data;
    assert!(event["state"].is_string() && event["problem"].is_null(), "{event}");
}

#[test]
fn invalid_subscription_is_an_error() {
    let world = World::solo();
    let daemon = Daemon::start(&world);
    daemon.get("/events?realm=nothing").is(404);
    for unknown in ["realm=nothing", "repo=nobody", "realm=aperture&repo=nobody"] {
        daemon.get(&format!("/notifications?{unknown}")).is(404);
    }
    daemon.get("/notifications?repo=fungal").is(200);
    daemon.get("/events?realm=aperture&repo=nobody").is(404);
    daemon.get("/events?repo=nobody").is(404);
    daemon.get("/events?realm=..").is(400);
}

#[test]
fn reconnecting_neither_loses_nor_repeats() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut last = Listener::open(&daemon, "?realm=aperture", "").next().id;
    let text = |name: &str| crate::world::contract("1.0.0").replace("s3-permissions", name);
    let mut heard = Vec::new();
    for round in 0..4 {
        // Several changes while nobody listens, for so long that the realm is not watched any more.
        for n in 0..3 {
            let name = format!("extra-{round}-{n}");
            world.write(&format!("fungal/.blue/contracts/s3-access/{name}.yaml"), &text(&name));
        }
        world.commit("fungal", "More");
        std::thread::sleep(Duration::from_millis(if round % 2 == 0 { 1_500 } else { 0 }));
        // Disconnected after each event, and again.
        loop {
            let event = Listener::open(&daemon, "?realm=aperture", &last).next();
            last = event.id;
            match &*event.name {
                "notification" => heard.push(event.data["contract"].as_str().unwrap().to_owned()),
                "realm" => break,
                _ => {}
            }
        }
        let mut again = Listener::open(&daemon, "?realm=aperture", &last);
        assert!(again.next().name.is_empty() && again.is_silent(), "round {round}");
    }
    let count = heard.len();
    heard.sort();
    heard.dedup();
    assert_eq!((heard.len(), count), (12, 12), "{heard:?}");
}

#[test]
fn rank_filters_events() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut broken = Listener::open(&daemon, "?realm=aperture&rank=broken", "");
    let mut other = Listener::open(&daemon, "?realm=aperture&contract=s3-access/other", "");
    broken.next();
    other.next();
    world.bump("1.1.0");
    assert_eq!(names(&broken.batch()), ["realm"]);
    world.bump("2.0.0");
    let heard = broken.batch();
    assert_eq!(names(&heard), ["notification", "realm"]);
    assert_eq!(heard[0].data["rank"], "broken");
    assert_eq!(names(&other.batch()), ["realm"]);
}

#[test]
fn renamed_repository_is_followed_until_it_leaves() {
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let mut listener = Listener::open(&daemon, "?realm=aperture&repo=access", "");
    let start = listener.next().id;
    world.ok(&world.path("access"), &["realm", "admin", "rename", "access", "reader"]);
    world.bump("2.0.0");
    let break_of = |listener: &mut Listener| {
        let is_break = |event: &Event| event.data["changes"]["new_version"] == "2.0.0";
        loop {
            if let Some(event) = listener.batch().into_iter().find(is_break) {
                return event.data["current_repo"].clone();
            }
        }
    };
    assert_eq!(break_of(&mut listener), "reader");
    for query in ["?realm=aperture&repo=access", "?repo=access", "?repo=reader"] {
        assert_eq!(break_of(&mut Listener::open(&daemon, query, &start)), "reader", "{query}");
        assert_eq!(daemon.get(&format!("/notifications{query}&state=pending")).json()["total"], 1, "{query}");
    }
    world.ok(&world.path("access"), &["leave", "--force"]);
    let mut event = listener.next();
    while event.data["problem"].is_null() {
        event = listener.next();
    }
    assert_eq!(event.data["problem"], "access is not in the realm aperture");
    daemon.get("/events?realm=aperture&repo=access").is(404);
}

#[test]
fn repository_of_another_machine_is_heard_like_one_of_this() {
    let world = World::pair();
    let config = world.store().join("../../config");
    world.git(
        &world.root(),
        &["config", "--file", config.to_str().unwrap(), "--remove-section", "blue.repo.aperture/access"],
    );
    let daemon = Daemon::start(&world);
    let query = "?realm=aperture&repo=access";
    let start = Listener::open(&daemon, query, "").next().id;
    drop(daemon);
    world.ok(&world.path("fungal"), &["session", "start"]);
    world.bump("2.0.0");
    let daemon = Daemon::start(&world);
    assert_eq!(names(&Listener::open(&daemon, query, &start).batch()), ["notification", "session", "realm"]);
    for path in ["/notifications?repo=access", "/sessions?repo=access", "/sessions?realm=aperture&repo=access"] {
        daemon.get(path).is(200);
    }
}

#[test]
fn what_was_seen_meanwhile_is_not_sent_again() {
    let world = World::pair();
    let access = world.path("access");
    let daemon = Daemon::start(&world);
    let query = "?realm=aperture&repo=access";
    let start = Listener::open(&daemon, query, "").next().id;
    // Somebody else listens, so each change is remembered on its own.
    let mut other = Listener::open(&daemon, "?realm=aperture&repo=fungal", "");
    other.next();
    for version in ["1.1.0", "2.0.0"] {
        world.bump(version);
        other.batch();
    }
    let mut resumed = Listener::open(&daemon, query, &start);
    let mut heard = resumed.batch();
    heard.extend(resumed.batch());
    assert_eq!(names(&heard), ["realm", "notification", "realm"], "the first was replaced: {heard:?}");
    let mut foreign = Listener::open(&daemon, query, "1-000000000000");
    assert_eq!(names(&foreign.batch()), ["notification", "realm"]);
    world.ok(&access, &["notifications", "ack", "--all"]);
    world.bump("2.0.1");
    world.ok(&access, &["notifications", "ack", "--all"]);
    std::thread::sleep(Duration::from_millis(1_500));
    assert_eq!(names(&Listener::open(&daemon, query, "1-000000000000").batch()), ["realm"]);
}

#[test]
fn repository_that_was_renamed_elsewhere_is_still_on_this_machine() {
    let world = World::pair();
    world.ok(&world.path("access"), &["realm", "admin", "rename", "access", "reader"]);
    // As on a machine where the rename arrived by sync.
    let config = world.store().join("../../config");
    let [new, old] = ["reader", "access"].map(|name| format!("blue.repo.aperture/{name}"));
    world.git(&world.root(), &["config", "--file", config.to_str().unwrap(), "--rename-section", &new, &old]);
    world.bump("2.0.0");
    let daemon = Daemon::start(&world);
    let pending = daemon.get("/notifications?state=pending").json();
    assert!(
        pending["notifications"].as_array().unwrap().iter().any(|one| one["current_repo"] == "reader"),
        "{pending}"
    );
    for page in ["/r/aperture/repos/reader", "/r/aperture"] {
        assert!(!daemon.get(page).is(200).text().contains("not on this machine"), "{page}");
    }
}
