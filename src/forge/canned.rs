//! A local server that returns prepared responses in order, to test the requests and parsers of adapters. The
//! responses have the documented formats of the forges (`tests/fixtures/forge`).

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
};

use serde_json::Value;

use super::{Client, Secret};

pub(super) struct Canned {
    client: Arc<Client>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Canned {
    pub(super) fn start<const N: usize>(answers: [(u16, Value); N]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let (log, answers) = (asked.clone(), Arc::new(Mutex::new(Vec::from(answers).into_iter())));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (log, answers) = (log.clone(), answers.clone());
                std::thread::spawn(move || serve(stream, &log, || answers.lock().unwrap().next()));
            }
        });
        let client = Client::new("h", &base, Secret::of("t")).unwrap();
        Self { client: Arc::new(client), asked }
    }

    pub(super) fn client(&self) -> Arc<Client> {
        self.client.clone()
    }

    /// Returns the received requests: method, path and body.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn serve(stream: TcpStream, log: &Mutex<Vec<String>>, next: impl Fn() -> Option<(u16, Value)>) {
    let mut writer = stream.try_clone().unwrap();
    let mut lines = BufReader::new(stream);
    loop {
        let (mut first, mut length) = (String::new(), 0);
        if lines.read_line(&mut first).unwrap_or_default() == 0 {
            return;
        }
        loop {
            let mut line = String::new();
            lines.read_line(&mut line).unwrap();
            let Some((name, value)) = line.trim().split_once(": ") else { break };
            if name.eq_ignore_ascii_case("content-length") {
                length = value.parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        lines.read_exact(&mut body).unwrap();
        log.lock().unwrap().push(format!("{} {}", first.trim(), String::from_utf8(body).unwrap()));
        let Some((status, answer)) = next() else { return };
        let answer = if status == 204 { String::new() } else { answer.to_string() };
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            answer.len()
        );
        writer.write_all(format!("{head}{answer}").as_bytes()).unwrap();
    }
}
