//! The current name of a repository, and the error for one that the realm does not have.

use crate::{
    env::REPO,
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        name::{RealmName, RepoName},
        nearest::did_you_mean,
    },
    ops::ctx::Ctx,
    store::Store,
};

/// Returns the name that the realm has for a repository, which may have been renamed.
///
/// # Errors
/// Returns an error if the realm does not have the repository, or cannot be read.
pub fn current_name(realm: &RealmName, store: &dyn Store, name: &RepoName) -> Result<RepoName, OpError> {
    renamed::current(store, name)?.ok_or_else(|| absent(realm, name, ""))
}

/// Returns the error for a repository that the realm does not have, or has under another name. `known` are the
/// repositories of the realm.
pub fn error<'r>(
    (realm, store): (&RealmName, &dyn Store),
    name: &RepoName,
    known: impl IntoIterator<Item = &'r RepoName>,
) -> OpError {
    if let Ok(Some(newer)) = renamed::newer(store, name) {
        return renamed::was_renamed(name, &newer).next(format!("use the name {newer}"));
    }
    absent(realm, name, &did_you_mean(name, known))
}

/// Refuses a repository that GIT_BLUE_REPO names but the realm does not have. Otherwise, a misspelled name would look
/// as if there were nothing to do. `known` are the repositories of the realm.
///
/// # Errors
/// Returns an error if there is no such repository.
pub fn refuse_variable<'r>(ctx: &Ctx, known: impl Iterator<Item = &'r RepoName> + Clone) -> Result<(), OpError> {
    let here = ctx.realm()?;
    let Some(repo) = here.repo.as_ref().filter(|_| ctx.env.text(REPO).is_some()) else { return Ok(()) };
    if known.clone().any(|name| name == repo) {
        return Ok(());
    }
    let error = absent(&here.realm, repo, &did_you_mean(repo, known));
    Err(OpError { next_steps: vec!["unset GIT_BLUE_REPO".into()], ..error })
}

fn absent(realm: &RealmName, name: &RepoName, question: &str) -> OpError {
    OpError::cannot(ErrorCode::UnknownRepo, format!("{name} is not in the realm {realm}{question}"))
        .next("git blue realm status  # list the repositories")
}
