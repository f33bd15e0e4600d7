//! The steps that merge an RFC so that every check passes in between: accept both versions, merge the consumers, merge
//! the provider, stop accepting the old version.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::{
    main_folder::MainFolder,
    progress::{has_to_merge, is_on_base},
    rfc::{Refused, Repair},
    unpublished_merges::Waiting,
};

use crate::{
    error::{NextStep, OpError},
    model::{
        name::{ContractRef, RepoName, RfcName},
        pull::plan::{Plan, RangeConflict, RangeToNarrow, SchemaEffect},
        range::Range,
        text::{shell_path, shell_word},
    },
    ops::{ctx::Ctx, repos::paths::FoundRepo, sync::auto, worktree::list::all_found},
    repo::blue_files,
    wire::{ImportConflict, MergeAction, MergeStep, PrRepo, PullState},
};

/// The command that gets what others published, without `git`.
pub(super) const SYNC: &str = "blue sync  # others may have published since the last sync; then show the steps again";

/// The repositories, and their folders.
pub struct Places<'a> {
    lines: &'a [PrRepo],
    rfc: Option<&'a RfcName>,
    /// The current folder, from which a repository can be cloned.
    here: PathBuf,
    /// The folder of the publishing branch of each repository on this machine.
    mains: BTreeMap<RepoName, MainFolder>,
    /// The main worktree of each repository whose branch is not checked out in any folder.
    not_checked_out: BTreeMap<RepoName, PathBuf>,
    /// The repositories that may have a pull request, but the forge does not show it.
    unknown: BTreeSet<RepoName>,
    /// Whether the realm has a remote, and automatic sync is off.
    is_pushed_by_hand: bool,
}

/// What has to be done besides the plan.
pub(super) struct Pending<'a> {
    /// The branches that cannot be merged as they are.
    pub refused: &'a [Refused],
    /// What is merged, but not published.
    pub waiting: &'a [Waiting<'a>],
    /// The repositories with published commits that are not pushed.
    pub unpushed: &'a BTreeSet<RepoName>,
    /// Whether the realm may lack what others published.
    pub is_old: bool,
}

impl Pending<'_> {
    fn is_empty(&self) -> bool {
        self.refused.is_empty() && self.waiting.is_empty() && self.unpushed.is_empty()
    }
}

impl<'a> Places<'a> {
    /// Returns the places of an RFC. `found` has the repositories, and whether their branch is not checked out in any
    /// folder, and `unknown` those whose pull request the forge does not show.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read.
    pub fn new<'f>(
        ctx: &Ctx,
        (lines, rfc): (&'a [PrRepo], Option<&'a RfcName>),
        found: impl Iterator<Item = (&'f FoundRepo, bool)> + Clone,
        unknown: BTreeSet<RepoName>,
    ) -> Result<Self, OpError> {
        let here = ctx.realm()?;
        let main = |found: &FoundRepo| Some((found.name.clone(), MainFolder::of(ctx, found).ok()??));
        let mut mains: BTreeMap<_, _> = all_found(ctx, here)?.0.iter().filter_map(main).collect();
        mains.extend(found.clone().filter_map(|(found, _)| main(found)));
        let not_checked_out = found.filter(|(_, is_branch_alone)| *is_branch_alone);
        let not_checked_out = not_checked_out.map(|(found, _)| (found.name.clone(), found.folder.clone())).collect();
        let is_pushed_by_hand = auto::is_by_hand(ctx, &here.realm, &*here.store)?;
        let here = ctx.env.cwd().to_owned();
        Ok(Self { lines, rfc, here, mains, not_checked_out, unknown, is_pushed_by_hand })
    }

    /// Returns the imports that break in every order, each with the possible solutions.
    pub fn import_conflicts(&self, plan: &Plan) -> Vec<ImportConflict> {
        let conflict = |conflict: &RangeConflict| ImportConflict {
            consumer: conflict.consumer.clone(),
            provider: conflict.provider.clone(),
            domain: conflict.at.domain.clone(),
            contract: conflict.at.contract.clone(),
            old_version: conflict.old.clone(),
            new_version: conflict.new.clone(),
            old_version_req: conflict.range_before.clone(),
            version_req: conflict.range_after.clone(),
            resolutions: self.resolutions(conflict),
        };
        plan.conflicts.iter().map(conflict).collect()
    }

    fn resolutions(&self, conflict: &RangeConflict) -> Vec<String> {
        let mut ways: Vec<_> = self.widen(conflict).map(|step| step.text).into_iter().collect();
        if let (Some(range), Some(old)) = (&conflict.range_before, &conflict.old) {
            let ContractRef { domain, contract } = &conflict.at;
            let Some(file) = self.file(&conflict.provider, true, &blue_files::contract_path(domain, contract)) else {
                return ways;
            };
            let file = file.display();
            let switch = self.switch(&conflict.provider).map(|switch| format!("{switch}, then ")).unwrap_or_default();
            ways.push(format!(
                "{}: alternatively, if {old} is still served, {switch}write supported: [\"{range}\"] in {file}, and \
                    commit it",
                conflict.provider
            ));
        }
        ways
    }

    /// Returns the steps in order. Without an RFC, there are none if the merges change no import. The list ends where a
    /// branch has to be repaired.
    pub(super) fn steps(&self, plan: &Plan, order: &[RepoName], pending: &Pending<'_>) -> Vec<MergeStep> {
        let planned = self.planned(plan, order, pending);
        let sync = planned.first().filter(|_| pending.is_old).map(|first| self.sync(&first.repo));
        sync.into_iter().chain(planned).collect()
    }

    fn planned(&self, plan: &Plan, order: &[RepoName], pending: &Pending<'_>) -> Vec<MergeStep> {
        if self.rfc.is_none() && *plan == Plan::default() && pending.is_empty() {
            return Vec::new();
        }
        let conflicts =
            |repo: &RepoName| plan.conflicts.iter().filter(|conflict| conflict.consumer == *repo).collect::<Vec<_>>();
        let mut steps: Vec<_> = pending.unpushed.iter().filter_map(|repo| self.push(repo)).collect();
        let not_pulled = pending.waiting.iter().filter(|waiting| !order.contains(&waiting.place.found.name));
        steps.extend(not_pulled.filter_map(Waiting::publish));
        let outside = plan.conflicts.iter().filter(|conflict| !order.contains(&conflict.consumer));
        steps.extend(outside.filter_map(|conflict| self.widen(conflict)));
        for repo in order {
            let waiting = pending.waiting.iter().find(|waiting| waiting.place.found.name == *repo);
            let line = self.line(repo).filter(|_| !pending.unpushed.contains(repo));
            if let Some(refused) = pending.refused.iter().find(|refused| refused.repo == *repo) {
                steps.push(self.repair(refused));
                return steps;
            }
            steps.extend(waiting.and_then(Waiting::publish));
            let conflicts = conflicts(repo);
            steps.extend(conflicts.iter().filter_map(|conflict| self.widen(conflict)));
            let line = line.filter(|line| has_to_merge(line) || !conflicts.is_empty());
            steps.extend(line.map(|line| self.merge(line)));
        }
        steps.extend(plan.to_narrow.iter().filter_map(|narrowed| self.narrow(narrowed)));
        steps
    }

    fn line(&self, repo: &RepoName) -> Option<&PrRepo> {
        self.lines.iter().find(|line| line.name == *repo)
    }

    /// Returns a file of a repository on this machine: in the folder that has the branch, or that of the publishing branch.
    pub fn file(&self, repo: &RepoName, on_branch: bool, path: &str) -> Option<PathBuf> {
        let branch = self.line(repo).filter(|_| on_branch).map(|line| PathBuf::from(&line.path));
        let folder = branch.or_else(|| self.mains.get(repo).map(|main| main.folder.clone()));
        folder.map(|folder| folder.join(path))
    }

    /// Returns how to check out the branch of a repository before its files are changed, unless it is checked out.
    fn switch(&self, repo: &RepoName) -> Option<String> {
        let folder = self.not_checked_out.get(repo)?;
        let branch = self.line(repo)?.branch.as_ref()?;
        Some(format!("git -C {} switch {}", shell_path(folder), shell_word(branch)))
    }

    /// Returns the edit of an import: on the branch, or on the publishing branch, which is pulled first, and then pushed.
    fn edit(
        &self,
        repo: &RepoName,
        at: &ContractRef,
        action: MergeAction,
        range: &Range,
        why: &str,
    ) -> Option<MergeStep> {
        let ContractRef { domain, contract } = at;
        let path = blue_files::binding(domain);
        let on_branch = action == MergeAction::Widen && self.line(repo).is_some();
        let file = self.file(repo, on_branch, &path)?.display().to_string();
        let main = self.mains.get(repo).filter(|_| !on_branch);
        let first = match main {
            Some(main) => (!main.has_branch).then(|| main.switch()).into_iter().chain(main.update()).collect(),
            None => Vec::from_iter(self.switch(repo)),
        };
        let first = if first.is_empty() { String::new() } else { format!("{}, then ", first.join(" && ")) };
        let message = format!("Accept {range} of {at}");
        let pushed = main.map(|main| self.pushed(main.push(), main)).filter(|pushed| !pushed.is_empty());
        let commit = match main.zip(pushed) {
            Some((main, pushed)) => format!(", then {}{pushed}", main.commit(&path, &message)),
            None => ", and commit it".to_owned(),
        };
        let what = format!("{first}write version: \"{range}\" for {contract} in {file}{commit}  # {why}");
        Some(MergeStep {
            domain: Some(domain.clone()),
            contract: Some(contract.clone()),
            version_req: Some(range.clone()),
            file: Some(file),
            ..said(repo, action, &what)
        })
    }

    /// Returns the end of a command that commits to the publishing branch: it is pushed, and so is what that published,
    /// which the check of the next repository elsewhere needs.
    fn pushed(&self, push: impl IntoIterator<Item = String>, main: &MainFolder) -> String {
        let sync = self.is_pushed_by_hand.then(|| main.sync());
        push.into_iter().chain(sync).map(|command| format!(" && {command}")).collect()
    }

    /// Returns the step that clones a repository which is not on this machine.
    fn clone(&self, repo: &RepoName, at: &ContractRef, range: &Range) -> Option<MergeStep> {
        let rfc = shell_word(&self.rfc?.to_string());
        let command = format!(
            "git -C {} blue realm worktree create --rfc {rfc} --repos {repo} --clone  # {repo} is not on this machine, and \
                must accept {range} of {at}",
            shell_path(&self.here)
        );
        Some(MergeStep {
            domain: Some(at.domain.clone()),
            contract: Some(at.contract.clone()),
            version_req: Some(range.clone()),
            ..step(repo, MergeAction::Widen, command)
        })
    }

    /// Returns the step that makes a branch publishable.
    fn repair(&self, Refused { repo, why, repair }: &Refused) -> MergeStep {
        let folder = self.line(repo).map(|line| shell_path(Path::new(&line.path))).unwrap_or_default();
        let repair = match repair {
            Some(Repair::Merge(merge)) => merge.clone(),
            Some(Repair::Bump { at, files }) => {
                let files: Vec<_> = files.iter().map(|file| shell_word(file)).collect();
                format!(
                    "git -C {folder} blue contract bump {at} && git -C {folder} commit -m 'Bump {at}' {}  # {why}",
                    files.join(" ")
                )
            }
            None => return said(repo, MergeAction::Repair, why),
        };
        let switch = self.switch(repo).map(|switch| format!("{switch} && ")).unwrap_or_default();
        step(repo, MergeAction::Repair, format!("{switch}{repair}"))
    }

    /// Returns the step that gets what others published, before the first one of a repository.
    fn sync(&self, repo: &RepoName) -> MergeStep {
        step(repo, MergeAction::Sync, format!("git -C {} {SYNC}", shell_path(&self.here)))
    }

    /// Returns the step that pushes the publishing branch.
    fn push(&self, repo: &RepoName) -> Option<MergeStep> {
        let main = self.mains.get(repo)?;
        let pushed = self.pushed(main.update().into_iter().chain(main.push()), main);
        let command = format!("{}{pushed}  # it is merged here, but not pushed", main.switch());
        Some(step(repo, MergeAction::Publish, command))
    }

    /// Returns the command that pushes the publishing branch, if that is what a repository has to offer.
    pub fn push_main(&self, line: &PrRepo) -> Option<NextStep> {
        let push = self.mains.get(&line.name).filter(|_| is_on_base(line) && line.pushed == Some(false))?.push()?;
        Some(push.into())
    }

    fn widen(&self, conflict: &RangeConflict) -> Option<MergeStep> {
        let new = &conflict.new;
        let accepts = match &conflict.old {
            Some(old) => format!("accepts {old} and {new}"),
            None => format!("accepts {new}"),
        };
        let why = match conflict.effect {
            SchemaEffect::Holds => accepts,
            SchemaEffect::Breaks => format!("{accepts}; {new} breaks its code: add expects with what the code needs"),
            SchemaEffect::LacksExpected => {
                format!("{accepts}; {new} lacks what its expects need: adapt its code and its expects to both versions")
            }
        };
        let (consumer, range) = (&conflict.consumer, conflict.widened.as_ref()?);
        self.edit(consumer, &conflict.at, MergeAction::Widen, range, &why)
            .or_else(|| self.clone(consumer, &conflict.at, range))
    }

    fn narrow(&self, narrowed: &RangeToNarrow) -> Option<MergeStep> {
        let why = format!("{} is no longer served by then", narrowed.version);
        self.edit(&narrowed.consumer, &narrowed.at, MergeAction::Narrow, &narrowed.narrowed, &why)
    }

    fn merge(&self, line: &PrRepo) -> MergeStep {
        let pull = line.pr.as_ref().filter(|pr| pr.state == PullState::Open);
        // A pull request that is not shown may be a draft, or have failing checks.
        let is_unknown = self.unknown.contains(&line.name);
        let command = self.merge_command(line).filter(|_| pull.is_none() && !is_unknown);
        let how = match (pull, &command) {
            (Some(pull), _) => format!("merge {}", pull.url),
            (None, _) if is_unknown => "merge its pull request, once the forge shows it".to_owned(),
            (None, Some(command)) => command.clone(),
            (None, None) => "merge its branch".to_owned(),
        };
        MergeStep { command, ..said(&line.name, MergeAction::Merge, &how) }
    }

    fn merge_command(&self, line: &PrRepo) -> Option<String> {
        let (main, branch) = (self.mains.get(&line.name)?, line.branch.as_ref()?);
        let sync = self.is_pushed_by_hand.then(|| main.sync());
        let merge = (!is_on_base(line)).then(|| main.merge(branch));
        let before = [main.switch()].into_iter().chain(main.update()).chain(merge);
        Some(before.chain(main.push()).chain(sync).collect::<Vec<_>>().join(" && "))
    }
}

impl Waiting<'_> {
    /// Returns the step that publishes it, if it is known.
    fn publish(&self) -> Option<MergeStep> {
        Some(step(&self.place.found.name, MergeAction::Publish, self.step.clone()?))
    }
}

/// Returns a step that is a command.
fn step(repo: &RepoName, action: MergeAction, command: String) -> MergeStep {
    MergeStep { command: Some(command.clone()), ..said(repo, action, &command) }
}

/// Returns a step that is only described.
fn said(repo: &RepoName, action: MergeAction, what: &str) -> MergeStep {
    MergeStep {
        repo: repo.clone(),
        action,
        domain: None,
        contract: None,
        file: None,
        version_req: None,
        command: None,
        text: format!("{repo}: {what}"),
    }
}
