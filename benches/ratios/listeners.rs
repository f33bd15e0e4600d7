//! Measures how soon listeners to `/events` receive a change, and the cost of each listener. One thread of this process
//! reads all connections on the same machine, so its own cost is part of the figures.

use std::{
    io::{ErrorKind, Read as _, Write},
    net::TcpStream,
    time::{Duration, Instant},
};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{http::Server, place::Place};

/// The number of listeners, and the maximum time in milliseconds until 99% of them have received a change, without that of
/// the publisher. Some hear of it before the publisher exits, so all times start with the publisher.
const ROWS: [(usize, f64); 2] = [(1, 50.0), (1_000, 250.0)];
/// The number of changes.
const ROUNDS: usize = 20;
/// The maximum time for one change.
const PATIENCE: Duration = Duration::from_secs(60);
/// The last event of each change.
const LAST: &[u8] = b"event: realm\n";

/// Prints every row whose name contains `wanted`.
pub fn report(place: &Place, wanted: &str, out: &mut impl Write) {
    for (count, budget) in ROWS {
        let name = format!("{count} listeners hear of a publish");
        if name.contains(wanted) {
            row(place, &name, count, budget, out);
        }
    }
}

fn row(place: &Place, name: &str, count: usize, budget: f64, out: &mut impl Write) {
    may_open_many_files();
    let daemon = Server::of_git_blue(place);
    drop(Listener::open(&daemon));
    let before = daemon.memory();
    let mut listeners: Vec<_> = (0..count).map(|_| Listener::open(&daemon)).collect();
    let each = (daemon.memory() - before) * 1024.0 / count as f64;
    let (mut times, mut writes) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        place.shell("sh change.sh");
        listeners.iter_mut().for_each(Listener::forget);
        let start = Instant::now();
        let mut command = place.command("git-blue", "aperture");
        let publish = std::thread::spawn(move || {
            assert!(command.args(["contract", "publish", "--quiet"]).status().unwrap().success());
            Instant::now()
        });
        let heard = hear(&mut listeners);
        let end = publish.join().unwrap();
        writes.push((end - start).as_secs_f64() * 1e3);
        times.extend(heard.into_iter().map(|at| (at - start).as_secs_f64() * 1e3));
        // Changes in quick succession are reported together.
        std::thread::sleep(Duration::from_millis(200));
    }
    let (half, most, write) = (percentile(&mut times, 50), percentile(&mut times, 99), percentile(&mut writes, 50));
    let verdict = if most > write + budget { "OVER the budget of" } else { "within" };
    writeln!(
        out,
        "  {name:34} {half:8.2} ms p50 {most:8.2} ms p99, {write:8.2} ms of it writing  {verdict} {budget} ms more"
    )
    .unwrap();
    if count > 1 {
        writeln!(out, "  {:34} {each:8.1} KiB of the daemon each", "").unwrap();
    }
}

/// Returns the time at which each listener had received all of one change.
fn hear(listeners: &mut [Listener]) -> Vec<Instant> {
    let start = Instant::now();
    let mut heard: Vec<Option<Instant>> = vec![None; listeners.len()];
    while heard.iter().any(Option::is_none) {
        assert!(start.elapsed() < PATIENCE, "{} have not heard", heard.iter().filter(|at| at.is_none()).count());
        let waiting: Vec<_> = (0..listeners.len()).filter(|at| heard[*at].is_none()).collect();
        let mut fds: Vec<_> = waiting.iter().map(|at| PollFd::new(&listeners[*at].stream, PollFlags::IN)).collect();
        poll(&mut fds, Some(&Timespec { tv_sec: 1, tv_nsec: 0 })).unwrap();
        let ready: Vec<_> =
            fds.iter().zip(&waiting).filter(|(fd, _)| !fd.revents().is_empty()).map(|(_, at)| *at).collect();
        for at in ready {
            heard[at] = listeners[at].has_heard().then(Instant::now);
        }
    }
    heard.into_iter().flatten().collect()
}

struct Listener {
    stream: TcpStream,
    /// The events since the last change.
    text: Vec<u8>,
}

impl Listener {
    fn open(daemon: &Server) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", daemon.port)).unwrap();
        let head = daemon.head("GET /events?realm=aperture&repo=fungal").replace("HTTP/1.1", "HTTP/1.0");
        write!(stream, "{head}\r\n").unwrap();
        let mut text = Vec::new();
        while !text.ends_with(b"\n\n") {
            let mut bytes = [0; 4096];
            let length = stream.read(&mut bytes).unwrap();
            assert!(length > 0, "{}", String::from_utf8_lossy(&text));
            text.extend(&bytes[..length]);
        }
        assert!(
            text.starts_with(b"HTTP/1.0 200") || text.starts_with(b"HTTP/1.1 200"),
            "{}",
            String::from_utf8_lossy(&text)
        );
        stream.set_nonblocking(true).unwrap();
        Self { stream, text: Vec::new() }
    }

    /// Reads the received data and discards it.
    fn forget(&mut self) {
        self.has_heard();
        self.text.clear();
    }

    /// Reads the received data. Returns whether a change is complete.
    fn has_heard(&mut self) -> bool {
        let mut bytes = [0; 16 << 10];
        loop {
            match self.stream.read(&mut bytes) {
                Ok(0) => panic!("cut off"),
                Ok(length) => self.text.extend(&bytes[..length]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => panic!("{error}"),
            }
        }
        let last = self.text.windows(LAST.len()).position(|part| part == LAST);
        let is_whole = last.is_some_and(|at| self.text[at..].ends_with(b"\n\n"));
        if is_whole {
            self.text.clear();
        }
        is_whole
    }
}

fn may_open_many_files() {
    use nix::sys::resource::{Resource, getrlimit, setrlimit};
    let (_, hard) = getrlimit(Resource::RLIMIT_NOFILE).unwrap();
    setrlimit(Resource::RLIMIT_NOFILE, hard, hard).unwrap();
}

fn percentile(times: &mut [f64], percent: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * percent / 100).min(times.len() - 1)]
}
