//! Thousands of idle connections.

use std::{net::TcpStream, time::Instant};

use crate::{client::Daemon, world::World};

/// The number of connections.
const MANY: usize = 5_000;

#[test]
fn idle_connections_do_not_block_others() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let world = World::solo();
    let daemon = Daemon::start(&world);
    daemon.get("/realms/aperture").is(200);
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
    let many = MANY.min(usize::try_from(hard).unwrap_or(usize::MAX).saturating_sub(200));
    let threads = daemon.count("task");
    let mut idle = Vec::with_capacity(many);
    for at in 0..many {
        idle.push(TcpStream::connect(("127.0.0.1", daemon.port)).unwrap());
        if at % 500 == 0 {
            let start = Instant::now();
            daemon.get("/realms/aperture").is(200);
            assert!(start.elapsed().as_secs() < 15, "{:?} with {at} idle connections", start.elapsed());
        }
    }
    for _ in 0..20 {
        daemon.get("/realms/aperture").is(200);
    }
    {
        assert!(daemon.count("task") <= threads + 8, "{} threads, {threads} before", daemon.count("task"));
        assert!(daemon.count("fd") < 600, "{} descriptors", daemon.count("fd"));
        assert!(daemon.memory().0 < 80 << 10, "{:?} KiB", daemon.memory());
    }
    drop(idle);
    daemon.get("/realms/aperture").is(200);
}
