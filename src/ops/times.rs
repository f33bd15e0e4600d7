//! When what a domain holds was made: the times of the commits that brought it.

use std::collections::BTreeMap;

use super::{ctx::Acting, log::History};
use crate::{
    error::OpError,
    model::oid::Oid,
    store::{Entry, TreePath, layout, read},
};

/// Most commits that are walked.
const MAX_COMMITS: usize = 10_000;
/// Most tree entries that are looked at on the way: a folder of many contracts is large in every commit.
const MAX_ENTRIES: usize = 4_000_000;

/// The folders that notifications are about.
const FOLDERS: [&str; 2] = [layout::CONTRACTS, layout::BINDINGS];

/// A folder as it was at one commit.
#[derive(Default)]
struct Folder {
    id: Option<Oid>,
    /// Read only where it differs from the next one.
    entries: Option<Vec<Entry>>,
}

/// Returns when each path got what it holds at `tip`: the time of the commit that brought it, along
/// first parents. Each commit is compared with the one before it once, whatever the number of paths. A
/// change that is older than the walk reaches has the time of the last commit it reached.
///
/// # Errors
/// Where the store cannot be read. History that is missing only dates a change less exactly.
pub fn times(
    acting: Acting<'_>,
    tip: &Oid,
    paths: &[(&TreePath, Option<Oid>)],
) -> Result<Vec<jiff::Timestamp>, OpError> {
    let mut times = vec![jiff::Timestamp::UNIX_EPOCH; paths.len()];
    let mut open: BTreeMap<&str, usize> = paths.iter().enumerate().map(|(at, (path, _))| (path.as_str(), at)).collect();
    let mut entries_seen = 0;
    let mut newer: Option<(jiff::Timestamp, [Folder; 2])> = None;
    for step in History::of(acting.store, Some(*tip)).take(MAX_COMMITS) {
        if open.is_empty() || entries_seen > MAX_ENTRIES {
            break;
        }
        let (_, commit) = match step {
            Ok(step) => step,
            Err(error) if error.code == "damaged" => break,
            Err(error) => return Err(error),
        };
        let mut older: [Folder; 2] = Default::default();
        for (at, name) in FOLDERS.into_iter().enumerate() {
            older[at].id = read::lookup(acting.store, &commit.tree, name)?.map(|entry| entry.id);
            let Some((time, folders)) = &mut newer else { continue };
            if folders[at].id == older[at].id {
                older[at].entries = folders[at].entries.take();
                continue;
            }
            let new = folders[at].read(acting)?;
            let old = older[at].read(acting)?;
            entries_seen += new.len() + old.len();
            for changed in differing(old, new) {
                if let Some(path) = open.remove(format!("{name}/{changed}").as_str()) {
                    times[path] = *time;
                }
            }
        }
        newer = Some((commit.time, older));
    }
    if let Some((time, _)) = newer {
        for path in open.into_values() {
            times[path] = time;
        }
    }
    Ok(times)
}

impl Folder {
    fn read(&mut self, acting: Acting<'_>) -> Result<&[Entry], OpError> {
        if self.entries.is_none() {
            let entries = self.id.map(|id| acting.store.entries(&id)).transpose();
            // What is no folder holds nothing that anybody is told of.
            self.entries = Some(match entries {
                Err(error) if error.is_damage() => Vec::new(),
                entries => entries?.unwrap_or_default(),
            });
        }
        Ok(self.entries.as_deref().unwrap_or_default())
    }
}

/// Returns the names of the entries that only one side has, or that differ. Both are in git's order.
fn differing<'a>(old: &'a [Entry], new: &'a [Entry]) -> Vec<&'a str> {
    // Most of two neighbours is the same, and stands at the same places from one end or the other.
    let front = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[front..], &new[front..]);
    let back = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let (old, new) = (&old[..old.len() - back], &new[..new.len() - back]);
    let before: BTreeMap<&str, &Entry> = old.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let after: BTreeMap<&str, &Entry> = new.iter().map(|entry| (entry.name.as_str(), entry)).collect();
    let names = before.keys().chain(after.keys().filter(|name| !before.contains_key(*name)));
    names.filter(|name| before.get(*name) != after.get(*name)).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::EntryKind;

    #[test]
    fn what_differs_is_found_wherever_it_stands() {
        let entry = |name: &str, id: char| Entry {
            name: name.to_owned(),
            kind: EntryKind::Blob,
            id: id.to_string().repeat(40).parse().unwrap(),
        };
        let all = |text: &str| -> Vec<Entry> {
            text.split_whitespace().map(|word| entry(&word[..1], word.chars().nth(1).unwrap())).collect()
        };
        for (old, new, expected) in [
            ("a1 b1 c1", "a1 b1 c1", ""),
            ("a1 b1 c1", "a1 b2 c1", "b"),
            ("a1 b1 c1", "a1 c1", "b"),
            ("", "a1", "a"),
            ("a1 b1 c1 d1", "a2 b1 d1 e1", "a c e"),
        ] {
            assert_eq!(differing(&all(old), &all(new)).join(" "), expected, "{old} | {new}");
        }
    }
}
