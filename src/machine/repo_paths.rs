//! The records of where repositories are on this machine: `blue.repo.<realm>/<name>.path`. Two realms may have
//! repositories of one name.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use gix::bstr::ByteSlice as _;

use super::home::{Home, recordable};
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

    /// Returns the paths of the repositories of a realm on this machine. A record without a realm, as earlier versions
    /// wrote, counts unless the clone there was joined to another realm.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn repo_paths(&self, realm: &RealmName) -> Result<BTreeMap<RepoName, PathBuf>, StoreError> {
        let config = self.config()?;
        let sections = config.sections_by_name("blue").into_iter().flatten();
        let (mut paths, mut without_realm) = (BTreeMap::new(), BTreeMap::new());
        for section in sections {
            let key = section.header().subsection_name().and_then(|name| name.to_str().ok()?.strip_prefix("repo."));
            let path = section.value("path").and_then(|path| Some(PathBuf::from(path.to_str().ok()?)));
            let (Some(key), Some(path)) = (key, path) else { continue };
            let (paths, name) = match key.split_once('/') {
                None => (&mut without_realm, key),
                Some((of, name)) if of == realm.as_str() => (&mut paths, name),
                Some(_) => continue,
            };
            if let Ok(name) = name.parse::<RepoName>() {
                paths.insert(name, path);
            }
        }
        without_realm.retain(|name, _| !paths.contains_key(name));
        if !without_realm.is_empty() {
            let joined = self.joined_folders();
            without_realm.retain(|_, path| {
                let mut realms = joined.iter().filter(|(_, folder)| folder == path).map(|(realm, _)| realm).peekable();
                realms.peek().is_none() || realms.any(|one| one == realm.as_str())
            });
        }
        paths.extend(without_realm);
        Ok(paths)
    }

    /// Returns the folders of the clones that the user joined, each with its realm.
    fn joined_folders(&self) -> Vec<(String, PathBuf)> {
        let files = self.clones().read_dir().into_iter().flatten().filter_map(Result::ok);
        let texts = files.filter_map(|file| std::fs::read_to_string(file.path()).ok());
        let folder = |text: String| {
            let mut words = text.trim_end_matches('\n').splitn(3, ' ');
            Some((words.next()?.to_owned(), words.nth(1)?.into()))
        };
        texts.filter_map(folder).collect()
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
        self.forget(&section(realm, name))?;
        if self.repo_path(realm, name)?.is_some() {
            self.forget(&format!("repo.{name}"))?;
        }
        Ok(())
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

        // Earlier versions recorded no realm.
        home.change("repo.old", &[("path", "/b/my old".into())]).unwrap();
        let old = "old".parse().unwrap();
        assert_eq!([path(&a, &old), path(&b, &old)], [Some("/b/my old".into()), Some("/b/my old".into())]);
        std::fs::create_dir_all(home.clones()).unwrap();
        std::fs::write(home.clones().join("1"), "b old /b/my old\n").unwrap();
        assert_eq!([path(&a, &old), path(&b, &old)], [None, Some("/b/my old".into())]);
        home.forget_repo(&b, &old).unwrap();
        assert_eq!(path(&b, &old), None);
    }
}
