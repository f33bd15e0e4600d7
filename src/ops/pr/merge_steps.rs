//! The steps that merge an RFC so that every check passes in between: accept both versions, merge the consumers, merge
//! the provider, stop accepting the old version.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
};

use crate::{
    error::OpError,
    model::{
        name::{ContractRef, RepoName},
        pull::plan::{Plan, RangeConflict, RangeToNarrow},
        range::Range,
        text::{shell_path, shell_word},
    },
    ops::{ctx::Ctx, repos::paths::FoundRepo, sync::auto},
    repo::blue_files,
    wire::{ImportConflict, MergeAction, MergeStep, PrRepo, PullState},
};

/// The repositories, and their folders.
pub struct Places<'a> {
    lines: &'a [PrRepo],
    /// The main worktree of each repository on this machine.
    folders: BTreeMap<RepoName, PathBuf>,
    /// The repositories whose branch is not checked out in any folder.
    not_checked_out: BTreeSet<RepoName>,
    /// The remote of each repository that has one.
    remotes: BTreeMap<RepoName, String>,
    /// The repositories that may have a pull request, but the forge does not show it.
    unknown: BTreeSet<RepoName>,
    /// Whether the realm has a remote, and automatic sync is off.
    is_pushed_by_hand: bool,
}

impl<'a> Places<'a> {
    /// Returns the places of an RFC. `found` has the repositories, and whether their branch is not checked out in any
    /// folder, and `unknown` those whose pull request the forge does not show.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read.
    pub fn new<'f>(
        ctx: &Ctx,
        lines: &'a [PrRepo],
        found: impl Iterator<Item = (&'f FoundRepo, bool)> + Clone,
        unknown: BTreeSet<RepoName>,
    ) -> Result<Self, OpError> {
        let here = ctx.realm()?;
        let mut folders = ctx.home.repo_paths(&here.realm)?;
        folders.extend(found.clone().map(|(found, _)| (found.name.clone(), found.folder.clone())));
        let with_remote = found.clone().filter(|(found, _)| found.url.is_some());
        let remotes = with_remote.map(|(found, _)| (found.name.clone(), found.remote.clone())).collect();
        let not_checked_out = found.filter(|(_, is_branch_alone)| *is_branch_alone);
        let not_checked_out = not_checked_out.map(|(found, _)| found.name.clone()).collect();
        let is_pushed_by_hand = auto::is_by_hand(ctx, &here.realm, &*here.store)?;
        Ok(Self { lines, folders, not_checked_out, remotes, unknown, is_pushed_by_hand })
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
            let file = self.file(&conflict.provider, true, &blue_files::contract_path(domain, contract));
            let switch = self.switch(&conflict.provider);
            ways.push(format!(
                "{}: alternatively, if {old} is still served, {switch}write supported: [\"{range}\"] in {file}, and \
                    commit it",
                conflict.provider
            ));
        }
        ways
    }

    /// Returns the steps in order, or none if they change no import.
    pub fn steps(&self, plan: &Plan, order: &[RepoName]) -> Vec<MergeStep> {
        if *plan == Plan::default() {
            return Vec::new();
        }
        let conflicts =
            |repo: &RepoName| plan.conflicts.iter().filter(|conflict| conflict.consumer == *repo).collect::<Vec<_>>();
        let outside = plan.conflicts.iter().filter(|conflict| !order.contains(&conflict.consumer));
        let mut steps: Vec<_> = outside.filter_map(|conflict| self.widen(conflict)).collect();
        for repo in order {
            let conflicts = conflicts(repo);
            steps.extend(conflicts.iter().filter_map(|conflict| self.widen(conflict)));
            let line = self.line(repo).filter(|line| has_to_merge(line) || !conflicts.is_empty());
            steps.extend(line.map(|line| self.merge(line)));
        }
        steps.extend(plan.to_narrow.iter().map(|narrowed| self.narrow(narrowed)));
        steps
    }

    fn line(&self, repo: &RepoName) -> Option<&PrRepo> {
        self.lines.iter().find(|line| line.name == *repo)
    }

    /// Returns a file of a repository: in the folder that has the branch, or in the main worktree.
    pub fn file(&self, repo: &RepoName, on_branch: bool, path: &str) -> String {
        let branch = self.line(repo).filter(|_| on_branch).map(|line| PathBuf::from(&line.path));
        let folder = branch.or_else(|| self.folders.get(repo).cloned()).unwrap_or_default();
        folder.join(path).display().to_string()
    }

    /// Returns how to check out the branch of a repository before its file is edited; empty if it is checked out.
    fn switch(&self, repo: &RepoName) -> String {
        let branch =
            self.line(repo).filter(|_| self.not_checked_out.contains(repo)).and_then(|line| line.branch.as_ref());
        let place = branch.zip(self.folders.get(repo));
        let switch = |(branch, folder): (&String, &PathBuf)| {
            format!("git -C {} switch {}, then ", shell_path(folder), shell_word(branch))
        };
        place.map(switch).unwrap_or_default()
    }

    fn edit(&self, repo: &RepoName, at: &ContractRef, action: MergeAction, range: &Range, why: &str) -> MergeStep {
        let ContractRef { domain, contract } = at;
        let on_branch = action == MergeAction::Widen;
        let file = self.file(repo, on_branch, &blue_files::binding(domain));
        let switch = if on_branch { self.switch(repo) } else { String::new() };
        MergeStep {
            repo: repo.clone(),
            action,
            domain: Some(domain.clone()),
            contract: Some(contract.clone()),
            version_req: Some(range.clone()),
            command: None,
            text: format!(
                "{repo}: {switch}write version: \"{range}\" for {contract} in {file}, and commit it  # {why}"
            ),
            file: Some(file),
        }
    }

    fn widen(&self, conflict: &RangeConflict) -> Option<MergeStep> {
        let why = match &conflict.old {
            Some(old) => {
                format!(
                    "accepts {old} and {new}; if {new} breaks its schema, add expects with what the code needs",
                    new = conflict.new
                )
            }
            None => format!("accepts {}", conflict.new),
        };
        let range = conflict.widened.as_ref()?;
        Some(self.edit(&conflict.consumer, &conflict.at, MergeAction::Widen, range, &why))
    }

    fn narrow(&self, narrowed: &RangeToNarrow) -> MergeStep {
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
        MergeStep {
            repo: line.name.clone(),
            action: MergeAction::Merge,
            domain: None,
            contract: None,
            file: None,
            version_req: None,
            text: format!("{}: {how}", line.name),
            command,
        }
    }

    fn merge_command(&self, line: &PrRepo) -> Option<String> {
        let (folder, branch, base) = (self.folders.get(&line.name)?, line.branch.as_ref()?, line.base.as_ref()?);
        let (folder, branch, base) = (shell_path(folder), shell_word(branch), shell_word(base));
        // The branch has nothing left to merge once its base at the remote has its commits.
        let remote = self.remotes.get(&line.name).map(|remote| shell_word(remote));
        let push = remote.map(|remote| format!(" && git -C {folder} push {remote} {base}")).unwrap_or_default();
        // The merge publishes, and the check of the next repository elsewhere needs what it published.
        let sync = if self.is_pushed_by_hand { format!(" && git -C {folder} blue sync") } else { String::new() };
        Some(format!("git -C {folder} switch {base} && git -C {folder} merge {branch}{push}{sync}"))
    }
}

/// Returns whether the branch has unmerged commits.
pub(crate) fn has_to_merge(line: &PrRepo) -> bool {
    line.commits_ahead > 0 && line.pr.as_ref().is_none_or(|pr| pr.state != PullState::Merged)
}
