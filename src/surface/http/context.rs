//! What every answer is made with: the realms of this machine, and the repositories on it.

use std::{cell::RefCell, path::Path, time::Duration};

use crate::{
    env::{Env, LOCK_TIMEOUT},
    error::OpError,
    locate,
    model::name::{RealmName, RepoName},
    ops::{ctx::Ctx, names},
};

/// How long an answer waits for a lock, at most.
const PATIENCE: Duration = Duration::from_secs(5);

/// Finds what operations work with.
#[derive(Debug, Clone)]
pub struct Desk {
    env: Env,
}

impl Desk {
    /// Returns a desk for what `env` says of this machine. Which repository and realm its folder is in
    /// does not count, nor those that its variables name: a request says which.
    pub fn new(env: &Env) -> Self {
        let env = env.clone().without_repository().without_choice().of_server().at(Path::new("/"));
        // A thread that waits answers nobody else.
        let patience = env.lock_timeout().min(PATIENCE).as_millis();
        Self { env: env.with(LOCK_TIMEOUT, patience.to_string()) }
    }

    /// Returns time and variables.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Returns what operations work with in no realm.
    ///
    /// # Errors
    /// Returns an error if there is no home folder.
    pub fn nowhere(&self) -> Result<Ctx, OpError> {
        let none = OpError::usage("no realm was named");
        let home = locate::home(&self.env)?;
        Ok(Ctx { home, env: self.env.clone(), code: None, here: Err(none), as_of: None, course: RefCell::default() })
    }

    /// Returns the realms of this machine.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read.
    pub fn realms(&self) -> Result<Vec<RealmName>, OpError> {
        let known = locate::home(&self.env)?.realms()?;
        Ok(known.into_iter().map(|known| known.name).collect())
    }

    /// Returns the repositories of a realm that lie on this machine.
    ///
    /// # Errors
    /// Returns an error if this machine's records, or the realm, cannot be read.
    pub fn repos(&self, realm: &RealmName) -> Result<Vec<RepoName>, OpError> {
        let ctx = self.realm(realm)?;
        let members = names::repos(&ctx)?;
        let mut repos = ctx.home.repos()?;
        repos.retain(|repo| members.iter().any(|member| member == repo.as_str()));
        Ok(repos)
    }

    /// Returns what operations work with in a realm, where no repository asks, or this one.
    ///
    /// # Errors
    /// As for [`Self::realm`] and [`Self::repo`].
    pub fn of(&self, realm: &RealmName, repo: Option<&RepoName>) -> Result<Ctx, OpError> {
        Ctx::in_realm(self.env.clone(), realm, repo)
    }

    /// Returns what operations work with in a realm.
    ///
    /// # Errors
    /// Returns an error if this machine does not know the realm, or its store cannot be opened.
    pub fn realm(&self, realm: &RealmName) -> Result<Ctx, OpError> {
        self.of(realm, None)
    }

    /// Returns what operations work with where a repository of the realm asks. Its work tree is used
    /// if it lies on this machine.
    ///
    /// # Errors
    /// As for [`Self::realm`], and where the realm has no such repository.
    pub fn repo(&self, realm: &RealmName, repo: &RepoName) -> Result<Ctx, OpError> {
        self.of(realm, Some(repo))
    }
}
