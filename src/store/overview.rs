//! The overview of a realm, from the store's cache. Only domains that have changed are read again, and unchanged ones
//! are only decoded if requested.
//!
//! The results are the same with and without the cache.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    CachedData as KeptFile, Store, StoreError, StoreRef, read,
    snapshot::{self, Head, Index, Parts, Place, Snapshot},
};
use crate::model::{
    content_cache::{ContentCache, decoded_size},
    domain_digest::DomainDigest,
    domain_summary::DomainSummary,
    domain_view::{Damage, Subject},
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    realm::Repo,
};

pub use super::snapshot::Line;

/// The hashes of a domain's schemas, computed from the schemas rather than read from the files.
pub type Schemas = BTreeMap<ContractName, String>;

/// Recently decoded summaries, by the domain's name and tree, which determine them.
static SUMMARIES: ContentCache<(DomainName, Oid), Arc<DomainSummary>> = ContentCache::new(10 << 20);

/// Recently decoded digests, by the same keys.
static DIGESTS: ContentCache<(DomainName, Oid), Arc<DomainDigest>> = ContentCache::new(4 << 20);

/// The overview of a realm.
pub struct Overview<'s> {
    store: &'s dyn Store,
    index: Arc<Index>,
    /// The cached file.
    kept: Option<Box<dyn KeptFile>>,
    /// The stamp of the refs, if they have not changed since.
    stamp: Option<String>,
    /// The parts that were just read and could not be cached.
    fresh: Parts,
    damage: Vec<Damage>,
}

/// The state of a realm's cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheState {
    /// Whether the refs have not changed since the cache was written.
    pub is_current: bool,
    /// The number of domains in the cache.
    pub domains: usize,
    /// The number of domains that were examined without findings.
    pub examined: usize,
    /// The number of contracts in the domains.
    pub contracts: usize,
}

impl CacheState {
    /// Returns the state of the cache of a store's realm, if the cache is usable.
    pub fn of(store: &dyn Store) -> Option<Self> {
        let (snapshot, stamp) = kept(store);
        let index = snapshot?.index;
        let domains = index.lines.all();
        Some(Self {
            is_current: stamp.is_some(),
            domains: domains.len(),
            examined: domains.iter().filter(|line| line.schemas.is_some()).count(),
            contracts: index.head.contracts,
        })
    }
}

impl<'s> Overview<'s> {
    /// Returns the current overview of the realm.
    ///
    /// # Errors
    /// Returns an error if the realm itself, or its list of domains, cannot be read.
    pub fn open(store: &'s dyn Store) -> Result<Self, StoreError> {
        match kept(store) {
            (Some(kept), Some(stamp)) => Ok(Self::at_rest(store, kept, stamp)),
            (kept, _) => {
                // Start this before the refs are read, so that cached data is never newer than its stamp.
                let renewal = store.cache().and_then(|cache| match &kept {
                    Some(Snapshot { index, kept, .. }) => index.renewal(cache, Some(&**kept)),
                    None => cache.renew(None),
                });
                Ok(OverviewBuilder::of(store, kept, Parts::new(renewal))?.finish())
            }
        }
    }

    fn at_rest(store: &'s dyn Store, Snapshot { index, kept, .. }: Snapshot, stamp: String) -> Self {
        let fresh = Parts::new(None);
        Self { store, index, kept: Some(kept), stamp: Some(stamp), fresh, damage: Vec::new() }
    }

    /// Returns the current overview if it is available from the cache, for callers that need only a few domains and
    /// could read those instead. Does not change the cache.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`].
    pub fn if_kept(store: &'s dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(match kept(store) {
            (None, _) => None,
            (Some(kept), Some(stamp)) => Some(Self::at_rest(store, kept, stamp)),
            (kept, None) => Some(OverviewBuilder::of(store, kept, Parts::new(None))?.finish()),
        })
    }

    /// Returns the repositories of the realm.
    pub fn repos(&self) -> &BTreeMap<RepoName, Repo> {
        &self.index.head.repos
    }

    /// Returns the domains that can be read, sorted by name.
    pub fn domains(&self) -> &[Line] {
        self.index.lines.all()
    }

    /// Returns the number of domains that can be read.
    pub fn count(&self) -> usize {
        self.index.lines.count()
    }

    /// Returns the number of contracts in the readable domains.
    pub fn contracts(&self) -> usize {
        self.index.head.contracts
    }

    /// Returns the domains that `repo` is involved in.
    pub fn domains_of(&self, repo: &RepoName) -> impl Iterator<Item = &Line> {
        self.index.lines.of(repo)
    }

    /// Returns the domains that `repo` is not involved in, one by one.
    pub fn domains_not_of(&self, repo: &RepoName) -> impl Iterator<Item = Line> {
        self.index.lines.not_of(repo)
    }

    /// Returns the damage outside of the domains, including domains that could not be read at all.
    pub fn damage(&self) -> &[Damage] {
        &self.damage
    }

    /// Returns the domains with damage.
    pub fn damaged(&self) -> impl Iterator<Item = Line> {
        self.index.lines.damaged()
    }

    /// Returns the stamp of the refs, if they are settled: while it stays the same, so does the realm.
    pub fn stamp(&self) -> Option<&str> {
        self.stamp.as_deref()
    }

    /// Returns the digest of a domain: the part of its summary that `status` shows.
    ///
    /// # Errors
    /// Returns an error if the digest is not cached and the domain cannot be read.
    pub fn digest(&self, line: &Line) -> Result<Arc<DomainDigest>, StoreError> {
        let key = || (line.name.clone(), line.tree);
        let holds = self.store.holds() && line.digest.is_some();
        if let Some(held) = holds.then(|| DIGESTS.get(&key())).flatten() {
            return Ok(held);
        }
        let Some(text) = self.part(line, line.digest).and_then(|bytes| String::from_utf8(bytes).ok()) else {
            return Ok(Arc::new(DomainDigest::from(&*self.summary(line)?)));
        };
        let (weight, digest) = (decoded_size(text.len()), Arc::new(DomainDigest::with_text(text)));
        if holds {
            DIGESTS.put(key(), Arc::clone(&digest), weight);
        }
        Ok(digest)
    }

    /// Returns the summary of a domain.
    ///
    /// # Errors
    /// Returns an error if the summary is not cached and the domain cannot be read.
    pub fn summary(&self, line: &Line) -> Result<Arc<DomainSummary>, StoreError> {
        let key = || (line.name.clone(), line.tree);
        // A damaged domain is read again until it is repaired.
        let holds = self.store.holds() && line.summary.is_some();
        if let Some(held) = holds.then(|| SUMMARIES.get(&key())).flatten() {
            return Ok(held);
        }
        let bytes = self.part(line, line.summary);
        match bytes.as_ref().and_then(|bytes| Some((snapshot::decode(bytes)?, decoded_size(bytes.len())))) {
            Some((summary, weight)) => {
                let summary = Arc::new(summary);
                if holds {
                    SUMMARIES.put(key(), Arc::clone(&summary), weight);
                }
                Ok(summary)
            }
            None => read::summary_of(self.store, &line.name, &line.tree).map(Arc::new),
        }
    }

    /// Returns the hashes of a domain's schemas, if it was examined without findings.
    pub fn schemas(&self, line: &Line) -> Option<Schemas> {
        self.part(line, line.schemas).and_then(|bytes| snapshot::decode(&bytes))
    }

    /// Returns whether a domain was examined without findings.
    pub fn is_examined(&self, line: &Line) -> bool {
        line.schemas.is_some()
    }

    fn part(&self, line: &Line, place: Option<Place>) -> Option<Vec<u8>> {
        match &self.kept {
            _ if line.is_fresh => self.fresh.part(place?),
            kept => {
                let bytes = snapshot::part(&**kept.as_ref()?, place?);
                if bytes.is_none() {
                    self.discard();
                }
                bytes
            }
        }
    }

    /// Removes a damaged cache, so that the next command rebuilds it.
    fn discard(&self) {
        if let Some(cache) = self.store.cache() {
            let _ = cache.clear();
        }
    }

    /// Starts to record domains that were examined.
    pub fn examining(&self) -> Examining<'_> {
        Examining { overview: self, parts: None, places: BTreeMap::new() }
    }

    /// Replaces the cache with this overview, and returns the new one. `written` returns the parts of a domain that
    /// are new: its summary, its digest, and the hashes of its schemas. All other parts stay where they are, or are
    /// copied to a new file.
    fn keep(
        &self,
        mut parts: Parts,
        written: impl Fn(&Line) -> [Option<Place>; 3],
    ) -> Option<(Arc<Index>, Box<dyn KeptFile>)> {
        let before = self.index.lines.all();
        let is_copied = parts.is_new_file;
        let mut lines = before.to_vec();
        for (line, before) in lines.iter_mut().zip(before) {
            let [summary, digest, schemas] = written(before);
            let mut moved = |written: Option<Place>, old: Option<Place>| match (written, old) {
                (None, Some(_)) if is_copied => self.part(before, old).map(|bytes| Some(parts.add(&bytes))),
                (written, old) => Some(written.or(old)),
            };
            line.summary = moved(summary, before.summary)?;
            // The other parts are recomputed if they cannot be read.
            line.digest = moved(digest, before.digest).flatten();
            line.schemas = moved(schemas, before.schemas).flatten();
            line.is_fresh = false;
        }
        let index = Arc::new(Index { head: self.index.head.clone(), lines: lines.into() });
        let kept = parts.keep(&index, self.stamp.as_deref())?;
        Some((index, kept))
    }
}

/// Records domains that were examined without findings, with the hashes of their schemas.
pub struct Examining<'o> {
    overview: &'o Overview<'o>,
    /// Created when the first domain is added; usually there is none.
    parts: Option<Parts>,
    places: BTreeMap<DomainName, Place>,
}

impl Examining<'_> {
    /// Adds a domain.
    pub fn add(&mut self, line: &Line, schemas: &Schemas) {
        let Overview { store, index, kept, .. } = self.overview;
        let renewal = || index.renewal(store.cache()?, kept.as_deref());
        let parts = self.parts.get_or_insert_with(|| Parts::new(renewal()));
        if parts.renewal().is_some() {
            self.places.insert(line.name.clone(), parts.add(&snapshot::encode(schemas)));
        }
    }

    /// Adds the recorded domains to the cache.
    pub fn keep(self) {
        let Self { overview, parts, places } = self;
        if let Some(parts) = parts.filter(|parts| parts.renewal().is_some()) {
            overview.keep(parts, |line| [None, None, places.get(&line.name).copied()]);
        }
    }
}

/// Returns the cached snapshot, and the stamp of the refs if they have not changed since. The stamp is taken first, so
/// that anything read later can only be newer.
fn kept(store: &dyn Store) -> (Option<Snapshot>, Option<String>) {
    let Some(cache) = store.cache() else { return (None, None) };
    let stamp = cache.stamp();
    let Some(kept) = cache.open().and_then(|kept| Snapshot::open(kept, store.holds())) else { return (None, None) };
    let noted = cache.noted();
    let stamp = stamp.filter(|stamp| noted.as_deref() == Some(&*snapshot::at_rest(&kept.id, stamp)));
    (Some(kept), stamp)
}

/// An overview under construction.
struct OverviewBuilder<'s> {
    store: &'s dyn Store,
    head: Head,
    domains: Vec<Line>,
    parts: Parts,
    damage: Vec<Damage>,
    /// The previous snapshot.
    before: Option<Snapshot>,
    /// Whether there is anything new to cache.
    is_changed: bool,
}

impl<'s> OverviewBuilder<'s> {
    fn of(store: &'s dyn Store, before: Option<Snapshot>, parts: Parts) -> Result<Self, StoreError> {
        let is_changed = before.is_none();
        let (head, domains) = (Head::default(), Vec::new());
        let mut making = Self { store, head, domains, parts, damage: Vec::new(), before, is_changed };
        making.realm()?;
        let broken = |(file, problem)| Damage { file, subject: Subject::Domains, problem };
        making.damage.extend(store.broken_refs()?.into_iter().map(broken));
        for (name, tip) in store.domains()? {
            making.domain(name, tip)?;
        }
        let kept = |lines: &[Line]| lines.iter().filter(|line| line.summary.is_some()).count();
        let before = making.before.as_ref().map(|before| kept(before.index.lines.all()));
        making.is_changed |= before.is_some_and(|before| before != kept(&making.domains));
        Ok(making)
    }

    fn realm(&mut self) -> Result<(), StoreError> {
        let tip = self.store.tip(&StoreRef::Realm)?;
        match self.before.as_ref().map(|before| &before.index.head).filter(|head| tip.is_some() && head.realm == tip) {
            Some(head) => self.head = head.clone(),
            None => {
                let view = read::repos(self.store)?;
                // Unreadable parts may become readable later, so they are not cached.
                self.head.realm = tip.filter(|_| view.damage.is_empty());
                self.is_changed |= self.head.realm.is_some();
                self.head.repos = view.repos;
                self.damage.extend(view.damage);
            }
        }
        Ok(())
    }

    fn domain(&mut self, name: DomainName, tip: Oid) -> Result<(), StoreError> {
        if let Some(line) = self.unchanged(&name, &tip) {
            self.domains.push(line);
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
        let digest = place.map(|_| self.parts.add(DomainDigest::from(&summary).as_text().as_bytes()));
        self.is_changed |= place.is_some();
        self.domains.push(Line { summary: place, digest, ..Line::of(name, tip, tree, &summary) });
        Ok(())
    }

    /// Returns the line of a domain whose tip has not changed.
    fn unchanged(&self, name: &DomainName, tip: &Oid) -> Option<Line> {
        let domains = self.before.as_ref()?.index.lines.all();
        let at = domains.binary_search_by(|line| line.name.cmp(name)).ok()?;
        domains.get(at).filter(|line| line.tip == *tip && line.summary.is_some()).cloned()
    }

    fn finish(self) -> Overview<'s> {
        let Self { store, mut head, domains, parts, damage, before, is_changed } = self;
        head.contracts = domains.iter().map(|line| line.contracts).sum();
        let index = Arc::new(Index { head, lines: domains.into() });
        let Some(renewal) = parts.renewal() else {
            let kept = before.map(|before| before.kept);
            return Overview { store, index, kept, stamp: None, fresh: parts, damage };
        };
        // Damage outside of domains is only found by listing the refs.
        let is_settled = renewal.is_settled() && damage.is_empty() && index.head.realm.is_some();
        let stamp = is_settled.then(|| renewal.stamp().to_owned());
        let same = before.as_ref().filter(|before| before.index.is_same(&index)).map(|before| before.id.clone());
        let kept = before.map(|before| before.kept);
        let mut overview = Overview { store, index, kept, stamp, fresh: Parts::new(None), damage };
        match (same, &overview.stamp) {
            (Some(id), Some(stamp)) => parts.note(&id, stamp),
            (None, stamp) if is_changed || stamp.is_some() => {
                let fresh = |line: &Line, place: Option<Place>| place.filter(|_| line.is_fresh);
                let written = |line: &Line| [fresh(line, line.summary), fresh(line, line.digest), None];
                if let Some((index, kept)) = overview.keep(parts, written) {
                    (overview.index, overview.kept) = (index, Some(kept));
                }
            }
            _ => {}
        }
        overview
    }
}
