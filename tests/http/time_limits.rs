//! Slow clients do not block the daemon.

use std::{
    io::{BufReader, Read as _, Write as _},
    time::{Duration, Instant},
};

use crate::{
    client::{Daemon, read},
    world::World,
};

#[test]
fn a_head_that_comes_slowly_is_not_waited_for() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let (mut silent, mut slow) = (daemon.connect(), daemon.connect());
    let start = Instant::now();
    let writer = std::thread::spawn({
        let mut slow = slow.try_clone().unwrap();
        move || {
            // An occasional byte does not restart the time limit.
            while slow.write_all(b"X").is_ok() && start.elapsed() < Duration::from_secs(40) {
                std::thread::sleep(Duration::from_millis(500));
            }
        }
    });
    for stream in [&mut silent, &mut slow] {
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(start.elapsed() < Duration::from_secs(25), "{:?}", start.elapsed());
        assert!(rest.is_empty() || rest.starts_with(b"HTTP/1.1 4"), "{}", String::from_utf8_lossy(&rest));
    }
    writer.join().unwrap();
    assert!(daemon.is_alive());
}

#[test]
fn a_body_that_comes_slowly_is_not_waited_for() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    let mut stream = daemon.connect();
    let start = Instant::now();
    let headers = daemon.headers();
    write!(
        stream,
        "POST /sessions HTTP/1.1\r\n{headers}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    )
    .unwrap();
    let answer = read(&mut BufReader::new(stream), "POST").is(408);
    assert_eq!(answer.json()["code"], "timeout");
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
#[cfg(target_os = "linux")]
fn an_answer_that_nobody_reads_is_not_held_for_ever() {
    let world = World::new();
    let daemon = Daemon::start(&world);
    assert!(daemon.is_alive());
    std::thread::sleep(Duration::from_millis(200));
    let before = daemon.count("fd");
    let mut stream = daemon.connect();
    let request = format!("GET /openapi.json HTTP/1.1\r\n{}\r\n", daemon.headers());
    // Until all buffers between the client and the daemon are full.
    stream.set_write_timeout(Some(Duration::from_secs(2))).unwrap();
    let sent = (0..100_000).take_while(|_| stream.write_all(request.as_bytes()).is_ok()).count();
    assert!((1..100_000).contains(&sent), "{sent}");
    let start = Instant::now();
    while daemon.count("fd") > before {
        assert!(start.elapsed() < Duration::from_secs(50), "the connection is still there");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(start.elapsed() > Duration::from_secs(5), "it was given no time");
    assert!(daemon.is_alive());
}
