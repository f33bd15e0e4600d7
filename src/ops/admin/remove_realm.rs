//! `realm_admin_remove_realm`: deletes the store of an empty realm.

use crate::{
    error::{ErrorCode, OpError},
    locate,
    machine::home::KnownRealm,
    model::{
        name::RealmName,
        repo_url::without_credentials,
        text::{count, shell_path, shell_word},
    },
    ops::{Operation, ctx::Ctx, runs, sync::remote_status},
    store::{overview::Overview, read},
    wire::{Answer, RealmRemoved},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_remove_realm",
    &["realm", "admin", "remove-realm"],
    "Delete a realm without repositories and domains from this machine",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The realm
    #[cfg_attr(feature = "cli", arg(value_name = "REALM"))]
    pub realm: RealmName,
    /// Also delete changes that were not pushed
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub force: bool,
}

runs!(RealmRemoved, run);

/// The maximum number of obstacles that an answer names.
const MAX_NAMED: usize = 5;

/// Deletes the store if it is still there, and this machine's records of it. Copies on remotes stay.
///
/// # Errors
/// Returns an error if the realm still has a repository or a domain, a remote lacks changes, or this machine does not
/// know the realm.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmRemoved>, OpError> {
    let known = locate::known(&ctx.home, &request.realm)?;
    if known.path.exists() {
        delete(ctx, &known, request.force)?;
        // All of its repositories have left it.
        for repo in ctx.home.repo_paths(&known.name)?.keys() {
            ctx.home.forget_repo(&known.name, repo)?;
        }
    }
    ctx.home.forget_realm(&known.name)?;
    let url = known.url.as_deref().map(without_credentials);
    let step = url.as_deref().map(shell_word).map(|place| {
        format!(
            "git ls-remote {place} 'refs/blue/*'  # list what is still shared there; git push {place} --delete REF \
                removes it"
        )
    });
    let body = RealmRemoved { realm: known.name, path: known.path.display().to_string(), url };
    Ok(Answer::new(body).next_all(step))
}

fn delete(ctx: &Ctx, known: &KnownRealm, is_forced: bool) -> Result<(), OpError> {
    let store = ctx.open_store(known)?;
    store.delete(|store| {
        let found = read::realm(store)?;
        if found.name != known.name {
            let message = format!("{} contains the realm {}, not {}", known.path.display(), found.name, known.name);
            return Err(OpError::cannot(ErrorCode::OtherRealm, message));
        }
        refuse_use(ctx, &Overview::open(store)?, &known.name)?;
        if is_forced || !remote_status::is_unpushed(store)? {
            return Ok(());
        }
        let message =
            format!("the realm {} has changes that were not pushed: other machines still have it", known.name);
        Err(OpError::no(ErrorCode::StillNeeded, message)
            .next(format!("git blue --realm {} sync  # push them", known.name))
            .next(format!("git blue realm admin remove-realm {} --force  # or delete them", known.name)))
    })
}

fn refuse_use(ctx: &Ctx, overview: &Overview<'_>, realm: &RealmName) -> Result<(), OpError> {
    let repos: Vec<_> = overview.repos().keys().collect();
    let domains: Vec<_> = overview.domains().iter().map(|line| &line.name).collect();
    if repos.is_empty() && domains.is_empty() {
        return Ok(());
    }
    let parts = [
        (!repos.is_empty()).then(|| count(repos.len(), "repository", "repositories")),
        (!domains.is_empty()).then(|| count(domains.len(), "domain", "domains")),
    ];
    let what = parts.into_iter().flatten().collect::<Vec<_>>().join(" and ");
    let mut error = OpError::no(ErrorCode::StillNeeded, format!("the realm {realm} still has {what}"));
    for domain in domains.iter().take(MAX_NAMED) {
        error = error.next(format!("git blue --realm {realm} realm admin remove-domain {domain}"));
    }
    let paths = ctx.home.repo_paths(realm)?;
    for repo in repos.iter().take(MAX_NAMED) {
        error = error.next(match paths.get(*repo) {
            Some(path) => format!("git -C {} blue realm admin leave", shell_path(path)),
            None => format!("git blue realm admin leave  # in {repo}"),
        });
    }
    Err(error)
}
