//! Reads the files under `.blue/` in a repository, at a commit or in the working tree. Symbolic
//! links are reported, but never followed.

use std::{
    collections::BTreeMap,
    fmt,
    fs::Metadata,
    io::ErrorKind,
    path::{Path, PathBuf},
};

pub use crate::model::candidate::{BINDINGS, CONTRACTS, contract_path};
use crate::{
    error::{ErrorCode, OpError},
    model::{name::DomainName, oid::Oid, text::shell_word},
    platform::paths,
    repo::CodeRepo,
    store::{EntryKind, Objects as _, StoreError, codec::MAX_SCHEMA, read},
};

/// The folder of these files.
pub const FOLDER: &str = ".blue";

/// Returns the path of a repository's binding in a domain.
pub fn binding(domain: impl fmt::Display) -> String {
    format!("{BINDINGS}/{domain}.yaml")
}

/// Returns whether an entry in a folder of contracts or bindings is one of them, or a mistake to report. Hidden entries,
/// as editors make, and files that do not end in .yaml are ignored.
pub fn is_read(name: &str, is_file: bool) -> bool {
    !name.starts_with('.') && (!is_file || name.ends_with(".yaml"))
}

/// Returns whether HEAD has files of a domain.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn has_committed(code: &CodeRepo, domain: &DomainName) -> Result<bool, OpError> {
    let Some(commit) = code.head()?.commit else { return Ok(false) };
    let files = Files::at(code, &commit)?;
    Ok(files.exists(&format!("{CONTRACTS}/{domain}"))? || files.exists(&binding(domain))?)
}

/// Returns the command that removes a repository's files of a domain, and commits that.
pub fn remove_command(domain: &DomainName) -> String {
    let files = format!(":/{CONTRACTS}/{domain} :/{}", binding(domain));
    format!("git rm -r --ignore-unmatch {files} && git commit -m \"Leave the domain {domain}\"")
}

/// The maximum number of files that are read in one repository.
const MAX_FILES: usize = 20_000;

/// The source of the files.
#[derive(Debug, Clone)]
pub enum Files<'a> {
    /// A commit's tree.
    Commit(&'a CodeRepo, Oid),
    /// The working tree with this root, and the repository that knows what a sparse checkout leaves out of it.
    Worktree(PathBuf, Option<&'a CodeRepo>),
}

/// A file that has not been read yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A file: its blob, or its path in the working tree.
    File(FileSource),
    /// A submodule, or a file or folder in one. A commit of this repository does not contain it.
    Submodule,
    /// A symbolic link, or anything else that is not read.
    Other,
}

/// The reason why nothing in a submodule is read.
pub const IN_SUBMODULE: &str = "it is in a submodule, so the commits of this repository do not contain it";

/// The source of a file's bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileSource {
    /// A blob of a commit, or of the index if a sparse checkout leaves the file out.
    Blob(Oid),
    /// A path in the working tree.
    Path(PathBuf),
}

impl<'a> Files<'a> {
    /// Returns the files of a commit.
    ///
    /// # Errors
    /// Returns an error if the commit cannot be read.
    pub fn at(code: &'a CodeRepo, commit: &Oid) -> Result<Self, OpError> {
        Ok(Self::Commit(code, code.tree_of(commit)?))
    }

    /// Returns the files of the working tree, with those that a sparse checkout leaves out of it. Returns `None` if the
    /// repository is bare.
    pub fn checkout(code: &'a CodeRepo) -> Option<Self> {
        code.workdir().map(|root| Self::Worktree(root, Some(code)))
    }

    /// Returns the files that are in the working tree with this root.
    pub fn on_disk(root: PathBuf) -> Self {
        Self::Worktree(root, None)
    }

    /// Returns every file below a folder, by its path relative to the root. If the folder is a symbolic link, it is a
    /// single entry that is not read.
    ///
    /// # Errors
    /// Returns an error if a folder cannot be read, or there are too many files.
    pub fn below(&self, folder: &str) -> Result<BTreeMap<String, Item>, OpError> {
        self.at_most_below(MAX_FILES, folder)
    }

    fn at_most_below(&self, most: usize, folder: &str) -> Result<BTreeMap<String, Item>, OpError> {
        let mut found = Found { items: BTreeMap::new(), most };
        match self {
            Self::Commit(code, tree) => match outermost(code, tree, folder)? {
                Some((path, EntryKind::Tree, id)) if path == folder => walk_tree(code, &path, &id, &mut found)?,
                // A file in the place of the folder hides what was in it, like a link.
                Some((path, EntryKind::Blob, _)) => found.insert(path, Item::Other)?,
                Some((path, EntryKind::Other, id)) => found.insert(path, special(code, &id))?,
                _ => {}
            },
            Self::Worktree(root, code) => {
                walk_folder(root, folder, &mut found)?;
                if let Some(code) = code {
                    add_left_out(code, folder, &mut found)?;
                }
            }
        }
        Ok(found.items)
    }

    /// Returns the bytes of a file, or `None` if it has more than [`MAX_SCHEMA`].
    ///
    /// # Errors
    /// Returns an error if the file cannot be read.
    pub fn read(&self, handle: &FileSource) -> Result<Option<Vec<u8>>, OpError> {
        match (self, handle) {
            (Self::Commit(code, _) | Self::Worktree(_, Some(code)), FileSource::Blob(id)) => match code.blob(id) {
                Ok(bytes) => Ok(fits(bytes)),
                Err(StoreError::TooLarge { .. }) => Ok(None),
                // Only in a partial clone, which has only the objects that were checked out.
                Err(StoreError::Missing { .. }) => Err(self.not_fetched(code, FOLDER)),
                Err(error) => Err(error.into()),
            },
            (_, FileSource::Path(path)) => {
                let failed = |error| OpError::io("read", path)(error);
                use std::io::Read as _;
                let mut bytes = Vec::new();
                let file = std::fs::File::open(path).map_err(failed)?;
                file.take(MAX_SCHEMA as u64 + 1).read_to_end(&mut bytes).map_err(failed)?;
                Ok(fits(bytes))
            }
            (Self::Worktree(_, None), FileSource::Blob(_)) => unreachable!("only a repository has blobs"),
        }
    }

    /// Returns the error for a file that a partial clone lacks.
    pub fn lacking(&self, path: &str) -> Option<OpError> {
        let (Self::Commit(code, _) | Self::Worktree(_, Some(code))) = self else { return None };
        match self.file(path) {
            Ok(Some(Item::File(FileSource::Blob(id)))) if matches!(code.blob(&id), Err(StoreError::Missing { .. })) => {
                Some(self.not_fetched(code, path))
            }
            found => found.err().filter(|error| error.code == ErrorCode::NotFetched),
        }
    }

    fn not_fetched(&self, code: &CodeRepo, path: &str) -> OpError {
        let head = code.head().ok().and_then(|head| code.tree_of(&head.commit?).ok());
        let tree = match self {
            Self::Commit(_, tree) if head != Some(*tree) => tree.to_string(),
            _ => "HEAD".to_owned(),
        };
        // `git archive` would fetch the whole tree.
        let fetch = format!("git diff $(git hash-object -t tree /dev/null) {tree} -- {} >/dev/null", with_likes(path));
        OpError::cannot(ErrorCode::NotFetched, format!("this partial clone lacks the content of {path}"))
            .next(format!("{fetch}  # fetch it"))
    }

    /// Returns the file at a path relative to the root, if neither it nor a parent is a symbolic link.
    ///
    /// # Errors
    /// Returns an error if a folder on the way cannot be read.
    pub fn file(&self, path: &str) -> Result<Option<Item>, OpError> {
        if !is_plain(path) {
            return Ok(None);
        }
        match self {
            Self::Commit(code, tree) => Ok(outermost(code, tree, path)?.map(|(found, kind, id)| match kind {
                EntryKind::Blob if found == path => Item::File(FileSource::Blob(id)),
                EntryKind::Other => special(code, &id),
                _ => Item::Other,
            })),
            Self::Worktree(root, code) => {
                let mut at = root.clone();
                let mut parts = path.split('/').peekable();
                while let Some(part) = parts.next() {
                    at.push(part);
                    let Some(meta) = metadata(&at)? else { return left_out(*code, path) };
                    let is_last = parts.peek().is_none();
                    if (is_last && !meta.is_file()) || (!is_last && !meta.is_dir()) {
                        return Ok(Some(Item::Other));
                    }
                    if !is_last && is_repository(&at) {
                        return Ok(Some(Item::Submodule));
                    }
                }
                Ok(Some(Item::File(FileSource::Path(at))))
            }
        }
    }

    /// Returns whether a file or folder exists at a path. A path outside of the repository never exists.
    ///
    /// # Errors
    /// Returns an error if a folder on the way cannot be read.
    pub fn exists(&self, path: &str) -> Result<bool, OpError> {
        if !is_plain(path) {
            return Ok(false);
        }
        match self {
            Self::Commit(code, tree) => {
                Ok(read::lookup(*code, tree, path)?.is_some() || is_in_submodule(code, tree, path)?)
            }
            Self::Worktree(root, code) => {
                let is_folder = |folder: &Path| Ok::<_, OpError>(metadata(folder)?.is_some_and(|meta| meta.is_dir()));
                let (mut at, parts) = (root.clone(), path.rsplit_once('/').map_or("", |(folder, _)| folder));
                for part in parts.split('/').filter(|part| !part.is_empty()) {
                    at.push(part);
                    if !is_folder(&at)? {
                        return has_left_out(*code, path);
                    }
                }
                Ok(metadata(&root.join(path))?.is_some() || has_left_out(*code, path)?)
            }
        }
    }
}

/// Returns an argument of git for a path, with the files of the same kind beside it: a clone that lacks one schema of a folder
/// usually lacks all of them.
fn with_likes(path: &str) -> String {
    let (folder, name) = path.rsplit_once('/').map_or(("", path), |(folder, name)| (&path[..=folder.len()], name));
    let is_plain = !path.contains(['*', '?', '[', '\\']);
    let likes = name.rsplit_once('.').filter(|(stem, _)| is_plain && !stem.is_empty());
    shell_word(&match likes {
        Some((_, kind)) => format!(":(glob){folder}*.{kind}"),
        None if is_plain => path.to_owned(),
        None => format!(":(literal){path}"),
    })
}

/// Returns whether a path is below a submodule, whose commit the tree pins. This repository does not have that commit.
fn is_in_submodule(code: &CodeRepo, tree: &Oid, path: &str) -> Result<bool, StoreError> {
    let mut folder = path;
    while let Some((above, _)) = folder.rsplit_once('/') {
        if let Some(entry) = read::lookup(code, tree, above)? {
            return Ok(entry.kind == EntryKind::Other && special(code, &entry.id) == Item::Submodule);
        }
        folder = above;
    }
    Ok(false)
}

/// Returns what an entry of a tree is that is neither a file nor a folder. This repository has the target of a symbolic link,
/// and does not have the commit of a submodule.
fn special(code: &CodeRepo, id: &Oid) -> Item {
    if code.has(id) { Item::Other } else { Item::Submodule }
}

/// Returns whether a folder of the working tree is itself a repository. git adds none of its files to the outer one.
pub fn is_repository(folder: &Path) -> bool {
    folder.join(".git").symlink_metadata().is_ok()
}

/// Returns the bytes, or `None` if there are more than [`MAX_SCHEMA`].
fn fits(bytes: Vec<u8>) -> Option<Vec<u8>> {
    Some(bytes).filter(|bytes| bytes.len() <= MAX_SCHEMA)
}

/// Returns what is at a path in the working tree, or `None` if nothing is. A folder that cannot be read is an error:
/// its files may be there.
fn metadata(path: &Path) -> Result<Option<Metadata>, OpError> {
    match path.symlink_metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(OpError::io("read", path)(error)),
        Err(_) => Ok(None),
    }
}

/// Returns the file at a path, if a sparse checkout leaves it out of the working tree.
fn left_out(code: Option<&CodeRepo>, path: &str) -> Result<Option<Item>, OpError> {
    let Some(code) = code else { return Ok(None) };
    Ok(code.left_out()?.get(path).map(|blob| Item::File(FileSource::Blob(*blob))))
}

/// Returns whether a sparse checkout leaves the file or folder out of the working tree.
fn has_left_out(code: Option<&CodeRepo>, path: &str) -> Result<bool, OpError> {
    let Some(code) = code else { return Ok(false) };
    let files = code.left_out()?;
    Ok(files.contains_key(path) || below(files, path).next().is_some())
}

/// Returns the files below a folder.
fn below<'f>(files: &'f BTreeMap<String, Oid>, folder: &str) -> impl Iterator<Item = (&'f String, &'f Oid)> {
    let folder = format!("{folder}/");
    files.range(folder.clone()..).take_while(move |(path, _)| path.starts_with(&folder))
}

/// Adds the files below a folder that a sparse checkout leaves out of the working tree.
fn add_left_out(code: &CodeRepo, folder: &str, found: &mut Found) -> Result<(), OpError> {
    for (path, blob) in below(code.left_out()?, folder) {
        if !found.items.contains_key(path) {
            found.insert(path.clone(), Item::File(FileSource::Blob(*blob)))?;
        }
    }
    Ok(())
}

/// Returns whether a path stays within its folder and outside of `.git`.
pub fn is_plain(path: &str) -> bool {
    path.split('/').all(paths::is_name)
}

/// Returns `folder`, or the first component of its path that is not a folder.
fn outermost(code: &CodeRepo, tree: &Oid, folder: &str) -> Result<Option<(String, EntryKind, Oid)>, OpError> {
    let mut path = String::new();
    let mut found = None;
    for part in folder.split('/') {
        path = if path.is_empty() { part.to_owned() } else { format!("{path}/{part}") };
        match read::lookup(code, tree, &path)? {
            Some(entry) if entry.kind == EntryKind::Tree => found = Some((path.clone(), entry.kind, entry.id)),
            Some(entry) => return Ok(Some((path, entry.kind, entry.id))),
            None => return Ok(None),
        }
    }
    Ok(found)
}

/// Returns whether the contents of a folder are read. Contract and binding files are at most one folder deep, so a
/// deeper folder is only listed, and so is a folder that has the name of a binding file.
fn is_walked(folder: &str) -> bool {
    folder.split('/').count() < 4 && !(folder.starts_with(BINDINGS) && folder.ends_with(".yaml"))
}

fn walk_tree(code: &CodeRepo, path: &str, tree: &Oid, found: &mut Found) -> Result<(), OpError> {
    for entry in code.entries(tree)? {
        let path = format!("{path}/{}", entry.name);
        match entry.kind {
            EntryKind::Tree if is_walked(&path) => walk_tree(code, &path, &entry.id, found)?,
            EntryKind::Blob => found.insert(path, Item::File(FileSource::Blob(entry.id)))?,
            EntryKind::Other => found.insert(path, special(code, &entry.id))?,
            EntryKind::Tree => found.insert(path, Item::Other)?,
        }
    }
    Ok(())
}

fn walk_folder(root: &Path, folder: &str, found: &mut Found) -> Result<(), OpError> {
    let mut path = root.to_owned();
    for part in folder.split('/') {
        path.push(part);
        let Some(meta) = metadata(&path)? else { return Ok(()) };
        let relative = || path.strip_prefix(root).unwrap_or(&path).display().to_string();
        if !meta.is_dir() {
            return found.insert(relative(), Item::Other);
        }
        if is_repository(&path) {
            return found.insert(relative(), Item::Submodule);
        }
    }
    let entries = path.read_dir().map_err(OpError::io("read", &path))?;
    for entry in entries {
        let entry = entry.map_err(OpError::io("read", &path))?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        let kind = entry.file_type().map_err(OpError::io("read", entry.path()))?;
        if kind.is_dir() && is_walked(&name) {
            walk_folder(root, &name, found)?;
        } else if kind.is_file() {
            found.insert(name, Item::File(FileSource::Path(entry.path())))?;
        } else {
            found.insert(name, Item::Other)?;
        }
    }
    Ok(())
}

/// The files that were found, and their maximum number.
struct Found {
    items: BTreeMap<String, Item>,
    most: usize,
}

impl Found {
    fn insert(&mut self, path: String, item: Item) -> Result<(), OpError> {
        let most = self.most;
        if self.items.len() >= most {
            let message = format!("there are more than {most} files under {FOLDER}");
            return Err(OpError::cannot(ErrorCode::TooManyFiles, message));
        }
        self.items.insert(path, item);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{repo::DiscoverOptions, testing::sandbox::Sandbox};

    #[test]
    fn files_are_limited_in_number() {
        let sandbox = Sandbox::new();
        sandbox.git(&sandbox.path(), &["init", "--quiet", "repo"]);
        let root = sandbox.path().join("repo");
        std::fs::create_dir_all(root.join(CONTRACTS).join("s3")).unwrap();
        for name in ["a.yaml", "b.yaml", "s3/c.yaml", "s3/d.yaml"] {
            std::fs::write(root.join(CONTRACTS).join(name), "").unwrap();
        }
        sandbox.git(&root, &["add", "--all"]);
        sandbox.git(&root, &["commit", "--quiet", "--message", "Four files"]);
        let place = DiscoverOptions { cwd: root.clone(), vars: sandbox.vars().clone(), in_hook: false };
        let code = CodeRepo::discover(&place).unwrap().unwrap();
        let commit = code.head().unwrap().commit.unwrap();
        for files in [Files::at(&code, &commit).unwrap(), Files::on_disk(root.clone())] {
            assert_eq!(files.at_most_below(4, CONTRACTS).unwrap().len(), 4);
            let error = files.at_most_below(3, CONTRACTS).unwrap_err();
            assert_eq!(
                (error.code, &*error.message),
                (ErrorCode::TooManyFiles, "there are more than 3 files under .blue")
            );
        }
    }
}
