//! Writes commits: first the objects, as one flushed pack, and then the ref, flushed as well.

use std::{
    cell::RefCell,
    path::{Path, PathBuf},
    time::Duration,
};

use gix::{
    bstr::{BString, ByteSlice as _},
    objs::{
        Tree,
        tree::{Editor, EntryKind as GitKind},
    },
    prelude::Write as _,
};

use super::{
    lock::Locks,
    objects::{self, to_git, to_oid},
    pack::Packing,
    ref_update::{self, Step, is_transient},
    small_packs,
};
use crate::{
    model::oid::Oid,
    store::{Change, Edit, Parents, Signature, StoreError, StoreRef, TreePath},
};

/// The maximum number of attempts to write or read an object that a packer is moving.
const MAX_TRIES: u32 = 20;

pub(super) fn commit(
    repo: &gix::Repository,
    locks: &Locks,
    name: &StoreRef,
    expected: Option<Oid>,
    change: &Change,
) -> Result<Oid, StoreError> {
    let objects = repo.objects.store_ref().path();
    // Local refs are not flushed and change often, so loose objects are cheaper for them.
    let packing = (!name.is_local()).then(|| Packing::new(objects, repo.object_hash()));
    let written = Written { repo, packing: packing.as_ref(), torn: RefCell::default() };
    // A record of this machine that cannot be read is replaced.
    let base = match expected.map(|id| objects::commit(repo, &id)).transpose() {
        Err(error) if name.is_local() && error.is_damage() => None,
        base => base?,
    };
    let tree = match written.tree(base.as_ref().map(|commit| commit.tree), &change.edits) {
        Err(Failed::Absent(_)) if name.is_local() => written.tree(None, &change.edits)?,
        tree => tree?,
    };
    if let (Some(tip), Some(base)) = (expected, &base)
        && base.tree == to_oid(&tree)
        && !matches!(change.parents, Parents::Merge(_))
    {
        return Ok(tip);
    }
    let parents = match change.parents {
        Parents::Tip => expected.iter().map(to_git).collect(),
        Parents::Merge(other) => expected.iter().chain([&other]).map(to_git).collect(),
        Parents::None => Default::default(),
    };
    let author = signature(&change.author);
    let committer = change.committer.as_ref().map_or_else(|| author.clone(), signature);
    let id = written.object(&gix::objs::Commit {
        tree,
        parents,
        author,
        committer: committer.clone(),
        encoding: None,
        message: change.message.as_str().into(),
        extra_headers: Vec::new(),
    })?;
    let step = Step { name, from: expected, to: id, by: committer };
    match &packing {
        None => ref_update::update_local(repo, locks, &step)?,
        Some(packing) => {
            small_packs::put(packing, locks, objects, repo.object_hash())?;
            written.remove_torn();
            ref_update::update_shared(repo, locks, &step)?;
        }
    }
    Ok(to_oid(&id))
}

/// Moves a ref to an existing commit that its writer has flushed.
pub(super) fn advance(
    repo: &gix::Repository,
    locks: &Locks,
    name: &StoreRef,
    expected: Option<Oid>,
    to: Oid,
) -> Result<(), StoreError> {
    let step = Step { name, from: expected, to: to_git(&to), by: gix::actor::Signature::default() };
    if name.is_local() {
        ref_update::update_local(repo, locks, &step)
    } else {
        objects::commit(repo, &to)?;
        ref_update::update_shared(repo, locks, &step)
    }
}

/// The reason why a tree could not be written.
enum Failed {
    /// A part of the tree was not found. A packer may be moving it.
    Absent(StoreError),
    /// Any other error.
    Otherwise(StoreError),
}

impl From<Failed> for StoreError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Absent(error) | Failed::Otherwise(error) => error,
        }
    }
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Otherwise(error)
    }
}

/// The objects of one write.
struct Written<'a> {
    repo: &'a gix::Repository,
    /// The pack that adds the objects to the store together.
    packing: Option<&'a Packing>,
    /// Files of loose objects whose content is wrong.
    torn: RefCell<Vec<PathBuf>>,
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
        match self.packing {
            Some(_) if self.is_packed(id, kind, bytes) => {}
            Some(packing) => packing.add(id, kind, bytes)?,
            None => self.write_loose(id, kind, bytes).map_err(failed)?,
        }
        Ok(id)
    }

    /// Returns whether an object is in a pack and therefore durable: every pack is flushed before it gets its name. A
    /// loose object may not have been flushed.
    fn is_packed(&self, id: gix::ObjectId, kind: gix::objs::Kind, bytes: &[u8]) -> bool {
        let loose = self.repo.objects.store_ref().path().join(loose_name(id));
        match (self.is_there(id, kind, bytes), loose.exists()) {
            (true, is_loose) => !is_loose,
            (false, true) => {
                self.torn.borrow_mut().push(loose);
                false
            }
            (false, false) => false,
        }
    }

    /// Removes torn loose objects, once their content is in a pack.
    fn remove_torn(&self) {
        for file in self.torn.take() {
            let _ = std::fs::remove_file(file);
        }
    }

    /// Returns whether an object exists and is intact. If a writer loses power before flushing, it leaves torn files,
    /// and the next attempt writes the same content.
    fn is_there(&self, id: gix::ObjectId, kind: gix::objs::Kind, bytes: &[u8]) -> bool {
        let is_whole = || self.repo.find_object(id).is_ok_and(|found| found.kind == kind && found.data == bytes);
        self.repo.objects.exists_without_refresh(&id) && is_whole()
    }

    /// Writes a loose object.
    fn write_loose(&self, id: gix::ObjectId, kind: gix::objs::Kind, bytes: &[u8]) -> Result<(), gix::Error> {
        for tries in 0.. {
            if self.is_there(id, kind, bytes) {
                break;
            }
            match self.repo.objects.write_buf_with_known_id(kind, bytes, id) {
                Ok(_) => break,
                // A packer may remove an empty folder after its creation, before the file is created in it.
                Err(error) if is_transient(&error) && tries < MAX_TRIES => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Writes the edited tree. A packer may be moving the trees that this reads.
    fn tree(&self, base: Option<Oid>, edits: &[(TreePath, Edit)]) -> Result<gix::ObjectId, Failed> {
        let mut tries = 1;
        loop {
            match self.try_tree(base, edits) {
                Err(Failed::Absent(_)) if tries < MAX_TRIES => std::thread::sleep(Duration::from_millis(1)),
                tree => return tree,
            }
            tries += 1;
        }
    }

    fn try_tree(&self, base: Option<Oid>, edits: &[(TreePath, Edit)]) -> Result<gix::ObjectId, Failed> {
        let repo = self.repo;
        let failed = |error: gix::Error| {
            let absent = objects::is_absent(&error);
            let error = StoreError::git("write a tree")(error);
            if absent { Failed::Absent(error) } else { Failed::Otherwise(error) }
        };
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
        Ok(editor.write(|tree| self.object(tree))?)
    }
}

/// Returns the path of a loose object, relative to the objects folder.
fn loose_name(id: gix::ObjectId) -> PathBuf {
    let hex = id.to_string();
    let (fan, rest) = hex.split_at(2);
    Path::new(fan).join(rest)
}

fn signature(author: &Signature) -> gix::actor::Signature {
    // git also strips these from names and addresses (ident.c, strbuf_addstr_without_crud).
    let clean = |text: &str| -> BString {
        let text: String = text.chars().filter(|c| !matches!(c, '<' | '>' | '\n' | '\0')).collect();
        text.trim().into()
    };
    let time = gix::date::Time::new(author.time.timestamp().as_second(), author.time.offset().seconds());
    gix::actor::Signature { name: clean(&author.name), email: clean(&author.email), time }
}
