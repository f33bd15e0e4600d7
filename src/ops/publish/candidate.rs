//! Reads the files of a repository into a candidate, and determines what changed since it was last published.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    published_files::{PublishedCommits, PublishedFiles},
    references,
};
use crate::repo::blue_files::{self, BINDINGS, CONTRACTS, FOLDER, FileSource, Files, IN_SUBMODULE, Item, is_read};
use crate::{
    error::OpError,
    model::{
        binding::Binding,
        candidate::{Candidate, Declared, FileProblem},
        contract::Validation,
        domain::Source,
        name::{ContractName, DomainName},
        oid::Oid,
    },
    ops::progress::RequestProgress,
    platform::files::is_temporary,
    repo::CodeRepo,
    store::codec::{self, Problem},
};

/// What a repository published last, by domain.
pub type Sources = BTreeMap<DomainName, Source>;

/// The subject of a file.
enum FileSubject {
    Contract(DomainName, ContractName),
    Binding(DomainName),
}

/// Reads a candidate: all of its contracts, or a part. If this clone lacks a published commit, the files are compared with those
/// of `base`, if there is one.
///
/// # Errors
/// Returns an error if the repository cannot be read, or the request is cancelled. Problems with individual files are
/// part of the candidate.
pub fn read(
    code: &CodeRepo,
    files: &Files<'_>,
    (published, base, part): (&PublishedCommits, Option<&Oid>, ReadContracts),
    progress: &RequestProgress,
) -> Result<Candidate, OpError> {
    let mut published = PublishedFiles::new(code, published, base);
    let mut candidate = Candidate::default();
    let mut all = files.below(CONTRACTS)?;
    all.extend(files.below(BINDINGS)?);
    for (path, item) in &all {
        progress.check()?;
        if is_temporary(path) {
            continue;
        }
        if let Some(message) = stray(path, item) {
            let problem = Problem::whole(message).in_file(path);
            if stands_for_binding(path, &all) {
                candidate.problems.push(problem);
            } else {
                candidate.strays.push(problem);
            }
            continue;
        }
        let outcome = match (item, subject_of(path)) {
            (Item::Submodule, _) => Err(Problem::whole(IN_SUBMODULE)),
            // A folder in the folder of a domain.
            (Item::Other, Err(problem)) if path.matches('/').count() > 2 => {
                Err(Problem::whole(format!("it is not a regular file; {}", problem.message)))
            }
            (Item::Other, _) => Err(Problem::whole("it is not a regular file; symbolic links are not followed")),
            (_, Err(problem)) => Err(problem),
            (Item::File(handle), Ok(place)) => {
                read_one(files, path, (handle, place, part), &mut published, &mut candidate)?
            }
        };
        if let Err(problem) = outcome {
            candidate.misnamed.extend(named_in(files, path, item)?);
            candidate.problems.push(problem.in_file(path));
        }
    }
    candidate.problems.extend(colliding(&candidate));
    candidate.strays.extend(misspelt(files)?);
    removed(&all, &mut published, &mut candidate)?;
    missing(files, &mut candidate)?;
    if let Files::Worktree(_, Some(code)) = files {
        let files = candidate.documents().chain(candidate.referred.keys().map(String::as_str));
        (candidate.ignored, candidate.in_lfs) = (code.ignored(files.clone()), code.in_lfs(files));
        let ignored = code.ignored(candidate.strays.iter().map(|stray| stray.path.as_str()));
        candidate.strays.retain(|stray| !ignored.contains(&stray.path));
    }
    Ok(candidate)
}

/// The contracts of a candidate that are read. The others are only listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadContracts {
    /// All of them.
    All,
    /// Those that changed, refer to other files, or name scripts that test them. The others are checked one at a time, so that
    /// they need not fit into memory together.
    ToCheck,
    /// Those that changed or may refer to other files, so that the cost of publishing grows with what changed.
    Changed,
}

impl ReadContracts {
    /// Returns whether a contract is read whose file, with this text, is as it was published.
    fn has_unchanged(self, text: &[u8]) -> bool {
        match self {
            Self::All => true,
            Self::ToCheck => references::may_refer(text) || references::mentions_one(text, [b"validation"]),
            Self::Changed => references::may_refer(text),
        }
    }
}

/// Reads the candidate of a commit, as if nothing had been published before.
///
/// # Errors
/// Returns an error if the commit cannot be read.
pub fn at(code: &CodeRepo, commit: &Oid) -> Result<Candidate, OpError> {
    read(
        code,
        &Files::at(code, commit)?,
        (&PublishedCommits::new(), None, ReadContracts::All),
        &RequestProgress::default(),
    )
}

fn read_one(
    files: &Files<'_>,
    path: &str,
    (handle, place, part): (&FileSource, FileSubject, ReadContracts),
    published: &mut PublishedFiles<'_>,
    candidate: &mut Candidate,
) -> Result<Result<(), Problem>, OpError> {
    let Some(bytes) = files.read(handle)? else {
        return Ok(Err(Problem::whole(codec::too_large())));
    };
    let domain = match &place {
        FileSubject::Contract(domain, _) | FileSubject::Binding(domain) => domain.clone(),
    };
    let changed = published.differs(&domain, path, handle, &bytes)?;
    let path = path.to_owned();
    Ok(match place {
        FileSubject::Contract(domain, name) if !changed && !part.has_unchanged(&bytes) => {
            candidate.unread.insert((domain, name), path);
            Ok(())
        }
        FileSubject::Contract(domain, name) => match references::contract(files, &bytes, &name)? {
            Ok((document, read)) => {
                let changed = changed || published.any_differs(files, &domain, &read)?;
                if part == ReadContracts::ToCheck
                    && !changed
                    && read.is_empty()
                    && document.validation == Validation::default()
                {
                    candidate.unread.insert((domain, name), path);
                    return Ok(Ok(()));
                }
                candidate.referred.extend(read.into_iter().map(|file| (file, path.clone())));
                let lines = if changed { codec::contract_lines(&bytes) } else { codec::heading_lines(&bytes) };
                candidate.contracts.insert((domain, name), Declared { path, document, lines, changed });
                Ok(())
            }
            Err(problem) => Err(problem),
        },
        FileSubject::Binding(domain) => match expecting(files, &bytes)? {
            Ok((document, read)) => {
                let changed = changed || published.any_differs(files, &domain, &read)?;
                candidate.referred.extend(read.into_iter().map(|file| (file, path.clone())));
                let lines = codec::binding_lines(&bytes);
                candidate.bindings.insert(domain, Declared { path, document, lines, changed });
                Ok(())
            }
            Err(problem) => Err(problem),
        },
    })
}

/// Returns a binding with the schemas that its imports expect, and the files that these were read from.
pub(super) fn expecting(
    files: &Files<'_>,
    bytes: &[u8],
) -> Result<Result<(Binding, BTreeSet<String>), Problem>, OpError> {
    let mut document = match codec::binding(bytes) {
        Ok(document) => document,
        Err(problem) => return Ok(Err(problem)),
    };
    let read = references::resolve_expected(files, &mut document)?;
    let located = |(index, problem): (usize, Problem)| problem.or_at(bytes, &format!("/imports/{index}/expects"));
    Ok(read.map(|read| (document, read)).map_err(located))
}

/// Returns the contract that a file with a problem names, if it is in the folder of a domain.
fn named_in(files: &Files<'_>, path: &str, item: &Item) -> Result<Option<(DomainName, ContractName)>, OpError> {
    let domain = path.strip_prefix(CONTRACTS).and_then(|rest| rest.strip_prefix('/')?.split_once('/')?.0.parse().ok());
    let (Some(domain), Item::File(handle)) = (domain, item) else { return Ok(None) };
    Ok(files.read(handle)?.and_then(|bytes| codec::name_of(&bytes)).map(|name| (domain, name)))
}

/// Returns why an entry is ignored, if it is. Editors lock a file by a hidden symbolic link.
fn stray(path: &str, item: &Item) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    if is_read(name, matches!(item, Item::File(_))) {
        return None;
    }
    let why = match name.rsplit_once('.') {
        _ if name.starts_with('.') => "its name starts with a dot".to_owned(),
        Some((stem, "yml")) => format!("rename it to {stem}.yaml"),
        _ => "contracts and bindings end in .yaml".to_owned(),
    };
    Some(format!("it is not read: {why}"))
}

/// Returns whether an ignored file is a binding with the other extension. Without it, publishing would remove the binding.
fn stands_for_binding(path: &str, all: &BTreeMap<String, Item>) -> bool {
    let name = path.strip_prefix(BINDINGS).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".yml"));
    let domain = name.and_then(|name| name.parse::<DomainName>().ok());
    domain.is_some_and(|domain| !all.contains_key(&blue_files::binding(domain)))
}

/// Finds files in folders whose names are a letter off, and a configuration that has the other extension.
fn misspelt(files: &Files<'_>) -> Result<Vec<FileProblem>, OpError> {
    let mut found = Vec::new();
    for meant in [CONTRACTS, BINDINGS] {
        let folder = format!("{}/", meant.trim_end_matches('s'));
        let first = files.below(folder.trim_end_matches('/'))?.into_keys().find(|path| path.starts_with(&folder));
        let message = || Problem::whole(format!("it is not read: the directory must be called {meant}"));
        found.extend(first.map(|path| message().in_file(&path)));
    }
    let config = format!("{FOLDER}/config.yml");
    if files.exists(&config)? {
        found.push(Problem::whole("it is not read: the file must be called config.yaml").in_file(&config));
    }
    Ok(found)
}

fn subject_of(path: &str) -> Result<FileSubject, Problem> {
    let whole = |error: crate::model::name::NameError| Problem::whole(error.to_string());
    if let Some(rest) = path.strip_prefix(CONTRACTS).and_then(|rest| rest.strip_prefix('/')) {
        return match rest.strip_suffix(".yaml").and_then(|rest| rest.split_once('/')) {
            Some((domain, name)) => {
                Ok(FileSubject::Contract(domain.parse().map_err(whole)?, name.parse().map_err(whole)?))
            }
            None => Err(Problem::whole(format!("contracts belong at {CONTRACTS}/DOMAIN/NAME.yaml"))),
        };
    }
    match path.strip_prefix(BINDINGS).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".yaml")) {
        Some(domain) => Ok(FileSubject::Binding(domain.parse().map_err(whole)?)),
        None => Err(Problem::whole(format!("bindings belong at {BINDINGS}/DOMAIN.yaml"))),
    }
}

/// Finds names that differ only in case, which would collide on case-insensitive file systems.
fn colliding(candidate: &Candidate) -> Vec<FileProblem> {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    let mut problems = Vec::new();
    for path in candidate.contracts.values().map(|declared| &declared.path).chain(candidate.unread.values()) {
        if let Some(other) = seen.insert(path.to_ascii_lowercase(), path) {
            let message = format!("it differs from {other} only in case");
            problems.push(Problem::whole(message).in_file(path));
        }
    }
    problems
}

/// Finds files that are in the last published commit but not in this one.
fn removed(
    all: &BTreeMap<String, Item>,
    published: &mut PublishedFiles<'_>,
    candidate: &mut Candidate,
) -> Result<(), OpError> {
    let by_domain = published.by_domain();
    // Most domains were published at the same commit.
    let commits: BTreeSet<&Oid> = by_domain.values().flatten().collect();
    for commit in commits {
        let paths: Vec<String> =
            published.files(commit)?.keys().filter(|path| !all.contains_key(*path)).cloned().collect();
        let is_of = |domain: &DomainName| by_domain.get(domain).is_some_and(|commits| commits.contains(commit));
        for path in paths {
            match subject_of(&path) {
                Ok(FileSubject::Contract(domain, name)) if is_of(&domain) => {
                    candidate.removed_contracts.insert((domain, name), path);
                }
                Ok(FileSubject::Binding(domain)) if is_of(&domain) => {
                    candidate.removed_bindings.insert(domain);
                }
                _ => {}
            }
        }
    }
    Ok(())
}

/// Finds paths that bindings name but that do not exist.
fn missing(files: &Files<'_>, candidate: &mut Candidate) -> Result<(), OpError> {
    let documents = candidate.bindings.values().map(|declared| &declared.document);
    let named: BTreeSet<String> = documents
        .flat_map(|binding| {
            let sources = binding.exports.iter().flat_map(|export| export.source_files.clone());
            sources.chain(binding.imports.iter().flat_map(|import| import.binding.files().to_vec()))
        })
        .collect();
    for path in named {
        if !files.exists(&path)? {
            candidate.missing.insert(path);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{repo::DiscoverOptions, testing::sandbox::Sandbox};

    #[test]
    fn publishing_and_checking_keep_only_what_they_need() {
        let sandbox = Sandbox::new();
        sandbox.git(&sandbox.path(), &["init", "--quiet", "repo"]);
        let root = sandbox.path().join("repo");
        let folder = root.join(CONTRACTS).join("orders");
        std::fs::create_dir_all(&folder).unwrap();
        let write = |name: &str, rest: &str| {
            let text = format!("name: {name}\nversion: \"1.0.0\"\nowner: shop\n{rest}");
            std::fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
        };
        let commit = |message: &str| {
            sandbox.git(&root, &["add", "--all"]);
            sandbox.git(&root, &["commit", "--quiet", "--message", message]);
            let place = DiscoverOptions { cwd: root.clone(), vars: sandbox.vars().clone(), in_hook: false };
            let code = CodeRepo::discover(&place).unwrap().unwrap();
            let commit = code.head().unwrap().commit.unwrap();
            (code, commit)
        };
        for name in ["edited", "removed", "same"] {
            write(name, "");
        }
        write("tested", "validation: { exporter: test.sh }\n");
        write("described", "description: A file\n");
        write("refers", "schema: { file: schema.json }\n");
        write("refers-elsewhere", "schema: { file: other.json }\n");
        std::fs::write(root.join("schema.json"), "{}").unwrap();
        std::fs::write(root.join("other.json"), "{}").unwrap();
        let (_, before) = commit("Publish");
        write("edited", "description: New\n");
        write("new", "");
        std::fs::remove_file(folder.join("removed.yaml")).unwrap();
        std::fs::write(root.join("schema.json"), r#"{"type": "object"}"#).unwrap();
        let (code, after) = commit("Change");

        let published = PublishedCommits::from([("orders".parse().unwrap(), BTreeSet::from([before]))]);
        let files = Files::at(&code, &after).unwrap();
        let read_as = |part| read(&code, &files, (&published, None, part), &RequestProgress::default()).unwrap();
        let changes = read_as(ReadContracts::Changed);
        let all = read_as(ReadContracts::All);
        let changed = |candidate: &Candidate| {
            let changed = candidate.contracts.iter().filter(|(_, declared)| declared.changed);
            changed.map(|((_, name), declared)| (name.to_string(), declared.document.clone())).collect::<Vec<_>>()
        };
        assert_eq!(changed(&changes), changed(&all));
        let names: Vec<_> = changed(&changes).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["edited", "new", "refers"]);
        let unread =
            |candidate: &Candidate| candidate.unread.keys().map(|(_, name)| name.to_string()).collect::<Vec<_>>();
        assert_eq!(unread(&changes), ["same", "tested"]);
        let checked = read_as(ReadContracts::ToCheck);
        assert_eq!(unread(&checked), ["described", "same"]);
        assert_eq!(changed(&checked), changed(&all));
        for candidate in [&changes, &checked] {
            assert_eq!((all.unread.len(), all.files(), candidate.files()), (0, 7, 7));
            assert_eq!(candidate.removed_contracts, all.removed_contracts);
            assert_eq!(candidate.domains(), all.domains());
            assert_eq!(candidate.documents().collect::<BTreeSet<_>>(), all.documents().collect());
        }
    }
}
