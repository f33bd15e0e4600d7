//! `realm_admin_domain`: creates a domain, or adds members to one.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError},
    model::{
        blueprint::PlannedBinding,
        change::DomainChange,
        domain::Domain,
        domain_view::DomainView,
        name::{DomainName, RepoName},
        nearest,
        oid::Oid,
        publish,
        text::comma_separated,
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx, RealmContext},
        domain,
        inboxes::{
            arrival,
            inbox::{self, NewBaseline},
        },
        message::Message,
        publish::publish_log,
        repos::unknown,
        runs,
        sync::auto,
    },
    store::{StoreRef, codec, read, write::write},
    wire::{Answer, DomainSet},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_domain",
    &["realm", "admin", "domain"],
    "Create a domain, or add members to it",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "DOMAIN"))]
    pub name: DomainName,
    /// Repositories to add as members
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO,…", value_delimiter = ','))]
    pub repos: Vec<RepoName>,
    /// The purpose of the domain
    #[cfg_attr(feature = "cli", arg(long, value_name = "TEXT", allow_hyphen_values = true))]
    pub description: Option<String>,
}

runs!(DomainSet, run);

/// Creates the domain or adds members to it. Repeating it does nothing.
///
/// # Errors
/// Returns an error if a repository is not in the realm, or the name collides with another.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<DomainSet>, OpError> {
    let here = ctx.require_writable_realm()?;
    let body = set(ctx, here, request, &[])?;
    let (name, has_members) = (&request.name, !body.members.is_empty());
    let is_changed = body.changed;
    for repo in &body.added {
        let added = ActingRepo { realm: &here.realm, store: &*here.store, repo, code: None };
        publish_log::clear_remedied(ctx, added, &format!("--name {name} --repos {repo}"));
    }
    let answer = Answer::new(body);
    let answer = if has_members {
        answer
            .next(format!("git blue contract new {name}/…  # in the repository that owns it"))
            .next(format!("git blue import {name}/…  # in each consumer, once it is published"))
    } else {
        answer.next(format!("git blue realm admin domain --name {name} --repos …  # add members"))
    };
    auto::with_push(ctx, (&here.realm, &*here.store), is_changed, answer)
}

/// Creates the domain or adds members to it, and writes the missing bindings, all in one commit.
///
/// # Errors
/// Returns the errors of [`run`], and an error if a binding is refused.
pub fn set(ctx: &Ctx, here: &RealmContext, request: &Request, parts: &[&PlannedBinding]) -> Result<DomainSet, OpError> {
    known_repos(here, &request.repos)?;
    require_no_collision(here, &request.name)?;
    let author = ctx.signature()?;
    let time = author.time.timestamp();
    let mut outcome = None;
    let mut tip_before = None;
    let written = write(&*here.store, &StoreRef::Domain(request.name.clone()), |tip| {
        tip_before = tip;
        let before = tip.map(|tip| read::domain_at(&*here.store, &request.name, &tip)).transpose()?;
        let wanted = widened(before.as_ref().map(|view| &view.info), request);
        let mut view = before.clone().unwrap_or_else(|| DomainView::new(wanted.clone()));
        view.info.clone_from(&wanted);
        let before = before.map(|view| view.info).filter(|info| !info.removed);
        let added: Vec<_> = wanted
            .members
            .iter()
            .filter(|member| !before.as_ref().is_some_and(|before| before.has_member(member)))
            .cloned()
            .collect();
        outcome = Some((before.is_none(), wanted.members.iter().cloned().collect(), added.clone()));
        let mut changes = Vec::new();
        for part in parts.iter().filter(|part| !view.bindings.contains_key(&part.repo)) {
            changes.extend(publish::binding(&view, &part.repo, part.binding.clone(), ctx.env.now())?.changes);
        }
        let bound = !changes.is_empty();
        if before.as_ref() != Some(&wanted) {
            changes.insert(0, DomainChange::Domain(wanted.clone()));
        }
        if changes.is_empty() {
            return Ok(None);
        }
        // Write the baselines of new members before their membership, so that no notification is
        // lost if the process is killed in between.
        record_baselines(ctx, here, tip, &added, &wanted)?;
        let subject = if before == Some(wanted) && bound {
            format!("bind {} in {}", comma_separated(parts.iter().map(|part| &part.repo)), request.name)
        } else {
            subject(&request.name, before.is_none(), &added)
        };
        let message = Message { repo: here.repo.as_ref(), ..Message::of(ctx, subject) }.text();
        Ok::<_, OpError>(Some(domain::commit(&changes, message, author.clone())))
    })?;
    if let Some(after) = written {
        arrival::record_local_change(&*here.store, &request.name, (tip_before, after), time);
    }
    let (created, members, added) = outcome.unwrap_or_default();
    let changed = written.is_some();
    Ok(DomainSet { realm: here.realm.clone(), domain: request.name.clone(), created, changed, members, added })
}

fn subject(name: &DomainName, created: bool, added: &[RepoName]) -> String {
    match (created, added.is_empty()) {
        (true, true) => format!("create domain {name}"),
        (true, false) => format!("create domain {name} with {}", comma_separated(added)),
        (false, true) => format!("describe domain {name}"),
        (false, false) => format!("add {} to {name}", comma_separated(added)),
    }
}

fn widened(before: Option<&Domain>, request: &Request) -> Domain {
    let mut wanted = before.cloned().unwrap_or_else(|| Domain {
        name: request.name.clone(),
        description: String::new(),
        members: BTreeSet::new(),
        removed: false,
    });
    if let Some(description) = &request.description {
        wanted.description.clone_from(description);
    }
    wanted.removed = false;
    wanted.members.extend(request.repos.iter().cloned());
    wanted
}

fn known_repos(here: &RealmContext, repos: &[RepoName]) -> Result<(), OpError> {
    let realm = read::repos(&*here.store)?;
    match repos.iter().find(|repo| !realm.repos.contains_key(repo)) {
        None => Ok(()),
        Some(repo) => {
            let error = unknown::error((&here.realm, &*here.store), repo, realm.repos.keys());
            let may_join = error.code == ErrorCode::UnknownRepo && nearest::nearest(repo, realm.repos.keys()).is_none();
            let join = format!("git blue init --realm {} --repo {repo}  # in that repository", here.realm);
            Err(if may_join { OpError { next_steps: vec![join.into()], ..error } } else { error })
        }
    }
}

/// Refuses a name that differs from another domain's only in case.
///
/// # Errors
/// Returns an error if there is such a domain.
pub fn require_no_collision(here: &RealmContext, name: &DomainName) -> Result<(), OpError> {
    let domains = here.store.domains()?;
    match domains.iter().find(|(other, _)| other != name && other.collides_with(name)) {
        None => Ok(()),
        Some((other, _)) => {
            let message = format!("{name} differs from the domain {other} only in case");
            Err(OpError::no(ErrorCode::NameCollision, message))
        }
    }
}

fn record_baselines(
    ctx: &Ctx,
    here: &RealmContext,
    tip: Option<Oid>,
    added: &[RepoName],
    wanted: &Domain,
) -> Result<(), OpError> {
    let known = match tip {
        Some(tip) => NewBaseline::Tree(here.store.commit(&tip)?.tree),
        None => NewBaseline::Empty(codec::encode(wanted)),
    };
    inbox::set_baseline(&*here.store, added, &wanted.name, &known, &ctx.env.now_here())
}
