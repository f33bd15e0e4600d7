//! `realm_check`: checks whether the realm is consistent once this repository's files are applied to it.

mod domains;
mod rfc_place;
mod steps;
mod unread;

use std::collections::BTreeSet;

use super::{
    check_base,
    check_scripts::{self, Checked},
    check_subject::{self, Found},
};
use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        candidate::{Candidate, Judged},
        check::{Cause, Check, CheckInput, Finding, Mode, Report, Severity},
        name::{ReaderName, RepoName, RfcName},
        oid::Oid,
        stack,
        verdict::Judge,
    },
    ops::{
        Operation,
        admin::join,
        contract,
        ctx::{ActingRepo, Ctx, RealmContext},
        inboxes::{deliver, pending},
        pr::rfc,
        publish::{
            candidate::{self, ReadContracts},
            concurrent, diverged, places, removal, uncommitted,
            unpublished::{self, CaughtUp},
        },
        repos::ephemeral_realm::SnapshotSource,
        runs,
    },
    repo::{
        CodeRepo,
        blue_files::{BINDINGS, CONTRACTS, Files},
    },
    store::{overview::Overview, read},
    wire::{self, Answer, Elsewhere, Notification, RealmCheck},
};

pub use check_scripts::Scripts;
pub use check_subject::Subject;
pub use steps::{SHOW_CONFLICTS, UNCOMMITTED, command};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::reads::<Request>("realm_check", &["realm", "check"], "Check contracts and imports against the realm")
        .reads_past()
        .tool(
            "Check what this repository's .blue/ would break, and which imports are broken (with proof, \
        except imports_by_range). Call it after editing .blue/ and before a release.",
        )
        .route("GET", "/realms/{realm}/check");

/// The maximum number of findings of other repositories that are listed. The rest are counted.
const MAX_ELSEWHERE: usize = 20;

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The reader whose pending notifications are added to the answer; none if they are shown elsewhere.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip = Some(pending::cli_reader())))]
    pub reader: Option<ReaderName>,
    /// Also fail on warnings
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub strict: bool,
    /// Check the whole realm, not just this repository
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    pub all: bool,
    /// Report problems that already exist in this commit as warnings
    ///
    /// In a pull request workflow, the default is taken from GITHUB_BASE_REF, GITHUB_REF of a merge queue,
    /// CI_MERGE_REQUEST_TARGET_BRANCH_SHA, CI_MERGE_REQUEST_DIFF_BASE_SHA or CI_MERGE_REQUEST_TARGET_BRANCH_NAME.
    #[cfg_attr(feature = "cli", arg(long, value_name = "REF", conflicts_with = "published"))]
    pub base: Option<String>,
    /// This repository's name in the realm; overrides .blue/config.yaml
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(long, value_name = "REPO", conflicts_with = "published"))]
    pub repo: Option<RepoName>,
    /// The files to check together with the realm
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub subject: Subject,
    /// Check the branches of this RFC in all repositories together
    ///
    /// Local branches are used, else those of origin as of the last fetch. Nothing is fetched.
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC", conflicts_with_all = ["published", "base"]))]
    pub rfc: Option<RfcName>,
    /// The rules to check
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long, value_enum, default_value_t))]
    pub mode: Mode,
    /// The place that the realm was fetched from, if it was fetched for this check only, so that nothing is published to it.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub snapshot: Option<SnapshotSource>,
    /// The URL that the realm was fetched from for this check only.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub realm_url: Option<String>,
    /// Whether every contract that was checked is listed, and not only counted.
    #[serde(skip, default = "yes")]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub listed: bool,
    /// The way in which scripts that test contracts are run; none for servers and hooks, which run no scripts.
    #[serde(skip)]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub scripts: Option<Scripts>,
}

runs!(RealmCheck, run);

fn yes() -> bool {
    true
}

impl Default for Request {
    fn default() -> Self {
        Self {
            reader: Some(pending::cli_reader()),
            subject: Subject::default(),
            rfc: None,
            repo: None,
            all: false,
            base: None,
            mode: Mode::default(),
            strict: false,
            snapshot: None,
            realm_url: None,
            listed: true,
            scripts: None,
        }
    }
}

/// Checks the realm. An invalid realm is an answer, not an error. Nothing is published.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read, or if it cannot be determined which repository to
/// judge. In these cases the check never passes.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmCheck>, OpError> {
    if request.rfc.is_some() && request.subject == Subject::Published {
        return Err(OpError::no(ErrorCode::Contradiction, "pass one of published and rfc"));
    }
    let Some((folder, there)) = rfc_place::worktree(ctx, request)? else { return run_here(ctx, request) };
    let mut answer = run_here(&there, request)?;
    rfc_place::name_folder(&mut answer, &folder);
    Ok(answer)
}

fn run_here(ctx: &Ctx, request: &Request) -> Result<Answer<RealmCheck>, OpError> {
    let Request { subject, repo, base, .. } = request;
    let joined = check_subject::in_joined_realm(ctx, subject, repo.as_ref(), base.as_deref())?;
    let ctx = joined.as_ref().unwrap_or(ctx);
    let here = ctx.realm()?;
    let overview = Overview::open(&*here.store)?;
    let work = Work { ctx, here, overview: &overview, request, judge: ctx.judge() };
    let branches = match &request.rfc {
        Some(rfc) => rfc::branches(ctx, here, &overview, rfc)?,
        None => Vec::new(),
    };
    let elsewhere = rfc_place::not_checked_out(ctx, here, request, &branches)?;
    let found = work.found(&branches)?;
    if let Some(Found { repo, .. }) = found.as_ref().filter(|found| !overview.repos().contains_key(&found.repo)) {
        renamed::refuse_in_commit(&*here.store, repo)?;
        return Err(check_subject::not_in_the_realm(ctx, (repo, request.repo.is_some()), overview.repos().keys())?);
    }
    let base = found.as_ref().map(|found| work.base(found)).transpose()?.unwrap_or_default();
    let candidate = found.as_ref().map(|found| work.candidate_on(&base, found)).transpose()?;
    let mut judged: Vec<_> = found.iter().zip(&candidate).map(|(found, candidate)| found.judged(candidate)).collect();
    let (branches, shown): (Vec<_>, Vec<_>) =
        branches.into_iter().filter(|(branch, _)| judged.iter().all(|judged| *judged.repo != branch.repo)).unzip();
    judged.extend(branches.iter().map(rfc::Branch::judged));
    let mut report = work.judge(found.as_ref(), &judged, request.listed)?;
    let checked = found.as_ref().map(|found| found.repo.clone()).or_else(|| work.asking(&shown));
    if let Some(checked) = &checked {
        report.shown_in(checked);
    }
    if request.rfc.is_some() {
        report.add(rfc::between_merges(ctx, here, &overview, &judged, &report.findings)?);
    }
    let base = match &found {
        Some(found) if report.has_errors() => work.compare(base, found, &mut report)?,
        _ => base,
    };
    if let Some(found) = &found
        && let Some(files) = &found.files
    {
        places::locate(files, &mut report.findings);
        removal::explain(&*here.store, ctx.code()?, &found.repo, &mut report.findings);
        if repo.is_none() && request.mode != Mode::Compatibility {
            let base = (base.commit.as_ref(), request.base.as_deref());
            report.add(check_subject::removed_config(ctx, found, base)?);
            report.add(check_subject::refused_url(found)?);
            if let Some(typed) = &request.realm_url {
                report.add(check_subject::shared_elsewhere(found, typed)?);
            }
            report.add(check_subject::other_repository(ctx, found)?);
        }
        if request.rfc.is_none() && request.snapshot.is_none() {
            rfc_place::explain(ctx, &found.repo, &mut report.findings)?;
        }
    }
    let scripts = match (&found, &candidate) {
        (Some(found), Some(candidate)) => {
            let Request { subject, mode, snapshot, .. } = request;
            let checked = Checked { subject, found, candidate, mode: *mode, is_temporary: snapshot.is_some() };
            let (runs, findings) = check_scripts::run(ctx, checked, request.scripts)?;
            report.add(findings);
            runs
        }
        _ => Vec::new(),
    };
    let mut answer = work.answer(report, (checked, found.as_ref(), candidate.as_ref()), (base, shown, scripts));
    let is_own = |error: &Finding| error.repo == answer.body.current_repo || error.caused_by == Cause::ThisChange;
    let switch = elsewhere.filter(|_| answer.body.errors.iter().any(is_own));
    answer.next_steps.splice(0..0, switch);
    Ok(answer)
}

/// A check in progress.
struct Work<'a> {
    ctx: &'a Ctx,
    here: &'a RealmContext,
    overview: &'a Overview<'a>,
    request: &'a Request,
    judge: Judge<'a>,
}

impl<'a> Work<'a> {
    /// Returns the files to judge. For an RFC these are the files of its branch, unless the user names others; outside of
    /// a repository, only the branches of the RFC are judged.
    fn found(&self, branches: &[(rfc::Branch, wire::RfcBranch)]) -> Result<Option<Found<'a>>, OpError> {
        let Request { subject, repo, rfc, .. } = self.request;
        let asking = repo.as_ref().or(self.here.repo.as_ref());
        // HEAD of a CI runner is detached. It has what the pull request proposes, which may not be pushed to origin's
        // branch yet.
        let code = self.ctx.code.as_ref().filter(|_| rfc.is_some());
        let is_on_branch = code.map(CodeRepo::head).transpose()?.is_some_and(|head| head.branch.is_some());
        let is_among = |asking: &RepoName| {
            let is_own = |shown: &wire::RfcBranch| is_on_branch || shown.branch.starts_with("refs/heads/");
            branches.iter().any(|(branch, shown)| branch.repo == *asking && is_own(shown))
        };
        let is_branch = *subject == Subject::Head && asking.is_some_and(is_among);
        let is_elsewhere = rfc.is_some() && (asking.is_none() || self.ctx.code.is_none());
        if is_branch || is_elsewhere {
            return Ok(None);
        }
        let found = check_subject::find(self.ctx, subject, repo.as_ref(), self.request.base.as_deref());
        found.map_err(
            |error| if self.request.snapshot.is_some() { check_subject::in_a_temporary_realm(error) } else { error },
        )
    }

    /// Returns the files, compared with what was published, or with `base` if this clone lacks that.
    fn candidate(&self, base: Option<&Oid>, found: &Found<'_>) -> Result<Candidate, OpError> {
        let code = self.ctx.code()?;
        let Some(files) = &found.files else {
            let mut candidate = Candidate { up: self.ctx.up_to_root(), ..Candidate::default() };
            uncommitted::mark(code, None, None, &mut candidate)?;
            return Ok(candidate);
        };
        let acting = ActingRepo { realm: &self.here.realm, store: &*self.here.store, repo: &found.repo, code: None };
        let sources = contract::publish::sources(acting, Some(self.overview))?;
        let commit = found.commit.or(code.head()?.commit);
        let published = concurrent::published(code, &sources, commit.as_ref())?;
        // The files of an RFC's branches are compared with each other.
        let part = if self.request.rfc.is_some() { ReadContracts::All } else { ReadContracts::ToCheck };
        let read = candidate::read(code, files, (&published, base, part), &self.ctx.progress())?;
        let mut candidate = Candidate { up: self.ctx.up_to_root(), ..read };
        uncommitted::mark(code, Some(files), found.commit.as_ref(), &mut candidate)?;
        if let Some(commit) = commit {
            let mut required = concurrent::required(code, &sources, &commit)?;
            if found.commit.is_none() {
                required = diverged::without_merging(code, required)?;
            }
            diverged::mark_behind(code, (&commit, base), &required, &mut candidate)?;
        }
        Ok(candidate)
    }

    /// Returns the candidate of files that are merged into the base.
    fn candidate_on(&self, base: &check_base::Base, found: &Found<'_>) -> Result<Candidate, OpError> {
        let mut candidate = self.candidate(base.commit.as_ref(), found)?;
        if let Some(commit) = &base.commit
            && base.is_published_first(self.ctx.code()?)?
        {
            diverged::add_base(self.ctx.code()?, commit, &mut candidate)?;
        }
        Ok(candidate)
    }

    /// Turns errors that the base has too into warnings. If the runner named the base, and a partial clone lacks its
    /// files, the base counts as missing.
    fn compare(
        &self,
        base: check_base::Base,
        found: &Found<'_>,
        report: &mut Report,
    ) -> Result<check_base::Base, OpError> {
        let Some(commit) = base.commit else { return Ok(base) };
        let before = Found::at(self.ctx, found.repo.clone(), &commit)?;
        let candidate = match self.candidate(Some(&commit), &before) {
            Err(error) if error.code == ErrorCode::NotFetched && self.request.base.is_none() => {
                return Ok(check_base::Base::without_files(&commit, &error));
            }
            candidate => candidate?,
        };
        report.downgrade_existing(&self.judge(Some(&before), &[before.judged(&candidate)], false)?);
        Ok(base)
    }

    /// Judges candidates, the first of which may leave files of `found` unread.
    fn judge(&self, found: Option<&Found<'_>>, judged: &[Judged<'_>], listed: bool) -> Result<Report, OpError> {
        let Request { mode, all, ref snapshot, .. } = *self.request;
        let (repos, cycles) = (self.overview.repos(), read::realm(&*self.here.store)?.cycles);
        // A past state is judged as of its own day.
        let (now, judge) = (self.ctx.as_of.unwrap_or_else(|| self.ctx.env.now()), &self.judge);
        let me = judged.first().map(|judged| judged.repo).or(self.here.repo.as_ref());
        let input = CheckInput { repos, me, judged, all, now, mode, listed, cycles, judge };
        let files = found.and_then(|found| found.files.as_ref());
        let (store, snapshot) = (&*self.here.store, snapshot.as_ref());
        let work = domains::Work { ctx: self.ctx, store, overview: self.overview, files, judged, judge, snapshot };
        stack::for_comparisons(|| domains::judge(&work, Check::new(input)))
    }

    fn base(&self, found: &Found<'_>) -> Result<check_base::Base, OpError> {
        let code = self.ctx.code()?;
        match (&found.commit, &self.request.base) {
            (Some(commit), Some(revision)) => {
                Ok(check_base::Base { commit: Some(check_base::named(code, commit, revision)?), ..Default::default() })
            }
            (Some(commit), None) => check_base::on_a_runner(self.ctx, code, commit),
            // The working tree or the index, which continue from HEAD.
            (None, Some(revision)) => {
                Ok(check_base::Base { commit: base_of_head(code, revision)?, ..Default::default() })
            }
            (None, None) => Ok(check_base::Base::default()),
        }
    }

    fn answer(
        &self,
        report: Report,
        (checked, found, candidate): (Option<RepoName>, Option<&Found<'_>>, Option<&Candidate>),
        (base, branches, scripts): (check_base::Base, Vec<wire::RfcBranch>, Vec<wire::ScriptRun>),
    ) -> Answer<RealmCheck> {
        let Self { ctx, here, overview, request, .. } = self;
        let elsewhere = elsewhere(&report);
        let is_uncommitted = candidate.is_some_and(|candidate| candidate.files() == 0) && self.has_uncommitted_files();
        let CaughtUp { unpublished, behind, next_steps: to_catch_up, .. } = self.unpublished();
        // The errors of the check have steps of their own.
        let is_held = report.findings.iter().all(|finding| finding.severity != Severity::Error)
            && unpublished.as_ref().is_some_and(|one| one.problem.is_some());
        let to_catch_up = if behind.is_some() || is_held { to_catch_up } else { Vec::new() };
        let (errors, warnings): (Vec<_>, Vec<_>) =
            report.findings.into_iter().partition(|finding| finding.severity == Severity::Error);
        let missing = base.missing.filter(|_| !errors.is_empty());
        let body = RealmCheck {
            realm: here.realm.clone(),
            current_repo: checked,
            read_only: self.read_only(),
            judged: match (found, request.all) {
                _ if request.rfc.is_some() => wire::Judged::Rfc,
                (None, _) => wire::Judged::Realm,
                (Some(_), false) => wire::Judged::Repository,
                (Some(_), true) => wire::Judged::Everything,
            },
            rfc: request.rfc.clone(),
            branches,
            files: candidate.map(Candidate::files),
            base: base.commit,
            missing_base: missing.as_ref().map(|missing| missing.revision.clone()),
            valid: errors.is_empty() && (warnings.is_empty() || !request.strict),
            errors,
            warnings,
            elsewhere,
            unpublished,
            behind,
            contracts: report.count,
            imports_by_range: report.by_range,
            schema_hashes: report.contracts,
            scripts,
            notifications: request
                .reader
                .as_ref()
                .map(|reader| notifications((ctx, &self.judge), reader, overview))
                .unwrap_or_default(),
        };
        let former = self.former_names(&body.errors);
        let init = || join::init_each(&ctx.home, (&here.realm, &*here.store));
        let first = || {
            if is_uncommitted {
                steps::UNCOMMITTED.to_owned()
            } else {
                join::first_contract(&init(), overview, here.repo.as_ref())
            }
        };
        let nothing = if is_uncommitted { steps::UNCOMMITTED } else { steps::NO_FILES };
        let fetch = missing.map(|missing| missing.fetch);
        let answer = steps::answer(&*here.store, body, (first, nothing, fetch), request);
        let mut answer = answer.next_all(former);
        answer.next_steps.splice(0..0, to_catch_up);
        self.ctx.with_past_steps(answer)
    }

    /// Returns the commands for repositories that published under a former name while they were renamed.
    fn former_names(&self, errors: &[Finding]) -> BTreeSet<String> {
        let unknown = errors.iter().filter(|error| error.code == "unknown-repo");
        let store = &*self.here.store;
        unknown.filter_map(|error| renamed::moving(store, error.repo.as_ref()?).ok()?).collect()
    }

    /// Returns why the current clone is read-only, and what to do about it.
    fn read_only(&self) -> Option<String> {
        let is_clone = self.ctx.code.is_some() && self.here.repo.is_some() && self.request.snapshot.is_none();
        let error = self.ctx.require_writable().err().filter(|_| is_clone)?;
        Some(error.next_steps.first().map_or(error.message.clone(), |step| format!("{}; {step}", error.message)))
    }

    /// Returns whether the working tree has files that a check of HEAD does not see.
    fn has_uncommitted_files(&self) -> bool {
        let files = self.ctx.code.as_ref().filter(|_| self.request.subject == Subject::Head).and_then(Files::checkout);
        let is_declared =
            |folder: &str| files.as_ref().is_some_and(|files| files.below(folder).is_ok_and(|found| !found.is_empty()));
        is_declared(CONTRACTS) || is_declared(BINDINGS)
    }

    /// Returns the current repository if its branch is among the judged ones.
    fn asking(&self, branches: &[wire::RfcBranch]) -> Option<RepoName> {
        let asking = self.here.repo.as_ref();
        branches.iter().map(|branch| &branch.repo).find(|repo| Some(*repo) == asking).cloned()
    }

    /// Returns the commit of the publishing branch that the realm does not have, or that this clone lacks. A check does
    /// not publish it.
    fn unpublished(&self) -> CaughtUp {
        let is_asked = self.request.subject == Subject::Head && self.request.snapshot.is_none();
        let acting = self.ctx.require_writable().ok().filter(|_| is_asked);
        acting.map(|acting| unpublished::run(self.ctx, acting, self.overview, false)).unwrap_or_default()
    }
}

fn elsewhere(report: &Report) -> Elsewhere {
    let errors = report.elsewhere.iter().filter(|finding| finding.severity == Severity::Error).count();
    Elsewhere {
        errors,
        warnings: report.elsewhere.len() - errors,
        findings: report.elsewhere.iter().take(MAX_ELSEWHERE).cloned().collect(),
    }
}

/// Returns the commit that the working tree is compared with, if HEAD has a commit.
fn base_of_head(code: &CodeRepo, revision: &str) -> Result<Option<Oid>, OpError> {
    check_base::resolve(code, revision)?;
    code.head()?.commit.map(|head| check_base::named(code, &head, revision)).transpose()
}

/// Returns the pending notifications. They never affect a check, so errors are ignored.
fn notifications((ctx, judge): (&Ctx, &Judge<'_>), reader: &ReaderName, overview: &Overview<'_>) -> Vec<Notification> {
    let acting = ctx.acting_repo();
    let due = acting.and_then(|acting| deliver::due_in((ctx, judge), acting, reader, overview, |_| true));
    due.map_or_else(|_| Vec::new(), |batch| batch.notifications)
}
