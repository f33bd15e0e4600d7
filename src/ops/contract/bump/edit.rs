//! Writes a version into a contract's file.

use crate::{
    error::{ErrorCode, OpError},
    model::{
        contract::{Contract, Evolution},
        version::Version,
        yaml_text,
    },
    ops::publish::work_file::WorkFile,
    store::codec,
};

/// Returns the text with the new version and an entry in its evolution, and no other change. Entries of unpublished
/// versions, which an earlier bump wrote, become part of that entry.
///
/// # Errors
/// Returns an error if the file cannot be edited in place, or its evolution contradicts the version.
pub fn edited(
    text: &str,
    document: &Contract,
    version: &Version,
    (changes, is_breaking): (&[String], bool),
    is_unpublished: impl Fn(&Version) -> bool,
    file: &WorkFile,
) -> Result<String, OpError> {
    let mut wanted = Contract { version: version.clone(), ..document.clone() };
    let quoted = yaml_text::quoted(&version.to_string());
    let mut edited =
        if document.version == *version { Some(text.to_owned()) } else { yaml_text::set(text, "version", &quoted) };
    let of_this = |entry: &Evolution| entry.version == *version || is_unpublished(&entry.version);
    let entries: Vec<_> = document.evolution.iter().enumerate().filter(|(_, entry)| of_this(entry)).collect();
    let known: Vec<_> = entries.iter().flat_map(|(_, entry)| &entry.changes).collect();
    let added: Vec<_> = changes.iter().filter(|change| !known.contains(change)).collect();
    if !added.is_empty() || entries.iter().any(|(_, entry)| entry.version != *version) {
        let mut entry = Evolution { version: version.clone(), changes: Vec::new(), compatible: !is_breaking };
        entry.changes.extend(known.into_iter().chain(added).cloned());
        for (index, former) in entries.into_iter().rev() {
            entry.compatible &= former.compatible || former.version != *version;
            wanted.evolution.remove(index);
            edited = edited.and_then(|text| yaml_text::remove(&text, "evolution", index));
        }
        let listed: Vec<_> = entry.changes.iter().map(|change| yaml_text::quoted(change)).collect();
        let mut fields = vec![("version", quoted.clone()), ("changes", format!("[{}]", listed.join(", ")))];
        if !entry.compatible {
            fields.push(("compatible", "false".to_owned()));
        }
        wanted.evolution.push(entry);
        edited = edited.and_then(|text| yaml_text::push(&text, "evolution", &fields));
    }
    let is_right = |text: &String| codec::contract(text.as_bytes(), &document.name).is_ok_and(|read| read == wanted);
    if let Some(fault) = wanted.contradiction() {
        let message = format!("{}: {fault}", file.relative());
        return Err(OpError::no(ErrorCode::CannotEdit, message).next(format!("edit evolution in {}", file.relative())));
    }
    edited.filter(is_right).ok_or_else(|| {
        let message = format!("cannot edit {}: its layout is not supported; nothing was changed", file.relative());
        OpError::no(ErrorCode::CannotEdit, message).next(format!("write version: {quoted} in {}", file.relative()))
    })
}
