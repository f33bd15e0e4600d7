//! Errors of operations: kind, cause and next steps. Exit codes are decided only here.

use std::{borrow::Cow, fmt, io, path::Path, sync::Arc};

use serde::{Deserialize, Serialize};

pub use crate::model::{
    error_code::ErrorCode,
    next_step::{CliOption, NextStep},
};

use crate::{
    model::{
        approval::Fingerprint,
        candidate::FileProblem,
        name::{NameError, RepoName},
        next_version::Needed,
        publish::{Reason, Refusal},
        text::{shell_path, shell_word},
        version::Version,
    },
    store::StoreError,
};

/// The kind of an error.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The answer is no: a check failed, a name was not found, or a rule refused the operation.
    No,
    /// There is no answer: there is no realm, the store is broken, or the disk is full.
    Cannot,
    /// The command or request was malformed.
    Usage,
}

impl Kind {
    /// Returns the exit code. As in git, 128 means a fatal error and 129 incorrect usage.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::No => 1,
            Self::Cannot => 128,
            Self::Usage => 129,
        }
    }
}

/// The error of an operation, the same for every interface.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{message}")]
pub struct OpError {
    /// The kind of error.
    pub kind: Kind,
    /// The stable code.
    pub code: ErrorCode,
    /// The message, with its subject and cause.
    pub message: String,
    /// The problems, if there are several.
    pub problems: Vec<Problem>,
    /// The next steps, most urgent first.
    pub next_steps: Vec<NextStep>,
    /// The underlying error of the operating system, if there is one.
    pub source: Option<Arc<io::Error>>,
}

/// One of several problems.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Problem {
    /// Its stable code.
    pub code: Cow<'static, str>,
    /// The problem, and what to do instead.
    pub message: String,
    /// The file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The column in the line, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

impl Problem {
    /// Returns the location, with line and column in the format of compilers.
    pub fn place(&self) -> Option<String> {
        let numbers = [self.line, self.column].into_iter().flatten();
        Some(numbers.fold(self.file.clone()?, |place, number| format!("{place}:{number}")))
    }
}

/// Formats the message, preceded by its location.
impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}

impl OpError {
    /// Creates an error of the kind [`Kind::No`].
    pub fn no(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(Kind::No, code, message)
    }

    /// Creates an error of the kind [`Kind::Cannot`].
    pub fn cannot(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(Kind::Cannot, code, message)
    }

    /// Creates an error of the kind [`Kind::Usage`].
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, ErrorCode::Usage, message)
    }

    /// Returns the error for a repository that cannot do something to another one, the `owner`.
    pub fn not_owner(acting: &RepoName, what: &str, owner: &RepoName) -> Self {
        let message = format!("{acting} cannot {what} {owner}; only that repository can");
        Self::no(ErrorCode::NotOwner, message).next(format!("run it in {owner}"))
    }

    /// Returns the error for a cursor that is not from any page of the list.
    pub fn stale_cursor(cursor: &str) -> Self {
        let shown: String = cursor.chars().take(80).collect();
        let message = format!("the cursor {shown:?} does not belong to this list, or the list has changed");
        Self::no(ErrorCode::StaleCursor, message).next("list again from the start, without a cursor")
    }

    /// Returns a function that converts a file system error to an error of the kind [`Kind::Cannot`].
    pub fn io(doing: &'static str, path: impl Into<std::path::PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let io = StoreError::io(doing, path);
        move |error| io(error).into()
    }

    fn new(kind: Kind, code: ErrorCode, message: impl Into<String>) -> Self {
        Self { kind, code, message: message.into(), problems: Vec::new(), next_steps: Vec::new(), source: None }
    }

    /// Sets the code.
    #[must_use]
    pub fn coded(self, code: ErrorCode) -> Self {
        Self { code, ..self }
    }

    /// Adds a next step.
    #[must_use]
    pub fn next(mut self, step: impl Into<NextStep>) -> Self {
        self.next_steps.push(step.into());
        self
    }

    /// Adds a next step if the condition holds.
    #[must_use]
    pub fn next_if(self, condition: bool, step: impl Into<NextStep>) -> Self {
        if condition { self.next(step) } else { self }
    }

    /// Adds next steps.
    #[must_use]
    pub fn next_all(mut self, steps: impl IntoIterator<Item: Into<NextStep>>) -> Self {
        self.next_steps.extend(steps.into_iter().map(Into::into));
        self
    }

    /// Adds a problem.
    #[must_use]
    pub fn problem(mut self, problem: Problem) -> Self {
        self.problems.push(problem);
        self
    }
}

impl From<&FileProblem> for Problem {
    fn from(problem: &FileProblem) -> Self {
        Self {
            code: "unreadable-file".into(),
            message: problem.message.clone(),
            file: Some(problem.file().to_owned()),
            line: problem.line,
            column: problem.column,
        }
    }
}

impl From<FileProblem> for OpError {
    fn from(problem: FileProblem) -> Self {
        Self::no(ErrorCode::UnreadableFile, problem.to_string()).problem((&problem).into())
    }
}

/// Messages of git about a repository with another object format.
const OTHER_HASH: [&str; 2] = ["hash algorithm", "mismatched algorithms"];

impl From<StoreError> for OpError {
    fn from(error: StoreError) -> Self {
        let message = error.to_string();
        let cannot = |code| Self::cannot(code, message.clone());
        match error {
            StoreError::NotAStore { .. } => {
                cannot(ErrorCode::NoStore).next("git blue realm list  # list the realms on this machine")
            }
            StoreError::NoHead { .. } => {
                cannot(ErrorCode::Damaged).next("git blue doctor --fix  # recreate HEAD; nothing is lost")
            }
            StoreError::NoRefs { .. } => {
                cannot(ErrorCode::Damaged).next("git blue doctor --fix  # recreate refs; nothing is lost")
            }
            StoreError::NoRealm { .. } => cannot(ErrorCode::Damaged).next("git blue doctor --fix  # restore it"),
            StoreError::NotARepository { .. } => {
                cannot(ErrorCode::NotInGit).next("unset GIT_DIR  # or set it to the git directory of a repository")
            }
            StoreError::BrokenGitFile { file, path } => again_from(cannot(ErrorCode::NotInGit), &file, &path),
            StoreError::BareRefused { path } => cannot(ErrorCode::BareRepository)
                .next(format!("git --git-dir {} blue …  # use this repository, if you trust it", shell_path(&path))),
            StoreError::Reftable { path } => cannot(ErrorCode::ReftableStore)
                .next(format!("git -C {} refs migrate --ref-format=files", shell_path(&path))),
            StoreError::Dubious { path } => cannot(ErrorCode::DubiousOwnership)
                .next(format!("git config --global --add safe.directory {}", shell_path(&path))),
            StoreError::NotConfig { path, .. } => {
                let path = shell_path(&path);
                cannot(ErrorCode::UnreadableConfig).next(format!(
                    "mv {path} {path}.old  # unless you can correct it; then run git blue status in a repository of each \
                        realm"
                ))
            }
            StoreError::NewerFormat { .. } => cannot(ErrorCode::NewerFormat).next("update git blue"),
            StoreError::Locked { lock, .. } if lock.extension().is_some_and(|end| end == "lock") => {
                let step = format!("if no git process is running there, remove {}", shell_path(&lock));
                cannot(ErrorCode::Locked).next(step)
            }
            StoreError::Locked { .. } => cannot(ErrorCode::Locked).next("try again once the other process has ended"),
            StoreError::Conflict { .. } => {
                cannot(ErrorCode::WriteRace).next("other writers kept updating it: try again")
            }
            StoreError::Damaged { .. }
            | StoreError::PackedRefs { .. }
            | StoreError::TooLarge { .. }
            | StoreError::Missing { .. } => cannot(ErrorCode::Damaged).next("git blue doctor  # show what is damaged"),
            StoreError::DamagedRepo { git_dir, .. } => cannot(ErrorCode::Damaged).next(format!(
                "git --git-dir {} fsck  # show what is damaged in this repository",
                shell_path(&git_dir)
            )),
            StoreError::LostAlternate { file, .. } => cannot(ErrorCode::Damaged)
                .next(format!("if it moved, write its new path to {}; otherwise clone again", shell_path(&file))),
            // With --filter alone, the next fetch would leave out the trees again.
            StoreError::NotFetched { remote, .. } => cannot(ErrorCode::NotFetched).next(format!(
                "git config {} blob:none && git fetch --refetch {}  # fetch the trees of all commits, now and later",
                shell_word(&format!("remote.{remote}.partialclonefilter")),
                shell_word(&remote)
            )),
            StoreError::TooLargeToWrite { .. } => cannot(ErrorCode::TooLarge),
            StoreError::Io { source, .. } => Self { source: Some(source), ..cannot(ErrorCode::Io) },
            StoreError::Git { .. } => cannot(ErrorCode::Git),
            StoreError::FetchTooLarge { .. } => cannot(ErrorCode::FetchTooLarge)
                .next("nothing was fetched; if the realm is that large: git config --global blue.maxFetchSize 4g"),
            // The server's git reports this itself, unlike a broken connection.
            StoreError::Remote { problem, .. } if problem.contains("repository corruption on the remote side") => {
                cannot(ErrorCode::RemoteDamaged)
                    .next("git blue realm admin reseed  # in a clone that has the realm: push it again")
            }
            StoreError::Remote { problem, .. } if OTHER_HASH.iter().any(|words| problem.contains(words)) => {
                cannot(ErrorCode::Refused).next(
                    "git init --bare --object-format=sha1 DIR  # a realm uses SHA-1 objects, so the repository \
                        that shares it must too",
                )
            }
            StoreError::Remote { problem, .. } if problem.contains("(dumb HTTP)") => {
                cannot(ErrorCode::Refused).next("share the realm on a git server, over ssh, or in a shared directory")
            }
            StoreError::Remote { .. } => cannot(ErrorCode::Remote)
                .next("nothing is lost: the realm on this machine is unchanged; run `git blue sync` to try again"),
        }
    }
}

/// Adds the steps to recover a working tree whose `.git` file names a missing git directory.
fn again_from(error: OpError, file: &Path, git_dir: &Path) -> OpError {
    let folder = file.parent().unwrap_or(file);
    let (here, parent) = (shell_path(folder), git_dir.parent());
    let common = parent.filter(|parent| parent.ends_with("worktrees")).and_then(Path::parent);
    match common {
        Some(common) if common.is_dir() => error.next(format!(
            "mv {here} {here}.old && git --git-dir {} worktree add {here} BRANCH  # its worktree was removed",
            shell_path(common)
        )),
        Some(_) => error.next(format!("git worktree repair {here}  # in the main worktree, if that was moved")),
        None => error.next(format!("move {} away, or restore that directory", shell_path(file))),
    }
}

/// The next step if a part of the realm cannot be read.
pub const REPAIR: &str = "git blue doctor --fix  # restore what is missing, if possible";

/// Returns the instruction to set a contract's version: in the contract's file, or in `elsewhere`,
/// the file that the version is read from.
pub fn write_version(version: &Version, elsewhere: Option<&str>) -> String {
    match elsewhere {
        Some(file) => format!("write the version {version} into {file}"),
        None => format!("write version: \"{version}\""),
    }
}

/// Returns the step that chooses between two versions if it is unknown whether a change breaks consumers.
pub fn choose_version(major: &Version, minor: &Version, elsewhere: Option<&str>) -> String {
    format!("{} if it may break consumers, or \"{minor}\" if it does not", write_version(major, elsewhere))
}

/// Returns the step that approves a change which breaks the promise of the contract `at`.
pub fn approve(at: &str, fingerprint: &Fingerprint) -> NextStep {
    format!(
        "git blue contract approve {at} {fingerprint} --reason \"…\"  # or approve this break, and keep the version"
    )
    .into()
}

impl From<Refusal> for OpError {
    fn from(refusal: Refusal) -> Self {
        let error = Self::no(refusal.code(), refusal.to_string());
        let domain = &refusal.domain;
        let write = |version: &Version| write_version(version, refusal.version_in.as_deref());
        let above = |current: &Version| {
            let place = refusal.version_in.as_ref().map(|file| format!(" in {file}")).unwrap_or_default();
            format!("write a version above {current}{place}, and commit")
        };
        let of_given_up = refusal.of_given_up();
        match &*refusal.reason {
            _ if !of_given_up.is_empty() => error.next_all(of_given_up),
            Reason::NotMember(repo) => {
                error.next(format!("git blue realm admin domain --name {domain} --repos {repo}"))
            }
            Reason::Republished { needed: Needed { version, if_breaking: Some(major), .. }, .. }
            | Reason::InBase { needed: Needed { version, if_breaking: Some(major), .. }, .. } => {
                error.next(choose_version(major, version, refusal.version_in.as_deref()))
            }
            Reason::Republished { needed: Needed { version: bump, .. }, .. }
            | Reason::InBase { needed: Needed { version: bump, .. }, .. }
            | Reason::Yanked { bump, .. } => error.next(format!("{}, and commit", write(bump))),
            Reason::BreaksPromise { bump, promise, .. } => {
                let at = refusal.contract.as_ref().map(|contract| format!("{domain}/{contract}")).unwrap_or_default();
                error
                    .next(format!("{}, and commit, which publishes it as a breaking change", write(bump)))
                    .next(approve(&at, &promise.fingerprint()))
            }
            Reason::UndecidedVersion { minor, major, ran_out_in_hook, .. } => {
                let again = "git blue contract publish  # has more time to compare than a hook";
                let choose = choose_version(major, minor, refusal.version_in.as_deref());
                error.next_if(*ran_out_in_hook, again).next(choose)
            }
            // A clone that lacks the newer version is refused before its files are judged.
            Reason::Down { current, version, is_published, is_supported, rolls_back } => {
                let above = above(current);
                let again = "git blue contract publish --rollback --reason \"…\"  # publish the older version again";
                match (is_published, is_supported, &refusal.contract) {
                    (true, ..) if *rolls_back => error.next(again).next(format!("or {above}")),
                    (false, true, Some(contract)) => {
                        let line = format!("{domain}/{contract}-v{}", version.semver().major);
                        error
                            .next(format!("git blue contract new {line}  # a separate contract for the older versions"))
                            .next(format!("or {above}"))
                    }
                    _ => error.next(above),
                }
            }
            Reason::NotPublished { current: Some(current), .. } => error.next(above(current)),
            Reason::NotOwner { also_created: true, owner, .. } => {
                error.next(format!("rename the file and the contract in it, or make the change in {owner}"))
            }
            Reason::NotOwner { owner, .. } => error.next(format!("make the change in {owner}")),
            Reason::Damaged | Reason::DamagedBinding(_) => error.next("git blue check  # show the file"),
            Reason::OtherOwner { .. }
            | Reason::Overtaken { .. }
            | Reason::Collides(_)
            | Reason::NotPublished { current: None, .. }
            | Reason::PreRelease(_)
            | Reason::Invalid(_)
            | Reason::Undecided(_) => error,
        }
    }
}

impl From<NameError> for OpError {
    fn from(error: NameError) -> Self {
        Self::usage(error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn a_hub_with_other_objects_is_not_tried_again() {
        for problem in [
            "the receiving end does not support this repository's hash algorithm",
            "mismatched algorithms: client sha1; server sha256",
        ] {
            let error = OpError::from(StoreError::Remote { url: "h.git".into(), problem: problem.into() });
            let step = error.next_steps[0].command().unwrap();
            assert_eq!(step, "git init --bare --object-format=sha1 DIR", "{problem}");
        }
    }

    #[test]
    fn what_a_hook_had_no_time_to_decide_is_published_by_a_command() {
        let [current, minor, major] = ["1.0.0", "1.1.0", "2.0.0"].map(|version| version.parse::<Version>().unwrap());
        for (ran_out_in_hook, first) in [(true, Some("git blue contract publish")), (false, None)] {
            let (current, minor, major) = (current.clone(), minor.clone(), major.clone());
            let reason = Reason::UndecidedVersion { current, minor, major, why: None, ran_out_in_hook };
            let (domain, reason) = ("s3-access".parse().unwrap(), Box::new(reason));
            let error = OpError::from(Refusal { domain, contract: None, reason, version_in: None });
            assert_eq!(error.next_steps[0].command(), first);
        }
    }

    #[test]
    fn the_system_error_is_kept_as_the_source() {
        let denied = || io::Error::from(io::ErrorKind::PermissionDenied);
        let error = OpError::io("read", "/realm")(denied());
        let source = error.source().and_then(|source| source.downcast_ref::<Arc<io::Error>>());
        assert_eq!(
            (error.code, source.map(|source| source.kind())),
            (ErrorCode::Io, Some(io::ErrorKind::PermissionDenied))
        );
    }
}
