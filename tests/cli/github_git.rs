//! The Git database API of the GitHub stand-in: branches, files and commits of the bare repositories.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Value, json};

use crate::github::{Answer, Request};

/// A repository.
pub struct Repository<'a> {
    folder: PathBuf,
    examples: &'a Value,
}

impl<'a> Repository<'a> {
    pub fn new(remotes: &Path, name: &str, examples: &'a Value) -> Self {
        Self { folder: remotes.join(format!("{name}.git")), examples }
    }

    /// Executes requests about branches, files and commits.
    pub fn route(&self, request: &Request, rest: &[&str]) -> Answer {
        let sent = |key: &str| request.body.as_ref().map(|body| body[key].clone()).unwrap_or_default();
        let text = |key: &str| sent(key).as_str().unwrap_or_default().to_owned();
        match (&*request.method, rest) {
            ("GET", []) => {
                let mut answer = self.examples["repository"].clone();
                // GitHub's own example lacks a field that GitHub's schema requires.
                answer["language"] = Value::Null;
                answer["source"]["language"] = Value::Null;
                answer["owner"]["login"] = json!("acme");
                answer["default_branch"] = json!(self.git(&["symbolic-ref", "--short", "HEAD"], "").unwrap());
                (Some("/repos/{owner}/{repo}"), 200, answer)
            }
            ("GET", ["branches", name]) => {
                let path = "/repos/{owner}/{repo}/branches/{branch}";
                let name = name.replace("%2F", "/");
                let Some(tip) = self.tip(&name) else { return missing(path) };
                let mut answer = self.examples["branch"].clone();
                answer["name"] = json!(name);
                answer["commit"]["sha"] = json!(tip);
                answer["commit"]["commit"]["message"] =
                    json!(self.git(&["log", "-1", "--format=%B", &tip], "").unwrap());
                (Some(path), 200, answer)
            }
            ("GET", ["contents", path @ ..]) => {
                let place = format!("{}:{}", request.query["ref"], path.join("/"));
                let template = "/repos/{owner}/{repo}/contents/{path}";
                let Some(id) = self.git(&["rev-parse", "--verify", "--quiet", &place], "") else {
                    return missing(template);
                };
                let mut answer = self.examples["file"].clone();
                let output = self.run(&["cat-file", "blob", &id], "").stdout;
                // Lines of 60 characters, as GitHub does.
                let content = BASE64_STANDARD.encode(output);
                let lines: Vec<_> = content.as_bytes().chunks(60).map(String::from_utf8_lossy).collect();
                answer["content"] = json!(lines.join("\n") + "\n");
                answer["sha"] = json!(id);
                (Some(template), 200, answer)
            }
            ("GET", ["git", "commits", id]) => {
                (Some("/repos/{owner}/{repo}/git/commits/{commit_sha}"), 200, self.commit(id))
            }
            ("POST", ["git", "trees"]) => {
                let index = tempfile::NamedTempFile::new().unwrap();
                let index = index.into_temp_path();
                std::fs::remove_file(&index).unwrap();
                let with_index = |args: &[&str], input: &str| {
                    let output = self.run_with(args, input, Some(&index));
                    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
                    String::from_utf8(output.stdout).unwrap().trim().to_owned()
                };
                with_index(&["read-tree", &text("base_tree")], "");
                for entry in sent("tree").as_array().unwrap() {
                    let blob = with_index(&["hash-object", "-w", "--stdin"], entry["content"].as_str().unwrap());
                    let (mode, path) = (entry["mode"].as_str().unwrap(), entry["path"].as_str().unwrap());
                    with_index(&["update-index", "--add", "--cacheinfo", &format!("{mode},{blob},{path}")], "");
                }
                let mut answer = self.examples["tree"].clone();
                answer["sha"] = json!(with_index(&["write-tree"], ""));
                (Some("/repos/{owner}/{repo}/git/trees"), 201, answer)
            }
            ("POST", ["git", "commits"]) => {
                let parent = sent("parents")[0].as_str().unwrap().to_owned();
                let made = ["commit-tree", &text("tree"), "-p", &parent, "-m", &text("message")];
                let id = self.git(&made, "").unwrap();
                (Some("/repos/{owner}/{repo}/git/commits"), 201, self.commit(&id))
            }
            ("POST", ["git", "refs"]) => {
                let path = "/repos/{owner}/{repo}/git/refs";
                let name = text("ref");
                if self.tip(name.strip_prefix("refs/heads/").unwrap()).is_some() {
                    return (Some(path), 422, json!({"message": "Reference already exists"}));
                }
                self.git(&["update-ref", &name, &text("sha")], "").unwrap();
                (Some(path), 201, self.reference(&name, &text("sha")))
            }
            (method @ ("PATCH" | "DELETE"), ["git", "refs", name @ ..]) => {
                let path = "/repos/{owner}/{repo}/git/refs/{ref}";
                let name = format!("refs/{}", name.join("/"));
                let Some(tip) = self.tip(name.strip_prefix("refs/heads/").unwrap()) else {
                    return (Some(path), 422, json!({"message": "Reference does not exist"}));
                };
                if method == "DELETE" {
                    self.git(&["update-ref", "-d", &name], "").unwrap();
                    return (Some(path), 204, Value::Null);
                }
                let is_forward = self.git(&["merge-base", "--is-ancestor", &tip, &text("sha")], "").is_some();
                if !is_forward && sent("force") != json!(true) {
                    return (Some(path), 422, json!({"message": "Update is not a fast forward"}));
                }
                self.git(&["update-ref", &name, &text("sha")], "").unwrap();
                (Some(path), 200, self.reference(&name, &text("sha")))
            }
            _ => (None, 404, json!({"message": "Not Found"})),
        }
    }

    /// Moves a ref, as a push does.
    pub fn push(&self, name: &str, commit: &str) {
        self.git(&["update-ref", name, commit], "").unwrap();
    }

    fn tip(&self, branch: &str) -> Option<String> {
        self.git(&["rev-parse", "--verify", "--quiet", &format!("refs/heads/{branch}")], "")
    }

    fn commit(&self, id: &str) -> Value {
        let mut answer = self.examples["commit"].clone();
        answer["sha"] = json!(id);
        answer["tree"]["sha"] = json!(self.git(&["rev-parse", &format!("{id}^{{tree}}")], "").unwrap());
        answer
    }

    fn reference(&self, name: &str, id: &str) -> Value {
        let mut answer = self.examples["ref"].clone();
        answer["ref"] = json!(name);
        answer["object"]["sha"] = json!(id);
        answer
    }

    /// Returns the output of git, or `None` if it fails.
    fn git(&self, args: &[&str], input: &str) -> Option<String> {
        let output = self.run(args, input);
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap().trim().to_owned())
    }

    fn run(&self, args: &[&str], input: &str) -> std::process::Output {
        self.run_with(args, input, None)
    }

    fn run_with(&self, args: &[&str], input: &str, index: Option<&Path>) -> std::process::Output {
        let mut command = Command::new("git");
        command.args(["-c", "user.name=GitHub", "-c", "user.email=noreply@forge.test"]).args(args);
        command.current_dir(&self.folder).env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1");
        command.envs(index.map(|index| ("GIT_INDEX_FILE", index)));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        child.wait_with_output().unwrap()
    }
}

fn missing(path: &'static str) -> Answer {
    (Some(path), 404, json!({"message": "Not Found"}))
}
