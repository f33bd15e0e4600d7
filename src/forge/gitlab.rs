//! The REST API (version 4) of GitLab, where pull requests are merge requests.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Address, Checks, Client, Comment, Condition, File, Forge, ForgeError, Issue, NewCommit, NewPull, Outcome, Pull,
    State, Tip, bounded, contents, issues::Words, query, relevant, titled,
};

/// The prefix of the title of a draft.
const DRAFT: &str = "Draft: ";

/// The names that its API uses for issues.
const ISSUES: Words = Words {
    query: "scope=all&order_by=updated_at&sort=desc&per_page=100",
    number: "iid",
    text: "description",
    url: "web_url",
    method: "PUT",
    close: ("state_event", "close"),
};

/// The names that its API uses for branches and files.
const CONTENTS: contents::Words = contents::Words {
    files: "repository/files",
    is_one_segment: true,
    file_id: "last_commit_id",
    branches: "repository/branches",
    commit: "/commit/id",
    message: "/commit/message",
};

/// Merge requests of a project on GitLab.
pub(super) struct GitLab {
    client: Arc<Client>,
    /// `/projects/<path>`
    project: String,
}

#[derive(Deserialize)]
struct MergeRequest {
    iid: u64,
    state: String,
    #[serde(default)]
    draft: bool,
    web_url: String,
    title: String,
    description: Option<String>,
    sha: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: u64,
    source_branch: String,
    #[serde(default)]
    has_conflicts: bool,
    #[serde(default)]
    merge_status: String,
    /// Only present in the response for a single merge request.
    #[serde(default)]
    head_pipeline: Option<Value>,
}

impl From<MergeRequest> for Pull {
    fn from(answer: MergeRequest) -> Self {
        Self {
            number: answer.iid,
            state: match &*answer.state {
                "merged" => State::Merged,
                "closed" => State::Closed,
                _ => State::Open,
            },
            draft: answer.draft,
            url: bounded(&answer.web_url, 500),
            title: bounded(&answer.title, 300),
            body: answer.description.unwrap_or_default(),
            head: answer.sha.unwrap_or_default(),
            branch: answer.source_branch,
        }
    }
}

impl MergeRequest {
    /// Returns whether the branch is in the project itself. Forks may have a branch with the same name.
    fn is_own(&self) -> bool {
        self.source_project_id == Some(self.target_project_id)
    }
}

impl GitLab {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, project: format!("/projects/{}", address.path.replace('/', "%2F")) }
    }

    /// Counts the statuses of a commit, from jobs and external systems. Those that are allowed to fail are ignored.
    fn checks(&self, commit: &str) -> Result<Checks, ForgeError> {
        let mut checks = Checks::default();
        let path = format!("{}/repository/commits/{commit}/statuses?per_page=100", self.project);
        for status in self.client.list(&path, Value::as_array)? {
            let may_fail = status["allow_failure"].as_bool().unwrap_or_default();
            checks.add(match status["status"].as_str().unwrap_or_default() {
                "success" | "skipped" | "manual" => Outcome::Passed,
                "failed" | "canceled" if may_fail => Outcome::Passed,
                "failed" | "canceled" => Outcome::Failed,
                _ => Outcome::Pending,
            });
        }
        Ok(checks)
    }
}

/// Returns `None` if the server's edition or the token does not allow the request.
fn if_shown<T>(asked: Result<T, ForgeError>) -> Result<Option<T>, ForgeError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(ForgeError::Denied { .. } | ForgeError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

impl Forge for GitLab {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let path = format!(
            "{}/merge_requests?scope=all&state=all&order_by=updated_at&sort=desc&per_page=50&source_branch={}",
            self.project,
            query(branch)
        );
        let answer = self.client.parse::<Vec<MergeRequest>>(self.client.get(&path)?)?;
        Ok(relevant(answer.into_iter().filter(MergeRequest::is_own).map(Into::into).collect()))
    }

    fn condition(&self, pull: &Pull) -> Result<Condition, ForgeError> {
        let one = format!("{}/merge_requests/{}", self.project, pull.number);
        let answer: MergeRequest = self.client.parse(self.client.get(&one)?)?;
        let mergeable = match (answer.has_conflicts, &*answer.merge_status) {
            (true, _) | (_, "cannot_be_merged") => Some(false),
            (_, "can_be_merged") => Some(true),
            _ => None,
        };
        let approvals = if_shown(self.client.get(&format!("{one}/approvals")))?.unwrap_or_default();
        let reviewers = if_shown(self.client.list(&format!("{one}/reviewers"), Value::as_array))?.unwrap_or_default();
        let checks = match answer.head_pipeline {
            Some(Value::Null) | None => Some(Checks::default()),
            Some(_) => if_shown(self.checks(&pull.head))?,
        };
        Ok(Condition {
            mergeable,
            approved: approvals["approved_by"].as_array().map(Vec::len).unwrap_or_default(),
            changes_requested: reviewers.iter().filter(|one| one["state"] == "requested_changes").count(),
            checks,
        })
    }

    fn open(&self, new: &NewPull<'_>) -> Result<Pull, ForgeError> {
        let title = titled(DRAFT, new.title, new.draft);
        let body = json!({
            "source_branch": new.branch, "target_branch": new.base, "title": title, "description": new.body,
        });
        let answer = self.client.send("POST", &format!("{}/merge_requests", self.project), &body)?;
        self.client.parse::<MergeRequest>(answer).map(Into::into)
    }

    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError> {
        let path = format!("{}/merge_requests/{number}", self.project);
        self.client.send("PUT", &path, &json!({ "description": body })).map(drop)
    }

    fn open_pulls(&self) -> Result<Vec<Pull>, ForgeError> {
        let path = format!("{}/merge_requests?scope=all&state=opened&per_page=100", self.project);
        let all = self.client.parse::<Vec<MergeRequest>>(self.client.list(&path, Value::as_array)?.into())?;
        Ok(all.into_iter().filter(MergeRequest::is_own).map(Into::into).collect())
    }

    fn edit_pull(&self, pull: &Pull) -> Result<(), ForgeError> {
        let mut body = json!({ "title": titled(DRAFT, &pull.title, pull.draft), "description": pull.body });
        if pull.state != State::Open {
            body["state_event"] = json!("close");
        }
        self.client.send("PUT", &format!("{}/merge_requests/{}", self.project, pull.number), &body).map(drop)
    }

    fn default_branch(&self) -> Result<String, ForgeError> {
        CONTENTS.default_branch(&self.client, &self.project)
    }

    fn tip(&self, branch: &str) -> Result<Option<Tip>, ForgeError> {
        CONTENTS.tip(&self.client, &self.project, branch)
    }

    fn file(&self, commit: &str, path: &str) -> Result<Option<File>, ForgeError> {
        CONTENTS.file(&self.client, &self.project, commit, path)
    }

    fn commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        let NewCommit { branch, start, path, file, text, message, .. } = *commit;
        let mut body = json!({
            "branch": branch, "content": text, "commit_message": message, "last_commit_id": file.id,
        });
        if let Some(start) = start {
            body["start_branch"] = json!(start);
        }
        self.client.send("PUT", &CONTENTS.file_path(&self.project, path), &body).map(drop)
    }

    fn delete_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.client.delete(&CONTENTS.branch(&self.project, branch))
    }

    /// GitLab calls them notes.
    fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let path = format!("{}/merge_requests/{number}/notes?sort=asc&per_page=100", self.project);
        self.client.list(&path, Value::as_array)?.into_iter().map(|one| self.client.parse(one)).collect()
    }

    fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let path = format!("{}/merge_requests/{number}/notes", self.project);
        self.client.parse(self.client.send("POST", &path, &json!({ "body": body }))?)
    }

    fn edit_comment(&self, number: u64, id: u64, body: &str) -> Result<(), ForgeError> {
        let path = format!("{}/merge_requests/{number}/notes/{id}", self.project);
        self.client.send("PUT", &path, &json!({ "body": body })).map(drop)
    }

    fn issues(&self) -> Result<Vec<Issue>, ForgeError> {
        ISSUES.list(&self.client, &self.project)
    }

    fn open_issue(&self, title: &str, body: &str) -> Result<Issue, ForgeError> {
        ISSUES.open(&self.client, &self.project, title, body)
    }

    fn edit_issue(&self, issue: &Issue) -> Result<(), ForgeError> {
        ISSUES.edit(&self.client, &self.project, issue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{Kind, canned::Canned};

    /// The project in the documented examples.
    const OWN: u64 = 15513260;

    /// Returns an example response from GitLab's documentation.
    fn example(name: &str) -> Value {
        let all: Value = serde_json::from_str(include_str!("../../tests/fixtures/forge/gitlab.json")).unwrap();
        all[name].clone()
    }

    fn request(iid: u64, state: &str, source: u64) -> Value {
        let mut one = example("merge_request");
        for (key, value) in [("iid", json!(iid)), ("state", json!(state)), ("source_project_id", json!(source))] {
            assert!(!one[key].is_null(), "{key} is documented");
            one[key] = value;
        }
        one
    }

    fn forge(canned: &Canned) -> Box<dyn Forge> {
        let address = Address::of("https://gitlab.example.com/a/b/c.git").unwrap();
        Kind::GitLab.forge(canned.client(), &address)
    }

    #[test]
    fn the_open_merge_request_of_the_projects_own_branch_is_found() {
        let listed = example("merge_request_in_a_list");
        let list = json!([request(7, "opened", 4), request(6, "closed", OWN), listed]);
        let canned = Canned::start([(200, list), (200, json!([]))]);
        let found = forge(&canned).of_branch("feat/x").unwrap().unwrap();
        assert_eq!((found.number, found.state, &*found.title), (133, State::Open, "Manual job rules"));
        assert_eq!(forge(&canned).of_branch("feat/x").unwrap(), None);
        let asked = &canned.asked()[0];
        assert!(
            asked.starts_with("GET /projects/a%2Fb%2Fc/merge_requests?") && asked.contains("source_branch=feat/x"),
            "{asked}"
        );
    }

    #[test]
    fn the_condition_combines_reviewers_and_jobs() {
        let canned = Canned::start([
            (200, request(5, "opened", OWN)),
            (200, example("approvals")),
            (200, example("reviewers")),
            (200, example("commit_statuses")),
            (200, request(5, "opened", OWN)),
            (404, json!({"message": "404 Not found"})),
            (404, json!({"message": "404 Not found"})),
            (403, json!({"message": "403 Forbidden"})),
        ]);
        let (forge, pull) =
            (forge(&canned), serde_json::from_value::<MergeRequest>(request(5, "opened", OWN)).unwrap().into());
        let expected = Condition {
            mergeable: Some(true),
            approved: 1,
            changes_requested: 1,
            checks: Some(Checks { passed: 2, failed: 1, pending: 1 }),
        };
        assert_eq!(forge.condition(&pull).unwrap(), expected);
        let hidden = Condition { mergeable: Some(true), ..Condition::default() };
        assert_eq!(forge.condition(&pull).unwrap(), hidden, "what is not shown is not known");
    }

    #[test]
    fn a_draft_is_marked_by_its_title() {
        let canned = Canned::start([(201, request(9, "opened", OWN)), (200, request(9, "opened", OWN))]);
        let new = NewPull { branch: "feat/x", base: "main", title: "T", body: "B", draft: true };
        assert_eq!(forge(&canned).open(&new).unwrap().number, 9);
        forge(&canned).describe(9, "C").unwrap();
        let asked = canned.asked();
        assert!(asked[0].contains("POST") && asked[0].contains("\"title\":\"Draft: T\""), "{asked:?}");
        assert!(
            asked[1].starts_with("PUT /projects/a%2Fb%2Fc/merge_requests/9 ")
                && asked[1].contains("\"description\":\"C\"")
        );
    }
    #[test]
    fn comments_are_listed_written_and_edited() {
        let note = json!({ "id": 302, "body": "B", "system": false });
        let canned = Canned::start([(200, json!([note])), (201, note.clone()), (200, note.clone())]);
        let forge = forge(&canned);
        let expected = Comment { id: 302, url: None, body: "B".into() };
        assert_eq!(forge.comments(9).unwrap().as_slice(), std::slice::from_ref(&expected));
        assert_eq!(forge.comment(9, "B").unwrap(), expected);
        forge.edit_comment(9, 302, "C").unwrap();
        let asked = canned.asked();
        let paths = [
            "GET /projects/a%2Fb%2Fc/merge_requests/9/notes?",
            "POST /projects/a%2Fb%2Fc/merge_requests/9/notes ",
            "PUT /projects/a%2Fb%2Fc/merge_requests/9/notes/302 ",
        ];
        for (asked, path) in asked.iter().zip(paths) {
            assert!(asked.starts_with(path), "{asked}");
        }
        assert!(asked[2].contains("\"body\":\"C\""), "{asked:?}");
    }

    #[test]
    fn issues_are_listed_opened_edited_and_closed() {
        let answer =
            json!({ "iid": 7, "state": "opened", "web_url": "https://forge.test/7", "title": "T", "description": "B" });
        let pull = json!({ "iid": 8, "state": "opened", "title": "P", "pull_request": {} });
        let canned =
            Canned::start([(200, json!([answer, pull])), (201, answer.clone()), (200, answer.clone()), (200, answer)]);
        let forge = forge(&canned);
        let issue =
            Issue { number: 7, is_open: true, url: "https://forge.test/7".into(), title: "T".into(), body: "B".into() };
        assert_eq!(forge.issues().unwrap(), std::slice::from_ref(&issue));
        assert_eq!(forge.open_issue("T", "B").unwrap(), issue);
        forge.edit_issue(&issue).unwrap();
        forge.edit_issue(&Issue { is_open: false, ..issue }).unwrap();
        let asked = canned.asked();
        assert!(asked[1].contains(r#""description":"B""#) && asked[1].starts_with("POST "), "{asked:?}");
        assert!(
            asked[2].starts_with("PUT ") && asked[2].contains("/issues/7 ") && !asked[2].contains("clos"),
            "{asked:?}"
        );
        assert!(asked[3].contains(r#""state_event":"close""#), "{asked:?}");
    }

    #[test]
    fn a_file_is_read_and_committed_on_a_new_branch() {
        let file = json!({
            "file_name": "s3.yaml", "file_path": ".blue/bindings/s3.yaml", "encoding": "base64", "content": "cm9sZQo=",
            "ref": "c0ffee", "blob_id": "79f7bbd", "commit_id": "d5a3ff1", "last_commit_id": "570e7b2",
        });
        let branch = json!({ "name": "main", "default": true, "commit": { "id": "c0ffee", "message": "M\n" } });
        let done = json!({ "file_path": ".blue/bindings/s3.yaml", "branch": "git-blue/s3/paths" });
        let canned = Canned::start([
            (200, json!({ "id": OWN, "default_branch": "main" })),
            (200, branch),
            (404, json!({ "message": "404 Branch Not Found" })),
            (200, file),
            (404, json!({ "message": "404 File Not Found" })),
            (200, done.clone()),
            (200, done),
            (204, Value::Null),
        ]);
        let forge = forge(&canned);
        assert_eq!(forge.default_branch().unwrap(), "main");
        let tip = forge.tip("main").unwrap().unwrap();
        assert_eq!((&*tip.id, &*tip.message), ("c0ffee", "M\n"));
        assert_eq!(forge.tip("git-blue/s3/paths").unwrap(), None);
        let file = forge.file("c0ffee", ".blue/bindings/s3.yaml").unwrap().unwrap();
        assert_eq!((&*file.id, &*file.text), ("570e7b2", "role\n"));
        assert_eq!(forge.file("c0ffee", ".blue/bindings/s4.yaml").unwrap(), None);
        let path = ".blue/bindings/s3.yaml";
        let branch = "git-blue/s3/paths";
        let commit =
            NewCommit { branch, start: Some("main"), parent: &tip, path, file: &file, text: "new", message: "M" };
        forge.commit(&commit).unwrap();
        forge.commit(&NewCommit { start: None, ..commit }).unwrap();
        forge.delete_branch(branch).unwrap();
        let asked = canned.asked();
        let paths = [
            "GET /projects/a%2Fb%2Fc HTTP",
            "GET /projects/a%2Fb%2Fc/repository/branches/main HTTP",
            "GET /projects/a%2Fb%2Fc/repository/branches/git-blue%2Fs3%2Fpaths HTTP",
            "GET /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml?ref=c0ffee HTTP",
            "GET /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs4.yaml?ref=c0ffee HTTP",
            "PUT /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml HTTP",
            "PUT /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml HTTP",
            "DELETE /projects/a%2Fb%2Fc/repository/branches/git-blue%2Fs3%2Fpaths HTTP",
        ];
        for (asked, path) in asked.iter().zip(paths) {
            assert!(asked.starts_with(path), "{asked}");
        }
        for field in [
            r#""branch":"git-blue/s3/paths""#,
            r#""start_branch":"main""#,
            r#""last_commit_id":"570e7b2""#,
            r#""content":"new""#,
        ] {
            assert!(asked[5].contains(field), "{field}: {asked:?}");
        }
        assert!(!asked[6].contains("start_branch"), "{asked:?}");
    }

    #[test]
    fn open_merge_requests_of_the_project_itself_are_listed_and_edited() {
        let list = json!([request(7, "opened", 4), request(6, "opened", OWN)]);
        let canned = Canned::start([(200, list), (200, request(6, "opened", OWN)), (200, request(6, "closed", OWN))]);
        let forge = forge(&canned);
        let pulls = forge.open_pulls().unwrap();
        assert_eq!(pulls.iter().map(|pull| pull.number).collect::<Vec<_>>(), [6]);
        let pull = Pull { draft: true, title: "Draft: T".into(), ..pulls[0].clone() };
        forge.edit_pull(&pull).unwrap();
        forge.edit_pull(&Pull { state: State::Closed, draft: false, title: "T".into(), ..pull }).unwrap();
        let asked = canned.asked();
        assert!(asked[0].contains("state=opened"), "{asked:?}");
        assert!(asked[1].contains(r#""title":"Draft: T""#) && !asked[1].contains("state_event"), "{asked:?}");
        assert!(asked[2].contains(r#""title":"T""#) && asked[2].contains(r#""state_event":"close""#), "{asked:?}");
    }
}
