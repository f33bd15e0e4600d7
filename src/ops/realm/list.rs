//! `realm_list`: lists the realms of this machine.

use super::status;
use crate::{
    error::{ErrorCode, OpError},
    machine::home::KnownRealm,
    ops::{Operation, ctx::Ctx, runs},
    store::{git::GitStore, overview::Overview, read},
    wire::{Answer, RealmLine, RealmList},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("realm_list", &["realm", "list"], "List the realms on this machine")
        .tool("List the realms on this machine.")
        .route("GET", "/realms");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {}

runs!(RealmList, |ctx, _| run(ctx));

/// Lists the realms. One that cannot be read is reported, and does not hide the others.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn run(ctx: &Ctx) -> Result<Answer<RealmList>, OpError> {
    let current = ctx.realm.as_ref().ok().map(|here| &here.realm);
    let line = |known: KnownRealm| {
        let counts = GitStore::open(&known.path, ctx.options()).and_then(|store| {
            read::realm(&store)?;
            let overview = Overview::open(&store)?;
            let damage: Vec<_> = overview.damage().iter().map(ToString::to_string).collect();
            Ok((overview.repos().len(), overview.count(), status::failure(&damage).map(|error| error.message)))
        });
        RealmLine {
            is_current: current == Some(&known.name),
            name: known.name,
            path: known.path.display().to_string(),
            url: known.url,
            repos: counts.as_ref().ok().map(|(repos, ..)| *repos),
            domains: counts.as_ref().ok().map(|(_, domains, _)| *domains),
            problem: counts.map_or_else(|error| Some(error.to_string()), |(.., problem)| problem),
        }
    };
    let realms: Vec<_> = ctx.home.realms()?.into_iter().map(line).collect();
    let is_empty = realms.is_empty();
    let answer = Answer::new(RealmList { realms });
    Ok(match &ctx.realm {
        _ if !is_empty => answer,
        // A repository that names a realm can only join that one.
        Err(error) if error.code == ErrorCode::UnknownRealm => answer.next_all(error.next_steps.iter().cloned()),
        _ => answer.next("git blue init --realm …  # create or join one"),
    })
}
