//! Pull requests and reviews, in the format that GitHub and Forgejo share.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::{Client, ForgeError, Pull, State, bounded};

#[derive(Deserialize)]
pub(super) struct PullAnswer {
    number: u64,
    state: String,
    #[serde(default)]
    draft: bool,
    html_url: String,
    title: String,
    body: Option<String>,
    /// Missing from GitHub's lists.
    #[serde(default)]
    merged: bool,
    merged_at: Option<String>,
    /// Of an open pull request, a commit that the forge made to try the merge.
    merge_commit_sha: Option<String>,
    /// Missing from GitHub's lists.
    pub(super) mergeable: Option<bool>,
    pub(super) head: Side,
    pub(super) base: Side,
}

#[derive(Deserialize)]
pub(super) struct Side {
    #[serde(rename = "ref")]
    name: String,
    sha: String,
    /// The repository; `None` if a fork was deleted.
    pub(super) repo: Option<Source>,
}

#[derive(PartialEq, Deserialize)]
pub(super) struct Source {
    pub(super) full_name: String,
}

impl From<PullAnswer> for Pull {
    fn from(answer: PullAnswer) -> Self {
        let state = match &*answer.state {
            _ if answer.merged || answer.merged_at.is_some() => State::Merged,
            "open" => State::Open,
            _ => State::Closed,
        };
        Self {
            number: answer.number,
            state,
            draft: answer.draft,
            url: bounded(&answer.html_url, 500),
            title: bounded(&answer.title, 300),
            body: answer.body.unwrap_or_default(),
            merged_as: answer.merge_commit_sha.filter(|_| state == State::Merged),
            head: answer.head.sha,
            branch: answer.head.name,
        }
    }
}

/// Counts approvals and requests for changes by the last review of each reviewer. A comment does not replace a review,
/// but a dismissal does: a state on GitHub, a field on Forgejo.
pub(super) fn reviews(client: &Client, path: &str) -> Result<(usize, usize), ForgeError> {
    let mut last: BTreeMap<String, String> = BTreeMap::new();
    for review in client.list(path, Value::as_array)? {
        let state = review["state"].as_str().unwrap_or_default();
        if let ("APPROVED" | "CHANGES_REQUESTED" | "REQUEST_CHANGES" | "DISMISSED", Some(user)) =
            (state, review["user"]["login"].as_str())
        {
            let is_dismissed = review["dismissed"].as_bool().unwrap_or_default();
            last.insert(user.to_owned(), if is_dismissed { String::new() } else { state.to_owned() });
        }
    }
    let count = |wanted: &[&str]| last.values().filter(|state| wanted.contains(&&***state)).count();
    Ok((count(&["APPROVED"]), count(&["CHANGES_REQUESTED", "REQUEST_CHANGES"])))
}
