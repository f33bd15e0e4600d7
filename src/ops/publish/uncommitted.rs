//! Finds contract files that are only in the working tree. No printed command may overwrite them.

use crate::{
    error::OpError,
    model::{
        candidate::{Candidate, commit_file, contract_of},
        oid::Oid,
    },
    repo::{
        CodeRepo,
        blue_files::{CONTRACTS, Files},
    },
};

/// Marks the contract files that the working tree has, but `files` do not. `commit` is the commit of `files`, unless they
/// are those of the index, or nothing was committed yet.
///
/// # Errors
/// Returns an error if `files` or HEAD cannot be read.
pub fn mark(
    code: &CodeRepo,
    files: Option<&Files<'_>>,
    commit: Option<&Oid>,
    candidate: &mut Candidate,
) -> Result<(), OpError> {
    let Some(root) = code.workdir().filter(|_| !matches!(files, Some(Files::Worktree(..)))) else { return Ok(()) };
    // A folder that cannot be read does not prevent a check of a commit.
    let mut paths: Vec<_> = Files::on_disk(root).below(CONTRACTS).unwrap_or_default().into_keys().collect();
    paths.retain(|path| contract_of(path).is_some_and(|key| !candidate.contracts.contains_key(&key)));
    let mut lacking = Vec::new();
    for path in paths {
        if !files.map(|files| files.exists(&path)).transpose()?.unwrap_or_default() {
            lacking.push(path);
        }
    }
    let is_current = commit.is_none() || code.head()?.commit.as_ref() == commit;
    let forced = code.needing_force(lacking.iter().map(String::as_str));
    for path in lacking {
        let key = contract_of(&path).filter(|_| is_current);
        let command =
            key.map(|(domain, contract)| commit_file(&domain, &contract, &candidate.up, forced.contains(&path)));
        candidate.uncommitted.insert(path, command);
    }
    Ok(())
}
