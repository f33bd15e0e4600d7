//! Publishes from a machine that has no realm, such as a CI runner: the realm is fetched, published to, pushed, and
//! then removed again.

use crate::{
    error::{ErrorCode, OpError},
    model::{name::RepoName, realm::Likeness},
    ops::{
        contract::{self, publish::Request},
        ctx::{Acting, Ctx, Here},
        realm,
        repos::{self, identity},
    },
    repo::CodeRepo,
    wire::{Answer, ContractPublish},
};

/// Publishes a commit of the current repository to the realm at a URL that the user typed. No `init` is needed: a user
/// who names the realm and may push to it has confirmed the publication.
///
/// # Errors
/// Returns an error in the cases of [`contract::publish::run`], if the realm cannot be fetched or pushed, or if the
/// realm has another repository under the same name.
pub fn run(
    ctx: &Ctx,
    url: &str,
    repo: Option<RepoName>,
    request: &Request,
) -> Result<Answer<ContractPublish>, OpError> {
    let code = CodeRepo::discover(&ctx.place())?;
    let temporary = repos::ephemeral_realm::clone_temporary(ctx, url)?;
    let (ctx, realm) = (Ctx { code, ..temporary.ctx }, temporary.realm);
    let code = ctx.code()?;
    let repo = match repo {
        Some(repo) => Some(repo),
        None => repos::ephemeral_realm::who(&ctx, Some(code), &realm)?,
    };
    let repo = repo.ok_or_else(|| {
        OpError::cannot(ErrorCode::NotInRepo, "cannot tell which repository this is")
            .next("git blue contract publish --realm-url URL --repo NAME")
    })?;
    let here = ctx.here.map(|here| Here { repo: Some(repo), ..here });
    let ctx = Ctx { here, ..ctx };
    let acting = ctx.acting()?;
    same_repository(ctx.code()?, acting)?;
    let mut answer = contract::publish::publish_as(&ctx, acting, request)?;
    if !request.dry_run {
        push(&ctx, acting)?;
        answer.body.unshared = false;
    }
    Ok(answer)
}

/// Checks that the realm has the repository under its name, and that nothing shows that it is a different repository.
fn same_repository(code: &CodeRepo, acting: Acting<'_>) -> Result<(), OpError> {
    let Some(held) = identity::entry(acting)? else {
        let message = format!("{} is not in the realm {}", acting.repo, acting.realm);
        return Err(OpError::no(ErrorCode::NotJoined, message)
            .next("git blue init --url URL  # once, on a developer's machine; then git blue sync"));
    };
    match identity::likeness(code, &held)? {
        Likeness::Different => Err(identity::mistaken(acting, code, &held)),
        _ => Ok(()),
    }
}

/// Pushes the realm.
fn push(ctx: &Ctx, acting: Acting<'_>) -> Result<(), OpError> {
    let body = realm::sync::with(ctx, acting.realm, acting.store, &realm::sync::Request::default(), || Ok(()))?;
    realm::sync::require_complete(body)
}
