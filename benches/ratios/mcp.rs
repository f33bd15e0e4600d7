//! Compares the MCP server with a server that is made with the same SDK and only answers. Calls alternate between the
//! two, over the same kind of pipes, and with answers of the same length. A plain loop that only writes is measured
//! too, for information.

use std::{
    io::{BufRead as _, BufReader, BufWriter, Lines, Write},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    time::Instant,
};

use serde_json::{Value, json};

use super::place::Place;

/// The flag that makes this program the server that only answers.
const ECHO: &str = "--echo";
/// The maximum length of a message to a client, in bytes.
const MAX_MESSAGE: usize = 46_080;
/// The maximum memory of the server.
const MAX_MEMORY_MB: f64 = 60.0;
/// The number of measured calls of a tool, and of the unmeasured calls before them.
const CALLS: usize = 200;
const WARM_UP: usize = 5;
/// The number of times that a server is started.
const STARTS: usize = 40;

/// Calls of one tool.
struct Calls {
    tool: &'static str,
    /// Returns the arguments of a call from its number.
    arguments: fn(&Place, usize) -> Value,
    /// The maximum ratio to the floor.
    budget: Option<f64>,
    /// The most milliseconds of processor time that one may take.
    processor: Option<f64>,
}

/// Returns the arguments for a different contract in each call. In a large realm, none is repeated.
fn another(place: &Place, number: usize) -> Value {
    let number = number % place.contracts;
    let (domain, contract) = (number / place.per_domain, number % place.per_domain);
    json!({"domain": format!("domain-{domain:05}"), "contract": format!("contract-{contract:02}")})
}

fn one(place: &Place, _: usize) -> Value {
    another(place, 0)
}

fn nothing(_: &Place, _: usize) -> Value {
    json!({})
}

const fn calls_of(tool: &'static str, arguments: fn(&Place, usize) -> Value) -> Calls {
    Calls { tool, arguments, budget: None, processor: None }
}

/// The measurements, in order.
const ALL: &[Calls] = &[
    Calls { budget: Some(3.0), processor: Some(0.25), ..calls_of("contract_get", another) },
    Calls { budget: Some(6.0), processor: Some(1.0), ..calls_of("realm_status", nothing) },
    calls_of("contract_list", nothing),
    calls_of("contract_impact", one),
    calls_of("notifications_list", nothing),
    calls_of("realm_log", nothing),
    Calls { processor: Some(10.0), ..calls_of("realm_topology", nothing) },
    Calls { processor: Some(20.0), ..calls_of("realm_check", nothing) },
];

/// The repositories that call the server: one in three domains, and one in all of them.
const ASKING: [&str; 2] = ["fungal", "aperture"];

/// Prints every row whose name contains `wanted`.
pub fn report(place: &Place, wanted: &str, out: &mut impl Write) {
    for calls in ALL.iter().filter(|calls| format!("mcp {}", calls.tool).contains(wanted)) {
        measure(place, calls, out);
        for repo in ASKING {
            processor_time(place, calls, repo, out);
        }
    }
    if "mcp start to first tools/list".contains(wanted) {
        starts(place, out);
    }
    if "memory: mcp".contains(wanted) {
        memory(place, out);
    }
}

fn measure(place: &Place, calls: &Calls, out: &mut impl Write) {
    let name = format!("mcp {}", calls.tool);
    let mut server = Server::of_git_blue(place, ASKING[0]);
    let params = |number| {
        let arguments = (calls.arguments)(place, number);
        // Each call has a progress token, as some clients send it.
        json!({"name": calls.tool, "arguments": arguments, "_meta": {"progressToken": number}})
    };
    // Slow tools are called less often.
    let (_, first) = server.timed("tools/call", &params(0));
    let count = if first > 200.0 { 20 } else { CALLS };
    // Deliver all pending notifications first: until then, each answer has other ones, and is longer.
    while server.has_more_notifications() {}
    let mut length = 0;
    for number in 0..WARM_UP {
        length = server.timed("tools/call", &params(number)).0;
    }
    let mut echo = Server::of_sdk_echo(place, length);
    let mut bare = Server::of_echo(place, length);
    for number in 0..WARM_UP {
        echo.timed("tools/call", &params(number));
        bare.timed("tools/call", &params(number));
    }
    let (mut measured, mut floor, mut least, mut longest) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for number in WARM_UP..WARM_UP + count {
        let (length, taken) = server.timed("tools/call", &params(number));
        longest = longest.max(length);
        measured.push(taken);
        floor.push(echo.timed("tools/call", &params(number)).1);
        least.push(bare.timed("tools/call", &params(number)).1);
    }
    let budget = calls.budget;
    for (part, budget) in [(50, budget), (99, None)] {
        let name = format!("{name} p{part}");
        line(out, &name, percentile(&mut measured, part), "an echo of the SDK", percentile(&mut floor, part), budget);
    }
    line(out, &name, percentile(&mut measured, 50), "a loop that only writes", percentile(&mut least, 50), None);
    let verdict = if longest > MAX_MESSAGE { "OVER the limit of" } else { "within" };
    writeln!(out, "  {:34} {longest:8} bytes {:43} {verdict} {MAX_MESSAGE} bytes", format!("{name} message"), "")
        .unwrap();
}

/// Prints the processor time of a call, which is steady where the machine is busy with others.
fn processor_time(place: &Place, calls: &Calls, repo: &str, out: &mut impl Write) {
    let mut server = Server::of_git_blue(place, repo);
    let spend = |server: &mut Server, number| {
        let arguments = (calls.arguments)(place, number);
        let params = json!({"name": calls.tool, "arguments": arguments, "_meta": {"progressToken": number}});
        let before = server.processor_time();
        server.timed("tools/call", &params);
        server.processor_time() - before
    };
    let first = spend(&mut server, 0);
    // Deliver all pending notifications first: until then, each answer compares all of them again.
    while server.has_more_notifications() {}
    let mut taken: Vec<_> = (1..=CALLS / 10).map(|number| spend(&mut server, number)).collect();
    let median = percentile(&mut taken, 50);
    let verdict = match calls.processor {
        Some(most) if median > most => format!("OVER the budget of {most} ms"),
        Some(most) => format!("within {most} ms"),
        None => String::new(),
    };
    let name = format!("mcp {}, {repo}", calls.tool);
    writeln!(out, "  {name:34} {median:8.2} ms of processor time, the first {first:.2} ms {:9} {verdict}", "").unwrap();
}

fn starts(place: &Place, out: &mut impl Write) {
    let (mut measured, mut floor) = (Vec::new(), Vec::new());
    for _ in 0..STARTS {
        let start = Instant::now();
        Server::of_git_blue(place, ASKING[0]).timed("tools/list", &json!({}));
        measured.push(milliseconds(start));
        let start = Instant::now();
        let mut git = place.command("git", "fungal");
        assert!(git.args(["rev-parse", "HEAD"]).stdout(Stdio::null()).status().unwrap().success());
        floor.push(milliseconds(start));
    }
    let (measured, floor) = (percentile(&mut measured, 50), percentile(&mut floor, 50));
    line(out, "mcp start to first tools/list", measured, "git rev-parse HEAD", floor, Some(5.0));
}

fn memory(place: &Place, out: &mut impl Write) {
    let mut server = Server::of_git_blue(place, ASKING[0]);
    for (number, calls) in ALL.iter().cycle().take(CALLS).enumerate() {
        server.timed("tools/call", &json!({"name": calls.tool, "arguments": (calls.arguments)(place, number)}));
    }
    let status = std::fs::read_to_string(format!("/proc/{}/status", server.child.id())).unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let used = peak.trim().trim_end_matches(" kB").parse::<f64>().unwrap() / 1024.0;
    let verdict = if used > MAX_MEMORY_MB { "OVER the budget of" } else { "within" };
    let name = format!("memory: mcp, {CALLS} calls");
    writeln!(out, "  {name:34} {used:8.1} MB peak {:43} {verdict} {MAX_MEMORY_MB} MB", "").unwrap();
}

fn line(out: &mut impl Write, name: &str, measured: f64, against: &str, floor: f64, budget: Option<f64>) {
    let ratio = measured / floor;
    let verdict = super::verdict(ratio, budget);
    writeln!(out, "  {name:34} {measured:8.2} ms {ratio:7.2} x  {against:26} {floor:8.2} ms  {verdict}").unwrap();
}

/// Returns the given percentile of the times.
fn percentile(times: &mut [f64], part: usize) -> f64 {
    times.sort_by(f64::total_cmp);
    times[(times.len() * part / 100).min(times.len() - 1)]
}

fn milliseconds(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// A server process and its pipes.
struct Server {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Server {
    /// Starts the server in a repository, and initializes it.
    fn of_git_blue(place: &Place, repo: &str) -> Self {
        let mut command = place.command("git-blue", repo);
        command.args(["mcp", "serve"]);
        Self::of(command).greeted()
    }

    /// Starts the SDK server that answers every call with about `length` bytes, and initializes it.
    fn of_sdk_echo(place: &Place, length: usize) -> Self {
        Self::of_this(place, super::sdk_echo::FLAG, length).greeted()
    }

    /// Starts the server that answers every request with `length` bytes.
    fn of_echo(place: &Place, length: usize) -> Self {
        Self::of_this(place, ECHO, length)
    }

    fn greeted(self) -> Self {
        let mut server = self;
        let info = json!({"name": "bench", "version": "1"});
        server.timed("initialize", &json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info}));
        writeln!(server.input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        server
    }

    fn of_this(place: &Place, flag: &str, length: usize) -> Self {
        let this = git_blue::env::Env::from_process().unwrap().exe().display().to_string();
        let mut command = place.command(&this, "fungal");
        command.args([flag, &length.to_string()]);
        Self::of(command)
    }

    fn of(mut command: Command) -> Self {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { input: child.stdin.take().unwrap(), child, lines, next: 0 }
    }

    /// Returns the CPU time of all its threads in milliseconds, as far as the system reports it.
    fn processor_time(&self) -> f64 {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).into_iter().flatten();
        let taken = threads.filter_map(|thread| {
            let text = std::fs::read_to_string(thread.ok()?.path().join("schedstat")).ok()?;
            text.split(' ').next()?.parse::<f64>().ok()
        });
        taken.sum::<f64>() / 1e6
    }

    /// Sends a request. Returns the length of the answer, and the time that it took.
    fn timed(&mut self, method: &str, params: &Value) -> (usize, f64) {
        let start = Instant::now();
        let (length, _) = self.ask(method, params);
        (length, milliseconds(start))
    }

    /// Returns whether more notifications are pending than one answer tells.
    fn has_more_notifications(&mut self) -> bool {
        let (_, answer) = self.ask("tools/call", &json!({"name": "realm_status", "arguments": {}}));
        answer["result"]["structuredContent"]["more_notifications"].as_u64().is_some_and(|more| more > 0)
    }

    /// Sends a request. Returns the length of the answer, and the answer.
    fn ask(&mut self, method: &str, params: &Value) -> (usize, Value) {
        self.next += 1;
        let request = json!({"jsonrpc": "2.0", "id": self.next, "method": method, "params": params});
        let request = format!("{request}\n");
        self.input.write_all(request.as_bytes()).unwrap();
        let (answer, value) = loop {
            let line = self.lines.next().unwrap().unwrap();
            let value: Value = serde_json::from_str(&line).unwrap();
            // A slow call sends notifications of its progress first.
            if !value["id"].is_null() {
                break (line, value);
            }
        };
        assert!(value["id"] == self.next && value["result"]["isError"] != true, "{method}: {answer}");
        (answer.len() + 1, value)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Returns whether this process was started as the server that only answers.
pub fn is_echo() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == ECHO)
}

/// Answers every request with as many bytes as requested, until the client closes the connection.
pub fn echo() {
    let length: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut out = BufWriter::new(std::io::stdout().lock());
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let (head, tail) = (format!(r#"{{"jsonrpc":"2.0","id":{},"result":{{"text":""#, request["id"]), "\"}}\n");
        let text = "x".repeat(length.saturating_sub(head.len() + tail.len()));
        out.write_all(format!("{head}{text}{tail}").as_bytes()).unwrap();
        out.flush().unwrap();
    }
}
