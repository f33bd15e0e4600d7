//! The REST API (version 1) of Forgejo and Gitea.

use std::{collections::BTreeMap, sync::Arc};

use serde::Deserialize;
use serde_json::{Value, json};

use super::{
    Address, Checks, Client, Comment, Condition, File, Forge, ForgeError, Issue, NewCommit, NewPull, Outcome, Pull,
    State, Tip, bounded, contents, issues::Words, relevant, titled,
};

/// The prefix of the title of a draft.
const DRAFT: &str = "WIP: ";

/// The names that its API uses for issues.
const ISSUES: Words = Words {
    query: "state=all&type=issues&limit=50",
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
    commit: "/commit/id",
    message: "/commit/message",
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
            branch: answer.head.name,
        }
    }
}

impl Forgejo {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, repo: format!("/repos/{}", address.path), full_name: address.path.clone() }
    }

    /// Returns the pull requests whose branches are in the repository itself.
    fn own_pulls(&self, query: &str) -> Result<Vec<Pull>, ForgeError> {
        let path = format!("{}/pulls?{query}&limit=50", self.repo);
        let all = self.client.parse::<Vec<PullAnswer>>(self.client.list(&path, Value::as_array)?.into())?;
        let is_own = |one: &PullAnswer| {
            one.head.repo.as_ref().is_some_and(|repo| repo.full_name.eq_ignore_ascii_case(&self.full_name))
        };
        Ok(all.into_iter().filter(is_own).map(Into::into).collect())
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
        // The API cannot filter by branch. The latest ones come first.
        let pulls = self.own_pulls("state=all&sort=recentupdate")?;
        Ok(relevant(pulls.into_iter().filter(|pull| pull.branch == branch).collect()))
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
        let title = titled(DRAFT, new.title, new.draft);
        let body = json!({ "title": title, "head": new.branch, "base": new.base, "body": new.body });
        let answer = self.client.send("POST", &format!("{}/pulls", self.repo), &body)?;
        self.client.parse::<PullAnswer>(answer).map(Into::into)
    }

    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError> {
        self.client.send("PATCH", &format!("{}/pulls/{number}", self.repo), &json!({ "body": body })).map(drop)
    }

    fn open_pulls(&self) -> Result<Vec<Pull>, ForgeError> {
        self.own_pulls("state=open")
    }

    fn edit_pull(&self, pull: &Pull) -> Result<(), ForgeError> {
        let state = if pull.state == State::Open { "open" } else { "closed" };
        let title = titled(DRAFT, &pull.title, pull.draft);
        let body = json!({ "title": title, "body": pull.body, "state": state });
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

    fn commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        let NewCommit { branch, start, path, file, text, message, .. } = *commit;
        let content = contents::encoded(text);
        let mut body = json!({ "branch": branch, "content": content, "message": message, "sha": file.id });
        if let Some(start) = start {
            body["branch"] = json!(start);
            body["new_branch"] = json!(branch);
        }
        self.client.send("PUT", &CONTENTS.file_path(&self.repo, path), &body).map(drop)
    }

    fn delete_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.client.delete(&CONTENTS.branch(&self.repo, branch))
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

    /// Returns an example response from the server's own API description.
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
    fn the_open_pull_request_of_the_repositorys_own_branch_is_found() {
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
    fn the_condition_combines_reviews_and_statuses() {
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
    fn a_draft_is_marked_by_its_title() {
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

    #[test]
    fn a_file_is_read_and_committed_on_a_new_branch() {
        let file = json!({
            "name": "s3.yaml", "path": ".blue/bindings/s3.yaml", "sha": "79f7bbd", "last_commit_sha": "570e7b2",
            "type": "file", "size": 5, "encoding": "base64", "content": "cm9sZQo=",
        });
        let branch = json!({ "name": "main", "protected": false, "commit": { "id": "c0ffee", "message": "M\n" } });
        let done = json!({ "content": file, "commit": { "sha": "d5a3ff1", "message": "M" } });
        let canned = Canned::start([
            (200, json!({ "id": 1, "default_branch": "main" })),
            (200, branch),
            (404, json!({ "message": "The target couldn't be found." })),
            (200, file),
            (200, done.clone()),
            (200, done),
            (204, Value::Null),
        ]);
        let forge = forge(&canned);
        assert_eq!(forge.default_branch().unwrap(), "main");
        let tip = forge.tip("main").unwrap().unwrap();
        assert_eq!((&*tip.id, &*tip.message), ("c0ffee", "M\n"));
        assert_eq!(forge.tip("git-blue/s3/paths").unwrap(), None);
        let path = ".blue/bindings/s3.yaml";
        let file = forge.file("c0ffee", path).unwrap().unwrap();
        assert_eq!((&*file.id, &*file.text), ("79f7bbd", "role\n"));
        let branch = "git-blue/s3/paths";
        let commit =
            NewCommit { branch, start: Some("main"), parent: &tip, path, file: &file, text: "role\n", message: "M" };
        forge.commit(&commit).unwrap();
        forge.commit(&NewCommit { start: None, ..commit }).unwrap();
        forge.delete_branch(branch).unwrap();
        let asked = canned.asked();
        let paths = [
            "GET /repos/acme/blue HTTP",
            "GET /repos/acme/blue/branches/main HTTP",
            "GET /repos/acme/blue/branches/git-blue%2Fs3%2Fpaths HTTP",
            "GET /repos/acme/blue/contents/.blue/bindings/s3.yaml?ref=c0ffee HTTP",
            "PUT /repos/acme/blue/contents/.blue/bindings/s3.yaml HTTP",
            "PUT /repos/acme/blue/contents/.blue/bindings/s3.yaml HTTP",
            "DELETE /repos/acme/blue/branches/git-blue%2Fs3%2Fpaths HTTP",
        ];
        for (asked, path) in asked.iter().zip(paths) {
            assert!(asked.starts_with(path), "{asked}");
        }
        for field in [
            r#""branch":"main""#,
            r#""new_branch":"git-blue/s3/paths""#,
            r#""sha":"79f7bbd""#,
            r#""content":"cm9sZQo=""#,
        ] {
            assert!(asked[4].contains(field), "{field}: {asked:?}");
        }
        assert!(asked[5].contains(r#""branch":"git-blue/s3/paths""#) && !asked[5].contains("new_branch"), "{asked:?}");
    }

    #[test]
    fn open_pull_requests_of_the_repository_itself_are_listed_and_edited() {
        let list = json!([pull(4, "open", "x", "eve/blue"), pull(2, "open", "x", "Acme/blue")]);
        let one = || pull(2, "open", "x", "acme/blue");
        let canned = Canned::start([(200, list), (201, one()), (201, one())]);
        let forge = forge(&canned);
        let pulls = forge.open_pulls().unwrap();
        assert_eq!(pulls.iter().map(|pull| (pull.number, &*pull.branch)).collect::<Vec<_>>(), [(2, "x")]);
        let pull = Pull { draft: true, title: "T".into(), ..pulls[0].clone() };
        forge.edit_pull(&pull).unwrap();
        forge.edit_pull(&Pull { state: State::Closed, draft: false, title: "WIP: T".into(), ..pull }).unwrap();
        let asked = canned.asked();
        assert!(asked[0].contains("state=open"), "{asked:?}");
        assert!(asked[1].contains(r#""title":"WIP: T""#) && asked[1].contains(r#""state":"open""#), "{asked:?}");
        assert!(asked[2].contains(r#""title":"T""#) && asked[2].contains(r#""state":"closed""#), "{asked:?}");
    }
}
