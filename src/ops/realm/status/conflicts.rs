//! The conflicts between machines.

use super::Digests;
use crate::{
    error::OpError,
    model::{
        check::conflicts::{is_concerned, standing},
        conflict::{Conflict, Standing},
        domain_summary::DomainSummary,
    },
    ops::{
        ctx::{Ctx, RealmContext},
        publish::{lost_contracts, work_file},
        sync::conflict,
    },
    store::{overview::Overview, read},
    wire::SyncConflict,
};

/// Returns the open conflicts that concern the current repository, or all if there is none.
pub(super) fn of(
    ctx: &Ctx,
    here: &RealmContext,
    overview: &Overview<'_>,
    digests: &Digests<'_>,
) -> Result<Vec<SyncConflict>, OpError> {
    let twice = read::names_taken_twice(&*here.store, overview.repos())?;
    let names = twice.into_iter().map(Conflict::Repo);
    let refused = read::set_aside(&*here.store)?.into_iter().map(Conflict::SetAside);
    let me = here.repo.as_ref();
    let concerns = |one: &Conflict, domain: Option<&DomainSummary>| me.is_none_or(|me| is_concerned(one, domain, me));
    let of_realm = names.chain(refused).filter(|one| concerns(one, None));
    let mut conflicts: Vec<_> = of_realm.map(|one| conflict(None, one, Standing::default())).collect();
    for (line, _) in digests.values().filter(|(_, digest)| digest.conflicts() > 0) {
        let domain = overview.summary(line)?;
        let open = domain.open_conflicts().into_iter().filter(|one| concerns(one, Some(&domain)));
        conflicts.extend(open.map(|one| {
            let is_auto =
                |contract: &_| ctx.code.as_ref().is_some_and(|code| work_file::says_auto(code, &line.name, contract));
            let standing = standing(&one, &domain, me, is_auto);
            conflict(Some(&line.name), one, standing)
        }));
    }
    conflicts.extend(lost_contracts(ctx, here, digests)?);
    Ok(conflicts)
}

/// Returns the contracts that the current repository created, but that another one owns, as conflicts.
fn lost_contracts(ctx: &Ctx, here: &RealmContext, digests: &Digests<'_>) -> Result<Vec<SyncConflict>, OpError> {
    let (Some(me), Some(code)) = (&here.repo, &ctx.code) else { return Ok(Vec::new()) };
    // HEAD is read only if there was ever a conflict.
    let mut contested = digests.values().filter(|(_, digest)| digest.contested().next().is_some()).peekable();
    let head = contested.peek().map(|_| code.head()).transpose()?;
    let Some(commit) = head.and_then(|head| head.commit) else { return Ok(Vec::new()) };
    let mut conflicts = Vec::new();
    for (line, digest) in contested {
        let lost = lost_contracts::of_domain((&*here.store, me), (code, &commit), line, digest)?;
        conflicts.extend(lost.into_iter().map(|one| conflict(Some(&line.name), one, Standing::default())));
    }
    Ok(conflicts)
}
