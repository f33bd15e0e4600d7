//! What every answer is made with: the realms of this machine, and the repositories on it.

use crate::{
    app,
    env::Env,
    error::OpError,
    model::name::{RealmName, RepoName},
    ops::ctx::Ctx,
};

/// Finds what operations work with.
#[derive(Debug, Clone)]
pub struct Desk {
    env: Env,
}

impl Desk {
    /// Returns a desk for what `env` says of this machine. Which repository and realm its folder is in
    /// does not count, nor those that its variables name: a request says which.
    pub fn new(env: &Env) -> Self {
        let env = env.clone().without_repository().without_choice().at(std::path::Path::new("/"));
        Self { env }
    }

    /// Returns time and variables.
    pub fn env(&self) -> &Env {
        &self.env
    }

    /// Returns what operations work with in no realm.
    ///
    /// # Errors
    /// Where there is no home folder.
    pub fn nowhere(&self) -> Result<Ctx, OpError> {
        let none = OpError::usage("no realm was named");
        Ok(Ctx { home: app::home(&self.env)?, env: self.env.clone(), code: None, here: Err(none) })
    }

    /// Returns what operations work with in a realm.
    ///
    /// # Errors
    /// Where this machine does not know the realm, or its store cannot be opened.
    pub fn realm(&self, realm: &RealmName) -> Result<Ctx, OpError> {
        app::in_realm(self.env.clone(), realm, None)
    }

    /// Returns what operations work with where a repository of the realm asks. Its work tree is used
    /// if it lies on this machine.
    ///
    /// # Errors
    /// As for [`Self::realm`], and where the realm has no such repository.
    pub fn repo(&self, realm: &RealmName, repo: &RepoName) -> Result<Ctx, OpError> {
        app::in_realm(self.env.clone(), realm, Some(repo))
    }
}
