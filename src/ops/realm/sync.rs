//! `realm_sync`: synchronizes this machine's realm with its remotes.

use std::{path::Path, time::Duration};

use super::check;
use crate::{
    error::{ErrorCode, OpError},
    locate,
    model::{
        name::{ReaderName, RealmName, RemoteName},
        text::shell_word,
    },
    ops::{
        Operation,
        ctx::Ctx,
        inboxes::{
            arrival, first_baselines,
            pending::{self, MAX_DELIVERED, NotificationBatch, Pending},
            renamed,
        },
        publish::unpublished::{self, CaughtUp},
        runs,
        sync::{self, Syncing, auto, url},
    },
    store::{
        Store,
        git::{RemoteConnection, TransportOptions},
        overview::Overview,
        remote::Remote,
    },
    wire::{Answer, RealmSync, RemoteSync, SyncProblem},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("realm_sync", &["realm", "sync"], "Exchange changes with the realm's remotes")
        .route("POST", "/realms/{realm}/sync");

/// The time limit of each git command if the user is waiting for something else.
const FETCH_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum number of steps that restore refs in one answer.
const MAX_STEPS: usize = 5;

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader whose pending notifications are added to the answer.
    #[serde(skip, default = "pending::cli_reader")]
    #[cfg_attr(feature = "cli", arg(skip = pending::cli_reader()))]
    pub reader: ReaderName,
    /// Whether the sync runs in the background.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub is_automatic: bool,
    /// Show what would be fetched and pushed, without doing it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// Sync with this remote only
    #[cfg_attr(feature = "cli", arg(long, value_name = "REMOTE"))]
    pub remote: Option<RemoteName>,
}

runs!(RealmSync, run);

impl Default for Request {
    fn default() -> Self {
        Self { reader: pending::cli_reader(), is_automatic: false, dry_run: false, remote: None }
    }
}

/// Syncs with all remotes in turn.
///
/// # Errors
/// Returns an error if there is no remote, or if the only one cannot be reached or refuses the push.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmSync>, OpError> {
    let here = ctx.realm()?;
    let mut caught_up = CaughtUp::default();
    // Commits that no hook published are also published and pushed.
    let catch_up = || unpublished::publish_due(ctx).map(|done| caught_up = done);
    let body = sync_realm(ctx, &here.realm, &*here.store, request, catch_up)?;
    // If nothing was received, the pending notifications have not changed.
    let has_changes = body.remotes.iter().any(|remote| !remote.received.is_empty());
    let batch = if has_changes { notifications(ctx, &request.reader) } else { NotificationBatch::default() };
    let NotificationBatch { notifications, bindings_changed, more: more_notifications, .. } = batch;
    let CaughtUp { published, unpublished, behind, next_steps, .. } = caught_up;
    let body =
        RealmSync { notifications, bindings_changed, more_notifications, published, unpublished, behind, ..body };
    let answer = with_next_steps(body);
    Ok(answer.next_all(next_steps))
}

/// Syncs a realm, without a current repository. `between` is called after everything has been fetched and before
/// anything is pushed.
///
/// # Errors
/// Returns the errors of [`run`].
pub fn sync_realm(
    ctx: &Ctx,
    realm: &RealmName,
    store: &dyn Store,
    request: &Request,
    between: impl FnOnce() -> Result<(), OpError>,
) -> Result<RealmSync, OpError> {
    let path = locate::known(&ctx.home, realm)?.path;
    let remotes = chosen(ctx, store.remotes(), request)?;
    // Fetched objects are not referenced at first, so `gc` must not remove them.
    let _keep = store.keep()?;
    let transport_options = sync::realm_clone::transport_options(ctx);
    let is_terminal = transport_options.is_terminal && !request.is_automatic;
    let transport_options = TransportOptions { is_terminal, is_automatic: request.is_automatic, ..transport_options };
    // A remote whose URL is refused does not stop the others.
    let way = |remote| connection(ctx, (realm, store, &path), remote, transport_options);
    let reports: Vec<_> = if request.dry_run {
        remotes.iter().map(|remote| way(remote)?.dry_run()).collect()
    } else {
        let receive = |remote| {
            let way = way(remote)?;
            let received = way.receive()?;
            auto::note_contact(&path, &way.remote.name, ctx.env.now());
            Ok::<_, OpError>((way, received))
        };
        let before = store.domains()?.into_iter().collect();
        let received: Vec<_> = remotes.iter().map(receive).collect();
        if received.iter().flatten().any(|(_, received)| received.has_fetched()) {
            let here: Vec<_> = ctx.home.repo_paths(realm)?.into_keys().collect();
            renamed::follow(store, &here, || ctx.env.now_here())?;
            first_baselines::record(ctx, realm, store, &here, Some(&before))?;
        }
        between()?;
        received.into_iter().map(|received| received.and_then(|(way, received)| way.send(received))).collect()
    };
    if !request.dry_run {
        for (remote, report) in remotes.iter().zip(&reports) {
            note_problems(&path, remote, report.as_ref());
        }
    }
    let mut shown = Vec::new();
    for (remote, report) in remotes.iter().zip(reports) {
        match report {
            Err(error) if remotes.len() == 1 => return Err(error),
            Err(error) => shown.push(unreachable(remote, &error)),
            Ok(report) => shown.push(report),
        }
    }
    let complete = shown.iter().all(|report| report.problems.is_empty());
    Ok(RealmSync {
        realm: realm.clone(),
        dry_run: request.dry_run,
        complete,
        remotes: shown,
        published: Vec::new(),
        unpublished: None,
        behind: None,
        notifications: Vec::new(),
        bindings_changed: None,
        more_notifications: 0,
    })
}

/// Pushes what changed since the realm was fetched from its only remote, and merges nothing. Returns whether nobody
/// changed the same domains in the meantime; otherwise, nothing that this machine decided since then is valid.
///
/// # Errors
/// Returns an error if the remote cannot be reached, or refuses the push.
pub fn push_unmerged(ctx: &Ctx, realm: &RealmName, store: &dyn Store) -> Result<bool, OpError> {
    let path = locate::known(&ctx.home, realm)?.path;
    for remote in store.remotes() {
        let way = connection(ctx, (realm, store, &path), &remote, sync::realm_clone::transport_options(ctx))?;
        let Some(report) = way.send_unmerged()? else { return Ok(false) };
        require_complete([report])?;
    }
    Ok(true)
}

/// Records for `doctor` what could not be synced. A remote that cannot be reached says nothing about that.
fn note_problems(path: &Path, remote: &Remote, report: Result<&RemoteSync, &OpError>) {
    match report {
        Ok(report) => {
            let lasting = report.problems.iter().filter(|one| one.code != ErrorCode::Busy.as_str());
            auto::note_problems(path, &remote.name, &lasting.cloned().collect::<Vec<_>>());
        }
        Err(error) if matches!(error.code, ErrorCode::Remote | ErrorCode::Busy) => {}
        Err(error) => {
            auto::note_problems(path, &remote.name, &[failure(error)]);
        }
    }
}

/// Returns the connection between a realm, whose store is at `path`, and a remote.
fn connection<'a>(
    ctx: &'a Ctx,
    (realm, store, path): (&'a RealmName, &'a dyn Store, &Path),
    remote: &'a Remote,
    transport_options: TransportOptions,
) -> Result<Syncing<'a>, OpError> {
    url::accept(&remote.url)?;
    let sessions = ctx.shares_sessions();
    let link = RemoteConnection::new(path, remote, ctx.env.vars(), transport_options);
    Ok(Syncing { ctx, realm, store, remote, link, sessions })
}

/// Fetches from the remotes of a realm, and pushes nothing. It never prompts for a password, and ignores remotes that
/// do not answer soon.
pub fn fetch_quietly(ctx: &Ctx, realm: &RealmName, store: &dyn Store) {
    let Ok(known) = locate::known(&ctx.home, realm) else { return };
    // Fetched objects are not referenced at first, so `gc` must not remove them.
    let Ok(_keep) = store.keep() else { return };
    let transport_options = TransportOptions {
        is_terminal: false,
        is_automatic: true,
        max_time: Some(FETCH_TIMEOUT),
        ..sync::realm_clone::transport_options(ctx)
    };
    for remote in store.remotes() {
        let received =
            connection(ctx, (realm, store, &known.path), &remote, transport_options).and_then(|way| way.receive());
        match received {
            Ok(_) => auto::note_contact(&known.path, &remote.name, ctx.env.now()),
            Err(error) => tracing::debug!(%error, remote = %remote.name, "not fetched"),
        }
    }
}

/// Returns an error if a sync is incomplete.
///
/// # Errors
/// Returns the first failure to fetch or push.
pub fn require_complete(remotes: impl IntoIterator<Item = RemoteSync>) -> Result<(), OpError> {
    match remotes.into_iter().flat_map(|remote| remote.problems).next() {
        None => Ok(()),
        Some(SyncProblem { code, message, .. }) => {
            let code = ErrorCode::ALL.iter().find(|known| known.as_str() == code).unwrap_or(&ErrorCode::Remote);
            Err(OpError::no(*code, format!("the realm was not updated: {message}")))
        }
    }
}

/// Syncs a realm automatically. Does nothing if its user does not want that, or another process is already syncing.
/// With `waits`, it waits for that process instead, unless another one is already waiting and will push the same.
///
/// # Errors
/// Returns the errors of [`sync_realm`].
pub fn auto(ctx: &Ctx, waits: bool) -> Result<Option<RealmSync>, OpError> {
    let here = ctx.realm()?;
    if !auto::is_wanted(ctx, &here.realm, &*here.store)? {
        return Ok(None);
    }
    let path = locate::known(&ctx.home, &here.realm)?.path;
    let turn = if waits { auto::wait(&path, ctx.env.now()) } else { auto::take(&path, ctx.env.now()) };
    let Some(_turn) = turn else { return Ok(None) };
    let request = Request { is_automatic: true, ..Request::default() };
    sync_realm(ctx, &here.realm, &*here.store, &request, || Ok(())).map(Some)
}

fn chosen(ctx: &Ctx, remotes: Vec<Remote>, request: &Request) -> Result<Vec<Remote>, OpError> {
    if remotes.is_empty() {
        let url = ctx.realm.as_ref().ok().and_then(|here| here.unrecorded_url.as_ref());
        let share = url.map_or_else(
            || "git blue init --url URL  # share it in a git repository".to_owned(),
            |url| locate::config::record_url(url),
        );
        let message = "this realm has no remote: it is only on this machine";
        return Err(OpError::cannot(ErrorCode::NoRemote, message).next(share));
    }
    let Some(wanted) = &request.remote else {
        return Ok(remotes);
    };
    let names: Vec<_> = remotes.iter().map(|remote| remote.name.to_string()).collect();
    match remotes.into_iter().find(|remote| remote.name == *wanted) {
        Some(remote) => Ok(vec![remote]),
        None => Err(OpError::no(ErrorCode::UnknownRemote, format!("the realm has no remote {wanted}"))
            .next(format!("known remotes: {}", names.join(", ")))),
    }
}

fn unreachable(remote: &Remote, error: &OpError) -> RemoteSync {
    RemoteSync { problems: vec![failure(error)], ..sync::report_of(remote) }
}

/// Returns the problem of a remote with which nothing could be synced.
fn failure(error: &OpError) -> SyncProblem {
    let next_step = error.next_steps.first().map(ToString::to_string);
    SyncProblem { next_step, ..sync::problem(error.code.as_str(), None, error.message.clone()) }
}

/// Returns the notifications of what arrived, for display only: `status` delivers them, and errors are ignored.
fn notifications(ctx: &Ctx, reader: &ReaderName) -> NotificationBatch {
    let pending = || {
        let acting = ctx.acting_repo()?;
        let overview = Overview::open(acting.store)?;
        let pending = Pending::of(ctx, acting, reader, &overview, &ctx.quick_judge())?;
        // The age of a notification counts from now, not from the first time that a reader sees it.
        arrival::record(acting.store, &pending.sightings, || ctx.env.now_here());
        Ok::<_, OpError>(pending)
    };
    pending().unwrap_or_default().first(MAX_DELIVERED, |_| true)
}

fn with_next_steps(body: RealmSync) -> Answer<RealmSync> {
    let has_conflicts = body.remotes.iter().any(|remote| !remote.conflicts.is_empty());
    let has_work = body.remotes.iter().any(|remote| !remote.received.is_empty() || !remote.sent.is_empty());
    let needs_branches =
        body.remotes.iter().flat_map(|remote| &remote.problems).any(|one| one.code == sync::NEEDS_BRANCHES);
    let has_stray = |remote: &&RemoteSync| remote.problems.iter().any(|one| one.code == "bad-name");
    let strays: Vec<_> = body.remotes.iter().filter(has_stray).map(|remote| shell_word(&remote.url)).collect();
    let problems = body.remotes.iter().flat_map(|remote| &remote.problems);
    let steps: Vec<_> = problems.filter_map(|one| one.next_step.clone()).take(MAX_STEPS).collect();
    let is_damaged =
        body.remotes.iter().flat_map(|remote| &remote.problems).any(|one| *one.code == *ErrorCode::Damaged.as_str());
    let has_changes = !body.notifications.is_empty() || body.bindings_changed.is_some();
    let dry_run = body.dry_run;
    let realm = body.realm.clone();
    let to_branches =
        format!("git blue realm admin join {realm} --branches  # store the realm in branches, at refs/heads/blue/");
    let mut answer = Answer::new(body)
        .next_if(has_conflicts, check::SHOW_CONFLICTS)
        .next_if(needs_branches, to_branches)
        .next_if(is_damaged, "git blue doctor  # show what is damaged")
        .next_all(steps);
    for url in strays {
        answer = answer.next(format!("git ls-remote {url} 'refs/blue/*'  # list what is there"));
        answer = answer.next(format!("git push {url} --delete …  # remove a ref that does not belong there"));
    }
    answer
        .next_if(has_changes, "git blue status  # show what changed")
        .next_if(dry_run && has_work, "git blue sync  # perform the sync")
}
