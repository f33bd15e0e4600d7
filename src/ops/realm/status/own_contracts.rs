//! The contracts of a repository, and the repositories that import them.

use std::{
    cmp::Reverse,
    collections::{BTreeMap, BinaryHeap, btree_map::Entry},
    iter::Peekable,
    sync::Arc,
};

use jiff::civil::Date;

use super::Digests;
use crate::{
    error::OpError,
    model::{
        binding::Import,
        domain_digest::{Imported, MAX_CONTRACTS, Ranked},
        domain_summary::DomainSummary,
        name::{DomainName, RepoName},
        verdict::Judge,
    },
    ops::{contract::verdict::Documents, ctx::RealmContext},
    store::overview::{Line, Overview},
    wire::OwnContract,
};

/// Returns the first contracts of a repository with their importers, and how many more there are.
pub(super) fn of(
    here: &RealmContext,
    overview: &Overview<'_>,
    digests: &Digests<'_>,
    repo: &RepoName,
    (judge, today): (&Judge<'_>, Date),
) -> Result<(Vec<OwnContract>, usize), OpError> {
    let (mut count, mut lists) = (0, Vec::new());
    for (domain, (_, digest)) in digests {
        let own = digest.own(repo);
        count += own.count;
        lists.push((*domain, own.first().peekable()));
    }
    // The contracts of each domain are in order, so only those that are shown need to be decoded.
    let mut next: BinaryHeap<_> = lists.iter_mut().enumerate().filter_map(|(at, (_, list))| rank(list, at)).collect();
    let mut judging = ImporterJudge { here, overview, judge, summaries: BTreeMap::new() };
    let mut own = Vec::new();
    while own.len() < MAX_CONTRACTS
        && let Some((_, _, _, Reverse(at))) = next.pop()
    {
        let (domain, list) = &mut lists[at];
        if let Some((mut one, is_moved)) = list.next().and_then(|one| own_contract(domain, one, today)) {
            if is_moved {
                judging.judge(digests[domain].0, &mut one)?;
            }
            own.push(one);
        }
        next.extend(rank(list, at));
    }
    own.sort_by_key(|one| Reverse((one.broken.len(), one.importers.len())));
    let more = count - own.len();
    Ok((own, more))
}

/// Judges the importers of contracts, and reads each domain once.
struct ImporterJudge<'a> {
    here: &'a RealmContext,
    overview: &'a Overview<'a>,
    judge: &'a Judge<'a>,
    summaries: BTreeMap<DomainName, Arc<DomainSummary>>,
}

impl ImporterJudge<'_> {
    /// Moves the importers that the current version breaks, although their ranges accept it, to the broken ones.
    fn judge(&mut self, line: &Line, own: &mut OwnContract) -> Result<(), OpError> {
        let summary = match self.summaries.get(&line.name) {
            Some(summary) => Arc::clone(summary),
            None => self.overview.summary(line)?,
        };
        let documents = Documents::of(&*self.here.store, &line.tree);
        // Equal imports are judged once.
        let mut known = BTreeMap::new();
        let contract = own.contract.clone();
        for (repo, import) in summary.importers(&contract).filter(|(_, import)| resolves(&summary, import)) {
            let same = (import.version.to_string(), import.adapted(), import.expects.as_ref().map(ToString::to_string));
            let is_broken = match known.entry(same) {
                Entry::Occupied(entry) => *entry.get(),
                Entry::Vacant(entry) => {
                    *entry.insert(documents.state(&summary, (repo, import), self.judge)?.is_broken())
                }
            };
            if is_broken {
                move_to_broken(own, repo);
            }
        }
        own.broken.sort();
        self.summaries.insert(line.name.clone(), summary);
        Ok(())
    }
}

fn resolves(summary: &DomainSummary, import: &Import) -> bool {
    summary.resolve_import(import).resolved().is_some()
}

/// Counts an importer as broken. It may be one of those that are not named.
fn move_to_broken(own: &mut OwnContract, importer: &RepoName) {
    if let Some(at) = own.importers.iter().position(|one| one == importer) {
        own.broken.push(own.importers.remove(at));
    } else if own.broken.len() < MAX_CONTRACTS && own.more_importers > 0 {
        own.more_importers -= 1;
        own.broken.push(importer.clone());
    }
}

/// Returns the rank of the next contract of a domain: by what it breaks or may break, then by its importers, then by domain.
fn rank<'g>(
    list: &mut Peekable<impl Iterator<Item = Ranked<'g>>>,
    domain: usize,
) -> Option<(usize, bool, usize, Reverse<usize>)> {
    list.peek().map(|one| (one.broken, one.is_moved, one.importers, Reverse(domain)))
}

/// Returns a contract with its importers judged by their ranges, and whether verdicts may differ from that.
fn own_contract(domain: &DomainName, one: Ranked<'_>, today: Date) -> Option<(OwnContract, bool)> {
    let Imported { name: contract, version, yanked, deprecated, broken, importers, more, is_moved } = one.imported()?;
    let own = OwnContract {
        domain: domain.clone(),
        contract,
        version,
        yanked,
        past_sunset: deprecated.as_ref().is_some_and(|deprecated| deprecated.is_over(today)),
        deprecated,
        broken,
        importers,
        more_importers: more,
    };
    Some((own, is_moved))
}
