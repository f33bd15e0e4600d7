//! Finds the page of a source commit on its forge.

use std::{cell::RefCell, collections::BTreeMap};

use crate::{
    forge::{Address, Kind},
    machine::user_config,
    model::{name::RepoName, oid::Oid, realm::Repo},
    ops::ctx::Ctx,
    store::{Store, StoreRef, layout, read},
    wire::LogEntry,
};

/// The pages of commits, by the URLs that a realm records for its repositories. Each repository is read once.
pub struct CommitLinks<'a> {
    /// The context of the operation.
    pub ctx: &'a Ctx,
    /// The store of the realm.
    pub store: &'a dyn Store,
    known: RefCell<BTreeMap<String, Option<(Kind, Address)>>>,
}

impl<'a> CommitLinks<'a> {
    /// Creates the links of one realm.
    pub fn new(ctx: &'a Ctx, store: &'a dyn Store) -> Self {
        Self { ctx, store, known: RefCell::default() }
    }

    /// Returns the page of a repository's commit, or `None` if the URL of the repository is not on a known kind of
    /// forge. A link consists only of a host, a path and an object id: nothing else of a URL gets into it.
    pub fn of(&self, repo: Option<&str>, commit: Option<&str>) -> Option<String> {
        let (repo, commit) = (repo?, commit?.parse::<Oid>().ok()?);
        let mut known = self.known.borrow_mut();
        let place = known.entry(repo.to_owned()).or_insert_with(|| self.place(&repo.parse().ok()?));
        place.as_ref().map(|(kind, address)| kind.commit_page(address, &commit.to_string()))
    }

    /// Sets the page of each entry's source commit.
    pub fn add_to(&self, entries: &mut [LogEntry]) {
        for entry in entries {
            entry.commit_url = self.of(entry.repo.as_deref(), entry.source_commit.as_deref());
        }
    }

    /// Returns the forge of a repository. If its entry cannot be read, `check` reports it.
    fn place(&self, repo: &RepoName) -> Option<(Kind, Address)> {
        let tree = read::tip_tree(self.store, &StoreRef::Realm).ok()??;
        let entry: Repo = read::file(self.store, &StoreRef::Realm, &tree, &layout::repo(repo)).ok()??;
        let address = Address::of(&entry.url?)?;
        Some((self.kind(&address.host)?, address))
    }

    /// Returns the kind of a well-known host, or of one that the user's own configuration names.
    fn kind(&self, host: &str) -> Option<Kind> {
        let configured = || user_config::value(self.ctx.env.vars(), &format!("blue.forge.{host}.type")).ok()?;
        Kind::of_host(host).or_else(|| configured()?.parse().ok())
    }
}
