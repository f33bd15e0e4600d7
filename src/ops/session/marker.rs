//! The marker that names the session of a working tree. It is a file in the git dir of the working tree, so every
//! linked worktree has its own.
//!
//! The session itself is stored in the realm. The marker is written before the session, and removed after the session
//! has ended: if a process dies in between, the marker names a session that does not exist, which counts as none.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use crate::{
    error::OpError,
    model::{
        name::{RealmName, RepoName},
        session::SessionId,
    },
    ops::{ctx::ActingRepo, repos::git_dir_file},
    repo::CodeRepo,
};

/// The file in the git dir of a working tree.
const FILE: &str = "blue-session";

/// The session marker of a working tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionMarker {
    /// No marker.
    None,
    /// A valid marker.
    Session(SessionRef),
    /// A marker that cannot be read, with the reason.
    Unreadable(String),
}

/// A session marker. It includes the realm and the repository, because environment variables and flags may select
/// others for a single command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRef {
    /// Its id.
    pub id: SessionId,
    /// The realm of the session.
    pub realm: RealmName,
    /// The repository's name there.
    pub repo: RepoName,
}

impl SessionRef {
    /// Returns whether the session belongs to the current repository.
    pub fn is_of(&self, acting: ActingRepo<'_>) -> bool {
        self.realm == *acting.realm && self.repo == *acting.repo
    }
}

impl FromStr for SessionRef {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split(' ');
        let mut word = || words.next().unwrap_or_default();
        let read = (word().parse(), word().parse(), word().parse());
        match (read, words.next()) {
            ((Ok(id), Ok(realm), Ok(repo)), None) => Ok(Self { id, realm, repo }),
            _ => Err("expected: ID REALM REPO"),
        }
    }
}

impl fmt::Display for SessionRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.id, self.realm, self.repo)
    }
}

/// Returns the path of a working tree's session marker.
pub fn file(code: &CodeRepo) -> PathBuf {
    code.git_dir().join(FILE)
}

/// Returns the session marker of a working tree. A symbolic link is not followed.
pub fn read(code: &CodeRepo) -> SessionMarker {
    match git_dir_file::read(&file(code)) {
        Ok(None) => SessionMarker::None,
        Ok(Some(text)) => {
            text.parse().map_or_else(|why: &str| SessionMarker::Unreadable(why.into()), SessionMarker::Session)
        }
        Err(why) => SessionMarker::Unreadable(why),
    }
}

/// The session markers of a clone's working trees.
#[derive(Debug, Default)]
pub struct SessionMarkers {
    /// The markers of the working trees that exist.
    pub present: Vec<SessionRef>,
    /// The linked worktrees whose directory was deleted without git, with their markers.
    pub deleted: Vec<(PathBuf, SessionRef)>,
}

/// Returns the session markers of all working trees of a clone.
pub fn of_clone(code: &CodeRepo) -> SessionMarkers {
    let common = code.common_dir();
    let linked = common.join("worktrees").read_dir().into_iter().flatten().filter_map(Result::ok);
    let linked: Vec<_> = linked.map(|entry| entry.path()).collect();
    let mut markers = SessionMarkers { present: in_folder(common).into_iter().collect(), deleted: Vec::new() };
    for folder in linked {
        if let Some(marked) = in_folder(&folder) {
            match deleted(&folder) {
                Some(path) => markers.deleted.push((path, marked)),
                None => markers.present.push(marked),
            }
        }
    }
    markers
}

fn in_folder(git_dir: &Path) -> Option<SessionRef> {
    git_dir_file::read(&git_dir.join(FILE)).ok()??.parse().ok()
}

/// Returns the directory of a linked worktree that was deleted. git keeps a locked one, which may be on a drive that is
/// not mounted.
fn deleted(git_dir: &Path) -> Option<PathBuf> {
    let file = git_dir.join(git_dir_file::read(&git_dir.join("gitdir")).ok()??);
    let is_deleted = !file.exists() && !git_dir.join("locked").exists();
    is_deleted.then(|| file.parent().map(Path::to_owned))?
}

/// Returns the session that a working tree is marked with, if it is one of the current repository.
pub fn of(code: &CodeRepo, acting: ActingRepo<'_>) -> Option<SessionId> {
    match read(code) {
        SessionMarker::Session(marked) if marked.is_of(acting) => Some(marked.id),
        _ => None,
    }
}

/// Writes the session marker of a working tree, replacing an earlier one.
///
/// # Errors
/// Returns an error if its git dir cannot be written.
pub fn write(code: &CodeRepo, acting: ActingRepo<'_>, id: &SessionId) -> Result<(), OpError> {
    let marked = SessionRef { id: id.clone(), realm: acting.realm.clone(), repo: acting.repo.clone() };
    git_dir_file::write(code.git_dir(), FILE, &marked.to_string())
}

/// Removes the session marker of a working tree.
///
/// # Errors
/// Returns an error if its git dir cannot be written.
pub fn remove(code: &CodeRepo) -> Result<(), OpError> {
    git_dir_file::remove(&file(code))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{memory::MemoryStore, sandbox::Sandbox};

    fn code(sandbox: &Sandbox) -> CodeRepo {
        sandbox.git(&sandbox.path(), &["init", "-q", "code"]);
        let place = crate::repo::DiscoverOptions {
            cwd: sandbox.path().join("code"),
            vars: sandbox.vars().clone(),
            in_hook: false,
        };
        CodeRepo::discover(&place).unwrap().unwrap()
    }

    #[test]
    fn a_marker_belongs_to_one_repository() {
        let sandbox = Sandbox::new();
        let (code, store) = (code(&sandbox), MemoryStore::new());
        let (realm, repo, other) = ("r".parse().unwrap(), "fungal".parse().unwrap(), "blue".parse().unwrap());
        let acting = ActingRepo { realm: &realm, store: &store, repo: &repo, code: None };
        let id: SessionId = "sess-1a".parse().unwrap();
        assert_eq!(read(&code), SessionMarker::None);
        write(&code, acting, &id).unwrap();
        assert_eq!(of(&code, acting), Some(id));
        assert_eq!(of(&code, ActingRepo { repo: &other, ..acting }), None);
        remove(&code).unwrap();
        remove(&code).unwrap();
        assert_eq!(read(&code), SessionMarker::None);
    }

    #[test]
    fn links_are_neither_followed_nor_written_through() {
        let sandbox = Sandbox::new();
        let (code, store) = (code(&sandbox), MemoryStore::new());
        let (realm, repo) = ("r".parse().unwrap(), "fungal".parse().unwrap());
        let acting = ActingRepo { realm: &realm, store: &store, repo: &repo, code: None };
        let elsewhere = sandbox.path().join("elsewhere");
        std::fs::write(&elsewhere, "sess-1a r fungal\n").unwrap();
        std::os::unix::fs::symlink(&elsewhere, file(&code)).unwrap();
        assert!(matches!(read(&code), SessionMarker::Unreadable(_)));
        write(&code, acting, &"sess-2b".parse().unwrap()).unwrap();
        assert_eq!(of(&code, acting).unwrap().to_string(), "sess-2b");
        assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), "sess-1a r fungal\n");
    }

    #[test]
    fn invalid_markers_are_unreadable() {
        let sandbox = Sandbox::new();
        let code = code(&sandbox);
        let long = "a".repeat(300);
        for text in
            ["", "sess-1a", "sess-1a r", "sess-1a r ../x", "x r fungal", "sess-1a r fungal more", &long, "\u{1b}"]
        {
            std::fs::write(file(&code), text).unwrap();
            assert!(matches!(read(&code), SessionMarker::Unreadable(_)), "{text:?}");
        }
        std::fs::write(file(&code), [0xff, 0xfe]).unwrap();
        assert!(matches!(read(&code), SessionMarker::Unreadable(_)));
    }
}
