//! Compares the daemon with a tiny_http server that returns the same bytes for every request: requests per second and
//! the 99th percentile, over one connection and over many. The load comes from threads of this process, each of which
//! sends its next request after it has received an answer.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write},
    net::TcpStream,
    process::{Child, Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use super::{place::Place, realm::PER_DOMAIN};

/// The flag that makes this program the server that returns the same bytes for every request.
const STATIC: &str = "--static";
/// The numbers of concurrent connections.
const CONNECTIONS: [usize; 2] = [1, 32];
/// The duration of each side's turn.
const TURN: Duration = Duration::from_millis(1_000);
const TURNS: usize = 3;
/// The number of requests over which memory is measured.
const MANY: usize = 100_000;
/// The maximum growth of memory after these requests.
const MAX_GROWTH_MB: f64 = 8.0;

/// Prints every row whose name contains `wanted`.
pub fn report(place: &Place, wanted: &str, out: &mut impl Write) {
    let is_wanted = |name: &str| name.contains(wanted);
    let names = ["http /realms/aperture", "http contract_get over mcp", "memory: http"];
    if !names.into_iter().any(is_wanted) {
        return;
    }
    let daemon = Server::of_git_blue(place);
    // Each request is for a different contract.
    let all = (0..place.contracts).map(|number| daemon.contract_get(number)).collect();
    for (name, requests) in [(names[0], vec![daemon.status()]), (names[1], all)] {
        if is_wanted(name) {
            rows(place, name, &daemon, &requests, out);
        }
    }
    if is_wanted(names[2]) {
        memory(&daemon, out);
    }
}

fn rows(place: &Place, name: &str, daemon: &Server, requests: &[Vec<u8>], out: &mut impl Write) {
    let answer = Connection::open(daemon.port).ask(&requests[0]);
    let floor = Server::of_static(place, answer);
    for connections in CONNECTIONS {
        let (mut measured, mut fixed) = (Asked::default(), Asked::default());
        for _ in 0..TURNS {
            measured.join(load(daemon.port, requests, connections));
            fixed.join(load(floor.port, requests, connections));
        }
        let (rate, most) = (measured.rate(), fixed.rate());
        let (slow, slowest) = (measured.p99(), fixed.p99());
        let name = format!("{name}, {connections} conn.");
        writeln!(out, "  {name:34} {rate:8.0} /s {:7.2} x  {:26} {most:8.0} /s", rate / most, "static tiny_http")
            .unwrap();
        writeln!(
            out,
            "  {:34} {slow:8.2} ms {:7.2} x  {:26} {slowest:8.2} ms",
            format!("{name} p99"),
            slow / slowest,
            "static tiny_http"
        )
        .unwrap();
    }
}

fn memory(daemon: &Server, out: &mut impl Write) {
    let request = daemon.status();
    let ask = |count: usize| {
        let mut connection = Connection::open(daemon.port);
        for _ in 0..count {
            connection.ask(&request);
        }
    };
    ask(MANY / 10);
    let before = daemon.memory();
    ask(MANY);
    let (after, name) = (daemon.memory(), format!("memory: http, {MANY} requests"));
    let verdict = if after - before > MAX_GROWTH_MB { "GROWS more than" } else { "within" };
    writeln!(out, "  {name:34} {after:8.1} MB now {before:8.1} MB before {:24} {verdict} {MAX_GROWTH_MB} MB", "")
        .unwrap();
}

/// The results of a load: the duration, and the time of each answer.
#[derive(Default)]
struct Asked {
    took: Vec<f64>,
    seconds: f64,
}

impl Asked {
    fn join(&mut self, other: Self) {
        self.took.extend(other.took);
        self.seconds += other.seconds;
    }

    fn rate(&self) -> f64 {
        self.took.len() as f64 / self.seconds
    }

    fn p99(&mut self) -> f64 {
        self.took.sort_by(f64::total_cmp);
        self.took[self.took.len() * 99 / 100]
    }
}

fn load(port: u16, requests: &[Vec<u8>], connections: usize) -> Asked {
    let next = AtomicUsize::new(0);
    let start = Instant::now();
    let took = std::thread::scope(|scope| {
        let asking = || {
            let mut connection = Connection::open(port);
            let mut took = Vec::new();
            while start.elapsed() < TURN {
                let request = &requests[next.fetch_add(1, Ordering::Relaxed) % requests.len()];
                let asked = Instant::now();
                connection.ask(request);
                took.push(asked.elapsed().as_secs_f64() * 1e3);
            }
            took
        };
        let all: Vec<_> = (0..connections).map(|_| scope.spawn(asking)).collect();
        all.into_iter().flat_map(|one| one.join().unwrap()).collect()
    });
    Asked { took, seconds: start.elapsed().as_secs_f64() }
}

struct Connection(BufReader<TcpStream>);

impl Connection {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_nodelay(true).unwrap();
        Self(BufReader::with_capacity(64 << 10, stream))
    }

    /// Sends a request. Returns the body of the answer.
    fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        self.0.get_mut().write_all(request).unwrap();
        // tiny_http sends an answer in two parts, and the second one only after the first was acknowledged. Otherwise
        // this takes 40 ms.
        #[cfg(target_os = "linux")]
        rustix::net::sockopt::set_tcp_quickack(self.0.get_ref(), true).unwrap();
        let (mut line, mut length, mut is_first, mut chunked) = (String::new(), 0, true, false);
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            assert!(!is_first || line.starts_with("HTTP/1.1 200"), "{line}");
            is_first = false;
            let header = line.trim_end().to_ascii_lowercase();
            if let Some(value) = header.strip_prefix("content-length: ") {
                length = value.parse().unwrap();
            }
            chunked |= header == "transfer-encoding: chunked";
            if header.is_empty() {
                break;
            }
        }
        let mut body = Vec::new();
        if !chunked {
            body.resize(length, 0);
            self.0.read_exact(&mut body).unwrap();
            return body;
        }
        loop {
            line.clear();
            self.0.read_line(&mut line).unwrap();
            let length = usize::from_str_radix(line.trim(), 16).unwrap();
            let start = body.len();
            body.resize(start + length, 0);
            self.0.read_exact(&mut body[start..]).unwrap();
            line.clear();
            self.0.read_line(&mut line).unwrap();
            if length == 0 {
                return body;
            }
        }
    }
}

/// A server that is measured.
pub struct Server {
    child: Child,
    pub port: u16,
    token: String,
}

impl Server {
    /// Starts the daemon.
    pub fn of_git_blue(place: &Place) -> Self {
        let token = place.command("git-blue", "fungal").args(["daemon", "token"]).output().unwrap().stdout;
        let token = String::from_utf8(token).unwrap().trim().to_owned();
        let mut command = place.command("git-blue", "fungal");
        command.args(["daemon", "start", "--foreground", "--port", "0", "--rate-limit", "0"]).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Self { child, port, token }
    }

    /// Starts a server that answers every request with these bytes.
    fn of_static(place: &Place, body: Vec<u8>) -> Self {
        let this = git_blue::env::Env::from_process().unwrap().exe().display().to_string();
        let mut command: Command = place.command(&this, "fungal");
        let mut child = command.arg(STATIC).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(&body).unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        Self { child, port: line.trim().parse().unwrap(), token: String::new() }
    }

    /// Returns the head of a request, without the empty line at its end.
    pub fn head(&self, line: &str) -> String {
        format!("{line} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", self.port, self.token)
    }

    fn status(&self) -> Vec<u8> {
        format!("{}\r\n", self.head("GET /realms/aperture")).into_bytes()
    }

    /// Returns a call in the stateless era, in which each request describes the client.
    fn contract_get(&self, number: usize) -> Vec<u8> {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let domain = format!("domain-{:05}", number / PER_DOMAIN);
        let contract = format!("contract-{:02}", number % PER_DOMAIN);
        let arguments = json!({"domain": domain, "contract": contract, "realm": "aperture"});
        let params = json!({"name": "contract_get", "arguments": arguments, "_meta": meta});
        let body: Value = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
        let (body, head) = (body.to_string(), self.head("POST /mcp"));
        let length = body.len();
        format!(
            "{head}Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n\
             MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: contract_get\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    /// Returns the current memory usage, in megabytes.
    pub fn memory(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap();
        let used = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        used.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns whether this process was started as the server that returns the same bytes for every request.
pub fn is_static() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == STATIC)
}

/// Answers every request with the content of standard input, until the process is killed.
pub fn serve() {
    let mut body = Vec::new();
    std::io::stdin().lock().read_to_end(&mut body).unwrap();
    let server = Arc::new(tiny_http::Server::http("127.0.0.1:0").unwrap());
    let port = server.server_addr().to_ip().unwrap().port();
    std::io::stdout().lock().write_all(format!("{port}\n").as_bytes()).unwrap();
    let threads = (0..4).map(|_| {
        let (server, body) = (server.clone(), body.clone());
        std::thread::spawn(move || {
            while let Ok(mut request) = server.recv() {
                // Unread bytes would be taken for the start of the next request.
                let _ = std::io::copy(request.as_reader(), &mut std::io::sink());
                let _ = request.respond(tiny_http::Response::from_data(body.clone()));
            }
        })
    });
    threads.collect::<Vec<_>>().into_iter().for_each(|thread| drop(thread.join()));
}
