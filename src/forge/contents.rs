//! Branches and files. The forges differ only in paths and fields.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde_json::Value;

use super::{Client, File, ForgeError, Tip, query};

/// The names that a forge's API uses for branches and files.
pub(super) struct Words {
    /// The path of files, relative to the repository.
    pub(super) files: &'static str,
    /// Whether the path of a file is encoded as a single segment.
    pub(super) is_one_segment: bool,
    /// The field that identifies a file when it is replaced.
    pub(super) file_id: &'static str,
    /// The path of branches, relative to the repository.
    pub(super) branches: &'static str,
    /// The JSON Pointer to the id of the last commit.
    pub(super) commit: &'static str,
    /// The JSON Pointer to its message.
    pub(super) message: &'static str,
}

impl Words {
    pub(super) fn default_branch(&self, client: &Client, repo: &str) -> Result<String, ForgeError> {
        let name = client.get(repo)?["default_branch"].as_str().map(str::to_owned);
        name.ok_or_else(|| client.odd("the repository has no default branch"))
    }

    /// Returns the path of a branch.
    pub(super) fn branch(&self, repo: &str, name: &str) -> String {
        format!("{repo}/{}/{}", self.branches, segment(name))
    }

    pub(super) fn tip(&self, client: &Client, repo: &str, branch: &str) -> Result<Option<Tip>, ForgeError> {
        let Some(answer) = if_there(client.get(&self.branch(repo, branch)))? else { return Ok(None) };
        let text = |pointer: &str| answer.pointer(pointer).and_then(Value::as_str).map(str::to_owned);
        let id = text(self.commit).ok_or_else(|| client.odd("the branch has no commit"))?;
        Ok(Some(Tip { id, message: text(self.message).unwrap_or_default() }))
    }

    /// Returns the path of a file.
    pub(super) fn file_path(&self, repo: &str, path: &str) -> String {
        let path = if self.is_one_segment { segment(path) } else { query(path) };
        format!("{repo}/{}/{path}", self.files)
    }

    pub(super) fn file(
        &self,
        client: &Client,
        repo: &str,
        commit: &str,
        path: &str,
    ) -> Result<Option<File>, ForgeError> {
        let asked = client.get(&format!("{}?ref={}", self.file_path(repo, path), query(commit)));
        let Some(answer) = if_there(asked)? else { return Ok(None) };
        let id = answer[self.file_id].as_str().unwrap_or_default().to_owned();
        Ok(answer["content"].as_str().and_then(decoded).map(|text| File { id, text }))
    }
}

/// Encodes a text for a field that contains bytes.
pub(super) fn encoded(text: &str) -> String {
    BASE64_STANDARD.encode(text)
}

/// Decodes a field that contains bytes, if they are text.
fn decoded(content: &str) -> Option<String> {
    let content: String = content.split_whitespace().collect();
    String::from_utf8(BASE64_STANDARD.decode(content).ok()?).ok()
}

/// Encodes a text as a single path segment.
fn segment(text: &str) -> String {
    query(text).replace('/', "%2F")
}

fn if_there(asked: Result<Value, ForgeError>) -> Result<Option<Value>, ForgeError> {
    match asked {
        Ok(found) => Ok(Some(found)),
        Err(ForgeError::NotFound { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}
