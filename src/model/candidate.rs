//! A candidate: the content of one repository's `.blue/` files at a commit or in the working tree.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Display,
};

use super::{
    binding::Binding,
    contract::Contract,
    name::{ContractName, DomainName, RepoName},
    pointer,
    verdict::Verdict,
    version::Version,
};

/// The step for a branch on which an older version is maintained, so that the later versions must not be merged into
/// it.
const OLDER_LINE: &str = "or, to patch an older version, add a separate contract on the publishing branch";

/// The advice for a file in Git LFS. Publishing reads commits without git's filters.
pub const NOT_IN_LFS: &str = "exclude it in .gitattributes (PATH -filter -diff -merge), and git add --renormalize PATH";

/// The folder of contracts: `.blue/contracts/<domain>/<name>.yaml`.
pub const CONTRACTS: &str = ".blue/contracts";

/// Returns the path of a contract's file.
pub fn contract_path(domain: impl Display, contract: impl Display) -> String {
    format!("{CONTRACTS}/{domain}/{contract}.yaml")
}

/// Returns the contract whose file this is, by its path.
pub fn contract_of(path: &str) -> Option<(DomainName, ContractName)> {
    let (domain, contract) = path.strip_prefix(CONTRACTS)?.strip_prefix('/')?.split_once('/')?;
    Some((domain.parse().ok()?, contract.strip_suffix(".yaml")?.parse().ok()?))
}

/// Returns the command that writes the file of a published contract. `up` leads to the root of the repository.
pub fn write_file(domain: &DomainName, contract: &ContractName, up: &str) -> String {
    let folder = format!("{up}{CONTRACTS}/{domain}");
    format!("mkdir -p {folder} && git blue contract get {domain}/{contract} --format yaml >{folder}/{contract}.yaml")
}

/// Returns the command that overwrites the file of a published contract, unless it has changes that are not committed.
pub fn update_file(domain: &DomainName, contract: &ContractName, up: &str) -> String {
    let path = format!("{up}{}", contract_path(domain, contract));
    format!("{}git blue contract get {domain}/{contract} --format yaml >{path}", unless_edited(&path))
}

/// Returns the start of a command that overwrites `path`: it shows changes that are not committed, and stops if there are some.
pub fn unless_edited(path: impl Display) -> String {
    format!("git diff --stat --exit-code HEAD -- {path} && ")
}

/// Returns the command that commits the file of a published contract as it is in the working tree. git adds an ignored
/// file only by `force`.
pub fn commit_file(domain: &DomainName, contract: &ContractName, up: &str, force: bool) -> String {
    let force = if force { "--force " } else { "" };
    let file = contract_path(domain, contract);
    format!("git add {force}{up}{file} && git commit -m \"Add the file of {domain}/{contract}\"")
}

/// Returns the command that writes the file of an offered contract with its new owner `to`. `up` leads to the root of the
/// new owner's repository.
pub fn write_file_of(to: &RepoName, domain: &DomainName, contract: &ContractName, up: &str) -> String {
    let folder = format!("{up}{CONTRACTS}/{domain}");
    format!(
        "mkdir -p {folder} && git blue contract get {domain}/{contract} --format yaml | sed 's/^owner: .*/owner: {to}/' \
            >{folder}/{contract}.yaml"
    )
}

/// The folder of bindings: `.blue/bindings/<domain>.yaml`.
pub const BINDINGS: &str = ".blue/bindings";

/// The `.blue/` folder of one repository, parsed.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// The contracts it declares.
    pub contracts: BTreeMap<(DomainName, ContractName), Declared<Contract>>,
    /// The contracts whose files are as published and were not read, with the paths of the files.
    pub unread: BTreeMap<(DomainName, ContractName), String>,
    /// The bindings it declares.
    pub bindings: BTreeMap<DomainName, Declared<Binding>>,
    /// Files that could not be parsed or are in the wrong place.
    pub problems: Vec<FileProblem>,
    /// Contracts that are named in a file with another name, which is a problem.
    pub misnamed: BTreeSet<(DomainName, ContractName)>,
    /// Files that are neither a contract nor a binding and are ignored.
    pub strays: Vec<FileProblem>,
    /// The files that contracts and bindings refer to, each with the path of a document that does.
    pub referred: BTreeMap<String, String>,
    /// Contracts, bindings, and files in `referred` that git ignores, so that a commit of the working tree lacks them.
    pub ignored: BTreeSet<String>,
    /// Files of the working tree of which a commit will have only a pointer to Git LFS.
    pub in_lfs: BTreeSet<String>,
    /// Paths that bindings name but the commit does not contain.
    pub missing: BTreeSet<String>,
    /// Contracts whose files were removed since the last published commit, with the paths of those files.
    pub removed_contracts: BTreeMap<(DomainName, ContractName), String>,
    /// Domains whose binding was removed since the last published commit.
    pub removed_bindings: BTreeSet<DomainName>,
    /// Contract files that are only in the working tree, and must not be overwritten, each with the command that commits
    /// it; `None` if the files are not those of HEAD.
    pub uncommitted: BTreeMap<String, Option<String>>,
    /// Domains published from a commit that is not in the history of these files, so that a file
    /// missing here may be newer, each with the step that merges the commit. Excludes domains whose commit was dropped by
    /// an amend or a reset.
    pub behind: BTreeMap<DomainName, String>,
    /// Domains for which a shallow clone cannot tell whether they are behind.
    pub unknown: BTreeSet<DomainName>,
    /// The changed contracts of the domains in `behind`, as they were when these files diverged from the published ones.
    pub before: BTreeMap<(DomainName, ContractName), Contract>,
    /// The domains in `behind` whose binding is still as it was when these files diverged from the published ones.
    pub older_bindings: BTreeSet<DomainName>,
    /// The changed contracts as they are in the base of a pull request, which is published before these files.
    pub base: BTreeMap<(DomainName, ContractName), Contract>,
    /// The start of the paths in printed commands, which leads from the reader's folder to the root of the repository.
    pub up: String,
}

/// A document and the file that declares it.
#[derive(Debug, Clone)]
pub struct Declared<T> {
    /// The path of the file, relative to the root of the repository.
    pub path: String,
    /// The document.
    pub document: T,
    /// The line numbers, from 1, that messages refer to. For a contract: the `version` and, if the file changed, the
    /// places in its schema and value, by pointer. For a binding: the contracts that it names.
    pub lines: BTreeMap<String, u32>,
    /// Whether the file differs from the last published commit.
    pub changed: bool,
}

impl Declared<Contract> {
    /// Returns the line, from 1, of the place that a verdict is about, or of its closest parent. Falls back to the
    /// line of the version.
    pub fn line(&self, verdict: Option<&Verdict>) -> Option<u32> {
        let place = verdict.and_then(Verdict::place);
        let at_place = place.as_deref().and_then(|place| pointer::upwards(place).find_map(|at| self.lines.get(at)));
        at_place.or_else(|| self.lines.get("version")).copied()
    }
}

/// Returns the key in `lines` of the line on which an import in a binding names a contract.
pub fn imported_name(contract: &str) -> String {
    format!("/imports/{contract}")
}

/// A problem in a file that people wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The path of the file, relative to the root of the repository.
    pub path: String,
    /// The other file that has the problem, if this one refers to it.
    pub referred: Option<String>,
    /// The line, from 1, if it is known.
    pub line: Option<u32>,
    /// The column, from 1, if it is known.
    pub column: Option<u32>,
    /// The problem, and what to write instead.
    pub message: String,
}

impl FileProblem {
    /// Returns the path of the file that has the problem.
    pub fn file(&self) -> &str {
        self.referred.as_ref().unwrap_or(&self.path)
    }
}

impl std::fmt::Display for FileProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.file())?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Candidate {
    /// Returns the domains that the files name, sorted and without duplicates.
    pub fn domains(&self) -> BTreeSet<&DomainName> {
        let contracts = self.contracts.keys().chain(self.unread.keys());
        contracts.map(|(domain, _)| domain).chain(self.bindings.keys()).collect()
    }

    /// Returns the number of contract and binding files, including those that cannot be read.
    pub fn files(&self) -> usize {
        self.contracts.len() + self.unread.len() + self.bindings.len() + self.problems.len()
    }

    /// Returns whether the files declare a contract.
    pub fn declares(&self, domain: &DomainName, contract: &ContractName) -> bool {
        let key = (domain.clone(), contract.clone());
        self.contracts.contains_key(&key) || self.unread.contains_key(&key)
    }

    /// Returns the path where the contract's file should be, if the repository has no such file. A file that cannot be
    /// read, or has another name, still counts as present.
    pub fn missing_file(&self, domain: &DomainName, contract: &ContractName) -> Option<String> {
        let path = contract_path(domain, contract);
        let key = (domain.clone(), contract.clone());
        let is_there = self.declares(domain, contract)
            || self.misnamed.contains(&key)
            || self.problems.iter().any(|problem| problem.path == path);
        (!is_there).then_some(path)
    }

    /// Returns the step that merges the published commit, if the `current` version of a contract was published after these
    /// files diverged from it.
    pub fn merge_first(&self, domain: &DomainName, current: &Contract) -> Option<&str> {
        let merge = self.behind.get(domain)?;
        let content = |contract: &Contract| (contract.version.clone(), contract.computed_content_hash());
        let before = self.before.get(&(domain.clone(), current.name.clone()));
        (before.map(content) != Some(content(current))).then_some(merge)
    }

    /// Returns the step for a branch on which an older version is maintained: it lacks what was published since, and
    /// its files have, or had when they diverged, an older major version of the contract than the `current` one.
    pub fn of_older_line(&self, domain: &DomainName, current: &Contract) -> Option<&'static str> {
        self.merge_first(domain, current)?;
        let key = (domain.clone(), current.name.clone());
        let declared = self.contracts.get(&key).map(|declared| &declared.document);
        let known = declared.into_iter().chain(self.before.get(&key)).map(|contract| &contract.version);
        let major = |version: &Version| version.semver().major;
        let is_older = |version: &Version| !version.is_auto() && major(version) < major(&current.version);
        known.into_iter().any(is_older).then_some(OLDER_LINE)
    }

    /// Returns the files as they will be once what was published since they diverged from it is merged: a file that they
    /// left as it was is then the published one.
    #[must_use]
    pub fn up_to_date(&self) -> Self {
        let mut merged = self.clone();
        for (key, declared) in &mut merged.contracts {
            declared.changed &= self.before.get(key) != Some(&declared.document);
        }
        for (domain, declared) in &mut merged.bindings {
            declared.changed &= !self.older_bindings.contains(domain);
        }
        merged
    }

    /// Returns the files as if they changed no contract.
    #[must_use]
    pub fn only_bindings(&self) -> Self {
        let mut bindings = self.clone();
        bindings.contracts.values_mut().for_each(|declared| declared.changed = false);
        bindings
    }

    /// Returns the paths of the contracts and bindings.
    pub fn documents(&self) -> impl Iterator<Item = &str> + Clone {
        let contracts = self.contracts.values().map(|declared| &*declared.path);
        let contracts = contracts.chain(self.unread.values().map(String::as_str));
        contracts.chain(self.bindings.values().map(|declared| &*declared.path))
    }

    /// Returns whether the files declare something in a domain, or used to.
    pub fn declares_in(&self, domain: &DomainName) -> bool {
        self.bindings.contains_key(domain)
            || self.removed_bindings.contains(domain)
            || self.paths_in(domain).next().is_some()
            || self.removed_contracts.keys().any(|(of, _)| of == domain)
    }

    /// Returns whether the documents in `domain` are needed to judge the files: they declare or remove contracts, or
    /// change the binding.
    pub fn needs_documents(&self, domain: &DomainName) -> bool {
        self.bindings.get(domain).is_some_and(|declared| declared.changed)
            || self.removed_bindings.contains(domain)
            || self.paths_in(domain).next().is_some()
            || self.removed_contracts.keys().any(|(of, _)| of == domain)
    }

    /// Returns the contracts that the repository declares in `domain`, without those that were not read.
    pub fn contracts_in<'a>(
        &'a self,
        domain: &'a DomainName,
    ) -> impl Iterator<Item = (&'a ContractName, &'a Declared<Contract>)> {
        in_domain(&self.contracts, domain)
    }

    /// Returns the contracts in `domain` whose files were not read, with the paths of the files.
    pub fn unread_in<'a>(&'a self, domain: &'a DomainName) -> impl Iterator<Item = (&'a ContractName, &'a str)> {
        in_domain(&self.unread, domain).map(|(name, path)| (name, path.as_str()))
    }

    /// Returns the paths of the contract files in `domain`.
    pub fn paths_in<'a>(&'a self, domain: &'a DomainName) -> impl Iterator<Item = &'a str> {
        let read = self.contracts_in(domain).map(|(_, declared)| declared.path.as_str());
        read.chain(self.unread_in(domain).map(|(_, path)| path))
    }
}

/// Returns the entries of one domain.
fn in_domain<'a, T>(
    entries: &'a BTreeMap<(DomainName, ContractName), T>,
    domain: &'a DomainName,
) -> impl Iterator<Item = (&'a ContractName, &'a T)> {
    // The lowest possible name.
    let least = "0".parse().unwrap_or_else(|_| unreachable!("it is a name"));
    let from_there = entries.range((domain.clone(), least)..);
    from_there.take_while(move |((of, _), _)| of == domain).map(|((_, name), entry)| (name, entry))
}

/// A repository being judged, and its files.
#[derive(Debug, Clone, Copy)]
pub struct Judged<'a> {
    /// The repository.
    pub repo: &'a RepoName,
    /// Its files.
    pub candidate: &'a Candidate,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contracts_in_returns_only_those_of_the_domain() {
        let mut candidate = Candidate::default();
        for (domain, name) in
            [("a", "z"), ("b", "0"), ("b", "0-0"), ("b", "Z.x"), ("b", "a_b"), ("b-c", "0"), ("c", "a")]
        {
            let name: ContractName = name.parse().unwrap();
            let document = Contract::new(name.clone(), "fungal".parse().unwrap());
            let declared = Declared { path: String::new(), document, lines: BTreeMap::new(), changed: false };
            candidate.contracts.insert((domain.parse().unwrap(), name), declared);
        }
        let names = |domain: &str| {
            let domain = domain.parse().unwrap();
            candidate.contracts_in(&domain).map(|(name, _)| name.to_string()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(["a", "b", "b-c", "d"].map(names), ["z", "0 0-0 Z.x a_b", "0", ""]);
    }
}
