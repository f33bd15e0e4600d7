//! `realm_admin_bootstrap`: adds the repositories, domains and bindings that a file lists, if they are missing.
//! Existing ones are not changed, so running it again does nothing.

use std::collections::{BTreeMap, BTreeSet};

use super::{domain, join};
use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        blueprint::{Blueprint, PlannedDomain, PlannedRepo},
        name::RepoName,
        realm::{Realm, Repo},
        repo_url::{RepoUrl, without_credentials},
        text::shell_word,
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        domain::change_realm,
        message::Message,
        publish::cycles,
        sync::{auto, url},
    },
    store::{Edit, TreePath, codec, layout, overview::Overview, read},
    wire::{Answer, BootstrappedDomain, RealmBootstrap},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<RealmBootstrap>(
    "realm_admin_bootstrap",
    &["realm", "admin", "bootstrap"],
    "Add the repositories, domains and bindings listed in a file",
);

/// The arguments.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The list, as YAML.
    pub document: Vec<u8>,
    /// The name of its source, for messages.
    pub file: String,
    /// Whether to show only what would be added.
    pub dry_run: bool,
}

/// Adds the missing repositories, domains and bindings. The whole file is checked before anything is written.
///
/// # Errors
/// Returns an error if the file cannot be read or contradicts itself or the realm; then nothing is written.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmBootstrap>, OpError> {
    let here = ctx.require_writable_realm()?;
    let blueprint: Blueprint = codec::document(&request.document).map_err(|problem| problem.in_file(&request.file))?;
    if blueprint == Blueprint::default() {
        let message = format!("{}: it lists no repositories and no domains", request.file);
        return Err(OpError::no(ErrorCode::UnreadableFile, message));
    }
    let problems = blueprint.contradictions();
    if !problems.is_empty() {
        let error = OpError::no(ErrorCode::Contradiction, format!("{}: {}", request.file, problems.join("; ")));
        return Err(error.next("nothing was created; fix the file, and run the command again"));
    }
    refuse_former_names(here, &blueprint, &request.file)?;
    let overview = Overview::open(&*here.store)?;
    let entries = entries(&blueprint.repos, overview.repos())?;
    require_valid_domains(here, &blueprint, &entries, &overview)?;
    let mut domains = Vec::new();
    for planned in &blueprint.domains {
        domains.extend(missing(planned, &overview)?);
    }
    let described = blueprint.domains.iter().map(|planned| other_description(planned, &overview));
    let described: Vec<_> = described.collect::<Result<Vec<_>, _>>()?.into_iter().flatten().collect();
    let cycles = cycles::closed(&*here.store, &parts(&blueprint, &domains), blueprint.cycles)?;
    let rules = blueprint.cycles.filter(|wanted| read::realm(&*here.store).is_ok_and(|realm| realm.cycles != *wanted));
    if !request.dry_run {
        write_entries(ctx, here, &blueprint)?;
        write_domains(ctx, here, &blueprint, &domains)?;
    }
    let is_larger = !entries.is_empty();
    let is_missing = is_larger || !domains.is_empty() || rules.is_some();
    let body = RealmBootstrap {
        realm: here.realm.clone(),
        dry_run: request.dry_run,
        repos: entries.into_iter().map(|entry| entry.name).collect(),
        domains,
        rules_changed: rules.is_some(),
        cycles,
    };
    let answer = Answer::new(body).next_all(described);
    Ok(match (request.dry_run, is_missing) {
        (true, true) => answer.next_all(creating(&request.file)),
        (false, _) => {
            let answer = auto::with_push(ctx, (&here.realm, &*here.store), is_missing, answer)?;
            let realm = (&here.realm, &*here.store);
            if is_larger {
                answer.next_once(join::init_elsewhere(&ctx.home, realm, "in each new repository"))
            } else {
                answer
            }
        }
        _ => answer,
    })
}

/// Returns the command that creates what the file lists, or `None` for standard input, which cannot be read again.
fn creating(file: &str) -> Option<String> {
    (file != "-").then(|| format!("git blue realm admin bootstrap --from {}  # add what is missing", shell_word(file)))
}

/// Refuses a domain whose name differs from another one only in case, one with a repository that is neither in the
/// realm nor among the new `entries`, and one that the realm has but cannot be read.
fn require_valid_domains(
    here: &RealmContext,
    blueprint: &Blueprint,
    entries: &[Repo],
    overview: &Overview<'_>,
) -> Result<(), OpError> {
    let new: BTreeSet<_> = entries.iter().map(|entry| &entry.name).collect();
    let is_known = |repo: &RepoName| overview.repos().contains_key(repo) || new.contains(repo);
    for domain in &blueprint.domains {
        if let Some(unknown) = domain.repos.iter().find(|repo| !is_known(repo)) {
            let message =
                format!("{}: {unknown} is neither in the realm nor listed in the repos of the file", domain.name);
            return Err(OpError::no(ErrorCode::UnknownRepo, message));
        }
        domain::require_no_collision(here, &domain.name)?;
        // The overview lacks domains that were removed and domains that cannot be read.
        if let Some(tip) = here.store.domain_tip(&domain.name)? {
            read::domain_at(&*here.store, &domain.name, &tip)?;
        }
    }
    Ok(())
}

/// Refuses the former names of repositories: each would be added beside the repository that had it.
fn refuse_former_names(here: &RealmContext, blueprint: &Blueprint, file: &str) -> Result<(), OpError> {
    let mut former = Vec::new();
    for PlannedRepo { name, .. } in &blueprint.repos {
        let newer = renamed::newer(&*here.store, name)?;
        former.extend(newer.map(|newer| format!("{name} was renamed to {newer}")));
    }
    if former.is_empty() {
        return Ok(());
    }
    let error = OpError::cannot(ErrorCode::Renamed, format!("{file}: {}", former.join("; ")));
    Err(error.next("nothing was created; write the new names into the file, and run the command again"))
}

/// Returns the entries of the repositories that are not among those of the realm.
fn entries(planned: &[PlannedRepo], held: &BTreeMap<RepoName, Repo>) -> Result<Vec<Repo>, OpError> {
    let mut entries = Vec::new();
    for PlannedRepo { name, url } in planned {
        let url = url.as_deref().map(url::accept).transpose()?.map(without_credentials);
        let entry = Repo { name: name.clone(), url, roots: Vec::new() };
        match held.get(name) {
            Some(held) => require_same_place(held, &entry)?,
            None => {
                require_unused(held.values().chain(&entries), &entry)?;
                entries.push(entry);
            }
        }
    }
    Ok(entries)
}

/// Refuses a repository that the realm has with another URL. Two forms of one URL are the same.
fn require_same_place(held: &Repo, planned: &Repo) -> Result<(), OpError> {
    match (&held.url, &planned.url) {
        (Some(held), Some(wanted)) if RepoUrl::of(held) != RepoUrl::of(wanted) => {
            let message = format!("the repository {} is at {held} in the realm, not at {wanted}", planned.name);
            Err(OpError::no(ErrorCode::NameTaken, message))
        }
        _ => Ok(()),
    }
}

/// Refuses a name that differs from another one only in case, and a second name for a URL.
fn require_unused<'r>(mut others: impl Iterator<Item = &'r Repo> + Clone, entry: &Repo) -> Result<(), OpError> {
    let name = &entry.name;
    if let Some(other) = others.clone().find(|other| other.name.collides_with(name)) {
        let message = format!("{name} differs from the repository {} only in case", other.name);
        return Err(OpError::no(ErrorCode::NameCollision, message));
    }
    let Some(url) = &entry.url else { return Ok(()) };
    let place = RepoUrl::of(url);
    match others.find(|other| other.url.as_deref().map(RepoUrl::of).as_ref() == Some(&place)) {
        Some(other) => {
            let message = format!("{name} and {} are one repository, at {url}", other.name);
            Err(OpError::no(ErrorCode::AlreadyJoined, message))
        }
        None => Ok(()),
    }
}

/// Returns the missing parts of a domain; `None` if nothing is missing.
fn missing(planned: &PlannedDomain, overview: &Overview<'_>) -> Result<Option<BootstrappedDomain>, OpError> {
    let line = overview.domains().iter().find(|line| line.name == planned.name);
    let held = line.map(|line| overview.summary(line)).transpose()?;
    let is_new = |repo: &&RepoName| !held.as_ref().is_some_and(|held| held.info.has_member(repo));
    let is_unbound = |repo: &&RepoName| !held.as_ref().is_some_and(|held| held.bindings.contains_key(*repo));
    let added: BTreeSet<_> = planned.repos.iter().filter(is_new).cloned().collect();
    let bound: Vec<_> = planned.bindings.iter().map(|part| &part.repo).filter(is_unbound).cloned().collect();
    let is_there = held.is_some() && added.is_empty() && bound.is_empty();
    let line = || BootstrappedDomain {
        domain: planned.name.clone(),
        created: held.is_none(),
        added: added.into_iter().collect(),
        bound,
    };
    Ok((!is_there).then(line))
}

/// Returns the command that changes the description of a domain to that of the file: what exists is not changed.
fn other_description(planned: &PlannedDomain, overview: &Overview<'_>) -> Result<Option<String>, OpError> {
    let line = overview.domains().iter().find(|line| line.name == planned.name);
    let (Some(line), Some(wanted)) = (line, &planned.description) else { return Ok(None) };
    let command = format!("git blue realm admin domain --name {} --description {}", planned.name, shell_word(wanted));
    let is_same = overview.summary(line)?.info.description == *wanted;
    Ok((!is_same).then(|| format!("{command}  # its description differs from the one in the file")))
}

/// Returns the bindings that will be written.
fn parts<'a>(blueprint: &'a Blueprint, domains: &[BootstrappedDomain]) -> Vec<cycles::Part<'a>> {
    let all = blueprint.domains.iter().flat_map(|domain| domain.bindings.iter().map(move |part| (&domain.name, part)));
    let is_missing = |(name, part): &(&_, &crate::model::blueprint::PlannedBinding)| {
        domains.iter().any(|line| line.domain == **name && line.bound.contains(&part.repo))
    };
    let part = |(domain, part): (&'a _, &'a crate::model::blueprint::PlannedBinding)| cycles::Part {
        domain,
        repo: &part.repo,
        binding: &part.binding,
    };
    all.filter(is_missing).map(part).collect()
}

/// Writes the missing parts of the domains, each domain in one commit.
fn write_domains(
    ctx: &Ctx,
    here: &RealmContext,
    blueprint: &Blueprint,
    missing: &[BootstrappedDomain],
) -> Result<(), OpError> {
    for planned in &blueprint.domains {
        let Some(line) = missing.iter().find(|line| line.domain == planned.name) else { continue };
        let parts: Vec<_> = planned.bindings.iter().filter(|part| line.bound.contains(&part.repo)).collect();
        let request = domain::Request {
            name: planned.name.clone(),
            repos: planned.repos.clone(),
            description: planned.description.clone().filter(|_| line.created),
        };
        domain::set(ctx, here, &request, &parts)?;
    }
    Ok(())
}

/// Writes the entries and the realm's rules, all in one commit.
fn write_entries(ctx: &Ctx, here: &RealmContext, blueprint: &Blueprint) -> Result<(), OpError> {
    change_realm(ctx, &*here.store, || {
        // Another repository may have joined since the file was checked.
        let entries = entries(&blueprint.repos, &read::repos(&*here.store)?.repos)?;
        let mut edits: Vec<(TreePath, Edit)> = Vec::new();
        let realm = read::realm(&*here.store)?;
        let wanted = Realm { cycles: blueprint.cycles.unwrap_or(realm.cycles), ..realm.clone() };
        if wanted != realm {
            edits.push((layout::realm(), Edit::Put(codec::encode(&wanted))));
        }
        let mut names = Vec::new();
        for entry in &entries {
            names.push(entry.name.to_string());
            edits.push((layout::repo(&entry.name), Edit::Put(codec::encode(entry))));
        }
        if edits.is_empty() {
            return Ok(None);
        }
        let subject = match names.len() {
            0 => "change the rules of the realm".to_owned(),
            1..=5 => format!("add {}", names.join(", ")),
            more => format!("add {more} repositories"),
        };
        Ok(Some((edits, Message { repo: here.repo.as_ref(), ..Message::of(ctx, subject) })))
    })?;
    Ok(())
}
