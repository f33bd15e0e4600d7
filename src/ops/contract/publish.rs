//! `contract_publish`: publishes the contracts and bindings in a commit of this repository to the realm.
//!
//! Every decision is made twice: first for all domains together, so that a refusal stops the whole
//! commit, and again under the lock of each domain.

mod decision;
mod lineage;
mod refused;
mod restored;
mod work;

use decision::DecisionEffects;
use refused::{NOTHING, refused, unreadable};
use restored::restored;
use work::Work;

use crate::{
    error::{ErrorCode, OpError},
    model::{candidate::Candidate, domain::Source, name::DomainName, oid::Oid, publish::Direction},
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        publish::{
            behind,
            candidate::{self, ReadContracts, Sources},
            concurrent, lost_contracts,
            missing_file::{self, MAX_WITH_STEPS, Place},
            publish_log, publishing_branch,
        },
        repos::roots,
        sync::auto,
    },
    repo::{CodeRepo, blue_files::Files},
    store::{
        StoreRef, layout,
        overview::{Line, Overview},
        read, unless_damaged,
    },
    wire::{Answer, ContractPublish, Published, RemovedFile},
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
    let answer = published?;
    if answer.body.published.is_empty() {
        lost_contracts::refuse(acting, code, &commit)?;
    }
    Ok(answer)
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
    let published = concurrent::published(code, sources, Some(commit))?;
    // A rollback restores all contracts.
    let part = if request.rollback.is_some() { ReadContracts::All } else { ReadContracts::Changed };
    let read = candidate::read(code, &Files::at(code, commit)?, (&published, None, part), &ctx.progress())?;
    let candidate = Candidate { up: ctx.up_to_root(), ..read };
    if !candidate.problems.is_empty() {
        return Err(unreadable(&candidate));
    }
    let (candidate, direction) = match request.rollback {
        Some(_) => (restored(acting.store, candidate)?, Direction::Rollback),
        None => (candidate, Direction::Forward),
    };
    let judge = &ctx.judge();
    let rolls_back = || {
        let request = Request { dry_run: true, rollback: Some(String::new()), ..Request::default() };
        publish(ctx, acting, code, (commit, branch), sources, &request).map(drop)
    };
    let rolls_back = &rolls_back;
    let work = Work { ctx, acting, code, commit, branch, candidate: &candidate, direction, judge, rolls_back };

    let mut names = candidate.domains();
    names.extend(sources.keys());
    let mut decided = Vec::new();
    let mut refusals = Vec::new();
    let mut gone = Vec::new();
    let mut newer = Vec::new();
    let mut is_rewritten = false;
    for name in names {
        let (tip, view) = work.load(name)?;
        let lineage = work.require_successor(&view)?;
        is_rewritten = is_rewritten || work.is_rewritten(&view, lineage)?;
        newer.extend(work.newer(&view)?);
        gone.extend(work.missing_files(&view));
        match work.decide(&view, lineage) {
            Ok(decision) => decided.push((name, DecisionEffects::of(&view, &decision, judge), (tip, decision))),
            Err(mut more) => refusals.append(&mut more),
        }
    }
    if !refusals.is_empty() {
        work.judge_rollback(&mut refusals);
        return Err(refused(code, commit, &candidate, refusals, NOTHING));
    }
    if is_rewritten && !request.dry_run {
        roots::record_rewritten(ctx, acting, code, commit)?;
    }
    let cycles = work.cycles()?;
    let mut published = Vec::new();
    for (name, mut effects, decision) in decided {
        if !request.dry_run && effects.is_change {
            work.execute(name, request.rollback.as_deref(), decision, &mut effects)?;
        }
        published.extend(effects.published);
    }
    let not_pushed = !request.dry_run && !published.is_empty() && auto::is_by_hand(ctx, acting.realm, acting.store)?;
    let mut answer = answer(ctx, acting, commit, request, (published, cycles, gone));
    answer.body.not_pushed = not_pushed;
    if !request.dry_run && !answer.body.published.is_empty() {
        answer.next_steps.extend(behind::revert(code, branch, &newer, commit)?);
    }
    Ok(answer)
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
    let tips = code.branch_tips(&branch).collect::<Result<Vec<_>, _>>()?;
    for (_, tip) in &tips {
        if code.is_ancestor(commit, tip)? {
            return Ok(branch);
        }
    }
    if tips.is_empty() && code.origin_url().is_some() {
        let message = format!("this clone lacks the publishing branch {branch}; nothing was published");
        return Err(OpError::no(ErrorCode::NoPublishingBranch, message).next(publishing_branch::fetch(code, &branch)));
    }
    let message = format!("{} is not on the publishing branch {branch}; nothing was published", commit.short());
    let error = OpError::no(ErrorCode::NotPublishingBranch, message)
        .next(format!("git blue check  # preview it; merging it into {branch} publishes it"));
    // A branch that lacks what was published could publish nothing.
    for published in sources(acting, None)?.into_values().flat_map(|source| source.latest()) {
        if !code.is_ancestor(&published, commit)? {
            return Err(error);
        }
    }
    Err(error.next_all(publishing_branch::checked_out(code)?))
}

fn answer(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    commit: &Oid,
    request: &Request,
    (published, cycles, gone): (Vec<Published>, Vec<String>, Vec<(RemovedFile, bool)>),
) -> Answer<ContractPublish> {
    let nothing = published.is_empty();
    let mut answer = Answer::new(ContractPublish {
        realm: acting.realm.clone(),
        current_repo: acting.repo.clone(),
        commit: Some(*commit),
        dry_run: request.dry_run,
        published,
        removed_files: gone.iter().map(|(gone, _)| gone.file.clone()).collect(),
        cycles,
        not_pushed: false,
    });
    let place = Place { namesake: None, up: &ctx.up_to_root(), code: ctx.code.as_ref() };
    for (gone, is_imported) in gone.iter().take(MAX_WITH_STEPS) {
        answer = answer.next_all(missing_file::steps(gone, *is_imported, &place));
    }
    if request.dry_run && !nothing {
        let commit = request.commit.as_ref().map(|commit| format!(" --commit {commit}")).unwrap_or_default();
        let rollback = if request.rollback.is_some() { " --rollback --reason \"…\"" } else { "" };
        answer = answer.next(format!("git blue contract publish{commit}{rollback}"));
    }
    answer
}
