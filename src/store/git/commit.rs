//! The write: objects, flush, ref, flush.

use std::{cell::RefCell, path::PathBuf};

use gix::{
    bstr::{BString, ByteSlice as _},
    date::parse::TimeBuf,
    lock::acquire::Fail,
    objs::{
        Tree,
        tree::{Editor, EntryKind as GitKind},
    },
    prelude::Write as _,
    refs::{
        Target,
        file::transaction::PackedRefs,
        transaction::{Change as RefChange, LogChange, PreviousValue, RefEdit},
    },
};

use super::{
    durable, journal,
    lock::{self, Locks},
    objects::{self, to_git, to_oid},
    refs,
};
use crate::{
    model::oid::Oid,
    store::{Change, Edit, Parents, Signature, StoreError, StoreRef},
};

pub(super) fn commit(
    repo: &gix::Repository,
    locks: &Locks,
    name: &StoreRef,
    expected: Option<Oid>,
    change: &Change,
) -> Result<Oid, StoreError> {
    let written = Written { repo, ids: RefCell::default() };
    let base = expected.map(|id| objects::commit(repo, &id)).transpose()?;
    let tree = written.tree(base.as_ref().map(|commit| commit.tree), &change.edits)?;
    if let (Some(tip), Some(base)) = (expected, &base)
        && base.tree == to_oid(&tree)
    {
        return Ok(tip);
    }
    let parents = match change.parents {
        Parents::Tip => expected.iter().map(to_git).collect(),
        Parents::None => Default::default(),
    };
    let signature = signature(&change.author);
    let id = written.object(&gix::objs::Commit {
        tree,
        parents,
        author: signature.clone(),
        committer: signature.clone(),
        encoding: None,
        message: change.message.as_str().into(),
        extra_headers: Vec::new(),
    })?;
    if name.is_local() {
        move_local(repo, name, expected, id, &signature)?;
    } else {
        written.flush()?;
        move_durably(repo, locks, name, expected, id, &signature)?;
    }
    Ok(to_oid(&id))
}

/// The objects of one write.
struct Written<'a> {
    repo: &'a gix::Repository,
    ids: RefCell<Vec<gix::ObjectId>>,
}

impl Written<'_> {
    fn object(&self, object: impl gix::objs::WriteTo) -> Result<gix::ObjectId, StoreError> {
        let mut bytes = Vec::new();
        object.write_to(&mut bytes).map_err(StoreError::git("write an object"))?;
        self.bytes(object.kind(), &bytes)
    }

    fn bytes(&self, kind: gix::objs::Kind, bytes: &[u8]) -> Result<gix::ObjectId, StoreError> {
        let failed = |error: gix::Error| StoreError::git(format!("write a {kind}"))(error);
        let id = gix::objs::compute_hash(self.repo.object_hash(), kind, bytes).map_err(failed)?;
        // gix, like git, takes a file of that name for the object. But a writer that lost power
        // before it flushed leaves torn ones, and the next attempt writes the same content.
        let is_there = || self.repo.objects.exists_without_refresh(&id);
        let is_whole = || self.repo.find_object(id).is_ok_and(|found| found.kind == kind && found.data == bytes);
        if !(is_there() && is_whole()) {
            self.repo.objects.write_buf_with_known_id(kind, bytes, id).map_err(failed)?;
        }
        self.ids.borrow_mut().push(id);
        Ok(id)
    }

    fn tree(&self, base: Option<Oid>, edits: &[(crate::store::TreePath, Edit)]) -> Result<gix::ObjectId, StoreError> {
        let repo = self.repo;
        let failed = |error: gix::Error| StoreError::git("write a tree")(error);
        let root = match base {
            Some(id) => {
                let object = repo.find_tree(to_git(&id)).map_err(failed)?;
                object.decode().map_err(failed)?.into()
            }
            None => Tree::empty(),
        };
        let mut editor = Editor::new(root, &repo.objects, repo.object_hash());
        for (path, edit) in edits {
            let parts = path.parts().map(|part| part.as_bytes().as_bstr());
            match edit {
                Edit::Put(bytes) => {
                    let id = self.bytes(gix::objs::Kind::Blob, bytes)?;
                    editor.upsert(parts, GitKind::Blob, id).map_err(failed)?;
                }
                Edit::Link(kind, id) => {
                    let kind = objects::linked(repo, *kind, id)?;
                    editor.upsert(parts, kind, to_git(id)).map_err(failed)?;
                }
                Edit::Remove => {
                    editor.remove(parts).map_err(failed)?;
                }
            }
        }
        editor.write(|tree| self.object(tree))
    }

    /// Flushes the objects, also those that were there before: the process that wrote them may
    /// have died before it flushed. What lies in a pack was flushed by whoever packed it.
    fn flush(&self) -> Result<(), StoreError> {
        let objects = self.repo.common_dir().join("objects");
        let loose = |id: &gix::ObjectId| {
            let hex = id.to_string();
            objects.join(&hex[..2]).join(&hex[2..])
        };
        let files: Vec<PathBuf> = self.ids.borrow().iter().map(loose).collect();
        durable::flush(&files, &objects)
    }
}

fn signature(author: &Signature) -> gix::actor::Signature {
    // What git strips from a name or address too (ident.c, strbuf_addstr_without_crud).
    let clean = |text: &str| -> BString {
        let text: String = text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\0')).collect();
        text.trim().into()
    };
    let time = gix::date::Time::new(author.time.timestamp().as_second(), author.time.offset().seconds());
    gix::actor::Signature { name: clean(&author.name), email: clean(&author.email), time }
}

fn edit(name: &StoreRef, expected: Option<Oid>, id: gix::ObjectId) -> Result<RefEdit, StoreError> {
    let full = name.to_string();
    Ok(RefEdit {
        change: RefChange::Update {
            log: LogChange::default(),
            expected: match expected {
                Some(old) => PreviousValue::MustExistAndMatch(Target::Object(to_git(&old))),
                None => PreviousValue::MustNotExist,
            },
            new: Target::Object(id),
        },
        name: full
            .as_str()
            .try_into()
            .map_err(|error: gix::validate::reference::name::Error| StoreError::git("name a ref")(error))?,
        deref: false,
    })
}

/// Moves a ref that travels. The packed-refs file is locked and written in the same transaction:
/// without it, updates that race with `git pack-refs` vanish after they were acknowledged.
fn move_durably(
    repo: &gix::Repository,
    locks: &Locks,
    name: &StoreRef,
    expected: Option<Oid>,
    id: gix::ObjectId,
    by: &gix::actor::Signature,
) -> Result<(), StoreError> {
    let top = repo.common_dir();
    let reference = top.join(name.to_string());
    let packed = top.join("packed-refs");
    let lock_files = [top.join(format!("{name}.lock")), top.join("packed-refs.lock")];
    let start = std::time::Instant::now();
    let mut tries = 0;
    loop {
        let mut held = journal::begin(locks, top, &lock_files)?;
        let wait = Fail::AfterDurationWithBackoff(locks.timeout());
        let moved = repo
            .refs
            .transaction()
            .packed_refs(PackedRefs::DeletionsAndNonSymbolicUpdates(Box::new(&repo.objects)))
            .prepare([edit(name, expected, id)?], wait, wait)
            .and_then(|prepared| {
                // Only a note for the next writer; the write itself does not depend on it.
                let _ = journal::taken(&mut held, top, &lock_files);
                prepared.commit(by.to_ref(&mut TimeBuf::default()))
            });
        journal::end(&mut held)?;
        match moved {
            Ok(_) => break,
            // A packer may remove an empty folder between its creation and the lock file in it.
            Err(error) if is_passing(&error) && start.elapsed() < locks.timeout() => {
                drop(held);
                std::thread::sleep(locks.wait(tries));
                tries += 1;
            }
            Err(error) => return Err(explain(repo, &error, name, (expected, id), &lock_files)),
        }
    }
    durable::flush([&reference, &packed], top)
}

/// Moves a ref of this machine alone, as cheaply as git can.
fn move_local(
    repo: &gix::Repository,
    name: &StoreRef,
    expected: Option<Oid>,
    id: gix::ObjectId,
    by: &gix::actor::Signature,
) -> Result<(), StoreError> {
    let wait = Fail::AfterDurationWithBackoff(std::time::Duration::from_secs(1));
    let moved = repo
        .refs
        .transaction()
        .prepare([edit(name, expected, id)?], wait, wait)
        .and_then(|prepared| prepared.commit(by.to_ref(&mut TimeBuf::default())));
    let lock_files = [repo.common_dir().join(format!("{name}.lock"))];
    moved.map(drop).map_err(|error| explain(repo, &error, name, (expected, id), &lock_files))
}

fn is_passing(error: &gix::Error) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    error.downcast_any_ref::<std::io::Error>().is_some_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// Says why a ref could not be moved from one commit to another.
fn explain(
    repo: &gix::Repository,
    error: &gix::Error,
    name: &StoreRef,
    (from, to): (Option<Oid>, gix::ObjectId),
    lock_files: &[PathBuf],
) -> StoreError {
    use gix::refs::file::transaction::prepare::{MustNotExist, ReferenceOutOfDate};
    let is_out_of_date =
        error.downcast_any_ref::<ReferenceOutOfDate>().is_some() || error.downcast_any_ref::<MustNotExist>().is_some();
    // gix has no type for a ref that should exist and does not. And whatever went wrong, a ref that
    // somebody else moved meanwhile calls for another decision.
    let is_elsewhere = || refs::tip(repo, &name.to_string()).is_ok_and(|tip| tip != from && tip != Some(to_oid(&to)));
    if is_out_of_date || is_elsewhere() {
        return StoreError::Conflict { name: name.to_string() };
    }
    match lock_files.iter().find(|file| file.exists()) {
        Some(file) => lock::locked(file, Some("another git process".into())),
        None => {
            let mut causes: Vec<_> = error.iter_errors().map(ToString::to_string).collect();
            causes.dedup();
            StoreError::git(format!("move {name}"))(causes.join(": "))
        }
    }
}
