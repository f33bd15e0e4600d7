//! The error for a repository that the realm does not have.

use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        name::{RealmName, RepoName},
        nearest::did_you_mean,
    },
    store::Store,
};

/// Returns the error for a repository that the realm does not have, or has under another name. `known` are those that it
/// has.
pub fn error<'r>(
    (realm, store): (&RealmName, &dyn Store),
    name: &RepoName,
    known: impl IntoIterator<Item = &'r RepoName>,
) -> OpError {
    if let Ok(Some(newer)) = renamed::newer(store, name) {
        return renamed::was_renamed(name, &newer).next(format!("use the name {newer}"));
    }
    let message = format!("{name} is not in the realm {realm}{}", did_you_mean(name, known));
    OpError::cannot(ErrorCode::UnknownRepo, message).next("git blue realm status  # list the repositories")
}
