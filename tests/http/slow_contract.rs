//! A contract that takes long to judge does not block the daemon.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{client::Daemon, plant_slow::plant_slow_contract, world::World};

#[test]
fn daemon_answers_while_checking_a_slow_contract() {
    let world = World::pair();
    plant_slow_contract(&world);
    let daemon = Daemon::start(&world);
    let (address, headers) = (("127.0.0.1", daemon.port), daemon.headers());
    let ask = |path: &str| {
        use std::io::Write as _;
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
        stream
    };
    // More than there are worker threads.
    let mut checks: Vec<_> = (0..7).map(|_| ask("/realms/aperture/check")).collect();
    let first = checks.remove(0);
    std::thread::sleep(Duration::from_millis(300));
    let begun = Instant::now();
    for path in ["/realms", "/realms/aperture", "/realms/aperture/contracts", "/", "/sessions"] {
        daemon.get(path).is(200);
    }
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    drop(checks);
    let answer = crate::client::read(&mut std::io::BufReader::new(first), "GET").is(200).json();
    assert_eq!((&answer["valid"], &answer["errors"][0]["code"]), (&json!(false), &json!("undecided")), "{answer}");
}
