//! Recognizes that the last publication of a repository in a domain went back to an older commit of the publishing
//! branch: by a rollback, or because another clone dropped commits from the branch. This clone's branch still has the
//! newer commit, and nothing may publish it again automatically.

use super::{branch_commit::differ_in, candidate, dispute};
use crate::{
    error::OpError,
    locate::renamed,
    model::{
        binding::Binding,
        contract::Contract,
        domain_view::DomainView,
        name::{DomainName, RepoName},
        oid::Oid,
    },
    ops::{
        ctx::ActingRepo,
        domain::{self, Part},
        message,
    },
    repo::CodeRepo,
};

/// The maximum number of commits that are searched for the last publication.
const MAX_HISTORY: usize = 1_000;

/// The maximum number of former tips of a branch that are searched for the commits of a rollback.
const MAX_FORMER_TIPS: usize = 1_000;

/// How the older commit was published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cause {
    /// A person asked for a rollback, and gave a reason.
    Requested,
    /// Another clone dropped the newer commit from the branch.
    Dropped,
}

/// A rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    /// The commit that was published before.
    pub from: Oid,
    /// The older commit that is published now.
    pub to: Oid,
    /// How that happened.
    pub cause: Cause,
    /// The commit of the domain before the rollback.
    before: Oid,
}

impl Rollback {
    /// Returns why a commit is not published after the rollback.
    pub fn reason_to_hold(&self) -> String {
        match self.cause {
            Cause::Requested => format!("it has what was rolled back to {}", self.to.short()),
            Cause::Dropped => "it has what another clone dropped from the branch".to_owned(),
        }
    }
}

/// Returns the rollback that undid `commit` in a domain, if there was one: `published`, the last commit that the
/// repository published there, was published by a rollback. Returns `None` if `commit` has newer content, or contains
/// nothing that was rolled back.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn past(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    domain: &DomainName,
    published: Oid,
    (commit, branch): (&Oid, &str),
) -> Result<Option<Rollback>, OpError> {
    let names = renamed::names(acting.store, acting.repo)?;
    let Some(rollback) = last((acting, &names), code, domain, published)? else { return Ok(None) };
    if rollback.cause == Cause::Dropped && went_back(code, branch, &rollback)? {
        return Ok(None);
    }
    let is_held = adds_nothing(code, domain, &rollback.from, commit)?
        || has_only_what_was_rolled_back((acting, &names), code, domain, &rollback.before, commit)?;
    Ok(is_held.then_some(rollback))
}

/// Returns whether a commit is older than the one that was rolled back, or has the same files of a domain.
fn adds_nothing(code: &CodeRepo, domain: &DomainName, from: &Oid, commit: &Oid) -> Result<bool, OpError> {
    if !code.has(from) {
        return Ok(false);
    }
    let differs = || differ_in(code, [&code.tree_of(from)?, &code.tree_of(commit)?], domain.as_str());
    Ok(code.is_ancestor(commit, from)? || !differs()?)
}

/// Returns whether a commit contains something of a domain that was rolled back, and nothing that the realm did not
/// have `before` the rollback. Only content counts: another comment, or another name of a renamed repository, is not
/// new content. The commit that was rolled back need not be in this clone: it may have been dropped before it was
/// pushed.
fn has_only_what_was_rolled_back(
    (acting, names): (ActingRepo<'_>, &[RepoName]),
    code: &CodeRepo,
    name: &DomainName,
    before: &Oid,
    commit: &Oid,
) -> Result<bool, OpError> {
    let declared = candidate::at(code, commit)?;
    if !declared.problems.is_empty() {
        // Files with problems are reported when the commit is published.
        return Ok(false);
    }
    let contracts = || declared.contracts_in(name).map(|(_, contract)| &contract.document);
    let wanted: Vec<_> = contracts().map(|contract| (contract.name.clone(), contract.version.clone())).collect();
    let part = Part { published: &wanted, ..Part::default() };
    let (before, now) = (domain::load(acting.store, name, before, &part)?, domain::get(acting.store, name)?);
    let (was, is) = (binding_of(&before, names), binding_of(&now, names));
    let ours = declared.bindings.get(name).map(|binding| binding.document.as_written());
    if (ours != was && ours != is) || !contracts().all(|contract| had(&before, contract)) {
        return Ok(false);
    }
    Ok(ours != is || contracts().any(|contract| !is_current(&now, contract)))
}

/// Returns the binding of a repository, under the first of its names that has one.
fn binding_of(view: &DomainView, names: &[RepoName]) -> Option<Binding> {
    names.iter().find_map(|name| view.bindings.get(name)).map(Binding::as_written)
}

/// Returns whether a domain had a contract with the same version and content. With `version: auto`, only the content of
/// the current version is compared.
fn had(view: &DomainView, contract: &Contract) -> bool {
    let published = view.document(&contract.name, &contract.version);
    is_current(view, contract) || published.is_some_and(|published| published.has_same_content(contract))
}

/// Returns whether a contract is the current one of a domain.
fn is_current(view: &DomainView, contract: &Contract) -> bool {
    view.contracts.get(&contract.name).is_some_and(|current| {
        (contract.version.is_auto() || contract.version == current.version) && current.has_same_content(contract)
    })
}

/// Returns the rollback by which `published` became the last published commit of the repository in a domain, if it was
/// one. This follows from the history of the domain, which every machine of the realm has.
fn last(
    (acting, names): (ActingRepo<'_>, &[RepoName]),
    code: &CodeRepo,
    domain: &DomainName,
    published: Oid,
) -> Result<Option<Rollback>, OpError> {
    let Some(mut tip) = acting.store.domain_tip(domain)? else { return Ok(None) };
    for _ in 0..MAX_HISTORY {
        let info = acting.store.commit(&tip)?;
        let source =
            |parent: &Oid| Ok::<_, OpError>(dispute::source(acting, names, domain, parent)?.and_then(|one| one.commit));
        let before = info.parents.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        if let Some(same) = before.iter().position(|one| *one == Some(published)) {
            tip = info.parents[same];
            continue;
        }
        let [Some(from)] = before[..] else { return Ok(None) };
        // Only a rollback has a reason. A branch that was reset to an older commit is published without one.
        let is_requested = message::reason(&info.message).is_some();
        let cause = if is_requested { Cause::Requested } else { Cause::Dropped };
        let is_older = if code.has(&from) { code.is_ancestor(&published, &from)? } else { is_requested };
        return Ok(is_older.then_some(Rollback { from, to: published, cause, before: info.parents[0] }));
    }
    Ok(None)
}

/// Returns whether the branch itself went back in this clone: it was at the newer commit before it was at the older one. What
/// it got after that is meant to be published.
fn went_back(code: &CodeRepo, branch: &str, rollback: &Rollback) -> Result<bool, OpError> {
    let tips = code.previous_tips(branch, MAX_FORMER_TIPS)?;
    let last = |wanted: Oid| tips.iter().position(|tip| *tip == wanted);
    Ok(last(rollback.to).zip(last(rollback.from)).is_some_and(|(to, from)| to < from))
}
