//! `gc`: packs the realm's store, and removes old sessions and notifications.

use crate::ops::{
    Operation,
    ctx::{ActingRepo, Ctx},
    inboxes::{inbox, pending},
    runs, session,
};
use crate::{
    error::OpError,
    locate,
    store::{
        Store, StoreRef,
        git::{self, GitStore},
    },
    wire::{Answer, Gc},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::writes::<Request>("gc", &["gc"], "Pack the realm's store, and remove old sessions and notifications");

/// The arguments.
#[derive(Debug, Clone, Copy, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Pack only if the store has grown enough to need it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub auto: bool,
}

runs!(Gc, |ctx, request| run(ctx, *request));

/// Packs the store and removes old records. Concurrent readers and writers are not disturbed.
///
/// # Errors
/// Returns an error if git fails, or the store cannot be written.
pub fn run(ctx: &Ctx, request: Request) -> Result<Answer<Gc>, OpError> {
    let here = ctx.realm()?;
    let store = git_store(ctx)?;
    let before = store.loose_objects()?;
    let mut body = Gc {
        realm: here.realm.clone(),
        loose_objects_before: before,
        loose_objects_after: before,
        packed_refs: 0,
        removed_objects: 0,
        forgotten_readers: Vec::new(),
        forgotten_notifications: 0,
        forgotten_sessions: 0,
    };
    if request.auto && !git::should_be_packed(&store.path()) {
        return Ok(Answer::new(body));
    }
    for (name, _) in store.inboxes()? {
        match forget(ctx, &store, &name)? {
            Forgotten::Reader(reader) => body.forgotten_readers.push(reader),
            Forgotten::Notifications(count) => body.forgotten_notifications += count,
        }
    }
    let author = ctx.upkeep_signature();
    for (repo, _) in store.sessions()? {
        let acting = ActingRepo { realm: &here.realm, store: &store, repo: &repo, code: None };
        body.forgotten_sessions += session::upkeep::forget(acting, &author)?;
    }
    git::remove_leftovers(&store.path());
    ctx.home.remove_leftovers();
    let packed = store.pack(ctx.env.vars())?;
    (body.packed_refs, body.removed_objects) = (packed.refs, packed.removed);
    body.loose_objects_after = store.loose_objects()?;
    Ok(Answer::new(body))
}

/// Returns whether enough objects have accumulated for packing. It does not open the store, because it is called after
/// every write.
pub fn is_due(ctx: &Ctx) -> bool {
    let known = ctx.realm().and_then(|here| locate::known(&ctx.home, &here.realm));
    known.is_ok_and(|known| git::should_be_packed(&known.path))
}

/// Opens the store as a git repository. Packing is specific to git, so the `Store` trait does not have it.
fn git_store(ctx: &Ctx) -> Result<GitStore, OpError> {
    let here = ctx.realm()?;
    let known = locate::known(&ctx.home, &here.realm)?;
    ctx.open_store(&known)
}

enum Forgotten {
    Reader(String),
    Notifications(usize),
}

/// Removes old notifications from an inbox. An agent without deliveries for 30 days is removed entirely; when it returns,
/// it starts from the repository's shared inbox. The person at the command line stays, since looking leaves no trace.
fn forget(ctx: &Ctx, store: &dyn Store, name: &StoreRef) -> Result<Forgotten, OpError> {
    let now = ctx.env.now_here();
    let _lease = store.lock(name)?;
    let Some(tip) = store.tip(name)? else {
        return Ok(Forgotten::Notifications(0));
    };
    if let StoreRef::Inbox(repo, Some(reader)) = name
        && *reader != pending::cli_reader()
        && inbox::is_forgotten(store.commit(&tip)?.time, now.timestamp())
    {
        store.forget(name, tip)?;
        return Ok(Forgotten::Reader(format!("{repo}/{reader}")));
    }
    inbox::prune(store, name, tip, &now).map(Forgotten::Notifications)
}
