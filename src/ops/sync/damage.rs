//! Distinguishes a remote that has lost objects from one that cannot be reached. It has lost objects if its git says
//! so, it answers a second request, and the same refs fail again.

use super::{Syncing, realm_clone};
use crate::{
    error::{ErrorCode, OpError},
    model::oid::Oid,
    store::{StoreError, StoreRef, git::UnfinishedStore, remote::Listing},
};

impl Syncing<'_> {
    /// Returns the error for a failed transfer. If the remote has lost objects, the error says so and names the refs
    /// that lead to them.
    pub(super) fn explain(&self, error: StoreError) -> OpError {
        if !error.may_be_lost_objects() {
            return error.into();
        }
        match self.link.list().map_err(OpError::from).and_then(|listing| self.damaged(&listing)) {
            Ok(damaged) if !damaged.is_empty() => self.lost(&damaged),
            _ => error.into(),
        }
    }

    /// Checks that a remote that refuses pushes has not lost objects. Other causes, such as a full disk, are not errors
    /// here.
    ///
    /// # Errors
    /// Returns an error if the remote has lost objects, or cannot be reached.
    pub(super) fn check_remote_intact(&self) -> Result<(), OpError> {
        let damaged = self.damaged(&self.link.list()?)?;
        if damaged.is_empty() { Ok(()) } else { Err(self.lost(&damaged)) }
    }

    /// Returns the refs of a remote that cannot be fetched with all their objects, even into an empty repository, with
    /// the message of git for each.
    ///
    /// # Errors
    /// Returns an error if the remote cannot be reached.
    pub fn damaged(&self, listing: &Listing) -> Result<Vec<(StoreRef, Oid, String)>, OpError> {
        let aside = UnfinishedStore::new(&self.ctx.home.folder().join("realms"), self.ctx.options())?;
        let link = realm_clone::connection(self.ctx, &aside.store.path(), self.remote);
        let wanted = self.wanted(listing);
        let names: Vec<_> = wanted.iter().map(|(name, _)| name.clone()).collect();
        match link.fetch(&names, None) {
            Ok(()) => return Ok(Vec::new()),
            Err(error) if error.may_be_lost_objects() => {}
            Err(error) => return Err(error.into()),
        }
        let mut damaged = Vec::new();
        for (name, tip) in wanted {
            match link.fetch(std::slice::from_ref(&name), None) {
                Ok(()) => {}
                Err(error) if error.may_be_lost_objects() => damaged.push((name, tip, error.to_string())),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(damaged)
    }

    fn lost(&self, damaged: &[(StoreRef, Oid, String)]) -> OpError {
        let names: Vec<_> = damaged.iter().map(|(name, ..)| name.shared_name().to_owned()).collect();
        let said = damaged.first().map(|(.., said)| said.as_str()).unwrap_or_default();
        let message = format!("{} lacks objects of {}: {said}", self.remote.name, names.join(", "));
        OpError::cannot(ErrorCode::RemoteDamaged, message)
            .next("git blue realm admin reseed  # push this clone's objects again")
    }
}
