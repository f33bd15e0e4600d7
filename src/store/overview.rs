//! The realm at a glance, from what the store keeps at hand. Only domains that changed since are
//! read again, and only those that are asked for are read at all.
//!
//! Whatever is kept, the answers are those that the objects give: an overview made without it is
//! the same one.

use std::collections::BTreeMap;

use super::{
    Renewal, Store, StoreError, StoreRef, layout, read,
    snapshot::{self, Index, Parts, Place, Snapshot},
};
use crate::model::{
    name::{ContractName, DomainName, RepoName},
    oid::Oid,
    realm::Repo,
    summary::DomainSummary,
    view::{Damage, Subject},
};

pub use super::snapshot::Line;

/// The hashes of a domain's schemas, as they are and not as the files say.
pub type Schemas = BTreeMap<ContractName, String>;

/// The realm at a glance.
pub struct Overview<'s> {
    store: &'s dyn Store,
    index: Index,
    body: Body,
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
        let cache = store.cache()?;
        let stamp = cache.stamp();
        let Index { stamp: then, settled, domains, .. } = kept(store)?.index;
        Some(Self {
            is_current: settled && stamp == Some(then),
            domains: domains.len(),
            examined: domains.iter().filter(|line| line.schemas.is_some()).count(),
            contracts: domains.iter().map(|line| line.contracts).sum(),
        })
    }
}

/// Where the parts of the index are.
enum Body {
    Kept(Snapshot),
    Fresh(Parts),
}

impl<'s> Overview<'s> {
    /// Returns the realm as it is now.
    ///
    /// # Errors
    /// Where the realm itself, or its list of domains, cannot be read.
    pub fn open(store: &'s dyn Store) -> Result<Self, StoreError> {
        let stamp = store.cache().and_then(|cache| cache.stamp());
        Self::of(store, stamp, kept(store))
    }

    /// The stamp is older than what was kept: what is read afterwards can only be newer.
    fn of(store: &'s dyn Store, stamp: Option<String>, mut kept: Option<Snapshot>) -> Result<Self, StoreError> {
        if let Some(snapshot) = kept.take_if(|kept| kept.index.settled && stamp.as_ref() == Some(&kept.index.stamp)) {
            return Ok(Self { store, index: snapshot.index.clone(), body: Body::Kept(snapshot), damage: Vec::new() });
        }
        let renewal = store.cache().and_then(|cache| cache.renew());
        Making::of(store, kept)?.finish(renewal)
    }

    /// Returns the realm as it is now, if something is kept at hand that makes it cheap: for those
    /// who ask about a few domains and could read these instead.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub fn if_kept(store: &'s dyn Store) -> Result<Option<Self>, StoreError> {
        let stamp = store.cache().and_then(|cache| cache.stamp());
        kept(store).map(|snapshot| Self::of(store, stamp, Some(snapshot))).transpose()
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
        match self.part(line.summary) {
            Some(summary) => Ok(summary),
            None => read::summary_of(self.store, &line.name, &line.tree),
        }
    }

    /// Returns the hashes of a domain's schemas, if it was examined and nothing was found.
    pub fn schemas(&self, line: &Line) -> Option<Schemas> {
        self.part(line.schemas)
    }

    fn part<T: serde::de::DeserializeOwned>(&self, place: Option<Place>) -> Option<T> {
        match &self.body {
            Body::Kept(snapshot) => snapshot::decode(&snapshot.part(place?)?),
            Body::Fresh(parts) => snapshot::decode(parts.part(place?)?),
        }
    }

    /// Keeps that domains were examined, with nothing found but these hashes.
    pub fn keep_examined(&self, examined: &BTreeMap<DomainName, Schemas>) {
        let Some(renewal) = self.store.cache().filter(|_| !examined.is_empty()).and_then(|cache| cache.renew()) else {
            return;
        };
        let mut index = self.index.clone();
        let mut parts = Parts::default();
        for line in &mut index.domains {
            let copy = |place| self.raw(place).map(|bytes| parts.add(&bytes));
            [line.summary, line.schemas] = [line.summary, line.schemas].map(copy);
            if let Some(schemas) = examined.get(&line.name) {
                line.schemas = Some(parts.add_value(schemas));
            }
        }
        keep(renewal, &index, &parts);
    }

    fn raw(&self, place: Option<Place>) -> Option<Vec<u8>> {
        match &self.body {
            Body::Kept(snapshot) => snapshot.part(place?),
            Body::Fresh(parts) => parts.part(place?).map(<[u8]>::to_vec),
        }
    }
}

fn kept(store: &dyn Store) -> Option<Snapshot> {
    Snapshot::open(store.cache()?.open()?)
}

fn keep(renewal: Box<dyn Renewal>, index: &Index, parts: &Parts) {
    let [head, body] = parts.file(index);
    renewal.keep(&[&head, &body]);
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
    fn of(store: &'s dyn Store, before: Option<Snapshot>) -> Result<Self, StoreError> {
        let is_changed = before.is_none();
        let mut making =
            Self { store, index: Index::default(), parts: Parts::default(), damage: Vec::new(), before, is_changed };
        making.realm()?;
        let broken = |problem| Damage { file: layout::DOMAINS.to_owned(), subject: Subject::Other, problem };
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
                let file = StoreRef::Domain(name).to_string();
                self.damage.push(Damage { file, subject: Subject::Other, problem: error.to_string() });
                return Ok(());
            }
            Err(error) => return Err(error),
        };
        let place = summary.damage.is_empty().then(|| self.parts.add_value(&summary));
        self.is_changed |= place.is_some();
        self.index.domains.push(Line {
            name,
            tip,
            tree,
            repos: summary.repos().into_iter().cloned().collect(),
            contracts: summary.contract_names().len(),
            summary: place,
            schemas: None,
        });
        Ok(())
    }

    /// Returns the line of a domain whose commit is still the same, its parts copied as they are.
    fn unchanged(&mut self, name: &DomainName, tip: &Oid) -> Option<Line> {
        let before = self.before.as_ref()?;
        let at = before.index.domains.binary_search_by(|line| line.name.cmp(name)).ok()?;
        let line = before.index.domains.get(at).filter(|line| line.tip == *tip)?;
        let summary = before.part(line.summary?)?;
        let schemas = line.schemas.and_then(|place| before.part(place));
        let [summary, schemas] = [Some(summary), schemas].map(|bytes| bytes.map(|bytes| self.parts.add(&bytes)));
        Some(Line { summary, schemas, ..line.clone() })
    }

    fn finish(mut self, renewal: Option<Box<dyn Renewal>>) -> Result<Overview<'s>, StoreError> {
        if let Some(renewal) = renewal {
            self.index.stamp = renewal.stamp().to_owned();
            // Damage outside of the domains shows only where the refs are listed.
            self.index.settled = renewal.is_settled() && self.damage.is_empty() && self.index.realm.is_some();
            if self.is_changed || self.index.settled {
                keep(renewal, &self.index, &self.parts);
            }
        }
        Ok(Overview { store: self.store, index: self.index, body: Body::Fresh(self.parts), damage: self.damage })
    }
}
