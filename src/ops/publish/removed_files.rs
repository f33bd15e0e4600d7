//! Contract files that a commit removed although the realm still offers their contracts. They are recorded in a small
//! file in the git dir, so that hooks of later commits can repeat the warning without reading the realm.

use std::path::PathBuf;

use crate::{
    error::OpError,
    model::{candidate::contract_of, contract::Contract},
    ops::{acting_repo::ActingRepo, repos::git_dir_file},
    repo::CodeRepo,
    store::{StoreRef, layout, read},
};

/// The file in the git dir, with one path per line.
const FILE: &str = "blue-removed-files";
/// The maximum number of recorded paths. The warning is one line, and `status` lists all of them.
const MAX: usize = 20;

/// Records files that a commit removed.
///
/// # Errors
/// Returns an error if the git dir cannot be written.
pub fn record(code: &CodeRepo, files: &[String]) -> Result<(), OpError> {
    let mut all = read(code);
    all.extend(files.iter().filter(|file| !all.contains(file)).cloned().collect::<Vec<_>>());
    write(code, &all)
}

/// Returns the recorded files that HEAD still lacks and whose contracts the realm still offers as this repository's.
/// On the publishing branch, all others are removed from the record: another branch may still have them.
///
/// # Errors
/// Returns an error if the repository or the realm cannot be read.
pub fn still_missing(acting: ActingRepo<'_>, code: &CodeRepo) -> Result<Vec<String>, OpError> {
    let all = read(code);
    if all.is_empty() {
        return Ok(all);
    }
    let mut missing = Vec::new();
    for file in &all {
        if is_missing(acting, code, file)? {
            missing.push(file.clone());
        }
    }
    if missing != all && code.head()?.branch == code.publishing_branch()? {
        write(code, &missing)?;
    }
    Ok(missing)
}

fn is_missing(acting: ActingRepo<'_>, code: &CodeRepo, file: &str) -> Result<bool, OpError> {
    let Some(commit) = code.head()?.commit else { return Ok(false) };
    let is_there = read::lookup(code, &code.tree_of(&commit)?, file)?.is_some();
    let Some((domain, contract)) = contract_of(file).filter(|_| !is_there) else { return Ok(false) };
    let within = StoreRef::Domain(domain);
    let Some(tree) = read::tip_tree(acting.store, &within)? else { return Ok(false) };
    let held: Option<Contract> = read::file(acting.store, &within, &tree, &layout::contract(&contract))?;
    Ok(held.is_some_and(|held| held.owner == *acting.repo && held.retired.is_none()))
}

/// Returns the recorded paths; empty if the file cannot be read, since `status` and `check` read the realm itself.
fn read(code: &CodeRepo) -> Vec<String> {
    let text = git_dir_file::read(&path(code)).ok().flatten().unwrap_or_default();
    text.lines().map(str::to_owned).take(MAX).collect()
}

fn write(code: &CodeRepo, files: &[String]) -> Result<(), OpError> {
    match files.get(..files.len().min(MAX)) {
        None | Some([]) => git_dir_file::remove(&path(code)),
        Some(files) => git_dir_file::write(code.common_dir(), FILE, &files.join("\n")),
    }
}

fn path(code: &CodeRepo) -> PathBuf {
    code.common_dir().join(FILE)
}
