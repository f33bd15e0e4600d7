//! Applies the branches of an RFC in several repositories to the realm, without publishing them.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
    path::Path,
};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        candidate::{Candidate, Judged},
        check::Finding,
        contract::Contract,
        domain_view::DomainView,
        name::{ContractName, ContractRef, DomainName, RepoName, RfcName},
        oid::Oid,
        publish::{self, Direction, Refusal},
        pull::plan::{BrokenImport, Plan, Proposed, Required},
        text::shell_path,
        version::Version,
    },
    ops::{
        contract::{self, verdict::Upcoming},
        ctx::{ActingRepo, Ctx, RealmContext},
        domain::{self, Part},
        publish::{
            candidate::{self, ReadContracts},
            concurrent, diverged, uncommitted,
        },
        repos::paths::{self, FoundRepo},
        worktree::{self, list::all_found},
    },
    repo::{
        CodeRepo,
        blue_files::{self, Files},
    },
    store::overview::{Line, Overview},
    wire::{RepoProblem, RfcBranch},
};

/// The branch of one repository.
#[derive(Debug)]
pub struct Branch {
    /// The repository.
    pub repo: RepoName,
    /// Its files at the tip of the branch.
    pub candidate: Candidate,
}

impl Branch {
    /// Reads the files at a commit of a repository. `folder` is where its branch can be merged into.
    ///
    /// # Errors
    /// Returns an error if they cannot be read, or the request is cancelled.
    fn read(
        (ctx, here): (&Ctx, &RealmContext),
        overview: &Overview<'_>,
        repo: &RepoName,
        (code, commit, folder): (&CodeRepo, &Oid, &Path),
    ) -> Result<Self, OpError> {
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo, code: None };
        let sources = contract::publish::sources(acting, Some(overview))?;
        let published = concurrent::published(code, &sources, Some(commit))?;
        let mut candidate =
            candidate::read(code, &Files::at(code, commit)?, (&published, None, ReadContracts::All), &ctx.progress())?;
        diverged::mark_behind(code, (commit, None), &concurrent::required(code, &sources, commit)?, &mut candidate)?;
        uncommitted::mark(code, Some(&Files::at(code, commit)?), Some(commit), &mut candidate)?;
        for step in candidate.behind.values_mut().filter(|step| step.starts_with("git ")) {
            *step = step.replace("git ", &format!("git -C {} ", shell_path(folder)));
        }
        Ok(Self { repo: repo.clone(), candidate })
    }

    /// Returns the branch as files to judge.
    pub fn judged(&self) -> Judged<'_> {
        Judged { repo: &self.repo, candidate: &self.candidate }
    }
}

fn contracts<'a>(candidate: &'a Candidate, name: &'a DomainName) -> impl Iterator<Item = ContractName> + 'a {
    let binding = candidate.bindings.get(name).into_iter();
    let imported = binding.flat_map(|declared| &declared.document.imports).map(|import| import.contract.clone());
    candidate.contracts_in(name).map(|(contract, _)| contract.clone()).chain(imported)
}

fn versions<'a>(candidate: &'a Candidate, name: &'a DomainName) -> impl Iterator<Item = (ContractName, Version)> + 'a {
    let declared = candidate.contracts_in(name);
    declared.map(|(contract, declared)| (contract.clone(), declared.document.version.clone()))
}

/// Returns the contracts whose files a branch removes, each with its repository.
fn removed<'a>(branch: &'a Judged<'_>, name: &'a DomainName) -> impl Iterator<Item = (RepoName, ContractName)> + 'a {
    let removed = branch.candidate.removed_contracts.keys().filter(move |(domain, _)| domain == name);
    removed.map(|(_, contract)| (branch.repo.clone(), contract.clone()))
}

/// Returns the branch of an RFC in each repository of the realm on this machine: the local one, or else the one of its
/// remote as last fetched. A branch that is merged stands for the publishing branch, whose files may have changed since.
///
/// # Errors
/// Returns an error if no repository has such a branch, or one cannot be read.
pub fn branches(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    rfc: &RfcName,
) -> Result<Vec<(Branch, RfcBranch)>, OpError> {
    let branch = worktree::rfc_worktrees::branch(ctx, rfc)?;
    let (mut branches, root) = (Vec::new(), worktree::rfc_worktrees::root(ctx, &here.realm));
    for found in all_found(ctx, here)?.0 {
        let Some(code) = ctx.other_repo(&found.folder)? else { continue };
        let Some(tip) = code.branch_tips(&branch).next().transpose()? else { continue };
        let (name, commit) = merged_into(&code, &found, &tip)?.unwrap_or(tip);
        let tree = worktree::rfc_worktrees::path(&root, rfc, &found.name);
        let folder = if tree.exists() { &tree } else { &found.folder };
        let read = Branch::read((ctx, here), overview, &found.name, (&code, &commit, folder))?;
        branches.push((read, RfcBranch { repo: found.name, branch: name, commit }));
    }
    if branches.is_empty() {
        let message = format!("no repository of the realm on this machine has the branch {branch}");
        return Err(OpError::cannot(ErrorCode::NoBranches, message)
            .next(format!("git blue realm worktree create --rfc {rfc}  # create them")));
    }
    Ok(branches)
}

/// Returns the publishing branch that has all commits of a branch and more: here or, if that has still more, at the remote.
fn merged_into(code: &CodeRepo, found: &FoundRepo, (_, tip): &(String, Oid)) -> Result<Option<(String, Oid)>, OpError> {
    let (mut newest, mut main) = (*tip, None);
    for one in found.default.iter().flat_map(|default| code.branch_tips(default)) {
        let one = one?;
        if one.1 != newest && code.is_ancestor(&newest, &one.1)? {
            newest = one.1;
            main = Some(one);
        }
    }
    Ok(main)
}

/// A contract that a branch of an RFC adds to the realm.
pub struct Proposal {
    /// The RFC.
    pub rfc: RfcName,
    /// The repository.
    pub repo: RepoName,
    /// The contract as it is on the branch.
    pub contract: Contract,
}

impl Proposal {
    /// Returns where the contract is.
    pub fn place(&self, at: &ContractRef) -> String {
        format!("{at} is on the branch of {} for {}, and is published when that is merged", self.repo, self.rfc)
    }
}

/// Returns a contract that is not published yet, if a branch of the current worktree's RFC has it.
///
/// # Errors
/// Returns an error if a branch cannot be read.
pub fn proposal(ctx: &Ctx, at: &ContractRef) -> Result<Option<Proposal>, OpError> {
    let Ok(here) = &ctx.realm else { return Ok(None) };
    let Some(rfc) = worktree::rfc_worktrees::checked_out_rfc(ctx, &here.realm)? else { return Ok(None) };
    let branches = match branches(ctx, here, &Overview::open(&*here.store)?, &rfc) {
        Err(error) if error.code == ErrorCode::NoBranches => return Ok(None),
        branches => branches?,
    };
    let key = (at.domain.clone(), at.contract.clone());
    Ok(branches.into_iter().find_map(|(Branch { repo, mut candidate }, _)| {
        let contract = candidate.contracts.remove(&key)?.document;
        Some(Proposal { rfc: rfc.clone(), repo, contract })
    }))
}

/// The realm with the branches applied to it, and the parts of them that could not be published, by repository.
#[derive(Debug, Default)]
struct RealmWithBranches {
    domains: Vec<Proposed>,
    refused: Vec<Refused>,
}

/// A branch that cannot be merged as it is.
#[derive(Debug)]
pub struct Refused {
    /// The repository.
    pub repo: RepoName,
    /// The reason.
    pub why: String,
    /// What makes it possible, if that is a command.
    pub repair: Option<Repair>,
}

/// What makes it possible to publish a branch.
#[derive(Debug)]
pub enum Repair {
    /// The command that merges what was published in the meantime.
    Merge(String),
    /// Raise the version of a contract, which is in these files.
    Bump {
        /// The contract.
        at: ContractRef,
        /// The contract's file, and the one that its version is read from, if that is another one.
        files: Vec<String>,
    },
}

/// Applies each branch to the realm separately, in the domains that a branch mentions or that several of the `members`
/// share.
fn overlay(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    branches: &[Judged<'_>],
    members: &BTreeSet<RepoName>,
) -> Result<RealmWithBranches, OpError> {
    let (mut laid, judge) = (RealmWithBranches::default(), ctx.judge());
    let said: BTreeSet<_> = branches.iter().flat_map(|branch| branch.candidate.domains()).collect();
    let is_shared = |line: &Line| line.repos.iter().filter(|repo| members.contains(*repo)).nth(1).is_some();
    for line in overview.domains().iter().filter(|line| said.contains(&line.name) || is_shared(line)) {
        let name = &line.name;
        let summary = overview.summary(line)?;
        let imported = summary.bindings.iter().filter(|(repo, _)| members.contains(*repo));
        let imported = imported.flat_map(|(_, binding)| &binding.imports).map(|import| import.contract.clone());
        let contracts = branches.iter().flat_map(|branch| contracts(branch.candidate, name)).chain(imported).collect();
        let versions: Vec<_> = branches.iter().flat_map(|branch| versions(branch.candidate, name)).collect();
        let upcoming = Upcoming::of(branches.iter().map(|branch| branch.candidate), name);
        let bases = Some(&contracts);
        let part = Part { contracts: bases, published: &versions, bases, upcoming, ..Part::default() };
        let published = domain::load(&*here.store, name, &line.tip, &part)?;
        let mut after = BTreeMap::new();
        for branch in branches.iter().filter(|branch| branch.candidate.declares_in(name)) {
            let merged = branch.candidate.up_to_date();
            let decide = |candidate: &Candidate| {
                let judged = Judged { candidate, ..*branch };
                publish::candidate(&published, judged, Direction::Forward, ctx.env.now(), &judge)
            };
            let (decision, refusals) = match decide(&merged) {
                Ok(decision) => (Some(decision), Vec::new()),
                // The imports do not depend on the contracts of the same repository.
                Err(refusals) => (decide(&merged.only_bindings()).ok(), refusals),
            };
            let decided = decision.map(|decision| publish::overlay(&published, &decision.changes).into_owned());
            after.extend(decided.map(|view| (branch.repo.clone(), view)));
            if refusals.is_empty() {
                laid.refused.extend(lacking(&published, branch.repo, &merged));
            }
            laid.refused.extend(refusals.iter().map(|refusal| refused(&published, *branch, refusal)));
        }
        let removed = branches.iter().flat_map(|branch| removed(branch, name)).collect();
        laid.domains.push(Proposed { published, branches: after, removed });
    }
    Ok(laid)
}

/// Returns why a contract cannot be published: the branch lacks its current version, or else what the refusal says.
fn refused(published: &DomainView, Judged { repo, candidate }: Judged<'_>, refusal: &Refusal) -> Refused {
    let current = refusal.contract.as_ref().and_then(|name| published.contracts.get(name));
    let merge = current.and_then(|current| Some((current, candidate.merge_first(&refusal.domain, current)?)));
    if let Some((current, merge)) = merge {
        return lacks(repo, &refusal.domain, current, merge);
    }
    let bump = refusal.contract.as_ref().filter(|_| refusal.bump().is_some()).map(|contract| {
        let at = ContractRef { domain: refusal.domain.clone(), contract: contract.clone() };
        let file = blue_files::contract_path(&at.domain, contract);
        Repair::Bump { at, files: [file].into_iter().chain(refusal.version_in.clone()).collect() }
    });
    Refused { repo: repo.clone(), why: refusal.to_string(), repair: bump }
}

/// Returns the contracts that a branch changes although it lacks their current version: merging it would conflict.
fn lacking(published: &DomainView, repo: &RepoName, candidate: &Candidate) -> Vec<Refused> {
    let domain = &published.info.name;
    let changed = candidate.contracts_in(domain).filter(|(_, declared)| declared.changed);
    let lacking = changed.filter_map(|(name, declared)| {
        let current = published.contracts.get(name)?;
        let merge = candidate.merge_first(domain, current)?;
        let is_same = declared.document.computed_content_hash() == current.computed_content_hash();
        (!is_same).then(|| lacks(repo, domain, current, merge))
    });
    lacking.collect()
}

fn lacks(repo: &RepoName, domain: &DomainName, Contract { name, version, .. }: &Contract, merge: &str) -> Refused {
    let why = format!("the branch lacks {domain}/{name} {version}, which was published in the meantime: {merge}");
    Refused { repo: repo.clone(), why, repair: Some(Repair::Merge(merge.to_owned())) }
}

/// The tip of a branch of the RFC.
#[derive(Debug)]
pub struct Head<'a> {
    /// The repository.
    pub repo: &'a RepoName,
    /// A folder of the repository.
    pub folder: &'a Path,
    /// The commit.
    pub commit: &'a str,
}

/// The plan for merging branches, and the problems found.
#[derive(Debug, Default)]
pub struct Planned {
    /// The order of merging, and the edits that are needed.
    pub plan: Plan,
    /// Why branches could not be published.
    pub refused: Vec<Refused>,
    /// What breaks after the merge of a repository, or in it.
    pub breaks: Vec<(RepoName, String)>,
    /// Branches that could not be read.
    pub errors: Vec<RepoProblem>,
}

/// Plans the merge of the branches. `members` are the repositories that take part in the work.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn plan(
    ctx: &Ctx,
    here: &RealmContext,
    heads: &[Head<'_>],
    members: &BTreeSet<RepoName>,
) -> Result<Planned, OpError> {
    let overview = Overview::open(&*here.store)?;
    let (mut branches, mut errors) = (Vec::new(), Vec::new());
    for Head { repo, folder, commit } in heads {
        let Ok(commit) = commit.parse() else { continue };
        let code = open(ctx, folder);
        match code.and_then(|code| Branch::read((ctx, here), &overview, repo, (&code, &commit, folder))) {
            Ok(branch) => branches.push(branch),
            Err(error) => errors.push(paths::failed(repo, error)),
        }
    }
    let unreadable = branches
        .iter()
        .flat_map(|branch| branch.candidate.problems.iter().map(|problem| cannot(&branch.repo, problem.to_string())));
    let unreadable: Vec<_> = unreadable.collect();
    let judged: Vec<_> = branches.iter().map(Branch::judged).collect();
    let RealmWithBranches { domains, mut refused } = overlay(ctx, here, &overview, &judged, members)?;
    refused.extend(unreadable);
    let plan = Plan::of(&domains, members, &ctx.judge());
    refused.extend(plan.unserved.iter().map(|unserved| cannot(&unserved.consumer, unserved.to_string())));
    Ok(Planned { breaks: breaks(&plan), plan, refused, errors })
}

fn cannot(repo: &RepoName, why: String) -> Refused {
    Refused { repo: repo.clone(), why, repair: None }
}

/// Returns what a plan cannot avoid to break, with the repositories that should not be merged because of it.
fn breaks(plan: &Plan) -> Vec<(RepoName, String)> {
    let told = |one| move |repo: &RepoName| (repo.clone(), BrokenImport::to_string(one));
    let broken = plan.broken.iter().flat_map(|one| one.blocked().into_iter().map(told(one)));
    broken.chain(plan.deadlocks().map(|one| (one.then.clone(), one.to_string()))).collect()
}

/// Returns warnings about imports that break between two merges, although the branches agree once all are merged. `found`
/// has the findings about the branches together.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn between_merges(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    branches: &[Judged<'_>],
    found: &[Finding],
) -> Result<Vec<Finding>, OpError> {
    let members = branches.iter().map(|branch| branch.repo.clone()).collect();
    let domains = overlay(ctx, here, overview, branches, &members)?.domains;
    let plan = Plan::of(&domains, &members, &ctx.judge());
    let broken = plan.broken.iter().filter(|one| one.merged.is_some());
    let broken = broken.map(|one| Finding { version: Some(one.new.clone()), ..warning(one, &one.consumer, &one.at) });
    let deadlocks = plan.deadlocks().map(|one: &Required| warning(one, &one.consumer, &one.at));
    let place = |one: &Finding| (one.code.clone(), one.repo.clone(), one.domain.clone(), one.contract.clone());
    let is_new = |one: &Finding| found.iter().all(|other| place(other) != place(one));
    Ok(broken.chain(deadlocks).filter(is_new).collect())
}

fn warning(what: &impl Display, consumer: &RepoName, at: &ContractRef) -> Finding {
    let finding = Finding::warning("import-broken", what.to_string()).repo(consumer);
    finding.domain(&at.domain).contract(&at.contract)
}

fn open(ctx: &Ctx, folder: &Path) -> Result<CodeRepo, OpError> {
    ctx.other_repo(folder)?
        .ok_or_else(|| OpError::cannot(ErrorCode::NotInGit, format!("{} is not in a git repository", folder.display())))
}
