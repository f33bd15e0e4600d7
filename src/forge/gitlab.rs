//! The REST API (version 4) of GitLab, where pull requests are merge requests.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Address, Checks, Client, ForgeError, NewCommit, NewPull, Outcome, Pull, PullRequests, PullStatus, State,
    api::{Adapter, Endpoints, allowed},
    bounded, query, relevant, titled,
};

/// The prefix of the title of a draft.
const DRAFT: &str = "Draft: ";

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
    /// Null if it was merged without a merge commit.
    #[serde(default)]
    merge_commit_sha: Option<String>,
    #[serde(default)]
    squash_commit_sha: Option<String>,
    source_project_id: Option<u64>,
    target_project_id: u64,
    source_branch: String,
    #[serde(default)]
    has_conflicts: bool,
    #[serde(default)]
    merge_status: String,
    /// Only present in the response for a single merge request.
    head_pipeline: Option<Value>,
}

impl From<MergeRequest> for Pull {
    fn from(answer: MergeRequest) -> Self {
        let state = match &*answer.state {
            "merged" => State::Merged,
            "closed" => State::Closed,
            _ => State::Open,
        };
        let merged_as = answer.merge_commit_sha.or(answer.squash_commit_sha).or_else(|| answer.sha.clone());
        Self {
            number: answer.iid,
            state,
            merged_as: merged_as.filter(|_| state == State::Merged),
            draft: answer.draft,
            url: bounded(&answer.web_url, 500),
            title: titled(DRAFT, &bounded(&answer.title, 300), false),
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

    /// Counts the statuses of a commit, from jobs and external systems. A status that is allowed to fail counts as
    /// passed.
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

impl PullRequests for GitLab {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let path = format!(
            "{}/merge_requests?scope=all&state=all&order_by=updated_at&sort=desc&per_page=50&source_branch={}",
            self.project,
            query(branch)
        );
        let answer = self.client.parse::<Vec<MergeRequest>>(self.client.get(&path)?)?;
        Ok(relevant(answer.into_iter().filter(MergeRequest::is_own).map(Into::into).collect()))
    }

    fn status(&self, pull: &Pull) -> Result<PullStatus, ForgeError> {
        let one = format!("{}/merge_requests/{}", self.project, pull.number);
        let answer: MergeRequest = self.client.parse(self.client.get(&one)?)?;
        let mergeable = match (answer.has_conflicts, &*answer.merge_status) {
            (true, _) | (_, "cannot_be_merged") => Some(false),
            (_, "can_be_merged") => Some(true),
            _ => None,
        };
        let approvals = allowed(self.client.get(&format!("{one}/approvals")))?.unwrap_or_default();
        let reviewers = allowed(self.client.list(&format!("{one}/reviewers"), Value::as_array))?.unwrap_or_default();
        let checks = match answer.head_pipeline {
            Some(Value::Null) | None => Some(Checks::default()),
            Some(_) => allowed(self.checks(&pull.head))?,
        };
        Ok(PullStatus {
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
}

impl Adapter for GitLab {
    const ENDPOINTS: Endpoints = Endpoints {
        branches: "repository/branches",
        commit: "/commit/id",
        message: "/commit/message",
        files: "repository/files",
        is_one_segment: true,
        file_id: "last_commit_id",
        // GitLab calls them notes.
        comments: |number| format!("merge_requests/{number}/notes"),
        comments_query: "?sort=asc&per_page=100",
        comment: |number, id| format!("merge_requests/{number}/notes/{id}"),
        issues_query: "scope=all&order_by=updated_at&sort=desc&per_page=100",
        has_issues: "issues_enabled",
        author: ("author", "username"),
        number: "iid",
        text: "description",
        url: "web_url",
        close: ("state_event", "close"),
        edit: "PUT",
    };

    fn client(&self) -> &Client {
        &self.client
    }

    fn repo(&self) -> &str {
        &self.project
    }

    fn add_commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        let NewCommit { branch, start, path, file, text, message, .. } = *commit;
        let mut body = json!({
            "branch": branch, "content": text, "commit_message": message, "last_commit_id": file.id,
        });
        if let Some(start) = start {
            body["start_branch"] = json!(start);
        }
        self.client.send("PUT", &self.file_path(path), &body).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{
        Forge, Kind,
        test_server::{self, TestServer},
    };

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

    fn forge(server: &TestServer) -> Box<dyn Forge> {
        let address = Address::of("https://gitlab.example.com/a/b/c.git").unwrap();
        Kind::GitLab.forge(server.client(), &address)
    }

    #[test]
    fn the_open_merge_request_of_the_projects_own_branch_is_found() {
        let listed = example("merge_request_in_a_list");
        let list = json!([request(7, "opened", 4), request(6, "closed", OWN), listed]);
        let server = TestServer::start([(200, list), (200, json!([]))]);
        let found = forge(&server).of_branch("feat/x").unwrap().unwrap();
        assert_eq!((found.number, found.state, &*found.title), (133, State::Open, "Manual job rules"));
        assert_eq!(forge(&server).of_branch("feat/x").unwrap(), None);
        let asked = &server.asked()[0];
        assert!(
            asked.starts_with("GET /projects/a%2Fb%2Fc/merge_requests?") && asked.contains("source_branch=feat/x"),
            "{asked}"
        );
    }

    #[test]
    fn the_condition_combines_reviewers_and_jobs() {
        let server = TestServer::start([
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
            (forge(&server), serde_json::from_value::<MergeRequest>(request(5, "opened", OWN)).unwrap().into());
        let expected = PullStatus {
            mergeable: Some(true),
            approved: 1,
            changes_requested: 1,
            checks: Some(Checks { passed: 2, failed: 1, pending: 1 }),
        };
        assert_eq!(forge.status(&pull).unwrap(), expected);
        let hidden = PullStatus { mergeable: Some(true), ..PullStatus::default() };
        assert_eq!(forge.status(&pull).unwrap(), hidden, "what is not shown is not known");
    }

    #[test]
    fn a_draft_is_marked_by_its_title() {
        let mut made = request(9, "opened", OWN);
        (made["title"], made["draft"]) = (json!("Draft: T"), json!(true));
        let server = TestServer::start([(201, made), (200, request(9, "opened", OWN))]);
        let new = NewPull { branch: "feat/x", base: "main", title: "T", body: "B", draft: true };
        let opened = forge(&server).open(&new).unwrap();
        assert_eq!((opened.number, opened.draft, &*opened.title), (9, true, "T"));
        forge(&server).describe(9, "C").unwrap();
        let asked = server.asked();
        assert!(asked[0].contains("POST") && asked[0].contains("\"title\":\"Draft: T\""), "{asked:?}");
        assert!(
            asked[1].starts_with("PUT /projects/a%2Fb%2Fc/merge_requests/9 ")
                && asked[1].contains("\"description\":\"C\"")
        );
    }

    #[test]
    fn comments_are_listed_written_and_edited() {
        let requests = [
            "GET /projects/a%2Fb%2Fc/merge_requests/9/notes?",
            "POST /projects/a%2Fb%2Fc/merge_requests/9/notes ",
            "PUT /projects/a%2Fb%2Fc/merge_requests/9/notes/302 ",
        ];
        let note = json!({ "id": 302, "body": "B", "system": false });
        test_server::comments_are_listed_written_and_edited(forge, &note, requests);
    }

    #[test]
    fn issues_are_listed_opened_edited_and_closed() {
        let answer =
            json!({ "iid": 7, "state": "opened", "web_url": "https://forge.test/7", "title": "T", "description": "B" });
        let pull = json!({ "iid": 8, "state": "opened", "title": "P", "pull_request": {} });
        let sent = ["PUT ", r#""description":"B""#, r#""state_event":"close""#];
        test_server::issues_are_listed_opened_edited_and_closed(forge, [answer, pull], sent);
    }

    #[test]
    fn a_file_is_read_and_committed_on_a_new_branch() {
        let file = json!({
            "file_name": "s3.yaml", "file_path": ".blue/bindings/s3.yaml", "encoding": "base64", "content": "cm9sZQo=",
            "ref": "c0ffee", "blob_id": "79f7bbd", "commit_id": "d5a3ff1", "last_commit_id": "570e7b2",
        });
        let done = json!({ "file_path": ".blue/bindings/s3.yaml", "branch": "git-blue/s3/paths" });
        let requests = [
            "GET /projects/a%2Fb%2Fc HTTP",
            "GET /projects/a%2Fb%2Fc/repository/branches/main HTTP",
            "GET /projects/a%2Fb%2Fc/repository/branches/git-blue%2Fs3%2Fpaths HTTP",
            "GET /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml?ref=c0ffee HTTP",
            "GET /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs4.yaml?ref=c0ffee HTTP",
            "PUT /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml HTTP",
            "PUT /projects/a%2Fb%2Fc/repository/files/.blue%2Fbindings%2Fs3.yaml HTTP",
            "DELETE /projects/a%2Fb%2Fc/repository/branches/git-blue%2Fs3%2Fpaths HTTP",
        ];
        let asked = test_server::a_file_is_read_and_committed(forge, [file, done], "570e7b2", requests);
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
        let server =
            TestServer::start([(200, list), (200, request(6, "opened", OWN)), (200, request(6, "closed", OWN))]);
        let forge = forge(&server);
        let pulls = forge.open_pulls().unwrap();
        assert_eq!(pulls.iter().map(|pull| pull.number).collect::<Vec<_>>(), [6]);
        let pull = Pull { draft: true, title: "Draft: T".into(), ..pulls[0].clone() };
        forge.edit_pull(&pull).unwrap();
        forge.edit_pull(&Pull { state: State::Closed, draft: false, title: "T".into(), ..pull }).unwrap();
        let asked = server.asked();
        assert!(asked[0].contains("state=opened"), "{asked:?}");
        assert!(asked[1].contains(r#""title":"Draft: T""#) && !asked[1].contains("state_event"), "{asked:?}");
        assert!(asked[2].contains(r#""title":"T""#) && asked[2].contains(r#""state_event":"close""#), "{asked:?}");
    }
}
