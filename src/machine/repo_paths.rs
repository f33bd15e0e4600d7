//! The records of where repositories are on this machine: `blue.repo.<realm>/<name>.path`. Two realms may have
//! repositories with the same name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::{
    home::{Home, recordable},
    user_config::Values,
};
use crate::{
    model::name::{RealmName, RepoName},
    store::StoreError,
};

impl Home {
    /// Returns the path of a repository of a realm on this machine.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn repo_path(&self, realm: &RealmName, name: &RepoName) -> Result<Option<PathBuf>, StoreError> {
        Ok(self.repo_paths(realm)?.remove(name))
    }

    /// Returns the paths of the repositories of a realm on this machine.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn repo_paths(&self, realm: &RealmName) -> Result<BTreeMap<RepoName, PathBuf>, StoreError> {
        let repo = |(name, mut values): (String, Values)| Some((name.parse().ok()?, values.remove("path")?.into()));
        Ok(self.subsections(&format!("repo.{realm}/"))?.into_iter().filter_map(repo).collect())
    }

    /// Records the path of a repository of a realm.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn record_repo(&self, realm: &RealmName, name: &RepoName, path: &Path) -> Result<(), StoreError> {
        self.change(&section(realm, name), &[("path", recordable(path)?.to_owned())])
    }

    /// Records a repository of a realm under another name.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn rename_repo(&self, realm: &RealmName, old: &RepoName, new: &RepoName) -> Result<(), StoreError> {
        match self.repo_path(realm, old)? {
            Some(path) => {
                self.record_repo(realm, new, &path)?;
                self.forget_repo(realm, old)
            }
            None => Ok(()),
        }
    }

    /// Removes the record of a repository of a realm.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn forget_repo(&self, realm: &RealmName, name: &RepoName) -> Result<(), StoreError> {
        self.forget(&section(realm, name))
    }
}

fn section(realm: &RealmName, name: &RepoName) -> String {
    format!("repo.{realm}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repositories_of_one_name_in_two_realms_are_separate() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        let (a, b) = ("a".parse().unwrap(), "b".parse().unwrap());
        let (api, web) = ("api".parse().unwrap(), "web".parse().unwrap());
        home.record_repo(&a, &api, Path::new("/a/api")).unwrap();
        home.record_repo(&b, &api, Path::new("/b/api")).unwrap();
        let path = |realm, name| home.repo_path(realm, name).unwrap();
        assert_eq!([path(&a, &api), path(&b, &api)], [Some("/a/api".into()), Some("/b/api".into())]);
        assert_eq!(path(&a, &web), None);
        home.rename_repo(&b, &api, &web).unwrap();
        assert_eq!(
            [path(&a, &api), path(&b, &api), path(&b, &web)],
            [Some("/a/api".into()), None, Some("/b/api".into())]
        );
    }
}
