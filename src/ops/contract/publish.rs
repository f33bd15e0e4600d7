//! `contract_publish`: publishes the contracts and bindings in a commit of this repository to the realm.
//!
//! Every decision is made twice: first for all domains together, so that a refusal stops the whole
//! commit, and again under the lock of each domain.

mod refused;
mod restored;

use std::collections::BTreeSet;

use refused::{NOTHING, refused, unreadable};
use restored::restored;

use super::verdict::Upcoming;
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        binding::Binding,
        candidate::{Candidate, Judged},
        change::DomainChange,
        domain::Source,
        domain_view::{DomainView, Subject},
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        publish::{self, Decision, Direction, Refusal},
        verdict::Judge,
        version::Version,
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        domain::{self, Part},
        message::Message,
        publish::{
            behind,
            candidate::{self, Sources},
            changed_by::{self, ChangedBy},
            cycles, publish_log, published, publishing_branch,
            removal::Removal,
        },
        sync::auto,
    },
    repo::{CodeRepo, blue_files::Files},
    store::{
        Store, StoreRef, layout,
        overview::{Line, Overview},
        read, unless_damaged,
    },
    wire::{Answer, ContractPublish, Published},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<ContractPublish>(
    "contract_publish",
    &["contract", "publish"],
    "Publish the contracts and bindings of a commit",
);

/// The arguments.
#[derive(Debug, Clone, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// Publish this commit instead of HEAD
    #[cfg_attr(feature = "cli", arg(long, value_name = "COMMIT"))]
    pub commit: Option<String>,
    /// Show what would be published, without publishing it
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
    /// The reason for a rollback; if given, versions may go down.
    #[cfg_attr(feature = "cli", arg(skip))]
    pub rollback: Option<String>,
}

/// Publishes a commit.
///
/// # Errors
/// Returns an error with all refusals, in which case nothing was published.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    let acting = if request.dry_run { ctx.acting_repo()? } else { ctx.require_writable()? };
    publish_as(ctx, acting, request)
}

/// Publishes a commit for a repository that was already checked to be allowed to write.
///
/// # Errors
/// Returns an error with all refusals, in which case nothing was published.
pub fn publish_as(ctx: &Ctx, acting: ActingRepo<'_>, request: &Request) -> Result<Answer<ContractPublish>, OpError> {
    let (code, commit) = (ctx.code()?, wanted_commit(ctx, request)?);
    let branch = require_publishing_branch(ctx, acting, code, &commit)?;
    let overview = Overview::if_cached(acting.store)?;
    let published = publish(ctx, acting, code, (&commit, &branch), &sources(acting, overview.as_ref())?, request);
    if let (Err(error), false) = (&published, request.dry_run)
        && code.reference(&format!("refs/heads/{branch}"))? == Some(commit)
    {
        publish_log::record_failure(ctx, acting, commit, error);
    }
    published
}

/// Returns the commit to publish.
///
/// # Errors
/// Returns an error if there is no such commit.
pub fn wanted_commit(ctx: &Ctx, request: &Request) -> Result<Oid, OpError> {
    let code = ctx.code()?;
    match &request.commit {
        Some(revision) => code.resolve(revision),
        None => {
            code.head()?.commit.ok_or_else(|| OpError::no(ErrorCode::NoCommit, "there is no commit yet to publish"))
        }
    }
}

/// Publishes a commit that is known to be on the publishing branch. `sources` has the last published commit of at least
/// the domains that this commit mentions.
///
/// # Errors
/// Returns an error with all refusals, in which case nothing was published.
pub fn publish(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    (commit, branch): (&Oid, &str),
    sources: &Sources,
    request: &Request,
) -> Result<Answer<ContractPublish>, OpError> {
    let candidate = candidate::read(code, &Files::at(code, commit)?, sources, &ctx.progress())?;
    if !candidate.problems.is_empty() {
        return Err(unreadable(&candidate));
    }
    let (candidate, direction) = match request.rollback {
        Some(_) => (restored(acting.store, candidate)?, Direction::Rollback),
        None => (candidate, Direction::Forward),
    };
    let judge = &ctx.judge();
    let work = Work { ctx, acting, code, commit, branch, candidate: &candidate, direction, judge };

    let mut names = candidate.domains();
    names.extend(sources.keys());
    let mut decided = Vec::new();
    let mut refusals = Vec::new();
    let mut gone = Vec::new();
    let mut newer = Vec::new();
    for name in names {
        let (tip, view) = work.load(name)?;
        let lineage = work.require_successor(&view)?;
        newer.extend(work.newer(&view)?);
        gone.extend(work.missing_files(&view));
        match work.decide(&view, lineage) {
            Ok(decision) => decided.push((name, DecisionEffects::of(&view, &decision, judge), (tip, decision))),
            Err(mut more) => refusals.append(&mut more),
        }
    }
    if !refusals.is_empty() {
        return Err(refused(code, commit, &candidate, refusals, NOTHING));
    }
    let cycles = work.cycles()?;
    let mut published = Vec::new();
    for (name, mut effects, decision) in decided {
        if !request.dry_run && effects.is_change {
            work.carry_out(name, request.rollback.as_deref(), decision, &mut effects)?;
        }
        published.extend(effects.published);
    }
    let not_pushed = !request.dry_run && !published.is_empty() && auto::is_by_hand(ctx, acting.realm, acting.store)?;
    let mut answer = answer(acting, commit, request, published, cycles, gone);
    answer.body.not_pushed = not_pushed;
    if !request.dry_run && !answer.body.published.is_empty() {
        answer.next_steps.extend(behind::revert(code, branch, &newer, commit)?);
    }
    Ok(answer)
}

/// The consequences of a decision, computed while the domain that it was made for is still loaded.
#[derive(Default)]
struct DecisionEffects {
    /// Whether anything will be written.
    is_change: bool,
    published: Vec<Published>,
}

impl DecisionEffects {
    fn of(view: &DomainView, decision: &Decision, judge: &Judge<'_>) -> Self {
        let after = publish::overlay(view, &decision.changes);
        let published = decision.events.iter().map(|event| published::describe((view, &after), event, judge)).collect();
        Self { is_change: !decision.changes.is_empty(), published }
    }
}

/// A contract that the realm still offers, but whose file is not in the commit.
struct MissingFile {
    domain: DomainName,
    contract: ContractName,
    path: String,
}

/// Returns the last published commit of the repository in each domain.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn sources(acting: ActingRepo<'_>, overview: Option<&Overview<'_>>) -> Result<Sources, OpError> {
    if let Some(overview) = overview {
        let source = |line: &Line| Some((line.name.clone(), line.sources.get(acting.repo)?.clone()));
        return Ok(overview.domains_of(acting.repo).filter_map(source).collect());
    }
    let mut sources = Sources::new();
    for (name, tip) in acting.store.domains()? {
        sources.extend(source(acting, &name, &tip)?.map(|source| (name, source)));
    }
    Ok(sources)
}

/// Returns the last published commit of the repository in one domain, at `tip`.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn source(acting: ActingRepo<'_>, name: &DomainName, tip: &Oid) -> Result<Option<Source>, OpError> {
    let within = StoreRef::Domain(name.clone());
    let read = acting
        .store
        .commit(tip)
        .and_then(|commit| read::file(acting.store, &within, &commit.tree, &layout::source(acting.repo)));
    // The caller decides whether damage prevents a publication.
    Ok(unless_damaged(read)?)
}

/// The variable that names the default branch on GitLab runners, whose clones have no branch and no `origin/HEAD`.
const DEFAULT_BRANCH: &str = "CI_DEFAULT_BRANCH";

/// Returns the publishing branch if `commit` is on it, in this clone or at origin.
fn require_publishing_branch(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    commit: &Oid,
) -> Result<String, OpError> {
    let of_runner = || ctx.env.text(DEFAULT_BRANCH).filter(|name| !name.is_empty()).map(str::to_owned);
    let Some(branch) = code.publishing_branch()?.or_else(of_runner) else {
        let error = OpError::no(ErrorCode::NoPublishingBranch, "cannot tell which branch is published");
        return Err(error.next_all(publishing_branch::steps(code)?));
    };
    for tip in code.branch_tips(&branch) {
        let (_, tip) = tip?;
        if code.is_ancestor(commit, &tip)? {
            return Ok(branch);
        }
    }
    let message = format!("{} is not on the publishing branch {branch}; nothing was published", commit.short());
    let error = OpError::no(ErrorCode::NotPublishingBranch, message)
        .next(format!("git blue check  # preview it; merging it into {branch} publishes it"));
    // A branch that lacks what was published could publish nothing.
    for source in sources(acting, None)?.into_values() {
        if !code.is_ancestor(&source.commit, commit)? {
            return Err(error);
        }
    }
    Err(error.next_all(publishing_branch::checked_out(code)?))
}

/// The relation of a commit to the previously published one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lineage {
    /// A descendant of the published commit, or the first published commit.
    Grew,
    /// A replacement for the published commit: the branch was amended, rebased or reset.
    Replaced,
}

/// The publication of one commit.
struct Work<'a> {
    ctx: &'a Ctx,
    acting: ActingRepo<'a>,
    code: &'a CodeRepo,
    commit: &'a Oid,
    branch: &'a str,
    candidate: &'a Candidate,
    direction: Direction,
    judge: &'a Judge<'a>,
}

impl Work<'_> {
    fn store(&self) -> &dyn Store {
        self.acting.store
    }

    fn wanted(&self, name: &DomainName) -> Vec<(ContractName, Version)> {
        let contracts = self.candidate.contracts_in(name);
        contracts.map(|(contract, declared)| (contract.clone(), declared.document.version.clone())).collect()
    }

    /// Returns the contracts that the rules need: those that the commit declares, and those that it imports.
    fn contracts(&self, name: &DomainName) -> BTreeSet<ContractName> {
        let declared = self.candidate.contracts_in(name).map(|(contract, _)| contract.clone());
        let binding = self.candidate.bindings.get(name).into_iter();
        let imported = binding.flat_map(|declared| &declared.document.imports).map(|import| import.contract.clone());
        let removed = self.candidate.removed_contracts.keys().filter(|(domain, _)| domain == name);
        declared.chain(imported).chain(removed.map(|(_, contract)| contract.clone())).collect()
    }

    /// Returns the contracts whose importers are checked: those that changed, and the imports of a changed binding.
    fn changed(&self, name: &DomainName) -> BTreeSet<ContractName> {
        let contracts = self.candidate.contracts_in(name).filter(|(_, declared)| declared.changed);
        let binding = self.candidate.bindings.get(name).filter(|declared| declared.changed).into_iter();
        let imported = binding.flat_map(|declared| &declared.document.imports).map(|import| import.contract.clone());
        contracts.map(|(contract, _)| contract.clone()).chain(imported).collect()
    }

    /// Returns the binding that may bring imports back, with its repository.
    fn returning(&self, name: &DomainName) -> Option<(&RepoName, &Binding)> {
        let declared = self.candidate.bindings.get(name).filter(|declared| declared.changed)?;
        Some((self.acting.repo, &declared.document))
    }

    /// Returns contracts of this repository whose files were removed since the last published commit, but that are not
    /// retired.
    fn missing_files(&self, view: &DomainView) -> Vec<MissingFile> {
        let domain = &view.info.name;
        let removed = self.candidate.removed_contracts.iter().filter(|((of, _), _)| of == domain);
        let served = removed.filter(|((_, contract), _)| {
            let held = view.contracts.get(contract);
            held.is_some_and(|held| held.owner == *self.acting.repo && held.retired.is_none())
        });
        let gone = served.map(|((_, contract), path)| MissingFile {
            domain: domain.clone(),
            contract: contract.clone(),
            path: path.clone(),
        });
        gone.collect()
    }

    /// Calls `read` with the part of a domain that this commit concerns.
    fn with_part<T>(&self, name: &DomainName, read: impl FnOnce(Part<'_>) -> T) -> T {
        read(Part {
            contracts: Some(&self.contracts(name)),
            published: &self.wanted(name),
            bases: Some(&self.changed(name)),
            upcoming: Upcoming::of([self.candidate], name),
            returning: self.returning(name),
        })
    }

    /// Reads the part of a domain that this commit concerns, and returns it with the domain's tip.
    fn load(&self, name: &DomainName) -> Result<(Oid, DomainView), OpError> {
        let tip = domain::tip(self.store(), name).map_err(|error| self.offer_to_create(name, error))?;
        let view = self.with_part(name, |part| domain::load(self.store(), name, &tip, &part))?;
        if !view.info.has_member(self.acting.repo)
            && self.candidate.domains().contains(name)
            && let Some(removal) = Removal::of(self.store(), name, self.acting.repo)?
        {
            return Err(removal.refusal(self.store(), self.code, name, self.acting.repo)?);
        }
        Ok((tip, view))
    }

    /// Suggests the command that creates the domain, if this commit has files for it and its name is not likely
    /// misspelled.
    fn offer_to_create(&self, name: &DomainName, error: OpError) -> OpError {
        if error.code != ErrorCode::UnknownDomain || error.next_steps.is_empty() {
            return error;
        }
        let create = format!("git blue realm admin domain --name {name} --repos {}  # create it", self.acting.repo);
        let steps = auto::before(self.store(), "created").into_iter().chain([create]);
        OpError { next_steps: steps.map(NextStep::from).collect(), ..error }
    }

    /// Refuses to publish from a stale clone: the last published commit must be an ancestor of the new one, or have
    /// been replaced in this clone. Whether it was dropped elsewhere, only the user knows, who then asks for a rollback.
    fn require_successor(&self, view: &DomainView) -> Result<Lineage, OpError> {
        let Some(source) = view.sources.get(self.acting.repo) else {
            return readable_source(view, self.acting.repo).map(|()| Lineage::Grew);
        };
        if self.code.is_ancestor(&source.commit, self.commit)? {
            return Ok(Lineage::Grew);
        }
        let tip = self.code.reference(&format!("refs/heads/{}", self.branch))?;
        // A published commit that is still on the branch was not replaced; the new commit is merely older.
        if tip.map(|tip| self.code.is_ancestor(&source.commit, &tip)).transpose()?.unwrap_or_default() {
            return self.require_rollback(view, source).map(|()| Lineage::Grew);
        }
        if self.code.replaced(self.branch, &source.commit)? || self.direction == Direction::Rollback {
            return Ok(Lineage::Replaced);
        }
        if self.code.has(&source.commit) && self.code.is_ancestor(self.commit, &source.commit)? {
            let (domain, published) = (&view.info.name, source.commit.short());
            let message =
                format!("{domain} was already published from {published}, which contains {}", self.commit.short());
            let pull = behind::pull(self.code, self.branch, &source.commit, "get the published commit")?;
            return Err(OpError::no(ErrorCode::OlderCommit, message).next(pull));
        }
        if self.code.is_shallow()? {
            let (domain, commit) = (&view.info.name, source.commit.short());
            let message = format!("{domain} was published from {commit}, which this shallow clone does not contain");
            let pull = behind::pull(self.code, self.branch, &source.commit, "if that commit is newer")?;
            let error = OpError::no(ErrorCode::Shallow, message).next(pull);
            return Err(error.next("git fetch --unshallow  # otherwise, then publish again"));
        }
        let message = format!(
            "{} was published from {}, which is not in the history of {}: fetch first, then merge it",
            view.info.name,
            source.commit.short(),
            self.commit.short()
        );
        let reason = match behind::absent(self.acting, self.code, &view.info.name, &source.commit)? {
            Some(absent) => format!("then publish again; if {absent} stays missing, it is not pushed yet"),
            None => "then publish again".to_owned(),
        };
        let replace = behind::replace(self.code, self.branch, (self.commit, &source.commit))?;
        // Merging what was removed from the history would bring it back.
        let pull = if replace.is_some() && self.code.origin_url().is_none() && self.code.has(&source.commit) {
            None
        } else {
            Some(behind::pull(self.code, self.branch, &source.commit, &reason)?)
        };
        Err(OpError::no(ErrorCode::FetchFirst, message)
            .next_all(pull)
            .next_all(replace)
            .next("git blue realm admin reclaim --reason \"…\"  # if that commit does not belong to this repository"))
    }

    /// Refuses an older commit, unless the user asks for a rollback.
    fn require_rollback(&self, view: &DomainView, source: &Source) -> Result<(), OpError> {
        if self.direction == Direction::Rollback {
            return Ok(());
        }
        let (domain, commit) = (&view.info.name, self.commit.short());
        let message = format!("{domain} was already published from {}, and {commit} is older", source.commit.short());
        let is_published = |(name, version): (_, &Version)| {
            let is_known = || view.versions.get(name).is_some_and(|known| known.contains(version));
            version.is_auto() || (!version.is_prerelease() && is_known())
        };
        let mut wanted = self.candidate.contracts_in(domain).map(|(name, one)| (name, &one.document.version));
        Err(OpError::no(ErrorCode::OlderCommit, message).next(if wanted.all(is_published) {
            format!("git blue contract publish --commit {commit} --rollback --reason \"…\"  # roll back")
        } else {
            "to bring its content back, commit it under new versions: not all of its versions were published".to_owned()
        }))
    }

    /// Returns the newer commit that was published before, if this is a rollback to an older commit of the branch.
    fn newer(&self, view: &DomainView) -> Result<Option<Oid>, OpError> {
        let source = view.sources.get(self.acting.repo).filter(|source| source.commit != *self.commit);
        let source = source.filter(|_| self.direction == Direction::Rollback).map(|source| source.commit);
        let is_older = |source: &Oid| self.code.is_ancestor(self.commit, source);
        Ok(if source.as_ref().map_or(Ok(false), is_older)? { source } else { None })
    }

    fn decide(&self, view: &DomainView, lineage: Lineage) -> Result<Decision, Vec<Refusal>> {
        let judged = Judged { repo: self.acting.repo, candidate: self.candidate };
        let mut decision = publish::candidate(view, judged, self.direction, self.ctx.env.now(), self.judge)?;
        // A commit that changes nothing in this domain is not recorded, since most commits are like that. One that
        // replaces the published commit is recorded, because no other clone has the replaced commit.
        let touches = self.touches(&view.info.name);
        let changed = !decision.changes.is_empty() || touches || lineage == Lineage::Replaced;
        if changed && view.info.has_member(self.acting.repo) {
            let source = Source { commit: *self.commit };
            if view.sources.get(self.acting.repo) != Some(&source) {
                decision.changes.push(DomainChange::Source(self.acting.repo.clone(), source));
            }
        }
        Ok(decision)
    }

    /// Returns the import cycles that the changed bindings create.
    fn cycles(&self) -> Result<Vec<String>, OpError> {
        let changed = self.candidate.bindings.iter().filter(|(_, declared)| declared.changed);
        let repo = self.acting.repo;
        let parts = changed.map(|(domain, declared)| cycles::Part { domain, repo, binding: &declared.document });
        cycles::closed(self.store(), &parts.collect::<Vec<_>>(), None)
    }

    /// Returns whether the commit changed a file of this domain since the last published commit.
    fn touches(&self, name: &DomainName) -> bool {
        self.candidate.contracts_in(name).any(|(_, declared)| declared.changed)
            || self.candidate.bindings.get(name).is_some_and(|declared| declared.changed)
            || self.candidate.removed_bindings.contains(name)
            || self.candidate.removed_contracts.keys().any(|(domain, _)| domain == name)
    }

    /// Writes a decision. If the domain has changed since, decides again and replaces `effects`.
    fn carry_out(
        &self,
        name: &DomainName,
        reason: Option<&str>,
        decision: (Oid, Decision),
        effects: &mut DecisionEffects,
    ) -> Result<(), OpError> {
        let changed_by = self.changed_by(name, &decision)?;
        let (repo, source) = (Some(self.acting.repo), Some(self.commit));
        let why = Message { repo, source, reason, changed_by, ..Message::default() };
        let mut decide = |view: &DomainView| {
            let lineage = self.require_successor(view)?;
            // Other domains of this commit may be written already.
            let effect = format!("nothing was published in {name}");
            let decision = self
                .decide(view, lineage)
                .map_err(|refusals| refused(self.code, self.commit, self.candidate, refusals, &effect))?;
            *effects = DecisionEffects::of(view, &decision, self.judge);
            Ok(decision)
        };
        self.with_part(name, |part| domain::carry_out(self.ctx, self.store(), name, (part, why), decision, &mut decide))
            .map(drop)
    }

    /// Returns who made the changes to a domain, as it was at `tip`. A rollback is made by the one who publishes it.
    fn changed_by(&self, name: &DomainName, (tip, decision): &(Oid, Decision)) -> Result<Option<ChangedBy>, OpError> {
        if self.direction == Direction::Rollback {
            return Ok(None);
        }
        let published = source(self.acting, name, tip)?;
        changed_by::of(self.code, self.commit, (name, published.as_ref()), self.candidate, &decision.changes)
    }
}

/// Refuses to publish if the last published commit cannot be read, because then it is unknown whether this clone is
/// behind.
fn readable_source(view: &DomainView, repo: &RepoName) -> Result<(), OpError> {
    match view.damage.iter().find(|damage| damage.subject == Subject::Source(repo.clone())) {
        Some(damage) => {
            let message = format!("cannot tell what was published last: {}: {}", damage.file, damage.problem);
            Err(OpError::cannot(ErrorCode::Damaged, message))
        }
        None => Ok(()),
    }
}

fn answer(
    acting: ActingRepo<'_>,
    commit: &Oid,
    request: &Request,
    published: Vec<Published>,
    cycles: Vec<String>,
    gone: Vec<MissingFile>,
) -> Answer<ContractPublish> {
    let nothing = published.is_empty();
    let mut answer = Answer::new(ContractPublish {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        commit: Some(*commit),
        dry_run: request.dry_run,
        published,
        removed_files: gone.iter().map(|gone| gone.path.clone()).collect(),
        cycles,
        not_pushed: false,
    });
    for MissingFile { domain, contract, .. } in gone {
        answer = answer
            .next(format!("git blue contract retire {domain}/{contract} --reason \"…\"  # if it is no longer served"));
    }
    if request.dry_run && !nothing {
        let commit = request.commit.as_ref().map(|commit| format!(" --commit {commit}")).unwrap_or_default();
        let rollback = if request.rollback.is_some() { " --rollback --reason \"…\"" } else { "" };
        answer = answer.next(format!("git blue contract publish{commit}{rollback}"));
    }
    answer
}
