//! The event stream of this machine's daemon for one repository. The daemon watches the realm once for all subscribers.

use std::{
    io::{BufRead as _, BufReader, ErrorKind, Read as _},
    net::TcpStream,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::{
    ask, secret,
    state::{self, State},
};
use crate::{
    env::Env,
    locate,
    model::name::{RealmName, RepoName},
    ops::notifications::watch::{self, FeedItem},
    wire::all_realms::NotificationForRepo,
};

/// The maximum time without data: the daemon sends a heartbeat every 15 seconds.
const SILENCE: Duration = Duration::from_secs(45);
/// The maximum length of a line, in bytes.
const MAX_LINE: usize = 16 << 20;

/// A stream of events.
#[derive(Debug)]
pub struct Feed {
    stream: BufReader<TcpStream>,
    line: Vec<u8>,
    event: String,
    heard: Instant,
}

impl Feed {
    /// Subscribes to the daemon of this home, if one is running and accepts another subscriber.
    pub fn open(env: &Env, realm: &RealmName, repo: &RepoName) -> Option<Self> {
        let home = locate::home(env).ok()?;
        // The process that holds the lock of the state file is the daemon of this home, so it is safe to send it the
        // token.
        let State::Running(running) = state::of(home.folder()).ok()? else { return None };
        let token = secret::token(home.folder()).ok()?.text;
        let path = format!("/events?realm={realm}&repo={repo}");
        let stream = BufReader::new(ask::begin(running.port, &path, &token).ok()?);
        let mut feed = Self { stream, line: Vec::new(), event: String::new(), heard: Instant::now() };
        feed.begins()?.then_some(feed)
    }

    /// Reads the head of the response. Returns whether events follow it.
    fn begins(&mut self) -> Option<bool> {
        let is_ok = self.line().ok()??.split(' ').nth(1) == Some("200");
        while !self.line().ok()??.is_empty() {}
        Some(is_ok)
    }

    /// Returns the next line without its line end, or `None` if it has not arrived yet.
    fn line(&mut self) -> std::io::Result<Option<String>> {
        let room = MAX_LINE.saturating_sub(self.line.len());
        match (&mut self.stream).take(room as u64).read_until(b'\n', &mut self.line) {
            Ok(_) if self.line.ends_with(b"\n") => {
                self.heard = Instant::now();
                let line = String::from_utf8_lossy(&self.line).trim_end().to_owned();
                self.line.clear();
                Ok(Some(line))
            }
            Ok(_) => Err(ErrorKind::UnexpectedEof.into()),
            Err(error) if is_pause(&error) && self.heard.elapsed() < SILENCE => Ok(None),
            Err(error) => Err(error),
        }
    }
}

impl watch::Feed for Feed {
    fn next(&mut self, timeout: Duration) -> FeedItem {
        if self.stream.get_ref().set_read_timeout(Some(timeout)).is_err() {
            return FeedItem::End;
        }
        loop {
            let line = match self.line() {
                Ok(Some(line)) => line,
                Ok(None) => return FeedItem::Nothing,
                Err(_) => return FeedItem::End,
            };
            match line.split_once(": ") {
                Some(("event", name)) => self.event = name.to_owned(),
                Some(("data", data)) => return parse_event(&self.event, data),
                _ => {}
            }
        }
    }
}

/// Parses an event. A notification in another format, as from a daemon of another version, ends the feed.
fn parse_event(event: &str, data: &str) -> FeedItem {
    match event {
        "notification" => serde_json::from_str::<NotificationForRepo>(data)
            .map_or(FeedItem::End, |one| FeedItem::Notification(Box::new(one.notification))),
        "realm" if has_problem(data) => FeedItem::Problem,
        _ => FeedItem::Moved,
    }
}

fn has_problem(data: &str) -> bool {
    serde_json::from_str::<Value>(data).is_ok_and(|event| event["problem"].is_string())
}

fn is_pause(error: &std::io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

#[cfg(test)]
mod tests {
    use std::{io::Write as _, net::TcpListener};

    use super::{watch::Feed as _, *};

    const SHORT: Duration = Duration::from_millis(100);

    #[test]
    fn events_are_read_whole_however_they_are_split() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (mut daemon, _) = listener.accept().unwrap();
        let mut feed =
            Feed { stream: BufReader::new(stream), line: Vec::new(), event: String::new(), heard: Instant::now() };
        daemon.write_all(b"HTTP/1.0 200 OK\r\ncontent-type: text/event-stream\r\n\r\nretry: 2000\n\n:\n\n").unwrap();
        assert_eq!(feed.begins(), Some(true));
        assert!(matches!(feed.next(SHORT), FeedItem::Nothing));
        // The data is split within a character.
        daemon.write_all(b"event: realm\nid: 1-0\ndata: {\"realm\": \"\xc3").unwrap();
        assert!(matches!(feed.next(SHORT), FeedItem::Nothing));
        daemon.write_all(b"\xa9\"}\n\n").unwrap();
        assert!(matches!(feed.next(SHORT), FeedItem::Moved));
        daemon.write_all(b"event: realm\ndata: {\"state\":null,\"problem\":\"it is gone\"}\n\n").unwrap();
        assert!(matches!(feed.next(SHORT), FeedItem::Problem));
        daemon.write_all(b"event: notification\ndata: {}\n\n").unwrap();
        assert!(matches!(feed.next(SHORT), FeedItem::End), "it is no notification");
        drop(daemon);
        assert!(matches!(feed.next(SHORT), FeedItem::End));
    }
}
