//! The REST API (version 1) of Forgejo and Gitea.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Address, Checks, Client, Comment, Condition, Forge, ForgeError, Issue, NewPull, Outcome, Pull, State, bounded,
    issues::Words, relevant,
};

/// The prefix of the title of a draft.
const DRAFT: &str = "WIP: ";

/// How its API names the parts of issues.
const ISSUES: Words = Words {
    query: "state=all&type=issues&limit=50",
    number: "number",
    text: "body",
    url: "html_url",
    method: "PATCH",
    close: ("state", "closed"),
};

/// Pull requests of a repository on Forgejo.
pub(super) struct Forgejo {
    client: Arc<Client>,
    /// `/repos/<owner>/<name>`
    repo: String,
    /// `<owner>/<name>`
    full_name: String,
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
    #[serde(default)]
    merged: bool,
    mergeable: Option<bool>,
    head: Head,
}

#[derive(Deserialize)]
struct Head {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    /// The source repository; `None` if a fork was deleted.
    repo: Option<Source>,
}

#[derive(Deserialize)]
struct Source {
    full_name: String,
}

impl From<PullAnswer> for Pull {
    fn from(answer: PullAnswer) -> Self {
        let state = match (&*answer.state, answer.merged) {
            (_, true) => State::Merged,
            ("open", false) => State::Open,
            _ => State::Closed,
        };
        Self {
            number: answer.number,
            state,
            // Older servers do not have the field.
            draft: answer.draft || answer.title.starts_with(DRAFT),
            url: bounded(&answer.html_url, 500),
            title: bounded(&answer.title, 300),
            body: answer.body.unwrap_or_default(),
            head: answer.head.sha,
        }
    }
}

impl Forgejo {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, repo: format!("/repos/{}", address.path), full_name: address.path.clone() }
    }

    /// Counts approvals and requests for changes by the last review of each reviewer. A comment does not replace a
    /// review, but a dismissal does.
    fn reviews(&self, number: u64) -> Result<(usize, usize), ForgeError> {
        let path = format!("{}/pulls/{number}/reviews?limit=50", self.repo);
        let mut last: BTreeMap<String, String> = BTreeMap::new();
        for review in self.client.list(&path, Value::as_array)? {
            let state = review["state"].as_str().unwrap_or_default();
            if let ("APPROVED" | "REQUEST_CHANGES", Some(user)) = (state, review["user"]["login"].as_str()) {
                let is_dismissed = review["dismissed"].as_bool().unwrap_or_default();
                last.insert(user.to_owned(), if is_dismissed { String::new() } else { state.to_owned() });
            }
        }
        let count = |wanted: &str| last.values().filter(|state| *state == wanted).count();
        Ok((count("APPROVED"), count("REQUEST_CHANGES")))
    }

    fn checks(&self, commit: &str) -> Result<Checks, ForgeError> {
        let mut checks = Checks::default();
        let answer = self.client.get(&format!("{}/commits/{commit}/status?limit=50", self.repo))?;
        // The list is null if there are none.
        for status in answer["statuses"].as_array().into_iter().flatten() {
            checks.add(match status["status"].as_str().unwrap_or_default() {
                "success" | "warning" | "skipped" => Outcome::Passed,
                "pending" => Outcome::Pending,
                _ => Outcome::Failed,
            });
        }
        Ok(checks)
    }
}

impl Forge for Forgejo {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        // The list cannot be filtered by branch. The latest ones come first.
        let path = format!("{}/pulls?state=all&sort=recentupdate&limit=50", self.repo);
        let mut pulls: Vec<Pull> = Vec::new();
        for answer in self.client.list(&path, Value::as_array)? {
            let answer: PullAnswer = self.client.parse(answer)?;
            let is_own =
                answer.head.repo.as_ref().is_some_and(|repo| repo.full_name.eq_ignore_ascii_case(&self.full_name));
            if is_own && answer.head.name == branch {
                pulls.push(answer.into());
            }
        }
        Ok(relevant(pulls))
    }

    fn condition(&self, pull: &Pull) -> Result<Condition, ForgeError> {
        let answer: PullAnswer =
            self.client.parse(self.client.get(&format!("{}/pulls/{}", self.repo, pull.number))?)?;
        let (approved, changes_requested) = self.reviews(pull.number)?;
        let checks = match self.checks(&pull.head) {
            Ok(checks) => Some(checks),
            Err(ForgeError::Denied { .. } | ForgeError::NotFound { .. }) => None,
            Err(error) => return Err(error),
        };
        // A draft is always reported as not mergeable.
        let mergeable = answer.mergeable.filter(|mergeable| *mergeable || !pull.draft);
        Ok(Condition { mergeable, approved, changes_requested, checks })
    }

    fn open(&self, new: &NewPull<'_>) -> Result<Pull, ForgeError> {
        let title = if new.draft { format!("{DRAFT}{}", new.title) } else { new.title.to_owned() };
        let body = json!({ "title": title, "head": new.branch, "base": new.base, "body": new.body });
        let answer = self.client.send("POST", &format!("{}/pulls", self.repo), &body)?;
        self.client.parse::<PullAnswer>(answer).map(Into::into)
    }

    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError> {
        self.client.send("PATCH", &format!("{}/pulls/{number}", self.repo), &json!({ "body": body })).map(drop)
    }

    fn comments(&self, number: u64) -> Result<Vec<Comment>, ForgeError> {
        let path = format!("{}/issues/{number}/comments", self.repo);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forge::{Kind, canned::Canned};

    /// Reads an answer of the form in the server's own API description.
    fn example(name: &str) -> Value {
        let all: Value = serde_json::from_str(include_str!("../../tests/fixtures/forge/forgejo.json")).unwrap();
        all[name].clone()
    }

    fn pull(number: u64, state: &str, branch: &str, repo: &str) -> Value {
        let mut one = example("pull_request");
        for (pointer, value) in [
            ("/number", json!(number)),
            ("/state", json!(state)),
            ("/html_url", json!(format!("https://codeberg.org/acme/blue/pulls/{number}"))),
            ("/head/ref", json!(branch)),
            ("/head/repo/full_name", json!(repo)),
        ] {
            *one.pointer_mut(pointer).unwrap() = value;
        }
        one
    }

    fn forge(canned: &Canned) -> Box<dyn Forge> {
        Kind::Forgejo.forge(canned.client(), &Address::of("https://codeberg.org/acme/blue").unwrap())
    }

    #[test]
    fn the_open_one_of_the_repositorys_own_branch_is_found() {
        let list = json!([
            pull(4, "open", "x", "eve/blue"),
            pull(3, "closed", "x", "acme/blue"),
            pull(2, "open", "x", "Acme/blue"),
            pull(1, "open", "y", "acme/blue"),
        ]);
        let canned = Canned::start([(200, list)]);
        assert_eq!(forge(&canned).of_branch("x").unwrap().unwrap().number, 2);
    }

    #[test]
    fn its_condition_is_that_of_reviews_and_statuses() {
        let canned = Canned::start([
            (200, pull(2, "open", "x", "acme/blue")),
            (200, example("reviews")),
            (200, example("combined_status")),
        ]);
        let open = serde_json::from_value::<PullAnswer>(pull(2, "open", "x", "acme/blue")).unwrap().into();
        let expected = Condition {
            mergeable: Some(true),
            approved: 1,
            changes_requested: 1,
            checks: Some(Checks { passed: 1, failed: 1, pending: 1 }),
        };
        assert_eq!(forge(&canned).condition(&open).unwrap(), expected);
    }

    #[test]
    fn a_draft_is_told_by_its_title() {
        let canned =
            Canned::start([(201, pull(5, "open", "x", "acme/blue")), (201, pull(5, "open", "x", "acme/blue"))]);
        let new = NewPull { branch: "x", base: "main", title: "T", body: "B", draft: true };
        assert_eq!(forge(&canned).open(&new).unwrap().url, "https://codeberg.org/acme/blue/pulls/5");
        forge(&canned).describe(5, "C").unwrap();
        let asked = canned.asked();
        assert!(asked[0].starts_with("POST /repos/acme/blue/pulls ") && asked[0].contains("\"WIP: T\""), "{asked:?}");
        assert!(asked[1].starts_with("PATCH /repos/acme/blue/pulls/5 "), "{asked:?}");
    }
    #[test]
    fn comments_are_listed_written_and_edited() {
        let note =
            json!({ "id": 302, "body": "B", "html_url": "https://codeberg.org/acme/blue/pulls/9#issuecomment-302" });
        let canned = Canned::start([(200, json!([note])), (201, note.clone()), (200, note.clone())]);
        let forge = forge(&canned);
        let expected = Comment {
            id: 302,
            url: Some("https://codeberg.org/acme/blue/pulls/9#issuecomment-302".to_owned()),
            body: "B".into(),
        };
        assert_eq!(forge.comments(9).unwrap().as_slice(), std::slice::from_ref(&expected));
        assert_eq!(forge.comment(9, "B").unwrap(), expected);
        forge.edit_comment(9, 302, "C").unwrap();
        let asked = canned.asked();
        let paths = [
            "GET /repos/acme/blue/issues/9/comments ",
            "POST /repos/acme/blue/issues/9/comments ",
            "PATCH /repos/acme/blue/issues/comments/302 ",
        ];
        for (asked, path) in asked.iter().zip(paths) {
            assert!(asked.starts_with(path), "{asked}");
        }
        assert!(asked[2].contains("\"body\":\"C\""), "{asked:?}");
    }

    #[test]
    fn issues_are_listed_opened_edited_and_closed() {
        let answer =
            json!({ "number": 7, "state": "open", "html_url": "https://forge.test/7", "title": "T", "body": "B" });
        let pull = json!({ "number": 8, "state": "open", "title": "P", "pull_request": {} });
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
        assert!(asked[1].contains(r#""body":"B""#) && asked[1].starts_with("POST "), "{asked:?}");
        assert!(
            asked[2].starts_with("PATCH ") && asked[2].contains("/issues/7 ") && !asked[2].contains("clos"),
            "{asked:?}"
        );
        assert!(asked[3].contains(r#""state":"closed""#), "{asked:?}");
    }
}
