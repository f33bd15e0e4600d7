//! Where the repositories of the realm lie on this machine.

use std::path::{Path, PathBuf};

use super::ctx::{Ctx, Here};
use crate::{
    error::OpError,
    model::{
        name::{RealmName, RepoName},
        realm::Repo,
    },
    store::git::{
        code::{CodeRepo, Place},
        work::Work,
    },
    wire::RepoProblem,
};

/// How deep below `blue.root` repositories are looked for.
const MAX_DEPTH: usize = 4;

/// A repository that was found.
#[derive(Debug)]
pub struct Found {
    /// Its name.
    pub name: RepoName,
    /// The root of its main work tree, or its folder where it is bare.
    pub folder: PathBuf,
    /// Its default branch, if it has one.
    pub default: Option<String>,
    /// Where it is fetched from, as configured.
    pub url: Option<String>,
}

impl Found {
    /// Returns git at work in it.
    pub fn work(&self, ctx: &Ctx) -> Work {
        Work::new(&self.folder, ctx.env.vars_elsewhere())
    }
}

/// Finds a repository of the realm: the one around the caller's folder, the folder that this machine
/// recorded, or one below a folder of `blue.root`, which is then recorded.
///
/// # Errors
/// Where this machine's records cannot be read or written.
pub fn find(ctx: &Ctx, here: &Here, repo: &Repo) -> Result<Result<Found, RepoProblem>, OpError> {
    let problem = |code, message, next_step| RepoProblem { repo: repo.name.clone(), code, message, next_step };
    if let (Some(code), true) = (&ctx.code, here.repo.as_ref() == Some(&repo.name)) {
        return Ok(found(&repo.name, code).map_err(|error| problem(error.code, error.message, None)));
    }
    let recorded = ctx.home.repo_path(&repo.name)?;
    let wrong = match &recorded {
        None => problem(
            "not-here",
            format!("{} is not on this machine, as far as git blue knows", repo.name),
            Some(format!("clone it and run git blue init --realm {} in it, or pass --clone", here.realm)),
        ),
        Some(folder) => match open(ctx, folder, repo) {
            Ok(Some(code)) => return Ok(found(&repo.name, &code).map_err(|e| problem(e.code, e.message, None))),
            Ok(None) if folder.exists() => problem(
                "other-repository",
                format!("{} is not the repository {} of the realm {}", folder.display(), repo.name, here.realm),
                Some(format!("run git blue init --realm {} in the folder of {}", here.realm, repo.name)),
            ),
            Ok(None) => problem(
                "path-gone",
                format!("{} was at {}, which is gone", repo.name, folder.display()),
                Some(format!("run git blue init --realm {} where it is now, or pass --clone", here.realm)),
            ),
            Err(error) => problem(error.code, error.message, None),
        },
    };
    let roots = Work::new(ctx.env.cwd(), ctx.env.vars().clone()).configs("blue.root")?;
    for root in roots {
        if let Some(code) = below(ctx, &expanded(ctx, &root), repo, MAX_DEPTH) {
            ctx.home.record_repo(&repo.name, &code.main_folder())?;
            return Ok(found(&repo.name, &code).map_err(|error| problem(error.code, error.message, None)));
        }
    }
    Ok(Err(wrong))
}

/// Returns where a repository of the realm is cloned to, unless it is told from somewhere else.
pub fn clone_folder(ctx: &Ctx, realm: &RealmName, repo: &RepoName) -> PathBuf {
    ctx.home.folder().join("clones").join(realm.as_str()).join(repo.as_str())
}

fn found(name: &RepoName, code: &CodeRepo) -> Result<Found, OpError> {
    Ok(Found {
        name: name.clone(),
        folder: code.main_folder(),
        default: code.publishing_branch()?,
        url: code.origin_url(),
    })
}

/// Opens the repository in this very folder, if it is the one that the realm means.
fn open(ctx: &Ctx, folder: &Path, repo: &Repo) -> Result<Option<CodeRepo>, OpError> {
    let Ok(folder) = folder.canonicalize() else { return Ok(None) };
    let place = Place { cwd: folder.clone(), vars: ctx.env.vars_elsewhere(), in_hook: false };
    let code = CodeRepo::discover(&place)?.filter(|code| code.main_folder() == folder);
    Ok(code.filter(|code| is_meant(code, repo)))
}

/// A shared root commit, or the same url; a realm that knows neither takes what was recorded.
fn is_meant(code: &CodeRepo, repo: &Repo) -> bool {
    let same_url = repo.url.is_some() && code.origin_url() == repo.url;
    same_url || repo.roots.iter().any(|root| code.has(root)) || (repo.url.is_none() && repo.roots.is_empty())
}

/// Returns the repository below a folder that the realm means. Links are not followed, and nothing
/// is looked for within another repository.
fn below(ctx: &Ctx, folder: &Path, repo: &Repo, depth: usize) -> Option<CodeRepo> {
    // Without either, any repository would do.
    if repo.url.is_none() && repo.roots.is_empty() {
        return None;
    }
    if folder.join(".git").is_dir() || folder.join("HEAD").is_file() {
        return open(ctx, folder, repo).ok().flatten();
    }
    let mut folders: Vec<_> = folder.read_dir().ok()?.filter_map(Result::ok).collect();
    folders.retain(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.sort_by_key(std::fs::DirEntry::file_name);
    let next = depth.checked_sub(1)?;
    folders.iter().find_map(|entry| below(ctx, &entry.path(), repo, next))
}

fn expanded(ctx: &Ctx, folder: &str) -> PathBuf {
    match (folder.strip_prefix("~/"), ctx.env.home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => ctx.env.cwd().join(folder),
    }
}
