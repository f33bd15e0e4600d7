//! Caches responses of a forge on disk with their `ETag`, so that the forge confirms unchanged ones in a few bytes,
//! which most forges do not count against their rate limits. The cache can be deleted at any time.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use super::Secret;
use crate::{model::hash::hex, platform::files};

/// The maximum number of cached responses. Beyond it, the cache is cleared.
const MAX_CACHED: usize = 2_000;

/// A folder of cached responses.
#[derive(Debug)]
pub(super) struct ResponseCache {
    folder: PathBuf,
}

/// A cached response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct CachedResponse {
    pub(super) etag: String,
    pub(super) body: Value,
    /// The URL of the next page.
    pub(super) next: Option<String>,
}

impl ResponseCache {
    pub(super) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    /// Returns the file of a response. It depends on the token, because each token may have different access.
    fn file(&self, url: &str, secret: Option<&Secret>) -> PathBuf {
        let mut hash = Sha256::new();
        hash.update(url);
        hash.update([0]);
        hash.update(secret.map_or("", Secret::expose));
        self.folder.join(hex(&hash.finalize()))
    }

    pub(super) fn get(&self, url: &str, secret: Option<&Secret>) -> Option<CachedResponse> {
        serde_json::from_slice(&std::fs::read(self.file(url, secret)).ok()?).ok()
    }

    /// Caches a response. It may come from a private repository, so only the user can read it. Errors are ignored.
    pub(super) fn put(&self, url: &str, secret: Option<&Secret>, response: &CachedResponse) {
        let _ = self.try_put(url, secret, response);
    }

    fn try_put(&self, url: &str, secret: Option<&Secret>, response: &CachedResponse) -> std::io::Result<()> {
        files::make_private_folder(&self.folder)?;
        let entries: Vec<_> = self.folder.read_dir()?.filter_map(Result::ok).collect();
        if entries.len() >= MAX_CACHED {
            for entry in entries {
                let _ = std::fs::remove_file(entry.path());
            }
        }
        // Only the user can read the file, and it is replaced atomically.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        file.write_all(&serde_json::to_vec(response)?)?;
        file.persist(self.file(url, secret)).map_err(|error| error.error)?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn responses_are_only_recalled_for_the_same_token() {
        let folder = tempfile::tempdir().unwrap();
        let cache = ResponseCache::new(&folder.path().join("forge"));
        let (mine, yours) = (Secret::of("mine"), Secret::of("yours"));
        let response = CachedResponse { etag: "\"1\"".into(), body: serde_json::json!([1]), next: None };
        assert_eq!(cache.get("https://h/x", mine.as_ref()), None);
        cache.put("https://h/x", mine.as_ref(), &response);
        assert_eq!(cache.get("https://h/x", mine.as_ref()), Some(response));
        assert_eq!(cache.get("https://h/x", yours.as_ref()), None);
        assert_eq!(cache.get("https://h/y", mine.as_ref()), None);
        let file = cache.file("https://h/x", mine.as_ref());
        assert!(!files::is_open_to_others(&file).unwrap());
        assert!(!file.to_str().unwrap().contains("mine"));
        std::fs::write(file, "half").unwrap();
        assert_eq!(cache.get("https://h/x", mine.as_ref()), None, "a damaged one is none");
    }
}
