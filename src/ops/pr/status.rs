//! `realm_pr_status`: reports the progress of an RFC in each repository, what prevents its merge, and the merge order.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    merge_steps::Places,
    rfc::{self, Head, Planned},
    rfc_work::{RepoWork, RfcWork, places, standing},
};
use crate::{
    error::{NextStep, OpError},
    forge::{ForgeError, Pull, PullStatus},
    model::{
        name::{RepoName, RfcName},
        oid::Oid,
        pull::{
            order::Dependencies,
            plan::{Plan, RangeConflict},
        },
        secret_file::looks_secret,
        text::{count, shell_path, shell_word},
    },
    ops::{
        Operation, contract,
        ctx::{ActingRepo, Ctx, RealmContext},
        pr::merge_steps::has_to_merge,
        publish::{branch_commit::Scope, candidate::Sources, catch_up},
        repos::{
            self,
            forges::{ForgeUnavailable, Forges, OnForge},
        },
        runs,
        sync::{auto, remote_status},
        worktree::{self, create::of_git},
    },
    repo::{CodeRepo, work::WorkStatus},
    store::{StoreError, overview::Overview},
    wire::{Answer, MergeAction, PrRepo, PrStatus, PrSummary, PullRequest, PullReviews, PullState},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "realm_pr_status",
    &["realm", "pr", "status"],
    "Show an RFC's progress in each repository, and what to merge first",
)
.tool("Show an RFC's progress by repository: uncommitted, unpushed, pull request, merge order.");

/// The arguments.
#[derive(Debug, Clone, Default, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The RFC [default: this worktree's; elsewhere, all repositories]
    #[cfg_attr(feature = "cli", arg(long, value_name = "RFC"))]
    pub rfc: Option<RfcName>,
}

runs!(PrStatus, run);

/// Why a pull request that looks ready may not be.
const UNKNOWN_CHECKS: &str = "its checks are unknown: the forge does not show them to this token";

/// The step if the realm is not pushed.
const PUSH_REALM: &str = "git blue sync  # checks on other machines do not see yet what was published here";

/// The merged commits of an RFC in a repository, if they are not published.
struct Waiting<'a> {
    place: &'a RepoWork,
    commit: String,
    /// What is not published.
    what: String,
    /// The step that publishes it, if it is known.
    step: Option<String>,
}

impl Waiting<'_> {
    fn head(&self) -> Head<'_> {
        Head { repo: &self.place.found.name, folder: &self.place.path, commit: &self.commit }
    }
}

/// The progress in one repository.
struct Measured {
    standing: WorkStatus,
    pull: Result<Option<(Pull, Option<PullStatus>)>, String>,
    /// Why the state of the pull request is not known.
    unknown: Option<String>,
    /// Whether the repository is on no forge, so that it has no pull request.
    is_without_forge: bool,
}

impl Measured {
    fn without_pull(standing: WorkStatus, closed: &ForgeUnavailable) -> Self {
        let is_without_forge = closed.is_absent();
        Self { standing, pull: Err(closed.message.clone()), unknown: None, is_without_forge }
    }

    /// Returns the commit by which the pull request was merged.
    fn merged_as(&self) -> Option<String> {
        self.pull.as_ref().ok()?.as_ref()?.0.merged_as.clone()
    }

    /// Returns what may prevent a merge on the forge, because the forge does not show it.
    fn unknown_blocker(&self) -> Option<&'static str> {
        match &self.pull {
            Err(_) if !self.is_without_forge => Some("its pull request is unknown"),
            Ok(Some((pull, None))) if pull.state == PullState::Open => Some("the state of its pull request is unknown"),
            _ => None,
        }
    }
}

/// Reports the progress.
///
/// # Errors
/// Returns an error if the RFC is unknown, or the realm cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<PrStatus>, OpError> {
    let here = ctx.realm()?;
    let rfc = request.rfc.clone().or_else(|| worktree::rfc_worktrees::current_rfc(ctx, &here.realm));
    let RfcWork { places, mut errors, at_origin } = places(ctx, here, rfc.as_ref())?;
    errors.extend(at_origin);
    let mut forges = Forges::new(ctx);
    let jobs: Vec<_> = places.into_iter().map(|place| (forges.of(&place.found), place)).collect();
    let progress = ctx.progress();
    let measured = repos::for_each::each(&progress, &jobs, |(forge, place)| {
        let standing = standing(place)?;
        Ok::<_, StoreError>(match forge {
            Ok(on) => with_pull(place, standing, on),
            Err(closed) => Measured::without_pull(standing, closed),
        })
    })?;
    let mut steps = Vec::new();
    let mut lines = Vec::new();
    let mut tips = Vec::new();
    let (mut unknown, mut merges) = (BTreeSet::new(), BTreeMap::new());
    for ((forge, place), measured) in jobs.iter().zip(measured) {
        let closed = match forge {
            Ok(on) => on.forge.as_ref().err(),
            Err(closed) => Some(closed),
        };
        steps.extend(closed.map(ForgeUnavailable::step));
        match measured {
            Ok(measured) => {
                tips.push((place, measured.standing.head.clone()));
                merges.extend(measured.merged_as().map(|merge| (place.found.name.clone(), merge)));
                unknown.extend(measured.unknown_blocker().map(|_| &place.found.name).cloned());
                lines.push(line(here, place, measured));
            }
            Err(error) => errors.push(of_git(&place.found.name, &error)),
        }
    }
    let names: BTreeSet<_> = lines.iter().map(|line| line.name.clone()).collect();
    let waiting = if rfc.is_some() { unpublished(ctx, here, &tips, &lines, &merges)? } else { Vec::new() };
    let mut heads = branch_tips(&tips, &lines);
    heads.extend(waiting.iter().map(Waiting::head));
    // Without an RFC, only repositories with something to merge belong together.
    let members = match rfc {
        Some(_) => names.clone(),
        None => heads.iter().map(|head| head.repo.clone()).collect(),
    };
    let Planned { mut plan, refused, errors: unread } = rfc::plan(ctx, here, &heads, &members)?;
    errors.extend(unread);
    // What such a branch has is not known to be wrong, since it was not published.
    let is_refused = |repo: &RepoName| refused.iter().any(|(refused, _)| refused == repo);
    let is_waiting = |repo: &RepoName| waiting.iter().any(|waiting| waiting.place.found.name == *repo);
    plan.conflicts.retain(|conflict| !is_waiting(&conflict.consumer) || !is_refused(&conflict.consumer));
    let reliance = dependencies(here)?;
    let order = reliance.order(&names, &plan.before);
    set_relations(&mut lines, &reliance, &plan, &waiting);
    for Waiting { place, what, .. } in &waiting {
        add_blocker(&mut lines, &place.found.name, format!("{what} is not published yet"));
    }
    for (repo, why) in refused {
        add_blocker(&mut lines, &repo, why);
    }
    let is_unpushed = auto::is_by_hand(ctx, &here.realm, &*here.store)? && remote_status::is_unpushed(&*here.store)?;
    if is_unpushed {
        wait_for_push(&mut lines);
    }
    let to_pull: Vec<NextStep> = waiting.iter().filter_map(|waiting| Some(waiting.step.clone()?.into())).collect();
    let found = tips.iter().map(|(place, _)| (&place.found, place.is_branch_alone()));
    let places = Places::new(ctx, &lines, found, unknown)?;
    let import_conflicts = places.import_conflicts(&plan);
    let body = PrStatus {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        rfc,
        summary: summary(&lines),
        steps: places.steps(&plan, &order.repos),
        import_conflicts,
        repos: lines,
        merge_order: order.repos,
        cyclic: order.cyclic,
        errors,
    };
    let mut answer = with_next_steps(body, steps);
    answer.next_steps.splice(0..0, to_pull);
    answer.next_steps.splice(0..0, is_unpushed.then(|| PUSH_REALM.into()));
    answer.next_steps.extend(forges.ignored());
    Ok(answer)
}

/// Returns whether all files that could be committed look like secrets. If they cannot be listed, the answer is no.
fn holds_only_secrets(place: &RepoWork) -> bool {
    let found = place.work.uncommitted();
    found.is_ok_and(|found| {
        found.tracked.is_empty()
            && found.conflicts.is_empty()
            && !found.untracked.is_empty()
            && found.untracked.iter().all(|path| looks_secret(&path.to_string_lossy()))
    })
}

/// Queries the forge. The default branch never belongs to a pull request.
fn with_pull(place: &RepoWork, standing: WorkStatus, on: &OnForge) -> Measured {
    let forge = match &on.forge {
        Ok(forge) => forge,
        Err(closed) => return Measured::without_pull(standing, closed),
    };
    let branch = standing.branch.as_deref().filter(|branch| Some(*branch) != place.found.default.as_deref());
    let asked = branch.map(|branch| forge.of_branch(branch)).transpose().map(Option::flatten);
    let (pull, unknown) = match asked {
        Ok(Some(pull)) if pull.state == PullState::Open => match forge.status(&pull) {
            Ok(condition) => {
                let unknown = condition.checks.is_none().then(|| UNKNOWN_CHECKS.to_owned());
                (Ok(Some((pull, Some(condition)))), unknown)
            }
            Err(error) => (Ok(Some((pull, None))), Some(unknown(&error))),
        },
        // The checks of a closed pull request no longer matter.
        Ok(pull) => (Ok(pull.map(|pull| (pull, None))), None),
        Err(error) => (Err(unknown(&error)), None),
    };
    Measured { standing, pull, unknown, is_without_forge: false }
}

/// Returns why the state on the forge is unknown.
fn unknown(error: &ForgeError) -> String {
    match error {
        ForgeError::TimedOut { .. } => format!("{error}; only what git knows is shown"),
        _ => error.to_string(),
    }
}

fn line(here: &RealmContext, place: &RepoWork, measured: Measured) -> PrRepo {
    let unknown_blocker = measured.unknown_blocker();
    let Measured { standing, pull, unknown, .. } = measured;
    let (pull, unknown) = match pull {
        Ok(pull) => (pull.map(|(pull, condition)| request_of(pull, condition)), unknown),
        Err(why) => (None, Some(why)),
    };
    let mut line = PrRepo {
        name: place.found.name.clone(),
        path: place.path.display().to_string(),
        is_current: here.repo.as_ref() == Some(&place.found.name),
        branch: standing.branch.clone(),
        base: place.found.default.clone(),
        uncommitted_changes: standing.uncommitted,
        holds_only_secrets: standing.uncommitted > 0 && holds_only_secrets(place),
        commits_ahead: standing.ahead,
        commits_behind: standing.behind,
        pushed: (standing.ahead > 0).then_some(standing.unpushed == Some(0)),
        pr: pull,
        pr_problem: unknown,
        depends_on: Vec::new(),
        blocked_by: Vec::new(),
        blockers: Vec::new(),
        ready: false,
    };
    line.blockers = blockers(&line, &standing);
    let is_to_merge = line.commits_ahead > 0;
    line.blockers.extend(unknown_blocker.filter(|_| is_to_merge).map(str::to_owned));
    line.ready = line.blockers.is_empty();
    line
}

fn request_of(pull: Pull, condition: Option<PullStatus>) -> PullRequest {
    let condition = condition.unwrap_or_default();
    PullRequest {
        number: pull.number,
        state: pull.state,
        draft: pull.draft,
        url: pull.url,
        title: pull.title,
        mergeable: condition.mergeable,
        reviews: PullReviews { approved: condition.approved, changes_requested: condition.changes_requested },
        checks: condition.checks,
    }
}

/// Returns what prevents a merge in the repository itself, from the working tree to the pull request.
fn blockers(line: &PrRepo, standing: &WorkStatus) -> Vec<String> {
    let base = line.base.as_deref().unwrap_or("the default branch");
    let is_merged = line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged);
    let mut found = Vec::new();
    if line.branch.is_none() {
        found.push("HEAD is detached".to_owned());
    }
    if line.uncommitted_changes > 0 {
        found.push(count(line.uncommitted_changes, "uncommitted change", "uncommitted changes"));
    }
    match line.uncommitted_changes {
        _ if line.commits_ahead > 0 || is_merged => {}
        0 if line.base.is_some() => found.push(format!("nothing to merge: {base} has all its commits")),
        _ => found.push(format!("no commits beyond {base}")),
    }
    match standing.unpushed {
        _ if line.commits_ahead == 0 || is_merged => {}
        Some(0) => {}
        Some(unpushed) => found.push(format!("{} not pushed", count(unpushed, "commit is", "commits are"))),
        None => found.push("its branch is not on the remote".into()),
    }
    let Some(pr) = line.pr.as_ref().filter(|pr| pr.state != PullState::Merged) else { return found };
    if pr.state == PullState::Closed {
        found.push("its pull request was closed".into());
        return found;
    }
    if pr.draft {
        found.push("its pull request is a draft".into());
    }
    if pr.mergeable == Some(false) {
        found.push(format!("it cannot be merged into {base} without conflicts"));
    }
    if pr.reviews.changes_requested > 0 {
        found.push(format!(
            "{} changes",
            count(pr.reviews.changes_requested, "reviewer requested", "reviewers requested")
        ));
    }
    let checks = pr.checks.unwrap_or_default();
    if checks.failed > 0 {
        found.push(count(checks.failed, "check failed", "checks failed"));
    }
    if checks.pending > 0 {
        found.push(count(checks.pending, "check is pending", "checks are pending"));
    }
    found
}

/// Returns how the repositories of the realm rely on each other.
pub(crate) fn dependencies(here: &RealmContext) -> Result<Dependencies, OpError> {
    let overview = Overview::open(&*here.store)?;
    let mut reliance = Dependencies::default();
    for line in overview.domains() {
        let summary = overview.summary(line)?;
        reliance.add(&summary);
    }
    Ok(reliance)
}

/// Returns the tips of the branches that have something to merge.
fn branch_tips<'a>(tips: &'a [(&RepoWork, Option<String>)], lines: &[PrRepo]) -> Vec<Head<'a>> {
    let is_open = |name: &RepoName| lines.iter().any(|line| line.name == *name && has_to_merge(line));
    let open = tips.iter().filter(|(place, _)| is_open(&place.found.name));
    let head = |(place, head): &'a (&RepoWork, Option<String>)| {
        Some(Head { repo: &place.found.name, folder: &place.path, commit: head.as_deref()? })
    };
    open.filter_map(head).collect()
}

/// Returns what is merged in repositories with nothing left to merge, if it is not published: the merge on the forge, or
/// the publishing branch. It counts like a branch that is still to merge. `merges` are the commits by which pull requests
/// were merged. A repository that cannot be read is left out.
fn unpublished<'a>(
    ctx: &Ctx,
    here: &RealmContext,
    tips: &[(&'a RepoWork, Option<String>)],
    lines: &[PrRepo],
    merges: &BTreeMap<RepoName, String>,
) -> Result<Vec<Waiting<'a>>, OpError> {
    let overview = Overview::open(&*here.store)?;
    let is_merged = |name: &RepoName| lines.iter().any(|line| line.name == *name && !has_to_merge(line));
    let mut waiting = Vec::new();
    for (place, head) in tips.iter().filter(|(place, _)| is_merged(&place.found.name)) {
        let Ok(Some(code)) = ctx.other_repo(&place.found.folder) else { continue };
        let acting = ActingRepo { realm: &here.realm, store: &*here.store, repo: &place.found.name, code: Some(&code) };
        let sources = contract::publish::sources(acting, Some(&overview))?;
        let merge = merges.get(&place.found.name).map(String::as_str);
        if let Some(merge) = unpublished_merge((acting, &code), place, (head.as_deref(), merge), &sources) {
            waiting.push(merge);
            continue;
        }
        let found = catch_up::unpublished_commit(acting, &code, Scope::All(&sources));
        waiting.extend(
            found
                .ok()
                .flatten()
                .filter(|found| found.unclear.is_none() && found.behind.is_none())
                .map(|found| Waiting { place, commit: found.commit.to_string(), what: found.branch, step: None }),
        );
    }
    Ok(waiting)
}

/// Returns the merge of a branch with this `head` on the forge, if it is neither here nor published. One that cannot be
/// judged counts as published.
fn unpublished_merge<'a>(
    (acting, code): (ActingRepo<'_>, &CodeRepo),
    place: &'a RepoWork,
    (head, merge): (Option<&str>, Option<&str>),
    sources: &Sources,
) -> Option<Waiting<'a>> {
    let (head, merge) = (head?.parse().ok()?, merge?.parse().ok()?);
    let branch = place.found.default.as_ref()?;
    let is_here = !is_to_pull(code, branch, &merge, sources.values().flat_map(|source| source.latest())).ok()?;
    if is_here || !catch_up::has_changes(acting, code, branch, head, sources).ok()? {
        return None;
    }
    let step = Some(pull(code, place, branch));
    Some(Waiting { place, commit: head.to_string(), what: "its merge".to_owned(), step })
}

/// Returns whether neither the publishing branch nor what was published has the commit by which a pull request was merged. A
/// published commit that is not here comes from another clone, which may have pulled.
fn is_to_pull(
    code: &CodeRepo,
    branch: &str,
    merge: &Oid,
    published: impl Iterator<Item = Oid>,
) -> Result<bool, StoreError> {
    for tip in code.reference(&format!("refs/heads/{branch}"))?.into_iter().chain(published) {
        if tip == *merge || !code.has(&tip) || (code.has(merge) && code.is_ancestor(merge, &tip)?) {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Returns the command that brings a merge into the publishing branch, and publishes it.
fn pull(code: &CodeRepo, place: &RepoWork, branch: &str) -> String {
    let (folder, remote) = (shell_path(&place.found.folder), shell_word(&place.found.remote));
    let is_here = code.head().is_ok_and(|head| head.branch.as_deref() == Some(branch)) && !code.is_bare();
    let branch = shell_word(branch);
    let pull = if is_here {
        format!("git -C {folder} pull {remote} {branch}")
    } else {
        format!("git -C {folder} fetch {remote} {branch}:{branch} && git -C {folder} blue status")
    };
    format!("{pull}  # publish what was merged on the forge")
}

/// Adds a blocker to the repositories that others rely on: a check of them on another machine would use the bindings
/// that were pushed last.
fn wait_for_push(lines: &mut [PrRepo]) {
    let providers: BTreeSet<_> = lines.iter().flat_map(|line| line.depends_on.clone()).collect();
    for name in providers {
        if lines.iter().any(|line| line.name == name && has_to_merge(line)) {
            add_blocker(lines, &name, "the realm is not pushed".to_owned());
        }
    }
}

fn set_relations(lines: &mut [PrRepo], reliance: &Dependencies, plan: &Plan, waiting: &[Waiting<'_>]) {
    let names: BTreeSet<_> = lines.iter().map(|line| line.name.clone()).collect();
    let has_conflict = |name: &RepoName| plan.conflicts.iter().any(|conflict| conflict.consumer == *name);
    // A repository without changes, or with merged ones, blocks no other.
    let is_merged = |line: &PrRepo| line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged);
    let is_open = |line: &PrRepo| {
        has_to_merge(line)
            || (line.uncommitted_changes > 0 && !is_merged(line))
            || has_conflict(&line.name)
            || waiting.iter().any(|waiting| waiting.place.found.name == line.name)
    };
    let open: BTreeSet<_> = lines.iter().filter(|line| is_open(line)).map(|line| line.name.clone()).collect();
    for line in &mut *lines {
        line.depends_on = reliance.of(&line.name, &names);
        let before = reliance.before(&line.name, &names, &plan.before);
        line.blocked_by = before.into_iter().filter(|name| open.contains(name)).collect();
    }
    for conflict in &plan.conflicts {
        let RangeConflict { consumer, provider, at, new, .. } = conflict;
        let must = match &conflict.widened {
            Some(range) => format!("must accept {range} of {at} before {provider} publishes {new}"),
            None => format!("must accept {new} of {at} before {provider} publishes it"),
        };
        if names.contains(consumer) {
            add_blocker(lines, consumer, must)
        } else {
            add_blocker(lines, provider, format!("{consumer}, which has no local branch for this RFC, {must}"))
        }
    }
}

fn add_blocker(lines: &mut [PrRepo], repo: &RepoName, blocker: String) {
    for line in lines.iter_mut().filter(|line| line.name == *repo) {
        line.blockers.push(blocker.clone());
        line.ready = false;
    }
}

fn summary(lines: &[PrRepo]) -> PrSummary {
    let all_clean = lines.iter().all(|line| line.uncommitted_changes == 0);
    let has_work = |line: &&PrRepo| line.commits_ahead > 0;
    let all_pushed = lines.iter().all(|line| line.pushed != Some(false));
    let ready_for_pr = all_clean && all_pushed && lines.iter().any(|line| has_work(&line));
    PrSummary { all_clean, all_pushed, ready_for_pr }
}

fn with_next_steps(body: PrStatus, closed: Vec<NextStep>) -> Answer<PrStatus> {
    let command = |verb: &str, more: &str, what: &str| match &body.rfc {
        Some(rfc) => NextStep::from(format!("git blue realm pr {verb} --rfc {rfc} {more}  # {what}")),
        None => NextStep::advice(what),
    };
    let all_pushed = body.summary.all_pushed;
    let lacks_one =
        body.repos.iter().any(|line| line.commits_ahead > 0 && line.pr.is_none() && line.pr_problem.is_none());
    let first = body.merge_order.iter().find_map(|name| {
        let line = body.repos.iter().find(|line| line.name == *name)?;
        let is_next = line.ready && line.blocked_by.is_empty();
        line.pr
            .as_ref()
            .filter(|pr| is_next && pr.state == PullState::Open)
            .map(|pr| NextStep::advice(format!("merge {name} first: {}", pr.url)))
    });
    let mut steps: Vec<_> = body.errors.iter().filter_map(|one| one.next_step.as_deref().cloned()).collect();
    if body.repos.iter().any(|line| line.holds_only_secrets) {
        steps.push(NextStep::advice(
            "files that may contain secrets are not committed; add them one by one with git add",
        ));
    }
    if body.repos.iter().any(|line| line.uncommitted_changes > 0 && !line.holds_only_secrets) {
        let what = "commit changes in repositories with uncommitted files";
        steps.push(command("prepare", "--message \"…\"", what));
    }
    if !all_pushed || lacks_one {
        let what = if all_pushed { "open pull requests" } else { "push the commits and open pull requests" };
        steps.push(command("create", "--title \"…\"", what));
    }
    steps.extend(first);
    let edit = body.steps.first().filter(|step| step.action == MergeAction::Widen);
    steps.extend(edit.map(|step| NextStep::advice(step.text.clone())));
    let mut closed = closed;
    closed.sort_by_key(ToString::to_string);
    closed.dedup();
    closed.truncate(3);
    steps.extend(closed);
    let mut answer = Answer::new(body);
    answer.next_steps = steps;
    answer
}
