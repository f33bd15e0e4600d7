//! A stand-in for a webhook receiver: an HTTP server on this machine that can be slow, refuse, hang up before or
//! after it accepted an event, and redirect.

use std::{
    collections::{BTreeMap, VecDeque},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::wait::eventually;

/// The reaction to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// Accepts it.
    Take,
    /// Answers with this status, and accepts nothing.
    Answer(u16),
    /// Hangs up, and accepts nothing.
    Drop,
    /// Accepts it, and hangs up without an answer.
    TakeAndDrop,
    /// Accepts it after this many milliseconds.
    Slow(u64),
    /// Redirects, and accepts nothing.
    Redirect,
}

/// An accepted event.
#[derive(Debug, Clone)]
pub struct Taken {
    pub headers: BTreeMap<String, String>,
    pub text: String,
    /// The time of arrival.
    pub at: Instant,
}

impl Taken {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.text).unwrap()
    }

    pub fn id(&self) -> String {
        self.headers["webhook-id"].clone()
    }
}

#[derive(Default)]
struct State {
    manners: VecDeque<Manner>,
    taken: Vec<Taken>,
    asked: Vec<String>,
}

pub struct Receiver {
    state: Arc<Mutex<State>>,
    pub url: String,
}

/// Returns an address of this machine on which nothing listens.
pub fn deaf_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

impl Receiver {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/hook/s3cret-path", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (server, elsewhere) = (state.clone(), url.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, elsewhere) = (server.clone(), elsewhere.clone());
                std::thread::spawn(move || serve(stream, &state, &elsewhere));
            }
        });
        Self { state, url }
    }

    /// Sets the reactions to the next requests; later ones are accepted.
    pub fn then(&self, manners: impl IntoIterator<Item = Manner>) {
        self.state.lock().unwrap().manners.extend(manners);
    }

    /// Returns the accepted events, in order.
    pub fn taken(&self) -> Vec<Taken> {
        self.state.lock().unwrap().taken.clone()
    }

    /// Returns the requested paths, in order.
    pub fn asked(&self) -> Vec<String> {
        self.state.lock().unwrap().asked.clone()
    }

    /// Waits until this many requests were made.
    #[track_caller]
    pub fn is_asked(&self, count: usize) {
        eventually(&format!("{count} requests"), || self.asked().len() >= count);
    }

    /// Waits until this many events were accepted.
    #[track_caller]
    pub fn waits_for(&self, count: usize) -> Vec<Taken> {
        eventually(&format!("{count} events"), || self.taken().len() >= count);
        self.taken()
    }
}

/// A request, as it was sent.
pub struct HttpRequest {
    pub method: String,
    pub target: String,
    /// The headers, by their names in lower case.
    pub headers: BTreeMap<String, String>,
    pub body: Vec<u8>,
}

impl HttpRequest {
    /// Reads a request. Returns `None` if the client has disconnected.
    pub fn read(reader: &mut BufReader<TcpStream>) -> Option<Self> {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or_default() == 0 {
            return None;
        }
        let mut words = line.split_whitespace();
        let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(':') else { break };
            headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        }
        let mut body = vec![0; headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0)];
        reader.read_exact(&mut body).ok()?;
        Some(Self { method, target, headers, body })
    }
}

fn serve(stream: TcpStream, state: &Mutex<State>, elsewhere: &str) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    let Some(HttpRequest { target, headers, body, .. }) = HttpRequest::read(&mut reader) else { return };
    let manner = {
        let mut state = state.lock().unwrap();
        state.asked.push(target);
        state.manners.pop_front().unwrap_or(Manner::Take)
    };
    if let Manner::Slow(pause) = manner {
        std::thread::sleep(Duration::from_millis(pause));
    }
    if matches!(manner, Manner::Take | Manner::TakeAndDrop | Manner::Slow(_)) {
        let taken = Taken { headers, text: String::from_utf8(body).unwrap(), at: Instant::now() };
        state.lock().unwrap().taken.push(taken);
    }
    let (status, more) = match manner {
        Manner::Drop | Manner::TakeAndDrop => return,
        Manner::Answer(status) => (status, String::new()),
        Manner::Redirect => (307, format!("location: {elsewhere}/elsewhere\r\n")),
        Manner::Take | Manner::Slow(_) => (204, String::new()),
    };
    let _ = writer
        .write_all(format!("HTTP/1.1 {status} x\r\n{more}content-length: 0\r\nconnection: close\r\n\r\n").as_bytes());
}
