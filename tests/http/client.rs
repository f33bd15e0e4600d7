//! Raw requests to a daemon.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, ErrorKind, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use serde_json::Value;

pub use crate::daemon::Daemon;

/// The time limit of an answer.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// An answer.
#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl Daemon<'_> {
    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.set_write_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Returns the headers of an authorized client.
    pub fn headers(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\nAuthorization: Bearer {}\r\n", self.port, self.token)
    }

    pub fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, "", b"")
    }

    /// Sends an authorized request on its own connection.
    pub fn ask(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let headers = format!("{}{headers}", self.headers());
        self.ask_as(method, path, &headers, body)
    }

    /// Sends a request with only these headers.
    pub fn ask_as(&self, method: &str, path: &str, headers: &str, body: &[u8]) -> Answer {
        let mut stream = self.connect();
        let length = if body.is_empty() { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
        let head = format!("{method} {path} HTTP/1.1\r\n{headers}{length}Connection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        stream.write_all(body).unwrap();
        read(&mut BufReader::new(stream), method)
    }

    pub fn post(&self, path: &str, body: &Value) -> Answer {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        self.ask("POST", path, "Content-Type: application/json\r\n", body.as_bytes())
    }

    /// Sends bytes as they are, and returns everything until the other side disconnects, which it must do.
    pub fn raw(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        // The other side may disconnect before it has read everything.
        let _ = stream.write_all(bytes);
        let mut all = Vec::new();
        if let Err(error) = stream.read_to_end(&mut all) {
            assert!(!matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "it still waits: {error}");
        }
        String::from_utf8_lossy(&all).into_owned()
    }

    pub fn is_alive(&self) -> bool {
        self.ask_as("GET", "/health", &format!("Host: localhost:{}\r\n", self.port), b"").status == 200
    }

    /// Returns the number of entries of the process: `task` for threads, `fd` for descriptors. Zero except on Linux.
    pub fn count(&self, what: &str) -> usize {
        std::fs::read_dir(format!("/proc/{}/{what}", self.pid)).map_or(0, Iterator::count)
    }

    /// Returns its memory in KiB: in total, and without the store's files. Zero except on Linux.
    pub fn memory(&self) -> (usize, usize) {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid)).unwrap_or_default();
        let of = |name: &str| {
            let line = status.lines().find(|line| line.starts_with(name));
            line.map_or(0, |line| line.split_whitespace().nth(1).unwrap().parse().unwrap())
        };
        (of("VmRSS:"), of("RssAnon:"))
    }
}

impl Answer {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map(String::as_str).unwrap_or_default()
    }

    /// Asserts the status, and that a failure has the common form.
    #[track_caller]
    pub fn is(self, status: u16) -> Self {
        assert_eq!(self.status, status, "{self:?} {}", self.text());
        if status >= 400 && self.header("content-type") == "application/json" {
            let json = self.json();
            assert!(json["status"] == "error" && json["code"].is_string() && json["message"].is_string(), "{json}");
        }
        self
    }
}

/// Reads an answer.
pub fn read(stream: &mut BufReader<TcpStream>, method: &str) -> Answer {
    let mut line = String::new();
    stream.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).unwrap_or_else(|| panic!("no answer: {line:?}")).parse().unwrap();
    let mut headers = BTreeMap::new();
    loop {
        line.clear();
        stream.read_line(&mut line).unwrap();
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        let before = headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        assert!(before.is_none(), "{name} twice");
    }
    let mut body = Vec::new();
    let length: usize = headers.get("content-length").map_or(0, |length: &String| length.parse().unwrap());
    if method != "HEAD" && status != 304 && status != 204 {
        body.resize(length, 0);
        stream.read_exact(&mut body).unwrap();
    }
    Answer { status, headers, body }
}
