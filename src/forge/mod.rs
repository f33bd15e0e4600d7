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

use std::str::FromStr;
#[cfg(feature = "forge")]
use std::sync::Arc;

pub use address::Address;
#[cfg(feature = "forge")]
pub use client::Client;
#[cfg(not(feature = "forge"))]
pub use disabled::{Client, post};
pub use error::ForgeError;
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

/// The kind of a forge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// GitHub, and GitHub Enterprise.
    GitHub,
    /// GitLab.
    GitLab,
    /// Forgejo, and Gitea.
    Forgejo,
}

impl FromStr for Kind {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "github" => Ok(Self::GitHub),
            "gitlab" => Ok(Self::GitLab),
            "forgejo" | "gitea" => Ok(Self::Forgejo),
            _ => Err(format!("{text:?} is not a kind of forge; expected {}", Self::NAMES)),
        }
    }
}

impl Kind {
    /// The values of `blue.forge.<host>.type`.
    pub const NAMES: &str = "github, gitlab or forgejo";

    /// Adds the headers that this kind of forge expects in every request.
    #[cfg(feature = "forge")]
    pub fn prepare(self, client: Client) -> Client {
        match self {
            Self::GitHub => client
                .with_header("accept", "application/vnd.github+json")
                .with_header("x-github-api-version", "2022-11-28"),
            Self::GitLab | Self::Forgejo => client,
        }
    }

    /// Returns the token for this host from a variable. A token that CI created for its own server is not used for
    /// other hosts.
    pub fn token_from<'v>(self, host: &str, variable: impl Fn(&str) -> Option<&'v str>) -> Option<&'v str> {
        let is_server = |name: &str, default: &str| is_at(variable(name).unwrap_or(default), host);
        let first = |names: &[&str]| names.iter().find_map(|name| variable(name).filter(|value| !value.is_empty()));
        match self {
            Self::GitHub if is_server("GITHUB_SERVER_URL", "github.com") => first(&["GITHUB_TOKEN", "GH_TOKEN"]),
            Self::GitHub if host == "github.com" => None,
            Self::GitHub => first(&["GH_ENTERPRISE_TOKEN", "GITHUB_ENTERPRISE_TOKEN"]),
            Self::GitLab if is_server("CI_SERVER_URL", "gitlab.com") => first(&["GITLAB_TOKEN"]),
            Self::GitLab => None,
            Self::Forgejo if is_server("FORGEJO_URL", "codeberg.org") => first(&["FORGEJO_TOKEN"]),
            Self::Forgejo => None,
        }
    }

    /// Returns the program, with its arguments, that may print a token for this host.
    pub fn token_command(self, host: &str) -> Option<(&'static str, Vec<&str>)> {
        match self {
            Self::GitHub => Some(("gh", vec!["auth", "token", "--hostname", host])),
            Self::GitLab => Some(("glab", vec!["config", "get", "token", "--host", host])),
            Self::Forgejo => None,
        }
    }

    /// Returns advice for a user without a token.
    pub fn how_to_log_in(self, host: &str) -> String {
        match self {
            Self::GitHub if host == "github.com" => "gh auth login, or set GITHUB_TOKEN".into(),
            Self::GitHub => format!("gh auth login --hostname {host}, or set GH_ENTERPRISE_TOKEN"),
            Self::GitLab => format!("glab auth login --hostname {host}, or set blue.tokenCommand"),
            Self::Forgejo => "set FORGEJO_TOKEN and FORGEJO_URL, or blue.tokenCommand".into(),
        }
    }

    /// Returns the kind of a well-known host.
    pub fn of_host(host: &str) -> Option<Self> {
        match host {
            "github.com" => Some(Self::GitHub),
            "gitlab.com" => Some(Self::GitLab),
            "codeberg.org" => Some(Self::Forgejo),
            _ => None,
        }
    }

    /// Returns the kind of the forge whose workflow this process runs in, if it is this host. Forgejo and Gitea set the
    /// variables of GitHub too.
    pub fn of_runner<'v>(host: &str, variable: impl Fn(&str) -> Option<&'v str>) -> Option<Self> {
        let is_server = |name: &str| variable(name).is_some_and(|server| is_at(server, host));
        let is_on = |name: &str| variable(name) == Some("true");
        if is_server("FORGEJO_URL") {
            Some(Self::Forgejo)
        } else if is_server("CI_SERVER_URL") && is_on("GITLAB_CI") {
            Some(Self::GitLab)
        } else if !is_server("GITHUB_SERVER_URL") {
            None
        } else if is_on("FORGEJO_ACTIONS") || is_on("GITEA_ACTIONS") {
            Some(Self::Forgejo)
        } else {
            is_on("GITHUB_ACTIONS").then_some(Self::GitHub)
        }
    }

    /// Returns the URL of a host's API.
    pub fn api(self, host: &str) -> String {
        match self {
            Self::GitHub if host == "github.com" => "https://api.github.com".into(),
            Self::GitHub => format!("https://{host}/api/v3"),
            Self::GitLab => format!("https://{host}/api/v4"),
            Self::Forgejo => format!("https://{host}/api/v1"),
        }
    }

    /// Returns the URL of the page that shows a commit.
    pub fn commit_page(self, Address { host, path }: &Address, commit: &str) -> String {
        let above = if self == Self::GitLab { "/-" } else { "" };
        format!("https://{host}/{path}{above}/commit/{commit}")
    }

    /// Returns the adapter for a repository.
    #[cfg(feature = "forge")]
    pub fn forge(self, client: Arc<Client>, address: &Address) -> Box<dyn Forge> {
        match self {
            Self::GitHub => Box::new(github::GitHub::new(client, address)),
            Self::GitLab => Box::new(gitlab::GitLab::new(client, address)),
            Self::Forgejo => Box::new(forgejo::Forgejo::new(client, address)),
        }
    }

    /// Returns the reference to a pull request of `to` in a description for `from`.
    pub fn reference(self, from: &Address, to: &Address, pull: &Pull) -> String {
        match (self, from.host == to.host) {
            (Self::GitHub | Self::Forgejo, true) => format!("{}#{}", to.path, pull.number),
            (Self::GitLab, true) => format!("{}!{}", to.path, pull.number),
            (_, false) => pull.url.clone(),
        }
    }

    /// Returns the URL of the page for opening a pull request.
    pub fn page(self, address: &Address, base: &str, branch: &str) -> String {
        let Address { host, path } = address;
        match self {
            Self::GitHub => format!("https://{host}/{path}/compare/{base}...{branch}?expand=1"),
            Self::GitLab => format!(
                "https://{host}/{path}/-/merge_requests/new?merge_request[source_branch]={branch}&merge_request[target_branch]={base}"
            ),
            Self::Forgejo => format!("https://{host}/{path}/compare/{base}...{branch}"),
        }
    }
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

/// Returns whether the URL of a server names this host.
fn is_at(server: &str, host: &str) -> bool {
    server.split_once("://").map_or(server, |(_, rest)| rest).trim_end_matches('/') == host
}

#[cfg(test)]
mod tests {
    use super::{Kind, is_private};

    #[test]
    fn runner_names_the_kind_of_its_own_server_only() {
        let kind = |variables: &[(&str, &'static str)]| {
            Kind::of_runner("git.example", |name| variables.iter().find(|(of, _)| *of == name).map(|(_, value)| *value))
        };
        let (here, there) = ("https://git.example", "https://other.example/");
        let github = ("GITHUB_ACTIONS", "true");
        for (variables, expected) in [
            (&[("GITHUB_SERVER_URL", here), github][..], Some(Kind::GitHub)),
            (&[("GITHUB_SERVER_URL", here), github, ("FORGEJO_ACTIONS", "true")], Some(Kind::Forgejo)),
            (&[("GITHUB_SERVER_URL", here), github, ("GITEA_ACTIONS", "true")], Some(Kind::Forgejo)),
            (&[("GITHUB_SERVER_URL", there), github, ("FORGEJO_URL", here)], Some(Kind::Forgejo)),
            (&[("CI_SERVER_URL", here), ("GITLAB_CI", "true")], Some(Kind::GitLab)),
            (&[("CI_SERVER_URL", there), ("GITLAB_CI", "true")], None),
            (&[("GITHUB_SERVER_URL", there), github, ("FORGEJO_URL", there)], None),
            (&[("GITHUB_SERVER_URL", here)], None),
        ] {
            assert_eq!(kind(variables), expected, "{variables:?}");
        }
    }

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
