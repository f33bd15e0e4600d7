//! What the post-commit hook does: publish, if there is anything to publish and the user wants it
//! so. Most commits end at the first comparison.

use std::collections::BTreeSet;

use super::{
    blue_files::{BINDINGS, CONTRACTS, FOLDER},
    contract_publish::{self, Request},
    ctx::{Acting, Ctx},
};
use crate::{
    error::OpError,
    model::{name::DomainName, oid::Oid},
    store::{StoreRef, git::code::CodeRepo, layout, overview::Overview, read},
    wire::{Answer, ContractPublish},
};

/// When commits are published by themselves: `blue.publish`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Policy {
    /// Every commit of the publishing branch.
    Commit,
    /// Those that origin has.
    Pushed,
    /// None: CI does, or nobody.
    Never,
}

/// Publishes HEAD, or finds that there is nothing to do.
///
/// # Errors
/// Why it was not published.
pub fn run(ctx: &Ctx) -> Result<Option<Answer<ContractPublish>>, OpError> {
    let (Some(code), Ok(acting)) = (&ctx.code, ctx.acting()) else {
        return Ok(None);
    };
    let policy = policy(code)?;
    let head = code.head()?;
    let (Some(branch), Some(commit)) = (head.branch, head.commit) else {
        return Ok(None);
    };
    if policy == Policy::Never || !is_news(code, acting, &commit)? || !is_joined(acting)? {
        return Ok(None);
    }
    if code.publishing_branch()?.as_deref() != Some(branch.as_str()) {
        return Ok(None);
    }
    if policy == Policy::Pushed {
        let upstream = code.reference(&format!("refs/remotes/origin/{branch}"))?;
        if !upstream.map(|tip| code.is_ancestor(&commit, &tip)).transpose()?.unwrap_or_default() {
            return Ok(None);
        }
    }
    contract_publish::publish(ctx, acting, code, &commit, &branch, &Request::default()).map(Some)
}

/// Returns whether the repository is in its realm: one that left may keep its files, which say
/// nothing to anybody then.
///
/// # Errors
/// Where the realm cannot be read.
pub fn is_joined(acting: Acting<'_>) -> Result<bool, OpError> {
    let Some(tip) = acting.store.tip(&StoreRef::Realm)? else {
        return Ok(false);
    };
    let tree = acting.store.commit(&tip)?.tree;
    Ok(read::lookup(acting.store, &tree, layout::repo(acting.repo).as_str())?.is_some())
}

fn policy(code: &CodeRepo) -> Result<Policy, OpError> {
    match code.config("blue.publish").as_deref() {
        None | Some("commit") => Ok(Policy::Commit),
        Some("pushed") => Ok(Policy::Pushed),
        Some("ci" | "off") => Ok(Policy::Never),
        Some(other) => Err(OpError::usage(format!("blue.publish is {other:?}; it is commit, pushed, ci or off"))),
    }
}

/// Whether the commit says anything of a domain that the last published commit of that domain did
/// not say.
fn is_news(code: &CodeRepo, acting: Acting<'_>, commit: &Oid) -> Result<bool, OpError> {
    let tree = code.tree_of(commit)?;
    let said = |tree: &Oid, domain: &DomainName| -> Result<[Option<Oid>; 2], OpError> {
        let entry = |path: String| Ok::<_, OpError>(read::lookup(code, tree, &path)?.map(|entry| entry.id));
        Ok([entry(format!("{CONTRACTS}/{domain}"))?, entry(format!("{BINDINGS}/{domain}.yaml"))?])
    };
    let contracts = read::folder(code, &tree, CONTRACTS)?.into_iter().map(|entry| entry.name);
    let bindings = read::folder(code, &tree, BINDINGS)?.into_iter();
    let bindings = bindings.map(|entry| entry.name.strip_suffix(".yaml").unwrap_or(&entry.name).to_owned());
    let mut named: BTreeSet<String> = contracts.chain(bindings).collect();
    if named.is_empty() && read::lookup(code, &tree, FOLDER)?.is_none() {
        return Ok(false);
    }
    for (domain, source) in contract_publish::sources(acting, Overview::if_kept(acting.store)?.as_ref())? {
        named.remove(domain.as_str());
        if !code.has(&source.commit) || said(&code.tree_of(&source.commit)?, &domain)? != said(&tree, &domain)? {
            return Ok(true);
        }
    }
    Ok(!named.is_empty())
}
