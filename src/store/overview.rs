//! The overview of a realm, from the store's cache. Only domains that have changed are read again, and unchanged ones
//! are only decoded if requested.
//!
//! The results are the same with and without the cache.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    CachedData, DomainRefs, Store, StoreError, StoreRef,
    contract_index::ContractIndex,
    read,
    snapshot::{self, Head, Index, LineWriter, Parts, Place, Snapshot, WrittenLine},
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
    /// The cached data that `index` refers to.
    cached: Option<CachedData>,
    /// The stamp of the refs, if they have not changed since.
    stamp: Option<String>,
    /// The parts that were just read, if they could not be cached.
    uncached: Parts,
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
        let (snapshot, stamp) = cached(store);
        let index = snapshot?.index;
        let domains = index.lines.all();
        Some(Self {
            is_current: stamp.is_some(),
            domains: domains.len(),
            examined: domains.iter().filter(|line| line.schemas.is_some()).count(),
            contracts: index.head.sums.contracts,
        })
    }
}

impl<'s> Overview<'s> {
    /// Returns the current overview of the realm.
    ///
    /// # Errors
    /// Returns an error if the realm itself, or its list of domains, cannot be read.
    pub fn open(store: &'s dyn Store) -> Result<Self, StoreError> {
        match cached(store) {
            (Some(cached), Some(stamp)) => Ok(Self::at_rest(store, cached, stamp)),
            (cached, _) => {
                // Start this before the refs are read, so that cached data is never newer than its stamp.
                let read = cached.as_ref().map(|read| (&read.cached, read.index.head.sums.used));
                let renewal = store.cache().and_then(|cache| cache.renew(read));
                OverviewBuilder::build(store, cached, Parts::new(renewal))
            }
        }
    }

    fn at_rest(store: &'s dyn Store, Snapshot { index, cached, .. }: Snapshot, stamp: String) -> Self {
        let uncached = Parts::new(None);
        Self { store, index, cached: Some(cached), stamp: Some(stamp), uncached, damage: Vec::new() }
    }

    /// Returns the current overview if it is available from the cache, for callers that need only a few domains and
    /// could read those instead. Does not change the cache.
    ///
    /// # Errors
    /// Returns the errors of [`Self::open`].
    pub fn if_cached(store: &'s dyn Store) -> Result<Option<Self>, StoreError> {
        Ok(match cached(store) {
            (None, _) => None,
            (Some(cached), Some(stamp)) => Some(Self::at_rest(store, cached, stamp)),
            (cached, None) => Some(OverviewBuilder::build(store, cached, Parts::new(None))?),
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
        self.index.head.sums.contracts
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
        let holds = self.store.caches_in_memory() && line.digest.is_some();
        if let Some(held) = holds.then(|| DIGESTS.get(&key())).flatten() {
            return Ok(held);
        }
        let Some(text) = self.part(line.digest).and_then(|bytes| String::from_utf8(bytes).ok()) else {
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
        let holds = self.store.caches_in_memory() && line.summary.is_some();
        if let Some(held) = holds.then(|| SUMMARIES.get(&key())).flatten() {
            return Ok(held);
        }
        let bytes = self.part(line.summary);
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
        self.part(line.schemas).and_then(|bytes| snapshot::decode(&bytes))
    }

    fn part(&self, place: Option<Place>) -> Option<Vec<u8>> {
        let place = place?;
        if self.uncached.contain(place) {
            return self.uncached.part(place);
        }
        let bytes = snapshot::part(self.cached.as_ref()?, place);
        if bytes.is_none() {
            self.discard();
        }
        bytes
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
}

/// Records domains that were examined without findings, with the hashes of their schemas.
pub struct Examining<'o> {
    overview: &'o Overview<'o>,
    /// Created when the first domain is added; usually there is none.
    parts: Option<Parts>,
    places: BTreeMap<String, Place>,
}

impl Examining<'_> {
    /// Adds a domain.
    pub fn add(&mut self, line: &Line, schemas: &Schemas) {
        let Overview { store, index, cached, uncached, .. } = self.overview;
        // Parts can be added to the cached file only if it has everything that this overview refers to.
        let read = || cached.as_ref().map(|cached| (cached, index.head.sums.used));
        let renewal = || store.cache().filter(|_| uncached.is_empty())?.renew(read());
        let parts = self.parts.get_or_insert_with(|| Parts::new(renewal()));
        if parts.renewal().is_some() {
            self.places.insert(line.name.to_string(), parts.add(&snapshot::encode(schemas)));
        }
    }

    /// Adds the recorded domains to the cache.
    pub fn keep(mut self) {
        if let Some(mut parts) = self.parts.take().filter(|parts| parts.renewal().is_some())
            && let Some(index) = self.index(&mut parts)
        {
            parts.keep(&index, self.overview.stamp.as_deref());
        }
    }

    /// Returns the index with the recorded domains, or `None` if a part of the previous file cannot be read.
    fn index(&self, parts: &mut Parts) -> Option<Index> {
        let Overview { index, cached, .. } = self.overview;
        let (mut head, mut lines) = (index.head.clone(), LineWriter::default());
        for written in index.lines.written() {
            let place = self.places.get(written.name());
            if place.is_none() && !parts.is_new_file() {
                lines.copy(written);
                continue;
            }
            let mut line = written.decode()?;
            head.sums.subtract(&line);
            if parts.is_new_file() {
                line = moved(line, cached.as_ref()?, parts)?;
            }
            line.schemas = place.copied().or(line.schemas);
            head.sums.add(&line);
            lines.add(&line);
        }
        Some(Index::new(head, lines))
    }
}

/// Copies the parts of a domain to a new file. Returns `None` if its summary cannot be read. The other parts are
/// recomputed if they cannot be read.
fn moved(line: Line, cached: &CachedData, parts: &mut Parts) -> Option<Line> {
    let mut copy = |place: Option<Place>| Some(parts.add(&snapshot::part(cached, place?)?));
    let summary = copy(line.summary);
    let is_lost = summary.is_none() && line.summary.is_some();
    let (digest, schemas) = (copy(line.digest), copy(line.schemas));
    let contract_index = line.contract_index.and_then(|index| index.copy(cached, parts));
    (!is_lost).then_some(Line { summary, digest, schemas, contract_index, ..line })
}

/// Returns the cached snapshot, and the stamp of the refs if they have not changed since. The stamp is taken first, so
/// that anything read later can only be newer.
fn cached(store: &dyn Store) -> (Option<Snapshot>, Option<String>) {
    let Some(cache) = store.cache() else { return (None, None) };
    let stamp = cache.stamp();
    let Some(cached) = cache.open().and_then(|cached| Snapshot::open(cached, store.caches_in_memory())) else {
        return (None, None);
    };
    let noted = cache.noted();
    let stamp = stamp.filter(|stamp| noted.as_deref() == Some(&*snapshot::at_rest(&cached.id, stamp)));
    (Some(cached), stamp)
}

/// An overview under construction.
struct OverviewBuilder<'s> {
    store: &'s dyn Store,
    head: Head,
    lines: LineWriter,
    parts: Parts,
    damage: Vec<Damage>,
    /// Whether there is anything new to cache.
    is_changed: bool,
}

impl<'s> OverviewBuilder<'s> {
    /// Returns the overview of the current refs. Reads only the domains that have changed since `before`.
    fn build(store: &'s dyn Store, before: Option<Snapshot>, parts: Parts) -> Result<Overview<'s>, StoreError> {
        let (is_changed, lines) = (before.is_none(), LineWriter::default());
        let mut builder = Self { store, head: Head::default(), lines, parts, damage: Vec::new(), is_changed };
        builder.add_realm(before.as_ref().map(|before| &before.index.head))?;
        let DomainRefs { tips, broken } = store.domain_refs()?;
        let broken = broken.into_iter().map(|(file, problem)| Damage { file, subject: Subject::Domains, problem });
        builder.damage.extend(broken);
        let cached = before.as_ref().map(|before| &before.cached);
        let mut earlier = before.iter().flat_map(|before| before.index.lines.written()).peekable();
        for (name, tip) in tips {
            while let Some(line) = earlier.next_if(|line| line.name() < name.as_str()) {
                builder.remove(line);
            }
            let line = earlier.next_if(|line| line.name() == name.as_str());
            if !line.zip(cached).is_some_and(|(line, cached)| builder.reuse(line, &tip, cached)) {
                line.into_iter().for_each(|line| builder.remove(line));
                builder.add(name, tip)?;
            }
        }
        earlier.for_each(|line| builder.remove(line));
        Ok(builder.finish(before))
    }

    fn add_realm(&mut self, before: Option<&Head>) -> Result<(), StoreError> {
        let tip = self.store.tip(&StoreRef::Realm)?;
        match before.filter(|head| tip.is_some() && head.realm == tip) {
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
        self.head.sums = before.map_or_else(Default::default, |before| before.sums);
        Ok(())
    }

    /// Adds a domain whose tip has not changed. Returns whether that was possible.
    fn reuse(&mut self, line: WrittenLine<'_>, tip: &Oid, cached: &CachedData) -> bool {
        if !line.is_of(tip) {
            return false;
        }
        if !self.parts.is_new_file() {
            self.lines.copy(line);
            return true;
        }
        let Some((before, line)) =
            line.decode().and_then(|line| Some((line.clone(), moved(line, cached, &mut self.parts)?)))
        else {
            return false;
        };
        self.head.sums.subtract(&before);
        self.head.sums.add(&line);
        self.lines.add(&line);
        true
    }

    fn remove(&mut self, line: WrittenLine<'_>) {
        if let Some(line) = line.decode() {
            self.head.sums.subtract(&line);
            self.is_changed |= line.summary.is_some();
        }
    }

    fn add(&mut self, name: DomainName, tip: Oid) -> Result<(), StoreError> {
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
        let contract_index =
            if place.is_some() { ContractIndex::add(&mut self.parts, self.store, &tree, &summary)? } else { None };
        self.is_changed |= place.is_some();
        let line = Line { summary: place, digest, contract_index, ..Line::of(name, tip, tree, &summary) };
        self.head.sums.add(&line);
        self.lines.add(&line);
        Ok(())
    }

    fn finish(self, before: Option<Snapshot>) -> Overview<'s> {
        let Self { store, head, lines, mut parts, damage, is_changed } = self;
        let index = Arc::new(Index::new(head, lines));
        // Damage outside of domains is only found by listing the refs.
        let is_whole = damage.is_empty() && index.head.realm.is_some();
        let renewal = parts.renewal().filter(|renewal| is_whole && renewal.is_settled);
        let stamp = renewal.map(|renewal| renewal.stamp.clone());
        let same = before.as_ref().filter(|before| before.index.text() == index.text()).map(|before| before.id.clone());
        let mut cached = before.map(|before| before.cached);
        match (same, &stamp) {
            (Some(id), Some(stamp)) => parts.note(&id, stamp),
            // If the parts were copied to a new file, the old one is no longer used.
            (None, stamp) if is_changed || stamp.is_some() || parts.is_new_file() => {
                if let Some(written) = parts.keep(&index, stamp.as_deref()) {
                    (cached, parts) = (Some(written), Parts::new(None));
                }
            }
            _ => {}
        }
        // An incomplete replacement is dropped.
        drop(parts.take_file());
        Overview { store, index, cached, stamp, uncached: parts, damage }
    }
}
