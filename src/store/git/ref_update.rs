//! Moves refs while git itself may pack them at any moment.

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

/// Git's locks are not waited for by gix, but with nothing noted: a note stands for the shortest time.
const AT_ONCE: Fail = Fail::Immediately;

/// One ref on its way from one commit to another.
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

/// Moves a ref that travels. The packed-refs file is locked in the same transaction: without it, updates that
/// race with `git pack-refs` vanish after they were acknowledged.
pub(super) fn durably(repo: &gix::Repository, locks: &Locks, step: &Step<'_>) -> Result<(), StoreError> {
    let top = repo.common_dir();
    let reference = top.join(step.name.to_string());
    let packed = top.join("packed-refs");
    let lock_files = [top.join(format!("{}.lock", step.name)), top.join("packed-refs.lock")];
    let mut wait = locks.begin();
    let is_packed_too = loop {
        let mut held = journal::begin_within(&mut wait, locks, top, &lock_files)?;
        // gix keeps packed-refs in memory and tells by its time alone whether it is still the same:
        // two packers within one tick of the clock, and ours would write back what the first one
        // left. So it is read anew, and must be the same file once we hold its lock.
        let before = refs::stamp(&packed);
        refs::refresh(repo)?;
        // gix locks the file where there is one, and where there is none only if the ref is written there too.
        // Otherwise it would write a line for every ref of the realm, and flush none of them.
        let is_packed_too = before.is_none();
        let packing = match is_packed_too {
            false => PackedRefs::DeletionsOnly,
            true => PackedRefs::DeletionsAndNonSymbolicUpdates(Box::new(&repo.objects)),
        };
        let prepared = repo.refs.transaction().packed_refs(packing).prepare([step.edit()?], AT_ONCE, AT_ONCE);
        // gix reads the file before it waits for its lock: what it compared the ref with, and whether that
        // was as expected, means nothing if somebody wrote another one in between.
        let moved = match prepared {
            _ if refs::stamp(&packed) != before => None,
            Ok(prepared) => {
                // Only a note for the next writer; the write itself does not depend on it.
                let _ = journal::taken(&mut held, top, &lock_files);
                // What the ref is to hold, before it takes the place of what it holds: a power
                // failure may otherwise leave an empty file, and neither.
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
    // What it holds was flushed under the name of its lock. `refs` itself is as old as the store.
    fsync::flush_name(&reference, &top.join("refs"))
}

/// Moves a ref of this machine alone: not flushed, and not written into packed-refs. gix locks that
/// file all the same where it has to look there, so the locks are noted as for any other ref.
pub(super) fn locally(repo: &gix::Repository, locks: &Locks, step: &Step<'_>) -> Result<(), StoreError> {
    unflushed(repo, locks, step, &step.edit()?)
}

/// Changes a ref of this machine alone.
fn unflushed(repo: &gix::Repository, locks: &Locks, step: &Step<'_>, edit: &RefEdit) -> Result<(), StoreError> {
    let top = repo.common_dir();
    let lock_files = [top.join(format!("{}.lock", step.name)), top.join("packed-refs.lock")];
    let mut wait = locks.begin();
    loop {
        let mut held = journal::begin_within(&mut wait, locks, top, &lock_files)?;
        refs::refresh(repo)?;
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

/// Deletes a ref of this machine alone.
pub(super) fn away(repo: &gix::Repository, locks: &Locks, name: &StoreRef, expected: Oid) -> Result<(), StoreError> {
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

/// Waits until a ref may be moved after all.
///
/// # Errors
/// Returns the reason if waiting does not help or the deadline has passed.
fn again(
    repo: &gix::Repository,
    wait: &mut Wait<'_>,
    step: &Step<'_>,
    lock_files: &[PathBuf],
    error: &gix::Error,
) -> Result<(), StoreError> {
    let top = repo.common_dir();
    if let Some(file) = file_above(top, &step.name.to_string()) {
        let problem = "it is a file where refs need a folder; move it away".to_owned();
        return Err(StoreError::Damaged { what: top.join(file).display().to_string(), problem });
    }
    if is_passing(error) && !wait.is_over() {
        return wait.step(&top.join(step.name.to_string()), || None);
    }
    match in_the_way(error, lock_files) {
        Some(file) => wait.step(file, another),
        None => Err(explain(repo, error, step)),
    }
}

/// Returns which of the folders that lead to a ref is a file.
fn file_above<'a>(top: &Path, name: &'a str) -> Option<&'a Path> {
    Path::new(name).ancestors().skip(1).find(|above| top.join(above).is_file())
}

/// Returns whether the error is transient, so that a retry may succeed.
pub(super) fn is_passing(error: &gix::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    error.downcast_any_ref::<std::io::Error>().is_some_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// Returns the lock file of another program that was in the way. Only the error tells: while it lives, so may this
/// writer's own lock files.
fn in_the_way<'a>(error: &gix::Error, lock_files: &'a [PathBuf]) -> Option<&'a PathBuf> {
    let is_there = |error: &std::io::Error| error.kind() == std::io::ErrorKind::AlreadyExists;
    let is_held = error.downcast_any_ref::<std::io::Error>().is_some_and(is_there);
    lock_files.iter().find(|file| is_held && file.exists()).or(lock_files.first().filter(|_| is_held))
}

fn another() -> Option<String> {
    Some(journal::ANOTHER.to_owned())
}

/// Returns the error for a ref that could not be moved.
fn explain(repo: &gix::Repository, error: &gix::Error, step: &Step<'_>) -> StoreError {
    use gix::refs::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
    let name = step.name.to_string();
    let is_out_of_date =
        error.downcast_any_ref::<ReferenceOutOfDate>().is_some() || error.downcast_any_ref::<MustNotExist>().is_some();
    // gix has no type for a ref that should exist and does not. And whatever went wrong, a ref that
    // somebody else moved meanwhile calls for another decision.
    let packed = refs::Packed::default();
    let is_elsewhere =
        || refs::tip(repo, &packed, &name).is_ok_and(|tip| tip != step.from && tip != Some(to_oid(&step.to)));
    if is_out_of_date || is_elsewhere() {
        return StoreError::Conflict { name };
    }
    StoreError::git(format!("move {name}"))(error)
}
