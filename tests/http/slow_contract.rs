//! A contract that takes long to judge does not block the daemon.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::{client::Daemon, world::World};

#[test]
fn checks_of_a_slow_contract_leave_the_daemon_answering() {
    let world = World::pair();
    let patterns: serde_json::Map<_, _> = (0..1_000).map(|at| (format!("(?=a)x{at}"), json!(true))).collect();
    let value: serde_json::Map<_, _> = (0..50_000).map(|at| (format!("p{at}"), json!(1))).collect();
    let mut held = world.stored("contracts/s3-permissions.json");
    held["schema"] = json!({"patternProperties": patterns});
    held["value"] = json!(value);
    world.plant("contracts/s3-permissions.json", &held.to_string());
    let daemon = Daemon::start(&world);
    let (address, headers) = (("127.0.0.1", daemon.port), daemon.headers());
    let ask = |path: &str| {
        use std::io::Write as _;
        let mut stream = std::net::TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
        stream
    };
    // More requests than there are threads.
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
