//! Hints after a commit: it changed the source files of a contract but not the contract, or it is not on the publishing
//! branch.

use std::collections::BTreeMap;

use super::{policy, references};
use crate::{
    error::OpError,
    machine::user_config::boolean,
    model::{name::ContractName, oid::Oid, publish_policy::Policy},
    repo::{
        CodeRepo,
        blue_files::{self, BINDINGS, CONTRACTS, Files},
    },
    store::{EntryKind, Objects as _, codec, read},
};

/// Returns the hints about the last commit, each a line. `blue.hint = false` disables them.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn of_last_commit(code: &CodeRepo) -> Result<Vec<String>, OpError> {
    let head = code.head()?;
    let Some(commit) = head.commit.filter(|_| head.branch.is_some() || code.replaying().is_none()) else {
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
    let step = Step { code, before, now };
    let unpublished = unpublished_branch_hint(&step, head.branch.as_deref())?;
    Ok(unpublished.into_iter().chain(stale_contract_hint(&step)?).collect())
}

/// The last commit: the trees before and after it.
struct Step<'a> {
    code: &'a CodeRepo,
    before: Oid,
    now: Oid,
}

impl Step<'_> {
    fn changed(&self, path: &str) -> Result<bool, OpError> {
        let id = |tree| Ok::<_, OpError>(read::lookup(self.code, tree, path)?.map(|entry| entry.id));
        Ok(id(&self.now)? != id(&self.before)?)
    }

    /// Returns whether the binding named a file as a source of a contract before the commit.
    fn was_source(&self, file: &str, domain: &str, contract: &ContractName) -> Result<bool, OpError> {
        let entry = read::lookup(self.code, &self.before, &blue_files::binding(domain))?;
        let text = entry.map(|entry| self.code.blob(&entry.id)).transpose()?;
        let binding = text.and_then(|text| codec::binding(&text).ok());
        let export = binding.as_ref().and_then(|binding| binding.export(contract));
        Ok(export.is_some_and(|export| export.source_files.iter().any(|source| source == file)))
    }

    /// Returns whether the file of a contract changed, or the content of a file that it refers to.
    fn changed_contract(&self, path: &str) -> Result<bool, OpError> {
        Ok(self.changed(path)? || references::changed(self.code, [&self.before, &self.now], path)?)
    }

    /// Returns the changes that are published from this commit, in words.
    fn what_changed(&self) -> Result<Option<&'static str>, OpError> {
        if self.changed(CONTRACTS)? || self.changed(BINDINGS)? {
            return Ok(Some("the changes to .blue/"));
        }
        let files = Files::Commit(self.code, self.now);
        for folder in [CONTRACTS, BINDINGS] {
            for path in files.below(folder)?.keys() {
                if references::changed(self.code, [&self.before, &self.now], path)? {
                    return Ok(Some("the changes to files that .blue/ refers to"));
                }
            }
        }
        Ok(None)
    }
}

/// Returns a hint if the commit changed contracts or bindings on a branch that is not published, or on none.
fn unpublished_branch_hint(step: &Step<'_>, branch: Option<&str>) -> Result<Option<String>, OpError> {
    let code = step.code;
    let Some(published) = code.publishing_branch()?.filter(|published| branch != Some(published.as_str())) else {
        return Ok(None);
    };
    if code.branch_tips(&published).next().transpose()?.is_none() {
        return Ok(None);
    }
    let when = match policy::of(code)? {
        Policy::Commit => format!("once this commit is on {published}"),
        Policy::Pushed => format!("once this commit is pushed to {published}"),
        Policy::Ci => format!("by CI once this commit is on {published}"),
        Policy::Off => return Ok(None),
    };
    Ok(step.what_changed()?.map(|what| format!("{what} are published {when}")))
}

/// Returns a hint if the commit changed files that a binding names as the source of a contract, but not the contract
/// itself.
fn stale_contract_hint(step: &Step<'_>) -> Result<Option<String>, OpError> {
    let code = step.code;
    // Many contracts have the same sources, most of which did not change.
    let mut sources: BTreeMap<String, bool> = BTreeMap::new();
    let mut forgotten = Vec::new();
    for entry in read::folder(code, &step.now, BINDINGS)?.into_iter().filter(|entry| entry.kind == EntryKind::Blob) {
        let Some(domain) = entry.name.strip_suffix(".yaml") else { continue };
        // A binding that cannot be parsed is refused when it is published.
        let Ok(binding) = codec::binding(&code.blob(&entry.id)?) else { continue };
        for export in &binding.exports {
            for file in &export.source_files {
                let is_changed = match sources.get(file) {
                    Some(known) => *known,
                    None => *sources.entry(file.clone()).or_insert(step.changed(file)?),
                };
                if is_changed && step.was_source(file, domain, &export.contract)? {
                    if !step.changed_contract(&blue_files::contract_path(domain, &export.contract))? {
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
