//! `realm_worktree_create`: creates a worktree of an RFC in each of several repositories. Existing ones are reused,
//! and a failure in one repository does not stop the others.

use std::{
    fs::File,
    path::{Path, PathBuf},
    thread,
    time::{Duration, Instant},
};

use super::rfc_worktrees;
use crate::{
    error::{ErrorCode, NextStep, OpError},
    locate,
    model::{
        name::{RealmName, RepoName, RfcName},
        repo_url::without_credentials,
        text::{comma_separated, shell_path, shell_word},
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        repos::{self, joined, paths::FoundRepo, unknown},
        runs,
        sync::url,
    },
    repo::work::{self, Work, Worktree},
    store::{StoreError, overview::Overview},
    wire::{Answer, RepoProblem, WorktreeCreate},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_worktree_create",
    &["realm", "worktree", "create"],
    "Create the worktrees of an RFC",
)
.tool("Create an RFC's branch and worktree in each repository that shares a domain, or those given.");

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The name of the RFC and of its branches
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: RfcName,
    /// The repositories [default: all that share a domain with this one]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO,…", value_delimiter = ','))]
    pub repos: Option<Vec<RepoName>>,
    /// Fetch first, so that new branches start from the remotes' branches
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub fetch: bool,
    /// Clone repositories that are not on this machine
    ///
    /// Asks for confirmation first, unless --yes is given.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub clone: bool,
}

runs!(WorktreeCreate, run);

/// The work in one repository.
struct Job {
    found: FoundRepo,
    work: Work,
    path: PathBuf,
}

/// Creates the worktrees.
///
/// # Errors
/// Returns an error if the request names no repository, or one that is not in the realm, or if the realm cannot be
/// read. Failures in individual repositories are part of the answer.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<WorktreeCreate>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let (repos, reason) = rfc_worktrees::select(ctx, here, &overview, request.repos.as_deref())?;
    let branch = rfc_worktrees::branch(ctx, &request.rfc)?;
    let top = ctx.home.folder().join("worktrees").join(here.realm.as_str());
    std::fs::create_dir_all(&top).map_err(OpError::io("create", &top))?;
    let root = rfc_worktrees::root(ctx, &here.realm);
    let mut body = WorktreeCreate {
        rfc: request.rfc.clone(),
        realm: here.realm.clone(),
        branch: branch.clone(),
        reason,
        created: Vec::new(),
        reused: Vec::new(),
        paths: std::collections::BTreeMap::new(),
        errors: Vec::new(),
    };
    let (mut jobs, mut cloned) = (Vec::new(), Vec::new());
    for name in &repos {
        match located(ctx, here, &overview, name, request.clone.then_some(&mut cloned))? {
            Ok(found) => {
                let path = rfc_worktrees::path(&root, &request.rfc, name);
                jobs.push(Job { work: found.work(ctx), found, path });
            }
            Err(problem) => body.errors.push(problem),
        }
    }
    let place = (&*root, ctx.env.lock_timeout());
    let made = repos::for_each::each(&ctx.progress(), &jobs, |job| make(job, &branch, place, request.fetch))?;
    for (job, made) in jobs.iter().zip(made) {
        let name = job.found.name.clone();
        match made {
            Ok(is_new) => {
                body.paths.insert(name.clone(), job.path.display().to_string());
                if let Err(error) = record_realm(job, &here.realm) {
                    body.errors.push(RepoProblem { repo: name.clone(), ..of_git(&name, &error) });
                }
                if is_new { &mut body.created } else { &mut body.reused }.push(name);
            }
            Err(problem) => body.errors.push(problem),
        }
    }
    body.errors.sort_by(|a, b| a.repo.cmp(&b.repo));
    let hooks = cloned.iter().map(|folder| {
        let folder = shell_path(folder);
        format!("git -C {folder} blue hooks install  # publish what is merged there; the new clone has no hooks")
    });
    Ok(with_next_steps(here, request, body).next_all(hooks))
}

/// Returns the repositories that would have to be cloned, with their URLs. The URLs come from the realm, so the caller
/// has to ask the user.
///
/// # Errors
/// Returns the errors of [`run`].
pub fn missing(ctx: &Ctx, request: &Request) -> Result<Vec<(RepoName, String)>, OpError> {
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let (repos, _) = rfc_worktrees::select(ctx, here, &overview, request.repos.as_deref())?;
    let mut missing = Vec::new();
    for name in repos {
        let Some(repo) = overview.repos().get(&name) else { continue };
        if let (Err(_), Some(url)) = (repos::paths::find(ctx, here, repo)?, &repo.url) {
            missing.push((name, url.clone()));
        }
    }
    Ok(missing)
}

/// Finds a repository. If it is not on this machine and `cloned` is given, clones it and adds the folder.
fn located(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    name: &RepoName,
    cloned: Option<&mut Vec<PathBuf>>,
) -> Result<Result<FoundRepo, RepoProblem>, OpError> {
    let Some(repo) = overview.repos().get(name) else {
        let error = unknown::error((&here.realm, &*here.store), name, overview.repos().keys());
        return Ok(Err(RepoProblem::new(name, error.code, error.message)));
    };
    let (problem, cloned) = match (repos::paths::find(ctx, here, repo)?, cloned) {
        (Err(problem), Some(cloned)) => (problem, cloned),
        (found, _) => return Ok(found),
    };
    let Some(from) = &repo.url else {
        let message = format!("{}; the realm does not know where to clone it from", problem.message);
        return Ok(Err(RepoProblem { message, ..problem }));
    };
    let to = repos::paths::clone_folder(ctx, &here.realm, name);
    if let Err(problem) = is_unused(name, &to, "a complete clone") {
        return Ok(Err(problem));
    }
    let vars = ctx.env.vars_for_other_repo();
    let done = url::accept(from).and_then(|from| Ok(work::clone(from, &to, vars, ctx.env.is_error_terminal())?));
    if let Err(error) = done {
        let message = format!("cannot clone {name} from {}: {}", without_credentials(from), error.message);
        return Ok(Err(RepoProblem::new(name, ErrorCode::NotCloned, message)));
    }
    let to = dunce::canonicalize(&to).unwrap_or(to);
    ctx.home.record_repo(&here.realm, name, &to)?;
    cloned.push(to.clone());
    // The user agreed to clone this repository from the URL in the realm.
    if let Some(code) = ctx.other_repo(&to)? {
        joined::write(&ctx.home, &code, &here.realm, name, !repo.roots.is_empty())?;
    }
    repos::paths::find(ctx, here, repo)
}

/// Creates a worktree, unless it exists. Returns whether it was created. Waits for other processes that create one of the
/// same repository.
fn make(job: &Job, branch: &str, (root, patience): (&Path, Duration), fetch: bool) -> Result<bool, RepoProblem> {
    let Job { found, work, path } = job;
    let name = &found.name;
    let git = |error: StoreError| of_git(name, &error);
    let held = lock(name, root, patience)?;
    let trees = work.worktrees().map_err(git)?;
    match trees.iter().find(|tree| tree.path == *path) {
        // Git would treat it as complete, although files are missing.
        Some(there) if there.is_unfinished() => work.remove_unfinished(there).map_err(git)?,
        Some(there) if !there.is_gone => return is_on(there, name, branch).map(|()| false),
        Some(there) if there.lock.is_some() => {
            let message = format!("the worktree {} is locked, and its directory is missing", path.display());
            return Err(RepoProblem::new(name, ErrorCode::LockedWorktree, message).next(unlock(found, there)));
        }
        // If the folder was deleted, git's record of the worktree would prevent a new one.
        Some(_) => work.remove_worktree(path, false).map_err(git)?,
        None => {}
    }
    if let Some(other) = trees.iter().find(|tree| tree.path != *path && tree.branch.as_deref() == Some(branch)) {
        let message = format!("{branch} of {name} is checked out in {}", other.path.display());
        let next =
            format!("git -C {} switch --detach  # free the branch; or remove that worktree", shell_path(&other.path));
        return Err(RepoProblem::new(name, ErrorCode::BranchCheckedOut, message).next(next));
    }
    is_free(name, path, root)?;
    if fetch && work.has_remote().map_err(git)? {
        work.fetch().map_err(|error| {
            let next = format!("git -C {} fetch  # or omit --fetch", shell_path(&found.folder));
            RepoProblem::new(name, ErrorCode::NotFetched, error.to_string()).next(next)
        })?;
    }
    let Some(start) = work.start(branch, found.default.as_deref()).map_err(git)? else {
        let folder = shell_path(&found.folder);
        let (message, next) = if work.has_branches().map_err(git)? {
            let next = format!("git -C {folder} config blue.publishBranch …  # its default branch");
            (format!("{name} has no default branch with a commit to start from"), next)
        } else {
            (
                format!("{name} has no commit to start from"),
                format!("git -C {folder} commit …  # make its first commit"),
            )
        };
        return Err(RepoProblem::new(name, ErrorCode::NoDefaultBranch, message).next(next));
    };
    work.add_worktree(path, branch, &start, held).map_err(|error| match work.is_blocked(branch) {
        Ok(true) => git(error).next(OTHER_NAME),
        _ => git(error),
    })?;
    Ok(true)
}

/// Takes the lock that is held while a worktree of the repository is being created.
fn lock(name: &RepoName, root: &Path, patience: Duration) -> Result<File, RepoProblem> {
    let path = root.join(format!(".{name}.lock"));
    let file = File::create(&path).map_err(StoreError::io("create", &path)).map_err(|error| of_git(name, &error))?;
    let end = Instant::now() + patience;
    while file.try_lock().is_err() {
        if Instant::now() >= end {
            let message = format!("another process is creating a worktree of {name}");
            return Err(RepoProblem::new(name, ErrorCode::Busy, message).next("try again once it has ended"));
        }
        thread::sleep(Duration::from_millis(50));
    }
    Ok(file)
}

/// The step if an RFC cannot have this name.
const OTHER_NAME: &str = "choose another name for the RFC";

fn is_on(there: &Worktree, name: &RepoName, branch: &str) -> Result<(), RepoProblem> {
    if there.branch.as_deref() == Some(branch) {
        return Ok(());
    }
    let at = there.path.display();
    let on = there.branch.as_deref().map_or("no branch".into(), |on| format!("the branch {on}"));
    let message = format!("the worktree {at} is on {on}, not on {branch}");
    Err(of_other_branch(name, &there.path, branch, message))
}

/// Checks that the path does not exist and is not in another worktree: the RFCs `a` and `a/b` would put a repository
/// `b` and all others of `a/b` into one folder.
fn is_free(name: &RepoName, path: &Path, root: &Path) -> Result<(), RepoProblem> {
    let above = path.ancestors().skip(1).take_while(|above| *above != root);
    if let Some(other) = above.into_iter().find(|above| above.join(".git").symlink_metadata().is_ok()) {
        let message = format!("{} would be inside another worktree, {}", path.display(), other.display());
        return Err(RepoProblem::new(name, ErrorCode::NestedWorktree, message).next(OTHER_NAME));
    }
    is_unused(name, path, "a worktree")
}

/// Checks that the path does not exist, or is an empty folder.
fn is_unused(name: &RepoName, path: &Path, what: &str) -> Result<(), RepoProblem> {
    let is_empty = |path: &Path| path.read_dir().is_ok_and(|mut entries| entries.next().is_none());
    if path.symlink_metadata().is_ok() && !is_empty(path) {
        let message = format!("{} already exists, and is not {what} of {name}", path.display());
        return Err(RepoProblem::new(name, ErrorCode::PathTaken, message).next(format!("move {} away", path.display())));
    }
    Ok(())
}

/// Makes the new worktree part of the realm even if its branch lacks `.blue/config.yaml`, by writing to the
/// repository's own git configuration.
fn record_realm(job: &Job, realm: &RealmName) -> Result<(), StoreError> {
    let within = job.work.at(&job.path);
    if job.path.join(locate::CONFIG).exists() || within.config("blue.realm")?.is_some() {
        return Ok(());
    }
    within.set_config("blue.repo", job.found.name.as_str())?;
    within.set_config("blue.realm", realm.as_str())
}

/// Returns the command that unlocks a worktree.
pub(crate) fn unlock(found: &FoundRepo, tree: &Worktree) -> String {
    format!("git -C {} worktree unlock {}", shell_path(&found.folder), shell_path(&tree.path))
}

/// Returns the problem that a worktree is on another branch, with the command that switches to `branch`.
pub(crate) fn of_other_branch(repo: &RepoName, path: &Path, branch: &str, message: String) -> RepoProblem {
    let next = format!("git -C {} switch {}", shell_path(path), shell_word(branch));
    RepoProblem::new(repo, ErrorCode::OtherBranch, message).next(next)
}

/// Returns the problem with the message of git, or of a hook that git ran.
pub(crate) fn of_git(repo: &RepoName, error: &StoreError) -> RepoProblem {
    RepoProblem::new(repo, ErrorCode::Git, error.to_string())
}

fn with_next_steps(here: &RealmContext, request: &Request, body: WorktreeCreate) -> Answer<WorktreeCreate> {
    let mine = here.repo.as_ref().and_then(|repo| body.paths.get(repo));
    let first = mine.or_else(|| body.paths.values().next()).cloned();
    let needs_name = |error: &RepoProblem| error.next_step.as_deref() == Some(&NextStep::from(OTHER_NAME));
    let (rfc, can_retry) = (body.rfc.clone(), !body.errors.iter().all(needs_name));
    let is_missing = |one: &&RepoProblem| !request.clone && one.code == ErrorCode::NotOnThisMachine.as_str();
    let missing: Vec<_> = body.errors.iter().filter(is_missing).map(|one| one.repo.clone()).collect();
    let others = body.errors.iter().filter(|one| !is_missing(one));
    let steps: Vec<_> = others.filter_map(|one| one.next_step.as_deref().cloned()).collect();
    let mut answer = Answer::new(body);
    if let Some(path) = first {
        let path = shell_word(&path);
        answer = answer
            .next(format!("cd {path}  # start working"))
            .next(format!("git blue -C {path} session start --rfc {rfc}  # track your work"));
    }
    answer.next_steps.extend(steps);
    if can_retry {
        let list = |repos: &Vec<RepoName>| repos.iter().map(RepoName::as_str).collect::<Vec<_>>().join(",");
        let repos = request.repos.as_ref().map(|repos| format!(" --repos {}", list(repos))).unwrap_or_default();
        let clone = if request.clone || !missing.is_empty() { " --clone" } else { "" };
        let fetch = if request.fetch { " --fetch" } else { "" };
        let why = if missing.is_empty() {
            "retry what failed".to_owned()
        } else {
            format!("clone {}, and retry what failed", comma_separated(&missing))
        };
        answer = answer.next(format!("git blue realm worktree create --rfc {rfc}{repos}{clone}{fetch}  # {why}"));
    }
    answer.next_steps.dedup();
    answer
}
