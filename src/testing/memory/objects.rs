//! The objects of the store. They are named by a hash of their content, and never change or disappear.

use std::{cell::RefCell, collections::BTreeMap};

use sha2::{Digest as _, Sha256};

use crate::{
    model::oid::Oid,
    store::{CommitInfo, Entry, EntryKind, StoreError, codec::MAX_BLOB},
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Object {
    Blob(Vec<u8>),
    Tree(Vec<Entry>),
    Commit(CommitInfo),
}

impl Object {
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Blob(_) => "blob",
            Self::Tree(_) => "tree",
            Self::Commit(_) => "commit",
        }
    }

    /// Returns the bytes to hash, which are similar to git's.
    fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Blob(bytes) => bytes.clone(),
            Self::Tree(entries) => entries.iter().flat_map(line).collect(),
            Self::Commit(commit) => format!("{commit:?}").into_bytes(),
        }
    }

    pub(super) fn id(&self) -> Oid {
        let bytes = self.bytes();
        let header = format!("{} {}\0", self.kind(), bytes.len());
        let hash = Sha256::new_with_prefix(header).chain_update(bytes).finalize();
        Oid::from_bytes(&hash[..20]).unwrap_or_else(|| unreachable!("20 bytes are an id"))
    }
}

fn line(entry: &Entry) -> Vec<u8> {
    let mode = match entry.kind {
        EntryKind::Tree => "40000",
        EntryKind::Blob => "100644",
        EntryKind::Other => "120000",
    };
    [format!("{mode} {}\0", entry.name).as_bytes(), entry.id.as_bytes()].concat()
}

/// All objects of a store.
#[derive(Debug, Default)]
pub(super) struct Objects(RefCell<BTreeMap<Oid, Object>>);

impl Objects {
    pub(super) fn add(&self, object: Object) -> Oid {
        let id = object.id();
        let mut all = self.0.borrow_mut();
        let kept = all.entry(id).or_insert_with(|| object.clone());
        assert_eq!(*kept, object, "an id names one object for ever");
        id
    }

    pub(super) fn find(&self, id: &Oid) -> Result<Object, StoreError> {
        self.0.borrow().get(id).cloned().ok_or(StoreError::Missing { id: *id })
    }

    pub(super) fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        match self.find(id)? {
            Object::Tree(entries) => Ok(entries),
            other => Err(wrong("tree", id, &other)),
        }
    }

    pub(super) fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        match self.find(id)? {
            Object::Blob(bytes) if bytes.len() > MAX_BLOB => {
                Err(StoreError::TooLarge { kind: "blob", id: *id, size: bytes.len() as u64, limit: MAX_BLOB })
            }
            Object::Blob(bytes) => Ok(bytes),
            other => Err(wrong("blob", id, &other)),
        }
    }

    pub(super) fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        Ok(self.find(id)?.bytes().len() as u64)
    }

    pub(super) fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        match self.find(id)? {
            Object::Commit(commit) => Ok(commit),
            other => Err(wrong("commit", id, &other)),
        }
    }
}

/// Returns the error for an object of another kind.
pub(super) fn wrong(expected: &str, id: &Oid, found: &Object) -> StoreError {
    StoreError::Damaged { what: format!("the {expected} {id}"), problem: format!("it is a {}", found.kind()) }
}
