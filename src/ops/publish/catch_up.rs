//! Finds and publishes commits of the publishing branch that the realm does not have yet. Which hook git runs depends
//! on the command, and some commands run none; so hooks, `status` and `check` all use this module, and only the refs
//! decide.

use std::{collections::BTreeSet, path::PathBuf};

use super::{
    branch_commit::{BranchCommit, Scope},
    candidate::Sources,
    dispute, policy, publishing_branch,
    rollback::{self, Rollback},
};
use crate::repo::blue_files::{BINDINGS, CONTRACTS, is_read};
use crate::{
    error::{ErrorCode, Kind, NextStep, OpError},
    locate::CONFIG,
    model::{domain::Domain, name::DomainName, oid::Oid, publish_policy::Policy, text::shell_path},
    ops::{
        contract::{self, publish::Request},
        ctx::{ActingRepo, Ctx},
    },
    repo::CodeRepo,
    store::{EntryKind, StoreRef, layout, read},
    wire::{Answer, Behind, ContractPublish},
};

/// A commit of the publishing branch that the realm does not have yet.
#[derive(Debug)]
pub struct UnpublishedCommit {
    /// The commit.
    pub commit: Oid,
    /// The publishing branch.
    pub branch: String,
    /// The policy of automatic publishing.
    pub policy: Policy,
    /// The domains that it changes, as the files name them.
    pub domains: Vec<String>,
    /// Whether the policy publishes it now.
    pub is_due: bool,
    /// Whether the branch's last update added it. Older commits were reported before.
    pub is_fresh: bool,
    /// A domain with a conflict about this repository's part. A person has to choose a side, because two clones that
    /// publish in turn would overwrite each other forever.
    pub disputed: Option<DomainName>,
    /// The published commit that the clone has to pull, if it has nothing new to publish.
    pub behind: Option<Behind>,
    /// The rollback past the commit, if there was one. A person has to publish the commit again.
    pub rolled_back: Option<Rollback>,
    /// The series of commits that git is still applying to the branch. Only its last commit is published.
    pub series: Option<Series>,
    /// Why nothing is published: the publishing branch is unknown, and the commit is that of the current branch; or the
    /// commit does not name the realm.
    pub unclear: Option<OpError>,
    sources: Sources,
}

/// A series of commits that git is still applying to a branch, of which an unpublished commit is the latest.
#[derive(Debug)]
pub struct Series {
    /// The git command.
    pub command: &'static str,
    /// The folder of the worktree in which it runs, unless that is this one.
    folder: Option<PathBuf>,
}

impl Series {
    /// Returns the command that goes on with the series.
    pub fn go_on(&self) -> String {
        let at = self.folder.as_ref().map(|folder| format!("-C {} ", shell_path(folder))).unwrap_or_default();
        format!("git {at}{} --continue", self.command)
    }
}

/// Returns the commit that is not published yet, if any.
///
/// # Errors
/// Returns an error if the repository or the realm cannot be read, or its configuration is invalid.
pub fn unpublished_commit(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    scope: Scope<'_>,
) -> Result<Option<UnpublishedCommit>, OpError> {
    let Some(unpublished) = newest_unpublished(acting, code, scope)? else { return Ok(None) };
    if unpublished.unclear.is_some() || !lacks_config(code, &unpublished.commit)? {
        return Ok(Some(unpublished));
    }
    let (commit, branch) = (unpublished.commit.short(), &unpublished.branch);
    let message = format!("{commit} ({branch}) has no {CONFIG}, so nothing from it is published");
    let error = OpError::no(ErrorCode::NotInRealm, message).next(NextStep::advice(format!(
        "add {CONFIG} to {branch} again, unless the repository leaves: git blue leave"
    )));
    Ok(Some(UnpublishedCommit { is_due: false, unclear: Some(error), ..unpublished }))
}

/// Returns whether a commit lacks the file that names the realm, although the realm is known from this file in the working
/// tree.
fn lacks_config(code: &CodeRepo, commit: &Oid) -> Result<bool, OpError> {
    let is_named_by_file =
        code.config("blue.realm").is_none() && code.workdir().is_some_and(|root| root.join(CONFIG).exists());
    Ok(is_named_by_file && read::lookup(code, &code.tree_of(commit)?, CONFIG)?.is_none())
}

fn newest_unpublished(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    scope: Scope<'_>,
) -> Result<Option<UnpublishedCommit>, OpError> {
    // Finding that there is nothing to publish is cheaper than reading the team's policy.
    if matches!(scope, Scope::Named)
        && !policy::is_of_this_clone(code)
        && let Some((branch, tip)) = branch(code)?
        && of_commit(acting, code, &branch, tip, scope)?.is_none()
    {
        return Ok(None);
    }
    let policy = policy::of(code)?;
    let is_by_hand = matches!(policy, Policy::Ci | Policy::Off);
    if is_by_hand && matches!(scope, Scope::Named) {
        return Ok(None);
    }
    let Some((branch, tip)) = branch(code)? else {
        return if is_by_hand { Ok(None) } else { unclear(acting, code, policy, scope) };
    };
    if policy == Policy::Pushed {
        let upstream = code.upstream(&branch)?;
        let pushed = upstream.map(|upstream| code.merge_base(&tip, &upstream)).transpose()?.flatten();
        if let Some(pushed) = pushed
            && let Some(unpublished) = of_commit(acting, code, &branch, pushed, scope)?
        {
            let unpublished = with_obstacles(acting, code, unpublished, scope)?;
            return Ok(Some(UnpublishedCommit {
                policy,
                is_due: !held_back(&unpublished, scope, code)?,
                ..unpublished
            }));
        }
        if pushed == Some(tip) || matches!(scope, Scope::Named) {
            return Ok(None);
        }
    }
    let Some(unpublished) = of_commit(acting, code, &branch, tip, scope)? else { return Ok(None) };
    let unpublished = with_obstacles(acting, code, unpublished, scope)?;
    let is_due = policy == Policy::Commit && !held_back(&unpublished, scope, code)?;
    Ok(Some(UnpublishedCommit { policy, is_due, ..unpublished }))
}

/// Returns the commit of the current branch that is not published because it is unknown which branch is.
fn unclear(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    policy: Policy,
    scope: Scope<'_>,
) -> Result<Option<UnpublishedCommit>, OpError> {
    let Some(problem) = branch_problem(code)? else { return Ok(None) };
    let head = code.head()?;
    let (Some(branch), Some(tip)) = (head.branch, head.commit) else { return Ok(None) };
    let unpublished = of_commit(acting, code, &branch, tip, scope)?;
    Ok(unpublished.map(|unpublished| UnpublishedCommit {
        policy,
        is_due: false,
        unclear: Some(problem),
        ..unpublished
    }))
}

/// Returns the problem if it is unknown which branch is published, or that branch exists neither here nor at origin, or
/// was renamed there.
///
/// # Errors
/// Returns an error if refs cannot be read.
pub fn branch_problem(code: &CodeRepo) -> Result<Option<OpError>, OpError> {
    let head = code.head()?;
    if head.commit.is_none() {
        return Ok(None);
    }
    let message = match code.publishing_branch()? {
        None => "cannot tell which branch is published".to_owned(),
        Some(branch) if code.is_gone_at_origin(&branch)? => {
            format!("the publishing branch {branch} no longer exists at {}", code.origin())
        }
        Some(branch) if code.branch_tips(&branch).next().transpose()?.is_none() => {
            format!("the publishing branch {branch} does not exist")
        }
        Some(_) => return Ok(None),
    };
    let error = OpError::no(ErrorCode::NoPublishingBranch, message);
    Ok(Some(error.next_all(publishing_branch::steps(code)?)))
}

/// Returns whether a person has to publish the commit. A commit that was just made counts as
/// confirmed, but one on another branch does not confirm what the publishing branch already had.
fn held_back(unpublished: &UnpublishedCommit, scope: Scope<'_>, code: &CodeRepo) -> Result<bool, OpError> {
    if unpublished.behind.is_some() || unpublished.rolled_back.is_some() || unpublished.series.is_some() {
        return Ok(true);
    }
    if unpublished.disputed.is_none() || !matches!(scope, Scope::Named) || !unpublished.is_fresh {
        return Ok(unpublished.disputed.is_some());
    }
    Ok(code.head()?.branch.as_ref() != Some(&unpublished.branch))
}

/// Adds the rollback past the commit, and the series that it is part of. A clone that has what was rolled back is not behind,
/// even if it is shallow and lacks the older commit.
fn with_obstacles(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    unpublished: UnpublishedCommit,
    scope: Scope<'_>,
) -> Result<UnpublishedCommit, OpError> {
    let rolled_back = rollback_past(acting, code, &unpublished)?;
    let has_newer = rolled_back.is_some_and(|rollback| code.has(&rollback.from));
    let series = series(code, &unpublished, scope)?;
    let behind = unpublished.behind.filter(|_| !has_newer);
    Ok(UnpublishedCommit { rolled_back, behind, series, ..unpublished })
}

/// Returns the series of which the commit is the latest, in the worktree that has the branch checked out.
fn series(code: &CodeRepo, unpublished: &UnpublishedCommit, scope: Scope<'_>) -> Result<Option<Series>, OpError> {
    let branch = &unpublished.branch;
    if code.reference(&format!("refs/heads/{branch}"))? != Some(unpublished.commit) {
        return Ok(None);
    }
    if code.head()?.branch.as_ref() != Some(branch) {
        let elsewhere = code.series_elsewhere(branch)?;
        return Ok(elsewhere.map(|(command, folder)| Series { command, folder: Some(folder) }));
    }
    // git runs the hook of a commit before it counts that commit as done.
    let left = if matches!(scope, Scope::Named) { 2 } else { 1 };
    Ok(code.unfinished_series(left).map(|command| Series { command, folder: None }))
}

/// Returns the rollback past a commit, if each domain that it changes was rolled back, and no newer commit has changed the
/// domain on the branch.
fn rollback_past(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    unpublished: &UnpublishedCommit,
) -> Result<Option<Rollback>, OpError> {
    let mut past = None;
    for name in &unpublished.domains {
        let source = name.parse().ok().and_then(|domain| Some((unpublished.sources.get(&domain)?.commit?, domain)));
        let Some((published, domain)) = source else { return Ok(None) };
        let Some(rollback) =
            rollback::past(acting, code, &domain, published, (&unpublished.commit, &unpublished.branch))?
        else {
            return Ok(None);
        };
        past = Some(rollback);
    }
    Ok(past)
}

/// Publishes the commit if it is due.
///
/// # Errors
/// Returns the reason if it was not published.
pub fn publish(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    unpublished: &UnpublishedCommit,
) -> Result<Answer<ContractPublish>, OpError> {
    let UnpublishedCommit { commit, branch, sources, .. } = unpublished;
    contract::publish::publish(ctx, acting, code, (commit, branch), sources, &Request::default())
}

/// Returns whether a commit of the publishing branch, or of one that is merged into it, has something that `sources`, the
/// published commits, do not have.
///
/// # Errors
/// Returns an error if the repository or the realm cannot be read.
pub fn has_changes(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    branch: &str,
    commit: Oid,
    sources: &Sources,
) -> Result<bool, OpError> {
    Ok(of_commit(acting, code, branch, commit, Scope::All(sources))?.is_some())
}

/// Returns what publishing the last commit would do, if it is on the publishing branch, has something new to publish, and
/// the policy publishes it later.
///
/// # Errors
/// Returns the reason if it could not be published.
pub fn preview(ctx: &Ctx, acting: ActingRepo<'_>, code: &CodeRepo) -> Result<Option<Answer<ContractPublish>>, OpError> {
    let current = code.head()?.branch;
    let Some((branch, tip)) = branch(code)?.filter(|(branch, _)| current.as_ref() == Some(branch)) else {
        return Ok(None);
    };
    if policy::of(code)? == Policy::Commit {
        return Ok(None);
    }
    let unpublished = of_commit(acting, code, &branch, tip, Scope::Named)?;
    let new = unpublished.filter(|unpublished| unpublished.is_fresh && unpublished.behind.is_none());
    new.map(|unpublished| dry_run(ctx, acting, code, &unpublished)).transpose()
}

/// Returns why publishing would refuse the commit as it is, if it would.
pub fn refusal(ctx: &Ctx, acting: ActingRepo<'_>, code: &CodeRepo, unpublished: &UnpublishedCommit) -> Option<OpError> {
    dry_run(ctx, acting, code, unpublished).err().filter(|error| error.kind == Kind::No)
}

fn dry_run(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    unpublished: &UnpublishedCommit,
) -> Result<Answer<ContractPublish>, OpError> {
    let UnpublishedCommit { commit, branch, sources, .. } = unpublished;
    let preview = Request { dry_run: true, ..Request::default() };
    contract::publish::publish(ctx, acting, code, (commit, branch), sources, &preview)
}

/// Publishes a commit that a hook had no time for, and the commits that followed it. Returns one answer for each
/// published commit.
///
/// # Errors
/// Returns the reason if it was not published.
pub fn publish_deferred(ctx: &Ctx, commit: Oid) -> Result<Vec<Answer<ContractPublish>>, OpError> {
    let (code, acting) = (ctx.code()?, ctx.require_writable()?);
    let mut answers = Vec::new();
    if let Some((branch, tip)) = branch(code)?
        && tip != commit
        && code.is_ancestor(&commit, &tip)?
        && let Some(unpublished) = of_commit(acting, code, &branch, commit, Scope::Named)?
        && rollback_past(acting, code, &unpublished)?.is_none()
    {
        match publish(ctx, acting, code, &unpublished) {
            Ok(answer) => answers.push(answer),
            // A later commit, which includes this one, was published first, or the branch was reset.
            Err(error) if is_overtaken(&error) => {}
            Err(error) => return Err(error),
        }
    }
    let mut refused = None;
    while let Some(unpublished) =
        unpublished_commit(acting, code, Scope::Named)?.filter(|unpublished| unpublished.is_due)
    {
        match publish(ctx, acting, code, &unpublished) {
            Ok(answer) => {
                answers.push(answer);
                break;
            }
            // The branch shows what is left.
            Err(error) if is_overtaken(&error) && refused != Some(unpublished.commit) => {
                refused = Some(unpublished.commit)
            }
            Err(error) => return Err(error),
        }
    }
    Ok(answers)
}

/// Returns whether a commit was not published because the branch or the realm moved in the meantime.
fn is_overtaken(error: &OpError) -> bool {
    matches!(error.code, ErrorCode::OlderCommit | ErrorCode::NotPublishingBranch)
}

/// Returns the publishing branch and its tip, if there is one with a commit that origin did not rename.
fn branch(code: &CodeRepo) -> Result<Option<(String, Oid)>, OpError> {
    let Some(branch) = code.publishing_branch()? else {
        return Ok(None);
    };
    if code.is_gone_at_origin(&branch)? {
        return Ok(None);
    }
    Ok(code.reference(&format!("refs/heads/{branch}"))?.map(|tip| (branch, tip)))
}

fn of_commit(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    branch: &str,
    commit: Oid,
    scope: Scope<'_>,
) -> Result<Option<UnpublishedCommit>, OpError> {
    let examined = BranchCommit::of(acting, code, branch, commit)?;
    let declared = domains_in(code, &examined.tree)?;
    let mut names = declared.clone();
    names.extend(examined.tree_before.map(|tree| domains_in(code, &tree)).transpose()?.into_iter().flatten());
    if let Scope::All(published) = scope {
        names.extend(published.keys().map(ToString::to_string));
    }
    let mut sources = Sources::new();
    let mut found = Vec::new();
    let (mut is_fresh, mut disputed) = (false, None);
    // The published commit that is newer than this one.
    let (mut behind, mut newer): (Option<Behind>, Option<Oid>) = (None, None);
    for name in names {
        let domain = name.parse::<DomainName>().ok();
        let source = match &domain {
            Some(domain) => {
                scope.source(acting, domain)?.map(|source| &*sources.entry(domain.clone()).or_insert(source))
            }
            None => None,
        };
        let is_declared = declared.contains(&name);
        if !examined.is_unpublished(&name, is_declared, source, scope)? || !(is_declared || is_member(acting, &name)?) {
            continue;
        }
        is_fresh |= examined.has_moved(&name)?;
        if let Some(domain) = &domain {
            if dispute::is_disputed(acting, domain)? && !dispute::merges_both_sides(acting, code, domain, &commit)? {
                disputed = Some(domain.clone());
            }
            if let Some(published) = examined.published_instead(domain, source, &mut newer)? {
                let found = Behind { branch: branch.to_owned(), domains: Vec::new(), published };
                behind.get_or_insert(found).domains.push(domain.clone());
            }
        }
        found.push(name);
    }
    if found.is_empty() || !is_joined(acting)? {
        return Ok(None);
    }
    Ok(Some(UnpublishedCommit {
        commit,
        branch: branch.to_owned(),
        policy: Policy::Commit,
        is_due: true,
        is_fresh,
        behind: behind.filter(|behind| disputed.is_none() && (newer.is_some() || behind.domains.len() == found.len())),
        domains: found,
        disputed,
        rolled_back: None,
        series: None,
        unclear: None,
        sources,
    }))
}

/// Returns the domains that the files of a tree name, as they are spelled, even if they are invalid.
///
/// # Errors
/// Returns an error if the tree cannot be read.
pub fn domains_in(code: &CodeRepo, tree: &Oid) -> Result<BTreeSet<String>, OpError> {
    let names = |folder: &str| {
        let entries = read::folder(code, tree, folder)?.into_iter();
        Ok::<_, OpError>(
            entries.filter(|entry| is_read(&entry.name, entry.kind == EntryKind::Blob)).map(|entry| entry.name),
        )
    };
    let bindings = names(BINDINGS)?.map(|name| name.strip_suffix(".yaml").unwrap_or(&name).to_owned());
    Ok(names(CONTRACTS)?.chain(bindings).collect())
}

/// Returns whether the repository is a member of a domain. One that left has nothing to publish there without files.
fn is_member(acting: ActingRepo<'_>, domain: &str) -> Result<bool, OpError> {
    let Ok(domain) = domain.parse().map(StoreRef::Domain) else { return Ok(false) };
    let Some(tree) = read::tip_tree(acting.store, &domain)? else { return Ok(false) };
    // A binding that was merged with the removal of its member can still be removed.
    if read::lookup(acting.store, &tree, layout::binding(acting.repo).as_str())?.is_some() {
        return Ok(true);
    }
    match read::file::<Domain>(acting.store, &domain, &tree, &layout::domain()) {
        Err(error) if error.is_damage() => Ok(true),
        info => Ok(info?.is_some_and(|info| info.has_member(acting.repo))),
    }
}

/// Returns whether the repository is still in its realm. A repository that left may keep its files, but they have no
/// effect.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn is_joined(acting: ActingRepo<'_>) -> Result<bool, OpError> {
    let Some(tree) = read::tip_tree(acting.store, &StoreRef::Realm)? else { return Ok(false) };
    Ok(read::lookup(acting.store, &tree, layout::repo(acting.repo).as_str())?.is_some())
}
