//! `init`: one step into a realm: make it or find it, join it, put the hooks in place.

use crate::{
    error::OpError,
    locate::{self, CONFIG},
    model::name::{RealmName, RepoName},
    ops::{
        Operation, admin,
        ctx::Ctx,
        hooks,
        sync::{self, url},
    },
    wire::{Answer, Init},
};

/// Its entry in the table.
pub const OPERATION: Operation = Operation::write::<Init>("init", &["init"], "Create or join a realm");

/// What is asked.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The realm; what the repository proposes, or the only one of this machine, by default.
    pub realm: Option<RealmName>,
    /// The repository's name in it.
    pub repo: Option<RepoName>,
    /// Where the realm is shared, or will be where it is made now.
    pub url: Option<String>,
    /// Whether it is kept in branches there.
    pub branches: bool,
}

/// Does what is left to do; a second time, nothing.
///
/// # Errors
/// Where the realm cannot be told, or a step fails.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Init>, OpError> {
    let code = ctx.code()?;
    let proposed = locate::proposed(code)?;
    let realm = match (&request.realm, &proposed) {
        (Some(realm), _) => realm.clone(),
        (None, Some(config)) => config.realm.name.clone(),
        (None, None) => match &request.url {
            Some(url) => at(ctx, url, request.branches)?,
            None => configured(ctx)?,
        },
    };
    let join = admin::join::Request {
        realm: realm.clone(),
        repo: request.repo.clone(),
        url: request.url.clone(),
        branches: request.branches,
    };
    // Before anything is made: what cannot join needs no realm.
    admin::join::name(code, &join, proposed.as_ref())?;
    let mut created_realm = false;
    if let Some(url) = &request.url {
        let place = sync::realm_clone::Place { realm: Some(&realm), url, branches: request.branches };
        sync::realm_clone::obtain(ctx, place)?;
    }
    if ctx.home.realm(&realm)?.is_none() {
        // What a clone proposes is not ours to make: the realm is somewhere else already.
        if request.realm.is_none() {
            let url = proposed.and_then(|config| config.realm.url);
            let place = url.as_ref().map(|url| format!(", shared at {url}")).unwrap_or_default();
            let message = format!("{CONFIG} proposes the realm {realm}{place}, which this machine does not have");
            let mut error = OpError::cannot("unknown-realm", message);
            if let Some(url) = url.filter(|url| url::accept(url).is_ok() && request.url.is_none()) {
                error = error.next(format!("git blue init --url {url}  # bring it here, if you trust that place"));
            }
            return Err(error.next(format!("git blue init --realm {realm}: make a realm of that name here")));
        }
        let (url, branches) = (request.url.clone(), request.branches);
        let make = admin::init::Request { name: realm.clone(), path: None, url, branches };
        created_realm = admin::init::run(ctx, &make)?.body.created;
    }
    let joined = admin::join::run(ctx, &join)?;
    let hooks = hooks::install(ctx, hooks::Request::default())?;
    let known = locate::known(&ctx.home, &realm)?;
    let body = Init {
        realm,
        current_repo: joined.body.current_repo,
        path: known.path.display().to_string(),
        created_realm,
        joined: joined.body.joined,
        wrote_config: joined.body.wrote_config,
        remotes: joined.body.remotes,
        hooks: hooks.body.hooks.iter().filter(|hook| hook.installed).map(|hook| hook.name.clone()).collect(),
    };
    let steps = joined.next_steps.into_iter().chain(hooks.next_steps);
    Ok(steps.fold(Answer::new(body), Answer::next))
}

/// The realm that is at a url.
fn at(ctx: &Ctx, url: &str, branches: bool) -> Result<RealmName, OpError> {
    sync::realm_clone::obtain(ctx, sync::realm_clone::Place { realm: None, url, branches })?.ok_or_else(|| {
        OpError::usage(format!("{url} holds no realm yet: say which one to make"))
            .next(format!("git blue init --realm NAME --url {url}"))
    })
}

/// The realm that the user's configuration names, else the only one there is.
fn configured(ctx: &Ctx) -> Result<RealmName, OpError> {
    if let Some(realm) = ctx.code()?.config("blue.realm") {
        return Ok(realm.parse()?);
    }
    let mut realms = ctx.home.realms()?;
    match realms.len() {
        1 => Ok(realms.remove(0).name),
        0 => Err(OpError::usage("say which realm: there is none on this machine yet")
            .next("git blue init --realm NAME: make one")),
        _ => {
            let names: Vec<_> = realms.iter().map(|known| known.name.to_string()).collect();
            Err(OpError::usage("say which realm").next(format!("git blue init --realm {}", names.join("|"))))
        }
    }
}
