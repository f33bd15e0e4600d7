//! The notification of a change.

use super::{inbox, writer::Writer};
use crate::{
    model::{
        binding::Import,
        clock,
        domain_summary::DomainSummary,
        name::{ContractName, RealmName},
        notification::{Change, ChangeType},
        rank::Rank,
        verdict::ImportState,
    },
    ops::history::origins::Origin,
    wire::{JudgedBy, Notification, State, VersionChange},
};

/// Returns whether a change concerns an import of the contract. A yank does not, if the range excludes the versions.
fn concerns(change: &Change, import: &Import) -> bool {
    let is_yank = change.kind == ChangeType::VersionYanked && change.also.is_empty();
    !is_yank || change.yanked.iter().any(|version| import.version.matches(version))
}

/// Returns the notification of a change, for the repository whose import it may concern.
pub fn notification(
    realm: &RealmName,
    (domain, import): (&DomainSummary, Option<&Import>),
    (change, origin, writer): (&Change, &Origin, Option<Writer>),
    arrived_at: jiff::Timestamp,
    now: jiff::Timestamp,
) -> Notification {
    let change = change.clone();
    let import = import.filter(|import| concerns(&change, import));
    let changed_by_other = writer == Some(Writer::Other);
    // Judged by the range only; callers that show the notification also judge the documents.
    let state = import.map(|import| ImportState::by_range(domain.resolve_import(import)));
    let standing =
        import.zip(state.as_ref()).map(|(import, state)| Rank::of_import(import, state, domain.is_discouraged(import)));
    let rank = Rank::of_change(change.kind, standing, changed_by_other);
    // Who relies on the repository's contracts is not merely counted.
    let rank = if change.imports.is_empty() { rank } else { rank.min(Rank::Contract) };
    let expired = inbox::is_expired(arrived_at, now);
    Notification {
        id: change.id,
        kind: change.kind.type_word().to_owned(),
        change_type: change.kind,
        also: change.also,
        rank,
        realm: realm.clone(),
        domain: change.domain,
        contract: change.contract,
        from_repo: change.from,
        author: Some(origin.author.clone()),
        source_commit: origin.source_commit.clone(),
        changed_by_other,
        by_other_clone: writer == Some(Writer::OtherClone),
        changes: VersionChange { old_version: change.old_version, new_version: change.new_version },
        former: None,
        rollback: change.rollback,
        version_count: change.version_count,
        yanked: change.yanked,
        deprecated: change.deprecated,
        was_deprecated: change.was_deprecated,
        also_created: change.also_created,
        orphans: Vec::new(),
        imports: change.imports,
        more_imports: change.more_imports,
        affects_me: import.is_some(),
        binding: import.map(|import| import.binding.clone()).unwrap_or_default(),
        import_state: state.as_ref().map(ImportState::effect),
        was_broken: false,
        served_version: state.as_ref().and_then(|state| state.resolution.served().cloned()),
        judged_by: state.as_ref().map(JudgedBy::of),
        verdict: None,
        state: if expired { State::Expired } else { State::Pending },
        created_at: origin.time,
        in_future: clock::is_ahead(origin.time, now),
        arrived_at,
    }
}

/// Returns the notification that a repository left, for one that imports these contracts of it.
pub fn orphaning(one: Notification, orphans: Vec<ContractName>) -> Notification {
    Notification { affects_me: true, rank: Rank::Attention, orphans, ..one }
}
