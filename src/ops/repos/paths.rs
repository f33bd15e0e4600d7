//! Finds the repositories of the realm on this machine.

use std::path::{Path, PathBuf};

use super::joined;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{RealmName, RepoName},
        realm::Repo,
        text::shell_path,
    },
    ops::ctx::{Ctx, RealmContext},
    repo::{CodeRepo, DiscoverOptions, work::Work},
    wire::RepoProblem,
};

/// The maximum depth below `blue.root` at which repositories are searched for.
const MAX_DEPTH: usize = 4;

/// A repository that was found.
#[derive(Debug)]
pub struct FoundRepo {
    /// Its name.
    pub name: RepoName,
    /// The root of its main worktree, or its folder if it is bare.
    pub folder: PathBuf,
    /// Its default branch, if it has one.
    pub default: Option<String>,
    /// The configured fetch URL.
    pub url: Option<String>,
}

impl FoundRepo {
    /// Returns a runner of git commands in the repository.
    pub fn work(&self, ctx: &Ctx) -> Work {
        Work::new(&self.folder, ctx.env.vars_for_other_repo())
    }
}

/// Finds a repository of the realm: the one that contains the current folder, the one in the folder that this machine
/// recorded, or one below a folder of `blue.root`, which is then recorded.
///
/// # Errors
/// Returns an error if this machine's records cannot be read or written.
pub fn find(ctx: &Ctx, here: &RealmContext, repo: &Repo) -> Result<Result<FoundRepo, RepoProblem>, OpError> {
    let problem = |code: ErrorCode, message: String| RepoProblem::new(&repo.name, code, message);
    let of = |error: OpError| failed(&repo.name, error);
    if let (Some(code), true) = (&ctx.code, here.repo.as_ref() == Some(&repo.name))
        && is_meant(ctx, here, code, repo)
    {
        return Ok(found(&repo.name, code).map_err(of));
    }
    let recorded = ctx.home.repo_path(&here.realm, &repo.name)?;
    let wrong = match &recorded {
        None => problem(ErrorCode::NotOnThisMachine, format!("no clone of {} is known on this machine", repo.name))
            .next(format!("clone it and run git blue init --realm {} in it, or pass --clone", here.realm)),
        Some(folder) => match open(ctx, here, folder, repo) {
            Ok(Some(code)) => return Ok(found(&repo.name, &code).map_err(of)),
            Ok(None) if folder.exists() => problem(
                ErrorCode::WrongRepository,
                format!("{} is not joined to the realm {} as {}", folder.display(), here.realm, repo.name),
            )
            .next(format!("git -C {} blue init --realm {}", shell_path(folder), here.realm)),
            Ok(None) => problem(
                ErrorCode::PathGone,
                format!("{} was at {}, which no longer exists", repo.name, folder.display()),
            )
            .next(format!("run git blue init --realm {} in its new location, or pass --clone", here.realm)),
            Err(error) => of(error),
        },
    };
    let roots = Work::new(ctx.env.cwd(), ctx.env.vars().clone()).configs("blue.root")?;
    let mut clones = Vec::new();
    for root in roots {
        below(ctx, here, &expanded(ctx, &root), repo, MAX_DEPTH, &mut clones);
    }
    clones.sort_by_key(CodeRepo::main_folder);
    clones.dedup_by_key(|code| code.main_folder());
    match &clones[..] {
        [] => Ok(Err(wrong)),
        [code] => {
            ctx.home.record_repo(&here.realm, &repo.name, &code.main_folder())?;
            Ok(found(&repo.name, code).map_err(of))
        }
        [one, other, ..] => {
            let [one, other] = [one, other].map(CodeRepo::main_folder);
            let message = format!("both {} and {} are clones of {}", one.display(), other.display(), repo.name);
            let step = format!("git -C {} blue init  # or in the other", shell_path(&one));
            Ok(Err(problem(ErrorCode::AmbiguousClone, message).next(step)))
        }
    }
}

/// Returns the problem that made an operation fail in one repository.
pub(crate) fn failed(repo: &RepoName, error: OpError) -> RepoProblem {
    let next_step = error.next_steps.into_iter().next().map(Box::new);
    RepoProblem { next_step, ..RepoProblem::new(repo, error.code, error.message) }
}

/// Returns the default folder of a new clone of a repository of the realm.
pub fn clone_folder(ctx: &Ctx, realm: &RealmName, repo: &RepoName) -> PathBuf {
    ctx.home.folder().join("clones").join(realm.as_str()).join(repo.as_str())
}

fn found(name: &RepoName, code: &CodeRepo) -> Result<FoundRepo, OpError> {
    Ok(FoundRepo {
        name: name.clone(),
        folder: code.main_folder(),
        default: code.publishing_branch()?,
        url: code.origin_urls().map(|[configured, _]| configured),
    })
}

/// Opens the repository in exactly this folder, if it is the repository of the realm.
fn open(ctx: &Ctx, here: &RealmContext, folder: &Path, repo: &Repo) -> Result<Option<CodeRepo>, OpError> {
    let Ok(folder) = dunce::canonicalize(folder) else { return Ok(None) };
    let place = DiscoverOptions { cwd: folder.clone(), vars: ctx.env.vars_for_other_repo(), in_hook: false };
    let code = CodeRepo::discover(&place)?.filter(|code| code.main_folder() == folder);
    Ok(code.filter(|code| is_meant(ctx, here, code, repo)))
}

/// Returns whether the user joined this clone as the repository. Forks, and repositories made from one template, cannot
/// be distinguished in any other way.
fn is_meant(ctx: &Ctx, here: &RealmContext, code: &CodeRepo, repo: &Repo) -> bool {
    joined::read(&ctx.home, code).is_ok_and(|joined| joined.is_some_and(|joined| joined.is_of(&here.realm, &repo.name)))
}

/// Finds the clones below a folder that were joined as the repository. Links are not followed, and repositories within
/// repositories are not searched.
fn below(ctx: &Ctx, here: &RealmContext, folder: &Path, repo: &Repo, depth: usize, clones: &mut Vec<CodeRepo>) {
    if folder.join(".git").is_dir() || folder.join("HEAD").is_file() {
        clones.extend(open(ctx, here, folder, repo).ok().flatten());
        return;
    }
    let (Ok(entries), Some(next)) = (folder.read_dir(), depth.checked_sub(1)) else { return };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for entry in folders {
        below(ctx, here, &entry.path(), repo, next, clones);
    }
}

fn expanded(ctx: &Ctx, folder: &str) -> PathBuf {
    match (folder.strip_prefix("~/"), ctx.env.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => ctx.env.cwd().join(folder),
    }
}
