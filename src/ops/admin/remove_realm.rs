//! `realm_admin_remove_realm`: deletes this machine's copy of a realm.

use crate::{
    error::{ErrorCode, OpError},
    locate,
    machine::home::KnownRealm,
    model::{
        name::RealmName,
        repo_url::without_credentials,
        text::{comma_separated_at_most, count, shell_word},
    },
    ops::{Operation, ctx::Ctx, runs, sync::remote_status},
    store::{Store, overview::Overview},
    wire::{Answer, RealmRemoved},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_remove_realm",
    &["realm", "admin", "remove-realm"],
    "Delete this machine's copy of a realm",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm
    #[cfg_attr(feature = "cli", arg(value_name = "REALM"))]
    pub realm: RealmName,
    /// Delete the realm even if no other machine has all of it, or clones on this machine use it
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
}

runs!(RealmRemoved, run);

/// The maximum number of clones that an answer names.
const MAX_NAMED: usize = 5;

/// Deletes the store if it is still there, and this machine's records of it. Copies on remotes stay.
///
/// # Errors
/// Returns an error if this machine does not know the realm, or, without `force`, if no remote has its content or a
/// clone uses it.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmRemoved>, OpError> {
    let known = locate::known(&ctx.home, &request.realm)?;
    if known.path.exists() {
        delete(ctx, &known, request.force)?;
        for repo in ctx.home.repo_paths(&known.name)?.keys() {
            ctx.home.forget_repo(&known.name, repo)?;
        }
    }
    ctx.home.forget_realm(&known.name)?;
    let url = known.url.as_deref().map(without_credentials);
    let step = url
        .as_deref()
        .map(shell_word)
        .map(|place| format!("git blue init --url {place}  # get it again, in a repository; the remote still has it"));
    let body = RealmRemoved { realm: known.name, path: known.path.display().to_string(), url };
    Ok(Answer::new(body).next_all(step))
}

fn delete(ctx: &Ctx, known: &KnownRealm, is_forced: bool) -> Result<(), OpError> {
    let store = ctx.open_store(known)?;
    store.delete(|store| {
        locate::require_realm(known, store)?;
        if is_forced { Ok(()) } else { refuse_loss(ctx, store, &known.name) }
    })
}

/// Refuses to delete what no other machine has, or a clone of this machine uses.
fn refuse_loss(ctx: &Ctx, store: &dyn Store, realm: &RealmName) -> Result<(), OpError> {
    let overview = Overview::open(store)?;
    let refused = |message: String| OpError::no(ErrorCode::StillNeeded, message);
    let force =
        |what: &str| format!("git blue realm admin remove-realm {} --force  # {what}", shell_word(realm.as_str()));
    let parts =
        [(overview.repos().len(), "repository", "repositories"), (overview.domains().len(), "domain", "domains")];
    let parts = parts.into_iter().filter(|(found, ..)| *found > 0).map(|(found, one, many)| count(found, one, many));
    let content = parts.collect::<Vec<_>>().join(" and ");
    if !content.is_empty() && !remote_status::is_shared(store)? {
        let message = format!("the realm {realm} has {content}, and is on no other machine");
        return Err(refused(message).next(force("delete it for good")));
    }
    if remote_status::is_unpushed(store)? {
        let message = format!("the realm {realm} has changes that were not pushed: other machines still have it");
        let push = format!("git blue --realm {realm} sync  # push them");
        return Err(refused(message).next(push).next(force("or delete them")));
    }
    let clones = ctx.home.repo_paths(realm)?.into_iter();
    let clones: Vec<_> = clones.filter(|(repo, path)| overview.repos().contains_key(repo) && path.exists()).collect();
    if clones.is_empty() {
        return Ok(());
    }
    let paths = clones.iter().map(|(_, path)| path.display().to_string());
    let message =
        format!("the realm {realm} is in use on this machine, in {}", comma_separated_at_most(MAX_NAMED, paths));
    Err(refused(message).next(force("delete this machine's copy; its repositories stay in the realm")))
}
