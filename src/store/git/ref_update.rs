//! Updates refs while git may pack them at any time.

use std::path::{Path, PathBuf};

use gix::{
    date::parse::TimeBuf,
    lock::acquire::Fail,
    refs::{
        Target,
        file::transaction::PackedRefs,
        transaction::{Change as RefChange, LogChange, PreviousValue, RefEdit, RefLog},
    },
};

use super::{
    fsync, journal,
    lock::{Locks, Wait},
    objects::{to_git, to_oid},
    refs,
};
use crate::{
    model::oid::Oid,
    store::{StoreError, StoreRef},
};

/// gix must not wait for git's locks itself: waiting happens between attempts, so that records in the journal are
/// short-lived.
const AT_ONCE: Fail = Fail::Immediately;

/// The update of a ref from one commit to another.
pub(super) struct Step<'a> {
    pub(super) name: &'a StoreRef,
    pub(super) from: Option<Oid>,
    pub(super) to: gix::ObjectId,
    /// The identity for the reflog, if one is enabled.
    pub(super) by: gix::actor::Signature,
}

impl Step<'_> {
    fn edit(&self) -> Result<RefEdit, StoreError> {
        let full = self.name.to_string();
        let name = full.as_str().try_into();
        Ok(RefEdit {
            change: RefChange::Update {
                log: LogChange::default(),
                expected: match self.from {
                    Some(old) => PreviousValue::MustExistAndMatch(Target::Object(to_git(&old))),
                    None => PreviousValue::MustNotExist,
                },
                new: Target::Object(self.to),
            },
            name: name.map_err(|error: gix::validate::reference::name::Error| StoreError::git("name a ref")(error))?,
            deref: false,
        })
    }
}

/// Updates a shared ref. The packed-refs file is locked in the same transaction, because otherwise an update that
/// races with `git pack-refs` can be lost after it was reported as successful.
pub(super) fn update_shared(repo: &gix::Repository, locks: &Locks, step: &Step<'_>) -> Result<(), StoreError> {
    let top = repo.common_dir();
    let reference = top.join(step.name.to_string());
    let packed = top.join("packed-refs");
    let lock_files = [top.join(format!("{}.lock", step.name)), top.join("packed-refs.lock")];
    let mut wait = locks.begin();
    let is_packed_too = loop {
        let mut held = journal::begin_within(&mut wait, locks, top, &lock_files)?;
        // gix caches packed-refs and only checks its time. If the file is replaced twice within one tick of the clock,
        // gix would write back the older content. Therefore it is read again, and must still be the same file once its
        // lock is held.
        let before = refs::stamp(&packed);
        refs::refresh(repo)?;
        // gix locks packed-refs if it exists, and otherwise only if the ref is written there too. So write it there
        // only if the file does not exist: doing so always would write a line for every ref of the realm, and flush
        // none of them.
        let is_packed_too = before.is_none();
        let packing = if is_packed_too {
            PackedRefs::DeletionsAndNonSymbolicUpdates(Box::new(&repo.objects))
        } else {
            PackedRefs::DeletionsOnly
        };
        let prepared = repo.refs.transaction().packed_refs(packing).prepare([step.edit()?], AT_ONCE, AT_ONCE);
        // gix reads the file before it waits for the lock. If the file was replaced in between, the comparison with
        // the expected value is meaningless.
        let moved = match prepared {
            _ if refs::stamp(&packed) != before => None,
            Ok(prepared) => {
                // This record is only for the next writer; this write does not depend on it.
                let _ = journal::taken(&mut held, top, &lock_files);
                // Flush the new content of the ref before it replaces the old one. Otherwise a power failure may leave
                // an empty file instead of either.
                if let Err(error) = fsync::sync(&lock_files[0]) {
                    drop(prepared);
                    journal::end(&mut held, top)?;
                    return Err(error);
                }
                Some(prepared.commit(step.by.to_ref(&mut TimeBuf::default())))
            }
            Err(error) => Some(Err(error)),
        };
        journal::end(&mut held, top)?;
        drop(held);
        match moved {
            Some(Ok(_)) => break is_packed_too,
            None => wait.step(&packed, another)?,
            Some(Err(error)) => again(repo, &mut wait, step, &lock_files, &error)?,
        }
    };
    if is_packed_too {
        fsync::sync(&packed)?;
        fsync::sync(top)?;
    }
    // The content was flushed under the name of the lock file. The folder `refs` itself has existed since the store
    // was created.
    fsync::flush_name(&reference, &top.join("refs"))
}

/// Updates a local ref, without flushing and without writing to packed-refs. gix still locks packed-refs if it has to
/// look there, so the locks are recorded as for any other ref.
pub(super) fn update_local(repo: &gix::Repository, locks: &Locks, step: &Step<'_>) -> Result<(), StoreError> {
    unflushed(repo, locks, step, &step.edit()?)
}

/// Removes the file of a ref whose content is lost. Local refs are not flushed, so a power failure may leave an empty
/// file, over which neither git nor gix writes.
fn remove_torn(repo: &gix::Repository, step: &Step<'_>) -> Result<(), StoreError> {
    let name = step.name.to_string();
    if step.from.is_some() || !refs::loose(repo, &name).is_err_and(|error| error.is_damage()) {
        return Ok(());
    }
    let path = repo.common_dir().join(name);
    std::fs::remove_file(&path).map_err(StoreError::io("delete", path))
}

/// Changes a local ref.
fn unflushed(repo: &gix::Repository, locks: &Locks, step: &Step<'_>, edit: &RefEdit) -> Result<(), StoreError> {
    let top = repo.common_dir();
    let lock_files = [top.join(format!("{}.lock", step.name)), top.join("packed-refs.lock")];
    let mut wait = locks.begin();
    loop {
        let mut held = journal::begin_within(&mut wait, locks, top, &lock_files)?;
        refs::refresh(repo)?;
        remove_torn(repo, step)?;
        let moved = repo.refs.transaction().prepare([edit.clone()], AT_ONCE, AT_ONCE).and_then(|prepared| {
            let _ = journal::taken(&mut held, top, &lock_files);
            prepared.commit(step.by.to_ref(&mut TimeBuf::default()))
        });
        journal::end(&mut held, top)?;
        drop(held);
        match moved {
            Ok(_) => return Ok(()),
            Err(error) => again(repo, &mut wait, step, &lock_files, &error)?,
        }
    }
}

/// Deletes a local ref.
pub(super) fn delete_local(
    repo: &gix::Repository,
    locks: &Locks,
    name: &StoreRef,
    expected: Oid,
) -> Result<(), StoreError> {
    if !name.is_local() {
        return Err(StoreError::Conflict { name: name.to_string() });
    }
    let step = Step { name, from: Some(expected), to: to_git(&expected), by: gix::actor::Signature::default() };
    let delete = RefEdit {
        change: RefChange::Delete {
            expected: PreviousValue::MustExistAndMatch(Target::Object(step.to)),
            log: RefLog::AndReference,
        },
        ..step.edit()?
    };
    unflushed(repo, locks, &step, &delete)
}

/// Waits before another attempt.
///
/// # Errors
/// Returns the error if waiting does not help, or if the deadline has passed.
fn again(
    repo: &gix::Repository,
    wait: &mut Wait<'_>,
    step: &Step<'_>,
    lock_files: &[PathBuf],
    error: &gix::Error,
) -> Result<(), StoreError> {
    let top = repo.common_dir();
    if let Some(file) = file_above(top, &step.name.to_string()) {
        let problem = "it is a file where refs need a directory; move it away".to_owned();
        return Err(StoreError::Damaged { what: top.join(file).display().to_string(), problem });
    }
    if is_transient(error) && !wait.is_over() {
        return wait.step(&top.join(step.name.to_string()), || None);
    }
    match in_the_way(error, lock_files) {
        Some(file) => wait.step(file, another),
        None => Err(explain(repo, error, step)),
    }
}

/// Returns the closest parent of a ref's path that is a file instead of a folder.
fn file_above<'a>(top: &Path, name: &'a str) -> Option<&'a Path> {
    Path::new(name).ancestors().skip(1).find(|above| top.join(above).is_file())
}

/// Returns whether the error is transient, so that a retry may succeed.
pub(super) fn is_transient(error: &gix::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    error.downcast_any_ref::<std::io::Error>().is_some_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// Returns the lock file of another program that is in the way. Only the error reveals it, because this writer's own
/// lock files may exist at that time too.
fn in_the_way<'a>(error: &gix::Error, lock_files: &'a [PathBuf]) -> Option<&'a PathBuf> {
    let is_there = |error: &std::io::Error| error.kind() == std::io::ErrorKind::AlreadyExists;
    let is_held = error.downcast_any_ref::<std::io::Error>().is_some_and(is_there);
    lock_files.iter().find(|file| is_held && file.exists()).or(lock_files.first().filter(|_| is_held))
}

fn another() -> Option<String> {
    Some(journal::ANOTHER.to_owned())
}

/// Returns the error for a ref that could not be updated.
fn explain(repo: &gix::Repository, error: &gix::Error, step: &Step<'_>) -> StoreError {
    use gix::refs::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
    let name = step.name.to_string();
    let is_out_of_date =
        error.downcast_any_ref::<ReferenceOutOfDate>().is_some() || error.downcast_any_ref::<MustNotExist>().is_some();
    // gix has no error type for a ref that should exist but does not. Whatever the cause, a ref that has moved in the
    // meantime requires a new decision.
    let packed = refs::Packed::default();
    let is_elsewhere =
        || refs::tip(repo, &packed, &name).is_ok_and(|tip| tip != step.from && tip != Some(to_oid(&step.to)));
    if is_out_of_date || is_elsewhere() {
        return StoreError::Conflict { name };
    }
    StoreError::git(format!("move {name}"))(error)
}
