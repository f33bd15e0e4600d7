//! Reads the user's repositories: HEAD, trees, configuration and history. Nothing is written, except for the
//! configuration of hooks. Bare repositories, linked worktrees, detached HEADs and SHA-256 are supported, and reftable
//! through git itself.

pub mod blue_files;
mod config_parameters;
mod discover;
mod grep;
mod head;
mod history;
mod origin;
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

pub use grep::{GrepMatch, SearchResult, SearchScope};
pub use head::Head;

use crate::{
    model::oid::Oid,
    store::{
        CommitInfo, Entry, EntryKind, Objects, StoreError,
        git::{
            git_command,
            objects::{self, to_oid},
            refs,
        },
    },
};

/// The options for finding a repository.
#[derive(Debug, Clone)]
pub struct DiscoverOptions {
    /// The folder to start from.
    pub cwd: PathBuf,
    /// The variables for child processes. `GIT_DIR`, `GIT_WORK_TREE` and those that limit the search are honored.
    pub vars: BTreeMap<OsString, OsString>,
    /// Whether git started this program as a hook. If so, configuration for a single command (`git -c`) is ignored.
    pub in_hook: bool,
}

impl DiscoverOptions {
    /// Returns the value of a configuration key outside of any repository.
    pub fn global_config(&self, key: &str) -> Option<String> {
        git_command::global_config(&self.vars, key)
    }
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
    is_implicitly_bare: bool,
    left_out: OnceCell<BTreeMap<String, Oid>>,
}

impl CodeRepo {
    /// Finds the repository at or above a folder. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if the repository cannot be opened, or if git would refuse it.
    pub fn discover(place: &DiscoverOptions) -> Result<Option<Self>, StoreError> {
        let Some(discover::Found { mut repo, is_implicitly_bare }) = discover::find(place)? else {
            return Ok(None);
        };
        // Of all git commands, only those that serve a repository use GIT_NAMESPACE.
        repo.clear_namespace();
        let is_reftable = crate::store::git::refs::is_reftable(repo.common_dir());
        let git_dir = absolute(&place.cwd, repo.git_dir());
        let common_dir = if repo.common_dir() == repo.git_dir() {
            git_dir.clone()
        } else {
            absolute(repo.current_dir(), repo.common_dir())
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
            is_implicitly_bare,
            left_out: OnceCell::new(),
        }))
    }

    /// Returns whether a folder looks like a bare repository.
    pub fn is_bare_at(folder: &Path) -> bool {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir() && folder.join("refs").is_dir()
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

    /// Returns the program that a configuration key names. Ignores the configuration of a bare
    /// repository that was not named explicitly: somebody else may have put it there.
    pub fn program(&self, key: &str) -> Option<String> {
        use gix::config::source::Kind;
        let is_heard = |section: &gix::config::file::Metadata| {
            !self.is_implicitly_bare || section.source.kind() != Kind::Repository
        };
        let value = self.repo.config_snapshot().plumbing().string_filter(key, is_heard)?;
        value.to_str().ok().map(str::to_owned)
    }

    /// Returns whether this repository has no working tree of its own.
    pub fn is_bare(&self) -> bool {
        self.repo.is_bare()
    }

    /// Returns whether this repository has linked worktrees.
    pub fn has_linked_worktrees(&self) -> bool {
        self.common_dir().join("worktrees").read_dir().is_ok_and(|mut linked| linked.next().is_some())
    }

    /// Returns whether this repository is bare, and was found by searching instead of being named.
    pub fn is_implicitly_bare(&self) -> bool {
        self.is_implicitly_bare
    }

    /// Returns the paths, relative to the root, that `git add` leaves out because they are ignored
    /// and not tracked. Returns none if git fails.
    pub fn ignored<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<String> {
        self.matching_ignored(&["check-ignore", "-z", "--stdin"], paths)
    }

    /// Returns the paths that a command of git lists as ignored.
    fn matching_ignored<'p>(&self, command: &[&str], paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<String> {
        let paths: String = paths.into_iter().flat_map(|path| [path, "\0"]).collect();
        if paths.is_empty() {
            return BTreeSet::new();
        }
        let mut found = BTreeSet::new();
        // git fails if none of them is ignored.
        let _ = self.git.each_line(command, paths, |line| {
            found.extend(line.split_terminator('\0').map(str::to_owned));
        });
        found
    }

    /// Returns the paths, relative to the root, of which git commits only a pointer to Git LFS. Returns none if git fails.
    pub fn in_lfs<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        // Without the program that makes pointers, git commits the content.
        if self.config("filter.lfs.clean").is_none() {
            return found;
        }
        let paths: String = paths.into_iter().flat_map(|path| [path, "\0"]).collect();
        let _ = self.git.each_line(&["check-attr", "-z", "--stdin", "filter"], paths, |line| {
            let fields: Vec<_> = line.split_terminator('\0').collect();
            let in_lfs = fields.chunks_exact(3).filter(|field| field[2] == "lfs");
            found.extend(in_lfs.map(|field| field[0].to_owned()));
        });
        found
    }

    /// Returns the paths, relative to the root, that `git add` refuses without `--force`. It also refuses tracked files in
    /// ignored folders. Returns none if git fails.
    pub fn needing_force<'p>(&self, paths: impl IntoIterator<Item = &'p str>) -> BTreeSet<String> {
        self.matching_ignored(&["check-ignore", "--no-index", "-z", "--stdin"], paths)
    }

    /// Returns the tree that `git commit` would commit. As `git commit` does, git writes it from the index, which may be
    /// the temporary one of a commit whose hook is running.
    ///
    /// # Errors
    /// Returns an error if the index has conflicts, or git cannot write the tree.
    pub fn staged(&self) -> Result<Oid, StoreError> {
        // A partial clone need not have the content of every file.
        let tree = self.git.line(&["write-tree", "--missing-ok"])?;
        tree.parse().map_err(|error| StoreError::git("read the tree of the index")(error))
    }

    /// Returns whether a blob has the content of a working file, whose line ends git may have converted. The blob is not
    /// read, since a partial clone may lack it.
    ///
    /// # Errors
    /// Returns an error if the content cannot be hashed.
    pub fn is_content(&self, bytes: &[u8], blob: &Oid) -> Result<bool, StoreError> {
        let is_it = |bytes: &[u8]| {
            let id = gix::objs::compute_hash(self.repo.object_hash(), gix::objs::Kind::Blob, bytes);
            Ok::<_, StoreError>(to_oid(&id.map_err(StoreError::git("hash a file"))?) == *blob)
        };
        Ok(is_it(bytes)? || (bytes.contains(&b'\r') && is_it(&bytes.replace("\r\n", "\n"))?))
    }

    /// Returns the tree of a commit.
    ///
    /// # Errors
    /// Returns an error if the commit cannot be read.
    pub fn tree_of(&self, commit: &Oid) -> Result<Oid, StoreError> {
        Ok(self.commit(commit)?.tree)
    }
}

impl CodeRepo {
    /// Marks the error of an object that should be here as damage of this repository, not of a realm's store.
    fn unreadable(&self, error: StoreError) -> StoreError {
        match error {
            // git fetches it when it needs it.
            StoreError::Missing { .. } if self.promisor().is_some() => error,
            StoreError::Missing { .. } | StoreError::Damaged { .. } => {
                let damaged = || StoreError::DamagedRepo { git_dir: self.git_dir().to_owned(), error: Box::new(error) };
                self.require_alternates().err().unwrap_or_else(damaged)
            }
            error => error,
        }
    }

    fn unreadable_tree(&self, error: StoreError) -> StoreError {
        match (error, self.promisor()) {
            (StoreError::Missing { id }, Some(remote)) => StoreError::NotFetched { id, remote },
            (error, _) => self.unreadable(error),
        }
    }
}

impl Objects for CodeRepo {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        objects::entries(&self.repo, id, EntryKind::Blob).map_err(|error| self.unreadable_tree(error))
    }

    fn entry(&self, id: &Oid, name: &str) -> Result<Option<Entry>, StoreError> {
        objects::entry(&self.repo, id, name, EntryKind::Blob).map_err(|error| self.unreadable_tree(error))
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        objects::blob(&self.repo, id).map_err(|error| self.unreadable(error))
    }

    fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        objects::size(&self.repo, id).map_err(|error| self.unreadable(error))
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        objects::commit(&self.repo, id).map_err(|error| self.unreadable(error))
    }
}

fn absolute(cwd: &Path, path: &Path) -> PathBuf {
    let path = cwd.join(path);
    dunce::canonicalize(&path).unwrap_or(path)
}
