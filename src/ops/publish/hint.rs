//! Hints at a commit that changes the source files of a contract, but not the contract.

use std::collections::BTreeMap;

use crate::repo::blue_files::{BINDINGS, CONTRACTS};
use crate::{
    error::OpError,
    machine::user_config::boolean,
    repo::CodeRepo,
    store::{EntryKind, Objects as _, codec, read},
};

/// Returns one line about the last commit if it changed files that a binding names as the source of a contract, but not
/// the contract itself. `blue.hint = false` disables it.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn stale_contract_hint(code: &CodeRepo) -> Result<Option<String>, OpError> {
    let head = code.head()?;
    let (Some(_), Some(commit)) = (head.branch, head.commit) else {
        return Ok(None);
    };
    let this = code.commit(&commit)?;
    // A merge contains other people's commits, and the hint was shown when these were made.
    let [parent] = this.parents[..] else {
        return Ok(None);
    };
    if !code.has(&parent) || is_off(code) {
        return Ok(None);
    }
    let (now, before) = (this.tree, code.tree_of(&parent)?);
    let changed = |path: &str| -> Result<bool, OpError> {
        let id = |tree| Ok::<_, OpError>(read::lookup(code, tree, path)?.map(|entry| entry.id));
        Ok(id(&now)? != id(&before)?)
    };
    // Many contracts have the same sources, most of which did not change.
    let mut sources: BTreeMap<String, bool> = BTreeMap::new();
    let mut forgotten = Vec::new();
    for entry in read::folder(code, &now, BINDINGS)?.into_iter().filter(|entry| entry.kind == EntryKind::Blob) {
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
