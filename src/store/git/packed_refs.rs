//! Repairs `packed-refs`: git reads none of its lines if one is damaged.

use std::{
    collections::BTreeMap,
    fs::OpenOptions,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use super::{fsync, refs::PACKED};
use crate::{model::oid::Oid, store::StoreError};

/// The first line of the file.
const HEADER: &str = "# pack-refs with: peeled fully-peeled sorted \n";

/// The lines of the file.
#[derive(Debug, Default, PartialEq, Eq)]
struct Lines {
    /// The readable lines of each ref, by name.
    sound: BTreeMap<String, String>,
    /// The others.
    damaged: Vec<String>,
}

impl Lines {
    fn parse(bytes: &[u8]) -> Self {
        let (mut lines, mut last) = (Self::default(), None);
        for (at, line) in bytes.split_inclusive(|byte| *byte == b'\n').enumerate() {
            let text = std::str::from_utf8(line).ok().and_then(|line| line.strip_suffix('\n'));
            let peels = text.and_then(|text| text.strip_prefix('^')).filter(|id| id.parse::<Oid>().is_ok());
            match (text.and_then(ref_of), peels, &last) {
                (Some(name), ..) => {
                    lines.sound.insert(name.to_owned(), String::from_utf8_lossy(line).into_owned());
                    last = Some(name.to_owned());
                }
                (None, Some(id), Some(name)) => {
                    lines.sound.entry(name.clone()).and_modify(|line| *line += &format!("^{id}\n"));
                }
                _ if at == 0 && text.is_some_and(|text| text.starts_with("# pack-refs with:")) => {}
                _ => {
                    lines.damaged.push(String::from_utf8_lossy(line).trim_end().to_owned());
                    last = None;
                }
            }
        }
        lines
    }
}

/// Returns the name of the ref in a line of the form `ID NAME`.
fn ref_of(line: &str) -> Option<&str> {
    let (id, name) = line.split_once(' ')?;
    let is_sound = id.parse::<Oid>().is_ok() && gix::refs::FullName::try_from(name).is_ok();
    is_sound.then_some(name)
}

/// Returns the lines of a store's `packed-refs` that cannot be read.
pub fn damaged_packed_refs(store: &Path) -> Vec<String> {
    // Whoever reads the refs gets the error of a file that cannot be read at all.
    std::fs::read(store.join(PACKED)).map(|bytes| Lines::parse(&bytes).damaged).unwrap_or_default()
}

/// Writes a store's `packed-refs` again without the damaged lines, under git's lock. Returns the file to which the damaged
/// content was copied.
///
/// # Errors
/// Returns an error if another program holds the lock, or a file cannot be written.
pub fn repair_packed_refs(store: &Path) -> Result<PathBuf, StoreError> {
    let (path, lock) = (store.join(PACKED), store.join(format!("{PACKED}.lock")));
    let mut file = OpenOptions::new().write(true).create_new(true).open(&lock).map_err(|error| match error.kind() {
        ErrorKind::AlreadyExists => StoreError::Locked { lock: lock.clone(), holder: None, age: None },
        _ => StoreError::io("create", &lock)(error),
    })?;
    let mut put = || {
        let bytes = std::fs::read(&path)?;
        let mut kept = tempfile::Builder::new().prefix("packed-refs.damaged-").tempfile_in(store)?;
        kept.write_all(&bytes)?;
        file.write_all(HEADER.as_bytes())?;
        Lines::parse(&bytes).sound.values().try_for_each(|line| file.write_all(line.as_bytes()))?;
        file.sync_all()?;
        std::fs::rename(&lock, &path)?;
        Ok(kept.into_temp_path().keep()?)
    };
    match put() {
        Ok(kept) => fsync::sync(store).map(|_| kept),
        Err(error) => {
            let _ = std::fs::remove_file(&lock);
            Err(StoreError::io("write", &path)(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_damaged_lines_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let (id, other) = ("12".repeat(20), "34".repeat(20));
        let sound = format!("{id} refs/blue/a\n^{other}\n{id} refs/blue/b\n");
        let path = folder.path().join(PACKED);
        std::fs::write(&path, format!("{HEADER}{sound}")).unwrap();
        assert_eq!(damaged_packed_refs(folder.path()), [""; 0]);
        for damage in ["zz refs/blue/c\n", "\0\0\0\0\n", "# other\n", &format!("{id} refs/blue/tru")] {
            let damaged = format!("{HEADER}{sound}{damage}");
            std::fs::write(&path, &damaged).unwrap();
            assert_eq!(damaged_packed_refs(folder.path()), [damage.trim_end()]);
            let kept = repair_packed_refs(folder.path()).unwrap();
            assert_eq!(std::fs::read_to_string(kept).unwrap(), damaged);
            assert_eq!(std::fs::read_to_string(&path).unwrap(), format!("{HEADER}{sound}"));
        }
    }
}
