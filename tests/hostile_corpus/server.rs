//! One MCP server, which handles hundreds of folders in one process.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, Stdio},
    sync::mpsc::{Receiver, channel},
};

use serde_json::{Value, json};

use crate::{watch::LIMIT, world::World};

pub struct Server {
    child: Child,
    input: ChildStdin,
    lines: Receiver<String>,
    next: u64,
}

impl Server {
    pub fn start(world: &World, folder: &Path) -> Self {
        let mut command = world.command("git", folder);
        command.args(["blue", "mcp", "serve"]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines() {
                let _ = sender.send(line.unwrap());
            }
        });
        let mut server = Self { child, input, lines, next: 0 };
        let info = json!({"name": "corpus", "version": "1"});
        server.ask("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}));
        writeln!(server.input, "{}", json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).unwrap();
        server
    }

    /// Sends a request. Returns the answer, which must arrive in time.
    #[track_caller]
    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        writeln!(self.input, "{}", json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params})).unwrap();
        loop {
            let line = self.lines.recv_timeout(LIMIT).unwrap_or_else(|_| panic!("{method} {params} is not answered"));
            assert!(!line.contains(|c: char| c.is_control()), "{params}: {line:?}");
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                return answer;
            }
        }
    }

    /// Calls a tool. Returns the answer.
    #[track_caller]
    pub fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let answer = self.ask("tools/call", &json!({"name": tool, "arguments": arguments}));
        assert!(answer["result"]["content"].is_array(), "{tool} {arguments}: {answer}");
        answer["result"].clone()
    }

    /// Closes the connection, and waits until the server has exited.
    pub fn end(mut self) {
        drop(self.input);
        assert!(self.child.wait().unwrap().success());
    }
}
