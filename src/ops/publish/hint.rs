//! Hints after a commit: it changed the source files of a contract but not the contract, or it is not on the publishing
//! branch.

use std::collections::BTreeMap;

use crate::repo::blue_files::{BINDINGS, CONTRACTS};
use crate::{
    error::OpError,
    machine::user_config::boolean,
    model::oid::Oid,
    repo::CodeRepo,
    store::{EntryKind, Objects as _, codec, read},
};

/// Returns the hints about the last commit, each a line. `blue.hint = false` disables them.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn of_last_commit(code: &CodeRepo) -> Result<Vec<String>, OpError> {
    let head = code.head()?;
    let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
        return Ok(Vec::new());
    };
    let this = code.commit(&commit)?;
    // A merge contains other people's commits, and the hint was shown when these were made.
    let [parent] = this.parents[..] else {
        return Ok(Vec::new());
    };
    if !code.has(&parent) || is_off(code) {
        return Ok(Vec::new());
    }
    let (now, before) = (this.tree, code.tree_of(&parent)?);
    let changed = |path: &str| -> Result<bool, OpError> {
        let id = |tree| Ok::<_, OpError>(read::lookup(code, tree, path)?.map(|entry| entry.id));
        Ok(id(&now)? != id(&before)?)
    };
    let unpublished = unpublished_branch_hint(code, &branch, &changed)?;
    Ok(unpublished.into_iter().chain(stale_contract_hint(code, &now, &changed)?).collect())
}

/// Returns a hint if the commit changed contracts or bindings on a branch that is not published.
fn unpublished_branch_hint(
    code: &CodeRepo,
    branch: &str,
    changed: &impl Fn(&str) -> Result<bool, OpError>,
) -> Result<Option<String>, OpError> {
    if !changed(CONTRACTS)? && !changed(BINDINGS)? {
        return Ok(None);
    }
    let Some(published) = code.publishing_branch()?.filter(|published| published != branch) else { return Ok(None) };
    let exists = |name: String| Ok::<_, OpError>(code.reference(&name)?.is_some());
    let is_branch = exists(format!("refs/heads/{published}"))? || exists(format!("refs/remotes/origin/{published}"))?;
    Ok(is_branch.then(|| format!("the changes of .blue/ are published once this commit is on {published}")))
}

/// Returns a hint if the commit changed files that a binding names as the source of a contract, but not the contract
/// itself.
fn stale_contract_hint(
    code: &CodeRepo,
    tree: &Oid,
    changed: &impl Fn(&str) -> Result<bool, OpError>,
) -> Result<Option<String>, OpError> {
    // Many contracts have the same sources, most of which did not change.
    let mut sources: BTreeMap<String, bool> = BTreeMap::new();
    let mut forgotten = Vec::new();
    for entry in read::folder(code, tree, BINDINGS)?.into_iter().filter(|entry| entry.kind == EntryKind::Blob) {
        let Some(domain) = entry.name.strip_suffix(".yaml") else { continue };
        // A binding that cannot be parsed is refused when it is published.
        let Ok(binding) = codec::binding(&code.blob(&entry.id)?) else { continue };
        for export in &binding.exports {
            for file in &export.source_files {
                let is_changed = match sources.get(file) {
                    Some(known) => *known,
                    None => *sources.entry(file.clone()).or_insert(changed(file)?),
                };
                if is_changed {
                    if !changed(&format!("{CONTRACTS}/{domain}/{}.yaml", export.contract))? {
                        forgotten.push(format!("{file} changed, but the contract {} did not", export.contract));
                    }
                    break;
                }
            }
        }
    }
    let more = forgotten.len().saturating_sub(1);
    let more = if more > 0 { format!(" (and {more} more)") } else { String::new() };
    Ok(forgotten.into_iter().next().map(|first| first + &more))
}

fn is_off(code: &CodeRepo) -> bool {
    code.config("blue.hint").is_some_and(|value| boolean(&value) == Some(false))
}
