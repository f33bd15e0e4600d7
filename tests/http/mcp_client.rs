//! A client of MCP at `/mcp`, with and without a handshake.

use std::{
    io::Write as _,
    net::TcpStream,
    path::Path,
    sync::atomic::{AtomicI64, Ordering},
};

use serde_json::{Value, json};

use crate::client::{Daemon, PATIENCE};

pub const ACCEPT: &str = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";

/// A client with or without a handshake.
pub struct Client {
    pub place: Place,
    pub session: Option<String>,
    pub name: &'static str,
    pub capabilities: Value,
    pub next: AtomicI64,
}

/// An answer, whose body may be events.
pub struct Said {
    pub status: u16,
    pub head: String,
    pub messages: Vec<Value>,
}

/// The address of the daemon, and the credentials.
#[derive(Clone)]
pub struct Place {
    pub port: u16,
    pub headers: String,
}

impl Place {
    pub fn of(daemon: &Daemon<'_>) -> Self {
        Self { port: daemon.port, headers: daemon.headers() }
    }
}

/// Sends a POST as is, and reads until the server disconnects.
pub fn post(place: &Place, headers: &str, body: &[u8]) -> Said {
    let mut stream = TcpStream::connect(("127.0.0.1", place.port)).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    let head = format!(
        "POST /mcp HTTP/1.1\r\n{}{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
        place.headers,
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body).unwrap();
    let mut all = String::new();
    std::io::Read::read_to_string(&mut stream, &mut all).unwrap();
    let (head, body) = all.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{all:?}"));
    let lines = body.lines().map(|line| line.strip_prefix("data: ").unwrap_or(line));
    Said {
        status: head.split(' ').nth(1).unwrap().parse().unwrap(),
        head: head.to_ascii_lowercase(),
        messages: lines.filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).collect(),
    }
}

impl Client {
    /// Performs the handshake.
    pub fn session(daemon: &Daemon<'_>) -> Self {
        Self::session_of(daemon, "2025-11-25")
    }

    pub fn session_of(daemon: &Daemon<'_>, version: &str) -> Self {
        let mut client = Self {
            place: Place::of(daemon),
            session: None,
            name: "test",
            capabilities: json!({}),
            next: AtomicI64::new(1),
        };
        let info = json!({"name": "test", "version": "1"});
        let hello = json!({"protocolVersion": version, "capabilities": {}, "clientInfo": info});
        let said = client.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}), "");
        assert_eq!(said.status, 200, "{}", said.head);
        let id = said.head.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
        client.session = Some(id.unwrap().to_owned());
        let done = client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}), "");
        assert_eq!(done.status, 202);
        client
    }

    pub fn stateless(daemon: &Daemon<'_>, name: &'static str) -> Self {
        Self { place: Place::of(daemon), session: None, name, capabilities: json!({}), next: AtomicI64::new(1) }
    }

    pub fn send(&self, message: &Value, more: &str) -> Said {
        let session = self.session.iter().map(|id| format!("Mcp-Session-Id: {id}\r\n")).collect::<String>();
        post(&self.place, &format!("{ACCEPT}{session}{more}"), message.to_string().as_bytes())
    }

    /// Returns the answer to a request.
    pub fn request(&self, method: &str, mut params: Value) -> Value {
        let mut headers = String::new();
        if self.session.is_none() {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": self.capabilities,
            });
            headers = format!("MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {method}\r\n");
            for key in ["name", "uri"] {
                headers += &params[key].as_str().map(|name| format!("Mcp-Name: {name}\r\n")).unwrap_or_default();
            }
        }
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let said = self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}), &headers);
        let answer = said.messages.iter().find(|message| message["id"] == id);
        answer.unwrap_or_else(|| panic!("{} {:?}", said.head, said.messages)).clone()
    }

    pub fn call(&self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))["result"].clone()
    }

    /// Calls a tool in a folder, and asserts success. Returns its answer.
    #[track_caller]
    pub fn ok(&self, tool: &str, folder: &Path) -> Value {
        let result = self.call(tool, json!({"cwd": folder}));
        assert_eq!(result["isError"], false, "{result:#}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        text
    }

    /// Returns the versions in an answer's notifications.
    #[track_caller]
    pub fn told(&self, folder: &Path) -> Vec<String> {
        let answer = self.ok("realm_status", folder);
        let told = answer["notifications"].as_array().unwrap().iter();
        told.map(|one| one["changes"]["new_version"].as_str().unwrap().to_owned()).collect()
    }
}
