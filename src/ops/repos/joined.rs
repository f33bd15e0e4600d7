//! Joined clones. A clone writes to a realm only after this user ran `init` or `join` in it: a repository's files are
//! only a proposal, which anybody may have made.
//!
//! A clone is marked by a file in the git dir that all of its worktrees share. A mark contains a random number that is
//! also in `$GIT_BLUE_HOME`, so one that comes with a copied clone or an unpacked archive is not valid. The file has a
//! mark for each `$GIT_BLUE_HOME` with which the clone was joined, such as those of a machine and of its containers.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use super::git_dir_file;
use crate::{
    error::{ErrorCode, OpError},
    locate,
    machine::home::{Home, recordable},
    model::{
        name::{RealmName, RepoName},
        oid::Oid,
    },
    ops::{acting_repo::ActingRepo, random},
    repo::CodeRepo,
    store::{
        self, Store, StoreError, StoreRef,
        git::{GitStore, Options},
        layout,
    },
};

/// The file in the common git dir.
const FILE: &str = "blue-joined";
/// The maximum number of marks. If there are more, the oldest is removed: it may be of a container that is gone.
const MAX_MARKS: usize = 8;
/// The word after the names if the realm does not know the repository's root commits yet.
const NO_ROOTS: &str = "no-roots";

/// A clone that the user joined to a realm.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Joined {
    number: String,
    /// The realm that the clone joined.
    pub realm: RealmName,
    /// The repository's name in the realm.
    pub repo: RepoName,
    /// Whether the realm knows the repository's root commits: it cannot if the clone joined before its first commit, or
    /// is shallow.
    pub has_roots: bool,
}

impl Joined {
    /// Returns whether the clone is joined as this repository of this realm.
    pub fn is_of(&self, realm: &RealmName, repo: &RepoName) -> bool {
        self.realm == *realm && self.repo == *repo
    }

    /// Returns whether the repository was renamed to the acting one.
    pub fn is_renamed_to(&self, acting: ActingRepo<'_>) -> bool {
        let newer = || locate::renamed::newer(acting.store, &self.repo);
        self.realm == *acting.realm && newer().is_ok_and(|newer| newer.as_ref() == Some(acting.repo))
    }

    /// Returns whether the acting repository takes the place of this one, which was renamed or left the realm.
    pub fn is_replaced_by(&self, acting: ActingRepo<'_>) -> bool {
        self.is_renamed_to(acting) || has_left(acting.store, &self.repo).unwrap_or_default()
    }
}

impl FromStr for Joined {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let mut words = text.split(' ');
        let number = words.next().unwrap_or_default().to_owned();
        let mut word = || words.next().unwrap_or_default();
        let (realm, repo) = (word().parse().map_err(|_| ())?, word().parse().map_err(|_| ())?);
        let has_roots = match words.next() {
            None => true,
            Some(NO_ROOTS) => false,
            Some(_) => return Err(()),
        };
        if words.next().is_some() {
            return Err(());
        }
        let is_number = number.len() == 32 && number.bytes().all(|byte| byte.is_ascii_hexdigit());
        if is_number { Ok(Self { number, realm, repo, has_roots }) } else { Err(()) }
    }
}

impl fmt::Display for Joined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.number, self.realm, self.repo)?;
        if self.has_roots { Ok(()) } else { write!(f, " {NO_ROOTS}") }
    }
}

/// Returns the realm and name that a clone joined as, or `None` if this user did not join it.
///
/// # Errors
/// Returns an error if the mark or the user's own folder cannot be read.
pub fn read(home: &Home, code: &CodeRepo) -> Result<Option<Joined>, OpError> {
    for joined in marks(code)? {
        let held = CloneRecord::read(&record(home, &joined.number))?;
        if held.is_some_and(|held| joined.is_of(&held.realm, &held.repo)) {
            return Ok(Some(joined));
        }
    }
    Ok(None)
}

/// Returns the marks of a clone, the oldest first.
fn marks(code: &CodeRepo) -> Result<Vec<Joined>, OpError> {
    let text = text(&code.common_dir().join(FILE))?.unwrap_or_default();
    Ok(text.lines().filter_map(|line| line.parse().ok()).collect())
}

/// Returns whether a clone was ever joined, with any `$GIT_BLUE_HOME`. Its user expects it to publish.
pub fn was_joined(code: &CodeRepo) -> bool {
    code.common_dir().join(FILE).is_file()
}

fn text(path: &Path) -> Result<Option<String>, OpError> {
    git_dir_file::read(path)
        .map_err(|problem| OpError::cannot(ErrorCode::Io, format!("cannot read {}: {problem}", path.display())))
}

/// The record of a clone in `$GIT_BLUE_HOME`.
struct CloneRecord {
    realm: RealmName,
    repo: RepoName,
    /// The clone's folder at the time it was joined.
    folder: PathBuf,
}

impl CloneRecord {
    fn read(path: &Path) -> Result<Option<Self>, OpError> {
        Ok(text(path)?.and_then(|text| Self::parse(&text)))
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.splitn(3, ' ');
        let mut word = || words.next().unwrap_or_default();
        Some(Self { realm: word().parse().ok()?, repo: word().parse().ok()?, folder: word().into() })
    }
}

/// Returns the folder of another clone that this user joined under a name, if there is one.
///
/// # Errors
/// Returns an error if the user's own folder cannot be read.
pub fn other_joined_clone(
    home: &Home,
    code: &CodeRepo,
    realm: &RealmName,
    repo: &RepoName,
) -> Result<Option<PathBuf>, OpError> {
    let clones = home.clones();
    let entries = match clones.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(OpError::io("read", clones)(error)),
    };
    let held = entries.filter_map(Result::ok).filter_map(|entry| CloneRecord::read(&entry.path()).ok()?);
    let mut others = held.filter(|held| held.realm == *realm && held.repo == *repo).map(|held| held.folder);
    Ok(others.find(|folder| *folder != code.main_folder() && folder.exists()))
}

/// Marks a clone as joined, and replaces an earlier mark with this home.
///
/// # Errors
/// Returns an error if the git dir or the user's own folder cannot be written.
pub fn write(home: &Home, code: &CodeRepo, realm: &RealmName, repo: &RepoName, has_roots: bool) -> Result<(), OpError> {
    let before = read(home, code)?;
    let number = match &before {
        Some(before) if before.is_of(realm, repo) => before.number.clone(),
        _ => random::hex::<16>()?,
    };
    let joined = Joined { number, realm: realm.clone(), repo: repo.clone(), has_roots };
    if before.as_ref() == Some(&joined) {
        return Ok(());
    }
    let clones = home.clones();
    home.make()?;
    std::fs::create_dir_all(&clones).map_err(OpError::io("create", &clones))?;
    // The record in the home is written first, because a mark without a record is invalid.
    git_dir_file::write(&clones, &joined.number, &format!("{realm} {repo} {}", recordable(&code.main_folder())?))?;
    let mut marks = other_marks(code, before.as_ref())?;
    marks.push(joined.clone());
    write_marks(code, &marks)?;
    // Up to here, an earlier mark stayed valid, in case this is interrupted. Now its record can be removed.
    match before.filter(|before| before.number != joined.number) {
        Some(before) => git_dir_file::remove(&record(home, &before.number)),
        None => Ok(()),
    }
}

/// Forgets that a clone was joined with this home. The mark is removed last: see [`was_joined`].
///
/// # Errors
/// Returns an error if the git dir or the user's own folder cannot be written.
pub fn forget(home: &Home, code: &CodeRepo) -> Result<(), OpError> {
    let Some(joined) = read(home, code)? else {
        return git_dir_file::remove(&code.common_dir().join(FILE));
    };
    git_dir_file::remove(&record(home, &joined.number))?;
    write_marks(code, &other_marks(code, Some(&joined))?)
}

fn other_marks(code: &CodeRepo, own: Option<&Joined>) -> Result<Vec<Joined>, OpError> {
    let is_own = |mark: &Joined| own.is_some_and(|own| own.number == mark.number);
    Ok(marks(code)?.into_iter().filter(|mark| !is_own(mark)).collect())
}

fn write_marks(code: &CodeRepo, marks: &[Joined]) -> Result<(), OpError> {
    if marks.is_empty() {
        return git_dir_file::remove(&code.common_dir().join(FILE));
    }
    let newest = &marks[marks.len().saturating_sub(MAX_MARKS)..];
    let lines: Vec<_> = newest.iter().map(Joined::to_string).collect();
    git_dir_file::write(code.common_dir(), FILE, &lines.join("\n"))
}

/// Checks that [`forget`] may remove its file, so that nothing is changed before it fails.
///
/// # Errors
/// Returns an error if the git dir cannot be written.
pub fn require_forgettable(code: &CodeRepo) -> Result<(), OpError> {
    let folder = code.common_dir();
    tempfile::tempfile_in(folder).map(drop).map_err(OpError::io("create a file in", folder))
}

/// Returns whether the user joined this clone as the current repository.
pub fn is_joined(home: &Home, acting: ActingRepo<'_>) -> bool {
    let joined = acting.code.and_then(|code| read(home, code).ok()?);
    joined.is_some_and(|joined| joined.is_of(acting.realm, acting.repo))
}

/// Returns the error for a clone that is not joined.
pub fn missing(acting: ActingRepo<'_>) -> OpError {
    let message = format!("this clone has not joined the realm {} as {}", acting.realm, acting.repo);
    OpError::no(ErrorCode::NotJoined, message).next("git blue init")
}

/// Returns the error for a commit without `.blue/config.yaml` in a joined clone, such as one from
/// before it joined. It replaces the error for a repository outside of any realm.
pub fn explain_missing_config(home: &Home, code: Option<&CodeRepo>, options: Options, error: OpError) -> OpError {
    let joined = code.filter(|_| error.code == ErrorCode::NotInRealm).and_then(|code| read(home, code).ok()?);
    let Some(joined) = joined else { return error };
    let store = store_of(home, &joined, options).ok().flatten();
    let Joined { realm, repo, .. } = &joined;
    if store.as_ref().is_some_and(|store| has_left(store, repo).unwrap_or_default()) {
        return OpError::cannot(ErrorCode::NotInRealm, format!("{repo} left the realm {realm}"))
            .next("git blue leave  # make this clone forget the realm too");
    }
    let config = locate::CONFIG;
    let message = format!("this clone joined the realm {realm} as {repo}, but this commit has no {config}");
    let restore = |code| Some(format!("{}  # restore it", restore_config(code, &last_config(code)?)));
    let restore = code.and_then(restore);
    let error = OpError::cannot(ErrorCode::NotInRealm, message);
    let error = if store.is_some_and(|store| !store.remotes().is_empty()) {
        error.next(format!("git blue --realm {realm} sync  # if {repo} left the realm elsewhere"))
    } else {
        error
    };
    error
        .next(restore.unwrap_or_else(|| "git switch BRANCH  # to a branch that has the file".to_owned()))
        .next(format!("git blue --realm {realm} status  # or read the realm from here"))
}

/// Returns the realm and name of a joined clone whose repository left the realm, here or on another machine.
///
/// # Errors
/// Returns an error if the clone or the realm cannot be read.
pub fn left(home: &Home, code: &CodeRepo, options: Options) -> Result<Option<Joined>, OpError> {
    let Some(joined) = read(home, code)? else { return Ok(None) };
    let store = store_of(home, &joined, options)?;
    let has_left = store.map(|store| has_left(&store, &joined.repo)).transpose()?;
    Ok(Some(joined).filter(|_| has_left == Some(true)))
}

/// Returns whether the realm that a clone joined is on this machine, and still has its repository.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn is_in_realm(home: &Home, joined: &Joined, options: Options) -> Result<bool, OpError> {
    let store = store_of(home, joined, options)?;
    Ok(store.map(|store| has_left(&store, &joined.repo)).transpose()? == Some(false))
}

fn store_of(home: &Home, joined: &Joined, options: Options) -> Result<Option<GitStore>, OpError> {
    home.realm(&joined.realm)?.map(|known| locate::open(home, &known, options)).transpose()
}

/// Returns whether a repository left the realm.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn has_left(store: &dyn Store, repo: &RepoName) -> Result<bool, StoreError> {
    let Some(tree) = store::read::tip_tree(store, &StoreRef::Realm)? else { return Ok(false) };
    let is_there = store::read::lookup(store, &tree, layout::repo(repo).as_str())?.is_some();
    Ok(!is_there && locate::renamed::newer(store, repo)?.is_none())
}

/// The maximum number of commits that are searched for a removed `.blue/config.yaml`.
const MAX_HISTORY: usize = 200;

/// Returns the last commit of the current branch that had `.blue/config.yaml`.
fn last_config(code: &CodeRepo) -> Option<Oid> {
    let head = code.head().ok()?;
    let has_config = |commit: &Oid| {
        let tree = code.tree_of(commit).ok()?;
        store::read::lookup(code, &tree, locate::CONFIG).ok()?
    };
    head.branch
        .and(head.commit)
        .and_then(|tip| code.first_parents(tip, MAX_HISTORY).find(|one| has_config(one).is_some()))
}

/// Returns the command that commits `.blue/config.yaml` again.
pub fn restore_config(code: &CodeRepo, commit: &Oid) -> String {
    format!("{} && git commit -m \"Restore {}\"", stage_config(code, commit), locate::CONFIG)
}

/// Returns the command that adds `.blue/config.yaml` to the index again: the file in the working tree, which must not be
/// overwritten, or else the file of `commit`.
pub fn stage_config(code: &CodeRepo, commit: &Oid) -> String {
    let config = locate::CONFIG;
    if code.workdir().is_none_or(|root| root.join(config).symlink_metadata().is_err()) {
        return format!("git checkout {commit} -- :/{config}");
    }
    let force = if code.needing_force([config]).is_empty() { "" } else { "--force " };
    format!("git add {force}:/{config}")
}

fn record(home: &Home, number: &str) -> PathBuf {
    home.clones().join(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{repo::DiscoverOptions, testing::sandbox::Sandbox};

    fn code(sandbox: &Sandbox, name: &str) -> CodeRepo {
        sandbox.git(&sandbox.path(), &["init", "-q", name]);
        let place = DiscoverOptions { cwd: sandbox.path().join(name), vars: sandbox.vars().clone(), in_hook: false };
        CodeRepo::discover(&place).unwrap().unwrap()
    }

    #[test]
    fn a_mark_is_valid_only_if_the_home_knows_its_number() {
        let sandbox = Sandbox::new();
        let home = Home::new(sandbox.path().join("blue"));
        let (ours, theirs) = (code(&sandbox, "ours"), code(&sandbox, "theirs"));
        let (realm, repo) = ("r".parse().unwrap(), "fungal".parse().unwrap());
        assert_eq!(read(&home, &ours).unwrap(), None);
        write(&home, &ours, &realm, &repo, false).unwrap();
        let joined = read(&home, &ours).unwrap().unwrap();
        assert!(joined.is_of(&realm, &repo) && !joined.has_roots);

        // One mark was written by somebody else, and in one the names were changed.
        std::fs::write(theirs.common_dir().join(FILE), format!("{} r fungal\n", "0".repeat(32))).unwrap();
        assert_eq!(read(&home, &theirs).unwrap(), None);
        std::fs::write(ours.common_dir().join(FILE), format!("{} r other\n", joined.number)).unwrap();
        assert_eq!(read(&home, &ours).unwrap(), None);

        write(&home, &ours, &realm, &repo, true).unwrap();
        assert!(read(&home, &ours).unwrap().unwrap().has_roots);
        forget(&home, &ours).unwrap();
        assert_eq!(read(&home, &ours).unwrap(), None);
    }

    #[test]
    fn a_clone_is_joined_with_each_home_on_its_own() {
        let sandbox = Sandbox::new();
        let code = code(&sandbox, "ours");
        let homes: Vec<_> = (0..=MAX_MARKS).map(|at| Home::new(sandbox.path().join(format!("blue{at}")))).collect();
        let (realm, repo) = ("r".parse().unwrap(), "fungal".parse().unwrap());
        let is_joined = |at: usize| read(&homes[at], &code).unwrap().is_some();
        for home in &homes {
            write(home, &code, &realm, &repo, true).unwrap();
        }
        let joined: Vec<_> = (0..homes.len()).map(is_joined).collect();
        assert_eq!(joined, [vec![false], vec![true; MAX_MARKS]].concat());
        forget(&homes[2], &code).unwrap();
        assert_eq!([1, 2, 3].map(is_joined), [true, false, true]);
        for home in &homes {
            if read(home, &code).unwrap().is_some() {
                forget(home, &code).unwrap();
            }
        }
        assert!(!was_joined(&code));
    }

    #[test]
    fn other_content_of_the_file_is_not_a_mark() {
        let sandbox = Sandbox::new();
        let home = Home::new(sandbox.path().join("blue"));
        let code = code(&sandbox, "code");
        let number = "a".repeat(32);
        std::fs::create_dir_all(home.clones()).unwrap();
        std::fs::write(home.clones().join(&number), "r fungal\n").unwrap();
        let more = format!("{number} r fungal no-roots more");
        for text in ["", "x r fungal", "../../config r fungal", &number, &more, &format!("{number} r ../x")] {
            std::fs::write(code.common_dir().join(FILE), text).unwrap();
            assert_eq!(read(&home, &code).unwrap(), None, "{text:?}");
        }
        std::fs::write(code.common_dir().join(FILE), format!("{number} r fungal")).unwrap();
        assert!(read(&home, &code).unwrap().is_some());
    }
}
