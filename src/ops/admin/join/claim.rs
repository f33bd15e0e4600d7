//! Decides whether a clone may take a name in a realm.

use std::collections::BTreeMap;

use crate::{
    error::{ErrorCode, OpError},
    locate::CONFIG,
    machine::home::KnownRealm,
    model::{
        name::RepoName,
        realm::{Repo, RepoMatch},
        repo_url::RepoUrl,
        text::shell_path,
    },
    ops::{
        ctx::Ctx,
        repos::{
            identity,
            joined::{self, Joined},
        },
    },
    repo::CodeRepo,
    store::{Store, read},
};

/// The evidence that a clone may use a name that the realm already has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Claim {
    /// The user already joined this clone under that name.
    Joined,
    /// The clone's `.blue/config.yaml` names the realm and the repository.
    Proposed,
    /// Only the command line names it.
    Typed,
}

impl Claim {
    pub(super) fn of(
        ctx: &Ctx,
        code: &CodeRepo,
        known: &KnownRealm,
        name: &RepoName,
        is_proposed: bool,
    ) -> Result<Self, OpError> {
        let is_joined = joined::read(&ctx.home, code)?.is_some_and(|joined| joined.is_of(&known.name, name));
        Ok(if is_joined {
            Self::Joined
        } else if is_proposed {
            Self::Proposed
        } else {
            Self::Typed
        })
    }
}

/// Checks that a clone belongs to the repository that has the name in the realm. Forks, and repositories made from one
/// template, share a root commit: without URLs, the file that names the repository must agree.
pub(super) fn same_repository(
    ctx: &Ctx,
    code: &CodeRepo,
    known: &KnownRealm,
    held: &Repo,
    claim: Claim,
) -> Result<(), OpError> {
    let name = &held.name;
    let taken = |why: &str| {
        let whose = identity::place(held);
        OpError::no(ErrorCode::NameTaken, format!("another repository{whose} has the name {name} in this realm{why}"))
    };
    match (identity::match_repo(code, held)?, claim) {
        (RepoMatch::Same, _) | (RepoMatch::SharedRoot, Claim::Proposed) => Ok(()),
        // If no other clone has joined under the name, this may be the clone that was interrupted while it joined.
        (RepoMatch::SharedRoot, _) if joined::other_joined_clone(&ctx.home, code, &known.name, name)?.is_none() => {
            Ok(())
        }
        (RepoMatch::SharedRoot, _) => {
            let why = "; it shares a root commit with this one, as forks and templates do";
            Err(taken(why)
                .next("choose another name with --repo NAME")
                .next(format!("git pull  # if this is a clone of {name}, to get its {CONFIG}; then try again")))
        }
        (RepoMatch::Unknown, _) | (RepoMatch::Different, Claim::Proposed) if hides_roots(code, held)? => {
            let message = format!("cannot tell whether this is {name}: the clone is shallow");
            Err(OpError::no(ErrorCode::Shallow, message).next("git fetch --unshallow").next("git blue init"))
        }
        // The name was reserved, or its repository joined before its first commit existed.
        (RepoMatch::Unknown, _) => match joined::other_joined_clone(&ctx.home, code, &known.name, name)? {
            None => Ok(()),
            Some(folder) if !held.roots.is_empty() => {
                let why = format!(": {}; this one has no commits yet to compare with it", folder.display());
                Err(taken(&why)
                    .next("choose another name with --repo NAME")
                    .next(format!("if this is a clone of {name}, pull its commits first, and try again")))
            }
            Some(folder) => {
                let (folder, quoted) = (folder.display(), shell_path(&folder));
                Err(taken(&format!(": {folder}, which has no commits or URL to identify it yet"))
                    .next(format!(
                        "if this is a clone of it, make a first commit there, and run git -C {quoted} blue status"
                    ))
                    .next("choose another name with --repo NAME"))
            }
        },
        (RepoMatch::Different, Claim::Proposed) => {
            let message = format!("{}; {}", taken(""), identity::facts(code, held));
            let record = identity::record_elsewhere(code, held)?;
            if identity::has_a_root(code, held)? {
                return Err(OpError::no(ErrorCode::Fork, message)
                    .next_all(identity::same_path(code, held))
                    .next("git blue status  # in a fork, which can read and check, but not write")
                    .next(format!("or edit repo in {CONFIG}, if this is a separate repository in the realm"))
                    .next_all(record.map(|record| format!("or {record}"))));
            }
            let rename = format!("give this repository a unique name: edit repo in {CONFIG}");
            let error = OpError::no(ErrorCode::NameTaken, message);
            Err(match record {
                Some(record) => error.next(record),
                None => error.next(rename).next(format!("or {}", identity::record_rewritten(held))),
            })
        }
        (RepoMatch::Different, _) => Err(taken("").next("choose another name with --repo NAME")),
    }
}

/// Returns whether a clone is shallow, and lacks the root commits by which the repository is recognized.
fn hides_roots(code: &CodeRepo, held: &Repo) -> Result<bool, OpError> {
    Ok(code.is_shallow()? && !identity::has_a_root(code, held)?)
}

/// Refuses a second realm for a clone, if the realm that it joined still has its repository.
pub(super) fn refuse_second_realm(ctx: &Ctx, code: &CodeRepo, known: &KnownRealm) -> Result<(), OpError> {
    let Some(joined) = joined::read(&ctx.home, code)?.filter(|joined| joined.realm != known.name) else {
        return Ok(());
    };
    if !joined::is_in_realm(&ctx.home, &joined, ctx.options())? {
        return Ok(());
    }
    let Joined { realm, repo, .. } = joined;
    let message = format!(
        "this clone has joined the realm {realm} as {repo}, and a repository can be in only one \
        realm"
    );
    Err(OpError::no(ErrorCode::JoinedAsOther, message)
        .next(format!("write the realm {realm} and repo: {repo} into {CONFIG}"))
        .next("git blue leave  # then, if the repository moves to the other realm"))
}

/// Refuses a second name for a clone that already joined under another name, if the realm still has that name.
pub(super) fn refuse_second_name(
    ctx: &Ctx,
    code: &CodeRepo,
    store: &dyn Store,
    known: &KnownRealm,
    name: &RepoName,
) -> Result<(), OpError> {
    let Some(joined) = joined::read(&ctx.home, code)?.filter(|joined| joined.realm == known.name) else {
        return Ok(());
    };
    let old = &joined.repo;
    let repos = read::repos(store)?.repos;
    let Some(held) = repos.get(old).filter(|_| old != name) else { return Ok(()) };
    // If two repositories have the name, either may take another one.
    let is_other = identity::match_repo(code, held)? == RepoMatch::Different;
    if is_other || read::names_taken_twice(store, &repos)?.contains(old) {
        return Ok(());
    }
    Err(OpError::no(ErrorCode::AlreadyJoined, format!("this repository is already in the realm as {old}"))
        .next(format!("write repo: {old} in {CONFIG}"))
        .next(format!("git blue realm admin rename {old} {name}  # or rename it to {name} everywhere")))
}

/// Refuses a name that differs from another one only in case, and a second name for a URL.
pub(super) fn refuse_collision(repos: &BTreeMap<RepoName, Repo>, entry: &Repo) -> Result<(), OpError> {
    if let Some(other) = repos.keys().find(|other| other.collides_with(&entry.name)) {
        let message = format!("{} differs from the repository {other} only in case", entry.name);
        return Err(OpError::no(ErrorCode::NameCollision, message).next("choose another name with --repo NAME"));
    }
    let place = entry.url.as_deref().map(RepoUrl::of);
    let same_url = |held: &&Repo| place.is_some() && held.url.as_deref().map(RepoUrl::of) == place;
    match repos.values().find(same_url) {
        Some(held) => {
            let message = format!("this repository{} is in the realm already, as {}", identity::place(held), held.name);
            Err(OpError::no(ErrorCode::AlreadyJoined, message)
                .next(format!("git blue init --repo {}", held.name))
                .next(format!("if {CONFIG} has another name, edit it")))
        }
        None => Ok(()),
    }
}
