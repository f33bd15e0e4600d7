//! `realm_worktree_list`: lists the worktrees of the realm's repositories on this machine, and the progress in each.

use std::{collections::BTreeSet, path::Path};

use super::{create::of_git, rfc_worktrees};
use crate::{
    error::{NextStep, OpError},
    model::{
        name::RepoName,
        text::{shell_path, shell_word},
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        repos::{self, paths::FoundRepo},
        runs,
    },
    repo::work::{Work, WorkStatus, Worktree},
    store::{StoreError, overview::Overview},
    wire::{Answer, RepoProblem, WorktreeLine, WorktreeList, WorktreeState},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_worktree_list",
    &["realm", "worktree", "list"],
    "List the worktrees of all RFCs, and their progress",
);

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {}

runs!(WorktreeList, |ctx, _| run(ctx));

/// Lists the worktrees.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn run(ctx: &Ctx) -> Result<Answer<WorktreeList>, OpError> {
    let here = ctx.realm()?;
    let root = rfc_worktrees::root(ctx, &here.realm);
    let (found, mut errors) = all_found(ctx, here)?;
    let jobs: Vec<_> = found.iter().map(|found| (found, found.work(ctx))).collect();
    let mut lines = Vec::new();
    let mut claimed = BTreeSet::new();
    let listed = repos::for_each::each(&ctx.progress(), &jobs, |(found, work)| of_repo(found, work))?;
    for (found, listed) in found.iter().zip(listed) {
        match listed {
            Ok(trees) => {
                for (tree, standing) in trees {
                    claimed.insert(tree.path.clone());
                    lines.push(line(ctx, &root, found, &tree, standing));
                }
            }
            Err(error) => errors.push(of_git(&found.name, &error)),
        }
    }
    let folders = rfc_worktrees::linked(&root);
    lines.extend(folders.iter().filter(|path| !claimed.contains(*path)).map(|path| orphan(ctx, &root, path)));
    lines.sort_by(|a, b| (a.rfc.is_none(), &a.rfc, &a.repo, &a.path).cmp(&(b.rfc.is_none(), &b.rfc, &b.repo, &b.path)));
    let steps = next_steps(&lines, &found);
    let mut answer = Answer::new(WorktreeList { realm: here.realm.clone(), worktrees: lines, errors });
    answer.next_steps = steps;
    Ok(answer)
}

/// Returns the realm's repositories on this machine. A repository that was never here is not a problem; one that has
/// disappeared is.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub(crate) fn all_found(ctx: &Ctx, here: &RealmContext) -> Result<(Vec<FoundRepo>, Vec<RepoProblem>), OpError> {
    let overview = Overview::open(&*here.store)?;
    let (mut found, mut errors) = (Vec::new(), Vec::new());
    let search = repos::paths::Search::new(ctx, here)?;
    for repo in overview.repos().values() {
        match search.find(repo)? {
            Ok(one) => found.push(one),
            Err(problem) if problem.code == "not-on-this-machine" => {}
            Err(problem) => errors.push(problem),
        }
    }
    Ok((found, errors))
}

/// Returns the linked worktrees of a repository, and the progress in each.
fn of_repo(found: &FoundRepo, work: &Work) -> Result<Vec<(Worktree, Option<WorkStatus>)>, StoreError> {
    let base = found.default.as_deref().map(|default| work.base(default)).transpose()?.flatten();
    let standing = |tree: Worktree| {
        // A worktree that cannot be read is still listed.
        let standing = (!tree.is_gone).then(|| work.at(&tree.path).status(base.as_deref()).ok()).flatten();
        (tree, standing)
    };
    // The first one is the main worktree.
    Ok(work.worktrees()?.into_iter().skip(1).map(standing).collect())
}

fn line(ctx: &Ctx, root: &Path, found: &FoundRepo, tree: &Worktree, standing: Option<WorkStatus>) -> WorktreeLine {
    let meant = rfc_worktrees::parse(root, &tree.path).filter(|(_, repo)| *repo == found.name);
    let state = match &meant {
        _ if tree.is_gone => WorktreeState::Gone,
        Some(_) => WorktreeState::Present,
        None => WorktreeState::Elsewhere,
    };
    let of_branch = || rfc_worktrees::rfc_of_branch(ctx, tree.branch.as_deref()?);
    WorktreeLine {
        rfc: meant.map(|(rfc, _)| rfc).or_else(of_branch),
        repo: Some(found.name.clone()),
        path: tree.path.display().to_string(),
        state,
        is_current: is_current(ctx, &tree.path),
        branch: tree.branch.clone(),
        uncommitted_changes: standing.as_ref().map(|standing| standing.uncommitted),
        commits_ahead: standing.as_ref().map(|standing| standing.ahead),
        commits_behind: standing.as_ref().map(|standing| standing.behind),
        pushed: standing.as_ref().map(|standing| standing.unpushed == Some(0)),
        locked: tree.lock.is_some(),
    }
}

fn orphan(ctx: &Ctx, root: &Path, path: &Path) -> WorktreeLine {
    let meant = rfc_worktrees::parse(root, path);
    WorktreeLine {
        rfc: meant.map(|(rfc, _)| rfc),
        repo: None,
        path: path.display().to_string(),
        state: WorktreeState::Orphan,
        is_current: is_current(ctx, path),
        branch: None,
        uncommitted_changes: None,
        commits_ahead: None,
        commits_behind: None,
        pushed: None,
        locked: false,
    }
}

fn is_current(ctx: &Ctx, path: &Path) -> bool {
    let cwd = ctx.env.cwd();
    dunce::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned()).starts_with(path)
}

fn next_steps(lines: &[WorktreeLine], found: &[FoundRepo]) -> Vec<NextStep> {
    let git = |repo: &RepoName| {
        let found = found.iter().find(|found| found.name == *repo)?;
        Some(format!("git -C {} worktree", shell_path(&found.folder)))
    };
    let mut steps = Vec::new();
    for line in lines {
        match (line.state, &line.repo) {
            // Git prunes no worktree that is locked.
            (WorktreeState::Gone, Some(repo)) if line.locked => {
                let unlock = |git: String| format!("{git} unlock {} && {git} prune", shell_word(&line.path));
                let step = git(repo).map(unlock);
                steps.extend(step.map(|step| format!("{step}  # unless {} comes back", line.path).into()));
            }
            (WorktreeState::Gone, Some(repo)) => {
                let moved = |git: &String| format!("or, if {} was moved: {git} repair NEW-PATH", line.path);
                steps.extend(git(repo).map(|git| format!("{git} prune  # {}", moved(&git)).into()));
            }
            (WorktreeState::Orphan, _) => {
                steps.push(NextStep::advice(format!(
                    "run git worktree repair {} in the repository that it belongs to",
                    line.path
                )));
            }
            _ => {}
        }
    }
    steps.dedup();
    steps.truncate(5);
    steps
}
