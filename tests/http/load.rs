//! Concurrent requests and publishes: nothing is lost or left over.

use std::{
    io::{BufReader, Write as _},
    sync::atomic::{AtomicUsize, Ordering},
    time::Instant,
};

use crate::{
    client::{Daemon, read},
    wait::eventually,
    whole::is_full,
    world::World,
};

/// The maximum size of the decoded values that the daemon holds, in KiB: the sum of the limits of every `ContentCache`
/// (docs/decisions/0107).
const HELD: usize = 38 << 10;
/// The maximum growth of its other memory, in KiB: thread stacks and what the allocator keeps.
const OTHER: usize = 12 << 10;

/// The number of requests; `make torture` makes more.
fn requests() -> usize {
    if is_full() { 100_000 } else { 5_000 }
}

#[test]
fn concurrent_requests_and_publishes_lose_nothing() {
    const CLIENTS: usize = 8;
    const SAMPLES: usize = 20;
    let world = World::pair();
    let daemon = Daemon::start(&world);
    let paths = [
        "/realms/aperture",
        "/realms",
        "/realms/aperture/contracts/s3-access/s3-permissions",
        "/health",
        "/sessions",
        "/realms/aperture/contracts?limit=1",
        "/notifications?realm=aperture&repo=access",
        "/nothing",
    ];
    for path in paths {
        daemon.get(path);
    }
    let settled = (daemon.count("task"), daemon.count("fd"), daemon.memory());
    let (total, done) = (requests(), AtomicUsize::new(0));
    let (address, headers) = (("127.0.0.1", daemon.port), daemon.headers());
    let start = Instant::now();
    let published = std::thread::scope(|scope| {
        let clients: Vec<_> = (0..CLIENTS)
            .map(|_| {
                scope.spawn(|| {
                    let stream = std::net::TcpStream::connect(address).unwrap();
                    let mut stream = BufReader::new(stream);
                    while let at = done.fetch_add(1, Ordering::Relaxed)
                        && at < total
                    {
                        let path = paths[at % paths.len()];
                        write!(stream.get_mut(), "GET {path} HTTP/1.1\r\n{headers}\r\n").unwrap();
                        let answer = read(&mut stream, "GET");
                        assert_eq!(answer.status, if path == "/nothing" { 404 } else { 200 }, "{path} {answer:?}");
                        answer.json();
                    }
                })
            })
            .collect();
        let (mut minor, mut used) = (0, Vec::new());
        while clients.iter().any(|client| !client.is_finished()) || minor == 0 {
            minor += 1;
            let version = format!("1.{minor}.0");
            let said = world.bump(&version).stderr;
            // While the realm is being packed, the hook publishes in the background.
            eventually(&version, || said.contains("published s3-access") || world.version() == version);
            // An acknowledged write is in the next answer, under any load.
            let answer = daemon.get("/realms/aperture/contracts/s3-access/s3-permissions").json();
            assert_eq!(answer["contract"]["version"], *version);
            if done.load(Ordering::Relaxed) >= total * (used.len() + 1) / SAMPLES {
                used.push(daemon.memory());
            }
        }
        for client in clients {
            client.join().unwrap();
        }
        eprintln!("memory over its course, KiB: {used:?}");
        minor
    });
    let seconds = start.elapsed().as_secs_f64();
    eprintln!("{total} requests and {published} publishes in {seconds:.1} s");
    assert_eq!(world.version(), format!("1.{published}.0"));
    world.git(&world.store(), &["fsck", "--strict", "--no-dangling"]);
    let left = (daemon.count("task"), daemon.count("fd"), daemon.memory());
    eprintln!("threads, descriptors, KiB: {settled:?} before, {left:?} after");
    assert!(left.0 <= settled.0 + 8 && left.1 <= settled.1 + CLIENTS + 2, "{settled:?} {left:?}");
    // Resident memory includes the mapped packs of the store, which grow. The daemon's own memory is bounded.
    let ((_, own), (_, own_before)) = (left.2, settled.2);
    assert!(own <= own_before + HELD + OTHER, "{settled:?} {left:?}");
}
