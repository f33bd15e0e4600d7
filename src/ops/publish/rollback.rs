//! Recognizes that the last publication of a repository in a domain was a rollback to an older commit of the publishing
//! branch. The newer commit is still on the branch, so nothing may publish it again automatically.

use super::{
    branch_commit::differ_in,
    candidate::{self, Sources},
};
use crate::{
    error::OpError,
    model::{binding::Binding, contract::Contract, domain_view::DomainView, name::DomainName, oid::Oid},
    ops::{
        contract::publish,
        ctx::ActingRepo,
        domain::{self, Part},
        message,
        progress::RequestProgress,
    },
    repo::{CodeRepo, blue_files::Files},
    store::StoreRef,
};

/// The maximum number of commits that are searched for the last publication.
const MAX_HISTORY: usize = 1_000;

/// A rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    /// The commit that was published before.
    pub from: Oid,
    /// The older commit that is published now.
    pub to: Oid,
    /// The commit of the domain before the rollback.
    before: Oid,
}

impl Rollback {
    /// Returns why a commit is not published after the rollback.
    pub fn reason_to_hold(&self) -> String {
        format!("it has what was rolled back to {}", self.to.short())
    }
}

/// Returns the rollback past `commit` in a domain, if `published`, which the repository published there last, is one.
/// Returns `None` if the commit has newer content.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn past(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    domain: &DomainName,
    published: Oid,
    commit: &Oid,
) -> Result<Option<Rollback>, OpError> {
    let Some(rollback) = last(acting, code, domain, published)? else { return Ok(None) };
    let from = rollback.from;
    let is_newer = if code.has(&from) {
        let trees = [&code.tree_of(&from)?, &code.tree_of(commit)?];
        !code.is_ancestor(commit, &from)? && differ_in(code, trees, domain.as_str())?
    } else {
        has_new_content(acting, code, domain, &rollback.before, commit)?
    };
    Ok((!is_newer).then_some(rollback))
}

/// Returns whether a commit has content in a domain that the realm did not have `before` a rollback, nor has now. This
/// decides if the commit that was rolled back is not in this clone: it may have been dropped before it was pushed.
fn has_new_content(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    name: &DomainName,
    before: &Oid,
    commit: &Oid,
) -> Result<bool, OpError> {
    let declared = candidate::read(code, &Files::at(code, commit)?, &Sources::new(), &RequestProgress::default())?;
    if !declared.problems.is_empty() {
        // Publishing reports them.
        return Ok(true);
    }
    let contracts = || declared.contracts_in(name).map(|(_, contract)| &contract.document);
    let wanted: Vec<_> = contracts().map(|contract| (contract.name.clone(), contract.version.clone())).collect();
    let part = Part { published: &wanted, ..Part::default() };
    let before = domain::load(acting.store, name, before, &part)?;
    let is_published = |contract: &Contract| {
        let published = before.document(&contract.name, &contract.version);
        published.is_some_and(|published| published.computed_content_hash() == contract.computed_content_hash())
    };
    if !contracts().all(is_published) {
        return Ok(true);
    }
    let binding = |view: &DomainView| view.bindings.get(acting.repo).map(Binding::as_written);
    let ours = declared.bindings.get(name).map(|binding| binding.document.as_written());
    Ok(ours != binding(&before) && ours != binding(&domain::get(acting.store, name)?))
}

/// Returns the rollback by which `published` became the last published commit of the repository in a domain, if it was
/// one. This follows from the history of the domain, which every machine of the realm has.
fn last(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    domain: &DomainName,
    published: Oid,
) -> Result<Option<Rollback>, OpError> {
    let Some(mut tip) = acting.store.tip(&StoreRef::Domain(domain.clone()))? else { return Ok(None) };
    for _ in 0..MAX_HISTORY {
        let info = acting.store.commit(&tip)?;
        let source = |parent: &Oid| Ok::<_, OpError>(publish::source(acting, domain, parent)?.map(|one| one.commit));
        let before = info.parents.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        if let Some(same) = before.iter().position(|one| *one == Some(published)) {
            tip = info.parents[same];
            continue;
        }
        // Only a rollback has a reason. A branch that was reset to an older commit is published without one.
        let [Some(from)] = before[..] else { return Ok(None) };
        if message::reason(&info.message).is_none() || (code.has(&from) && !code.is_ancestor(&published, &from)?) {
            return Ok(None);
        }
        return Ok(Some(Rollback { from, to: published, before: info.parents[0] }));
    }
    Ok(None)
}
