//! `realm_pr_status`: reports the progress of an RFC in each repository, what prevents its merge, and the merge order.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    finish,
    merge_steps::{Pending, Places, SYNC},
    progress::{Measured, has_to_merge, is_on_base, line, with_pull},
    rfc::{self, Head, Planned, Refused},
    rfc_work::{RepoWork, RfcWork, on_main, places, standing},
    unmergeable,
    unpublished_merges::{self, Waiting},
};
use crate::{
    error::{NextStep, OpError},
    model::{
        name::{RepoName, RfcName},
        pull::{
            order::{Before, Dependencies},
            plan::{BrokenImport, Plan, RangeConflict},
        },
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        repos::{
            self,
            forges::{ForgeUnavailable, Forges},
        },
        runs,
        sync::{auto, remote_status},
        worktree::{self, create::of_git},
    },
    repo::blue_files,
    store::{StoreError, overview::Overview},
    wire::{Answer, MergeAction, MergeStep, PrRepo, PrStatus, PrSummary, PullState},
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

/// The step if the realm is not pushed.
const PUSH_REALM: &str = "git blue sync  # checks on other machines do not see yet what was published here";

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
    let (mut unknown, mut conflicting, mut merges) = (BTreeSet::new(), BTreeSet::new(), BTreeMap::new());
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
                conflicting.extend(measured.standing.conflicts.then(|| place.found.name.clone()));
                lines.push(line(here, place, measured));
            }
            Err(error) => errors.push(of_git(&place.found.name, &error)),
        }
    }
    let names: BTreeSet<_> = lines.iter().map(|line| line.name.clone()).collect();
    let is_by_hand = auto::is_by_hand(ctx, &here.realm, &*here.store)?;
    let (mut waiting, mut unpushed) = (Vec::new(), BTreeSet::new());
    if rfc.is_some() {
        waiting = unpublished_merges::find(ctx, here, &tips, &lines, &merges, is_by_hand)?;
        unpushed = unpublished_merges::unpushed(&tips);
        unpushed.retain(|repo| !unknown.contains(repo) && !has_open_pull(&lines, repo));
    }
    let mut heads = branch_tips(&tips, &lines);
    heads.extend(waiting.iter().map(Waiting::head));
    // Without an RFC, only repositories with something to merge belong together.
    let members = match rfc {
        Some(_) => names.clone(),
        None => heads.iter().map(|head| head.repo.clone()).collect(),
    };
    let mut planned = rfc::plan(ctx, here, &heads, &members)?;
    let outside = if rfc.is_some() { outside(&planned.plan, &names) } else { BTreeMap::new() };
    let on_main = on_main(ctx, here, outside.keys())?;
    let to_pull = unpublished_merges::at_remotes(ctx, here, &on_main)?;
    if !to_pull.is_empty() {
        heads.extend(to_pull.iter().map(Waiting::head));
        planned = rfc::plan(ctx, here, &heads, &members)?;
    }
    let Planned { mut plan, mut refused, breaks, errors: unread } = planned;
    errors.extend(unread);
    // What such a branch has is not known to be wrong, since it was not published.
    let is_refused = |repo: &RepoName| refused.iter().any(|refused| refused.repo == *repo);
    let is_waiting = |repo: &RepoName| waiting.iter().any(|waiting| waiting.place.found.name == *repo);
    plan.conflicts.retain(|conflict| !is_waiting(&conflict.consumer) || !is_refused(&conflict.consumer));
    let open = tips.iter().map(|(place, _)| *place).filter(|place| is_to_merge(&lines, &place.found.name));
    refused.splice(0..0, unmergeable::find(ctx, open, &conflicting));
    let reliance = dependencies(here)?;
    wait_for_pushes(&mut plan, &unpushed, &reliance, &lines);
    let order = reliance.order(&names, &plan.before);
    let is_held = |repo: &RepoName| unpushed.contains(repo) || is_waiting(repo);
    set_relations(&mut lines, &reliance, (&plan, &order.before), is_held);
    for Waiting { place, what, .. } in &waiting {
        add_blocker(&mut lines, &place.found.name, format!("{what} is not published yet"));
    }
    for (consumer, provider) in to_pull.iter().flat_map(|one| outside.get_key_value(&one.place.found.name)) {
        add_blocker(&mut lines, provider, format!("{consumer} was merged at its remote, and has to be pulled"));
    }
    for name in &unpushed {
        add_blocker(&mut lines, name, "its publishing branch is merged here, but not pushed".to_owned());
    }
    for (repo, why) in
        refused.iter().map(|Refused { repo, why, .. }| (repo, why)).chain(breaks.iter().map(|(repo, why)| (repo, why)))
    {
        add_blocker(&mut lines, repo, why.clone());
    }
    let is_unpushed = is_by_hand && remote_status::is_unpushed(&*here.store)?;
    if is_unpushed {
        wait_for_push(&mut lines);
    }
    let is_old = is_by_hand && lines.iter().any(has_to_merge) && !auto::is_fresh(ctx, here)?;
    let push = is_unpushed.then(|| PUSH_REALM.to_owned());
    let to_sync = push.or_else(|| is_old.then(|| format!("git {SYNC}")));
    let found = tips.iter().map(|(place, _)| (&place.found, place.is_branch_alone()));
    let places = Places::new(ctx, (&lines, rfc.as_ref()), found, unknown)?;
    waiting.extend(to_pull);
    let pending = Pending { refused: &refused, waiting: &waiting, unpushed: &unpushed, is_old };
    let merge_steps = places.steps(&plan, &order.repos, &pending);
    let to_publish = merge_steps.iter().filter(|step| step.action == MergeAction::Publish);
    let to_publish: Vec<NextStep> = to_publish.filter_map(|step| Some(step.command.clone()?.into())).collect();
    let is_done = merge_steps.is_empty() && refused.is_empty() && breaks.is_empty() && !is_unpushed;
    let to_finish = match &rfc {
        Some(rfc) if is_done && errors.is_empty() && finish::is_all_merged(&tips, &lines) => {
            let retire = finish::retire(ctx, here, rfc, &tips)?;
            if retire.is_empty() { finish::clean_up(rfc, &tips, &lines) } else { retire }
        }
        _ => Vec::new(),
    };
    let is_no_merge = |step: &MergeStep| matches!(step.action, MergeAction::Narrow | MergeAction::Sync);
    let is_to_come = |name: &RepoName| merge_steps.iter().any(|step| step.repo == *name && !is_no_merge(step));
    let merge_order =
        order.repos.iter().filter(|name| is_to_merge(&lines, name) || is_to_come(name)).cloned().collect();
    let import_conflicts = places.import_conflicts(&plan);
    let to_push: Vec<_> = lines.iter().filter_map(|line| places.push_main(line)).collect();
    let to_adapt: Vec<_> = plan.broken.iter().filter_map(|broken| adapt_first(&places, &lines, broken)).collect();
    let body = PrStatus {
        realm: here.realm.clone(),
        current_repo: here.repo.clone(),
        rfc,
        summary: summary(&lines),
        steps: merge_steps,
        import_conflicts,
        repos: lines,
        merge_order,
        cyclic: order.cyclic,
        errors,
    };
    let mut answer = with_next_steps(body, steps);
    answer.next_steps.splice(0..0, to_push);
    answer.next_steps.splice(0..0, to_adapt);
    answer.next_steps.splice(0..0, to_publish);
    answer.next_steps.splice(0..0, to_finish);
    answer.next_steps.splice(0..0, to_sync.map(NextStep::from));
    answer.next_steps.extend(forges.ignored());
    Ok(answer)
}

/// Returns the edit that must come before the merge of a provider that breaks an import.
fn adapt_first(places: &Places<'_>, lines: &[PrRepo], broken: &BrokenImport) -> Option<NextStep> {
    let BrokenImport { consumer, at, merged, .. } = broken;
    let provider = merged.as_ref().filter(|merged| *merged != consumer)?;
    let on_branch = is_to_merge(lines, consumer);
    let file = places.file(consumer, on_branch, &blue_files::binding(&at.domain))?;
    let needs = format!("state what its code needs of {} under expects in {}", at.contract, file.display());
    Some(NextStep::advice(format!("{consumer}: {needs}, and commit it before {provider} is merged")))
}

/// Returns the importers without a branch whose imports the plan breaks, each with a provider that does.
fn outside(plan: &Plan, names: &BTreeSet<RepoName>) -> BTreeMap<RepoName, RepoName> {
    let conflicts = plan.conflicts.iter().map(|conflict| (&conflict.consumer, &conflict.provider));
    let broken = plan.broken.iter().filter_map(|broken| Some((&broken.consumer, broken.merged.as_ref()?)));
    let both = conflicts.chain(broken).filter(|(consumer, _)| !names.contains(*consumer));
    both.map(|(consumer, provider)| (consumer.clone(), provider.clone())).collect()
}

fn is_to_merge(lines: &[PrRepo], name: &RepoName) -> bool {
    lines.iter().any(|line| line.name == *name && has_to_merge(line))
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
    let open = tips.iter().filter(|(place, _)| is_to_merge(lines, &place.found.name));
    let head = |(place, head): &'a (&RepoWork, Option<String>)| {
        Some(Head { repo: &place.found.name, folder: &place.path, commit: head.as_deref()? })
    };
    open.filter_map(head).collect()
}

/// Adds a blocker to the repositories that others rely on: a check of them on another machine would use the bindings
/// that were pushed last.
fn wait_for_push(lines: &mut [PrRepo]) {
    let providers: BTreeSet<_> = lines.iter().flat_map(|line| line.depends_on.clone()).collect();
    for name in providers {
        if is_to_merge(lines, &name) {
            add_blocker(lines, &name, "the realm is not pushed".to_owned());
        }
    }
}

fn has_open_pull(lines: &[PrRepo], repo: &RepoName) -> bool {
    let is_open = |line: &PrRepo| line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Open);
    lines.iter().any(|line| line.name == *repo && is_open(line))
}

/// Makes the owners of what a repository imports wait until it is pushed: elsewhere, it does not accept their new versions
/// yet.
fn wait_for_pushes(plan: &mut Plan, unpushed: &BTreeSet<RepoName>, reliance: &Dependencies, lines: &[PrRepo]) {
    let left = lines.iter().filter(|line| has_to_merge(line) && !unpushed.contains(&line.name));
    let left: BTreeSet<_> = left.map(|line| line.name.clone()).collect();
    for name in unpushed {
        for provider in reliance.of(name, &left) {
            plan.before.entry(provider).or_default().insert(name.clone());
        }
    }
}

fn set_relations(
    lines: &mut [PrRepo],
    reliance: &Dependencies,
    (plan, before): (&Plan, &Before),
    is_held: impl Fn(&RepoName) -> bool,
) {
    let names: BTreeSet<_> = lines.iter().map(|line| line.name.clone()).collect();
    let has_conflict = |name: &RepoName| plan.conflicts.iter().any(|conflict| conflict.consumer == *name);
    // A repository without changes, or with merged ones, blocks no other.
    let is_merged = |line: &PrRepo| line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged);
    let is_open = |line: &PrRepo| {
        has_to_merge(line)
            || (line.uncommitted_changes > 0 && !is_merged(line))
            || has_conflict(&line.name)
            || is_held(&line.name)
    };
    let open: BTreeSet<_> = lines.iter().filter(|line| is_open(line)).map(|line| line.name.clone()).collect();
    for line in &mut *lines {
        line.depends_on = reliance.of(&line.name, &names);
        // A repository that is done waits for nothing.
        let before = before.get(&line.name).filter(|_| open.contains(&line.name)).into_iter().flatten();
        line.blocked_by = before.filter(|name| open.contains(*name)).cloned().collect();
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
        line.ready = false;
        if !line.blockers.contains(&blocker) {
            line.blockers.push(blocker.clone());
        }
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
    // No pull request has what is on the publishing branch already.
    let branches = || body.repos.iter().filter(|line| !is_on_base(line));
    let all_pushed = branches().all(|line| line.pushed != Some(false));
    let lacks_one = branches().any(|line| line.commits_ahead > 0 && line.pr.is_none() && line.pr_problem.is_none());
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
    let is_edit = |step: &&MergeStep| matches!(step.action, MergeAction::Widen | MergeAction::Repair);
    let first = body.steps.first().filter(is_edit);
    steps.extend(first.map(|step| match &step.command {
        Some(command) => command.clone().into(),
        None => NextStep::advice(step.text.clone()),
    }));
    let mut closed = closed;
    closed.sort_by_key(ToString::to_string);
    closed.dedup();
    closed.truncate(3);
    steps.extend(closed);
    let mut answer = Answer::new(body);
    answer.next_steps = steps;
    answer
}
