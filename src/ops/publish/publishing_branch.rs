//! Next steps for when the publishing branch is unknown or does not exist, for example because the default branch was
//! renamed.

use crate::{error::OpError, model::text::shell_word, repo::CodeRepo};

/// Returns the steps that choose a branch.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn steps(code: &CodeRepo) -> Result<Vec<String>, OpError> {
    let is_from_origin = code.config("blue.publishBranch").is_none() && code.origin_url().is_some();
    let (origin, all) = (shell_word(&code.origin()), shell_word(&format!("+refs/heads/*:{}", code.at_origin("*"))));
    let fetch = if code.has_branch_of_origin()? { String::new() } else { format!("git fetch {origin} {all} && ") };
    let ask = is_from_origin
        .then(|| format!("{fetch}git remote set-head {origin} -a  # take the default branch of {origin}"));
    let mut steps: Vec<_> = ask.into_iter().chain(checked_out(code)?).collect();
    if steps.is_empty() {
        steps.push("git config blue.publishBranch …  # the branch to publish".to_owned());
    }
    Ok(steps)
}

/// Returns the step that fetches a publishing branch of which this clone has no commit, as in a clone of one tag.
pub fn fetch(code: &CodeRepo, branch: &str) -> String {
    let refspec = format!("{branch}:{}", code.at_origin(branch));
    format!("git fetch {} {}  # then publish again", shell_word(&code.origin()), shell_word(&refspec))
}

/// Returns the step that publishes the branch that is checked out, if it is not the publishing branch already.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn checked_out(code: &CodeRepo) -> Result<Option<String>, OpError> {
    let current = code.head()?.branch;
    let published = code.publishing_branch()?;
    let other = current.filter(|current| published.as_ref() != Some(current));
    Ok(other.map(|branch| format!("git config blue.publishBranch {}  # publish this branch", shell_word(&branch))))
}
