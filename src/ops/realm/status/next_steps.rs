//! The next steps after the status.

use super::removed_files;
use crate::{
    error::{NextStep, REPAIR},
    model::name::{ContractRef, RepoName},
    ops::{contract::transfer, ctx::Ctx, publish::missing_file::Place, realm::check},
    wire::{Answer, ImportStatus, Notification, OpenOffer, RealmStatus},
};

/// The next step if something changed that concerns this repository.
pub const REVIEW: &str = "git blue review  # show what changed, whether it breaks this repository, and where to edit";

/// The next step if there is nothing else to do.
const START_A_SESSION: &str = "git blue session start  # track your work";

/// Returns whether a next step is the one that is suggested when there is nothing else to do.
pub fn starts_a_session(step: &NextStep) -> bool {
    *step == NextStep::from(START_A_SESSION)
}

/// The maximum number of offered contracts for which steps are printed.
const MAX_ACCEPTING: usize = 3;

/// Returns the steps that accept the contracts that other repositories offer to this one.
fn accepting(ctx: &Ctx, body: &RealmStatus) -> Vec<String> {
    let me = body.current_repo.as_ref();
    let to_me = body.offers.iter().filter(|offer| Some(&offer.to) == me).take(MAX_ACCEPTING);
    let at = |offer: &OpenOffer| ContractRef { domain: offer.domain.clone(), contract: offer.contract.clone() };
    to_me.map(|offer| transfer::accepting(ctx, &at(offer), &offer.to)).collect()
}

/// Adds the next steps: commands that can be pasted into a shell, each with its reason.
pub(super) fn add(
    ctx: &Ctx,
    first: Vec<String>,
    (joined, namesake): (bool, Option<&RepoName>),
    mut answer: Answer<RealmStatus>,
) -> Answer<RealmStatus> {
    let body = &answer.body;
    let place = Place { namesake, up: &ctx.up_to_root(), code: ctx.code.as_ref() };
    let removed = removed_files::steps(&body.removed_files, &body.own_contracts, &place);
    // Publishing the commit that removed a file has the same steps.
    answer.next_steps.retain(|step| {
        let is_repeated = removed.iter().any(|one| *step == NextStep::from(one.as_str()));
        !is_repeated && !removed_files::retires(step, &body.removed_files)
    });
    let is_due = body.imports.iter().any(ImportStatus::is_to_review);
    let has_changed = body.notifications.iter().any(Notification::is_to_review);
    let mut by_others: Vec<_> = body
        .notifications
        .iter()
        .filter(|one| one.changed_by_other || one.is_in_place())
        .filter_map(|one| {
            let what = if one.changed_by_other { "this repository's contract" } else { "it in place" };
            Some(format!("git blue contract log {}/{}  # show who changed {what}", one.domain, one.contract.as_ref()?))
        })
        .collect();
    by_others.dedup();
    by_others.truncate(3);
    let (ahead, behind) = body.remotes.iter().fold((0, 0), |(a, b), one| (a.max(one.ahead), b.max(one.behind)));
    let has_conflicts = !body.conflicts.is_empty();
    let accepting = accepting(ctx, body);
    let is_idle = body.session.is_none();
    let unreadable = !body.unreadable.is_empty();
    let orphan = body.imports.iter().find(|import| import.orphaned);
    let orphan = orphan.map(|import| format!("{}/{}", import.domain, import.contract));
    let check = check::command(body.current_repo.as_ref());
    let is_damaged = !body.not_judged().is_empty();
    let answer = answer
        .next_if(is_damaged, REPAIR)
        .next_if(unreadable, format!("{check}  # show the problems"))
        .next_if(is_due || has_changed, REVIEW)
        .next_all(removed)
        .next_all(accepting)
        .next_if(has_conflicts, check::SHOW_CONFLICTS)
        .next_all(orphan.map(|contract| {
            format!(
                "git blue realm admin reclaim --help  # if the owner of {contract} no longer exists: take over its name in a \
                new repository"
            )
        }))
        .next_if(ahead > 0 || behind > 0, "git blue sync  # sync with the remotes")
        .next_all(by_others);
    let answer = first.into_iter().fold(answer, Answer::next_once);
    let has_nothing = answer.next_steps.is_empty();
    answer.next_if(has_nothing && is_idle && joined, START_A_SESSION)
}
