//! Finds the files that a sparse checkout leaves out of the working tree.

use std::collections::BTreeMap;

use crate::{model::oid::Oid, repo::CodeRepo, store::StoreError};

impl CodeRepo {
    /// Returns whether the working tree is a sparse checkout.
    pub fn is_sparse(&self) -> bool {
        self.repo.config_snapshot().boolean("core.sparseCheckout").unwrap_or_default()
    }

    /// Returns whether a sparse checkout of the working tree consists of folders rather than patterns.
    pub fn is_sparse_by_folder(&self) -> bool {
        self.repo.config_snapshot().boolean("core.sparseCheckoutCone").unwrap_or_default()
    }

    /// Returns the files that a sparse checkout leaves out of the working tree, with their content in the index. Asks
    /// git, which knows every format of the index.
    ///
    /// # Errors
    /// Returns an error if git fails.
    pub fn left_out(&self) -> Result<&BTreeMap<String, Oid>, StoreError> {
        if let Some(found) = self.left_out.get() {
            return Ok(found);
        }
        let found = if self.is_sparse() { self.read_left_out()? } else { BTreeMap::new() };
        Ok(self.left_out.get_or_init(|| found))
    }

    fn read_left_out(&self) -> Result<BTreeMap<String, Oid>, StoreError> {
        let (said, is_done) = self.git.output_and_errors(&["ls-files", "-t", "--stage", "-z"])?;
        if !is_done {
            return Err(StoreError::Git { doing: "list the files of the index".into(), problem: said.trim().into() });
        }
        Ok(said.split('\0').filter_map(left_out).collect())
    }
}

/// Parses an entry, `S MODE BLOB STAGE<tab>PATH`, if git leaves the file out of the working tree.
fn left_out(entry: &str) -> Option<(String, Oid)> {
    let (about, path) = entry.strip_prefix("S ")?.split_once('\t')?;
    let (mode, blob) = about.split_once(' ')?;
    let blob = blob.split(' ').next()?.parse().ok()?;
    mode.starts_with("100").then(|| (path.to_owned(), blob))
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn only_files_that_are_left_out_are_read() {
        let blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        let path = |entry: &str| left_out(entry).map(|(path, _)| path);
        assert_eq!(path(&format!("S 100644 {blob} 0\ta b.yaml")).as_deref(), Some("a b.yaml"));
        assert_eq!(path(&format!("H 100644 {blob} 0\ta.yaml")), None);
        assert_eq!(path(&format!("S 120000 {blob} 0\tlink")), None);
        assert_eq!(path("warning: something"), None);
    }
}
