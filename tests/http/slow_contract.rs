//! A contract that takes long to judge does not block the daemon.

use std::{
    io::{BufReader, ErrorKind, Write as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::json;

use crate::{
    client::{Daemon, read},
    plant_slow::plant_slow_contract,
    wait::eventually,
    world::World,
};

/// More than there are threads.
const CHECKS: usize = 7;
/// The number of requests that the daemon lets wait.
const WAITING: usize = 256;

fn slow() -> World {
    let world = World::pair();
    plant_slow_contract(&world);
    world
}

/// Requests a check, and does not wait for the answer.
fn begin_check(daemon: &Daemon<'_>) -> TcpStream {
    let mut stream = daemon.connect();
    write!(stream, "GET /realms/aperture/check HTTP/1.1\r\n{}\r\n", daemon.headers()).unwrap();
    stream
}

fn is_answered(stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).unwrap();
    let peeked = stream.peek(&mut [0]);
    stream.set_nonblocking(false).unwrap();
    peeked.map_or_else(|error| error.kind() != ErrorKind::WouldBlock, |_| true)
}

#[test]
fn daemon_answers_while_checking_a_slow_contract() {
    let world = slow();
    let daemon = Daemon::start(&world);
    let mut checks: Vec<_> = (0..CHECKS).map(|_| begin_check(&daemon)).collect();
    let first = checks.remove(0);
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    for path in ["/realms", "/realms/aperture", "/realms/aperture/contracts", "/", "/sessions"] {
        daemon.get(path).is(200);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert!(!checks.iter().chain([&first]).all(is_answered), "checks still run or wait");
    drop(checks);
    let answer = read(&mut BufReader::new(first), "GET").is(200).json();
    assert_eq!((&answer["valid"], &answer["errors"][0]["code"]), (&json!(false), &json!("undecided")), "{answer}");
}

#[test]
fn requests_are_refused_if_too_many_wait() {
    let world = slow();
    let daemon = Daemon::start(&world);
    let mut checks: Vec<_> = (0..WAITING).map(|_| begin_check(&daemon)).collect();
    for path in ["/realms", "/"] {
        let mut answer = daemon.get(path);
        eventually("too many wait", || {
            // In place of one that was finished meanwhile.
            checks.push(begin_check(&daemon));
            answer = daemon.get(path);
            answer.status == 503
        });
        assert_eq!((answer.header("retry-after"), &answer.json()["code"]), ("1", &json!("busy")), "{path}");
    }
    assert!(daemon.is_alive());
    // Clients that do not wait any longer make room.
    drop(checks);
    eventually("there is room again", || daemon.get("/realms").status == 200);
}
