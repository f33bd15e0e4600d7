//! `realm_admin_reclaim`: gives a name back to its repository, after another one published or joined under it.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorCode, OpError},
    model::{change::DomainChange, name::DomainName, publish::Decision, realm::Repo},
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        domain::{self, Part},
        message::Message,
        repos::{identity, joined},
        runs,
        sync::auto,
    },
    repo::CodeRepo,
    store::{Edit, codec, layout, overview::Overview, read},
    wire::{Answer, RealmReclaim},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_reclaim",
    &["realm", "admin", "reclaim"],
    "Take back this repository's name from another repository",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reason to record in the history
    #[cfg_attr(feature = "cli", arg(long, value_name = "REASON", allow_hyphen_values = true, value_parser = crate::model::text::reason))]
    pub reason: String,
}

runs!(RealmReclaim, run);

/// Records this clone's root commits and URL in place of those in the realm, and forgets commits that were published
/// under the name but are not in this clone. Versions stay, because they never change.
///
/// # Errors
/// Returns an error if the repository cannot be determined, or the realm cannot be written.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmReclaim>, OpError> {
    let (acting, code) = (ctx.acting_repo()?, ctx.code()?);
    if code.is_shallow()? {
        let message = "cannot tell which commits belong to another repository: this clone is shallow";
        return Err(OpError::no(ErrorCode::Shallow, message).next("git fetch --unshallow"));
    }
    let now = identity::of(code, acting.repo)?;
    if now.roots.is_empty() && now.url.is_none() {
        let message = "this repository cannot be identified: it has no commits and no origin";
        return Err(OpError::no(ErrorCode::NoCommit, message).next("git commit"));
    }
    let (identity_changed, settled_conflict) = take_name(ctx, acting, &now, request)?;
    joined::write(&ctx.home, code, acting.realm, acting.repo, !now.roots.is_empty())?;
    ctx.home.record_repo(acting.realm, acting.repo, &code.main_folder())?;
    let mut domains = Vec::new();
    for name in domains_with_unknown_commit(acting, code)? {
        forget_source(ctx, acting, &name, request)?;
        domains.push(name);
    }
    let is_new = identity_changed || settled_conflict || !domains.is_empty();
    let (realm, repo) = (acting.realm.clone(), acting.repo.clone());
    let body = RealmReclaim { realm, repo, identity_changed, settled_conflict, domains };
    if !is_new {
        return Ok(Answer::new(body));
    }
    let answer = Answer::new(body).next("git blue contract publish  # publish this repository's files");
    auto::with_push(ctx, (acting.realm, acting.store), is_new, answer)
}

/// Writes the repository's entry, and settles the conflict about its name. Returns whether the entry has changed, and
/// whether there was a conflict.
fn take_name(ctx: &Ctx, acting: ActingRepo<'_>, now: &Repo, request: &Request) -> Result<(bool, bool), OpError> {
    let mut done = (false, false);
    domain::change_realm(ctx, acting.store, || {
        let repos = read::repos(acting.store)?.repos;
        let is_other = repos.get(acting.repo) != Some(now);
        let is_disputed = read::names_taken_twice(acting.store, &repos)?.contains(acting.repo);
        done = (is_other, is_disputed);
        let entry = is_other.then(|| (layout::repo(acting.repo), Edit::Put(codec::encode(now))));
        let lost = is_disputed.then(|| (layout::lost_repos(acting.repo), Edit::Remove));
        let edits: Vec<_> = entry.into_iter().chain(lost).collect();
        if edits.is_empty() {
            return Ok(None);
        }
        let subject = format!("reclaim {}", acting.repo);
        let message = Message { repo: Some(acting.repo), reason: Some(&request.reason), ..Message::of(ctx, subject) };
        Ok(Some((edits, message)))
    })?;
    Ok(done)
}

/// Returns the domains whose last published commit this clone does not have, or that none of its refs has any more.
fn domains_with_unknown_commit(acting: ActingRepo<'_>, code: &CodeRepo) -> Result<Vec<DomainName>, OpError> {
    let overview = Overview::open(acting.store)?;
    let lines = overview.domains_of(acting.repo);
    // Most domains were published at the same commit.
    let (mut known, mut domains) = (BTreeMap::new(), Vec::new());
    for line in lines {
        let Some(source) = line.sources.get(acting.repo) else { continue };
        for published in source.latest() {
            let is_known = match known.get(&published) {
                Some(is_known) => *is_known,
                None => *known.entry(published).or_insert(code.is_in_a_ref(&published)?),
            };
            if !is_known {
                domains.push(line.name.clone());
                break;
            }
        }
    }
    Ok(domains)
}

fn forget_source(ctx: &Ctx, acting: ActingRepo<'_>, name: &DomainName, request: &Request) -> Result<(), OpError> {
    let subject = format!("reclaim {}", acting.repo);
    let why = Message { repo: Some(acting.repo), reason: Some(&request.reason), subject, ..Message::default() };
    domain::change(ctx, acting.store, name, Part::default(), why, |_| {
        Ok(Decision { changes: vec![DomainChange::RemoveSource(acting.repo.clone())], events: Vec::new() })
    })?;
    Ok(())
}
