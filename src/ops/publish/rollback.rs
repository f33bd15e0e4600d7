//! Recognizes that the last publication of a repository in a domain was a rollback to an older commit of the publishing
//! branch. The newer commit is still on the branch, so nothing may publish it again automatically.

use crate::{
    error::OpError,
    model::{name::DomainName, oid::Oid},
    ops::{contract::publish, ctx::ActingRepo, message},
    repo::CodeRepo,
    store::StoreRef,
};

/// The maximum number of commits that are searched for the last publication.
const MAX_HISTORY: usize = 1_000;

/// A rollback.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rollback {
    /// The commit that was published before.
    pub from: Oid,
    /// The older commit that is published now.
    pub to: Oid,
}

/// Returns the rollback by which `published` became the last published commit of the repository in a domain, if it was
/// one. This follows from the history of the domain, which every machine of the realm has.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn last(
    acting: ActingRepo<'_>,
    code: &CodeRepo,
    domain: &DomainName,
    published: Oid,
) -> Result<Option<Rollback>, OpError> {
    let Some(mut tip) = acting.store.tip(&StoreRef::Domain(domain.clone()))? else { return Ok(None) };
    for _ in 0..MAX_HISTORY {
        let info = acting.store.commit(&tip)?;
        let source = |parent: &Oid| Ok::<_, OpError>(publish::source(acting, domain, parent)?.map(|one| one.commit));
        let before = info.parents.iter().map(source).collect::<Result<Vec<_>, _>>()?;
        if let Some(same) = before.iter().position(|one| *one == Some(published)) {
            tip = info.parents[same];
            continue;
        }
        // Only a rollback has a reason. A branch that was reset to an older commit is published without one.
        let [Some(from)] = before[..] else { return Ok(None) };
        if message::reason(&info.message).is_none() || (code.has(&from) && !code.is_ancestor(&published, &from)?) {
            return Ok(None);
        }
        return Ok(Some(Rollback { from, to: published }));
    }
    Ok(None)
}
