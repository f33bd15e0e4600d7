//! The REST API (version 1) of Forgejo and Gitea.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{
    Address, Checks, Client, ForgeError, Listed, NewCommit, NewPull, Outcome, Pull, PullRequests, PullStatus, State,
    api::{self, Adapter, Endpoints, allowed},
    github::GitHub,
    pulls::{self, PullAnswer},
    relevant, titled,
};

/// The prefix of the title of a draft.
const DRAFT: &str = "WIP: ";

/// Pull requests of a repository on Forgejo.
pub(super) struct Forgejo {
    client: Arc<Client>,
    /// `/repos/<owner>/<name>`
    repo: String,
    /// `<owner>/<name>`
    full_name: String,
}

/// Reads a pull request, with its title without the prefix of drafts. Older servers mark drafts only by that.
fn read(answer: PullAnswer) -> Pull {
    let pull = Pull::from(answer);
    let draft = pull.draft || pull.title.starts_with(DRAFT);
    Pull { draft, title: titled(DRAFT, &pull.title, false), ..pull }
}

/// Returns the statuses of a page. The list is null if there are none.
fn statuses(page: &Value) -> Option<&Vec<Value>> {
    static NONE: Vec<Value> = Vec::new();
    match &page["statuses"] {
        Value::Null => Some(&NONE),
        list => list.as_array(),
    }
}

impl Forgejo {
    pub(super) fn new(client: Arc<Client>, address: &Address) -> Self {
        Self { client, repo: format!("/repos/{}", address.path), full_name: address.path.clone() }
    }

    fn pulls_path(&self, query: &str) -> String {
        format!("{}/pulls?{query}&limit=50", self.repo)
    }

    /// Returns the pull requests whose branches are in the repository itself.
    fn own(&self, listed: Vec<Value>) -> Result<Vec<Pull>, ForgeError> {
        let all = self.client.parse::<Vec<PullAnswer>>(listed.into())?;
        let is_own = |one: &PullAnswer| {
            one.head.repo.as_ref().is_some_and(|repo| repo.full_name.eq_ignore_ascii_case(&self.full_name))
        };
        Ok(all.into_iter().filter(is_own).map(read).collect())
    }

    fn checks(&self, commit: &str) -> Result<Checks, ForgeError> {
        let mut checks = Checks::default();
        let path = format!("{}/commits/{commit}/status?limit=50", self.repo);
        for status in self.client.list(&path, statuses)? {
            checks.add(match status["status"].as_str().unwrap_or_default() {
                "success" | "warning" | "skipped" => Outcome::Passed,
                "pending" => Outcome::Pending,
                _ => Outcome::Failed,
            });
        }
        Ok(checks)
    }
}

impl PullRequests for Forgejo {
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError> {
        // The API cannot filter by branch. Few are open, and of the others, the latest ones come first.
        let Listed { entries, end } = self.client.list_to_search(&self.pulls_path("state=open"))?;
        let open = self.own(entries)?.into_iter().find(|pull| pull.branch == branch);
        if open.is_some() {
            return Ok(open);
        }
        end?;
        let closed = self.client.list(&self.pulls_path("state=closed&sort=recentupdate"), Value::as_array)?;
        Ok(relevant(self.own(closed)?.into_iter().filter(|pull| pull.branch == branch).collect()))
    }

    fn status(&self, pull: &Pull) -> Result<PullStatus, ForgeError> {
        let answer: PullAnswer =
            self.client.parse(self.client.get(&format!("{}/pulls/{}", self.repo, pull.number))?)?;
        let reviews = format!("{}/pulls/{}/reviews?limit=50", self.repo, pull.number);
        let (approved, changes_requested) = pulls::reviews(&self.client, &reviews)?;
        let checks = allowed(self.checks(&pull.head))?;
        // A draft is always reported as not mergeable.
        let mergeable = answer.mergeable.filter(|mergeable| *mergeable || !pull.draft);
        Ok(PullStatus { mergeable, approved, changes_requested, checks })
    }

    fn open(&self, new: &NewPull<'_>) -> Result<Pull, ForgeError> {
        let title = titled(DRAFT, new.title, new.draft);
        let body = json!({ "title": title, "head": new.branch, "base": new.base, "body": new.body });
        let answer = self.client.send("POST", &format!("{}/pulls", self.repo), &body)?;
        self.client.parse(answer).map(read)
    }

    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError> {
        self.client.send("PATCH", &format!("{}/pulls/{number}", self.repo), &json!({ "body": body })).map(drop)
    }

    fn open_pulls(&self) -> Result<Vec<Pull>, ForgeError> {
        self.own(self.client.list(&self.pulls_path("state=open"), Value::as_array)?)
    }

    fn edit_pull(&self, pull: &Pull) -> Result<(), ForgeError> {
        let state = if pull.state == State::Open { "open" } else { "closed" };
        let title = titled(DRAFT, &pull.title, pull.draft);
        let body = json!({ "title": title, "body": pull.body, "state": state });
        self.client.send("PATCH", &format!("{}/pulls/{}", self.repo, pull.number), &body).map(drop)
    }
}

impl Adapter for Forgejo {
    /// Forgejo follows GitHub's API.
    const ENDPOINTS: Endpoints = Endpoints {
        commit: "/commit/id",
        message: "/commit/message",
        comments_query: "",
        issues_query: "state=all&type=issues&limit=50",
        ..GitHub::ENDPOINTS
    };

    fn client(&self) -> &Client {
        &self.client
    }

    fn repo(&self) -> &str {
        &self.repo
    }

    fn add_commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        let NewCommit { branch, start, path, file, text, message, .. } = *commit;
        let content = api::encoded(text);
        let mut body = json!({ "branch": branch, "content": content, "message": message, "sha": file.id });
        if let Some(start) = start {
            body["branch"] = json!(start);
            body["new_branch"] = json!(branch);
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

    fn forge(server: &TestServer) -> Box<dyn Forge> {
        Kind::Forgejo.forge(server.client(), &Address::of("https://codeberg.org/acme/blue").unwrap())
    }

    #[test]
    fn the_open_pull_request_of_the_repositorys_own_branch_is_found() {
        let open = json!([
            pull(4, "open", "x", "eve/blue"),
            pull(2, "open", "x", "Acme/blue"),
            pull(1, "open", "y", "acme/blue"),
        ]);
        let closed = json!([pull(3, "closed", "z", "acme/blue")]);
        let server = TestServer::start([(200, open.clone()), (200, open), (200, closed)]);
        assert_eq!(forge(&server).of_branch("x").unwrap().unwrap().number, 2);
        assert_eq!(forge(&server).of_branch("z").unwrap().unwrap().number, 3);
        let asked = server.asked();
        assert!(asked[0].contains("state=open") && asked[2].contains("state=closed"), "{asked:?}");
    }

    #[test]
    fn all_statuses_of_a_commit_count() {
        let status = |state: &str| json!({ "status": state });
        let first = json!({ "statuses": vec![status("success"); 50] });
        let open = serde_json::from_value::<PullAnswer>(pull(2, "open", "x", "acme/blue")).unwrap().into();
        for (last, failed) in [(json!({ "statuses": [status("failure")] }), 1), (json!({ "statuses": null }), 0)] {
            let server = TestServer::start([
                (200, pull(2, "open", "x", "acme/blue")),
                (200, json!([])),
                (200, first.clone()),
                (200, last),
            ]);
            let checks = forge(&server).status(&open).unwrap().checks;
            assert_eq!(checks, Some(Checks { passed: 50, failed, pending: 0 }));
            assert!(server.asked()[3].contains("status?limit=50&page=2 "), "{:?}", server.asked());
        }
    }

    #[test]
    fn the_condition_combines_reviews_and_statuses() {
        let server = TestServer::start([
            (200, pull(2, "open", "x", "acme/blue")),
            (200, example("reviews")),
            (200, example("combined_status")),
        ]);
        let open = serde_json::from_value::<PullAnswer>(pull(2, "open", "x", "acme/blue")).unwrap().into();
        let expected = PullStatus {
            mergeable: Some(true),
            approved: 1,
            changes_requested: 1,
            checks: Some(Checks { passed: 1, failed: 1, pending: 1 }),
        };
        assert_eq!(forge(&server).status(&open).unwrap(), expected);
    }

    #[test]
    fn a_draft_is_marked_by_its_title() {
        let mut made = pull(5, "open", "x", "acme/blue");
        made["title"] = json!("WIP: T");
        let server = TestServer::start([(201, made), (201, pull(5, "open", "x", "acme/blue"))]);
        let new = NewPull { branch: "x", base: "main", title: "T", body: "B", draft: true };
        let opened = forge(&server).open(&new).unwrap();
        assert_eq!(opened.url, "https://codeberg.org/acme/blue/pulls/5");
        assert_eq!((opened.draft, &*opened.title), (true, "T"));
        forge(&server).describe(5, "C").unwrap();
        let asked = server.asked();
        assert!(asked[0].starts_with("POST /repos/acme/blue/pulls ") && asked[0].contains("\"WIP: T\""), "{asked:?}");
        assert!(asked[1].starts_with("PATCH /repos/acme/blue/pulls/5 "), "{asked:?}");
    }

    #[test]
    fn comments_are_listed_written_and_edited() {
        let url = "https://codeberg.org/acme/blue/pulls/9#issuecomment-302";
        let requests = [
            "GET /repos/acme/blue/issues/9/comments ",
            "POST /repos/acme/blue/issues/9/comments ",
            "PATCH /repos/acme/blue/issues/comments/302 ",
        ];
        let note = json!({ "id": 302, "body": "B", "html_url": url });
        test_server::comments_are_listed_written_and_edited(forge, &note, requests);
    }

    #[test]
    fn issues_are_listed_opened_edited_and_closed() {
        let answer =
            json!({ "number": 7, "state": "open", "html_url": "https://forge.test/7", "title": "T", "body": "B" });
        let pull = json!({ "number": 8, "state": "open", "title": "P", "pull_request": {} });
        let sent = ["PATCH ", r#""body":"B""#, r#""state":"closed""#];
        test_server::issues_are_listed_opened_edited_and_closed(forge, [answer, pull], sent);
    }

    #[test]
    fn a_file_is_read_and_committed_on_a_new_branch() {
        let file = json!({
            "name": "s3.yaml", "path": ".blue/bindings/s3.yaml", "sha": "79f7bbd", "last_commit_sha": "570e7b2",
            "type": "file", "size": 5, "encoding": "base64", "content": "cm9sZQo=",
        });
        let done = json!({ "content": file, "commit": { "sha": "d5a3ff1", "message": "M" } });
        let requests = [
            "GET /repos/acme/blue HTTP",
            "GET /repos/acme/blue/branches/main HTTP",
            "GET /repos/acme/blue/branches/git-blue%2Fs3%2Fpaths HTTP",
            "GET /repos/acme/blue/contents/.blue/bindings/s3.yaml?ref=c0ffee HTTP",
            "GET /repos/acme/blue/contents/.blue/bindings/s4.yaml?ref=c0ffee HTTP",
            "PUT /repos/acme/blue/contents/.blue/bindings/s3.yaml HTTP",
            "PUT /repos/acme/blue/contents/.blue/bindings/s3.yaml HTTP",
            "DELETE /repos/acme/blue/branches/git-blue%2Fs3%2Fpaths HTTP",
        ];
        let asked = test_server::a_file_is_read_and_committed(forge, [file, done], "79f7bbd", requests);
        for field in
            [r#""branch":"main""#, r#""new_branch":"git-blue/s3/paths""#, r#""sha":"79f7bbd""#, r#""content":"bmV3""#]
        {
            assert!(asked[5].contains(field), "{field}: {asked:?}");
        }
        assert!(asked[6].contains(r#""branch":"git-blue/s3/paths""#) && !asked[6].contains("new_branch"), "{asked:?}");
    }

    #[test]
    fn open_pull_requests_of_the_repository_itself_are_listed_and_edited() {
        let list = json!([pull(4, "open", "x", "eve/blue"), pull(2, "open", "x", "Acme/blue")]);
        let one = || pull(2, "open", "x", "acme/blue");
        let server = TestServer::start([(200, list), (201, one()), (201, one())]);
        let forge = forge(&server);
        let pulls = forge.open_pulls().unwrap();
        assert_eq!(pulls.iter().map(|pull| (pull.number, &*pull.branch)).collect::<Vec<_>>(), [(2, "x")]);
        let pull = Pull { draft: true, title: "T".into(), ..pulls[0].clone() };
        forge.edit_pull(&pull).unwrap();
        forge.edit_pull(&Pull { state: State::Closed, draft: false, title: "WIP: T".into(), ..pull }).unwrap();
        let asked = server.asked();
        assert!(asked[0].contains("state=open"), "{asked:?}");
        assert!(asked[1].contains(r#""title":"WIP: T""#) && asked[1].contains(r#""state":"open""#), "{asked:?}");
        assert!(asked[2].contains(r#""title":"T""#) && asked[2].contains(r#""state":"closed""#), "{asked:?}");
    }
}
