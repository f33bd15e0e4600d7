//! Checks that a remote has the same realm as this machine. The name alone is not enough, because anybody may create a
//! realm of any name: two realms are the same if the histories of their `refs/blue/realm` share a commit.

use super::realm_at;
use crate::{
    error::{ErrorCode, OpError},
    locate,
    model::{
        name::RealmName,
        oid::Oid,
        repo_url::without_credentials,
        text::{shell_path, shell_word},
    },
    ops::ctx::Ctx,
    store::{
        Store, StoreRef,
        git::RemoteConnection,
        history::Relation,
        remote::{Listing, Remote},
        validate_incoming,
    },
};

/// The maximum number of commits that are read to find the first one of a realm.
const MAX_COMMITS: usize = 100_000;

/// A realm of this machine that is compared with the one at a remote.
#[derive(Clone, Copy)]
pub struct KnownHere<'a> {
    /// The context of the operation.
    pub ctx: &'a Ctx,
    /// The realm.
    pub realm: &'a RealmName,
    /// Its store.
    pub store: &'a dyn Store,
    /// The remote.
    pub remote: &'a Remote,
}

impl KnownHere<'_> {
    /// Fetches the realm that a remote lists, and checks that it is the same one. Nothing is recorded.
    ///
    /// # Errors
    /// Returns an error if it is another realm, or cannot be fetched.
    pub fn fetch_and_require_same(self, link: &RemoteConnection<'_>, listing: &Listing) -> Result<(), OpError> {
        let Some(theirs) = listing.tip(&StoreRef::Realm) else { return Ok(()) };
        // Fetched objects are not referenced at first, so `gc` must not remove them.
        let _keep = self.store.keep()?;
        link.fetch(&[StoreRef::Realm], None)?;
        self.require_same(&theirs)
    }

    /// Checks that a fetched commit belongs to the realm. Its content may be invalid if its history shows that it does.
    ///
    /// # Errors
    /// Returns an error if it belongs to another realm, or to none.
    pub fn require_same(self, theirs: &Oid) -> Result<(), OpError> {
        let problems = validate_incoming::inspect(self.store, &StoreRef::Realm, theirs, &[])
            .map_err(|error| self.newer_format(theirs, error))?;
        if self.is_related(theirs)? {
            return Ok(());
        }
        if !problems.is_empty() {
            return Err(self.invalid_error(&StoreRef::Realm, theirs, &problems.join("; ")));
        }
        let found = realm_at(self.store, theirs)?;
        if found.name != *self.realm {
            let url = without_credentials(&self.remote.url);
            let message = format!("{url} contains the realm {}, not {}", found.name, self.realm);
            return Err(OpError::cannot(ErrorCode::OtherRealm, message).next("a URL can hold only one realm"));
        }
        self.require_related(theirs)
    }

    /// Returns whether the realm here and a commit of the realm there certainly share a commit.
    fn is_related(self, theirs: &Oid) -> Result<bool, OpError> {
        let ours = self.store.tip(&StoreRef::Realm)?;
        Ok(ours.is_some_and(|ours| {
            Relation::of(self.store, &ours, theirs).is_ok_and(|relation| !relation.bases.is_empty())
        }))
    }

    /// Checks that the realm here and a commit of the realm there share a commit. If one of them lacks commits, as a
    /// shallow clone does, they may be related.
    ///
    /// # Errors
    /// Returns an error if they share none.
    pub fn require_related(self, theirs: &Oid) -> Result<(), OpError> {
        let Some(ours) = self.store.tip(&StoreRef::Realm)? else { return Ok(()) };
        let relation = Relation::of(self.store, &ours, theirs);
        if !relation.is_ok_and(|relation| relation.bases.is_empty()) {
            return Ok(());
        }
        let url = without_credentials(&self.remote.url);
        let created = self.creation(theirs).unwrap_or_default();
        let message = format!("{url} has another realm named {}{created}", self.realm);
        let path = locate::known(&self.ctx.home, self.realm)?.path;
        let realm = self.realm;
        let (store, aside) = (shell_path(&path), shell_path(&path.with_extension("git.old")));
        let discard = format!("mv {store} {aside} && git blue realm admin remove-realm {realm}");
        let share = if self.store.remotes().is_empty() {
            "git blue init --url URL"
        } else {
            "git blue realm admin reseed --url URL"
        };
        Err(OpError::no(ErrorCode::OtherRealm, message)
            .next(format!("{share}  # share the realm of this machine at another URL, an empty repository"))
            .next(format!(
                "{discard}  # or discard the realm of this machine; then run git blue init --url {} in each repository",
                shell_word(&url)
            )))
    }

    /// Returns who created the realm of a commit, and when.
    fn creation(self, tip: &Oid) -> Option<String> {
        let mut first = self.store.commit(tip).ok()?;
        for _ in 0..MAX_COMMITS {
            let Some(parent) = first.parents.first() else {
                let day = first.time.to_zoned(self.ctx.env.now_here().time_zone().clone()).date();
                return Some(format!(", created by {} on {day}", first.author));
            };
            first = self.store.commit(parent).ok()?;
        }
        None
    }
}
