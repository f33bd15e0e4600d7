//! A stand-in for GitHub: an HTTP server on this machine that keeps pull requests of repositories whose branches are
//! in bare repositories. Requests and answers are validated against GitHub's own API description
//! (`tests/fixtures/forge`).

use std::{
    collections::BTreeMap,
    io::{BufReader, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    sync::{
        Arc, LazyLock, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};

use crate::{github_git::Repository, receiver::HttpRequest, world::World};

/// The token that it accepts.
pub const TOKEN: &str = "s3cret-t0ken";
/// The host of its repositories.
pub const HOST: &str = "forge.test";

static SPEC: LazyLock<Value> = LazyLock::new(|| {
    let text = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/forge/github.json"));
    let mut spec = serde_json::from_str(&text.unwrap()).unwrap();
    translate(&mut spec);
    spec
});

/// Translates OpenAPI 3.0's `nullable` into JSON Schema.
fn translate(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(translate);
            if object.get("nullable") == Some(&Value::Bool(true)) {
                object.remove("nullable");
                let schema = Value::Object(std::mem::take(object));
                object.insert("anyOf".into(), json!([{ "type": "null" }, schema]));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(translate),
        _ => {}
    }
}

/// The state of the stand-in.
#[derive(Default)]
pub struct State {
    /// Pull requests by repository.
    pub pulls: BTreeMap<String, Vec<Value>>,
    /// Comments by repository.
    pub comments: BTreeMap<String, Vec<Value>>,
    /// Issues by repository.
    pub issues: BTreeMap<String, Vec<Value>>,
    /// Reviews by repository.
    pub reviews: BTreeMap<String, Vec<(&'static str, &'static str)>>,
    /// Check results by repository: status and conclusion.
    pub checks: BTreeMap<String, Vec<(&'static str, Option<&'static str>)>>,
    /// Whether the token may not read checks.
    pub hides_checks: bool,
    /// The number of writes answered before one is executed without an answer; `None` to answer all.
    pub loses: Option<usize>,
    /// A push during the creation of a commit: a ref and its new value.
    pub pushes: Option<(String, String)>,
    /// The delay of an answer.
    pub delay: Duration,
    /// Answers to the next requests instead of the usual ones: status, headers, body.
    pub instead: Vec<(u16, String, String)>,
    /// Whether validation against GitHub's description, which is slow, is skipped.
    pub unchecked: bool,
    /// The method and path of every request.
    pub log: Vec<String>,
    /// Mismatches with GitHub's description.
    pub misfits: Vec<String>,
}

pub struct GitHub {
    pub state: Arc<Mutex<State>>,
    /// The maximum number of concurrent requests.
    pub most: Arc<AtomicUsize>,
    pub url: String,
}

impl GitHub {
    /// Starts the server for the bare repositories in `remotes/`, as the forge of `forge.test`.
    pub fn start(world: &World) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State::default()));
        let (busy, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let (server, peak, remotes) = (state.clone(), most.clone(), world.path("remotes"));
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                let (state, busy, most, remotes) = (server.clone(), busy.clone(), peak.clone(), remotes.clone());
                std::thread::spawn(move || {
                    serve(stream, |request| {
                        most.fetch_max(busy.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                        let delay = state.lock().unwrap().delay;
                        std::thread::sleep(delay);
                        let answer = answer(&state, &remotes, request);
                        busy.fetch_sub(1, Ordering::SeqCst);
                        answer
                    });
                });
            }
        });
        let mut config = world.read("home/gitconfig");
        config += &format!(
            "[url \"{}/\"]\n\tinsteadOf = https://{HOST}/acme/\n[blue \"forge.{HOST}\"]\n\ttype = github\n\turl = {url}\n",
            world.path("remotes").display()
        );
        config += &format!("[blue]\n\ttokenCommand = echo {TOKEN}\n");
        world.write("home/gitconfig", &config);
        Self { state, most, url }
    }

    /// Sets the answer to the next request.
    pub fn instead(&self, status: u16, headers: &str, body: &str) {
        self.state.lock().unwrap().instead.push((status, headers.to_owned(), body.to_owned()));
    }

    /// Changes a field of the newest pull request of a repository.
    pub fn set(&self, repo: &str, key: &str, value: Value) {
        let mut state = self.state.lock().unwrap();
        let pull = state.pulls.get_mut(&format!("acme/{repo}")).unwrap().last_mut().unwrap();
        pull[key] = value;
    }

    /// Returns the description of the newest pull request of a repository.
    pub fn body(&self, repo: &str) -> String {
        let state = self.state.lock().unwrap();
        state.pulls[&format!("acme/{repo}")].last().unwrap()["body"].as_str().unwrap().to_owned()
    }

    /// Returns the requests since the last call.
    pub fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.state.lock().unwrap().log)
    }
}

impl Drop for GitHub {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(self.state.lock().unwrap().misfits, [] as [String; 0], "as GitHub describes itself");
        }
    }
}

/// The operation's path in GitHub's description, the status, and the answer.
pub type Answer = (Option<&'static str>, u16, Value);

pub struct Request {
    pub method: String,
    path: String,
    pub query: BTreeMap<String, String>,
    token: String,
    pub body: Option<Value>,
}

/// Answers all requests of one connection.
fn serve(stream: TcpStream, answer: impl Fn(Request) -> (u16, String, String)) {
    let mut writer = stream.try_clone().unwrap();
    let mut reader = BufReader::new(stream);
    while let Some(HttpRequest { method, target, headers, body }) = HttpRequest::read(&mut reader) {
        let (path, query) = target.split_once('?').unwrap_or((&target, ""));
        let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        let request = Request {
            method,
            path: path.to_owned(),
            query: pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect(),
            token: headers.get("authorization").cloned().unwrap_or_default(),
            body: (!body.is_empty()).then(|| serde_json::from_slice(&body).unwrap()),
        };
        let (status, more, body) = answer(request);
        let kind = if more.contains("content-type") { "" } else { "content-type: application/json\r\n" };
        let head = format!("HTTP/1.1 {status} x\r\n{kind}{more}content-length: {}\r\n\r\n", body.len());
        if writer.write_all(format!("{head}{body}").as_bytes()).is_err() {
            return;
        }
    }
}

fn answer(state: &Mutex<State>, remotes: &std::path::Path, request: Request) -> (u16, String, String) {
    let mut state = state.lock().unwrap();
    state.log.push(format!("{} {}", request.method, request.path));
    if !state.instead.is_empty() {
        return state.instead.remove(0);
    }
    if request.token != format!("Bearer {TOKEN}") {
        return (401, String::new(), json!({ "message": "Bad credentials" }).to_string());
    }
    let parts: Vec<&str> = request.path.split('/').skip(1).collect();
    let (template, status, body) = route(&mut state, remotes, &request, &parts);
    let mut misfits = Vec::new();
    match template {
        // The fixture does not cover issues.
        Some(template) if state.unchecked || template.contains("/issues") => {}
        Some(template) => check(template, &request, status, &body, &mut misfits),
        None => misfits.push(format!("{} {} is no operation", request.method, request.path)),
    }
    for misfit in misfits {
        if !state.misfits.contains(&misfit) {
            state.misfits.push(misfit);
        }
    }
    if request.method != "GET"
        && let Some(left) = state.loses
    {
        state.loses = left.checked_sub(1);
        if left == 0 {
            return (502, String::new(), json!({ "message": "Bad Gateway" }).to_string());
        }
    }
    if status == 204 {
        return (204, String::new(), String::new());
    }
    (status, String::new(), body.to_string())
}

/// Executes a request. Returns the operation's path in GitHub's description, and the answer.
fn route(state: &mut State, remotes: &std::path::Path, request: &Request, parts: &[&str]) -> Answer {
    let examples = &SPEC["x-examples"];
    let ["repos", owner, name, rest @ ..] = parts else { return (None, 404, json!({"message": "Not Found"})) };
    let repo = format!("{owner}/{name}");
    let tip = |branch: &str| std::fs::read_to_string(remotes.join(format!("{name}.git/refs/heads/{branch}")));
    match (&*request.method, rest) {
        ("GET", ["pulls"]) => {
            let branch = request.query.get("head").and_then(|head| head.split_once(':')).map(|(_, branch)| branch);
            let wanted = request.query.get("state").map_or("open", String::as_str);
            let pulls = state.pulls.entry(repo).or_default().iter().rev();
            let found: Vec<Value> = pulls
                .filter(|pull| branch.is_none_or(|branch| pull["head"]["ref"] == *branch && is_own(pull)))
                .filter(|pull| wanted == "all" || pull["state"] == *wanted)
                .map(|pull| {
                    let mut listed = examples["listed"].clone();
                    for key in [
                        "number",
                        "state",
                        "draft",
                        "html_url",
                        "title",
                        "body",
                        "merged_at",
                        "merge_commit_sha",
                        "head",
                        "base",
                    ] {
                        listed[key] = pull[key].clone();
                    }
                    listed
                })
                .collect();
            (Some("/repos/{owner}/{repo}/pulls"), 200, json!(found))
        }
        ("POST", ["pulls"]) => {
            let path = Some("/repos/{owner}/{repo}/pulls");
            let asked = request.body.clone().unwrap_or_default();
            let branch = asked["head"].as_str().unwrap_or_default();
            let pulls = state.pulls.entry(repo.clone()).or_default();
            let is_there =
                pulls.iter().any(|pull| pull["head"]["ref"] == *branch && is_own(pull) && pull["state"] == "open");
            let Ok(tip) = tip(branch) else {
                return (
                    path,
                    422,
                    json!({"message": "Validation Failed", "errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]}),
                );
            };
            if is_there {
                return (
                    path,
                    422,
                    json!({"message": "Validation Failed", "errors": [{"resource": "PullRequest", "code": "custom", "message": "A pull request already exists"}]}),
                );
            }
            // Numbers differ between repositories.
            let number = pulls.len() + 10 * (1 + name.len());
            let mut pull = examples["pull"].clone();
            pull["number"] = json!(number);
            pull["state"] = json!("open");
            pull["merged"] = json!(false);
            pull["merged_at"] = Value::Null;
            pull["mergeable"] = json!(true);
            for key in ["title", "body", "draft"] {
                pull[key] = asked[key].clone();
            }
            pull["html_url"] = json!(format!("https://{HOST}/{repo}/pull/{number}"));
            pull["head"]["ref"] = json!(branch);
            pull["head"]["sha"] = json!(tip.trim());
            pull["base"]["ref"] = asked["base"].clone();
            pulls.push(pull.clone());
            (path, 201, pull)
        }
        (method @ ("GET" | "PATCH"), ["pulls", number]) => {
            let path = Some("/repos/{owner}/{repo}/pulls/{pull_number}");
            let pulls = state.pulls.entry(repo).or_default();
            let Some(pull) = pulls.iter_mut().find(|pull| pull["number"].as_u64() == number.parse().ok()) else {
                return (path, 404, json!({"message": "Not Found"}));
            };
            if let ("PATCH", Some(Value::Object(changes))) = (method, &request.body) {
                changes.iter().for_each(|(key, value)| pull[key] = value.clone());
            }
            (path, 200, pull.clone())
        }
        ("GET", ["issues", _, "comments"]) => {
            let comments = state.comments.get(&repo).cloned().unwrap_or_default();
            (Some("/repos/{owner}/{repo}/issues/{issue_number}/comments"), 200, json!(comments))
        }
        ("POST", ["issues", number, "comments"]) => {
            let comments = state.comments.entry(repo.clone()).or_default();
            let id = comments.len() + 1;
            let url = format!("https://{HOST}/{repo}/pull/{number}#issuecomment-{id}");
            let body = request.body.clone().unwrap_or_default()["body"].clone();
            comments.push(json!({ "id": id, "html_url": url, "body": body }));
            let path = "/repos/{owner}/{repo}/issues/{issue_number}/comments";
            (Some(path), 201, comments.last().cloned().unwrap())
        }
        ("PATCH", ["issues", "comments", id]) => {
            let comments = state.comments.entry(repo).or_default();
            let comment = comments.iter_mut().find(|one| one["id"].as_u64() == id.parse().ok()).unwrap();
            comment["body"] = request.body.clone().unwrap_or_default()["body"].clone();
            (Some("/repos/{owner}/{repo}/issues/comments/{comment_id}"), 200, comment.clone())
        }
        ("GET", ["issues"]) => {
            let issues = state.issues.get(&repo).cloned().unwrap_or_default();
            (Some("/repos/{owner}/{repo}/issues"), 200, json!(issues))
        }
        ("POST", ["issues"]) => {
            let issues = state.issues.entry(repo.clone()).or_default();
            let mut issue = request.body.clone().unwrap_or_default();
            let number = issues.len() + 1;
            issue["number"] = json!(number);
            issue["state"] = json!("open");
            issue["html_url"] = json!(format!("https://{HOST}/{repo}/issues/{number}"));
            issues.push(issue.clone());
            (Some("/repos/{owner}/{repo}/issues"), 201, issue)
        }
        ("PATCH", ["issues", number]) => {
            let issues = state.issues.entry(repo).or_default();
            let issue = issues.iter_mut().find(|one| one["number"].as_u64() == number.parse().ok()).unwrap();
            if let Some(Value::Object(changes)) = &request.body {
                changes.iter().for_each(|(key, value)| issue[key] = value.clone());
            }
            (Some("/repos/{owner}/{repo}/issues/{issue_number}"), 200, issue.clone())
        }
        ("GET", ["pulls", _, "reviews"]) => {
            let reviews = state.reviews.get(&repo).cloned().unwrap_or_default();
            let document = |(user, said): &(&str, &str)| {
                let mut review = examples["review"].clone();
                review["user"]["login"] = json!(user);
                review["state"] = json!(said);
                review
            };
            let path = "/repos/{owner}/{repo}/pulls/{pull_number}/reviews";
            (Some(path), 200, reviews.iter().map(document).collect())
        }
        ("GET", ["commits", _, "check-runs"]) if state.hides_checks => {
            (Some("/repos/{owner}/{repo}/commits/{ref}/check-runs"), 403, json!({"message": "not accessible"}))
        }
        ("GET", ["commits", _, "check-runs"]) => {
            let mut page = examples["check_runs"].clone();
            let run = page["check_runs"][0].clone();
            let document = |(status, conclusion): &(&str, Option<&str>)| {
                let mut run = run.clone();
                run["status"] = json!(status);
                run["conclusion"] = json!(conclusion);
                run
            };
            let runs: Vec<_> = state.checks.get(&repo).into_iter().flatten().map(document).collect();
            page["total_count"] = json!(runs.len());
            page["check_runs"] = json!(runs);
            (Some("/repos/{owner}/{repo}/commits/{ref}/check-runs"), 200, page)
        }
        ("GET", ["commits", _, "status"]) => {
            let mut page = examples["status"].clone();
            page["statuses"] = json!([page["statuses"][0]]);
            page["statuses"][0]["state"] = json!("success");
            page["total_count"] = json!(1);
            (Some("/repos/{owner}/{repo}/commits/{ref}/status"), 200, page)
        }
        (method, rest) => {
            let repository = Repository::new(remotes, name, examples);
            if (method, rest) == ("POST", &["git", "commits"]) {
                state.pushes.take().iter().for_each(|(name, commit)| repository.push(name, commit));
            }
            repository.route(request, rest)
        }
    }
}

/// Returns whether the branch of a pull request is in the repository itself.
fn is_own(pull: &Value) -> bool {
    pull["head"]["repo"]["full_name"] == pull["base"]["repo"]["full_name"]
}

/// Validates a request and its answer against GitHub's description.
fn check(template: &str, request: &Request, status: u16, body: &Value, misfits: &mut Vec<String>) {
    let what = format!("{} {template}", request.method);
    let operation = &SPEC["paths"][template][request.method.to_lowercase()];
    let parameters: Vec<&Value> = operation["parameters"].as_array().into_iter().flatten().map(resolved).collect();
    for (key, value) in &request.query {
        let known = parameters.iter().find(|one| one["in"] == "query" && one["name"] == **key);
        let Some(parameter) = known else {
            misfits.push(format!("{what}: there is no parameter {key}"));
            continue;
        };
        let number = value.parse::<u64>().ok().filter(|_| parameter["schema"]["type"] == "integer");
        fits(
            &format!("{what}: {key}"),
            &parameter["schema"],
            &number.map_or(json!(value), |number| json!(number)),
            misfits,
        );
    }
    if let Some(sent) = &request.body {
        let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
        let known = schema["properties"].as_object();
        let unknown =
            sent.as_object().into_iter().flatten().find(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
        misfits.extend(unknown.map(|(key, _)| format!("{what}: there is no field {key}")));
        fits(&format!("{what}: request"), schema, sent, misfits);
    }
    let response = resolved(&operation["responses"][status.to_string()]);
    if status == 204 && !response.is_null() {
        return;
    }
    match response["content"]["application/json"].get("schema") {
        Some(schema) => fits(&format!("{what}: {status}"), schema, body, misfits),
        None => misfits.push(format!("{what}: it never answers {status}")),
    }
}

fn resolved(value: &Value) -> &Value {
    match value["$ref"].as_str() {
        Some(reference) => SPEC.pointer(&reference[1..]).unwrap(),
        None => value,
    }
}

fn fits(what: &str, schema: &Value, value: &Value, misfits: &mut Vec<String>) {
    assert!(!schema.is_null(), "{what}: there is no schema");
    let whole = json!({ "components": SPEC["components"], "allOf": [schema] });
    let validator = jsonschema::validator_for(&whole).unwrap();
    misfits.extend(validator.iter_errors(value).map(|error| format!("{what}: {}: {error}", error.instance_path())));
}

/// Returns five repositories whose remotes are on the forge, with worktrees of `rfc-1` in all that share a domain with
/// `aperture`, and a commit in each of these except `coral`.
pub fn on_forge() -> (World, GitHub) {
    let world = crate::worktrees::five();
    let forge = GitHub::start(&world);
    for repo in crate::worktrees::REPOS {
        world.git(&world.path(repo), &["remote", "set-url", "origin", &format!("https://{HOST}/acme/{repo}.git")]);
    }
    world.ok(&world.path("aperture"), &["realm", "worktree", "create", "--rfc", "rfc-1"]);
    for repo in ["aperture", "blue", "fungal"] {
        crate::worktrees::work(&world, "rfc-1", repo);
    }
    (world, forge)
}

/// Returns the path of a worktree.
pub fn tree(world: &World, repo: &str) -> PathBuf {
    crate::worktrees::tree(world, "rfc-1", repo)
}
