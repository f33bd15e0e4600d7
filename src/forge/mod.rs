//! Forges, which host pull requests and issues of repositories: one trait, and an adapter for each kind. This module
//! also sends messages to webhooks, the only other use of HTTPS.
//!
//! Data from a forge is not trusted: it is parsed into [`Pull`] and [`PullStatus`], and truncated to a bounded length.
//! Secrets are never printed, logged or part of an error.

pub mod address;
#[cfg(feature = "forge")]
mod api;
#[cfg(feature = "forge")]
pub mod client;
#[cfg(feature = "forge")]
mod deadline;
#[cfg(not(feature = "forge"))]
mod disabled;
mod error;
#[cfg(feature = "forge")]
mod forgejo;
#[cfg(feature = "forge")]
mod github;
#[cfg(feature = "forge")]
mod gitlab;
pub mod kind;
mod listed;
#[cfg(feature = "forge")]
mod pages;
#[cfg(feature = "forge")]
mod pulls;
#[cfg(feature = "forge")]
mod redirect;
pub mod secret;
#[cfg(test)]
#[cfg(feature = "forge")]
mod test_server;
#[cfg(feature = "forge")]
pub mod webhook;

pub use address::Address;
#[cfg(feature = "forge")]
pub use client::Client;
#[cfg(not(feature = "forge"))]
pub use disabled::{Client, post};
pub use error::ForgeError;
pub use kind::Kind;
pub use listed::Listed;
pub use secret::Secret;
#[cfg(feature = "forge")]
pub use webhook::post;

pub use crate::model::pull::{PullChecks as Checks, PullState as State};

/// Returns whether requests to a URL cannot be intercepted: it uses TLS, or stays on this machine. A URL with a user
/// name and password is refused, because these would be sent too.
pub fn is_private(url: &str) -> bool {
    let local = ["http://127.0.0.1:", "http://localhost:", "http://[::1]:"];
    let is_safe = url.starts_with("https://") || local.iter().any(|start| url.starts_with(start));
    let authority = url.split_once("://").and_then(|(_, rest)| rest.split(['/', '?', '#']).next());
    is_safe && authority.is_some_and(|authority| !authority.contains('@'))
}

/// Pull requests of one repository.
pub trait PullRequests: Send + Sync {
    /// Returns the pull request of a branch: the open one, or else the latest.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn of_branch(&self, branch: &str) -> Result<Option<Pull>, ForgeError>;

    /// Returns the state of a pull request.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn status(&self, pull: &Pull) -> Result<PullStatus, ForgeError>;

    /// Opens a pull request.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn open(&self, new: &NewPull<'_>) -> Result<Pull, ForgeError>;

    /// Replaces the description of a pull request.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn describe(&self, number: u64, body: &str) -> Result<(), ForgeError>;

    /// Returns the open pull requests whose branches are in the repository itself. If there are very many, not all are
    /// returned.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn open_pulls(&self) -> Result<Vec<Pull>, ForgeError>;

    /// Updates the title and description of a pull request, and closes it if its state is not open. Its draft status
    /// does not change.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn edit_pull(&self, pull: &Pull) -> Result<(), ForgeError>;
}

/// Pull requests, branches, files and issues of one repository.
pub trait Forge: PullRequests {
    /// Returns the name of the repository's default branch.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn default_branch(&self) -> Result<String, ForgeError>;

    /// Returns the last commit of a branch, or `None` if there is no such branch.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn tip(&self, branch: &str) -> Result<Option<Tip>, ForgeError>;

    /// Returns a file at a commit, or `None` if there is no such text file.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn file(&self, commit: &str, path: &str) -> Result<Option<File>, ForgeError>;

    /// Adds a commit that writes one file to a branch. The branch only moves forward.
    ///
    /// # Errors
    /// Returns an error if the forge refuses, for example because the file or the branch has changed in the meantime.
    fn commit(&self, commit: &NewCommit<'_>) -> Result<(), ForgeError>;

    /// Deletes a branch.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn delete_branch(&self, branch: &str) -> Result<(), ForgeError>;

    /// Returns the comments on a pull request.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried.
    fn comments(&self, number: u64) -> Result<Listed<Comment>, ForgeError>;

    /// Writes a comment.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn comment(&self, number: u64, body: &str) -> Result<Comment, ForgeError>;

    /// Replaces the text of a comment.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn edit_comment(&self, number: u64, id: u64, body: &str) -> Result<(), ForgeError>;

    /// Returns the issues of the repository, open and closed.
    ///
    /// # Errors
    /// Returns [`ForgeError::IssuesDisabled`] if the repository has no issues, or the error of the query.
    fn issues(&self) -> Result<Listed<Issue>, ForgeError>;

    /// Opens an issue.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn open_issue(&self, title: &str, body: &str) -> Result<Issue, ForgeError>;

    /// Replaces the title and text of an issue, and closes it if `is_open` is false.
    ///
    /// # Errors
    /// Returns an error if the forge refuses.
    fn edit_issue(&self, issue: &Issue) -> Result<(), ForgeError>;

    /// Returns the name of the token's user.
    ///
    /// # Errors
    /// Returns an error if the forge cannot be queried, or the token has no user.
    fn user(&self) -> Result<String, ForgeError>;
}

/// An issue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Issue {
    /// Its number.
    pub number: u64,
    /// The name of the user who opened it, if the forge reports it.
    pub author: Option<String>,
    /// Whether it is open.
    pub is_open: bool,
    /// The URL of its page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its text.
    pub body: String,
}

/// A comment on a pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "forge", derive(serde::Deserialize))]
pub struct Comment {
    /// Its id among all comments.
    pub id: u64,
    /// The URL of its page, if the forge reports it.
    #[cfg_attr(feature = "forge", serde(default, rename = "html_url"))]
    pub url: Option<String>,
    /// Its text.
    #[cfg_attr(feature = "forge", serde(default))]
    pub body: String,
}

/// A pull request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Whether it is open, closed or merged.
    pub state: State,
    /// Whether it is a draft.
    pub draft: bool,
    /// The URL of its page.
    pub url: String,
    /// Its title.
    pub title: String,
    /// Its description.
    pub body: String,
    /// Its last commit.
    pub head: String,
    /// The branch with its commits.
    pub branch: String,
    /// The commit by which it was merged, if it was.
    pub merged_as: Option<String>,
}

/// The last commit of a branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tip {
    /// Its id.
    pub id: String,
    /// Its message.
    pub message: String,
}

/// A file at a commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File {
    /// The id that the forge requires when the file is replaced.
    pub id: String,
    /// Its text.
    pub text: String,
}

/// A commit to create.
#[derive(Debug, Clone, Copy)]
pub struct NewCommit<'a> {
    /// The branch to commit to.
    pub branch: &'a str,
    /// The branch to create it from; `None` if the branch exists.
    pub start: Option<&'a str>,
    /// The parent commit.
    pub parent: &'a Tip,
    /// The path of the file.
    pub path: &'a str,
    /// The file in the parent commit.
    pub file: &'a File,
    /// The new text of the file.
    pub text: &'a str,
    /// The message.
    pub message: &'a str,
}

/// The mergeability, reviews and checks of a pull request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PullStatus {
    /// Whether it can be merged without conflicts; `None` if the forge has not computed it yet.
    pub mergeable: Option<bool>,
    /// The number of reviewers who approved.
    pub approved: usize,
    /// The number of reviewers who requested changes.
    pub changes_requested: usize,
    /// The checks; `None` if the token does not allow reading them.
    pub checks: Option<Checks>,
}

/// The outcome of a check.
#[cfg(feature = "forge")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Passed,
    Failed,
    Pending,
}

#[cfg(feature = "forge")]
impl Checks {
    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Passed => self.passed += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Pending => self.pending += 1,
        }
    }
}

/// A pull request to open.
#[derive(Debug, Clone, Copy)]
pub struct NewPull<'a> {
    /// The branch with the commits.
    pub branch: &'a str,
    /// The target branch.
    pub base: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Its description.
    pub body: &'a str,
    /// Whether it is a draft.
    pub draft: bool,
}

/// A message to a webhook.
#[derive(Debug, Clone, Copy)]
pub struct Message<'a> {
    /// The key that all deliveries of this message share.
    pub id: &'a str,
    /// The time of sending, in seconds since 1970.
    pub time: i64,
    /// The media type of the body.
    pub content_type: &'a str,
    /// The body.
    pub body: &'a str,
}

/// Returns the most relevant pull request of a branch: the open one, or else the first, which is the latest.
#[cfg(feature = "forge")]
fn relevant(mut pulls: Vec<Pull>) -> Option<Pull> {
    let at = pulls.iter().position(|pull| pull.state == State::Open).unwrap_or_default();
    (at < pulls.len()).then(|| pulls.swap_remove(at))
}

/// Adds or removes the prefix that marks drafts. The prefix never occurs twice.
#[cfg(feature = "forge")]
fn titled(word: &str, title: &str, is_draft: bool) -> String {
    let title = title.strip_prefix(word).unwrap_or(title);
    if is_draft { format!("{word}{title}") } else { title.to_owned() }
}

/// Truncates untrusted text to a bounded length.
#[cfg(feature = "forge")]
fn bounded(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

/// Percent-encodes text for a URL, except `/` and `:`.
#[cfg(feature = "forge")]
fn query(text: &str) -> String {
    crate::model::percent::encode(text, b"/:")
}

#[cfg(test)]
mod tests {
    use super::is_private;

    #[test]
    fn url_with_a_user_name_is_not_private() {
        for url in ["https://h/webhook/a@b", "https://h?to=a@b", "https://h/#@", "http://localhost:80/a@b"] {
            assert!(is_private(url), "{url}");
        }
        for url in ["https://me:x@h/", "https://me@h", "http://localhost:80@h/", "http://h/", "ftp://h/"] {
            assert!(!is_private(url), "{url}");
        }
    }
}
