//! What a forge answered before, kept on disk with its `ETag`: where nothing changed, the forge says so
//! in a few bytes, and most do not count that against their limits. Losing it costs nothing.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Secret;
use crate::platform::files;

/// The most answers that are kept; one more, and all are forgotten.
const MAX_KEPT: usize = 2_000;

/// A folder of answers.
#[derive(Debug)]
pub(super) struct Memory {
    folder: PathBuf,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) etag: String,
    pub(super) body: Value,
    /// The next page.
    pub(super) next: Option<String>,
}

impl Memory {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Entries are kept apart by token: each token may see something else.
    fn file(&self, url: &str, secret: Option<&Secret>) -> PathBuf {
        let mut hash = Sha256::new();
        hash.update(url);
        hash.update([0]);
        hash.update(secret.map_or("", Secret::expose));
        let name: String = hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        self.folder.join(name)
    }

    pub(super) fn recall(&self, url: &str, secret: Option<&Secret>) -> Option<Kept> {
        serde_json::from_slice(&std::fs::read(self.file(url, secret)).ok()?).ok()
    }

    /// Keeps an answer. It may be of a private repository, so it is its user's alone; whatever goes
    /// wrong, it is asked for anew.
    pub(super) fn keep(&self, url: &str, secret: Option<&Secret>, kept: &Kept) {
        let _ = self.try_keep(url, secret, kept);
    }

    fn try_keep(&self, url: &str, secret: Option<&Secret>, kept: &Kept) -> std::io::Result<()> {
        files::make_private_folder(&self.folder)?;
        let entries: Vec<_> = self.folder.read_dir()?.filter_map(Result::ok).collect();
        if entries.len() >= MAX_KEPT {
            for entry in entries {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        // For its user alone, and in place at once.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(kept)?)?;
        file.persist(self.file(url, secret)).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_recalled_for_the_same_token_alone() {
        let folder = tempfile::tempdir().unwrap();
        let memory = Memory::new(&folder.path().join("forge"));
        let (mine, yours) = (Secret::of("mine"), Secret::of("yours"));
        let kept = Kept { etag: "\"1\"".into(), body: serde_json::json!([1]), next: None };
        assert_eq!(memory.recall("https://h/x", mine.as_ref()), None);
        memory.keep("https://h/x", mine.as_ref(), &kept);
        assert_eq!(memory.recall("https://h/x", mine.as_ref()), Some(kept));
        assert_eq!(memory.recall("https://h/x", yours.as_ref()), None);
        assert_eq!(memory.recall("https://h/y", mine.as_ref()), None);
        let file = memory.file("https://h/x", mine.as_ref());
        assert!(!files::is_open_to_others(&file).unwrap());
        assert!(!file.to_str().unwrap().contains("mine"));
        std::fs::write(file, "half").unwrap();
        assert_eq!(memory.recall("https://h/x", mine.as_ref()), None, "a damaged one is none");
    }
}
