//! Finds the repositories of the realm on this machine.

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::joined;
use crate::{
    error::{ErrorCode, OpError},
    model::{
        name::{RealmName, RepoName},
        realm::Repo,
        text::shell_path,
    },
    ops::ctx::{Ctx, RealmContext},
    repo::{CodeRepo, work::Work},
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
    /// The remote that branches are fetched from and pushed to.
    pub remote: String,
    /// Its configured fetch URL.
    pub url: Option<String>,
}

impl FoundRepo {
    /// Returns a runner of git commands in the repository.
    pub fn work(&self, ctx: &Ctx) -> Work {
        Work::new(&self.folder, ctx.env.vars_for_other_repo()).with_remote(&self.remote)
    }
}

/// Finds one repository of the realm, like [`Search::find`].
///
/// # Errors
/// Returns an error if this machine's records cannot be read or written.
pub fn find(ctx: &Ctx, here: &RealmContext, repo: &Repo) -> Result<Result<FoundRepo, RepoProblem>, OpError> {
    Search::new(ctx, here)?.find(repo)
}

/// A search for repositories of a realm. It reads the records of this machine once, and the folders of `blue.root` at
/// most once.
pub struct Search<'a> {
    ctx: &'a Ctx,
    here: &'a RealmContext,
    recorded: BTreeMap<RepoName, PathBuf>,
    below_roots: OnceCell<Clones>,
}

/// The folders of clones, by the name under which they were joined.
type Clones = BTreeMap<RepoName, BTreeSet<PathBuf>>;

impl<'a> Search<'a> {
    /// Reads the records of this machine.
    ///
    /// # Errors
    /// Returns an error if they cannot be read.
    pub fn new(ctx: &'a Ctx, here: &'a RealmContext) -> Result<Self, OpError> {
        let recorded = ctx.home.repo_paths(&here.realm)?;
        Ok(Self { ctx, here, recorded, below_roots: OnceCell::new() })
    }

    /// Finds a repository: the one that contains the current folder, the one in the folder that this machine recorded,
    /// or one below a folder of `blue.root`, which is then recorded.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be written, or the configuration cannot be read.
    pub fn find(&self, repo: &Repo) -> Result<Result<FoundRepo, RepoProblem>, OpError> {
        let Self { ctx, here, .. } = *self;
        let problem = |code: ErrorCode, message: String| RepoProblem::new(&repo.name, code, message);
        let of = |error: OpError| failed(&repo.name, error);
        if let (Some(code), true) = (&ctx.code, here.repo.as_ref() == Some(&repo.name))
            && joined_as(ctx, here, code).as_ref() == Some(&repo.name)
        {
            return Ok(found(&repo.name, code).map_err(of));
        }
        let wrong = match self.recorded.get(&repo.name) {
            None => problem(ErrorCode::NotOnThisMachine, format!("no clone of {} is known on this machine", repo.name))
                .next(format!("clone it and run git blue init --realm {} in it, or pass --clone", here.realm)),
            Some(folder) => match open(ctx, folder) {
                Ok(Some(code)) if joined_as(ctx, here, &code).as_ref() == Some(&repo.name) => {
                    return Ok(found(&repo.name, &code).map_err(of));
                }
                Ok(_) if folder.exists() => problem(
                    ErrorCode::WrongRepository,
                    format!("{} has not joined the realm {} as {}", folder.display(), here.realm, repo.name),
                )
                .next(format!("git -C {} blue init --realm {}", shell_path(folder), here.realm)),
                Ok(_) => problem(
                    ErrorCode::PathGone,
                    format!("{} was at {}, which no longer exists", repo.name, folder.display()),
                )
                .next(format!(
                    "run git blue init --realm {} in the new location of {}, or pass --clone to worktree create",
                    here.realm, repo.name
                )),
                Err(error) => of(error),
            },
        };
        let clones: Vec<_> = self.below_roots()?.get(&repo.name).into_iter().flatten().collect();
        match &clones[..] {
            [] => Ok(Err(wrong)),
            [folder] => {
                ctx.home.record_repo(&here.realm, &repo.name, folder)?;
                let code = open(ctx, folder).map(|code| code.map(|code| found(&repo.name, &code)).transpose());
                Ok(code.flatten().map_err(of).and_then(|code| code.ok_or(wrong)))
            }
            [one, other, ..] => {
                let message = format!("both {} and {} are clones of {}", one.display(), other.display(), repo.name);
                let step = format!("git -C {} blue init  # or in the other", shell_path(one));
                Ok(Err(problem(ErrorCode::AmbiguousClone, message).next(step)))
            }
        }
    }

    /// Returns the joined clones below the folders of `blue.root`.
    fn below_roots(&self) -> Result<&Clones, OpError> {
        if let Some(clones) = self.below_roots.get() {
            return Ok(clones);
        }
        let roots = Work::new(self.ctx.env.cwd(), self.ctx.env.vars().clone()).configs("blue.root")?;
        let mut clones = Clones::new();
        for root in roots {
            below(self.ctx, self.here, &expanded(self.ctx, &root), MAX_DEPTH, &mut clones);
        }
        Ok(self.below_roots.get_or_init(|| clones))
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
        remote: code.origin(),
        url: code.origin_urls().map(|[configured, _]| configured),
    })
}

/// Opens the repository in exactly this folder.
fn open(ctx: &Ctx, folder: &Path) -> Result<Option<CodeRepo>, OpError> {
    let Ok(folder) = dunce::canonicalize(folder) else { return Ok(None) };
    Ok(ctx.other_repo(&folder)?.filter(|code| code.main_folder() == folder))
}

/// Returns the name under which the user joined this clone to the realm. Forks, and repositories made from one template,
/// cannot be distinguished in any other way.
fn joined_as(ctx: &Ctx, here: &RealmContext, code: &CodeRepo) -> Option<RepoName> {
    let joined = joined::read(&ctx.home, code).ok().flatten()?;
    (joined.realm == here.realm).then_some(joined.repo)
}

/// Finds the joined clones below a folder. Links are not followed, and repositories within repositories are not
/// searched.
fn below(ctx: &Ctx, here: &RealmContext, folder: &Path, depth: usize, clones: &mut Clones) {
    if folder.join(".git").is_dir() || folder.join("HEAD").is_file() {
        let code = open(ctx, folder).ok().flatten();
        if let Some((name, code)) = code.and_then(|code| Some((joined_as(ctx, here, &code)?, code))) {
            clones.entry(name).or_default().insert(code.main_folder());
        }
        return;
    }
    let (Ok(entries), Some(next)) = (folder.read_dir(), depth.checked_sub(1)) else { return };
    let folders = entries.filter_map(Result::ok).filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    for entry in folders {
        below(ctx, here, &entry.path(), next, clones);
    }
}

fn expanded(ctx: &Ctx, folder: &str) -> PathBuf {
    match (folder.strip_prefix("~/"), ctx.env.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => ctx.env.cwd().join(folder),
    }
}
