//! The remotes of a store, recorded in its own configuration in the format of `git remote`.

use std::{collections::BTreeMap, ffi::OsString};

use gix::bstr::ByteSlice as _;

use super::GitStore;
use crate::store::{
    StoreError,
    remote::{Mapping, Remote},
};

/// The key and value that mark a remote that stores the realm in branches.
const REFS: (&str, &str) = ("blueRefs", "branches");
/// The lock of the configuration.
const CONFIG: &str = "_config";

impl GitStore {
    pub(super) fn configured_remotes(&self) -> Vec<Remote> {
        let repo = self.repo();
        let config = repo.config_snapshot();
        let sections = config.plumbing().sections_by_name("remote").into_iter().flatten();
        let remote = |section: gix::config::file::SectionRef<'_>| {
            let text = |key: &str| section.value(key)?.to_str().ok().map(str::to_owned);
            let mapping = if text(REFS.0).as_deref() == Some(REFS.1) { Mapping::Branches } else { Mapping::Plain };
            let name = section.header().subsection_name()?.to_str().ok()?.parse().ok()?;
            Some(Remote { name, url: text("url")?, mapping })
        };
        let mut remotes: Vec<Remote> = sections.filter_map(remote).collect();
        remotes.sort_by(|a, b| a.name.cmp(&b.name));
        remotes.dedup_by(|a, b| a.name == b.name);
        remotes
    }

    /// Records a remote in the store's own configuration.
    ///
    /// # Errors
    /// Returns an error if git cannot write it.
    pub fn record_remote(&self, remote: &Remote, vars: &BTreeMap<OsString, OsString>) -> Result<(), StoreError> {
        // git does not wait for another process that writes the file.
        let _alone = self.locks.acquire(CONFIG)?;
        let git = self.git(vars);
        let key = |key: &str| format!("remote.{}.{key}", remote.name);
        git.text(&["config", "--local", &key("url"), &remote.url])?;
        if remote.mapping == Mapping::Branches {
            git.text(&["config", "--local", &key(REFS.0), REFS.1])?;
        }
        Ok(())
    }
}
