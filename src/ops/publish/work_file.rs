//! Reads and writes one file under `.blue/` in the working tree. Never follows a symbolic link, and
//! replaces files atomically.

use std::{
    fs::File,
    path::{Path, PathBuf},
};

use crate::{
    error::{ErrorCode, OpError},
    locate::CONFIG,
    model::{
        name::{ContractName, DomainName},
        text::{shell_path, shell_word},
    },
    ops::ctx::Ctx,
    platform::files::{self, Access},
    repo::{
        CodeRepo,
        blue_files::{FOLDER, Files, IN_SUBMODULE, Item, contract_path, is_repository},
    },
    store::codec::{self, MAX_FILE},
};

/// The file in the git dir that commands lock while they edit files.
const LOCK: &str = "blue-edit.lock";

/// A file under `.blue/` in the working tree.
#[derive(Debug, Clone)]
pub struct WorkFile {
    root: PathBuf,
    relative: String,
    /// The command that checks it out, if a sparse checkout leaves it out of the working tree.
    check_out: Option<String>,
    is_sparse: bool,
}

impl WorkFile {
    /// Returns the file at a path relative to the root of the working tree. The path's segments must be valid names.
    ///
    /// # Errors
    /// Returns an error if the repository has no working tree, or git cannot list the files of a sparse checkout.
    pub fn of(code: &CodeRepo, relative: String) -> Result<Self, OpError> {
        let root = code.workdir().ok_or_else(|| OpError::usage("a bare repository has no working tree to write to"))?;
        let is_left_out = code.left_out()?.contains_key(&relative);
        let check_out = is_left_out.then(|| check_out(code, &root, &relative));
        Ok(Self { root, relative, check_out, is_sparse: code.is_sparse() })
    }

    /// Returns the current repository's `.blue/config.yaml`.
    ///
    /// # Errors
    /// Returns the errors of [`Self::of`].
    pub fn config(ctx: &Ctx) -> Result<Self, OpError> {
        Self::of(ctx.code()?, CONFIG.to_owned())
    }

    /// Returns whether a sparse checkout leaves the file out of the working tree.
    pub fn is_left_out(&self) -> bool {
        self.check_out.is_some() && !self.path().exists()
    }

    /// Returns the path relative to the root of the working tree.
    pub fn relative(&self) -> &str {
        &self.relative
    }

    /// Returns the file as an argument of `git add` and `git rm` in the folder in which the command was started.
    pub fn pathspec(&self, ctx: &Ctx) -> String {
        // Without the option, git refuses new files that the sparse checkout would leave out.
        let option = if self.is_sparse { "--sparse " } else { "" };
        format!("{option}{}", self.place(ctx))
    }

    fn place(&self, ctx: &Ctx) -> String {
        let is_special = self.relative.starts_with(['-', ':']);
        let root = if !self.is_root(ctx) {
            ":/"
        } else if is_special {
            // git would read it as an option or as a magic pathspec.
            "./"
        } else {
            ""
        };
        shell_word(&format!("{root}{}", self.relative))
    }

    /// Returns the file as an argument of programs other than git in the folder in which the command was started.
    pub fn argument(&self, ctx: &Ctx) -> String {
        if !self.is_root(ctx) {
            shell_path(&self.path())
        } else if self.relative.starts_with('-') {
            shell_word(&format!("./{}", self.relative))
        } else {
            shell_word(&self.relative)
        }
    }

    /// Returns whether the command was started in the root of the working tree.
    fn is_root(&self, ctx: &Ctx) -> bool {
        dunce::canonicalize(ctx.env.cwd()).ok() == dunce::canonicalize(&self.root).ok()
    }

    /// Returns the file and the files that it refers to, as arguments of `git add`, with `--force` if git ignores one.
    /// Those that are committed already may have changed since.
    ///
    /// # Errors
    /// Returns an error if a path leads out of the working tree.
    pub fn pathspecs(&self, ctx: &Ctx, sources: impl IntoIterator<Item = String>) -> Result<String, OpError> {
        let code = ctx.code()?;
        let (mut arguments, mut files) = (vec![self.pathspec(ctx)], vec![self.relative.clone()]);
        for source in sources {
            let file = Self::of(code, source)?;
            arguments.push(file.place(ctx));
            files.push(file.relative);
        }
        if !code.needing_force(files.iter().map(String::as_str)).is_empty() {
            arguments.insert(0, "--force".to_owned());
        }
        Ok(arguments.join(" "))
    }

    /// Waits until no other command edits files of this working tree, and keeps others waiting until the returned file
    /// is dropped. Lock before reading what is to be edited, and only once in a command. Returns `None` if the git dir
    /// cannot be written.
    pub fn lock(code: &CodeRepo) -> Option<File> {
        let lock = File::create(code.git_dir().join(LOCK)).ok()?;
        lock.lock().ok()?;
        Some(lock)
    }

    /// Returns the text of the file, or `None` if it does not exist.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file in plain folders, is too large or not UTF-8, or cannot be read.
    pub fn read(&self) -> Result<Option<String>, OpError> {
        if !self.is_there()? {
            return Ok(None);
        }
        use std::io::Read as _;
        let path = self.path();
        let mut bytes = Vec::new();
        let file = File::open(&path).map_err(OpError::io("read", &path))?;
        file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes).map_err(OpError::io("read", &path))?;
        if bytes.len() > MAX_FILE {
            let message = format!("{} is larger than {} MiB", self.relative, MAX_FILE >> 20);
            return Err(OpError::no(ErrorCode::UnreadableFile, message));
        }
        let not_text = |_| OpError::no(ErrorCode::UnreadableFile, format!("{}: the text is not UTF-8", self.relative));
        String::from_utf8(bytes).map(Some).map_err(not_text)
    }

    /// Creates the file.
    ///
    /// # Errors
    /// Returns an error if it exists, or cannot be written.
    pub fn create(&self, text: &str) -> Result<(), OpError> {
        if self.is_there()? {
            return Err(self.exists());
        }
        self.make_folder()?;
        match files::create(&self.path(), text.as_bytes(), Access::Usual) {
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => Err(self.exists()),
            created => created.map_err(OpError::io("write", self.path())),
        }
    }

    /// Replaces the existing file atomically.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file in plain folders, or cannot be written.
    pub fn replace(&self, text: &str) -> Result<(), OpError> {
        self.is_there()?;
        self.make_folder()?;
        let path = self.path();
        files::replace_keeping_access(&path, text.as_bytes(), Access::Public).map_err(OpError::io("write", &path))
    }

    /// Removes the file.
    ///
    /// # Errors
    /// Returns an error if it is not a regular file in plain folders, or cannot be removed.
    pub fn remove(&self) -> Result<(), OpError> {
        self.is_there()?;
        std::fs::remove_file(self.path()).map_err(OpError::io("remove", self.path()))
    }

    /// Checks that the file does not exist.
    ///
    /// # Errors
    /// Returns an error if the file exists, or its parents are not plain folders.
    pub fn require_absent(&self) -> Result<(), OpError> {
        if self.is_there()? { Err(self.exists()) } else { Ok(()) }
    }

    fn exists(&self) -> OpError {
        OpError::no(ErrorCode::FileExists, format!("{} already exists, and was not overwritten", self.relative))
    }

    fn path(&self) -> PathBuf {
        self.root.join(&self.relative)
    }

    /// Returns whether the file exists, as a regular file in plain folders.
    fn is_there(&self) -> Result<bool, OpError> {
        let mut path = self.root.clone();
        let mut parts = Path::new(&self.relative).components().peekable();
        while let Some(part) = parts.next() {
            path.push(part);
            let is_last = parts.peek().is_none();
            match path.symlink_metadata() {
                Ok(meta) if is_last && meta.is_file() => return Ok(true),
                Ok(meta) if !is_last && meta.is_dir() && is_repository(&path) => {
                    let message = format!("{}: {IN_SUBMODULE}", self.relative);
                    return Err(OpError::no(ErrorCode::NotARegularFile, message));
                }
                Ok(meta) if !is_last && meta.is_dir() => {}
                Ok(_) => {
                    let message = format!(
                        "{} is not a {}; symbolic links are not followed",
                        path.strip_prefix(&self.root).unwrap_or(&path).display(),
                        if is_last { "regular file" } else { "directory" }
                    );
                    return Err(OpError::no(ErrorCode::NotARegularFile, message));
                }
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => return self.require_checked_out(),
                Err(error) => return Err(OpError::io("read", &path)(error)),
            }
        }
        Ok(false)
    }

    /// Returns `false` for a missing file, unless a sparse checkout leaves it out: a new file would replace it.
    fn require_checked_out(&self) -> Result<bool, OpError> {
        self.check_out.as_ref().map_or(Ok(false), |command| Err(left_out(&self.relative, command)))
    }

    /// Creates the folder of the file.
    fn make_folder(&self) -> Result<(), OpError> {
        let path = self.path();
        let folder = path.parent().unwrap_or(&self.root);
        std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
        // Somebody may have created a link there since the folders were checked.
        self.is_there().map(drop)
    }
}

/// Refuses to go on if a sparse checkout leaves out a file below `.blue` that would have to be changed.
///
/// # Errors
/// Returns an error that names such a file, and the command that checks out all of them.
pub fn require_checked_out(code: &CodeRepo, is_needed: impl Fn(&str) -> bool) -> Result<(), OpError> {
    let Some(root) = code.workdir() else { return Ok(()) };
    let is_missing = |path: &&String| is_needed(path) && !root.join(path).exists();
    let Some(path) = code.left_out()?.keys().find(is_missing) else { return Ok(()) };
    let folder = if code.is_sparse_by_folder() { FOLDER.to_owned() } else { format!("/{FOLDER}/") };
    let command = format!("git -C {} sparse-checkout add {folder}", shell_path(&root));
    Err(left_out(path, &command))
}

fn left_out(path: &str, check_out: &str) -> OpError {
    let message = format!("{path} is not in the working tree, because the checkout is sparse");
    OpError::no(ErrorCode::NotCheckedOut, message).next(format!("{check_out}  # check it out"))
}

/// Returns whether a file is committed at HEAD.
///
/// # Errors
/// Returns an error if HEAD cannot be read.
pub fn is_committed(code: &CodeRepo, path: &str) -> Result<bool, OpError> {
    let Some(commit) = code.head()?.commit else { return Ok(false) };
    Ok(Files::at(code, &commit)?.file(path)?.is_some())
}

/// Returns the content of a file at HEAD, if it is committed.
///
/// # Errors
/// Returns an error if HEAD or the file cannot be read.
pub fn committed(code: &CodeRepo, path: &str) -> Result<Option<Vec<u8>>, OpError> {
    let Some(commit) = code.head()?.commit else { return Ok(None) };
    let files = Files::at(code, &commit)?;
    match files.file(path)? {
        Some(Item::File(handle)) => Ok(files.read(&handle)?),
        _ => Ok(None),
    }
}

/// Returns whether the file of a contract in the working tree says `version: auto`.
pub fn says_auto(code: &CodeRepo, domain: &DomainName, contract: &ContractName) -> bool {
    let text = WorkFile::of(code, contract_path(domain, contract)).and_then(|file| file.read());
    let document = text.ok().flatten().and_then(|text| codec::contract(text.as_bytes(), contract).ok());
    document.is_some_and(|document| document.version.is_auto())
}

/// Returns the command that adds a file to a sparse checkout.
fn check_out(code: &CodeRepo, root: &Path, relative: &str) -> String {
    let added = match relative.rsplit_once('/') {
        Some((folder, _)) if code.is_sparse_by_folder() => shell_word(folder),
        _ => shell_word(&format!("/{relative}")),
    };
    format!("git -C {} sparse-checkout add {added}", shell_path(root))
}
