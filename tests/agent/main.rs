//! Five tasks of a coding agent that uses only the answers of the server: the number of calls, the size of answers,
//! and dead ends. `make eval` prints the table.

#![expect(clippy::print_stdout, reason = "`make eval` shows the table")]

#[path = "../testutils/world.rs"]
#[allow(dead_code, reason = "not every helper of the command line's tests is needed here")]
mod world;

#[path = "../testutils/schemas.rs"]
#[allow(dead_code, reason = "it belongs to the world")]
mod schemas;

#[path = "../testutils/mcp_client.rs"]
#[allow(dead_code, reason = "not every helper of the server's tests is needed here")]
mod client;

use std::path::Path;

use serde_json::{Value, json};

use client::Client;
use world::{BINDING_FILE, CONTRACT_FILE, World, importing};

/// A task in progress.
struct Task<'a> {
    name: &'static str,
    world: &'a World,
    client: Client,
    calls: usize,
    /// The sizes of the largest answer and of all answers, in bytes.
    largest: usize,
    bytes: usize,
    dead_ends: usize,
}

impl<'a> Task<'a> {
    fn start(name: &'static str, world: &'a World, repo: &str) -> Self {
        let client = Client::start(world, &world.path(repo));
        Self { name, world, client, calls: 0, largest: 0, bytes: 0, dead_ends: 0 }
    }

    /// Calls a tool. A failure counts as an answer, too.
    fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let result = self.client.call(tool, arguments);
        let text = result["content"][0]["text"].as_str().unwrap();
        self.calls += 1;
        self.bytes += text.len();
        self.largest = self.largest.max(text.len());
        serde_json::from_str(text).unwrap()
    }

    /// Runs a command from an answer.
    fn run(&mut self, folder: &Path, command: &str) {
        self.dead_ends += usize::from(self.world.finish_shell(folder, command).code != 0);
    }

    /// Checks that every step of an answer works, without counting it: an agent may take any.
    fn probe(&mut self, answer: &Value) {
        for step in answer["next_steps"].as_array().unwrap() {
            if let Some(tool) = step["tool"].as_str() {
                let result = self.client.call(tool, step["arguments"].clone());
                self.dead_ends += usize::from(result["isError"] == true);
            }
        }
    }

    /// Prints the row, and asserts the limits on calls and tokens of an answer.
    #[track_caller]
    fn end(self, calls: usize, tokens: usize) {
        let (largest, all) = (self.largest / 4, self.bytes / 4);
        let row = format!("{:<52} {:>5} {largest:>8} {all:>8} {:>9}", self.name, self.calls, self.dead_ends);
        println!("eval: {row}");
        assert!(self.calls <= calls && largest < tokens && self.dead_ends == 0, "{row}");
    }
}

fn document(version: &str, field: &str) -> String {
    format!(
        "name: s3-permissions\nversion: \"{version}\"\nowner: fungal\nschema:\n  type: object\n  required: [{field}]\n  properties:\n    {field}: {{ type: string }}\n    note: {{ type: string }}\nvalue: {{ {field}: jobs }}\n"
    )
}

/// `access` reads `path` of 2.0.0 in two files. Its binding names one of them.
fn world() -> World {
    let world = World::pair();
    publish(&world, "2.0.0", "path");
    world.write("access/cdk/access_stack.py", "bucket = config[\"path\"]\n");
    world.write("access/tests/test_stack.py", "assert config.path\n");
    world.write(&format!("access/{BINDING_FILE}"), &importing(">=2.0.0, <3.0.0"));
    world.commit("access", "Read the path");
    world.settle();
    world
}

fn publish(world: &World, version: &str, field: &str) {
    world.write(&format!("fungal/{CONTRACT_FILE}"), &document(version, field));
    world.commit("fungal", version);
}

fn at(more: Value) -> Value {
    let mut arguments = json!({"domain": "s3-access", "contract": "s3-permissions"});
    arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    arguments
}

#[test]
fn finds_what_changed_whether_it_breaks_and_where_to_edit() {
    let world = world();
    publish(&world, "3.0.0", "key");
    let mut task = Task::start("1 what changed, does it break us, where do I edit", &world, "access");
    let review = task.call("realm_review", json!({}));
    let import = &review["imports"][0];
    assert_eq!((&import["state"], &import["fields"][0]["maybe_renamed_to"]), (&json!("broken"), &json!("key")));
    let files: Vec<_> =
        import["mentions"].as_array().unwrap().iter().map(|one| one["file"].as_str().unwrap()).collect();
    assert_eq!(files, ["cdk/access_stack.py", "tests/test_stack.py"]);
    assert!(import["binding_line"].is_u64());
    task.probe(&review);
    task.end(1, 1_000);
}

#[test]
fn finds_who_a_renamed_field_breaks_before_the_commit() {
    let world = world();
    world.write(&format!("fungal/{CONTRACT_FILE}"), &document("3.0.0", "key"));
    let mut task = Task::start("2 rename a field, and say who breaks before the commit", &world, "fungal");
    let impact = task.call("contract_impact", at(json!({"worktree": true})));
    assert_eq!((&impact["broken"], &impact["importers"][0]["repo"]), (&json!(1), &json!("access")));
    assert_eq!(impact["importers"][0]["binding"], "cdk/access_stack.py");
    let check = task.call("realm_check", json!({"worktree": true}));
    assert_eq!(check["errors"][0]["code"], "import-broken");
    task.probe(&impact);
    task.probe(&check);
    task.end(2, 1_000);
}

#[test]
fn makes_a_new_repository_a_consumer() {
    let world = world();
    let folder = world.repo("analytics");
    let mut task = Task::start("3 make this new repository a consumer", &world, "analytics");
    let lost = task.call("realm_status", json!({}));
    let steps = lost["next_steps"].as_array().unwrap();
    let join = steps.iter().find_map(|step| step["command"].as_str()).unwrap().to_owned();
    task.run(&folder, &join);
    let list = task.call("contract_list", json!({}));
    let found = &list["contracts"][0];
    let name = format!("{}/{}", found["domain"].as_str().unwrap(), found["name"].as_str().unwrap());
    // The skill and `git blue import -h` name this command; its next step is run too.
    let import = world.ok(&folder, &["import", &name]);
    for command in world.next_steps(&import) {
        task.run(&folder, &command);
    }
    let check = task.call("realm_check", json!({}));
    assert_eq!((&check["valid"], &check["errors"]), (&json!(true), &json!([])), "{check:#}");
    task.probe(&check);
    task.end(3, 1_000);
}

#[test]
fn finds_repositories_worktrees_and_pull_requests_in_order() {
    let world = world();
    let mut task = Task::start("4 which repositories, worktrees and pull requests", &world, "fungal");
    let topology = task.call("realm_topology", json!({"domain": "s3-access"}));
    let importers = &topology["domains"][0]["contracts"][0]["importers"];
    assert_eq!(importers[0]["repo"], "access", "{topology:#}");
    let made = task.call("realm_worktree_create", json!({"rfc": "rfc-1"}));
    let status = task.call("realm_pr_status", json!({"rfc": "rfc-1"}));
    assert_eq!(status["repos"].as_array().unwrap().len(), 2, "{status:#}");
    for answer in [&topology, &made, &status] {
        task.probe(answer);
    }
    task.end(4, 2_000);
}

#[test]
fn explains_why_ci_fails() {
    let world = world();
    publish(&world, "3.0.0", "key");
    let mut task = Task::start("5 why is CI red", &world, "access");
    let check = task.call("realm_check", json!({}));
    let error = &check["errors"][0];
    assert_eq!((&error["code"], &error["file"]), (&json!("import-broken"), &json!(BINDING_FILE)), "{check:#}");
    assert!(error["line"].is_u64() && check["next_steps"][0]["tool"] == "realm_review", "{check:#}");
    task.probe(&check);
    task.end(1, 1_000);
}
