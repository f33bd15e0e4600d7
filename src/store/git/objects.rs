//! Reads objects of stores and of code repositories.

use gix::objs::tree::EntryKind as GitKind;

use super::OBJECT_CACHE;
use crate::{
    model::oid::Oid,
    store::{CommitInfo, Entry, EntryKind, StoreError, codec::MAX_BLOB},
};

pub(crate) fn to_oid(id: &gix::oid) -> Oid {
    Oid::from_bytes(id.as_bytes()).unwrap_or_else(|| unreachable!("git has ids of 20 or 32 bytes"))
}

pub(crate) fn to_git(id: &Oid) -> gix::ObjectId {
    gix::ObjectId::try_from(id.as_bytes()).unwrap_or_else(|_| unreachable!("ids have 20 or 32 bytes"))
}

/// Converts an id for a look-up. gix must not be asked for an id of another object format, which no object here can
/// have.
pub(crate) fn native(repo: &gix::Repository, id: &Oid) -> Result<gix::ObjectId, StoreError> {
    let git = to_git(id);
    if git.kind() == repo.object_hash() { Ok(git) } else { Err(StoreError::Missing { id: *id }) }
}

fn find(repo: &gix::Repository, id: &Oid, kind: gix::objs::Kind) -> Result<gix::ObjectDetached, StoreError> {
    let damaged = |problem: String| StoreError::Damaged { what: format!("the {kind} {id}"), problem };
    let git = native(repo, id)?;
    let object = look_up(repo, |repo| repo.find_object(git).map(gix::Object::detach));
    let object = object.map_err(|error| read_error(id, kind, &error))?;
    if object.kind != kind {
        return Err(damaged(format!("it is a {}", object.kind)));
    }
    Ok(object)
}

/// Looks up an object. If it is not found, lists all packs again and retries once: a pack that could not be opened for
/// lack of file descriptors or memory looks as if its objects were missing.
fn look_up<T>(repo: &gix::Repository, look: impl Fn(&gix::Repository) -> gix::Result<T>) -> gix::Result<T> {
    match beside_a_packer(|| look(repo)) {
        Err(error) if is_absent(&error) => match gix::open_opts(repo.git_dir(), repo.open_options().clone()) {
            Ok(fresh) => look(&fresh),
            Err(_) => Err(error),
        },
        found => found,
    }
}

/// The maximum number of look-ups of an object that a packer may be moving, from a loose file into a pack or between
/// packs. gix searches the packs that it knows and then the ones that it discovers; an object that moves in between is
/// found in neither.
const MAX_LOOKS: u32 = 5;

/// Repeats a look-up that found nothing, with increasing pauses.
pub(crate) fn beside_a_packer<T>(look: impl Fn() -> gix::Result<T>) -> gix::Result<T> {
    let mut looks = 1;
    loop {
        match look() {
            Err(error) if is_absent(&error) && looks < MAX_LOOKS => {
                std::thread::sleep(std::time::Duration::from_millis(1 << looks));
            }
            result => return result,
        }
        looks += 1;
    }
}

/// Returns whether the object, or the file that should contain it, does not exist.
pub(crate) fn is_absent(error: &gix::Error) -> bool {
    let system = |error: &std::io::Error| error.kind() == std::io::ErrorKind::NotFound;
    error.is_not_found() || error.downcast_any_ref::<std::io::Error>().is_some_and(system)
}

/// Distinguishes an object that is missing or damaged from a temporary failure to read it.
fn read_error(id: &Oid, kind: gix::objs::Kind, error: &gix::Error) -> StoreError {
    if is_absent(error) {
        return StoreError::Missing { id: *id };
    }
    let what = format!("the {kind} {id}");
    let system = error.iter_errors().filter_map(|error| error.downcast_ref::<std::io::Error>());
    match system.into_iter().find(|error| error.raw_os_error().is_some()) {
        Some(system) => StoreError::Git { doing: format!("read {what}"), problem: system.to_string() },
        None => StoreError::Damaged { what, problem: error.to_string() },
    }
}

/// Returns the entries of a tree. `program` is the kind to report for executable files: an ordinary file in a user's
/// repository, but invalid in a store.
pub(crate) fn entries(repo: &gix::Repository, id: &Oid, program: EntryKind) -> Result<Vec<Entry>, StoreError> {
    let object = find(repo, id, gix::objs::Kind::Tree)?;
    let entries = gix::objs::TreeRefIter::from_bytes(&object.data, repo.object_hash());
    entries.map(|entry| Ok(read(&entry.map_err(|error| damaged_tree(id, &error))?, program))).collect()
}

/// Returns the entry of a tree with this name. Entries after it are not parsed.
pub(crate) fn entry(
    repo: &gix::Repository,
    id: &Oid,
    name: &str,
    program: EntryKind,
) -> Result<Option<Entry>, StoreError> {
    let object = find(repo, id, gix::objs::Kind::Tree)?;
    for entry in gix::objs::TreeRefIter::from_bytes(&object.data, repo.object_hash()) {
        let entry = entry.map_err(|error| damaged_tree(id, &error))?;
        if entry.filename == name {
            return Ok(Some(read(&entry, program)));
        }
    }
    Ok(None)
}

fn damaged_tree(id: &Oid, error: &dyn std::fmt::Display) -> StoreError {
    StoreError::Damaged { what: format!("the tree {id}"), problem: error.to_string() }
}

fn read(entry: &gix::objs::tree::EntryRef<'_>, program: EntryKind) -> Entry {
    Entry {
        // A name that is not UTF-8 must not hide the others in its folder. The replacement
        // character turns it into a name that is never looked up.
        name: String::from_utf8_lossy(entry.filename).into_owned(),
        kind: match entry.mode.kind() {
            GitKind::Tree => EntryKind::Tree,
            GitKind::Blob => EntryKind::Blob,
            GitKind::BlobExecutable => program,
            GitKind::Link | GitKind::Commit => EntryKind::Other,
        },
        id: to_oid(entry.oid),
    }
}

/// Returns the mode of a tree entry for the object `id`, after checking that the object exists and has that kind. gix
/// writes any entry it is given.
pub(crate) fn linked(repo: &gix::Repository, kind: EntryKind, id: &Oid) -> Result<GitKind, StoreError> {
    let (entry, wanted) = match kind {
        EntryKind::Tree => (GitKind::Tree, gix::objs::Kind::Tree),
        EntryKind::Blob => (GitKind::Blob, gix::objs::Kind::Blob),
        EntryKind::Other => {
            return Err(StoreError::Git {
                doing: "write a tree".into(),
                problem: format!("{id} is linked as neither a file nor a directory"),
            });
        }
    };
    let git = native(repo, id)?;
    let header = beside_a_packer(|| repo.find_header(git)).map_err(|error| read_error(id, wanted, &error))?;
    match header.kind() {
        kind if kind == wanted => Ok(entry),
        other => Err(StoreError::Damaged { what: format!("the {wanted} {id}"), problem: format!("it is a {other}") }),
    }
}

/// Returns the id that a blob with this content has.
pub(crate) fn blob_id(repo: &gix::Repository, content: &[u8]) -> Result<Oid, StoreError> {
    let id = gix::objs::compute_hash(repo.object_hash(), gix::objs::Kind::Blob, content);
    let failed = |error: gix::Error| StoreError::git("hash a file")(error);
    id.map(|id| to_oid(&id)).map_err(failed)
}

/// Returns the size of an object. Only its header is read.
pub(crate) fn size(repo: &gix::Repository, id: &Oid) -> Result<u64, StoreError> {
    let git = native(repo, id)?;
    let header = look_up(repo, |repo| repo.find_header(git));
    Ok(header.map_err(|error| read_error(id, gix::objs::Kind::Blob, &error))?.size())
}

pub(crate) fn blob(repo: &gix::Repository, id: &Oid) -> Result<Vec<u8>, StoreError> {
    let size = require_size(repo, id, "blob", MAX_BLOB)?;
    if size > OBJECT_CACHE as u64 {
        // gix copies each object into the cache, and never frees the copy of one that is too large for it.
        let mut uncached = repo.clone();
        uncached.object_cache_size(None);
        return Ok(find(&uncached, id, gix::objs::Kind::Blob)?.data);
    }
    Ok(find(repo, id, gix::objs::Kind::Blob)?.data)
}

/// Returns the size of an object, which must not exceed the limit of its kind. A hostile object is not inflated.
fn require_size(repo: &gix::Repository, id: &Oid, kind: &'static str, limit: usize) -> Result<u64, StoreError> {
    let size = size(repo, id)?;
    if size > limit as u64 {
        return Err(StoreError::TooLarge { kind, id: *id, size, limit });
    }
    Ok(size)
}

/// The latest time of a commit, in seconds: the start of the year 9999. Git accepts any number.
const LATEST: i64 = 253_370_764_800;

/// The maximum number of characters of a commit's author. The field may contain anything.
const MAX_PERSON: usize = 256;

fn person(who: &gix::actor::SignatureRef<'_>) -> String {
    format!("{} <{}>", who.name, who.email).chars().take(MAX_PERSON).collect()
}

/// The size limit of a commit of a store, in bytes. Its message may contain anything, and is read with the commit.
const MAX_COMMIT: usize = 1 << 20;

/// Returns a commit, unless somebody pushed a huge one.
pub(crate) fn commit_within_limit(repo: &gix::Repository, id: &Oid) -> Result<CommitInfo, StoreError> {
    require_size(repo, id, "commit", MAX_COMMIT)?;
    commit(repo, id)
}

pub(crate) fn commit(repo: &gix::Repository, id: &Oid) -> Result<CommitInfo, StoreError> {
    let object = find(repo, id, gix::objs::Kind::Commit)?;
    let damaged = |problem: String| StoreError::Damaged { what: format!("the commit {id}"), problem };
    let commit = gix::objs::CommitRef::from_bytes(&object.data, repo.object_hash())
        .map_err(|error| damaged(error.to_string()))?;
    let author = commit.author().map_err(|error| damaged(error.to_string()))?;
    let committer = commit.committer().map_err(|error| damaged(error.to_string()))?;
    let time = commit.time().map_err(|error| damaged(error.to_string()))?;
    Ok(CommitInfo {
        tree: to_oid(&commit.tree()),
        parents: commit.parents().map(|id| to_oid(&id)).collect(),
        author: person(&author),
        committer: person(&committer),
        time: jiff::Timestamp::from_second(time.seconds.clamp(-LATEST, LATEST))
            .map_err(|error| damaged(error.to_string()))?,
        message: commit.message.to_string(),
    })
}
