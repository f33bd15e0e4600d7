//! `init`: creates or finds a realm, joins it, and installs the hooks, in one step.

use crate::{
    error::{ErrorCode, OpError},
    locate::{
        self,
        config::{refuse_namesake, same_realm},
        unknown,
    },
    model::{
        name::{RealmName, RepoName},
        text::shell_word,
    },
    ops::{Operation, admin, ctx::Ctx, hooks, realm, repos::joined, sync},
    store::{Store as _, codec::Config, overview::Overview},
    wire::{Answer, HookState, Init},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<Init>("init", &["init"], "Create or join a realm");

/// The arguments.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm. By default the one that the repository proposes, or the only one of this machine.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub realm: Option<RealmName>,
    /// The repository's name in the realm [default: from origin's URL, else the directory's name]
    #[cfg_attr(feature = "cli", arg(long, value_name = "NAME"))]
    pub repo: Option<RepoName>,
    /// The URL at which the realm is shared
    #[cfg_attr(feature = "cli", arg(long, value_name = "URL"))]
    pub url: Option<String>,
    /// Store the realm in branches, for hosts that accept no other refs
    #[cfg_attr(feature = "cli", arg(long, requires = "url"))]
    pub branches: bool,
    /// Create the realm even if another has a similar name, or .blue/config.yaml has a URL
    #[cfg_attr(feature = "cli", arg(long))]
    pub new: bool,
    /// Whether automatic sync is on; `None` leaves it as it is.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub auto_sync: Option<bool>,
}

/// Completes the missing steps, so a second run does nothing. If the operation is refused, nothing is left behind,
/// except in a fork: the fetched realm is kept, because a fork may read it.
///
/// # Errors
/// Returns an error if the realm cannot be determined, or a step fails.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Init>, OpError> {
    locate::url::refuse_credentials(request.url.as_deref())?;
    let code = ctx.code()?;
    let proposed = locate::proposed(code)?;
    ctx.signature()?;
    let mut new = None;
    let realm = match (&request.realm, &proposed) {
        (Some(realm), _) => realm.clone(),
        (None, Some(config)) => config.realm.name.clone(),
        (None, None) => match &request.url {
            Some(url) => at(ctx, url, request.branches, &mut new)?,
            None => configured(ctx)?,
        },
    };
    let join = admin::join::Request {
        realm: realm.clone(),
        repo: request.repo.clone(),
        url: request.url.clone(),
        branches: request.branches,
    };
    let mut enter = || {
        // This is checked before anything is created: a repository that cannot join needs no realm.
        same_realm(&realm, proposed.as_ref())?;
        if let (None, Some(known)) = (&request.url, ctx.home.realm(&realm)?) {
            refuse_namesake(&known, proposed.as_ref(), code, ctx.options())?;
        }
        admin::join::name(ctx, &join, proposed.as_ref())?;
        provide(ctx, request, &realm, proposed.as_ref(), &mut new)?;
        admin::join::join(ctx, &join)
    };
    let joined = match enter() {
        Ok(entered) => entered,
        Err(error) if error.code == ErrorCode::Fork => return Err(error),
        Err(error) => {
            if let Some(new) = new {
                // The first error is the one to show, also if the realm stays.
                let _ = remove(ctx, &realm, new);
            }
            return Err(error);
        }
    };
    let hooks = hooks::install(ctx, hooks::Request::default())?;
    let known = locate::known(&ctx.home, &realm)?;
    if let Some(wanted) = request.auto_sync {
        ctx.home.record_auto_sync(&realm, wanted)?;
    }
    let auto_sync = if ctx.open_store(&known)?.remotes().is_empty() { None } else { sync::auto::chosen(ctx, &realm)? };
    let body = Init {
        realm,
        current_repo: joined.body.current_repo,
        path: known.path.display().to_string(),
        created_realm: matches!(new, Some(NewRealm::Created)),
        fetched_realm: matches!(new, Some(NewRealm::Cloned)),
        joined: joined.body.joined,
        replaced_url: joined.body.replaced_url,
        wrote_config: joined.body.wrote_config,
        remotes: joined.body.remotes,
        push_problem: joined.body.push_problem,
        auto_sync,
        hooks: hooks.body.hooks.into_iter().filter(HookState::works).map(|hook| hook.name).collect(),
    };
    let unrecorded = locate::config::unrecorded_url(&known, proposed.as_ref());
    let share = unrecorded.as_deref().map(|url| locate::config::record_url(url).into());
    let steps = share.into_iter().chain(joined.next_steps).chain(hooks.next_steps);
    let answer = Answer::new(body).next_all(steps);
    Ok(if answer.next_steps.is_empty() { answer.next("git blue  # show the status and next steps") } else { answer })
}

/// Clones or creates the realm if this machine does not have it.
fn provide(
    ctx: &Ctx,
    request: &Request,
    realm: &RealmName,
    proposed: Option<&Config>,
    new: &mut Option<NewRealm>,
) -> Result<(), OpError> {
    let was_known = ctx.home.realm(realm)?;
    if let Some(url) = &request.url {
        let place =
            sync::realm_clone::RealmLocation { realm: Some(realm), url, branches: request.branches, is_partial: true };
        obtain(ctx, place, new)?;
    }
    // Names are checked against the current state of the remote, or against the local one if it cannot be reached. A
    // clone that joined before the realm was shared keeps its name until the conflict is settled. Nothing is pushed
    // before the clone has joined.
    if let (Some(known), None) = (was_known, joined::read(&ctx.home, ctx.code()?)?) {
        realm::sync::fetch_quietly(ctx, realm, &ctx.open_store(&known)?);
    }
    if ctx.home.realm(realm)?.is_some() {
        return Ok(());
    }
    if !request.new {
        require_wanted(ctx, request, realm, proposed)?;
    }
    let (url, branches) = (request.url.clone(), request.branches);
    let make = admin::init::Request { name: realm.clone(), path: None, url, branches };
    match admin::init::run(ctx, &make) {
        Ok(made) if made.body.created => *new = Some(NewRealm::Created),
        Ok(_) => {
            let known = locate::known(&ctx.home, realm)?;
            refuse_namesake(&known, proposed, ctx.code()?, ctx.options())?;
        }
        // Another process created it meanwhile.
        Err(error) if error.code == ErrorCode::RealmExists => {}
        Err(error) => return Err(error),
    }
    Ok(())
}

/// Refuses to create a realm that exists elsewhere, or whose name looks like a typo.
fn require_wanted(ctx: &Ctx, request: &Request, realm: &RealmName, proposed: Option<&Config>) -> Result<(), OpError> {
    let is_elsewhere = proposed.is_some_and(|config| config.realm.url.is_some()) && request.url.is_none();
    let known = unknown::known(&ctx.home);
    let is_slip = unknown::similar_realm(realm, &known).is_some() && request.url.is_none();
    // Its record was lost, but not its content.
    let is_kept = ctx.home.default_store(realm).exists();
    if request.realm.is_some() && (is_kept || (!is_elsewhere && !is_slip)) {
        return Ok(());
    }
    if let (Some(url), None) = (&request.url, &request.realm) {
        let error = OpError::cannot(ErrorCode::UnknownRealm, format!("{url} does not contain the realm {realm} yet"));
        return Err(error
            .next(format!("git blue --realm {realm} sync  # on a machine that has it: push it there"))
            .next(format!(
                "git blue init --realm {realm} --url {}  # or create it there, if nobody has it",
                shell_word(url)
            )));
    }
    let error = unknown::error(unknown::ci_command(&ctx.env).as_deref(), &ctx.home, realm, proposed);
    let known = unknown::known(&ctx.home);
    let (join, what) = match unknown::similar_realm(realm, &known) {
        Some(meant) => (Some(format!("git blue init --realm {meant}  # join it")), format!("a realm named {realm}")),
        None => (None, "another realm of that name".to_owned()),
    };
    let make = format!("git blue init --realm {realm} --new  # create {what} on this machine");
    Err(if request.realm.is_some() { error.next_all(join).next(make) } else { error })
}

/// How this operation added a realm to this machine. A refusal removes it again.
#[derive(Clone, Copy)]
enum NewRealm {
    Created,
    Cloned,
}

/// Removes the new realm, unless another process uses it: a clone has joined it, or it has something that its remote
/// lacks.
fn remove(ctx: &Ctx, realm: &RealmName, new: NewRealm) -> Result<(), OpError> {
    let store = ctx.open_store(&locate::known(&ctx.home, realm)?)?;
    store.delete(|store| {
        let is_changed = match new {
            NewRealm::Created => {
                let overview = Overview::open(store)?;
                !overview.repos().is_empty() || !overview.domains().is_empty()
            }
            NewRealm::Cloned => sync::remote_status::is_unpushed(store)?,
        };
        let is_used = is_changed || !ctx.home.repo_paths(realm)?.is_empty();
        if is_used { Err(OpError::usage("another process is using the realm")) } else { Ok(()) }
    })?;
    Ok(ctx.home.forget_realm(realm)?)
}

/// Clones the realm at a URL, unless this machine has it. Returns its name, if there is one.
fn obtain(
    ctx: &Ctx,
    place: sync::realm_clone::RealmLocation<'_>,
    new: &mut Option<NewRealm>,
) -> Result<Option<RealmName>, OpError> {
    let obtained = sync::realm_clone::obtain(ctx, place)?;
    if obtained.as_ref().is_some_and(|obtained| obtained.is_cloned) {
        *new = Some(NewRealm::Cloned);
    }
    Ok(obtained.map(|obtained| obtained.realm))
}

/// Returns the realm at a URL.
fn at(ctx: &Ctx, url: &str, branches: bool, new: &mut Option<NewRealm>) -> Result<RealmName, OpError> {
    let place = sync::realm_clone::RealmLocation { realm: None, url, branches, is_partial: true };
    obtain(ctx, place, new)?.ok_or_else(|| {
        OpError::usage(format!("{url} contains no realm yet: choose a name"))
            .next(format!("git blue init --realm … --url {}", shell_word(url)))
    })
}

/// Returns the realm that the user's configuration names, or else the only one on this machine.
fn configured(ctx: &Ctx) -> Result<RealmName, OpError> {
    if let Some(realm) = ctx.code()?.config("blue.realm") {
        return Ok(realm.parse()?);
    }
    let mut realms = ctx.home.realms()?;
    match realms.len() {
        1 => Ok(realms.remove(0).name),
        0 => Err(OpError::usage("no realm given, and there is none on this machine yet")
            .next("git blue init --realm …  # create one")
            .next("git blue init --url URL  # or fetch one from its URL")),
        _ => {
            let names: Vec<_> = realms.iter().map(|known| known.name.to_string()).collect();
            let error = OpError::usage("no realm given");
            Err(names.iter().take(5).fold(error, |error, name| error.next(format!("git blue init --realm {name}"))))
        }
    }
}
