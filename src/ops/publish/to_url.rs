//! Publishing from a machine that keeps no realm, as CI does: the realm is fetched, published to, and
//! pushed, and nothing stays here.

use crate::{
    error::{ErrorCode, OpError},
    machine::home::Home,
    model::{name::RepoName, realm::Likeness},
    ops::{
        contract::{self, publish::Request},
        ctx::{Acting, Ctx, Here},
        realm,
        repos::{self, identity},
        sync::{self, realm_clone::Place},
    },
    repo::CodeRepo,
    store::git::GitStore,
    wire::{Answer, ContractPublish},
};

/// Publishes a commit of the repository around the caller to the realm at a url that the user typed.
/// No `init` is needed: whoever names the realm and may push there has said that this is meant.
///
/// # Errors
/// As [`contract::publish::run`]; where the realm cannot be fetched or pushed; where the realm knows
/// another repository by the name.
pub fn run(
    ctx: &Ctx,
    url: &str,
    repo: Option<RepoName>,
    request: &Request,
) -> Result<Answer<ContractPublish>, OpError> {
    // A home of its own, for this one publish.
    let temporary = ctx.env.temporary_folder();
    let folder = tempfile::tempdir_in(&temporary).map_err(OpError::io("create a folder in", temporary))?;
    let nowhere = OpError::usage("no realm was named");
    let ctx = Ctx {
        env: ctx.env.clone(),
        home: Home::new(folder.path()),
        code: CodeRepo::discover(&ctx.place())?,
        here: Err(nowhere),
        as_of: None,
    };
    let code = ctx.code()?;
    let place = Place { realm: None, url, branches: false };
    let realm = sync::realm_clone::obtain(&ctx, place)?
        .ok_or_else(|| OpError::cannot(ErrorCode::NoRealmThere, format!("{url} holds no realm")))?;
    let repo = match repo {
        Some(repo) => Some(repo),
        None => repos::ephemeral_realm::who(&ctx, Some(code), &realm)?,
    };
    let repo = repo.ok_or_else(|| {
        OpError::cannot(ErrorCode::NotInRepo, "cannot tell which repository this is")
            .next("git blue contract publish --realm-url URL --repo NAME")
    })?;
    let store = GitStore::open(&ctx.home.default_store(&realm), ctx.options())?;
    let here = Here { realm, store: Box::new(store), repo: Some(repo), unrecorded_url: None };
    let ctx = Ctx { here: Ok(here), ..ctx };
    let acting = ctx.acting()?;
    same_repository(ctx.code()?, acting)?;
    let mut answer = contract::publish::publish_as(&ctx, acting, request)?;
    if !request.dry_run {
        push(&ctx, acting)?;
        answer.body.unshared = false;
    }
    Ok(answer)
}

/// Checks that the realm has the repository, and nothing says that it is another one.
fn same_repository(code: &CodeRepo, acting: Acting<'_>) -> Result<(), OpError> {
    let Some(held) = identity::entry(acting)? else {
        let message = format!("{} is not in the realm {}", acting.repo, acting.realm);
        return Err(OpError::no(ErrorCode::NotJoined, message)
            .next("git blue init --url URL  # once, on a developer's machine, and git blue sync"));
    };
    match identity::likeness(code, &held)? {
        Likeness::Different => Err(identity::mistaken(acting, code, &held)),
        _ => Ok(()),
    }
}

/// Pushes what was published.
fn push(ctx: &Ctx, acting: Acting<'_>) -> Result<(), OpError> {
    let body = realm::sync::with(ctx, acting.realm, acting.store, &realm::sync::Request::default(), || Ok(()))?;
    realm::sync::require_complete(body)
}
