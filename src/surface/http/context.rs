//! Opens the contexts of requests: the realms of this machine, and the repositories on it.

use std::{path::Path, time::Duration};

use crate::{
    env::{Env, LOCK_TIMEOUT},
    error::OpError,
    locate,
    model::name::{RealmName, RepoName},
    ops::{ctx::Ctx, repos::unknown},
    platform::files::Stamp,
};

/// The maximum time that an answer waits for a lock.
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens the contexts of operations for requests.
#[derive(Debug, Clone)]
pub struct Contexts {
    env: Env,
}

impl Contexts {
    /// Creates the contexts of this machine. The current folder and the variables that name a repository or realm are
    /// ignored, because each request names its own.
    pub fn new(env: &Env) -> Self {
        let env = env.clone().without_repository().without_selection().of_server().at(Path::new("/"));
        // A thread that waits for a lock cannot answer other requests.
        let patience = env.lock_timeout().min(PATIENCE).as_millis();
        Self { env: env.with(LOCK_TIMEOUT, patience.to_string()) }
    }

    /// Returns the environment.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Returns a context outside of any realm.
    ///
    /// # Errors
    /// Returns an error if there is no home folder.
    pub fn without_realm(&self) -> Result<Ctx, OpError> {
        let none = OpError::usage("no realm was named");
        let home = locate::home(&self.env)?;
        Ok(Ctx::new(self.env.clone(), home, None, Err(none)))
    }

    /// Returns the realms of this machine.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read.
    pub fn realms(&self) -> Result<Vec<RealmName>, OpError> {
        let known = locate::home(&self.env)?.realms()?;
        Ok(known.into_iter().map(|known| known.name).collect())
    }

    /// Returns a stamp that changes with the realms and repositories of this machine.
    pub fn realms_stamp(&self) -> Option<Stamp> {
        let home = locate::home(&self.env).ok()?;
        Stamp::of(&home.folder().join("config")).ok()
    }

    /// Returns the current names of the repositories of a realm that are on this machine.
    ///
    /// # Errors
    /// Returns an error if this machine's records, or the realm, cannot be read.
    pub fn repos(&self, realm: &RealmName) -> Result<Vec<RepoName>, OpError> {
        let ctx = self.realm(realm)?;
        Ok(locate::folders(&ctx.home, realm, &*ctx.realm()?.store)?.into_keys().collect())
    }

    /// Returns the name that a realm has for a repository, which may have been renamed, and need not be on this machine.
    ///
    /// # Errors
    /// Returns an error if the realm does not have the repository, or cannot be read.
    pub fn current_name(&self, realm: &RealmName, repo: &RepoName) -> Result<RepoName, OpError> {
        unknown::current_name(realm, &*self.realm(realm)?.realm()?.store, repo)
    }

    /// Returns a context in a realm, for `repo` if there is one.
    ///
    /// # Errors
    /// Returns an error in the cases of [`Self::realm`] and [`Self::repo`].
    pub fn of(&self, realm: &RealmName, repo: Option<&RepoName>) -> Result<Ctx, OpError> {
        Ctx::in_realm(self.env.clone(), realm, repo)
    }

    /// Returns a context in a realm, without a repository.
    ///
    /// # Errors
    /// Returns an error if this machine does not know the realm, or its store cannot be opened.
    pub fn realm(&self, realm: &RealmName) -> Result<Ctx, OpError> {
        self.of(realm, None)
    }

    /// Returns a context for a repository of a realm. Its working tree is used if it is on this machine.
    ///
    /// # Errors
    /// Returns an error in the cases of [`Self::realm`], and if the realm has no such repository.
    pub fn repo(&self, realm: &RealmName, repo: &RepoName) -> Result<Ctx, OpError> {
        self.of(realm, Some(repo))
    }
}
