//! `prime`: the facts that a session should know from its start. Open problems come before changes, and are repeated in
//! each session until they are solved.

use std::collections::BTreeSet;

use crate::{
    error::OpError,
    model::{name::ReaderName, rank::Rank, text::count, version::Version},
    ops::{Operation, ctx::Ctx, inboxes::pending, notifications::list, realm::status},
    wire::{
        Answer, DomainStatus, ImportStanding, ImportStatus, NotificationFilter, PageRequest, Prime, RealmStatus,
        Unpublished,
    },
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::read::<Prime>("prime", &["prime"], "Print a summary for a coding agent's new session");

/// The maximum length of all facts together, in characters.
pub const MAX_TEXT: usize = 1_200;
/// The maximum number of characters that the names of one fact take.
const MAX_NAMES: usize = 200;
/// The maximum number of notifications searched for those delivered to a session.
const MAX_DELIVERED: usize = 100;

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The reader whose session it is.
    pub reader: ReaderName,
    /// Whether the session was resumed without its context, so that unhandled changes are repeated.
    pub is_resumed: bool,
}

impl Default for Request {
    fn default() -> Self {
        Self { reader: pending::cli_reader(), is_resumed: false }
    }
}

/// Returns the facts. They contain only names and versions, no text that people wrote, and mark no notification as
/// seen.
///
/// # Errors
/// Returns an error if there is no realm, or it cannot be read.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<Prime>, OpError> {
    let acting = ctx.acting_repo()?;
    let page = PageRequest { limit: Some(1), ..PageRequest::default() };
    let status_request = status::Request { reader: None, page, ..Default::default() };
    let status = status::run(ctx, &status_request)?.answer.body;
    let mut facts = vec![format!("This repository is {} in the realm {}.", acting.repo, acting.realm)];
    // Its own domains come first.
    let is_bound = |domain: &DomainStatus| domain.bindings.iter().any(|one| one.repo == *acting.repo);
    let is_in_one = status.domains.iter().any(|domain| domain.members.contains(acting.repo) || is_bound(domain));
    if !is_in_one && status.read_only.is_none() && status.unreadable_domains.is_empty() {
        facts.push("It is in no domain: realm_status shows the next step.".to_owned());
    }
    facts.extend(open_problems(&status));
    let told = if request.is_resumed { pending_adaptations(ctx, request, &status)? } else { None };
    facts.extend(told);
    facts.push(notifications_fact(ctx, request, facts.len() == 1)?);
    let (realm, current_repo) = (acting.realm.clone(), acting.repo.clone());
    Ok(Answer::new(Prime { realm, current_repo, facts: within_limit(facts) }))
}

/// Returns the facts as one paragraph.
pub fn text(body: &Prime) -> String {
    format!("git blue: {}\n", body.facts.join(" "))
}

/// Returns as many facts as fit into the text, leaving out the least urgent ones.
fn within_limit(facts: Vec<String>) -> Vec<String> {
    let mut left = MAX_TEXT - "git blue: \n".len();
    let fits = |fact: &String| {
        let taken = fact.chars().count() + 1;
        let fits = taken <= left;
        left = left.saturating_sub(taken);
        fits
    };
    facts.into_iter().take_while(fits).collect()
}

/// Returns the open problems, even if no reader was notified of them.
fn open_problems(status: &RealmStatus) -> Vec<String> {
    let mut facts = Vec::new();
    let (broken, others): (Vec<_>, Vec<_>) =
        status.imports.iter().partition(|import| import.state == ImportStanding::Broken);
    if !broken.is_empty() {
        let names = listed(broken.iter().map(|import| moved(import)));
        facts.push(format!("Broken: {names}; realm_review shows where to edit."));
    }
    if status.read_only.is_some() {
        facts.push("This clone is read-only: git blue status shows why.".to_owned());
    }
    let unreadable = status.unreadable.len() + status.unreadable_domains.len();
    if unreadable > 0 {
        facts.push(format!("{} in the store cannot be read; run git blue doctor.", count(unreadable, "file", "files")));
    }
    let unknown: Vec<_> = status.imports.iter().filter(|import| is_unknown(import)).collect();
    if !unknown.is_empty() {
        let names = unknown.iter().map(|import| format!("{}/{}", import.domain, import.contract));
        facts.push(format!("Imports that cannot be judged: {}.", listed(names)));
    }
    if !status.conflicts.is_empty() {
        facts.push(format!(
            "Unresolved: {}; realm_check lists them.",
            count(status.conflicts.len(), "conflict", "conflicts")
        ));
    }
    facts.extend(status.unpublished.as_ref().map(unpublished));
    facts.extend(status.behind.as_ref().map(|behind| format!("Not pulled: {}; run git pull.", behind.phrase())));
    if !status.removed_files.is_empty() {
        let gone = count(status.removed_files.len(), "contract", "contracts");
        facts.push(format!(
            "{gone} in the realm without a file: restore the file or retire the contract; realm_status \
            lists them."
        ));
    }
    if !status.offers.is_empty() {
        let names =
            status.offers.iter().map(|one| format!("{}/{} by {} to {}", one.domain, one.contract, one.from, one.to));
        facts.push(format!("Offers that are not accepted yet: {}.", listed_of(names, status.more_offers)));
    }
    let ahead = status.remotes.iter().map(|remote| remote.ahead).max().unwrap_or_default();
    let behind = status.remotes.iter().map(|remote| remote.behind).max().unwrap_or_default();
    if ahead + behind > 0 {
        facts.push(format!("Not synced: {ahead} to push, {behind} to fetch, as of the last sync; run git blue sync."));
    }
    let leaving: Vec<_> = others.iter().filter_map(|import| leaving(import)).collect();
    if !leaving.is_empty() {
        facts.push(format!("Deprecated: {}.", listed(leaving.into_iter())));
    }
    let retired: Vec<_> = status.imports.iter().filter(|import| import.retired).collect();
    if !retired.is_empty() {
        let names = retired.iter().map(|import| format!("{}/{}", import.domain, import.contract));
        facts.push(format!("Retired: {}.", listed(names)));
    }
    let yanked: Vec<_> = others.iter().filter(|import| import.yanked && !import.retired).collect();
    if !yanked.is_empty() {
        let version =
            |import: &ImportStatus| import.current_version.as_ref().map(Version::to_string).unwrap_or_default();
        let names = yanked.iter().map(|import| format!("{}/{} {}", import.domain, import.contract, version(import)));
        facts.push(format!("Yanked: {}.", listed(names)));
    }
    let orphaned: Vec<_> = status.imports.iter().filter(|import| import.orphaned).collect();
    if !orphaned.is_empty() {
        let names = orphaned.iter().map(|import| format!("{}/{}", import.domain, import.contract));
        facts.push(format!("The owner left the domain: {}.", listed(names)));
    }
    let (drifted, others): (Vec<_>, Vec<_>) = others.into_iter().partition(|import| has_moved(import));
    let is_named =
        |one: &ImportStatus| one.retired || one.yanked || one.deprecated.is_some() || one.orphaned || is_unknown(one);
    let unnamed: Vec<_> = others.into_iter().filter(|one| one.rank < Rank::Import && !is_named(one)).collect();
    if !unnamed.is_empty() {
        let names = unnamed.iter().map(|import| format!("{}/{}", import.domain, import.contract));
        facts.push(format!("Needs attention: {}; realm_status shows why.", listed(names)));
    }
    if !drifted.is_empty() {
        let names = listed(drifted.iter().map(|import| moved(import)));
        facts.push(format!("Changed since the code was adapted: {names}; realm_review shows the effect."));
    }
    facts
}

fn unpublished(one: &Unpublished) -> String {
    let commit = one.commit.short();
    match (&one.problem, one.failed_at) {
        (Some(_), Some(_)) => format!("Publishing {commit} was refused: git blue contract publish shows why."),
        (Some(_), None) => format!("{commit} is not published: git blue status shows why."),
        (None, _) => format!("{commit} is not published yet."),
    }
}

/// Returns the newest versions that were shown before and that the code is not adapted to.
fn pending_adaptations(ctx: &Ctx, request: &Request, status: &RealmStatus) -> Result<Option<String>, OpError> {
    let page = PageRequest { limit: Some(MAX_DELIVERED), ..PageRequest::default() };
    let asked =
        list::Request { reader: request.reader.clone(), filter: NotificationFilter::Seen, page, ..Default::default() };
    let seen = list::run(ctx, &asked)?.body.notifications;
    let newest = status.imports.iter().filter(|import| is_due(import)).filter_map(|import| {
        let of_import =
            seen.iter().filter(|one| one.domain == import.domain && one.contract.as_ref() == Some(&import.contract));
        let newest = of_import.filter_map(|one| one.changes.new_version.as_ref()).max()?;
        let is_new = import.adapted_version.as_ref().is_none_or(|adapted| newest > adapted);
        is_new.then(|| format!("{}/{} {newest}", import.domain, import.contract))
    });
    let names: BTreeSet<_> = newest.collect();
    Ok((!names.is_empty()).then(|| format!("Shown before, but not adapted to yet: {}.", listed(names.into_iter()))))
}

/// Returns the pending notifications as a fact. If none are pending, the fact is an all-clear only if no problem is
/// open.
fn notifications_fact(ctx: &Ctx, request: &Request, is_clear: bool) -> Result<String, OpError> {
    let page = PageRequest { limit: Some(1), ..PageRequest::default() };
    let asked = list::Request {
        reader: request.reader.clone(),
        filter: NotificationFilter::Pending,
        page,
        ..Default::default()
    };
    Ok(match list::run(ctx, &asked)?.body.summary.pending {
        0 if is_clear => "No changes by other repositories are pending.".to_owned(),
        0 => "No new changes are pending.".to_owned(),
        1 => "1 change by another repository is pending; realm_status shows it.".to_owned(),
        more => format!("{more} changes by other repositories are pending; realm_status shows them."),
    })
}

fn is_due(import: &ImportStatus) -> bool {
    import.state == ImportStanding::Broken || has_moved(import)
}

fn is_unknown(import: &ImportStatus) -> bool {
    import.state == ImportStanding::Unknown
}

fn has_moved(import: &ImportStatus) -> bool {
    !is_unknown(import) && import.adapted_version.is_some() && import.adapted_version != import.current_version
}

/// Names an import and its versions: `s3/paths 1.0.0 -> 2.0.0`.
fn moved(import: &ImportStatus) -> String {
    let version = |version: &Option<Version>| version.as_ref().map_or_else(|| "?".to_owned(), Version::to_string);
    let (old, new) = (version(&import.adapted_version), version(&import.current_version));
    let versions = if old == new { new } else { format!("{old} -> {new}") };
    format!("{}/{} {versions}", import.domain, import.contract)
}

/// Names an import of a deprecated contract, and until when it is served.
fn leaving(import: &ImportStatus) -> Option<String> {
    let service = import.deprecated.as_ref()?.service(import.past_sunset);
    let service = service.map(|service| format!(" ({service})")).unwrap_or_default();
    Some(format!("{}/{}{service}", import.domain, import.contract))
}

/// Lists as many names as fit, and counts the rest.
fn listed(names: impl ExactSizeIterator<Item = String>) -> String {
    listed_of(names, 0)
}

/// Does the same, if there are `more` than these names.
fn listed_of(names: impl ExactSizeIterator<Item = String>, more: usize) -> String {
    let all = names.len() + more;
    let (mut shown, mut left) = (Vec::new(), MAX_NAMES);
    for name in names {
        let Some(rest) = left.checked_sub(name.chars().count() + 2) else { break };
        left = rest;
        shown.push(name);
    }
    match (shown.len(), all - shown.len()) {
        (0, _) => count(all, "import", "imports"),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_listed_as_far_as_they_fit() {
        let names = |count: usize, length: usize| {
            listed((0..count).map(|_| "x".repeat(length)).collect::<Vec<_>>().into_iter())
        };
        assert_eq!(names(2, 3), "xxx, xxx");
        assert!(names(100, 60).ends_with(" and 97 more"));
        assert_eq!(names(3, 300), "3 imports");
    }

    #[test]
    fn the_most_urgent_facts_are_kept() {
        let facts = vec!["first".to_owned(), "x".repeat(1_180), "last".to_owned()];
        assert_eq!(within_limit(facts.clone()).len(), 2);
        let text = format!("git blue: {}\n", within_limit(facts).join(" "));
        assert!(text.chars().count() <= MAX_TEXT);
    }
}
