//! Validates data from a remote before it is merged: only regular files and folders, at valid paths, of limited size
//! and with valid content. Data that the store already has is not validated again.

use std::collections::{
    BTreeMap,
    btree_map::Entry::{Occupied as Held, Vacant},
};

use serde::de::DeserializeOwned;

use crate::model::{
    approval::Approval,
    binding::{Binding, MAX_PARTS},
    contract::Contract,
    domain::{Domain, MAX_MEMBERS, Source},
    oid::Oid,
    realm::{Realm, Rename, Repo},
    schema,
    session::Session,
    set_aside::SetAside,
    transfer::Transfers,
};
use crate::store::{
    Entry, EntryKind, Store, StoreError, StoreRef, codec,
    layout::{self, BINDINGS},
    read,
    tree_file::TreeFile,
};

/// The size limit of one folder, in bytes: more than its entries may take.
const MAX_FOLDER: u64 = 64 << 20;
/// The maximum number of files and folders in the tree of one ref.
const MAX_ENTRIES: usize = 500_000;
/// The maximum size of the bindings of one domain together, in bytes. Each of them is decoded to judge the domain, even
/// if several are the same blob.
const MAX_BINDINGS: u64 = 64 << 20;
/// The maximum number of problems that are reported for one ref.
const MAX_REPORTED: usize = 5;

/// Returns the problems in the tree of the commit `tip` of the ref `name`, ignoring everything in the trees of
/// `known`. The ref can be merged if there are none.
///
/// # Errors
/// Returns [`StoreError::NewerFormat`] if a newer program wrote the realm, or an error if reading fails for a reason
/// other than invalid content.
pub fn inspect(store: &dyn Store, name: &StoreRef, tip: &Oid, known: &[Oid]) -> Result<Vec<String>, StoreError> {
    let tree = |commit: &Oid| store.commit(commit).map(|commit| commit.tree);
    let mut walk = TreeWalk { store, name, problems: Vec::new(), entries: 0 };
    match tree(tip) {
        Ok(root) => {
            let known = known.iter().map(tree).collect::<Result<_, _>>()?;
            walk.walk(root, known)?;
        }
        Err(error) if error.is_damage() => walk.problems.push(format!("{name}: {error}")),
        Err(error) => return Err(error),
    }
    Ok(walk.problems)
}

/// Returns whether the content of a file is invalid, so that no machine would accept it.
///
/// # Errors
/// Returns an error if the content cannot be read for another reason.
pub fn is_invalid(store: &dyn Store, name: &StoreRef, place: &TreeFile, blob: Oid) -> Result<bool, StoreError> {
    match store.blob(&blob) {
        Ok(bytes) => Ok(TreeWalk { store, name, problems: Vec::new(), entries: 0 }.check(place, &bytes).is_err()),
        Err(error) if error.is_damage() => Ok(true),
        Err(error) => Err(error),
    }
}

struct TreeWalk<'a> {
    store: &'a dyn Store,
    name: &'a StoreRef,
    problems: Vec<String>,
    entries: usize,
}

/// A folder, and the same folder in the known trees.
struct Folder {
    path: Vec<String>,
    tree: Oid,
    known: Vec<Oid>,
}

impl TreeWalk<'_> {
    fn walk(&mut self, root: Oid, known: Vec<Oid>) -> Result<(), StoreError> {
        let mut open = vec![Folder { path: Vec::new(), tree: root, known }];
        while let Some(folder) = open.pop() {
            if self.store.size(&folder.tree).is_ok_and(|size| size > MAX_FOLDER) {
                self.problem(&folder.path, &format!("the folder has more than {} MiB", MAX_FOLDER >> 20));
                return Ok(());
            }
            let entries = match self.store.entries(&folder.tree) {
                Err(error) if error.is_damage() => {
                    self.problem(&folder.path, &error.to_string());
                    continue;
                }
                entries => entries?,
            };
            self.entries += entries.len();
            if self.entries > MAX_ENTRIES {
                self.problem(&[], &format!("there are more than {MAX_ENTRIES} files"));
            }
            if self.problems.len() >= MAX_REPORTED || self.entries > MAX_ENTRIES {
                return Ok(());
            }
            let required = match self.name {
                StoreRef::Realm => Some("realm.json"),
                // Its removal from a known domain is set aside.
                StoreRef::Domain(_) if folder.known.is_empty() => Some("domain.json"),
                _ => None,
            };
            let is_missing = |name: &&str| folder.path.is_empty() && !entries.iter().any(|entry| entry.name == *name);
            if let Some(name) = required.filter(is_missing) {
                self.problem(&[name.to_owned()], "it is missing");
            }
            if matches!(self.name, StoreRef::Domain(_)) && folder.path == [BINDINGS] && self.are_too_large(&entries)? {
                let limit = MAX_BINDINGS >> 20;
                self.problem(&folder.path, &format!("the bindings together have more than {limit} MiB"));
                continue;
            }
            let known = folder.known.iter().map(|tree| self.by_name(tree)).collect::<Result<Vec<_>, _>>()?;
            for entry in &entries {
                let path: Vec<String> = folder.path.iter().chain([&entry.name]).cloned().collect();
                let held = || known.iter().filter_map(|entries| entries.get(&entry.name));
                if held().any(|held| held.id == entry.id) && entry.kind != EntryKind::Other {
                    continue;
                }
                match entry.kind {
                    EntryKind::Tree if path.len() >= layout::MAX_DEPTH => {
                        self.problem(&path, "its path has too many levels")
                    }
                    EntryKind::Tree => {
                        let below = held().filter(|held| held.kind == EntryKind::Tree).map(|held| held.id);
                        open.push(Folder { path, tree: entry.id, known: below.collect() });
                    }
                    EntryKind::Blob => self.file(&path, &entry.id)?,
                    EntryKind::Other => {
                        self.problem(&path, "it is a symbolic link, submodule or executable, not a regular file");
                    }
                }
            }
        }
        Ok(())
    }

    fn by_name(&self, tree: &Oid) -> Result<BTreeMap<String, Entry>, StoreError> {
        Ok(self.store.entries(tree)?.into_iter().map(|entry| (entry.name.clone(), entry)).collect())
    }

    /// Returns whether the bindings of a domain exceed the limit together. A binding that cannot be read is reported
    /// later.
    fn are_too_large(&self, entries: &[Entry]) -> Result<bool, StoreError> {
        let mut sizes = BTreeMap::new();
        let mut sum = 0;
        for entry in entries.iter().filter(|entry| entry.kind == EntryKind::Blob) {
            sum += match sizes.entry(entry.id) {
                Held(size) => *size.get(),
                Vacant(place) => match self.store.size(&entry.id) {
                    Err(error) if error.is_damage() => *place.insert(0),
                    size => *place.insert(size?),
                },
            };
        }
        Ok(sum > MAX_BINDINGS)
    }

    fn problem(&mut self, path: &[String], problem: &str) {
        if self.problems.len() < MAX_REPORTED {
            self.problems.push(format!("{}:{}: {problem}", self.name, path.join("/")));
        }
    }

    fn file(&mut self, path: &[String], blob: &Oid) -> Result<(), StoreError> {
        let parts: Vec<&str> = path.iter().map(String::as_str).collect();
        let Some(place) = TreeFile::parse(self.name, &parts) else {
            self.problem(path, "such a file does not belong in a realm");
            return Ok(());
        };
        let bytes = match self.store.blob(blob) {
            Err(error) if error.is_damage() => {
                self.problem(path, &error.to_string());
                return Ok(());
            }
            bytes => bytes?,
        };
        if matches!(place, TreeFile::Realm) {
            read::require_known_format(&bytes)?;
        }
        if let Err(problem) = self.check(&place, &bytes) {
            self.problem(path, &problem);
        }
        Ok(())
    }

    /// Checks that the content of a file fits its path. Returns the problem if it does not.
    fn check(&self, place: &TreeFile, bytes: &[u8]) -> Result<(), String> {
        fn read<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, String> {
            codec::decode(bytes).map_err(|problem| problem.to_string())
        }
        let named = |is_right: bool, names: &dyn std::fmt::Display| {
            if is_right { Ok(()) } else { Err(format!("it names {names}")) }
        };
        match place {
            TreeFile::Realm => read::<Realm>(bytes).map(drop),
            TreeFile::Domain => {
                let domain: Domain = read(bytes)?;
                if domain.members.len() > MAX_MEMBERS {
                    return Err(format!("it has more than {MAX_MEMBERS} members"));
                }
                named(self.name.domain() == Some(&domain.name), &domain.name)
            }
            TreeFile::Contract(name) | TreeFile::LosingContract(name, ..) | TreeFile::Version(name, _) => {
                let contract: Contract = read(bytes)?;
                if contract.version.is_placeholder() {
                    return Err("its version is not resolved".into());
                }
                let is_right = match place {
                    TreeFile::Version(_, version) | TreeFile::LosingContract(_, version, _) => {
                        contract.version == *version
                    }
                    _ => true,
                };
                named(contract.name == *name && is_right, &format!("{} {}", contract.name, contract.version))?;
                match schema::too_large(&contract.schema) {
                    Some(problem) => Err(format!("schema{}: {}", problem.pointer, problem.message)),
                    None => Ok(()),
                }
            }
            TreeFile::Binding(_) | TreeFile::LosingBinding(..) => {
                let binding: Binding = read(bytes)?;
                if binding.exports.len() + binding.imports.len() > MAX_PARTS {
                    Err(format!("it has more than {MAX_PARTS} exports and imports"))
                } else {
                    Ok(())
                }
            }
            TreeFile::Source(_) => read::<Source>(bytes).map(drop),
            TreeFile::Transfers(name) => {
                let transfers: Transfers = read(bytes)?;
                named(transfers.contract == *name, &transfers.contract)
            }
            TreeFile::Approval(name, fingerprint) => {
                let approval: Approval = read(bytes)?;
                named(approval.contract == *name && approval.fingerprint == *fingerprint, &approval.fingerprint)
            }
            TreeFile::Rename(name) => {
                let rename: Rename = read(bytes)?;
                named(rename.from == *name, &rename.from)
            }
            TreeFile::Repo(name) | TreeFile::LosingRepo(name, _) => {
                let repo: Repo = read(bytes)?;
                named(repo.name == *name, &repo.name)
            }
            TreeFile::SetAside(id) => {
                let record: SetAside = read(bytes)?;
                named(record.id() == *id, &record.commit)
            }
            TreeFile::Session(id) | TreeFile::EndedSession(id) => {
                let session: Session = read(bytes)?;
                named(session.id == *id, &session.id)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::{make, memory::MemoryStore};

    fn domain() -> StoreRef {
        StoreRef::Domain("s3".parse().unwrap())
    }

    /// Returns the problems of a domain with this additional file.
    fn with(path: &str, bytes: &[u8]) -> String {
        let store = sound();
        let known = store.tip(&domain()).unwrap().unwrap();
        let tip = store.put_raw(&domain(), path, bytes).unwrap();
        let whole = inspect(&store, &domain(), &tip, &[]).unwrap();
        assert_eq!(whole, inspect(&store, &domain(), &tip, &[known]).unwrap(), "the change is all that is wrong");
        whole.join("\n")
    }

    fn sound() -> MemoryStore {
        let store = MemoryStore::create(&make::realm("aperture".parse().unwrap())).unwrap();
        let info = Domain {
            name: "s3".parse().unwrap(),
            description: String::new(),
            members: BTreeSet::new(),
            removed: false,
        };
        let _lease = store.lock(&domain()).unwrap();
        let change = make::change("make", [make::put(layout::domain(), codec::encode(&info))]);
        store.commit_change(&domain(), None, &change).unwrap();
        drop(_lease);
        store
    }

    #[test]
    fn valid_content_is_accepted() {
        let contract = Contract::new("paths".parse().unwrap(), "fungal".parse().unwrap()).sealed();
        assert_eq!(with("contracts/paths.json", &codec::encode(&contract)), "");
        assert_eq!(with("versions/paths/0.1.0.json", &codec::encode(&contract)), "");
        let store = sound();
        assert_eq!(
            inspect(&store, &StoreRef::Realm, &store.tip(&StoreRef::Realm).unwrap().unwrap(), &[]).unwrap(),
            [""; 0]
        );
    }

    #[test]
    fn invalid_content_is_reported_with_its_place() {
        let contract = codec::encode(&Contract::new("paths".parse().unwrap(), "fungal".parse().unwrap()));
        for (path, bytes, problem) in [
            ("contracts/paths.json", &b"{"[..], "EOF"),
            ("contracts/other.json", &contract, "it names paths 0.1.0"),
            ("versions/paths/0.2.0.json", &contract, "it names paths 0.1.0"),
            ("contracts/\u{1b}[31m.json", &contract, "such a file does not belong in a realm"),
            ("contracts/../../x.json", &contract, "such a file does not belong in a realm"),
            ("hooks/post-commit", b"#!/bin/sh", "such a file does not belong in a realm"),
            ("a/b/c/d/e/f", b"", "too many levels"),
            ("domain.json", b"{\"name\":\"other\"}", "it names other"),
        ] {
            let found = with(path, bytes);
            assert!(found.contains(problem), "{path}: {found:?}");
        }
        let large = vec![b' '; codec::MAX_BLOB + 1];
        assert!(with("contracts/paths.json", &large).contains("over the limit of 16 MiB"));
    }

    #[test]
    fn bindings_that_are_large_together_are_refused() {
        let store = sound();
        let import = format!("{{\"contract\":\"paths\",\"version\":\">=1.0.0\"}}{}", " ".repeat(1_000));
        let binding = |imports: usize| {
            let imports = vec![import.as_str(); imports].join(",");
            format!("{{\"role\":\"consumer\",\"imports\":[{imports}]}}").into_bytes()
        };
        let mut tip = store.tip(&domain()).unwrap().unwrap();
        let known = tip;
        for number in 0..64 {
            let path = format!("bindings/r{number}.json");
            tip = store.put_raw(&domain(), &path, &binding(1_000)).unwrap();
        }
        assert_eq!(inspect(&store, &domain(), &tip, &[known]).unwrap(), [""; 0]);
        let more = store.put_raw(&domain(), "bindings/more.json", &binding(3_000)).unwrap();
        let found = inspect(&store, &domain(), &more, &[tip]).unwrap();
        assert_eq!(found, ["refs/blue/domains/s3:bindings: the bindings together have more than 64 MiB"]);
    }

    #[test]
    fn bindings_have_a_limited_number_of_imports() {
        let binding = |imports: usize| {
            let imports = vec!["{\"contract\":\"paths\",\"version\":\">=1.0.0\"}"; imports].join(",");
            format!("{{\"role\":\"consumer\",\"imports\":[{imports}]}}").into_bytes()
        };
        assert_eq!(with("bindings/fungal.json", &binding(MAX_PARTS)), "");
        assert!(with("bindings/fungal.json", &binding(MAX_PARTS + 1)).contains("more than 20000 exports and imports"));
    }

    #[test]
    fn domains_have_a_limited_number_of_members() {
        let members: Vec<_> = (0..=MAX_MEMBERS).map(|number| format!("r{number}")).collect();
        let text = serde_json::json!({"name": "s3", "description": "", "members": members}).to_string();
        assert!(with("domain.json", text.as_bytes()).contains("more than 20000 members"));
    }

    #[test]
    fn links_are_refused() {
        let store = sound();
        let tip = store.put_symlink(&domain(), "contracts/paths.json", "/etc/passwd").unwrap();
        assert!(inspect(&store, &domain(), &tip, &[]).unwrap()[0].contains("symbolic link"));
    }
}
