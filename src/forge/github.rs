//! The REST API (version 2022-11-28) of GitHub and GitHub Enterprise.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Address, Checks, Client, ForgeError, NewCommit, NewPull, Outcome, Pull, PullRequests, PullStatus, State,
    api::{Adapter, Endpoints, allowed},
    pulls::{self, PullAnswer},
    query, relevant,
};

/// Pull requests of a repository on GitHub.
pub(super) struct GitHub {
    client: Arc<Client>,
    /// `/repos/<owner>/<name>`
    repo: String,
    owner: String,
}

impl GitHub {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, repo: format!("/repos/{}", address.path), owner: address.owner().to_owned() }
    }

    /// Counts checks of both kinds: those of apps, and the older statuses.
    fn checks(&self, commit: &str) -> Result<Checks, ForgeError> {
        let mut checks = Checks::default();
        let path = format!("{}/commits/{commit}/check-runs?per_page=100", self.repo);
        for run in self.client.list(&path, |page| page["check_runs"].as_array())? {
            checks.add(match (run["status"].as_str(), run["conclusion"].as_str()) {
                (Some("completed"), Some("success" | "neutral" | "skipped")) => Outcome::Passed,
                (Some("completed"), _) => Outcome::Failed,
                _ => Outcome::Pending,
            });
        }
        let path = format!("{}/commits/{commit}/status?per_page=100", self.repo);
        for status in self.client.list(&path, |page| page["statuses"].as_array())? {
            checks.add(match status["state"].as_str() {
                Some("success") => Outcome::Passed,
                Some("pending") => Outcome::Pending,
                _ => Outcome::Failed,
            });
        }
        Ok(checks)
    }
}

impl GitHub {
    fn of_branch_of(&self, owner: &str, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let head = format!("{owner}:{branch}");
        let path =
            format!("{}/pulls?state=all&sort=updated&direction=desc&per_page=30&head={}", self.repo, query(&head));
        let answer = self.client.parse::<Vec<PullAnswer>>(self.client.get(&path)?)?;
        Ok(relevant(answer.into_iter().map(Into::into).collect()))
    }
}

impl PullRequests for GitHub {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        if let Some(pull) = self.of_branch_of(&self.owner, branch)? {
            return Ok(Some(pull));
        }
        // Requests for a repository that moved are redirected, but the list is of branches of the owner that is named.
        let repo = allowed(self.client.get(&self.repo))?.unwrap_or_default();
        match repo["owner"]["login"].as_str() {
            Some(owner) if !owner.eq_ignore_ascii_case(&self.owner) => self.of_branch_of(owner, branch),
            _ => Ok(None),
        }
    }

    fn status(&self, pull: &Pull) -> Result<PullStatus, ForgeError> {
        let answer: PullAnswer =
            self.client.parse(self.client.get(&format!("{}/pulls/{}", self.repo, pull.number))?)?;
        let reviews = format!("{}/pulls/{}/reviews?per_page=100", self.repo, pull.number);
        let (approved, changes_requested) = pulls::reviews(&self.client, &reviews)?;
        let checks = allowed(self.checks(&pull.head))?;
        Ok(PullStatus { mergeable: answer.mergeable, approved, changes_requested, checks })
    }

    fn open(&self, new: &NewPull<'_>) -> Result<Pull, ForgeError> {
        let body = json!({
            "title": new.title, "head": new.branch, "base": new.base, "body": new.body, "draft": new.draft,
        });
        let answer = self.client.send("POST", &format!("{}/pulls", self.repo), &body)?;
        self.client.parse::<PullAnswer>(answer).map(Into::into)
    }

    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError> {
        self.client.send("PATCH", &format!("{}/pulls/{number}", self.repo), &json!({ "body": body })).map(drop)
    }

    fn open_pulls(&self) -> Result<Vec<Pull>, ForgeError> {
        let path = format!("{}/pulls?state=open&per_page=100", self.repo);
        let all = self.client.parse::<Vec<PullAnswer>>(self.client.list(&path, Value::as_array)?.into())?;
        Ok(all.into_iter().filter(|one| one.head.repo == one.base.repo).map(Into::into).collect())
    }

    fn edit_pull(&self, pull: &Pull) -> Result<(), ForgeError> {
        let state = if pull.state == State::Open { "open" } else { "closed" };
        let body = json!({ "title": pull.title, "body": pull.body, "state": state });
        self.client.send("PATCH", &format!("{}/pulls/{}", self.repo, pull.number), &body).map(drop)
    }
}

impl Adapter for GitHub {
    const ENDPOINTS: Endpoints = Endpoints {
        branches: "branches",
        commit: "/commit/sha",
        message: "/commit/commit/message",
        files: "contents",
        is_one_segment: false,
        file_id: "sha",
        comments: |number| format!("issues/{number}/comments"),
        comments_query: "?per_page=100",
        comment: |_, id| format!("issues/comments/{id}"),
        issues_query: "state=all&sort=updated&direction=desc&per_page=100",
        has_issues: "has_issues",
        author: ("user", "login"),
        number: "number",
        text: "body",
        url: "html_url",
        close: ("state", "closed"),
        edit: "PATCH",
    };

    fn client(&self) -> &Client {
        &self.client
    }

    fn repo(&self) -> &str {
        &self.repo
    }

    /// Creates the commit first and updates the branch last, so that a failure leaves nothing behind and a branch that
    /// is no longer at the parent does not move.
    fn add_commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        let NewCommit { branch, start, parent, path, text, message, .. } = *commit;
        let git = format!("{}/git", self.repo);
        let before = self.client.get(&format!("{git}/commits/{}", parent.id))?;
        let file = json!({ "path": path, "mode": "100644", "type": "blob", "content": text });
        let tree = json!({ "base_tree": before["tree"]["sha"], "tree": [file] });
        let tree = self.client.send("POST", &format!("{git}/trees"), &tree)?;
        let made = json!({ "message": message, "tree": tree["sha"], "parents": [parent.id] });
        let made = self.client.send("POST", &format!("{git}/commits"), &made)?;
        let moved = match start {
            Some(_) => {
                let made = json!({ "ref": format!("refs/heads/{branch}"), "sha": made["sha"] });
                self.client.send("POST", &format!("{git}/refs"), &made)
            }
            None => {
                let made = json!({ "sha": made["sha"], "force": false });
                self.client.send("PATCH", &format!("{git}/refs/heads/{}", query(branch)), &made)
            }
        };
        moved.map(drop)
    }

    fn remove_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.client.delete(&format!("{}/git/refs/heads/{}", self.repo, query(branch)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{Kind, test_server::TestServer};

    #[test]
    fn pull_request_of_a_repository_that_moved_is_found() {
        let side = json!({ "ref": "x", "sha": "c0ffee", "repo": { "full_name": "new/blue" } });
        let url = "https://github.com/new/blue/pull/5";
        let pull = json!({ "number": 5, "state": "open", "html_url": url, "title": "T", "head": side, "base": side });
        let moved = json!({ "full_name": "new/blue", "owner": { "login": "new" } });
        let server = TestServer::start([(200, json!([])), (200, moved), (200, json!([pull]))]);
        let forge = Kind::GitHub.forge(server.client(), &Address::of("https://github.com/acme/blue").unwrap());
        assert_eq!(forge.of_branch("x").unwrap().unwrap().number, 5);
        let heads: Vec<_> = server.asked().iter().map(|asked| asked.contains("head=new:x")).collect();
        assert_eq!(heads, [false, false, true], "{:?}", server.asked());
    }
}
