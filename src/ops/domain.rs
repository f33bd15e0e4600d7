//! Reads and changes domains, and changes the realm's own documents, for operations.

use std::collections::BTreeSet;

use crate::{
    error::{ErrorCode, OpError, REPAIR},
    model::{
        binding::{Binding, Import},
        candidate::contract_path,
        change::{self, DomainChange},
        contract::Contract,
        domain_view::DomainView,
        name::{ContractName, ContractRef, DomainName, RepoName},
        nearest,
        oid::Oid,
        publish::Decision,
        version::Version,
    },
    ops::{
        contract::verdict::{self, Upcoming},
        ctx::Ctx,
        inboxes::arrival,
        message::Message,
        publish::former,
        session::current,
    },
    store::{
        Change, Edit, Parents, Signature, Store, StoreError, StoreRef, TreePath, codec, layout, overview::Overview,
        read, write::write,
    },
};

/// Returns the domain with the given name.
///
/// # Errors
/// Returns an error if the realm has no such domain, or it cannot be read.
pub fn get(store: &dyn Store, name: &DomainName) -> Result<DomainView, OpError> {
    read::domain(store, name)?.ok_or_else(|| unknown(store, name))
}

/// Returns the error for a domain that the realm does not have. If the name resembles an existing one, the error has no
/// next steps, so that callers do not offer to create the domain.
pub fn unknown(store: &dyn Store, name: &DomainName) -> OpError {
    let known = names(store).unwrap_or_default();
    let meant = nearest::nearest(name, &known);
    let error = OpError::no(
        ErrorCode::UnknownDomain,
        format!("the realm has no domain {name}{}", nearest::did_you_mean(name, &known)),
    );
    error.next_if(meant.is_none(), "git blue realm topology  # list the domains and their contracts")
}

/// Returns the names of the domains that can be read and were not removed.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn names(store: &dyn Store) -> Result<Vec<DomainName>, StoreError> {
    Ok(Overview::open(store)?.domains().iter().map(|line| line.name.clone()).collect())
}

/// Returns the tip of a domain.
///
/// # Errors
/// Returns an error if the realm has no such domain, or it cannot be read.
pub fn tip(store: &dyn Store, name: &DomainName) -> Result<Oid, OpError> {
    store.domain_tip(name)?.ok_or_else(|| unknown(store, name))
}

/// Returns the part of a domain that concerns one contract, at the domain's tip.
///
/// # Errors
/// Returns an error if the realm has no such domain, or it cannot be read.
pub fn of_contract(store: &dyn Store, at: &ContractRef) -> Result<DomainView, OpError> {
    Ok(read::contracts_at(store, &at.domain, &tip(store, &at.domain)?, &[at.contract.clone()].into())?)
}

/// Returns a contract's current document, and reads nothing else. The error for an unknown name suggests a similar
/// one.
///
/// # Errors
/// Returns an error if there is no such contract, or it cannot be read.
pub fn contract(store: &dyn Store, at: &ContractRef) -> Result<Contract, OpError> {
    let view = read::OneContract::at(store, &at.domain, tip(store, &at.domain)?, &at.contract)?.view()?;
    current(&view, &at.contract).cloned().map_err(|error| with_similar_name(store, at, error))
}

/// Adds the contract with a similar name to the error for an unknown contract.
pub fn with_similar_name(store: &dyn Store, at: &ContractRef, error: OpError) -> OpError {
    if error.code != ErrorCode::UnknownContract {
        return error;
    }
    let names = || {
        let tree = store.commit(&tip(store, &at.domain)?)?.tree;
        let entries = read::folder(store, &tree, layout::CONTRACTS)?;
        let names = entries.iter().filter_map(|entry| entry.name.strip_suffix(".json")?.parse().ok());
        Ok::<Vec<ContractName>, OpError>(names.collect())
    };
    let Ok(names) = names() else { return error };
    if names.is_empty() {
        let message = format!("{}: the domain {} has no contracts", error.message, at.domain);
        return OpError { message, next_steps: Vec::new(), ..error }
            .next("git blue realm topology  # list the domains and their contracts");
    }
    let Some(meant) = nearest::nearest(&at.contract, &names) else { return error };
    let question = nearest::did_you_mean(&at.contract, &names);
    OpError { message: format!("{}{question}", error.message), next_steps: Vec::new(), ..error }
        .next(format!("git blue contract get {}/{meant}  # show the contract with the nearest name", at.domain))
}

/// Returns the error for a contract that a repository does not import.
pub fn not_imported(repo: &RepoName, at: &ContractRef) -> OpError {
    OpError::no(ErrorCode::NotImported, format!("{repo} does not import {at}")).next(format!("git blue import {at}"))
}

/// Returns the error for a version that a contract does not have.
pub fn never_published(at: &ContractRef, version: &Version, known: Vec<String>) -> OpError {
    OpError::no(ErrorCode::UnknownVersion, format!("{at} {version} was never published"))
        .next(format!("published versions: {}", known.join(", ")))
}

/// Returns the contract's current document.
///
/// # Errors
/// Returns an error if there is no such contract, or it cannot be read.
pub fn current<'a>(domain: &'a DomainView, name: &ContractName) -> Result<&'a Contract, OpError> {
    let at = || ContractRef { domain: domain.info.name.clone(), contract: name.clone() };
    match domain.contracts.get(name) {
        Some(contract) => Ok(contract),
        None if domain.is_damaged(name) => Err(unreadable(domain, name)),
        None => match domain.versions.get(name).and_then(|versions| versions.last()) {
            Some(version) => Err(OpError::no(ErrorCode::OnlyPreReleases, format!("{} has no release yet", at()))
                .next(format!("git blue contract get {} --version {version}", at()))),
            None => Err(OpError::no(ErrorCode::UnknownContract, format!("there is no contract {}", at()))
                .next("git blue contract list  # list the contracts")),
        },
    }
}

/// Returns the error for a contract of which a document cannot be read.
pub fn unreadable(domain: &DomainView, name: &ContractName) -> OpError {
    let at = ContractRef { domain: domain.info.name.clone(), contract: name.clone() };
    let damage = domain.damage.iter().find(|damage| damage.subject.is_contract(name));
    let problem = damage.map(|damage| format!(": {}: {}", damage.file, damage.problem)).unwrap_or_default();
    OpError::cannot(ErrorCode::Damaged, format!("{at} cannot be read{problem}")).next(REPAIR)
}

/// Returns the current document of a contract that its owner withdraws or gives away, which needs a release.
///
/// # Errors
/// Returns an error in the cases of [`current()`].
pub fn released<'a>(domain: &'a DomainView, name: &ContractName) -> Result<&'a Contract, OpError> {
    current(domain, name).map_err(|error| {
        let newest = domain.versions.get(name).and_then(|versions| versions.last());
        let Some(newest) = newest.filter(|_| error.code == ErrorCode::OnlyPreReleases) else { return error };
        let at = &domain.info.name;
        let message =
            format!("{at}/{name} has only pre-releases; it can be retired, yanked or transferred once released");
        let file = contract_path(at, name);
        OpError::no(ErrorCode::OnlyPreReleases, message)
            .next(format!("write version: \"{}\" in {file}, and commit, to release it", newest.release()))
            .next(format!(
                "or remove {file}, and commit: its pre-releases stay published, but nothing resolves to them"
            ))
    })
}

/// The part of a domain to read.
#[derive(Debug, Clone, Default)]
pub struct Part<'a> {
    /// The contracts to read; `None` for all.
    pub contracts: Option<&'a BTreeSet<ContractName>>,
    /// Published documents to read as well.
    pub published: &'a [(ContractName, Version)],
    /// The contracts for which to read the versions that decide the state of their imports.
    pub bases: Option<&'a BTreeSet<ContractName>>,
    /// The files that are about to be applied, for `bases`.
    pub upcoming: Upcoming<'a>,
    /// A binding that is about to be published, with its repository. Its new imports may have existed before.
    pub returning: Option<(&'a RepoName, &'a Binding)>,
}

/// Applies the decision of `decide` to a domain, in one commit, and returns the decision. `part` is the part of the
/// domain that `decide` receives. If `message` has no subject, it is derived from the events.
///
/// # Errors
/// Returns the error of `decide`, or an error if the store cannot be written.
pub fn change(
    ctx: &Ctx,
    store: &dyn Store,
    name: &DomainName,
    part: Part<'_>,
    message: Message<'_>,
    mut decide: impl FnMut(&DomainView) -> Result<Decision, OpError>,
) -> Result<Decision, OpError> {
    apply(ctx, store, name, (part, message), None, Decider { confirm: &|| Ok(()), decide: &mut decide })
}

/// The decision about a domain, made while nobody else can change it.
pub struct Decider<'a> {
    /// Refuses any change.
    pub confirm: &'a dyn Fn() -> Result<(), OpError>,
    /// Decides on the changes of the domain, as it is now.
    pub decide: &'a mut dyn FnMut(&DomainView) -> Result<Decision, OpError>,
}

/// Applies a decision that was made for a domain at a commit, in one commit, if the decider confirms it. If the domain has
/// changed since, the decision is made again.
///
/// # Errors
/// Returns the error of the decider, or an error if the store cannot be written.
pub fn execute(
    ctx: &Ctx,
    store: &dyn Store,
    name: &DomainName,
    what: (Part<'_>, Message<'_>),
    decided: (Oid, Decision),
    decider: Decider<'_>,
) -> Result<Decision, OpError> {
    apply(ctx, store, name, what, Some(decided), decider)
}

/// Implements [`change()`] and [`execute`]. Compiled once instead of for each caller.
fn apply(
    ctx: &Ctx,
    store: &dyn Store,
    name: &DomainName,
    (part, message): (Part<'_>, Message<'_>),
    mut already: Option<(Oid, Decision)>,
    decider: Decider<'_>,
) -> Result<Decision, OpError> {
    let author = ctx.signature()?;
    let time = author.time.timestamp();
    let mut decided = Decision::default();
    let mut before = None;
    let written = write(store, &StoreRef::Domain(name.clone()), |tip| {
        let tip = tip.ok_or_else(|| unknown(store, name))?;
        (decider.confirm)()?;
        before = Some(tip);
        decided = match already.take().filter(|(at, _)| *at == tip) {
            Some((_, decision)) => decision,
            None => (decider.decide)(&load(store, name, &tip, &part)?)?,
        };
        if decided.changes.is_empty() {
            return Ok(None);
        }
        let subject = Some(message.subject.clone()).filter(|subject| !subject.is_empty());
        let subject = subject.unwrap_or_else(|| change::subject(&decided.events));
        let message = Message { subject, session: current::active(ctx), ..message.clone() };
        let change = commit(&decided.changes, message.text(), author.clone());
        let other = message.changed_by.and_then(|one| Signature::parse(&one.author, &author.time));
        Ok::<_, OpError>(Some(match other {
            Some(other) => Change { author: other, committer: Some(author.clone()), ..change },
            None => change,
        }))
    })?;
    if let Some(after) = written {
        arrival::record_local_change(store, name, (before, after), time);
    }
    Ok(decided)
}

/// Applies the edits that `decide` returns to the realm's own documents, in one commit. Returns whether there were any.
///
/// # Errors
/// Returns the error of `decide`, or an error if the store cannot be written.
pub fn change_realm<'m>(
    ctx: &Ctx,
    store: &dyn Store,
    mut decide: impl FnMut() -> Result<Option<(Vec<(TreePath, Edit)>, Message<'m>)>, OpError>,
) -> Result<bool, OpError> {
    let author = ctx.signature()?;
    let written = write(store, &StoreRef::Realm, |_| {
        let Some((edits, message)) = decide()? else { return Ok(None) };
        let (message, author) = (message.text(), author.clone());
        Ok::<_, OpError>(Some(Change { edits, message, author, committer: None, parents: Parents::Tip }))
    })?;
    Ok(written.is_some())
}

/// Returns a part of a domain as it was at `tip`.
///
/// # Errors
/// Returns an error if the domain cannot be read.
pub fn load(store: &dyn Store, name: &DomainName, tip: &Oid, part: &Part<'_>) -> Result<DomainView, OpError> {
    let mut view = match part.contracts {
        Some(only) => read::contracts_at(store, name, tip, only)?,
        None => read::domain_at(store, name, tip)?,
    };
    let tree = store.commit(tip)?.tree;
    read::load_versions(store, &mut view, &tree, part.published)?;
    if let Some(returning) = part.returning {
        view.former_imports.insert(returning.0.clone(), former_imports(store, tip, &view, returning)?);
    }
    if let Some(only) = part.bases {
        verdict::load_bases(store, &mut view, &tree, Some(only), &part.upcoming)?;
    }
    Ok(view)
}

/// Returns the imports that a repository had before those that its binding adds, or whose range it changes.
///
/// # Errors
/// Returns an error if the history of the domain cannot be read.
pub fn former_imports(
    store: &dyn Store,
    tip: &Oid,
    view: &DomainView,
    (repo, binding): (&RepoName, &Binding),
) -> Result<Vec<Import>, StoreError> {
    let held = view.bindings.get(repo).map(Binding::by_contract).unwrap_or_default();
    let is_same = |import: &Import| {
        held.get(&import.contract).is_some_and(|held| held.version.has_same_versions(&import.version))
    };
    let changed = binding.imports.iter().filter(|import| !is_same(import));
    let wanted = changed.map(|import| (&import.contract, import)).collect();
    former::imports(store, (&view.info.name, tip), repo, wanted)
}

/// Returns the commit that applies `changes`.
pub fn commit(changes: &[DomainChange], message: String, author: Signature) -> Change {
    Change { edits: changes.iter().map(codec::edit).collect(), message, author, committer: None, parents: Parents::Tip }
}
