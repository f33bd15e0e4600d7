//! Finds refs with missing objects, and what can be recovered of them.

use std::{
    collections::{BTreeMap, BTreeSet},
    ffi::OsString,
};

use super::{GitStore, objects::to_git, refs};
use crate::{
    model::oid::Oid,
    platform::files::{self, Access},
    store::{
        Objects as _, Store as _, StoreError, StoreRef, layout, read,
        sessions::{self, SessionFilter},
    },
};

/// The maximum number of commits that are examined to recover a ref.
const MAX_LOOKED_AT: usize = 200;

/// The part of a ref with missing objects that can be recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recoverable {
    /// The newest complete commit.
    pub commit: Oid,
    /// The time of that commit.
    pub time: jiff::Timestamp,
    /// The subjects of the later commits that can be read, newest first.
    pub lost: Vec<String>,
    /// Whether the commit was found by following the ref. Otherwise later commits may be lost without a trace.
    pub is_ancestor: bool,
}

impl GitStore {
    /// Returns the shared refs from which a missing object is reachable.
    ///
    /// # Errors
    /// Returns an error if refs cannot be listed, or git cannot be run.
    pub fn incomplete_refs(&self, vars: &BTreeMap<OsString, OsString>) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        let realm = self.tip(&StoreRef::Realm)?.map(|tip| (StoreRef::Realm, tip));
        let domains = self.domains()?.into_iter().map(|(name, tip)| (StoreRef::Domain(name), tip));
        let sessions = self.sessions()?.into_iter().map(|(repo, tip)| (StoreRef::Sessions(repo), tip));
        let refs: Vec<_> = realm.into_iter().chain(domains).chain(sessions).collect();
        self.incomplete(vars, refs)
    }

    /// Returns those of some refs from which a missing object is reachable.
    fn incomplete<N>(
        &self,
        vars: &BTreeMap<OsString, OsString>,
        refs: Vec<(N, Oid)>,
    ) -> Result<Vec<(N, Oid)>, StoreError> {
        // Nearly always, all of them are complete, which a single call of git shows.
        if self.has_all_objects(vars, &refs.iter().map(|(_, tip)| *tip).collect::<Vec<_>>())? {
            return Ok(Vec::new());
        }
        let mut incomplete = Vec::new();
        for (name, tip) in refs {
            if !self.has_all_objects(vars, &[tip])? {
                incomplete.push((name, tip));
            }
        }
        Ok(incomplete)
    }

    /// Returns whether every object that is reachable from these commits exists and can be read.
    ///
    /// # Errors
    /// Returns an error if git cannot be run.
    pub fn has_all_objects(&self, vars: &BTreeMap<OsString, OsString>, commits: &[Oid]) -> Result<bool, StoreError> {
        let input = commits.iter().map(|commit| format!("{commit}\n")).collect();
        match self.git(vars).each_line(&["rev-list", "--verify-objects", "--quiet", "--stdin"], input, |_| {}) {
            Ok(()) => Ok(true),
            Err(StoreError::Git { problem, .. }) if says_missing(&problem) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Returns the shared refs that name no commit, each with the problem: files that are not refs, refs to other objects,
    /// and refs that are lost. Excludes refs whose object is missing.
    ///
    /// # Errors
    /// Returns an error if refs cannot be listed.
    pub fn unusable_refs(&self) -> Result<Vec<(StoreRef, String)>, StoreError> {
        let (mut unusable, repo) = (Vec::new(), self.repo());
        match refs::loose(&repo, &StoreRef::Realm.to_string()) {
            Err(StoreError::Damaged { what, problem }) => unusable.push((what, problem)),
            content => drop(content?),
        }
        for prefix in [layout::DOMAINS, layout::SESSIONS] {
            let listing = self.refs(prefix)?;
            unusable.extend(listing.broken);
            for (name, id) in listing.found {
                let kind = repo.try_find_header(to_git(&id)).ok().flatten().map(|header| header.kind());
                if let Some(kind) = kind.filter(|kind| *kind != gix::object::Kind::Commit) {
                    unusable.push((name, format!("it points to a {kind} instead of a commit")));
                }
            }
        }
        let named = |(name, problem): (String, String)| Some((StoreRef::parse_shared(&name)?, problem));
        let lost = self.lost_refs()?.into_iter().map(|name| (name, "it is missing".to_owned()));
        Ok(unusable.into_iter().filter_map(named).chain(lost).collect())
    }

    /// Returns the refs that do not exist any more: the realm's own, and those of domains that this machine has a record
    /// of.
    fn lost_refs(&self) -> Result<Vec<StoreRef>, StoreError> {
        let recorded = self.recorded_tips()?.into_iter().map(|(name, _)| name);
        let names: BTreeSet<_> = recorded.filter(|name| name.domain().is_some()).chain([StoreRef::Realm]).collect();
        Ok(names.into_iter().filter(|name| matches!(self.tip(name), Ok(None))).collect())
    }

    /// Returns the shared refs with the tips that this machine recorded for them: the commits of domains that it knew, and
    /// those last seen at remotes.
    fn recorded_tips(&self) -> Result<Vec<(StoreRef, Oid)>, StoreError> {
        let domain = |name: &str| Some(StoreRef::Domain(name.strip_prefix(layout::KNOWN)?.parse().ok()?));
        let known = self.refs(layout::KNOWN)?.found.into_iter();
        let known = known.filter_map(|(name, tip)| Some((domain(&name)?, tip)));
        let seen = self.seen()?.into_iter().filter_map(|(name, tip)| match name {
            StoreRef::Seen(_, of) => Some((*of, tip)),
            _ => None,
        });
        Ok(known.chain(seen).collect())
    }

    /// Returns whether a ref is lost, and this machine recorded that the commit was its tip.
    ///
    /// # Errors
    /// Returns an error if refs cannot be read.
    pub fn is_lost_at(&self, name: &StoreRef, commit: &Oid) -> Result<bool, StoreError> {
        let is_recorded = self.recorded_tips()?.iter().any(|(of, tip)| of == name && tip == commit);
        Ok(is_recorded && matches!(self.tip(name), Ok(None)))
    }

    /// Removes a ref that [`Self::unusable_refs`] returned. The caller holds its lock.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    pub fn remove_unusable(&self, vars: &BTreeMap<OsString, OsString>, name: &StoreRef) -> Result<(), StoreError> {
        match self.tip(name) {
            // git does not delete a ref that it cannot read.
            Err(error) if error.is_damage() => {
                let path = self.path().join(name.to_string());
                std::fs::remove_file(&path).map_err(StoreError::io("delete", path))
            }
            Err(error) => Err(error),
            Ok(None) => Ok(()),
            Ok(Some(tip)) => {
                let args = ["update-ref", "--no-deref", "-d", &name.to_string(), &tip.to_string()];
                self.git(vars).text(&args).map(drop)
            }
        }
    }

    /// Returns what can be recovered of a ref with missing objects: one of its own commits, a commit last seen at a
    /// remote, or an unreachable commit that looks like one of its own. Returns `None` if there is none.
    ///
    /// # Errors
    /// Returns an error if git cannot be run.
    pub fn find_intact_commit(
        &self,
        vars: &BTreeMap<OsString, OsString>,
        name: &StoreRef,
        tip: Option<Oid>,
    ) -> Result<Option<Recoverable>, StoreError> {
        let mut followed = tip.map(|tip| self.followed(tip)).unwrap_or_default();
        let seen = self.seen()?.into_iter().filter(|(seen, _)| matches!(seen, StoreRef::Seen(_, of) if **of == *name));
        let known: BTreeSet<Oid> = followed.iter().map(|(_, commit, _)| *commit).collect();
        let others = seen.map(|(_, tip)| tip).chain(self.strays(vars, name)?).filter(|id| !known.contains(id));
        let mut others: Vec<_> =
            others.filter_map(|id| Some((self.commit(&id).ok()?.time, id, String::new()))).collect();
        others.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
        others.truncate(MAX_LOOKED_AT);
        // Among commits of the same second, sort the longest history first, because an interrupted
        // write may have left commits that were never a tip.
        others.sort_by_cached_key(|(time, id, _)| std::cmp::Reverse((*time, self.history_length(vars, id))));
        followed.sort_by_key(|(time, ..)| std::cmp::Reverse(*time));
        let mut lost = Vec::new();
        for (time, commit, subject) in followed {
            if self.has_all_objects(vars, &[commit])? {
                return Ok(Some(Recoverable { commit, time, lost, is_ancestor: true }));
            }
            lost.push(subject);
        }
        for (time, commit, _) in others {
            if self.has_all_objects(vars, &[commit])? {
                return Ok(Some(Recoverable { commit, time, lost, is_ancestor: false }));
            }
        }
        Ok(None)
    }

    /// Returns the number of commits in a history; 0 if some of it is missing.
    fn history_length(&self, vars: &BTreeMap<OsString, OsString>, tip: &Oid) -> usize {
        self.git(vars)
            .text(&["rev-list", "--count", &tip.to_string()])
            .ok()
            .and_then(|count| count.trim().parse().ok())
            .unwrap_or(0)
    }

    /// Returns the records of this machine, such as inboxes and the last state of remotes, that cannot be read, each with
    /// the problem.
    ///
    /// # Errors
    /// Returns an error if refs cannot be listed, or git cannot be run.
    pub fn lost_records(&self, vars: &BTreeMap<OsString, OsString>) -> Result<Vec<(String, String)>, StoreError> {
        let mut lost = Vec::new();
        for prefix in [layout::LOCAL, layout::SEEN] {
            let listing = self.refs(prefix)?;
            lost.extend(listing.broken);
            let incomplete = self.incomplete(vars, listing.found.into_iter().collect())?;
            lost.extend(incomplete.into_iter().map(|(name, _)| (name, "some of its objects are missing".to_owned())));
        }
        Ok(lost)
    }

    /// Removes a record that [`Self::lost_records`] returned. Its notifications are shown again, or its remote is listed
    /// again.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    pub fn remove_record(&self, vars: &BTreeMap<OsString, OsString>, name: &str) -> Result<(), StoreError> {
        if self.git(vars).text(&["update-ref", "--no-deref", "-d", name]).is_ok() {
            return Ok(());
        }
        // git does not delete a ref that it cannot read.
        let path = self.path().join(name);
        std::fs::remove_file(&path).map_err(StoreError::io("delete", path))
    }

    /// Returns the readable commits in the history of a tip, with their times and subjects.
    fn followed(&self, tip: Oid) -> Vec<(jiff::Timestamp, Oid, String)> {
        let (mut found, mut next, mut seen) = (Vec::new(), vec![tip], BTreeSet::new());
        while let Some(id) = next.pop().filter(|_| found.len() < MAX_LOOKED_AT) {
            if let (true, Ok(commit)) = (seen.insert(id), self.commit(&id)) {
                found.push((commit.time, id, commit.message.lines().next().unwrap_or_default().to_owned()));
                next.extend(commit.parents);
            }
        }
        found
    }

    /// Returns every commit in the store that has the content of a ref: the realm, the domain, or the sessions.
    fn strays(&self, vars: &BTreeMap<OsString, OsString>, name: &StoreRef) -> Result<Vec<Oid>, StoreError> {
        let mut found = Vec::new();
        let args = ["cat-file", "--batch-all-objects", "--batch-check=%(objecttype) %(objectname)"];
        self.git(vars).each_line(&args, String::new(), |line| {
            let id = line.strip_prefix("commit ").and_then(|id| id.parse().ok());
            found.extend(id.filter(|id| self.is_of(name, id)));
        })?;
        Ok(found)
    }

    fn is_of(&self, name: &StoreRef, id: &Oid) -> bool {
        let Ok(tree) = self.commit(id).map(|commit| commit.tree) else { return false };
        match name {
            StoreRef::Realm => {
                matches!(read::file::<crate::model::realm::Realm>(self, name, &tree, &layout::realm()), Ok(Some(_)))
            }
            StoreRef::Domain(domain) => {
                let info = read::file::<crate::model::domain::Domain>(self, name, &tree, &layout::domain());
                info.is_ok_and(|info| info.is_some_and(|info| info.name == *domain))
            }
            StoreRef::Sessions(repo) => [SessionFilter::Open, SessionFilter::Ended]
                .into_iter()
                .any(|which| sessions::at(self, repo, id, which).is_ok_and(|(found, _)| !found.is_empty())),
            _ => false,
        }
    }

    /// Copies all packs of another store, and removes the loose objects that they contain, because those may be torn.
    ///
    /// # Errors
    /// Returns an error if a file cannot be copied.
    pub fn take_packs(&self, other: &Self, vars: &BTreeMap<OsString, OsString>) -> Result<(), StoreError> {
        let incoming = super::incoming::Incoming::new(&self.path())?;
        incoming.copy(&other.path().join("objects/pack"))?;
        incoming.take()?;
        self.git(vars).text(&["prune-packed", "--quiet"]).map(drop)
    }

    /// Returns whether other users of this machine may read the store.
    pub fn is_open_to_others(&self) -> bool {
        files::is_open_to_others(&self.path()).unwrap_or_default()
    }

    /// Removes the permissions of other users of this machine.
    ///
    /// # Errors
    /// Returns an error if the system refuses.
    pub fn close_to_others(&self) -> Result<(), StoreError> {
        let path = self.path();
        files::narrow(&path, Access::PrivateFolder).map(drop).map_err(StoreError::io("change the mode of", path))
    }
}

/// Returns whether a message of git means that an object is missing, as opposed to another failure.
fn says_missing(problem: &str) -> bool {
    let problem = problem.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| problem.contains(word));
    // git is also unable to open a file if there are too many open files.
    let names_object = || problem.split(|c: char| !c.is_ascii_hexdigit()).any(|word| word.len() >= 40);
    has(&["missing", "bad object", "bad tree", "corrupt", "failed to traverse"])
        || (has(&["unable to", "could not"]) && names_object())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_some_failures_mean_a_missing_object() {
        let id = "12".repeat(20);
        assert!(says_missing(&format!("error: Could not read {id}")) && says_missing("fatal: bad object HEAD"));
        assert!(!says_missing("error: could not open the pack folder: Too many open files"));
    }
}
