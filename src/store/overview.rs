//! The realm at a glance, from what the store keeps at hand. Only domains that changed since are
//! read again, and only those that are asked for are read at all.
//!
//! Whatever is kept, the answers are those that the objects give: an overview made without it is
//! the same one.

use std::collections::BTreeMap;

use super::{
    Kept as KeptFile, Store, StoreError, StoreRef, layout, read,
    snapshot::{self, Index, Parts, Place, Snapshot},
};
use crate::model::{
    domain_summary::DomainSummary,
    domain_view::{Damage, Subject},
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    realm::Repo,
};

pub use super::snapshot::Line;

/// The hashes of a domain's schemas, as they are and not as the files say.
pub type Schemas = BTreeMap<ContractName, String>;

/// The realm at a glance.
pub struct Overview<'s> {
    store: &'s dyn Store,
    index: Index,
    /// The kept file.
    kept: Option<Box<dyn KeptFile>>,
    /// What was read just now and could not be kept.
    fresh: Parts,
    damage: Vec<Damage>,
}

/// What is kept of a realm at the moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kept {
    /// Whether the refs have been at rest since.
    pub is_current: bool,
    /// How many domains it holds.
    pub domains: usize,
    /// In how many of these nothing was found on examination.
    pub examined: usize,
    /// How many contracts they have.
    pub contracts: usize,
}

impl Kept {
    /// Returns what is kept of a store's realm, if anything is that can be used.
    pub fn of(store: &dyn Store) -> Option<Self> {
        let (snapshot, is_current) = kept(store);
        let domains = snapshot?.index.domains;
        Some(Self {
            is_current,
            domains: domains.len(),
            examined: domains.iter().filter(|line| line.schemas.is_some()).count(),
            contracts: domains.iter().map(|line| line.contracts).sum(),
        })
    }
}

impl<'s> Overview<'s> {
    /// Returns the realm as it is now.
    ///
    /// # Errors
    /// Where the realm itself, or its list of domains, cannot be read.
    pub fn open(store: &'s dyn Store) -> Result<Self, StoreError> {
        let (kept, is_at_rest) = kept(store);
        match kept {
            Some(kept) if is_at_rest => Ok(Self::at_rest(store, kept)),
            kept => {
                // Begun before the refs are read: what is kept is never newer than its stamp.
                let renewal = store.cache().and_then(|cache| cache.renew());
                Ok(Making::of(store, kept, Parts::new(renewal))?.finish())
            }
        }
    }

    fn at_rest(store: &'s dyn Store, Snapshot { index, kept }: Snapshot) -> Self {
        Self { store, index, kept: Some(kept), fresh: Parts::new(None), damage: Vec::new() }
    }

    /// Returns the realm as it is now, if something is kept at hand that makes it cheap: for those
    /// who ask about a few domains and could read these instead. What is kept stays as it is.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn if_kept(store: &'s dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(match kept(store) {
            (None, _) => None,
            (Some(kept), true) => Some(Self::at_rest(store, kept)),
            (kept, false) => Some(Making::of(store, kept, Parts::new(None))?.finish()),
        })
    }

    /// Returns the repositories of the realm.
    pub fn repos(&self) -> &BTreeMap<RepoName, Repo> {
        &self.index.repos
    }

    /// Returns the domains that can be read, sorted by name.
    pub fn domains(&self) -> &[Line] {
        &self.index.domains
    }

    /// Returns the domains that `repo` has anything to do with.
    pub fn domains_of(&self, repo: &RepoName) -> impl Iterator<Item = &Line> {
        self.index.domains.iter().filter(move |line| line.repos.binary_search(repo).is_ok())
    }

    /// Returns what could not be read outside of the domains, domains that could not be read at
    /// all among it.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns the domains of which something could not be read.
    pub fn damaged(&self) -> impl Iterator<Item = &Line> {
        self.index.domains.iter().filter(|line| line.summary.is_none())
    }

    /// Returns a domain at a glance.
    ///
    /// # Errors
    /// Where it has to be read and cannot.
    pub fn summary(&self, line: &Line) -> Result<DomainSummary, StoreError> {
        match self.part(line, line.summary).and_then(|bytes| snapshot::decode(&bytes)) {
            Some(summary) => Ok(summary),
            None => read::summary_of(self.store, &line.name, &line.tree),
        }
    }

    /// Returns the hashes of a domain's schemas, if it was examined and nothing was found.
    pub fn schemas(&self, line: &Line) -> Option<Schemas> {
        self.part(line, line.schemas).and_then(|bytes| snapshot::decode(&bytes))
    }

    /// Returns whether a domain was examined and nothing was found.
    pub fn is_examined(&self, line: &Line) -> bool {
        line.schemas.is_some()
    }

    fn part(&self, line: &Line, place: Option<Place>) -> Option<Vec<u8>> {
        match &self.kept {
            _ if line.is_fresh => self.fresh.part(place?),
            kept => snapshot::part(&**kept.as_ref()?, place?),
        }
    }

    /// Begins to keep that domains were examined.
    pub fn examining(&self) -> Examining<'_> {
        Examining { overview: self, parts: None, places: BTreeMap::new() }
    }

    /// Replaces what is kept by this overview, and returns the new one. `written` says what of a domain is
    /// among the parts already: its summary, and the hashes of its schemas. All else is copied, one by one.
    fn keep(
        &self,
        mut parts: Parts,
        written: impl Fn(&Line) -> [Option<Place>; 2],
    ) -> Option<(Index, Box<dyn KeptFile>)> {
        let mut index = self.index.clone();
        for (line, before) in index.domains.iter_mut().zip(&self.index.domains) {
            let [summary, schemas] = written(before);
            let mut moved = |written: Option<Place>, old: Option<Place>| match (written, old) {
                (None, Some(_)) => self.part(before, old).map(|bytes| Some(parts.add(&bytes))),
                (written, _) => Some(written),
            };
            line.summary = moved(summary, before.summary)?;
            // Hashes that cannot be read are made again.
            line.schemas = moved(schemas, before.schemas).flatten();
            line.is_fresh = false;
        }
        let kept = parts.keep(&index)?;
        Some((index, kept))
    }
}

/// Keeps that domains were examined, with nothing found but the hashes of their schemas.
pub struct Examining<'o> {
    overview: &'o Overview<'o>,
    /// Begun with the first domain; mostly there is none.
    parts: Option<Parts>,
    places: BTreeMap<DomainName, Place>,
}

impl Examining<'_> {
    /// Adds a domain.
    pub fn add(&mut self, line: &Line, schemas: &Schemas) {
        let cache = self.overview.store.cache();
        let parts = self.parts.get_or_insert_with(|| Parts::new(cache.and_then(|cache| cache.renew())));
        if parts.renewal().is_some() {
            self.places.insert(line.name.clone(), parts.add(&snapshot::encode(schemas)));
        }
    }

    /// Keeps what was added beside what is kept already.
    pub fn keep(self) {
        let Self { overview, parts, places } = self;
        if let Some(parts) = parts.filter(|parts| parts.renewal().is_some()) {
            overview.keep(parts, |line| [None, places.get(&line.name).copied()]);
        }
    }
}

/// Returns what is kept, and whether the refs have been at rest since. The stamp is looked at first:
/// what is read afterwards can only be newer.
fn kept(store: &dyn Store) -> (Option<Snapshot>, bool) {
    let stamp = store.cache().and_then(|cache| cache.stamp());
    let kept = store.cache().and_then(|cache| Snapshot::open(cache.open()?));
    let is_at_rest = kept.as_ref().is_some_and(|kept| kept.index.settled && stamp.as_ref() == Some(&kept.index.stamp));
    (kept, is_at_rest)
}

/// An overview in the making.
struct Making<'s> {
    store: &'s dyn Store,
    index: Index,
    parts: Parts,
    damage: Vec<Damage>,
    /// The snapshot before this one.
    before: Option<Snapshot>,
    /// Whether anything differs from it that can be kept.
    is_changed: bool,
}

impl<'s> Making<'s> {
    fn of(store: &'s dyn Store, before: Option<Snapshot>, parts: Parts) -> Result<Self, StoreError> {
        let is_changed = before.is_none();
        let mut making = Self { store, index: Index::default(), parts, damage: Vec::new(), before, is_changed };
        making.realm()?;
        let broken = |problem| Damage { file: layout::DOMAINS.to_owned(), subject: Subject::Domains, problem };
        making.damage.extend(store.broken_refs()?.into_iter().map(broken));
        for (name, tip) in store.domains()? {
            making.domain(name, tip)?;
        }
        let kept = |index: &Index| index.domains.iter().filter(|line| line.summary.is_some()).count();
        making.is_changed |= making.before.as_ref().is_some_and(|before| kept(&before.index) != kept(&making.index));
        Ok(making)
    }

    fn realm(&mut self) -> Result<(), StoreError> {
        let tip = self.store.tip(&StoreRef::Realm)?;
        match self.before.as_ref().map(|before| &before.index).filter(|index| tip.is_some() && index.realm == tip) {
            Some(index) => {
                self.index.realm = index.realm;
                self.index.repos = index.repos.clone();
            }
            None => {
                let view = read::repos(self.store)?;
                // What cannot be read now may be readable later.
                self.index.realm = tip.filter(|_| view.damage.is_empty());
                self.is_changed |= self.index.realm.is_some();
                self.index.repos = view.repos;
                self.damage.extend(view.damage);
            }
        }
        Ok(())
    }

    fn domain(&mut self, name: DomainName, tip: Oid) -> Result<(), StoreError> {
        if let Some(line) = self.unchanged(&name, &tip) {
            self.index.domains.push(line);
            return Ok(());
        }
        let read = self.store.commit(&tip).map(|commit| commit.tree);
        let read = read.and_then(|tree| Ok((tree, read::summary_of(self.store, &name, &tree)?)));
        let (tree, summary) = match read {
            Ok(read) => read,
            Err(error) if error.is_damage() => {
                let file = StoreRef::Domain(name.clone()).to_string();
                self.damage.push(Damage { file, subject: Subject::Domain(name), problem: error.to_string() });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        if summary.info.removed {
            return Ok(());
        }
        let place = summary.damage.is_empty().then(|| self.parts.add(&snapshot::encode(&summary)));
        self.is_changed |= place.is_some();
        self.index.domains.push(Line {
            name,
            tip,
            tree,
            repos: summary.repos().into_iter().cloned().collect(),
            contracts: summary.contract_names().len(),
            sources: summary.sources,
            summary: place,
            schemas: None,
            is_fresh: true,
        });
        Ok(())
    }

    /// Returns the line of a domain whose commit is still the same.
    fn unchanged(&self, name: &DomainName, tip: &Oid) -> Option<Line> {
        let domains = &self.before.as_ref()?.index.domains;
        let at = domains.binary_search_by(|line| line.name.cmp(name)).ok()?;
        domains.get(at).filter(|line| line.tip == *tip && line.summary.is_some()).cloned()
    }

    fn finish(self) -> Overview<'s> {
        let Self { store, mut index, parts, damage, before, is_changed } = self;
        let kept = before.map(|before| before.kept);
        let Some(renewal) = parts.renewal() else {
            return Overview { store, index, kept, fresh: parts, damage };
        };
        index.stamp = renewal.stamp().to_owned();
        // Damage outside of the domains shows only where the refs are listed.
        index.settled = renewal.is_settled() && damage.is_empty() && index.realm.is_some();
        let is_worth_it = is_changed || index.settled;
        let mut overview = Overview { store, index, kept, fresh: Parts::new(None), damage };
        let written = |line: &Line| [line.summary.filter(|_| line.is_fresh), None];
        if is_worth_it && let Some((index, kept)) = overview.keep(parts, written) {
            (overview.index, overview.kept) = (index, Some(kept));
        }
        overview
    }
}
