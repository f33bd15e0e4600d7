//! Branches, files, comments and issues. The forges differ only in paths and fields.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::{Map, Value, json};

use super::{Client, Comment, File, Forge, ForgeError, Issue, Listed, NewCommit, PullRequests, Tip, bounded, query};

/// The paths and fields of a forge's API. All paths are relative to the repository.
pub(super) struct Endpoints {
    /// The path of branches.
    pub(super) branches: &'static str,
    /// The JSON Pointer to the id of a branch's last commit.
    pub(super) commit: &'static str,
    /// The JSON Pointer to that commit's message.
    pub(super) message: &'static str,
    /// The path of files.
    pub(super) files: &'static str,
    /// Whether the path of a file is encoded as a single segment.
    pub(super) is_one_segment: bool,
    /// The field that identifies a file when it is replaced.
    pub(super) file_id: &'static str,
    /// The path of the comments on a pull request.
    pub(super) comments: fn(u64) -> String,
    /// The query for its comments.
    pub(super) comments_query: &'static str,
    /// The path of one comment on a pull request.
    pub(super) comment: fn(u64, u64) -> String,
    /// The query for all issues, most recently changed first if the forge can sort them.
    pub(super) issues_query: &'static str,
    /// The field of the repository that says whether it has issues.
    pub(super) has_issues: &'static str,
    /// The field with the author of an issue, and the field with the name of a user.
    pub(super) author: (&'static str, &'static str),
    /// The field with the number of an issue.
    pub(super) number: &'static str,
    /// The field with its text.
    pub(super) text: &'static str,
    /// The field with the URL of its page.
    pub(super) url: &'static str,
    /// The field that closes an issue, and its value.
    pub(super) close: (&'static str, &'static str),
    /// The HTTP method for editing comments and issues.
    pub(super) edit: &'static str,
}

/// The adapter for one kind of forge.
pub(super) trait Adapter: PullRequests {
    const ENDPOINTS: Endpoints;

    fn client(&self) -> &Client;

    /// Returns the path of the repository.
    fn repo(&self) -> &str;

    fn add_commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError>;

    fn remove_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.client().delete(&self.branch_path(branch))
    }

    /// Returns whether issues could not be listed because they are disabled. GitHub answers 410 in this case; others
    /// answer as if the token lacked permission, so the repository itself is queried.
    fn has_issues_disabled(&self, error: &ForgeError) -> bool {
        match error {
            ForgeError::Refused { status: 410, .. } => true,
            ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. } => {
                let repo = self.client().get(self.repo());
                repo.is_ok_and(|repo| repo[Self::ENDPOINTS.has_issues] == Value::Bool(false))
            }
            _ => false,
        }
    }

    fn branch_path(&self, name: &str) -> String {
        format!("{}/{}/{}", self.repo(), Self::ENDPOINTS.branches, segment(name))
    }

    fn file_path(&self, path: &str) -> String {
        let path = if Self::ENDPOINTS.is_one_segment { segment(path) } else { query(path) };
        format!("{}/{}/{path}", self.repo(), Self::ENDPOINTS.files)
    }
}

impl<T: Adapter> Forge for T {
    fn default_branch(&self) -> Result<String, ForgeError> {
        let name = self.client().get(self.repo())?["default_branch"].as_str().map(str::to_owned);
        name.ok_or_else(|| self.client().unexpected("the repository has no default branch"))
    }

    fn tip(&self, branch: &str) -> Result<Option<Tip>, ForgeError> {
        let Some(answer) = found(self.client().get(&self.branch_path(branch)))? else { return Ok(None) };
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let id = text(Self::ENDPOINTS.commit).ok_or_else(|| self.client().unexpected("the branch has no commit"))?;
        Ok(Some(Tip { id, message: text(Self::ENDPOINTS.message).unwrap_or_default() }))
    }

    fn file(&self, commit: &str, path: &str) -> Result<Option<File>, ForgeError> {
        let asked = self.client().get(&format!("{}?ref={}", self.file_path(path), query(commit)));
        let Some(answer) = found(asked)? else { return Ok(None) };
        let id = answer[Self::ENDPOINTS.file_id].as_str().unwrap_or_default().to_owned();
        Ok(answer["content"].as_str().and_then(decoded).map(|text| File { id, text }))
    }

    fn commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError> {
        self.add_commit(commit)
    }

    fn delete_branch(&self, branch: &str) -> Result<(), ForgeError> {
        self.remove_branch(branch)
    }

    fn comments(&self, number: u64) -> Result<Listed<Comment>, ForgeError> {
        let path = format!("{}/{}{}", self.repo(), (Self::ENDPOINTS.comments)(number), Self::ENDPOINTS.comments_query);
        let Listed { entries, end } = self.client().list_to_search(&path)?;
        let comments = entries.into_iter().map(|one| self.client().parse(one)).collect::<Result<_, _>>()?;
        Ok(Listed { entries: comments, end })
    }

    fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError> {
        let path = format!("{}/{}", self.repo(), (Self::ENDPOINTS.comments)(number));
        self.client().parse(self.client().send("POST", &path, &json!({ "body": body }))?)
    }

    fn edit_comment(&self, number: u64, id: u64, body: &str) -> Result<(), ForgeError> {
        let path = format!("{}/{}", self.repo(), (Self::ENDPOINTS.comment)(number, id));
        self.client().send(Self::ENDPOINTS.edit, &path, &json!({ "body": body })).map(drop)
    }

    /// Leaves out pull requests, which GitHub lists as issues too.
    fn issues(&self) -> Result<Listed<Issue>, ForgeError> {
        let path = format!("{}/issues?{}", self.repo(), Self::ENDPOINTS.issues_query);
        let Listed { entries, end } = match self.client().list_to_search(&path) {
            Err(error) if self.has_issues_disabled(&error) => {
                return Err(ForgeError::IssuesDisabled { host: self.client().host().to_owned() });
            }
            listed => listed?,
        };
        let issues = entries.iter().filter(|one| one.get("pull_request").is_none_or(Value::is_null));
        Ok(Listed { entries: issues.filter_map(|one| Self::ENDPOINTS.issue(one)).collect(), end })
    }

    fn open_issue(&self, title: &str, body: &str) -> Result<Issue, ForgeError> {
        let fields = Value::Object(Self::ENDPOINTS.issue_fields(title, body));
        let answer = self.client().send("POST", &format!("{}/issues", self.repo()), &fields)?;
        Self::ENDPOINTS.issue(&answer).ok_or_else(|| self.client().unexpected("the issue has no number"))
    }

    fn edit_issue(&self, issue: &Issue) -> Result<(), ForgeError> {
        let mut fields = Self::ENDPOINTS.issue_fields(&issue.title, &issue.body);
        if !issue.is_open {
            let (field, closed) = Self::ENDPOINTS.close;
            fields.insert(field.to_owned(), json!(closed));
        }
        let path = format!("{}/issues/{}", self.repo(), issue.number);
        self.client().send(Self::ENDPOINTS.edit, &path, &Value::Object(fields)).map(drop)
    }

    fn user(&self) -> Result<String, ForgeError> {
        let name = self.client().get("/user")?[Self::ENDPOINTS.author.1].as_str().map(str::to_owned);
        name.ok_or_else(|| self.client().unexpected("the user has no name"))
    }
}

impl Endpoints {
    fn issue_fields(&self, title: &str, body: &str) -> Map<String, Value> {
        [("title", title), (self.text, body)].into_iter().map(|(key, text)| (key.to_owned(), json!(text))).collect()
    }

    fn issue(&self, answer: &Value) -> Option<Issue> {
        let text = |key: &str| answer[key].as_str().unwrap_or_default();
        Some(Issue {
            number: answer[self.number].as_u64()?,
            author: answer[self.author.0][self.author.1].as_str().map(str::to_owned),
            is_open: text("state") != "closed",
            url: bounded(text(self.url), 500),
            title: bounded(text("title"), 300),
            body: text(self.text).to_owned(),
        })
    }
}

/// Encodes text for a field that contains bytes.
pub(super) fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

/// Decodes a field that contains bytes, if they are text.
fn decoded(content: &str) -> Option<String> {
    let content: String = content.split_whitespace().collect();
    String::from_utf8(BASE64_STANDARD.decode(content).ok()?).ok()
}

/// Encodes text as a single path segment.
fn segment(text: &str) -> String {
    query(text).replace('/', "%2F")
}

/// Turns a "not found" error into `None`.
fn found(asked: Result<Value, ForgeError>) -> Result<Option<Value>, ForgeError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(ForgeError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Turns the error for a request that the server's edition or the token does not allow into `None`. A token that may
/// read pull requests may still lack permission for checks.
pub(super) fn allowed<T>(asked: Result<T, ForgeError>) -> Result<Option<T>, ForgeError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(ForgeError::Unauthorized { .. } | ForgeError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
