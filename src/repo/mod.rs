//! Reads the user's repositories: HEAD, trees, configuration and history. Nothing is written, except for the
//! configuration of hooks. Bare repositories, linked worktrees, detached HEADs and SHA-256 are supported, and reftable
//! through git itself.

pub mod blue_files;
mod config_parameters;
mod grep;
mod head;
mod history;
mod ownership;
mod sparse;
mod upstream;
pub mod work;

use std::{
    cell::OnceCell,
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice as _;

pub use grep::{SearchResult, SearchScope};
pub use head::Head;

use crate::{
    model::{
        oid::Oid,
        repo_url::{RepoUrl, without_credentials},
    },
    store::{
        CommitInfo, Entry, EntryKind, Objects, StoreError,
        git::{git_command, objects, refs},
    },
};

/// The options for finding a repository.
#[derive(Debug, Clone)]
pub struct DiscoverOptions {
    /// The folder to start from.
    pub cwd: PathBuf,
    /// The variables for child processes. `GIT_DIR` and `GIT_WORK_TREE` are honored.
    pub vars: BTreeMap<OsString, OsString>,
    /// Whether git started this program as a hook. If so, configuration for a single command (`git -c`) is ignored.
    pub in_hook: bool,
}

/// A repository of the user.
#[derive(Debug)]
pub struct CodeRepo {
    repo: gix::Repository,
    workdir: Option<PathBuf>,
    common_dir: PathBuf,
    packed: refs::Packed,
    git: git_command::Git,
    is_reftable: bool,
    left_out: OnceCell<BTreeMap<String, Oid>>,
}

impl CodeRepo {
    /// Finds the repository at or above a folder. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the repository cannot be opened, or if git would refuse it because of its owner.
    pub fn discover(place: &DiscoverOptions) -> Result<Option<Self>, StoreError> {
        let named = |name: &str| place.vars.get(&OsString::from(name)).filter(|value| !value.is_empty());
        let failed = |error: gix::Error| StoreError::git("open the repository")(error);
        let mut repo = match named("GIT_DIR") {
            Some(git_dir) => {
                let path = place.cwd.join(git_dir);
                let opened = options(place).open_path_as_is(true).open(&path);
                let mut repo = opened.map_err(|error| unopened(&path, error))?.to_thread_local();
                if let Some(work_tree) = named("GIT_WORK_TREE") {
                    repo.set_workdir(place.cwd.join(work_tree)).map_err(failed)?;
                }
                repo
            }
            None => {
                let Ok((path, _)) = gix::discover::upwards(&place.cwd) else {
                    return Ok(None);
                };
                let (git_dir, work_tree) = path.into_repository_and_work_tree_directories();
                ownership::check(place, &git_dir, work_tree.as_deref())?;
                let mut repo =
                    options(place).with(gix::sec::Trust::Full).open(git_dir).map_err(failed)?.to_thread_local();
                // A git dir at another location does not record its working tree.
                if let (Some(work_tree), None, false) = (work_tree, repo.workdir(), repo.is_bare()) {
                    repo.set_workdir(work_tree).map_err(failed)?;
                }
                repo
            }
        };
        // Of all git commands, only those that serve a repository use GIT_NAMESPACE.
        repo.clear_namespace();
        let is_reftable = crate::store::git::refs::is_reftable(repo.common_dir());
        let git_dir = absolute(&place.cwd, repo.git_dir());
        let common_dir = match repo.common_dir() == repo.git_dir() {
            true => git_dir.clone(),
            false => absolute(repo.current_dir(), repo.common_dir()),
        };
        let workdir = repo.workdir().map(|path| absolute(repo.current_dir(), path));
        // git runs hooks in the top-level folder of the working tree.
        let top = workdir.clone().filter(|path| path.is_dir()).unwrap_or_else(|| git_dir.clone());
        let git = git_command::Git { git_dir, top, vars: place.vars.clone() };
        Ok(Some(Self {
            repo: crate::store::git::cached(repo),
            workdir,
            common_dir,
            packed: refs::Packed::default(),
            git,
            is_reftable,
            left_out: OnceCell::new(),
        }))
    }

    /// Returns the root of this working tree, or `None` if the repository is bare.
    pub fn workdir(&self) -> Option<PathBuf> {
        self.workdir.clone()
    }

    /// Returns the git dir of this working tree. A linked worktree has its own.
    pub fn git_dir(&self) -> &Path {
        &self.git.git_dir
    }

    /// Returns the git dir that all linked worktrees share.
    pub fn common_dir(&self) -> &Path {
        &self.common_dir
    }

    /// Returns the root of the main worktree or, for a bare repository, its folder. This is the same in every linked
    /// worktree.
    pub fn main_folder(&self) -> PathBuf {
        let common = self.common_dir();
        if common.file_name().is_some_and(|name| name == ".git") {
            return common.parent().unwrap_or(common).to_owned();
        }
        // The git dir of a submodule records its working tree. Any other separate git dir does not, and only the main
        // working tree knows that it is the main one.
        if let Some(work_tree) = self.config("core.worktree") {
            return absolute(common, Path::new(&work_tree));
        }
        match self.workdir() {
            Some(workdir) if self.repo.git_dir() == self.repo.common_dir() => workdir,
            _ => common.to_owned(),
        }
    }

    /// Returns the folder in which git looks for hooks. Asks git, because it depends on `core.hooksPath` and
    /// worktrees.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn hooks_folder(&self) -> Result<PathBuf, StoreError> {
        // The path may have a line break.
        let path = self.git.text(&["rev-parse", "--path-format=absolute", "--git-path", "hooks"])?;
        Ok(PathBuf::from(path.trim_end_matches(['\r', '\n'])))
    }

    /// Returns whether `core.hooksPath` is set outside of this repository's own configuration, for all repositories.
    pub fn shares_hooks(&self) -> bool {
        use gix::config::source::Kind;
        let snapshot = self.repo.config_snapshot();
        let sections = snapshot.plumbing().sections_by_name("core").into_iter().flatten();
        let setting = sections.filter(|section| section.value("hooksPath").is_some()).last();
        setting.is_some_and(|section| {
            matches!(section.meta().source.kind(), Kind::GitInstallation | Kind::System | Kind::Global)
        })
    }

    /// Returns the folder in which git looks for hooks unless `core.hooksPath` is set.
    pub fn usual_hooks_folder(&self) -> PathBuf {
        self.common_dir().join("hooks")
    }

    /// Sets a key in the repository's own configuration, for hooks that the user requested.
    ///
    /// # Errors
    /// Returns an error if git cannot write it.
    pub fn set_config(&self, key: &str, value: &str) -> Result<(), StoreError> {
        self.git.text(&["config", "--local", "--replace-all", key, value]).map(drop)
    }

    /// Removes a section of the repository's own configuration.
    ///
    /// # Errors
    /// Returns an error if git cannot write it.
    pub fn remove_config_section(&self, section: &str) -> Result<(), StoreError> {
        self.git.text(&["config", "--local", "--remove-section", section]).map(drop)
    }

    /// Returns the value of a configuration key, considering every file that git would read.
    pub fn config(&self, key: &str) -> Option<String> {
        self.repo.config_snapshot().string(key).and_then(|value| value.to_str().ok().map(str::to_owned))
    }

    /// Returns the value of a configuration key outside of any repository.
    pub fn global_config(place: &DiscoverOptions, key: &str) -> Option<String> {
        git_command::global_config(&place.vars, key)
    }

    /// Returns those of these paths, relative to the root, that `git add` leaves out because git ignores them and does not
    /// track them. If git fails, none are returned.
    pub fn ignored<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<String> {
        let mut args = vec!["-c", "core.quotePath=false", "check-ignore", "--"];
        let fixed = args.len();
        args.extend(paths);
        if args.len() == fixed {
            return BTreeSet::new();
        }
        let Ok(output) = self.git.command(&args).output() else { return BTreeSet::new() };
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect()
    }

    /// Returns the configured URL of origin, without credentials. A relative path, which git resolves from the clone's
    /// folder, is returned as an absolute one.
    pub fn origin_url(&self) -> Option<String> {
        let url = self.config("remote.origin.url")?;
        match RepoUrl::of(&url).is_relative() {
            true => Some(absolute(&self.main_folder(), Path::new(&url)).display().to_string()),
            false => Some(without_credentials(&url)),
        }
    }

    /// Returns whether this is a partial clone, from which git fetches missing objects when it needs them.
    fn is_partial(&self) -> bool {
        ["remote.origin.promisor", "extensions.partialClone"].iter().any(|key| self.config(key).is_some())
    }

    /// Returns the tree of a commit.
    ///
    /// # Errors
    /// Returns an error if the commit cannot be read.
    pub fn tree_of(&self, commit: &Oid) -> Result<Oid, StoreError> {
        Ok(self.commit(commit)?.tree)
    }
}

impl Objects for CodeRepo {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        objects::entries(&self.repo, id, EntryKind::Blob).map_err(|error| match error {
            StoreError::Missing { id } if self.is_partial() => StoreError::NotFetched { id },
            error => error,
        })
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        objects::blob(&self.repo, id)
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        objects::commit(&self.repo, id)
    }
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
    // because git set them for its own command.
    if place.in_hook { options.filter_config_section(is_not_leaked) } else { options }
}

fn is_not_leaked(section: &gix::config::file::Metadata) -> bool {
    section.source != gix::config::Source::EnvOverride && gix::config::section::is_trusted(section)
}

/// Returns the error for a git dir that cannot be opened.
fn unopened(path: &Path, error: gix::Error) -> StoreError {
    match gix::discover::is_git(path) {
        Ok(_) => StoreError::git("open the repository")(error),
        Err(_) => StoreError::NotARepository { path: path.to_owned() },
    }
}

fn absolute(cwd: &Path, path: &Path) -> PathBuf {
    let path = cwd.join(path);
    dunce::canonicalize(&path).unwrap_or(path)
}
