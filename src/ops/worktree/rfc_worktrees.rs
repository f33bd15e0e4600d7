//! The repositories, branch and folders of an RFC's worktrees. All operations use these functions.

use std::path::{Path, PathBuf};

use crate::ops::{
    ctx::{Ctx, RealmContext},
    repos::unknown,
};
use crate::{
    error::OpError,
    model::{
        name::{DomainName, RealmName, RepoName, RfcName},
        text::comma_separated_at_most,
    },
    store::overview::Overview,
};

/// The configuration key of the prefix of branch names.
const PREFIX: &str = "blue.branchPrefix";

/// The maximum depth of a worktree below the root: an RFC's name has at most 100 segments.
const MAX_DEPTH: usize = 101;

/// The maximum number of domains that a reason names.
const MAX_NAMED: usize = 5;

/// Returns the branch of an RFC: that of its worktrees, since a prefix in the configuration of one repository is unknown in
/// the others, or else the configured one.
///
/// # Errors
/// Returns a usage error if `blue.branchPrefix` does not result in a valid name.
pub fn branch(ctx: &Ctx, rfc: &RfcName) -> Result<String, OpError> {
    let configured = configured_branch(ctx, rfc);
    let is_right = |branch: &String| configured.as_ref().is_ok_and(|configured| configured == branch);
    let of_worktrees = branches(ctx, rfc);
    match of_worktrees.iter().find(|branch| is_right(branch)).or(of_worktrees.first()) {
        Some(branch) => Ok(branch.clone()),
        None => configured,
    }
}

/// Returns the branches of an RFC's worktrees that are named after it.
fn branches(ctx: &Ctx, rfc: &RfcName) -> Vec<String> {
    let Ok(here) = ctx.realm() else { return Vec::new() };
    let entries = root(ctx, &here.realm).join(rfc.to_string()).read_dir().into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<_> = entries.map(|entry| entry.path()).filter(|path| path.join(".git").exists()).collect();
    folders.sort();
    let branch = |folder: &PathBuf| ctx.other_repo(folder).ok()??.head().ok()?.branch;
    folders.iter().filter_map(branch).filter(|branch| branch.ends_with(&rfc.to_string())).collect()
}

/// Returns the branch that the configuration gives an RFC.
fn configured_branch(ctx: &Ctx, rfc: &RfcName) -> Result<String, OpError> {
    let prefix = ctx.setting(PREFIX).unwrap_or_default();
    // A branch is parsed as an RFC's name, because these follow git-check-ref-format.
    let branch: RfcName = format!("{prefix}{rfc}").parse().map_err(|error: crate::model::name::NameError| {
        OpError::usage(format!("{PREFIX} = {prefix:?} does not give a valid branch for {rfc}: {}", error.rule))
    })?;
    Ok(branch.to_string())
}

/// Returns the RFC of a branch.
pub fn rfc_of_branch(ctx: &Ctx, branch: &str) -> Option<RfcName> {
    branch.strip_prefix(&*ctx.setting(PREFIX).unwrap_or_default())?.parse().ok()
}

/// Returns the folder of all worktrees of a realm, with links resolved if it exists.
pub fn root(ctx: &Ctx, realm: &RealmName) -> PathBuf {
    let root = ctx.home.folder().join("worktrees").join(realm.as_str());
    dunce::canonicalize(&root).unwrap_or(root)
}

/// Returns the folder of an RFC's worktree of a repository.
pub fn path(root: &Path, rfc: &RfcName, repo: &RepoName) -> PathBuf {
    root.join(rfc.to_string()).join(repo.as_str())
}

/// Returns the RFC and the repository of a worktree's folder below the root.
pub fn parse(root: &Path, path: &Path) -> Option<(RfcName, RepoName)> {
    let (rfc, repo) = path.strip_prefix(root).ok()?.to_str()?.rsplit_once('/')?;
    Some((rfc.parse().ok()?, repo.parse().ok()?))
}

/// Returns the RFC whose worktree contains the current folder, if there is one.
pub fn current_rfc(ctx: &Ctx, realm: &RealmName) -> Option<RfcName> {
    let top = ctx.code.as_ref()?.workdir()?;
    parse(&root(ctx, realm), &top).map(|(rfc, _)| rfc)
}

/// Returns the RFC whose worktree this is, or whose branch is checked out in another one.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn checked_out_rfc(ctx: &Ctx, realm: &RealmName) -> Result<Option<RfcName>, OpError> {
    let Some(code) = &ctx.code else { return Ok(None) };
    let branch = code.head()?.branch.filter(|branch| code.publishing_branch().ok().flatten().as_ref() != Some(branch));
    Ok(current_rfc(ctx, realm).or_else(|| rfc_of_branch(ctx, &branch?)))
}

/// Returns the folders below the root that are worktrees of any repository. Links are not followed, and worktrees are
/// not searched.
pub fn linked(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![(root.to_owned(), 0)]);
    while let Some((folder, depth)) = folders.pop() {
        for entry in folder.read_dir().into_iter().flatten().filter_map(Result::ok) {
            let path = entry.path();
            if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            if path.join(".git").symlink_metadata().is_ok() {
                found.push(path);
            } else if depth < MAX_DEPTH {
                folders.push((path, depth + 1));
            }
        }
    }
    found.sort();
    found
}

/// Returns the repositories to work in, and why: those that were named, or else the current
/// repository and all that share a domain with it.
///
/// # Errors
/// Returns an error if no repository is named, or one is not in the realm.
pub fn select(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    named: Option<&[RepoName]>,
) -> Result<(Vec<RepoName>, String), OpError> {
    if let Some(named) = named {
        let mut repos = named.to_vec();
        repos.sort();
        repos.dedup();
        if repos.is_empty() {
            let error = OpError::usage("no repository was named");
            return Err(error.next("omit --repos to choose all that share a domain with this one"));
        }
        if let Some(stranger) = repos.iter().find(|repo| !overview.repos().contains_key(*repo)) {
            return Err(unknown::error((&here.realm, &*here.store), stranger, overview.repos().keys()));
        }
        return Ok((repos, "Named in --repos".into()));
    }
    let acting = ctx.acting_repo()?;
    let mut repos = vec![acting.repo.clone()];
    let mut domains: Vec<&DomainName> = Vec::new();
    for line in overview.domains_of(acting.repo) {
        let before = repos.len();
        repos.extend(line.repos.iter().filter(|repo| overview.repos().contains_key(*repo)).cloned());
        if repos[before..].iter().any(|repo| repo != acting.repo) {
            domains.push(&line.name);
        }
    }
    repos.sort();
    repos.dedup();
    let reason = match &domains[..] {
        [] => format!("{} shares no domain with another repository", acting.repo),
        domains => format!("Repositories that share {}", comma_separated_at_most(MAX_NAMED, domains)),
    };
    Ok((repos, reason))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_identifies_its_worktree() {
        let root = Path::new("/r");
        let (rfc, repo): (RfcName, RepoName) = ("feat/x".parse().unwrap(), "blue".parse().unwrap());
        let at = path(root, &rfc, &repo);
        assert_eq!(at, Path::new("/r/feat/x/blue"));
        assert_eq!(parse(root, &at), Some((rfc, repo)));
        for other in ["/r", "/r/blue", "/other/feat/blue", "/r/.hidden/blue", "/r/x/.git"] {
            assert_eq!(parse(root, Path::new(other)), None, "{other}");
        }
    }
}
