//! Issues. The forges differ only in the names of fields and methods.

use serde_json::{Map, Value, json};

use super::{Client, ForgeError, Issue, bounded};

/// The names that a forge's API uses for issues.
pub(super) struct Words {
    /// The query for all issues, most recently changed first if the forge can sort them.
    pub(super) query: &'static str,
    /// The field with the number.
    pub(super) number: &'static str,
    /// The field with the text.
    pub(super) text: &'static str,
    /// The field with the URL of the page.
    pub(super) url: &'static str,
    /// The HTTP method for editing.
    pub(super) method: &'static str,
    /// The field that closes an issue, and its value.
    pub(super) close: (&'static str, &'static str),
}

impl Words {
    /// Returns the issues of the repository at a path. GitHub also lists pull requests, which are left out.
    pub(super) fn list(&self, client: &Client, repo: &str) -> Result<Vec<Issue>, ForgeError> {
        let all = client.list(&format!("{repo}/issues?{}", self.query), Value::as_array)?;
        let issues = all.iter().filter(|one| one.get("pull_request").is_none_or(Value::is_null));
        Ok(issues.filter_map(|one| self.read(one)).collect())
    }

    pub(super) fn open(&self, client: &Client, repo: &str, title: &str, body: &str) -> Result<Issue, ForgeError> {
        let answer = client.send("POST", &format!("{repo}/issues"), &Value::Object(self.write(title, body)))?;
        self.read(&answer).ok_or_else(|| client.odd("the issue has no number"))
    }

    pub(super) fn edit(&self, client: &Client, repo: &str, issue: &Issue) -> Result<(), ForgeError> {
        let mut fields = self.write(&issue.title, &issue.body);
        if !issue.is_open {
            fields.insert(self.close.0.to_owned(), json!(self.close.1));
        }
        client.send(self.method, &format!("{repo}/issues/{}", issue.number), &Value::Object(fields)).map(drop)
    }

    fn write(&self, title: &str, body: &str) -> Map<String, Value> {
        [("title", title), (self.text, body)].into_iter().map(|(key, text)| (key.to_owned(), json!(text))).collect()
    }

    fn read(&self, answer: &Value) -> Option<Issue> {
        let text = |key: &str| answer[key].as_str().unwrap_or_default();
        Some(Issue {
            number: answer[self.number].as_u64()?,
            is_open: text("state") != "closed",
            url: bounded(text(self.url), 500),
            title: bounded(text("title"), 300),
            body: text(self.text).to_owned(),
        })
    }
}
