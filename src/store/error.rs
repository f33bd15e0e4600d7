//! The errors of a store.

use std::{path::PathBuf, sync::Arc, time::Duration};

use super::StoreRef;
use crate::model::oid::Oid;

/// An error of a store. It can be cloned, so that a failed look-up can be stored and reported later.
#[derive(Debug, Clone, thiserror::Error)]
pub enum StoreError {
    /// There is no store at this path.
    #[error("{} is not a realm's store", path.display())]
    NotAStore {
        /// The path that was searched.
        path: PathBuf,
    },
    /// The store has no valid file `HEAD`, without which git does not recognize a repository.
    #[error("{} has no valid HEAD file", path.display())]
    NoHead {
        /// The store.
        path: PathBuf,
    },
    /// The store has no directory `refs`, without which git does not recognize a repository. Its refs are in
    /// `packed-refs`.
    #[error("{} has no refs directory", path.display())]
    NoRefs {
        /// The store.
        path: PathBuf,
    },
    /// The store has lost the ref of its realm. It still has others.
    #[error("{} has lost the ref {}", path.display(), StoreRef::Realm)]
    NoRealm {
        /// The store.
        path: PathBuf,
    },
    /// A `.git` file names something that is not a git directory.
    #[error("not a git repository: '{}', which {} names", path.display(), file.display())]
    BrokenGitFile {
        /// The file.
        file: PathBuf,
        /// The path in it, or its own path if there is none.
        path: PathBuf,
    },
    /// A bare repository that was not named explicitly, which the user's git refuses to use.
    #[error("cannot use bare repository '{}' (safe.bareRepository is 'explicit')", path.display())]
    BareRefused {
        /// Its folder.
        path: PathBuf,
    },
    /// `GIT_DIR` names something other than a repository.
    #[error("not a git repository: '{}'", path.display())]
    NotARepository {
        /// The path.
        path: PathBuf,
    },
    /// The store uses the reftable backend, whose refs this program cannot update safely.
    #[error("the store {} uses the reftable format, which git blue cannot write", path.display())]
    Reftable {
        /// The store.
        path: PathBuf,
    },
    /// A repository belongs to another user. git refuses to work in it too.
    #[error("detected dubious ownership in repository at '{}'", path.display())]
    Dubious {
        /// Its working tree, or its folder if it is bare.
        path: PathBuf,
    },
    /// The store was written by a newer program.
    #[error("the realm has storage format {found}, but this version of git blue supports only formats up to {known}")]
    NewerFormat {
        /// The format found.
        found: u32,
        /// The newest format known.
        known: u32,
    },
    /// A file with this program's configuration is not in the format of git's configuration.
    #[error("{}:{line}: this is not in the format of git's configuration", path.display())]
    NotConfig {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1.
        line: usize,
    },
    /// A lock was not released in time.
    #[error("{} is locked{}{}", lock.display(), holder.as_ref().map(|holder| format!(" by {holder}")).unwrap_or_default(), age.filter(|age| age.as_secs() > 0).map(|age| format!(", for {} s", age.as_secs())).unwrap_or_default())]
    Locked {
        /// The lock file.
        lock: PathBuf,
        /// The holder, if known.
        holder: Option<String>,
        /// The time for which the lock has been held, if known.
        age: Option<Duration>,
    },
    /// A ref no longer has the expected value. The caller must read it and decide again.
    #[error("{name} was changed by another writer")]
    Conflict {
        /// The ref.
        name: String,
    },
    /// An object or ref that should be readable is not.
    #[error("{what} cannot be read: {problem}")]
    Damaged {
        /// The object or ref, as git names it.
        what: String,
        /// The problem, as a sentence.
        problem: String,
    },
    /// git can read no line of packed-refs, because one is damaged.
    #[error("cannot read packed-refs: {problem}")]
    PackedRefs {
        /// The problem, as a sentence.
        problem: String,
    },
    /// A partial clone lacks a directory of a commit.
    #[error("the tree {id} is missing from this partial clone")]
    NotFetched {
        /// Its id.
        id: Oid,
        /// The remote that has it.
        remote: String,
    },
    /// An object exceeds the size limit of its kind.
    #[error("the {kind} {id} cannot be read: it is {size} bytes, over the limit of {} MiB", limit >> 20)]
    TooLarge {
        /// Its kind, as git names it.
        kind: &'static str,
        /// Its id.
        id: Oid,
        /// Its size, in bytes.
        size: u64,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A file would exceed the size limit for stored files.
    #[error("{path} would be {size} bytes, but a stored file is limited to {} MiB", super::codec::MAX_BLOB >> 20)]
    TooLargeToWrite {
        /// Its path.
        path: String,
        /// Its size, in bytes.
        size: usize,
    },
    /// An object that should exist does not.
    #[error("the object {id} is missing")]
    Missing {
        /// Its id.
        id: Oid,
    },
    /// An object that should be in a repository of the user is missing or cannot be read.
    #[error("{error}")]
    DamagedRepo {
        /// The git dir of the repository.
        git_dir: PathBuf,
        /// The error.
        error: Box<StoreError>,
    },
    /// A repository of the user borrows objects from another one that is gone.
    #[error("this clone borrows objects from {}, which does not exist", objects.display())]
    LostAlternate {
        /// The object directory of the other repository.
        objects: PathBuf,
        /// The file that names it.
        file: PathBuf,
    },
    /// A file system operation failed.
    #[error("cannot {doing} {}: {}", path.display(), without_number(source))]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The cause.
        #[source]
        source: Arc<std::io::Error>,
    },
    /// A remote refused the operation, or did not respond.
    #[error("{url}: {problem}")]
    Remote {
        /// The remote's URL, without credentials.
        url: String,
        /// The remote's message, or the reason why there is none.
        problem: String,
    },
    /// A remote sent more data than is accepted.
    #[error("{url} sent more than {} KiB, so the fetch was aborted", bytes >> 10)]
    FetchTooLarge {
        /// The remote's URL, without credentials.
        url: String,
        /// The maximum number of bytes that is accepted.
        bytes: u64,
    },
    /// Reading git's files or running git failed.
    #[error("cannot {doing}: {problem}")]
    Git {
        /// The operation that failed.
        doing: String,
        /// The cause.
        problem: String,
    },
}

/// Messages that git prints if the other repository has lost objects. Some of them also occur when a connection
/// breaks.
const LOST: [&str; 6] = [
    "possible repository corruption on the remote side",
    "bad pack header",
    "not our ref",
    "missing necessary objects",
    "unresolved deltas",
    "unpacker error",
];

/// Returns the text of an error without the number that the operating system gives it.
fn without_number(error: &std::io::Error) -> String {
    let text = error.to_string();
    let number = error.raw_os_error().map(|number| format!(" (os error {number})")).unwrap_or_default();
    text.strip_suffix(&number).unwrap_or(&text).to_owned()
}

/// Returns an error without the path of a temporary file, which the error of the `tempfile` crate contains. The crate
/// does not give access to the cause, only to its text.
fn without_path(error: std::io::Error) -> std::io::Error {
    let text = error.to_string();
    let cause = text.split_once(" (os error ").filter(|_| error.raw_os_error().is_none());
    let number = cause.and_then(|(_, rest)| rest.split_once(") at path ")).and_then(|(number, _)| number.parse().ok());
    number.map_or(error, std::io::Error::from_raw_os_error)
}

impl StoreError {
    /// Returns whether a remote may have lost objects. Only a second failure of the same kind makes this certain.
    pub fn may_be_lost_objects(&self) -> bool {
        matches!(self, Self::Remote { problem, .. } if LOST.iter().any(|words| problem.contains(words)))
    }

    /// Returns whether stored data is permanently damaged. Such data is reported and does not hide the rest. Any other
    /// error says nothing about the data, so no decision may be based on it.
    pub fn is_damage(&self) -> bool {
        matches!(
            self,
            Self::Damaged { .. }
                | Self::TooLarge { .. }
                | Self::Missing { .. }
                | Self::DamagedRepo { .. }
                | Self::LostAlternate { .. }
        )
    }

    /// Returns a function that wraps a cause in an [`Io`](Self::Io) error.
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { doing, path, source: Arc::new(without_path(source)) }
    }

    /// Returns a function that wraps a cause, with its own causes, in a [`Git`](Self::Git) error.
    pub fn git<E: std::error::Error>(doing: impl Into<String>) -> impl FnOnce(E) -> Self {
        let doing = doing.into();
        move |error| {
            let mut causes = vec![error.to_string()];
            let mut source = error.source();
            while let Some(cause) = source {
                causes.push(cause.to_string());
                source = cause.source();
            }
            causes.dedup();
            Self::Git { doing, problem: causes.join(": ") }
        }
    }
}

/// Returns what was read, or nothing if it is damaged.
///
/// # Errors
/// Returns any other error.
pub fn unless_damaged<T: Default>(read: Result<T, StoreError>) -> Result<T, StoreError> {
    match read {
        Err(error) if error.is_damage() => Ok(T::default()),
        read => read,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_temporary_file_is_not_shown() {
        let error = tempfile::NamedTempFile::new_in("/nonexistent").unwrap_err();
        let error = StoreError::io("write", "/nonexistent/file")(error).to_string();
        assert_eq!(error, "cannot write /nonexistent/file: No such file or directory");
    }
}
