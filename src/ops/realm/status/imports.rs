//! The state of a repository's imports.

use super::Digests;
use crate::{
    error::OpError,
    model::{
        binding::Import,
        domain_summary::DomainSummary,
        name::RepoName,
        rank::Rank,
        verdict::{ImportState, Judge},
    },
    ops::{
        contract::verdict::Documents,
        ctx::{Ctx, RealmContext},
    },
    store::overview::Overview,
    wire::{ImportStatus, JudgedBy},
};

/// Returns the imports of a repository, and the versions that decide their states but cannot be read. Only domains from
/// which it imports are read.
pub(super) fn of(
    (ctx, here): (&Ctx, &RealmContext),
    overview: &Overview<'_>,
    digests: &Digests<'_>,
    repo: &RepoName,
    judge: &Judge<'_>,
) -> Result<(Vec<ImportStatus>, Vec<String>), OpError> {
    let (mut lines, mut unreadable) = (Vec::new(), Vec::new());
    for (line, _) in digests.values().filter(|(_, digest)| digest.imports(repo)) {
        let domain = overview.summary(line)?;
        let documents = Documents::of(&*here.store, &line.tree);
        let imports = domain.bindings.get(repo).map(|binding| &*binding.imports).unwrap_or_default();
        lines.reserve_exact(imports.len());
        for import in imports {
            let state = documents.state(&domain, (repo, import), judge)?;
            unreadable.extend(state.unreadable_version(&line.name, import));
            lines.push(status(ctx, &domain, import, &state));
        }
    }
    lines.sort_by_key(|line| line.rank);
    Ok((lines, unreadable))
}

fn status(ctx: &Ctx, domain: &DomainSummary, import: &Import, state: &ImportState) -> ImportStatus {
    let resolution = &state.resolution;
    let offered = domain.contracts.get(&import.contract);
    let deprecated = offered.and_then(|contract| contract.deprecated.clone());
    ImportStatus {
        domain: domain.info.name.clone(),
        contract: import.contract.clone(),
        version_req: import.version.clone(),
        state: state.standing(),
        rank: Rank::of_import(import, state, domain.is_discouraged(import)),
        judged_by: JudgedBy::of(state),
        verdict: state.between_versions().cloned(),
        current_version: resolution.current().cloned(),
        resolved_version: resolution.resolved().cloned(),
        adapted_version: import.adapted().cloned(),
        binding: import.binding.clone(),
        retired: offered.is_some_and(|contract| contract.retired.is_some()),
        yanked: offered.is_some_and(|contract| contract.is_yanked()),
        orphaned: domain.is_orphaned(&import.contract),
        past_sunset: deprecated.as_ref().is_some_and(|deprecated| deprecated.is_over(ctx.env.today())),
        deprecated,
    }
}
