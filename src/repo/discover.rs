//! Finds the repository of a folder by git's rules: which folders are searched, and which repositories are refused.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use super::{DiscoverOptions, absolute, config_parameters, ownership};
use crate::store::StoreError;

/// A repository that was found.
pub(super) struct Found {
    pub(super) repo: gix::Repository,
    /// True if it is bare and was found, not named by the user. Somebody else may have put it there.
    pub(super) is_implicitly_bare: bool,
}

/// Finds the repository that `GIT_DIR` names, or else the one at or above the folder.
pub(super) fn find(place: &DiscoverOptions) -> Result<Option<Found>, StoreError> {
    match named(place, "GIT_DIR") {
        Some(git_dir) => open_named(place, git_dir).map(Some),
        None => search(place),
    }
}

fn named<'a>(place: &'a DiscoverOptions, name: &str) -> Option<&'a OsString> {
    place.vars.get(&OsString::from(name)).filter(|value| !value.is_empty())
}

fn failed(error: gix::Error) -> StoreError {
    StoreError::git("open the repository")(error)
}

fn open_named(place: &DiscoverOptions, git_dir: &OsString) -> Result<Found, StoreError> {
    // gix compares this path with others, so it must not contain `..`.
    let path = absolute(&place.cwd, Path::new(git_dir));
    let opened = options(place).open_path_as_is(true).open(&path);
    let mut repo = opened.map_err(|error| unopened(&path, error))?.to_thread_local();
    if let Some(work_tree) = named(place, "GIT_WORK_TREE") {
        repo.set_workdir(place.cwd.join(work_tree)).map_err(failed)?;
    }
    Ok(Found { repo, is_implicitly_bare: false })
}

fn search(place: &DiscoverOptions) -> Result<Option<Found>, StoreError> {
    let cwd = absolute(&place.cwd, Path::new(""));
    let cross_fs = named(place, "GIT_DISCOVERY_ACROSS_FILESYSTEM").is_some_and(is_true);
    let options_of_search = gix::discover::upwards::Options { cross_fs, ..Default::default() };
    let found = gix::discover::upwards_opts(&place.cwd, options_of_search).ok();
    let found = found.map(|(path, _)| path.into_repository_and_work_tree_directories());
    let folders = found.as_ref().map(|(git_dir, work_tree)| {
        [work_tree.as_ref().unwrap_or(git_dir), git_dir].map(|folder| absolute(&place.cwd, folder))
    });
    let limit = ceiling(place, &cwd);
    let is_searched = |folder: &Path| limit.as_ref().is_none_or(|limit| !limit.starts_with(folder));
    // gix skips such a file and searches further up. git stops, since that is another repository.
    let below = |folder: &&Path| is_searched(folder) && !folders.iter().flatten().any(|found| found == folder);
    if let Some(file) = cwd.ancestors().take_while(below).map(|folder| folder.join(".git")).find(|file| file.is_file())
    {
        return Err(broken(file));
    }
    let Some(((git_dir, work_tree), [top, _])) = found.zip(folders).filter(|(_, [top, _])| is_searched(top)) else {
        return Ok(None);
    };
    let is_implicitly_bare = work_tree.is_none() && !is_in_git_dir(&top);
    if is_implicitly_bare && refuses_bare(place) {
        return Err(StoreError::BareRefused { path: top });
    }
    ownership::check(place, &git_dir, work_tree.as_deref())?;
    let mut repo = options(place).with(gix::sec::Trust::Full).open(git_dir).map_err(failed)?.to_thread_local();
    // A git dir at another location does not record its working tree.
    if let (Some(work_tree), None, false) = (work_tree, repo.workdir(), repo.is_bare()) {
        repo.set_workdir(work_tree).map_err(failed)?;
    }
    Ok(Some(Found { repo, is_implicitly_bare }))
}

/// Returns the nearest folder of `GIT_CEILING_DIRECTORIES` above a folder, where the search ends.
fn ceiling(place: &DiscoverOptions, cwd: &Path) -> Option<PathBuf> {
    let listed = std::env::split_paths(named(place, "GIT_CEILING_DIRECTORIES")?).collect::<Vec<_>>();
    // As in git, resolve links only in the folders that precede an empty entry.
    let resolved = listed.iter().position(|folder| folder.as_os_str().is_empty()).unwrap_or(listed.len());
    let folders = listed.into_iter().enumerate().filter(|(_, folder)| folder.is_absolute());
    let folders = folders.map(|(at, folder)| if at < resolved { absolute(&folder, Path::new("")) } else { folder });
    folders.filter(|folder| folder != cwd && cwd.starts_with(folder)).max_by_key(|folder| folder.components().count())
}

/// Returns whether a git dir belongs to a working tree, as in a submodule, and is not bare to git.
fn is_in_git_dir(git_dir: &Path) -> bool {
    let parts: Vec<_> = git_dir.iter().collect();
    parts.ends_with(&[".git".as_ref()])
        || parts.windows(2).any(|pair| pair[0] == ".git" && (pair[1] == "worktrees" || pair[1] == "modules"))
}

/// Returns whether the user allows only bare repositories that are named explicitly. Only the
/// user's own configuration counts.
fn refuses_bare(place: &DiscoverOptions) -> bool {
    place.global_config("safe.bareRepository").as_deref() == Some("explicit")
}

/// Returns the error for a file `.git` that names no git dir.
fn broken(file: PathBuf) -> StoreError {
    let text = std::fs::read_to_string(&file).unwrap_or_default();
    let target = text.strip_prefix("gitdir:").map(|target| file.with_file_name(target.trim()));
    StoreError::BrokenGitFile { path: target.unwrap_or_else(|| file.clone()), file }
}

/// Returns the error for a git dir that cannot be opened.
fn unopened(path: &Path, error: gix::Error) -> StoreError {
    match gix::discover::is_git(path) {
        Ok(_) => failed(error),
        Err(_) => StoreError::NotARepository { path: path.to_owned() },
    }
}

fn is_true(value: &OsString) -> bool {
    gix::config::Boolean::try_from(&*value.to_string_lossy()).is_ok_and(|value| value.is_true())
}

fn options(place: &DiscoverOptions) -> gix::open::Options {
    use gix::sec::Permission::{Allow, Deny};
    let mut options = gix::open::Options::default();
    options.permissions.env = gix::open::permissions::Environment {
        xdg_config_home: Allow,
        home: Allow,
        // For GIT_CONFIG_GLOBAL and similar variables. The locations of the repository and its objects are never taken
        // from the environment.
        git_prefix: Allow,
        http_transport: Deny,
        identity: Deny,
        objects: Deny,
        other: Deny,
        ssh_prefix: Deny,
    };
    options.permissions.config.env = !place.in_hook;
    let options = options.lossy_config(true).cli_overrides(config_parameters::parse(&place.vars));
    // gix reads GIT_WORK_TREE and similar variables of the process as configuration. In a hook they are ignored,
    // because git set them for its own command, and in a server, whose process they do not concern.
    if place.in_hook || !place.vars.contains_key(&OsString::from("GIT_WORK_TREE")) {
        options.filter_config_section(is_not_leaked)
    } else {
        options
    }
}

fn is_not_leaked(section: &gix::config::file::Metadata) -> bool {
    section.source != gix::config::Source::EnvOverride && gix::config::section::is_trusted(section)
}
