//! A read-only view of a realm at an earlier moment.

use jiff::Timestamp;

use super::{Change, CommitInfo, Entry, Lease, Objects, RefListing, Store, StoreError, StoreRef};
use crate::model::{oid::Oid, trailer};

/// A moment in a realm's history.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The time.
    pub time: Timestamp,
    /// The commit of a code repository that defines the moment, if one does. In a ref to which it was published, the
    /// moment is the store commit that published it. That commit is never older, and may have the same date as others.
    pub source: Option<Oid>,
}

impl Moment {
    fn publishes(&self, commit: &CommitInfo) -> bool {
        let is_source = |source: Oid| trailer::last(&commit.message, trailer::SOURCE) == Some(&source.to_string());
        self.source.is_some_and(is_source)
    }
}

/// A store that shows its refs as of a moment: each at the commit that published the moment's
/// source, or else at the newest commit that is not later, along first parents.
pub struct StoreAt {
    store: Box<dyn Store>,
    moment: Moment,
    /// A ref whose commit is given explicitly, because dates do not always identify it: two commits can have the same
    /// date.
    known: Option<(StoreRef, Oid)>,
}

impl StoreAt {
    /// Returns a view of `store` at `moment`.
    pub fn new(store: Box<dyn Store>, moment: Moment) -> Self {
        Self { store, moment, known: None }
    }

    /// Returns the view with a ref fixed to one of its own commits.
    #[must_use]
    pub fn with(self, name: StoreRef, commit: Oid) -> Self {
        Self { known: Some((name, commit)), ..self }
    }

    fn then(&self, name: &StoreRef, tip: Oid) -> Result<Option<Oid>, StoreError> {
        if let Some((_, commit)) = self.known.as_ref().filter(|(known, _)| known == name) {
            return Ok(Some(*commit));
        }
        let (mut next, mut newest) = (Some(tip), None);
        while let Some(id) = next {
            let commit = self.store.commit(&id)?;
            if self.moment.publishes(&commit) {
                return Ok(Some(id));
            }
            if commit.time <= self.moment.time {
                newest = newest.or(Some(id));
                // The source cannot have been published before it was made, so earlier commits need no search.
                if commit.time < self.moment.time || self.moment.source.is_none() {
                    break;
                }
            }
            next = commit.parents.first().copied();
        }
        Ok(newest)
    }

    fn refused<T>() -> Result<T, StoreError> {
        let problem = "it is read-only".to_owned();
        Err(StoreError::Git { doing: "change an earlier state of the realm".to_owned(), problem })
    }
}

impl Objects for StoreAt {
    fn entries(&self, id: &Oid) -> Result<Vec<Entry>, StoreError> {
        self.store.entries(id)
    }

    fn entry(&self, id: &Oid, name: &str) -> Result<Option<Entry>, StoreError> {
        self.store.entry(id, name)
    }

    fn blob(&self, id: &Oid) -> Result<Vec<u8>, StoreError> {
        self.store.blob(id)
    }

    fn size(&self, id: &Oid) -> Result<u64, StoreError> {
        self.store.size(id)
    }

    fn commit(&self, id: &Oid) -> Result<CommitInfo, StoreError> {
        self.store.commit(id)
    }
}

/// The cache and the records of readers and remotes describe the present, so this view has none.
impl Store for StoreAt {
    fn blob_id(&self, content: &[u8]) -> Result<Oid, StoreError> {
        self.store.blob_id(content)
    }

    fn tip(&self, name: &StoreRef) -> Result<Option<Oid>, StoreError> {
        match self.store.tip(name)? {
            Some(tip) if !name.is_local() => self.then(name, tip),
            _ => Ok(None),
        }
    }

    fn caches_in_memory(&self) -> bool {
        self.store.caches_in_memory()
    }

    fn refs(&self, prefix: &str) -> Result<RefListing, StoreError> {
        let RefListing { found, broken } = self.store.refs(prefix)?;
        let mut listing = RefListing { broken, ..RefListing::default() };
        for (full_name, tip) in found {
            if let Some(name) = StoreRef::parse_shared(&full_name)
                && let Some(commit) = self.then(&name, tip)?
            {
                listing.found.insert(full_name, commit);
            }
        }
        Ok(listing)
    }

    fn forget(&self, _: &StoreRef, _: Oid) -> Result<(), StoreError> {
        Self::refused()
    }

    fn lock(&self, _: &StoreRef) -> Result<Box<dyn Lease + '_>, StoreError> {
        Self::refused()
    }

    fn commit_change(&self, _: &StoreRef, _: Option<Oid>, _: &Change) -> Result<Oid, StoreError> {
        Self::refused()
    }

    fn advance(&self, _: &StoreRef, _: Option<Oid>, _: Oid) -> Result<(), StoreError> {
        Self::refused()
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;
    use crate::{
        store::layout,
        testing::{make, memory::MemoryStore},
    };

    /// Creates a domain with two commits, two minutes apart. The second one publishes `source`.
    fn store(domain: &StoreRef, source: Oid) -> (MemoryStore, Vec<Oid>) {
        let (store, mut commits) = (MemoryStore::new(), Vec::new());
        for (minutes, message) in [(0, "one\n".to_owned()), (2, format!("two\n\nBlue-Source-Commit: {source}\n"))] {
            let mut change = make::change(&message, [make::put(layout::domain(), message.clone())]);
            change.author.time = change.author.time.checked_add(SignedDuration::from_mins(minutes)).unwrap();
            let _lease = store.lock(domain).unwrap();
            commits.push(store.commit_change(domain, commits.last().copied(), &change).unwrap());
        }
        (store, commits)
    }

    #[test]
    fn refs_point_to_their_commit_at_the_moment() {
        let oid = |digit: &str| digit.repeat(40).parse::<Oid>().unwrap();
        let domain = StoreRef::Domain("orders".parse().unwrap());
        let start = make::change("", []).author.time.timestamp();
        for (minutes, source, expected) in [
            (-1, None, None),
            (1, None, Some(0)),
            (2, None, Some(1)),
            (1, Some(oid("1")), Some(1)),
            (1, Some(oid("2")), Some(0)),
        ] {
            let (store, commits) = store(&domain, oid("1"));
            let past =
                StoreAt::new(Box::new(store), Moment { time: start + SignedDuration::from_mins(minutes), source });
            let expected: Option<Oid> = expected.map(|at: usize| commits[at]);
            assert_eq!(past.tip(&domain).unwrap(), expected, "{minutes} {source:?}");
            assert_eq!(past.domains().unwrap().first().map(|(_, tip)| *tip), expected);
            assert!(past.lock(&domain).is_err());
        }
    }

    #[test]
    fn publication_of_a_commit_is_found_among_others_of_the_same_second() {
        let domain = StoreRef::Domain("orders".parse().unwrap());
        let oids = ["1", "2", "3"].map(|digit| digit.repeat(40).parse::<Oid>().unwrap());
        for (index, source) in oids.iter().enumerate() {
            let (store, mut commits) = (MemoryStore::new(), Vec::new());
            for source in &oids {
                let message = format!("one\n\nBlue-Source-Commit: {source}\n");
                let change = make::change(&message, [make::put(layout::domain(), message.clone())]);
                let _lease = store.lock(&domain).unwrap();
                commits.push(store.commit_change(&domain, commits.last().copied(), &change).unwrap());
            }
            let time = make::change("", []).author.time.timestamp();
            let past = StoreAt::new(Box::new(store), Moment { time, source: Some(*source) });
            assert_eq!(past.tip(&domain).unwrap(), Some(commits[index]));
        }
    }

    #[test]
    fn an_explicit_commit_overrides_the_dates() {
        let domain = StoreRef::Domain("orders".parse().unwrap());
        let (store, commits) = store(&domain, "1".repeat(40).parse().unwrap());
        let time = make::change("", []).author.time.timestamp() + SignedDuration::from_mins(2);
        let past = StoreAt::new(Box::new(store), Moment { time, source: None }).with(domain.clone(), commits[0]);
        assert_eq!(past.tip(&domain).unwrap(), Some(commits[0]));
        assert_eq!(past.domains().unwrap()[0].1, commits[0]);
        assert_eq!(past.tip(&StoreRef::Realm).unwrap(), None);
    }
}
