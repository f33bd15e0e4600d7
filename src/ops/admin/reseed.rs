//! `realm_admin_reseed`: pushes this clone's refs to a remote that has lost objects, or to a new remote.
//!
//! A push does not send objects that are reachable from refs of the remote, so it cannot repair a ref whose objects are
//! missing there. Such a ref is therefore deleted at the remote and pushed again, which sends all of its objects. A ref
//! is deleted only if this clone has the whole history of its current tip at the remote.

use crate::{
    error::{ErrorCode, OpError},
    locate,
    machine::home::KnownRealm,
    model::{
        name::{RealmName, RemoteName},
        oid::Oid,
        repo_url::without_credentials,
        text::{comma_separated, shell_path, shell_word},
    },
    ops::{
        Operation,
        admin::config_file,
        ctx::Ctx,
        publish::work_file::WorkFile,
        realm, runs,
        sync::{self, Syncing, same_realm::KnownHere, url},
    },
    store::{Store as _, StoreRef, git::GitStore, history::Relation, remote::Remote},
    wire::{Answer, RealmReseed, SyncProblem},
};

/// The maximum number of steps for single refs in one answer.
const MAX_STEPS: usize = 5;

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_reseed",
    &["realm", "admin", "reseed"],
    "Restore what a remote has lost, or move the realm to a new URL",
);

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The remote to restore; required if there are several
    #[cfg_attr(feature = "cli", arg(long, value_name = "REMOTE"))]
    pub remote: Option<RemoteName>,
    /// Share the realm at this URL from now on
    #[cfg_attr(feature = "cli", arg(long, value_name = "URL"))]
    pub url: Option<String>,
}

runs!(RealmReseed, run);

/// Repairs a remote, or fills a new one.
///
/// # Errors
/// Returns an error if this clone lacks objects itself, or the remote cannot be reached or refuses the push.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmReseed>, OpError> {
    url::refuse_credentials(request.url.as_deref())?;
    let known = locate::known(&ctx.home, &realm(ctx, request)?)?;
    let store = ctx.open_store(&known)?;
    if let Some((name, _)) = store.incomplete_refs(ctx.env.vars())?.first() {
        let message = format!("cannot restore {name}: this clone lacks some of its objects");
        return Err(OpError::cannot(ErrorCode::Damaged, message).next("git blue doctor --fix"));
    }
    let remote = chosen(&store, request)?;
    match &request.url {
        Some(url) => move_to(ctx, &known, &store, remote, url),
        None => repair(ctx, &known, &store, &remote),
    }
}

/// Returns the current realm, even if the repository already names the URL that the realm is moved to, or still names
/// the one that this machine moved it from.
fn realm(ctx: &Ctx, request: &Request) -> Result<RealmName, OpError> {
    let error = match ctx.realm() {
        Ok(here) => return Ok(here.realm.clone()),
        Err(error) => error,
    };
    let moved = |url: &str| request.url.as_deref().is_some_and(|wanted| url::is_same(wanted, url));
    let proposed = ctx.code.as_ref().map(locate::proposed).transpose()?.flatten();
    match proposed {
        Some(config) if error.code == ErrorCode::OtherUrl => {
            let recorded = ctx.home.realm(&config.realm.name)?.and_then(|known| known.url);
            let is_moved = [&config.realm.url, &recorded].into_iter().flatten().any(|url| moved(url));
            if is_moved { Ok(config.realm.name) } else { Err(error) }
        }
        _ => Err(error),
    }
}

fn chosen(store: &GitStore, request: &Request) -> Result<Remote, OpError> {
    let mut remotes = store.remotes();
    if let Some(wanted) = &request.remote {
        remotes.retain(|remote| remote.name == *wanted);
    }
    let names = comma_separated(remotes.iter().map(|remote| &remote.name));
    match (remotes.pop(), remotes.is_empty()) {
        (Some(remote), true) => Ok(remote),
        (None, _) => Err(match &request.remote {
            Some(wanted) => OpError::no(ErrorCode::NoRemote, format!("the realm has no remote {wanted}")),
            None => OpError::no(ErrorCode::NoRemote, "the realm has no remote")
                .next("git blue init --url URL  # share it in an empty repository"),
        }),
        (Some(_), false) => {
            Err(OpError::usage(format!("the realm has several remotes: choose one with --remote: {names}")))
        }
    }
}

fn repair(ctx: &Ctx, known: &KnownRealm, store: &GitStore, remote: &Remote) -> Result<Answer<RealmReseed>, OpError> {
    url::accept(&remote.url)?;
    let sessions = ctx.shares_sessions();
    let link = sync::realm_clone::connection(ctx, &known.path, remote);
    let syncing = Syncing { ctx, realm: &known.name, store, remote, link, sessions };
    let damaged = syncing.damaged(&syncing.link.list()?)?;
    let mut body = RealmReseed {
        realm: known.name.clone(),
        remote: remote.name.clone(),
        url: without_credentials(&remote.url),
        restored: Vec::new(),
        problems: Vec::new(),
    };
    let mut moves = Vec::new();
    for (name, there, said) in damaged {
        match store.tip(&name)? {
            Some(tip) if Relation::of(store, &tip, &there).is_ok_and(|relation| tip == there || relation.contains) => {
                moves.push((name, there, tip));
            }
            ours => {
                let message = format!(
                    "the remote is at commit {there}, which this clone does not have: {said}; run this in the clone \
                        that pushed it"
                );
                let next_step = ours.map(|ours| replace(known, remote, (&name, &there), &ours));
                body.problems.push(SyncProblem { next_step, ..problem("not-on-this-machine", &name, message) });
            }
        }
    }
    let refused =
        syncing.link.delete(&moves.iter().map(|(name, there, _)| (name.clone(), *there)).collect::<Vec<_>>())?;
    for one in refused.into_iter().filter_map(|one| Some((one.name, one.refused?))) {
        moves.retain(|(name, ..)| *name != one.0);
        body.problems.push(problem("refused", &one.0, format!("{} refuses to delete it: {}", remote.name, one.1)));
    }
    syncing.link.push(&moves.iter().map(|(name, _, tip)| (name.clone(), *tip)).collect::<Vec<_>>())?;
    // Only the refs that the remote has now are considered.
    let listing = syncing.link.list()?;
    let damaged = syncing.damaged(&listing)?;
    for (name, _, tip) in moves {
        match damaged.iter().find(|(damaged, ..)| *damaged == name) {
            None if listing.tip(&name) == Some(tip) => body.restored.push(name.to_string()),
            None => body.problems.push(problem("not-taken", &name, format!("{} rejected it", remote.name))),
            Some((.., said)) => body.problems.push(problem("remote-damaged", &name, said.clone())),
        }
    }
    let is_mended = body.problems.is_empty();
    let steps: Vec<_> = body.problems.iter().filter_map(|one| one.next_step.clone()).take(MAX_STEPS).collect();
    let answer = Answer::new(body);
    Ok(if is_mended {
        answer.next("git blue sync  # sync the rest")
    } else {
        steps
            .into_iter()
            .fold(answer, Answer::next)
            .next("git blue realm admin reseed --url URL  # or share the realm in a new, empty repository")
    })
}

/// Returns the command that gives up a tip at the remote which no other clone has either.
fn replace(known: &KnownRealm, remote: &Remote, (name, there): (&StoreRef, &Oid), ours: &Oid) -> String {
    let (store, url) = (shell_path(&known.path), shell_word(&without_credentials(&remote.url)));
    let place = remote.mapping.there(name);
    format!(
        "git --git-dir {store} push --force-with-lease={place}:{there} {url} {ours}:{place}  # if no clone has it: \
            discard that commit"
    )
}

/// Makes a new URL the realm's remote, and pushes everything there.
fn move_to(
    ctx: &Ctx,
    known: &KnownRealm,
    store: &GitStore,
    remote: Remote,
    url: &str,
) -> Result<Answer<RealmReseed>, OpError> {
    let url = url::typed(&ctx.place(), &ctx.home, url)?;
    let remote = Remote { url, ..remote };
    // The remote is contacted before anything is recorded.
    let link = sync::realm_clone::connection(ctx, &known.path, &remote);
    let here = KnownHere { ctx, realm: &known.name, store, remote: &remote };
    here.fetch_and_require_same(&link, &link.list()?)?;
    store.record_remote(&remote, ctx.env.vars())?;
    if remote.name == sync::realm_clone::origin() {
        ctx.home.record_move(known, &remote.url)?;
    }
    let wrote_config = remote.name == sync::realm_clone::origin() && write_config(ctx, known, &remote.url)?;
    // The refs last seen at the old remote do not apply to the new one.
    for (seen, tip) in
        store.seen()?.into_iter().filter(|(seen, _)| matches!(seen, StoreRef::Seen(of, _) if *of == remote.name))
    {
        let _lease = store.lock(&seen)?;
        store.forget(&seen, tip)?;
    }
    let store = ctx.open_store(known)?;
    let request = realm::sync::Request { remote: Some(remote.name.clone()), ..realm::sync::Request::default() };
    let done = realm::sync::sync_realm(ctx, &known.name, &store, &request, || Ok(()))?;
    let (mut restored, mut problems) = (Vec::new(), Vec::new());
    for done in done.remotes {
        // Another machine may have pushed the rest already.
        restored.extend(done.sent.into_iter().map(|sent| sent.name));
        problems.extend(done.problems);
    }
    // A sync sends nothing to a remote whose refs are current, even if it lacks their objects.
    let repaired = repair(ctx, known, &store, &remote)?.body;
    restored.extend(repaired.restored);
    problems.extend(repaired.problems);
    let body = RealmReseed {
        realm: known.name.clone(),
        remote: remote.name.clone(),
        url: without_credentials(&remote.url),
        restored,
        problems,
    };
    let shown = body.url.clone();
    let mut answer = Answer::new(body);
    if wrote_config {
        let file = WorkFile::config(ctx)?.pathspecs(ctx, [])?;
        answer = answer.next(format!("git add {file} && git commit -m \"The realm {} has moved\"", known.name));
    }
    let again = format!("git blue realm admin reseed --url {}", shell_word(&shown));
    Ok(answer
        .next(format!("{again}  # in every other clone, to push what it has"))
        .next(format!("write url: {shown} in .blue/config.yaml of each repository that has the old URL, and commit"))
        .next("replace the old URL in the CI settings, such as REALM_URL; otherwise CI keeps using the old realm"))
}

/// Writes the new URL into `.blue/config.yaml`, if that file names the realm. Returns whether it was written.
fn write_config(ctx: &Ctx, known: &KnownRealm, url: &str) -> Result<bool, OpError> {
    let Some(code) = &ctx.code else { return Ok(false) };
    match locate::proposed(code)? {
        Some(config)
            if config.realm.name == known.name && config.realm.url.as_deref().is_some_and(|old| old != url) =>
        {
            config_file::write_url(code, &config, url)
        }
        _ => Ok(false),
    }
}

fn problem(code: &'static str, name: &StoreRef, message: String) -> SyncProblem {
    sync::problem(code, Some(name), message)
}
