//! An independent client: JSON lines to and from a child process.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Map, Value, json};

use crate::world::World;

/// Fields that any answer may have, and that output schemas omit.
const COMMON: [&str; 12] = [
    "status",
    "next_steps",
    "more_notifications",
    "cut",
    "realm",
    "current_repo",
    "notifications",
    "total",
    "next_cursor",
    "domain",
    "contract",
    "bindings_changed",
];

/// The time limit of an answer.
const PATIENCE: Duration = Duration::from_secs(60);
/// The maximum length of a message.
pub const MAX_MESSAGE: usize = 46_080;

/// The protocol of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Era {
    /// With a handshake, in this version.
    Legacy(&'static str),
    /// Without a handshake: every request describes the client.
    Stateless,
}

pub const LEGACY: Era = Era::Legacy("2025-11-25");

pub struct Client {
    pub child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    era: Era,
    next: i64,
    capabilities: Value,
    /// The roots of the client.
    pub roots: Vec<String>,
    tools: Value,
    /// Answers that arrived before they were awaited.
    early: Vec<Value>,
    /// Messages that are no answers.
    pub notices: Vec<Value>,
    /// The server's information.
    pub greeting: Value,
}

impl Client {
    /// Starts a server in a folder, with these arguments and variables, without a handshake.
    pub fn silent(world: &World, folder: &Path, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut command = world.command("git-blue", folder);
        command.args(["mcp", "serve"]).args(arguments).envs(variables.iter().copied());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines() {
                if sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
            era: LEGACY,
            next: 0,
            capabilities: json!({}),
            roots: Vec::new(),
            tools: Value::Null,
            early: Vec::new(),
            notices: Vec::new(),
            greeting: Value::Null,
        }
    }

    /// Starts a server and initializes it.
    pub fn start(world: &World, folder: &Path) -> Self {
        Self::with(world, folder, LEGACY, &[], &[])
    }

    pub fn with(world: &World, folder: &Path, era: Era, arguments: &[&str], variables: &[(&str, &str)]) -> Self {
        let mut client = Self::silent(world, folder, arguments, variables);
        client.greet(era, json!({}));
        client
    }

    /// Initializes the connection according to the protocol version.
    pub fn greet(&mut self, era: Era, capabilities: Value) {
        (self.era, self.capabilities) = (era, capabilities.clone());
        self.greeting = match era {
            Era::Legacy(version) => {
                let info = json!({"name": "test", "version": "1"});
                let params = json!({"protocolVersion": version, "capabilities": capabilities, "clientInfo": info});
                let greeting = self.request("initialize", params);
                self.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
                greeting
            }
            Era::Stateless => self.request("server/discover", json!({})),
        };
    }

    pub fn send(&mut self, message: &Value) {
        self.raw(format!("{message}\n").as_bytes());
    }

    pub fn raw(&mut self, bytes: &[u8]) {
        let input = self.input.as_mut().unwrap();
        input.write_all(bytes).unwrap();
        input.flush().unwrap();
    }

    /// Returns the next message.
    pub fn receive(&mut self) -> Value {
        let line = self.lines.recv_timeout(PATIENCE).expect("the server answers");
        assert!(line.len() < MAX_MESSAGE, "a message of {} bytes", line.len());
        let message: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
        assert_eq!(message["jsonrpc"], "2.0", "{line}");
        message
    }

    /// Returns the next message within this time.
    pub fn receive_within(&mut self, time: Duration) -> Option<Value> {
        let line = self.lines.recv_timeout(time).ok()?;
        Some(serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}")))
    }

    /// Sends a request without waiting. Returns its id.
    pub fn post(&mut self, method: &str, mut params: Value) -> i64 {
        self.next += 1;
        if self.era == Era::Stateless {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
            meta["io.modelcontextprotocol/clientInfo"] = json!({"name": "test", "version": "1"});
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let id = self.next;
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        id
    }

    /// Returns the answer to a request, and answers requests for roots meanwhile.
    pub fn answer(&mut self, id: i64) -> Value {
        if let Some(at) = self.early.iter().position(|message| message["id"] == id) {
            return self.early.remove(at);
        }
        loop {
            let message = self.receive();
            if message["method"] == "roots/list" {
                let roots: Vec<_> = self.roots.iter().map(|uri| json!({"uri": uri})).collect();
                self.send(&json!({"jsonrpc": "2.0", "id": message["id"], "result": {"roots": roots}}));
            } else if message["id"] == id {
                return message;
            } else if message["id"].is_null() {
                self.notices.push(message);
            } else {
                self.early.push(message);
            }
        }
    }

    /// Returns the result of a request, and asserts success.
    pub fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.post(method, params);
        let answer = self.answer(id);
        assert!(answer["error"].is_null(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// Returns the code and message of a request's error, and asserts failure.
    pub fn refusal(&mut self, method: &str, params: Value) -> (i64, String) {
        let id = self.post(method, params);
        let answer = self.answer(id);
        let error = &answer["error"];
        (error["code"].as_i64().unwrap_or_else(|| panic!("{answer}")), error["message"].as_str().unwrap().to_owned())
    }

    /// Calls a tool and returns the whole result.
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": tool, "arguments": arguments}))
    }

    /// Calls a tool, and asserts success. Returns the answer, whose two copies must agree.
    #[track_caller]
    pub fn ok(&mut self, tool: &str, arguments: Value) -> Map<String, Value> {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], false, "{result:#}");
        let text: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(text, result["structuredContent"]);
        assert_eq!(text["status"], "success");
        self.conforms(tool, &text);
        assert!(text["next_steps"].is_array(), "{text:#}");
        text.as_object().unwrap().clone()
    }

    /// Validates an answer against the output schema.
    #[track_caller]
    fn conforms(&mut self, tool: &str, answer: &Value) {
        if self.tools.is_null() {
            self.tools = self.request("tools/list", json!({}))["tools"].clone();
        }
        let tools = self.tools.as_array().unwrap();
        let listed = tools.iter().find(|listed| listed["name"] == tool).unwrap();
        let schema = &listed["outputSchema"];
        let problems: Vec<_> =
            jsonschema::validator_for(schema).unwrap().iter_errors(answer).map(|error| error.to_string()).collect();
        assert!(problems.is_empty(), "{tool}: {problems:?}: {answer:#}");
        for name in answer.as_object().unwrap().keys() {
            if COMMON.contains(&name.as_str()) {
                continue;
            }
            assert!(!schema["properties"][name].is_null(), "{tool} says nothing of {name}");
        }
    }

    /// Calls a tool, and asserts failure. Returns the failure.
    #[track_caller]
    pub fn fails(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.call(tool, arguments);
        assert_eq!(result["isError"], true, "{result:#}");
        assert!(result["structuredContent"].is_null());
        let failure: Value = serde_json::from_str(result["content"][0]["text"].as_str().unwrap()).unwrap();
        assert_eq!(failure["status"], "error");
        failure
    }

    /// Returns the kinds and versions in an answer's notifications.
    #[track_caller]
    pub fn told(&mut self, tool: &str, arguments: Value) -> Vec<String> {
        let answer = self.ok(tool, arguments);
        let told = answer["notifications"].as_array().unwrap().iter();
        told.map(|one| format!("{} {}", one["change_type"].as_str().unwrap(), one["changes"]["new_version"])).collect()
    }

    /// Disconnects. Returns the exit code and standard error.
    pub fn hang_up(mut self) -> (i32, String) {
        drop(self.input.take());
        let mut said = String::new();
        std::io::Read::read_to_string(&mut self.child.stderr.take().unwrap(), &mut said).unwrap();
        let status = self.child.wait().unwrap();
        (status.code().unwrap_or(-1), said)
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        drop(self.input.take());
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
