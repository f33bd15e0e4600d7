//! Many concurrent listeners: each gets every change, without delaying others.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use nix::sys::resource::{Resource, getrlimit, setrlimit};

use crate::{client::Daemon, wait::eventually, world::World};

/// The number of listeners.
const LISTENERS: usize = 300;
/// The time limit until all have the event: a debug build on a busy machine.
const BOUND: Duration = Duration::from_secs(10);
/// The memory limit for each of them, in KiB, in a debug build.
const MAX_EACH: usize = 64;

/// The limit for the number of additional threads. Several may answer requests at the moment, but no listener has one.
const MAX_THREADS: usize = 30;

/// Connects, and reads up to the first empty line of the events.
fn listen(daemon: &Daemon<'_>, query: &str) -> Option<BufReader<TcpStream>> {
    let mut stream = daemon.connect();
    write!(stream, "GET /events{query} HTTP/1.0\r\n{}\r\n", daemon.headers()).unwrap();
    let mut stream = BufReader::new(stream);
    let head = paragraph(&mut stream);
    if !head.contains(" 200 ") {
        return None;
    }
    let hello = paragraph(&mut stream);
    assert!(hello.starts_with("retry: "), "{hello}");
    Some(stream)
}

/// Returns the lines up to the next empty one.
fn paragraph(stream: &mut BufReader<TcpStream>) -> String {
    let mut text = String::new();
    loop {
        let before = text.len();
        stream.read_line(&mut text).unwrap();
        if text[before..].trim_end().is_empty() {
            return text;
        }
    }
}

/// Returns the names of the events up to the next change of the realm.
fn batch(stream: &mut BufReader<TcpStream>) -> Vec<String> {
    let mut names = Vec::new();
    while names.last().is_none_or(|name| name != "realm") {
        let event = paragraph(stream);
        names.extend(event.lines().find_map(|line| line.strip_prefix("event: ")).map(str::to_owned));
    }
    names
}

fn may_open_many_files() {
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}

#[test]
fn hundreds_of_listeners_hear_a_commit_without_delay() {
    may_open_many_files();
    let world = World::pair();
    let daemon = Daemon::start(&world);
    daemon.get("/realms/aperture").is(200);
    drop(listen(&daemon, "?realm=aperture").unwrap());
    let (threads, before) = (daemon.count("task"), daemon.memory().1);
    let query = |at: usize| ["?realm=aperture&repo=access", "?realm=aperture&repo=fungal", "?realm=aperture"][at % 3];
    let mut all: Vec<_> = (0..LISTENERS).map(|at| listen(&daemon, query(at)).unwrap()).collect();
    let each = daemon.memory().1.saturating_sub(before) / LISTENERS;
    assert!(each <= MAX_EACH, "{each} KiB each");
    let now = daemon.count("task");
    assert!(now <= threads + MAX_THREADS, "{now} threads, {threads} before");
    for minor in 1..3 {
        world.bump(&format!("1.{minor}.0"));
        let start = Instant::now();
        for (at, listener) in all.iter_mut().enumerate() {
            // Its author gets no event.
            let expected: &[_] = if at % 3 == 1 { &["realm"] } else { &["notification", "realm"] };
            assert_eq!(batch(listener), expected, "{}", query(at));
        }
        assert!(start.elapsed() < BOUND, "{:?} until all have heard", start.elapsed());
        eprintln!("{LISTENERS} heard within {:?}, {each} KiB each", start.elapsed());
    }
    daemon.get("/realms/aperture").is(200);
}

#[test]
fn thousand_listeners_leave_room_for_requests() {
    may_open_many_files();
    let world = World::solo();
    let daemon = Daemon::start(&world);
    let mut all = Vec::new();
    while let Some(listener) = listen(&daemon, "?realm=aperture") {
        all.push(listener);
        assert!(all.len() < 2_000);
    }
    assert!(all.len() >= 1_000, "{} listen", all.len());
    // One more is refused, and requests have as much room as before.
    assert_eq!(daemon.get("/events").is(503).header("retry-after"), "1");
    let mut idle: Vec<_> = (0..400).map(|_| daemon.connect()).collect();
    daemon.get("/realms/aperture").is(200);
    world.bump("1.1.0");
    for listener in &mut all {
        assert_eq!(batch(listener).last().unwrap(), "realm");
    }
    idle.clear();
    drop(all);
    eventually("descriptors are closed", || daemon.count("fd") <= 40);
    assert!(listen(&daemon, "?realm=aperture").is_some());
}
