//! Contracts that this repository lost to another one: both created them, on two machines, and the other one owns them. The
//! files here are as they were published, so nothing else reports them.

use crate::{
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        candidate::contract_path,
        conflict::{Conflict, LostContract, Standing},
        domain::Source,
        domain_digest::DomainDigest,
        name::{ContractName, DomainName, RepoName},
        oid::Oid,
        text::count,
        transfer::Transfers,
    },
    ops::acting_repo::ActingRepo,
    repo::CodeRepo,
    store::{
        Store, StoreRef, layout,
        overview::{Line, Overview},
        read, unless_damaged,
    },
};

/// The maximum number of contracts for which steps are printed.
const MAX_STEPS: usize = 3;

/// Refuses if `commit` still has a contract that the repository lost.
///
/// # Errors
/// Returns the refusal, or an error if the realm or the repository cannot be read.
pub fn refuse(acting: ActingRepo<'_>, code: &CodeRepo, commit: &Oid) -> Result<(), OpError> {
    let overview = Overview::open(acting.store)?;
    let mut lost: Vec<(&DomainName, Conflict)> = Vec::new();
    for line in overview.domains_of(acting.repo) {
        let found = of_domain((acting.store, acting.repo), (code, commit), line, &*overview.digest(line)?)?;
        lost.extend(found.into_iter().map(|one| (&line.name, one)));
    }
    let Some(((domain, first), others)) = lost.split_first() else { return Ok(()) };
    let more = match others.len() {
        0 => String::new(),
        others => format!("; the same is true of {}", count(others, "other contract", "other contracts")),
    };
    let message = format!("nothing was published: {}{more}", first.meaning(Some(domain)));
    let steps = lost.iter().take(MAX_STEPS).flat_map(|(domain, one)| one.resolution(Some(domain), Standing::default()));
    Err(OpError::no(ErrorCode::NotOwner, message).next_all(steps))
}

/// Returns the contracts of a domain that `repo` lost, and whose files `commit` has as they were published.
///
/// # Errors
/// Returns an error if the realm or the repository cannot be read.
pub fn of_domain(
    (store, repo): (&dyn Store, &RepoName),
    (code, commit): (&CodeRepo, &Oid),
    line: &Line,
    digest: &DomainDigest,
) -> Result<Vec<Conflict>, OpError> {
    let mut others = digest.contested().filter(|(_, owner)| owner != repo).peekable();
    // Nearly always there are none, and the code repository's objects need not be opened.
    if others.peek().is_none() {
        return Ok(Vec::new());
    }
    let published =
        line.sources.get(repo).into_iter().flat_map(Source::commits).filter(|published| code.has(published));
    let published = published.map(|published| code.tree_of(&published)).collect::<Result<Vec<_>, _>>()?;
    let tree = code.tree_of(commit)?;
    let mut lost = Vec::new();
    for (contract, owner) in others {
        let file = contract_path(&line.name, &contract);
        let now = read::lookup(code, &tree, &file)?;
        let before = published.iter().map(|tree| read::lookup(code, tree, &file)).collect::<Result<Vec<_>, _>>()?;
        let is_published = now.is_some_and(|now| before.into_iter().flatten().any(|before| before.id == now.id));
        if is_published && !was_handed_over(store, (repo, &owner), line, &contract)? {
            lost.push(Conflict::Lost(LostContract { contract, owner, file }));
        }
    }
    Ok(lost)
}

/// Returns whether `repo` offered a contract to others, or its owner offers it to `repo`.
fn was_handed_over(
    store: &dyn Store,
    (repo, owner): (&RepoName, &RepoName),
    line: &Line,
    contract: &ContractName,
) -> Result<bool, OpError> {
    let within = StoreRef::Domain(line.name.clone());
    let record = read::file::<Transfers>(store, &within, &line.tree, &layout::transfers(contract));
    let Some(record) = unless_damaged(record)? else { return Ok(false) };
    let record = record.with_newer_names(|repo| renamed::newer(store, repo))?;
    Ok(record.was_offered_by(repo) || record.offered(owner) == Some(repo))
}
