//! Edits trees by building new ones.

use super::objects::{Object, Objects, wrong};
use crate::{
    model::oid::Oid,
    store::{Edit, Entry, EntryKind, StoreError, TreePath},
};

/// The program that changes a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writer {
    /// This program, which must not turn a file into a folder or back.
    ThisProgram,
    /// Any other program, such as git.
    Other,
}

/// The new content of a path; `None` removes it.
pub(super) type Leaf = Option<(EntryKind, Oid)>;

/// Returns `base` with all edits applied.
pub(super) fn edit(objects: &Objects, base: Option<Oid>, edits: &[(TreePath, Edit)]) -> Result<Oid, StoreError> {
    refuse_overlap(edits)?;
    let mut tree = base;
    for (path, edit) in edits {
        let parts: Vec<_> = path.parts().collect();
        tree = Some(place(objects, tree, &parts, leaf(objects, edit)?, Writer::ThisProgram)?);
    }
    Ok(tree.unwrap_or_else(|| objects.add(Object::Tree(Vec::new()))))
}

/// Returns `base` with `leaf` at the path.
pub(super) fn place(
    objects: &Objects,
    base: Option<Oid>,
    parts: &[&str],
    leaf: Leaf,
    writer: Writer,
) -> Result<Oid, StoreError> {
    Ok(objects.add(Object::Tree(placed(objects, base, parts, leaf, writer)?)))
}

fn placed(
    objects: &Objects,
    folder: Option<Oid>,
    parts: &[&str],
    leaf: Leaf,
    writer: Writer,
) -> Result<Vec<Entry>, StoreError> {
    let mut entries = folder.map(|id| objects.entries(&id)).transpose()?.unwrap_or_default();
    let Some((name, below)) = parts.split_first() else {
        return Ok(entries);
    };
    let found = entries.iter().position(|entry| entry.name == *name).map(|at| entries.remove(at));
    let is_folder = found.as_ref().map(|found| found.kind == EntryKind::Tree);
    let new = match (below, is_folder) {
        ([], _) => leaf,
        // Nothing exists below a file.
        (_, Some(false)) if leaf.is_none() => found.as_ref().map(|found| (found.kind, found.id)),
        _ => {
            let folder = found.as_ref().filter(|_| is_folder == Some(true)).map(|found| found.id);
            let inner = placed(objects, folder, below, leaf, writer)?;
            // An empty folder is removed, as in git.
            (!inner.is_empty()).then(|| (EntryKind::Tree, objects.add(Object::Tree(inner))))
        }
    };
    if let (Writer::ThisProgram, Some(was), Some((kind, _))) = (writer, is_folder, new)
        && was != (kind == EntryKind::Tree)
    {
        return Err(refused(format!("{name} would be both a file and a folder")));
    }
    entries.extend(new.map(|(kind, id)| Entry { name: (*name).to_owned(), kind, id }));
    entries.sort_by_cached_key(order);
    Ok(entries)
}

/// Returns the sort key of an entry. git sorts a folder as if its name ended with a slash.
fn order(entry: &Entry) -> String {
    let slash = if entry.kind == EntryKind::Tree { "/" } else { "" };
    format!("{}{slash}", entry.name)
}

fn leaf(objects: &Objects, edit: &Edit) -> Result<Leaf, StoreError> {
    match edit {
        Edit::Put(bytes) => Ok(Some((EntryKind::Blob, objects.add(Object::Blob(bytes.clone()))))),
        Edit::Link(kind, id) => match (kind, objects.find(id)?) {
            (EntryKind::Blob, Object::Blob(_)) | (EntryKind::Tree, Object::Tree(_)) => Ok(Some((*kind, *id))),
            (EntryKind::Blob, found) => Err(wrong("blob", id, &found)),
            (EntryKind::Tree, found) => Err(wrong("tree", id, &found)),
            (EntryKind::Other, _) => Err(refused(format!("{id} is linked as neither a file nor a directory"))),
        },
        Edit::Remove => Ok(None),
    }
}

/// Refuses edits of one change that overlap, with one exception: a folder may be linked or removed first, and then
/// edited.
fn refuse_overlap(edits: &[(TreePath, Edit)]) -> Result<(), StoreError> {
    let within = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    for (index, (path, _)) in edits.iter().enumerate() {
        for (other, edit) in &edits[..index] {
            let (later, earlier) = (path.as_str(), other.as_str());
            let replaces = matches!(edit, Edit::Remove | Edit::Link(EntryKind::Tree, _));
            if within(earlier, later) || (within(later, earlier) && !replaces) {
                return Err(refused(format!("one change edits {other} and {path}")));
            }
        }
    }
    Ok(())
}

pub(super) fn refused(problem: String) -> StoreError {
    StoreError::Git { doing: "write a tree".into(), problem }
}
