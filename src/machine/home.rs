//! The user's own folder, `$GIT_BLUE_HOME`, with the records of realms and repositories on this machine. It records
//! only what the user did; what a cloned repository contains is only a proposal.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use super::user_config::{Values, subsections_of};
use crate::{
    model::name::RealmName,
    platform::files::{self, Access},
    store::StoreError,
};

/// The user's own folder.
#[derive(Debug, Clone)]
pub struct Home {
    folder: PathBuf,
}

/// A realm on this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRealm {
    /// Its name.
    pub name: RealmName,
    /// Its store.
    pub path: PathBuf,
    /// The URL at which it is shared.
    pub url: Option<String>,
    /// The URLs at which it was shared before this machine moved it.
    pub former_urls: Vec<String>,
}

/// The key of the URLs at which a realm was shared before.
const FORMER_URL: &str = "formerUrl";

/// Returns the subsection of a realm.
fn section(realm: &RealmName) -> String {
    format!("realm.{realm}")
}

impl Home {
    /// Creates a handle for the folder. Does not read or create anything.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into() }
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Creates the folder if it is missing, accessible only to the user.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn make(&self) -> Result<(), StoreError> {
        files::make_private_folder(&self.folder).map_err(StoreError::io("create", &self.folder))
    }

    /// Returns the default path of a realm's store.
    pub fn default_store(&self, realm: &RealmName) -> PathBuf {
        self.folder.join("realms").join(format!("{realm}.git"))
    }

    /// Returns where the store of a realm is now: if it is not at the recorded path, this folder may have been moved
    /// with the store in it.
    fn present_store(&self, realm: &RealmName, recorded: PathBuf) -> PathBuf {
        let here = self.default_store(realm);
        if !recorded.exists() && here.exists() { here } else { recorded }
    }

    /// Returns the folder with the records of joined clones: one file per clone, named by the clone's random number.
    pub fn clones(&self) -> PathBuf {
        self.folder.join("joined")
    }

    /// Removes the temporary files of killed processes.
    pub fn remove_leftovers(&self) {
        for folder in [&self.folder, &self.clones()] {
            files::remove_leftovers(folder, files::is_temporary);
        }
    }

    /// Returns the file with this program's configuration.
    pub fn config_path(&self) -> PathBuf {
        self.folder.join("config")
    }

    pub(super) fn config(&self) -> Result<gix::config::File, StoreError> {
        use gix::config::{File, Source, file::Metadata, parse::Events};
        let path = self.config_path();
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Ok(File::default());
            }
            Err(error) => return Err(StoreError::io("read", path)(error)),
        };
        Events::from_bytes(&bytes, None)
            .map(|events| File::from_parse_events_no_includes(events, Metadata::from(Source::Local)))
            .map_err(|error| StoreError::NotConfig { path, line: error.line_number() })
    }

    /// Returns the realms of this machine, sorted by name.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn realms(&self) -> Result<Vec<KnownRealm>, StoreError> {
        let config = self.config()?;
        let former_urls = |name: &RealmName| {
            let values = config.raw_values_by("blue", Some(section(name).as_str().into()), FORMER_URL);
            values.into_iter().flatten().map(|value| value.to_string()).collect()
        };
        let realm = |(name, mut values): (String, Values)| {
            let name = name.parse().ok()?;
            let (path, url) = (self.present_store(&name, values.remove("path")?.into()), values.remove("url"));
            Some(KnownRealm { former_urls: former_urls(&name), name, path, url })
        };
        let mut realms: Vec<_> = subsections_of(&config, "realm.")?.into_iter().filter_map(realm).collect();
        realms.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(realms)
    }

    /// Returns the record of a realm, if there is one.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn realm(&self, name: &RealmName) -> Result<Option<KnownRealm>, StoreError> {
        Ok(self.realms()?.into_iter().find(|realm| realm.name == *name))
    }

    /// Returns the user's setting for automatic sync of a realm, as written in the configuration.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn auto_sync(&self, name: &RealmName) -> Result<Option<String>, StoreError> {
        let value = self
            .config()?
            .raw_value_by("blue", Some(section(name).as_str().into()), "autoSync")
            .ok()
            .map(|value| value.to_string());
        Ok(value)
    }

    /// Records whether the user wants a realm synced automatically.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn record_auto_sync(&self, name: &RealmName, wanted: bool) -> Result<(), StoreError> {
        self.change(&section(name), &[("autoSync", wanted.to_string())])
    }

    /// Returns the subsections of `blue` whose names start with `prefix`, with the prefix removed.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read.
    pub fn subsections(&self, prefix: &str) -> Result<Vec<(String, Values)>, StoreError> {
        subsections_of(&self.config()?, prefix)
    }

    /// Records a realm.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn record_realm(&self, realm: &KnownRealm) -> Result<(), StoreError> {
        let mut values = vec![("path", recordable(&realm.path)?.to_owned())];
        values.extend(realm.url.clone().map(|url| ("url", url)));
        self.change(&section(&realm.name), &values)
    }

    /// Records that a realm is no longer shared at its recorded URL, but at this one.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn record_move(&self, realm: &KnownRealm, url: &str) -> Result<(), StoreError> {
        self.record_realm(&KnownRealm { url: Some(url.to_owned()), ..realm.clone() })?;
        let Some(former) = realm.url.as_ref().filter(|former| *former != url && !realm.former_urls.contains(former))
        else {
            return Ok(());
        };
        self.edit(|config| {
            let section = section(&realm.name);
            let mut section = config
                .section_mut_or_create_new("blue", Some(section.as_str().into()))
                .map_err(StoreError::git("record a former URL"))?;
            section.push(FORMER_URL, former.as_str()).map_err(StoreError::git("record a former URL"))?;
            Ok(())
        })
    }

    /// Removes the record of a realm.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be read or written.
    pub fn forget_realm(&self, name: &RealmName) -> Result<(), StoreError> {
        self.forget(&section(name))
    }

    pub(super) fn forget(&self, subsection: &str) -> Result<(), StoreError> {
        self.edit(|config| {
            while config.remove_section("blue", Some(subsection.into())).is_some() {}
            Ok(())
        })
    }

    /// Sets values in one section, and keeps every other line of the file.
    pub(super) fn change(&self, subsection: &str, values: &[(&'static str, String)]) -> Result<(), StoreError> {
        self.edit(|config| {
            for (key, value) in values {
                config
                    .set_raw_value_by("blue", Some(subsection.into()), *key, value.as_str())
                    .map_err(|error| StoreError::git(format!("set blue.{subsection}.{key}"))(error))?;
            }
            Ok(())
        })
    }

    fn edit(&self, edit: impl FnOnce(&mut gix::config::File) -> Result<(), StoreError>) -> Result<(), StoreError> {
        let path = self.config_path();
        self.make()?;
        let lock_path = self.folder.join("config.flock");
        let lock = std::fs::File::create(&lock_path).map_err(StoreError::io("create", &lock_path))?;
        lock.lock().map_err(StoreError::io("lock", &lock_path))?;
        let mut config = self.config()?;
        edit(&mut config)?;
        files::replace(&path, &config.to_bstring(), Access::Private).map_err(StoreError::io("write", &path))
    }
}

/// Returns a path as the text to record.
///
/// # Errors
/// Returns an error if the path is not UTF-8, because the record would name a different path.
pub fn recordable(path: &Path) -> Result<&str, StoreError> {
    let error = || std::io::Error::new(ErrorKind::InvalidInput, "the path is not UTF-8");
    path.to_str().ok_or_else(error).map_err(StoreError::io("record", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_back_and_other_lines_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        assert_eq!(home.realms().unwrap(), []);
        let realm = |name: &str, url: Option<&str>| KnownRealm {
            name: name.parse().unwrap(),
            path: format!("/stores/{name} ä.git").into(),
            url: url.map(str::to_owned),
            former_urls: Vec::new(),
        };
        home.record_realm(&realm("b.c", None)).unwrap();
        std::fs::write(home.config_path(), std::fs::read_to_string(home.config_path()).unwrap() + "# mine\n").unwrap();
        home.record_realm(&realm("a", Some("https://host/\"x\\y;#z"))).unwrap();
        assert_eq!(home.realms().unwrap(), [realm("a", Some("https://host/\"x\\y;#z")), realm("b.c", None)]);
        assert!(std::fs::read_to_string(home.config_path()).unwrap().contains("# mine"));
    }

    #[test]
    fn former_urls_of_a_moved_realm_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path().join("home"));
        let name: RealmName = "a".parse().unwrap();
        let realm = KnownRealm { name: name.clone(), path: "/stores/a.git".into(), url: None, former_urls: Vec::new() };
        home.record_realm(&realm).unwrap();
        for url in ["/one", "/two", "/one", "/three"] {
            home.record_move(&home.realm(&name).unwrap().unwrap(), url).unwrap();
        }
        let held = home.realm(&name).unwrap().unwrap();
        assert_eq!(
            (held.url.as_deref(), held.former_urls),
            (Some("/three"), vec!["/one".to_owned(), "/two".to_owned()])
        );
    }

    #[test]
    fn old_temporary_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        std::fs::create_dir(home.clones()).unwrap();
        let paths = [".blue-a", "joined/.blue-b", ".blue-c", "config"].map(|name| folder.path().join(name));
        for (path, is_old) in paths.iter().zip([true, true, false, true]) {
            let file = std::fs::File::create(path).unwrap();
            if is_old {
                file.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
            }
        }
        home.remove_leftovers();
        assert_eq!(paths.map(|path| path.exists()), [false, false, true, true]);
    }
}
