//! The steps that merge an RFC so that every check passes in between: accept both versions, merge the consumers, merge
//! the provider, stop accepting the old version.

use std::{collections::BTreeMap, path::PathBuf};

use crate::{
    error::OpError,
    model::{
        merge_plan::{Clash, Leftover, Plan},
        name::{ContractRef, DomainName, RepoName},
        range::Range,
        text::shell_path,
    },
    ops::{ctx::Ctx, repos::paths::FoundRepo},
    repo::blue_files,
    wire::{ImportClash, MergeAction, MergeStep, PrRepo, PullState},
};

/// The repositories, and their folders.
pub struct Places<'a> {
    lines: &'a [PrRepo],
    /// The main work tree of each repository on this machine.
    folders: BTreeMap<RepoName, PathBuf>,
}

impl<'a> Places<'a> {
    /// Returns the places of an RFC.
    ///
    /// # Errors
    /// Returns an error if this machine's records cannot be read.
    pub fn new<'f>(
        ctx: &Ctx,
        lines: &'a [PrRepo],
        found: impl Iterator<Item = &'f FoundRepo>,
    ) -> Result<Self, OpError> {
        let mut folders = ctx.home.repo_paths()?;
        folders.extend(found.map(|found| (found.name.clone(), found.folder.clone())));
        Ok(Self { lines, folders })
    }

    /// Returns the imports that break in every order, each with the possible solutions.
    pub fn clashes(&self, plan: &Plan) -> Vec<ImportClash> {
        let clash = |clash: &Clash| ImportClash {
            consumer: clash.consumer.clone(),
            provider: clash.provider.clone(),
            domain: clash.at.domain.clone(),
            contract: clash.at.contract.clone(),
            old_version: clash.old.clone(),
            new_version: clash.new.clone(),
            old_version_req: clash.range_before.clone(),
            version_req: clash.range_after.clone(),
            ways_out: self.ways_out(clash),
        };
        plan.clashes.iter().map(clash).collect()
    }

    fn ways_out(&self, clash: &Clash) -> Vec<String> {
        let mut ways: Vec<_> = self.widen(clash).map(|step| step.text).into_iter().collect();
        if let (Some(range), Some(old)) = (&clash.range_before, &clash.old) {
            let ContractRef { domain, contract } = &clash.at;
            let file = self.file(&clash.provider, true, &format!("{}/{domain}/{contract}.yaml", blue_files::CONTRACTS));
            ways.push(format!(
                "{}: alternatively, if {old} is still served, write supported: [\"{range}\"] in {file}, and commit it",
                clash.provider
            ));
        }
        ways
    }

    /// Returns the steps in order; none if the order matters to no import.
    pub fn steps(&self, plan: &Plan, order: &[RepoName]) -> Vec<MergeStep> {
        if *plan == Plan::default() {
            return Vec::new();
        }
        let clashes = |repo: &RepoName| plan.clashes.iter().filter(|clash| clash.consumer == *repo).collect::<Vec<_>>();
        let outside = plan.clashes.iter().filter(|clash| !order.contains(&clash.consumer));
        let mut steps: Vec<_> = outside.filter_map(|clash| self.widen(clash)).collect();
        for repo in order {
            let clashes = clashes(repo);
            steps.extend(clashes.iter().filter_map(|clash| self.widen(clash)));
            let line = self.line(repo).filter(|line| has_to_merge(line) || !clashes.is_empty());
            steps.extend(line.map(|line| self.merge(line)));
        }
        steps.extend(plan.leftovers.iter().map(|leftover| self.narrow(leftover)));
        steps
    }

    fn line(&self, repo: &RepoName) -> Option<&PrRepo> {
        self.lines.iter().find(|line| line.name == *repo)
    }

    /// Returns a file of a repository: in the folder that has the branch, or in the main work tree.
    fn file(&self, repo: &RepoName, on_branch: bool, path: &str) -> String {
        let branch = self.line(repo).filter(|_| on_branch).map(|line| PathBuf::from(&line.path));
        let folder = branch.or_else(|| self.folders.get(repo).cloned()).unwrap_or_default();
        folder.join(path).display().to_string()
    }

    fn edit(&self, repo: &RepoName, at: &ContractRef, action: MergeAction, range: &Range, why: &str) -> MergeStep {
        let ContractRef { domain, contract } = at;
        let file = self.file(repo, action == MergeAction::Widen, &binding_file(domain));
        MergeStep {
            repo: repo.clone(),
            action,
            domain: Some(domain.clone()),
            contract: Some(contract.clone()),
            version_req: Some(range.clone()),
            command: None,
            text: format!("{repo}: write version: \"{range}\" for {contract} in {file}, and commit it  # {why}"),
            file: Some(file),
        }
    }

    fn widen(&self, clash: &Clash) -> Option<MergeStep> {
        let why = match &clash.old {
            Some(old) => format!("accepts {old} and {}", clash.new),
            None => format!("accepts {}", clash.new),
        };
        let range = clash.widened.as_ref()?;
        Some(self.edit(&clash.consumer, &clash.at, MergeAction::Widen, range, &why))
    }

    fn narrow(&self, leftover: &Leftover) -> MergeStep {
        let why = format!("{} is no longer served by then", leftover.version);
        self.edit(&leftover.consumer, &leftover.at, MergeAction::Narrow, &leftover.narrowed, &why)
    }

    fn merge(&self, line: &PrRepo) -> MergeStep {
        let pull = line.pr.as_ref().filter(|pr| pr.state == PullState::Open);
        let command = self.merge_command(line).filter(|_| pull.is_none());
        let how = match (pull, &command) {
            (Some(pull), _) => format!("merge {}", pull.url),
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
        let folder = shell_path(folder);
        Some(format!("git -C {folder} switch {base} && git -C {folder} merge {branch}"))
    }
}

fn binding_file(domain: &DomainName) -> String {
    format!("{}/{domain}.yaml", blue_files::BINDINGS)
}

/// Returns whether the branch has unmerged commits.
pub(crate) fn has_to_merge(line: &PrRepo) -> bool {
    line.commits_ahead > 0 && line.pr.as_ref().is_none_or(|pr| pr.state != PullState::Merged)
}
