//! The names that a shell completes, read only from this machine. This is not an operation: only shells ask for names,
//! and they are shown no errors.

use crate::ops::{
    ctx::Ctx,
    domain,
    notifications::{self, list::Request},
    session, worktree,
};
use crate::{
    error::OpError,
    model::{
        domain_summary::DomainSummary,
        name::{ContractName, ContractRef, DomainName, RepoName},
        version::Version,
    },
    store::{StoreRef, layout, overview::Overview, read, sessions::SessionFilter},
    wire::{NotificationFilter, PageRequest},
};

/// Returns the realms of this machine.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn realms(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    Ok(ctx.home.realms()?.into_iter().map(|known| known.name.to_string()).collect())
}

/// Returns the repositories of the realm.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn repos(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    stems(ctx, &StoreRef::Realm, layout::REPOS)
}

/// Returns the domains of the realm.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn domains(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    Ok(domain::names(&*ctx.realm()?.store)?.iter().map(ToString::to_string).collect())
}

/// Returns the contracts of a domain, including those without a release.
///
/// # Errors
/// Returns an error if the domain cannot be read.
pub fn contracts(ctx: &Ctx, domain: &DomainName) -> Result<Vec<String>, OpError> {
    let domain = StoreRef::Domain(domain.clone());
    let mut names = stems(ctx, &domain, layout::CONTRACTS)?;
    let is_name = |name: &String| name.parse::<ContractName>().is_ok();
    names.extend(entries(ctx, &domain, layout::VERSIONS)?.into_iter().filter(is_name));
    names.sort_unstable();
    names.dedup();
    Ok(names)
}

/// Returns the contracts that the current repository owns, each with its domain.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the repository is not in it.
pub fn own_contracts(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    of_repo(ctx, |summary, repo| {
        let own = summary.contracts.keys().filter(|name| summary.owner(name) == Some(repo));
        own.cloned().collect()
    })
}

/// Returns the contracts that the current repository imports, each with its domain.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the repository is not in it.
pub fn imported_contracts(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    of_repo(ctx, |summary, repo| {
        let binding = summary.bindings.get(repo).into_iter();
        binding.flat_map(|binding| &binding.imports).map(|import| import.contract.clone()).collect()
    })
}

fn of_repo(
    ctx: &Ctx,
    contracts: impl Fn(&DomainSummary, &RepoName) -> Vec<ContractName>,
) -> Result<Vec<String>, OpError> {
    let acting = ctx.acting_repo()?;
    let overview = Overview::open(acting.store)?;
    let mut names = Vec::new();
    for line in overview.domains_of(acting.repo) {
        let found = contracts(&*overview.summary(line)?, acting.repo);
        names.extend(found.iter().map(|contract| format!("{}/{contract}", line.name)));
    }
    Ok(names)
}

/// Returns the published versions of a contract, newest first.
///
/// # Errors
/// Returns an error if the domain cannot be read.
pub fn versions(ctx: &Ctx, contract: &ContractRef) -> Result<Vec<String>, OpError> {
    let folder = layout::versions(&contract.contract);
    let entries = entries(ctx, &StoreRef::Domain(contract.domain.clone()), folder.as_str())?;
    let mut versions: Vec<Version> = entries.iter().filter_map(|entry| layout::stem(entry)).collect();
    versions.sort_unstable_by(|a, b| b.cmp(a));
    Ok(versions.iter().map(ToString::to_string).collect())
}

/// Returns the ids of the pending notifications.
///
/// # Errors
/// Returns an error if the realm cannot be read, or the repository is not in it.
pub fn notifications(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    let page = PageRequest { limit: Some(0), cursor: None };
    let request = Request { filter: NotificationFilter::Pending, page, ..Request::default() };
    Ok(notifications::list::run(ctx, &request)?.body.notifications.into_iter().map(|one| one.id).collect())
}

/// Returns the repository's open sessions.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn sessions(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    let acting = ctx.acting_repo()?;
    let (open, _) = session::all_sessions(acting.store, SessionFilter::Open)?;
    Ok(open.into_iter().filter(|session| session.repo == *acting.repo).map(|session| session.id.to_string()).collect())
}

/// Returns the RFCs of the realm's open sessions and of the worktrees on this machine.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn rfcs(ctx: &Ctx) -> Result<Vec<String>, OpError> {
    let (sessions, _) = session::all_sessions(&*ctx.realm()?.store, SessionFilter::Open)?;
    let mut rfcs: Vec<_> = sessions.iter().filter_map(|one| Some(one.active_rfc.as_ref()?.to_string())).collect();
    let root = worktree::rfc_worktrees::root(ctx, &ctx.realm()?.realm);
    let trees = worktree::rfc_worktrees::linked(&root);
    rfcs.extend(trees.iter().filter_map(|path| Some(worktree::rfc_worktrees::parse(&root, path)?.0.to_string())));
    rfcs.sort_unstable();
    rfcs.dedup();
    Ok(rfcs)
}

/// Returns the names of the files in a folder without their extension; files with invalid names are skipped.
fn stems(ctx: &Ctx, name: &StoreRef, folder: &str) -> Result<Vec<String>, OpError> {
    let stem = |entry: &String| layout::stem::<ContractName>(entry).map(|name| name.to_string());
    Ok(entries(ctx, name, folder)?.iter().filter_map(stem).collect())
}

fn entries(ctx: &Ctx, name: &StoreRef, folder: &str) -> Result<Vec<String>, OpError> {
    let store = &*ctx.realm()?.store;
    let Some(tree) = read::tip_tree(store, name)? else { return Ok(Vec::new()) };
    Ok(read::folder(store, &tree, folder)?.into_iter().map(|entry| entry.name).collect())
}
