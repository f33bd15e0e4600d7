//! What is left to do once an RFC is merged in all repositories and published.

use super::{progress::has_to_merge, rfc_work::RepoWork};
use crate::{
    error::{NextStep, OpError},
    model::{
        name::{ContractName, ContractRef, DomainName, RfcName},
        text::{shell_path, shell_word},
    },
    ops::ctx::{Ctx, RealmContext},
    repo::{
        CodeRepo,
        blue_files::{self, Files},
    },
    store::overview::Overview,
    wire::{PrRepo, PullState},
};

/// Returns whether nothing is left to merge or commit, and at least one branch had something. A branch that was only
/// created has not.
pub fn is_all_merged(tips: &[(&RepoWork, Option<String>)], lines: &[PrRepo]) -> bool {
    let is_left = |line: &PrRepo| has_to_merge(line) || line.uncommitted_changes > 0;
    let had_work = |(place, line): (&RepoWork, &PrRepo)| {
        let was_moved = || line.branch.as_ref().is_some_and(|branch| place.work.was_moved(branch).unwrap_or_default());
        line.pr.as_ref().is_some_and(|pr| pr.state == PullState::Merged) || was_moved()
    };
    !lines.iter().any(is_left) && tips.iter().map(|(place, _)| *place).zip(lines).any(had_work)
}

/// Returns the steps that retire the contracts whose files a merged branch removed.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn retire(
    ctx: &Ctx,
    here: &RealmContext,
    rfc: &RfcName,
    tips: &[(&RepoWork, Option<String>)],
) -> Result<Vec<NextStep>, OpError> {
    let overview = Overview::open(&*here.store)?;
    let mut steps = Vec::new();
    for (place, head) in tips {
        let Ok(Some(code)) = ctx.other_repo(&place.found.folder) else { continue };
        let removed = |domain: &DomainName, contract: &ContractName| {
            let head = head.as_deref().and_then(|head| is_removed(&code, place, head, (domain, contract)));
            head.unwrap_or_default()
        };
        for line in overview.domains_of(&place.found.name) {
            let summary = overview.summary(line)?;
            for contract in summary.served_by(&place.found.name).filter(|contract| removed(&line.name, contract)) {
                let at = ContractRef { domain: line.name.clone(), contract: contract.clone() };
                let (folder, reason) = (shell_path(&place.found.folder), shell_word(&format!("Removed in {rfc}")));
                let retire = format!("git -C {folder} blue contract retire {at} --reason {reason}");
                steps.push(format!("{retire}  # its file was removed").into());
            }
        }
    }
    Ok(steps)
}

/// Returns whether the branch removed the file of a contract, and the publishing branch does not have it either. Returns
/// `None` if this cannot be read.
fn is_removed(
    code: &CodeRepo,
    place: &RepoWork,
    head: &str,
    (domain, contract): (&DomainName, &ContractName),
) -> Option<bool> {
    let path = blue_files::contract_path(domain, contract);
    let (_, main) = code.branch_tips(place.found.default.as_ref()?).next()?.ok()?;
    for commit in [head.parse().ok()?, main] {
        if Files::at(code, &commit).ok()?.exists(&path).ok()? {
            return Some(false);
        }
    }
    place.work.has_removed(head, &path).ok()
}

/// Returns the steps that remove what is left of a merged RFC: here, and at the remotes.
pub fn clean_up(rfc: &RfcName, tips: &[(&RepoWork, Option<String>)], lines: &[PrRepo]) -> Vec<NextStep> {
    let rfc = shell_word(&rfc.to_string());
    let done = "everything is merged and published; remove its worktrees and branches";
    let remove = format!("git blue realm worktree remove --rfc {rfc} --delete-branches  # {done}");
    let at_remotes = tips.iter().zip(lines).filter_map(|((place, _), line)| {
        let branch = line.branch.as_ref().filter(|branch| Some(*branch) != line.base.as_ref())?;
        place.work.has_ref(&place.work.at_origin(branch)).ok()?.then(|| {
            let (folder, remote) = (shell_path(&place.found.folder), shell_word(&place.found.remote));
            format!("git -C {folder} push {remote} --delete {}", shell_word(branch))
        })
    });
    [remove].into_iter().chain(at_remotes).map(NextStep::from).collect()
}
