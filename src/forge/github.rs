//! The REST API (version 2022-11-28) of GitHub and GitHub Enterprise.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Address, Checks, Client, Comment, Condition, File, Forge, ForgeError, Issue, NewCommit, NewPull, Outcome, Pull,
    State, Tip, bounded, contents, issues::Words, query, relevant,
};

/// The names that its API uses for issues.
const ISSUES: Words = Words {
    query: "state=all&sort=updated&direction=desc&per_page=100",
    number: "number",
    text: "body",
    url: "html_url",
    method: "PATCH",
    close: ("state", "closed"),
};

/// The names that its API uses for branches and files.
const CONTENTS: contents::Words = contents::Words {
    files: "contents",
    is_one_segment: false,
    file_id: "sha",
    branches: "branches",
    commit: "/commit/sha",
    message: "/commit/commit/message",
};

/// Pull requests of a repository on GitHub.
pub(super) struct GitHub {
    client: Arc<Client>,
    /// `/repos/<owner>/<name>`
    repo: String,
    owner: String,
}

#[derive(Deserialize)]
struct PullAnswer {
    number: u64,
    state: String,
    #[serde(default)]
    draft: bool,
    html_url: String,
    title: String,
    body: Option<String>,
    merged_at: Option<String>,
    head: Side,
    base: Side,
    /// Only present in the response for a single pull request, not in lists.
    #[serde(default)]
    mergeable: Option<bool>,
}

#[derive(Deserialize)]
struct Side {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    /// The source repository; `None` if a fork was deleted.
    repo: Option<Source>,
}

#[derive(PartialEq, Deserialize)]
struct Source {
    full_name: String,
}

impl From<PullAnswer> for Pull {
    fn from(answer: PullAnswer) -> Self {
        let state = match (&*answer.state, answer.merged_at) {
            (_, Some(_)) => State::Merged,
            ("open", None) => State::Open,
            _ => State::Closed,
        };
        Self {
            number: answer.number,
            state,
            draft: answer.draft,
            url: bounded(&answer.html_url, 500),
            title: bounded(&answer.title, 300),
            body: answer.body.unwrap_or_default(),
            head: answer.head.sha,
            branch: answer.head.name,
        }
    }
}

impl GitHub {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, repo: format!("/repos/{}", address.path), owner: address.owner().to_owned() }
    }

    /// Counts approvals and requests for changes by the last review of each reviewer. A comment does not replace a
    /// review.
    fn reviews(&self, number: u64) -> Result<(usize, usize), ForgeError> {
        let path = format!("{}/pulls/{number}/reviews?per_page=100", self.repo);
        let mut last: BTreeMap<String, String> = BTreeMap::new();
        for review in self.client.list(&path, Value::as_array)? {
            let state = review["state"].as_str().unwrap_or_default();
            if let ("APPROVED" | "CHANGES_REQUESTED" | "DISMISSED", Some(user)) =
                (state, review["user"]["login"].as_str())
            {
                last.insert(user.to_owned(), state.to_owned());
            }
        }
        let count = |wanted: &str| last.values().filter(|state| *state == wanted).count();
        Ok((count("APPROVED"), count("CHANGES_REQUESTED")))
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

impl Forge for GitHub {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        let head = format!("{}:{branch}", self.owner);
        let path =
            format!("{}/pulls?state=all&sort=updated&direction=desc&per_page=30&head={}", self.repo, query(&head));
        let answer = self.client.parse::<Vec<PullAnswer>>(self.client.get(&path)?)?;
        Ok(relevant(answer.into_iter().map(Into::into).collect()))
    }

    fn condition(&self, pull: &Pull) -> Result<Condition, ForgeError> {
        let answer: PullAnswer =
            self.client.parse(self.client.get(&format!("{}/pulls/{}", self.repo, pull.number))?)?;
        let (approved, changes_requested) = self.reviews(pull.number)?;
        let checks = match self.checks(&pull.head) {
            Ok(checks) => Some(checks),
            // A token that may read pull requests may still lack permission for checks.
            Err(ForgeError::Denied { .. } | ForgeError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        Ok(Condition { mergeable: answer.mergeable, approved, changes_requested, checks })
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

    fn default_branch(&self) -> Result<String, ForgeError> {
        CONTENTS.default_branch(&self.client, &self.repo)
    }

    fn tip(&self, branch: &str) -> Result<Option<Tip>, ForgeError> {
        CONTENTS.tip(&self.client, &self.repo, branch)
    }

    fn file(&self, commit: &str, path: &str) -> Result<Option<File>, ForgeError> {
        CONTENTS.file(&self.client, &self.repo, commit, path)
    }

    /// Creates the commit first and updates the branch last, so that a failure leaves nothing behind and a branch that
    /// is no longer at the parent does not move.
    fn commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
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

    fn delete_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.client.delete(&format!("{}/git/refs/heads/{}", self.repo, query(branch)))
    }

    fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let path = format!("{}/issues/{number}/comments?per_page=100", self.repo);
        self.client.list(&path, Value::as_array)?.into_iter().map(|one| self.client.parse(one)).collect()
    }

    fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let path = format!("{}/issues/{number}/comments", self.repo);
        self.client.parse(self.client.send("POST", &path, &json!({ "body": body }))?)
    }

    fn edit_comment(&self, _number: u64, id: u64, body: &str) -> Result<(), ForgeError> {
        let path = format!("{}/issues/comments/{id}", self.repo);
        self.client.send("PATCH", &path, &json!({ "body": body })).map(drop)
    }

    fn issues(&self) -> Result<Vec<Issue>, ForgeError> {
        ISSUES.list(&self.client, &self.repo)
    }

    fn open_issue(&self, title: &str, body: &str) -> Result<Issue, ForgeError> {
        ISSUES.open(&self.client, &self.repo, title, body)
    }

    fn edit_issue(&self, issue: &Issue) -> Result<(), ForgeError> {
        ISSUES.edit(&self.client, &self.repo, issue)
    }
}
