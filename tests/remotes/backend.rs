//! A small HTTP server on a loopback port, in front of `git http-backend`, that simulates server failures.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Stdio,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use git_blue::testing::sandbox::Sandbox;

/// Its behavior.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mood {
    /// Serves the repositories, to requests with the accepted credentials.
    Serve,
    /// Answers with an HTML page.
    Page,
    /// Accepts the connection and sends nothing.
    Silent,
    /// Disconnects after this many bytes of the answer to a request whose path contains this.
    HangUp(&'static str, usize),
    /// Answers with this status to a request whose path contains this.
    Status(&'static str, u16),
    /// Serves the files of the repositories, as a web server without git does.
    Files,
    /// Redirects.
    Redirect(String),
}

/// The accepted credentials: `ada:secret`, encoded for HTTP.
const ALLOWED: &str = "Basic YWRhOnNlY3JldA==";

pub struct Backend {
    pub port: u16,
    mood: Arc<Mutex<Mood>>,
    done: Arc<AtomicBool>,
}

struct Request {
    method: String,
    path: String,
    query: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Backend {
    /// Serves the repositories in the sandbox.
    pub fn start(sandbox: &Sandbox) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (mood, done) = (Arc::new(Mutex::new(Mood::Serve)), Arc::new(AtomicBool::new(false)));
        let (root, vars) = (sandbox.path(), sandbox.vars().clone());
        let (held, over) = (mood.clone(), done.clone());
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                let (mood, root, vars) = (held.lock().unwrap().clone(), root.clone(), vars.clone());
                thread::spawn(move || {
                    // A client that disconnected is not a server failure.
                    let _ = serve(stream, &mood, &root, &vars);
                });
            }
        });
        Self { port, mood, done }
    }

    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}/hub.git", self.port)
    }

    pub fn set(&self, mood: Mood) {
        *self.mood.lock().unwrap() = mood;
    }
}

impl Drop for Backend {
    fn drop(&mut self) {
        self.done.store(true, Ordering::Relaxed);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
    }
}

type Vars = std::collections::BTreeMap<std::ffi::OsString, std::ffi::OsString>;

fn serve(mut stream: TcpStream, mood: &Mood, root: &PathBuf, vars: &Vars) -> std::io::Result<()> {
    if *mood == Mood::Silent {
        thread::sleep(Duration::from_secs(120));
        return Ok(());
    }
    let Some(request) = read(&stream)? else { return Ok(()) };
    let whole = format!("{}?{}", request.path, request.query);
    let is_let_in = request.headers.contains(&("authorization".to_owned(), ALLOWED.to_owned()));
    let answer = match mood {
        Mood::Page => page("200 OK", "text/html", "<html><body><h1>Welcome</h1>\u{1b}[31m Log in</body></html>"),
        Mood::Redirect(place) => format!("HTTP/1.1 302 Found\r\nLocation: {place}\r\nContent-Length: 0\r\n\r\n").into(),
        Mood::Status(path, status) if whole.contains(path) => page(&format!("{status} No"), "text/plain", "no"),
        _ if !is_let_in => {
            let asks = "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"hub\"";
            page(asks, "text/plain", "who are you?")
        }
        Mood::Files => backend(&Request { query: String::new(), ..request }, root, vars)?,
        _ => backend(&request, root, vars)?,
    };
    match mood {
        Mood::HangUp(path, bytes) if is_let_in && whole.contains(path) => {
            stream.write_all(&answer[..answer.len().min(*bytes)])
        }
        _ => stream.write_all(&answer),
    }
}

fn page(status: &str, kind: &str, text: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    )
    .into_bytes()
}

fn read(stream: &TcpStream) -> std::io::Result<Option<Request>> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split(' ');
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
    }
    let header = |wanted: &str| headers.iter().find(|(name, _)| name == wanted).map(|(_, value)| value.as_str());
    let mut body = Vec::new();
    if header("transfer-encoding") == Some("chunked") {
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            let length = u64::from_str_radix(line.trim(), 16).unwrap_or_default();
            (&mut reader).take(length + 2).read_to_end(&mut body)?;
            body.truncate(body.len().saturating_sub(2));
            if length == 0 {
                break;
            }
        }
    } else if let Some(length) = header("content-length").and_then(|text| text.parse().ok()) {
        (&mut reader).take(length).read_to_end(&mut body)?;
    }
    let (method, path, query) = (method.to_owned(), path.to_owned(), query.to_owned());
    Ok(Some(Request { method, path, query, headers, body }))
}

/// Runs git as a CGI program (RFC 3875), and returns its answer.
fn backend(request: &Request, root: &PathBuf, vars: &Vars) -> std::io::Result<Vec<u8>> {
    let header = |wanted: &str| {
        let found = request.headers.iter().find(|(name, _)| name == wanted);
        found.map(|(_, value)| value.clone()).unwrap_or_default()
    };
    let mut command = std::process::Command::new("git");
    command.arg("http-backend").env_clear().envs(vars).current_dir(root);
    command.env("GIT_PROJECT_ROOT", root).env("GIT_HTTP_EXPORT_ALL", "1");
    command.env("PATH_INFO", &request.path).env("QUERY_STRING", &request.query);
    command.env("REQUEST_METHOD", &request.method).env("REMOTE_USER", "ada").env("REMOTE_ADDR", "127.0.0.1");
    command.env("CONTENT_TYPE", header("content-type")).env("CONTENT_LENGTH", request.body.len().to_string());
    command.env("HTTP_CONTENT_ENCODING", header("content-encoding")).env("GIT_PROTOCOL", header("git-protocol"));
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut stdin = child.stdin.take().unwrap();
    let body = request.body.clone();
    let feeding = thread::spawn(move || stdin.write_all(&body));
    let output = child.wait_with_output()?;
    let _ = feeding.join();
    let said = output.stdout;
    let end = said.windows(4).position(|bytes| bytes == b"\r\n\r\n").unwrap_or_default();
    let head = String::from_utf8_lossy(&said[..end]).into_owned();
    let status = head.lines().find_map(|line| line.strip_prefix("Status: ")).unwrap_or("200 OK").to_owned();
    let rest: Vec<_> = head.lines().filter(|line| !line.starts_with("Status: ")).collect();
    let body = &said[(end + 4).min(said.len())..];
    let mut answer = format!(
        "HTTP/1.1 {status}\r\n{}\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
        rest.join("\r\n"),
        body.len()
    )
    .into_bytes();
    answer.extend(body);
    Ok(answer)
}
