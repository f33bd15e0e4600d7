//! What one repository says of itself: its `.blue/` files at a commit or in the work tree.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    binding::Binding,
    contract::Contract,
    name::{ContractName, DomainName, RepoName},
    pointer,
    verdict::Verdict,
};

/// Contracts lie at `.blue/contracts/<domain>/<name>.yaml`.
pub const CONTRACTS: &str = ".blue/contracts";
/// Bindings lie at `.blue/bindings/<domain>.yaml`.
pub const BINDINGS: &str = ".blue/bindings";

/// The `.blue/` folder of one repository, parsed.
#[derive(Debug, Clone, Default)]
pub struct Candidate {
    /// The contracts it declares.
    pub contracts: BTreeMap<(DomainName, ContractName), Declared<Contract>>,
    /// The bindings it declares.
    pub bindings: BTreeMap<DomainName, Declared<Binding>>,
    /// Files that could not be read or do not belong there.
    pub problems: Vec<FileProblem>,
    /// Files that are no contract and no binding, and are not read.
    pub strays: Vec<FileProblem>,
    /// Paths that bindings name and the commit does not have.
    pub missing: BTreeSet<String>,
    /// Contracts whose files the last published commit had, with those files' paths.
    pub removed_contracts: BTreeMap<(DomainName, ContractName), String>,
    /// Domains whose binding file the last published commit had.
    pub removed_bindings: BTreeSet<DomainName>,
}

/// A document and the file that declares it.
#[derive(Debug, Clone)]
pub struct Declared<T> {
    /// The file, from the repository's root.
    pub path: String,
    /// The document.
    pub document: T,
    /// Lines (from 1) of what messages point at: a contract's `version`, and by pointer what is in its schema and
    /// value where the file changed; in a binding the contracts that it names.
    pub lines: BTreeMap<String, u32>,
    /// Whether the file differs from the last published commit.
    pub changed: bool,
}

impl Declared<Contract> {
    /// Returns the line (from 1) of the place that a verdict is about, or of what is nearest above it; without
    /// one, that of the version.
    pub fn line(&self, verdict: Option<&Verdict>) -> Option<u32> {
        let place = verdict.and_then(Verdict::place);
        let at_place = place.as_deref().and_then(|place| pointer::upwards(place).find_map(|at| self.lines.get(at)));
        at_place.or_else(|| self.lines.get("version")).copied()
    }
}

/// Something wrong with a file people wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileProblem {
    /// The file, from the repository's root.
    pub path: String,
    /// The line, from 1, where it can be told.
    pub line: Option<u32>,
    /// The column, from 1, where it can be told.
    pub column: Option<u32>,
    /// What is wrong, and what to write instead.
    pub message: String,
}

impl std::fmt::Display for FileProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        for place in [self.line, self.column].into_iter().flatten() {
            write!(f, ":{place}")?;
        }
        write!(f, ": {}", self.message)
    }
}

impl Candidate {
    /// Returns the domains that the files name, sorted.
    pub fn domains(&self) -> BTreeSet<&DomainName> {
        self.contracts.keys().map(|(domain, _)| domain).chain(self.bindings.keys()).collect()
    }

    /// Returns how many contracts and bindings it declares, files that cannot be read included.
    pub fn files(&self) -> usize {
        self.contracts.len() + self.bindings.len() + self.problems.len()
    }

    /// Returns the path of the file of a contract, where the repository has none: what could not be read is
    /// not gone.
    pub fn gone(&self, domain: &DomainName, contract: &ContractName) -> Option<String> {
        let path = format!("{CONTRACTS}/{domain}/{contract}.yaml");
        let is_there = self.contracts.contains_key(&(domain.clone(), contract.clone()))
            || self.problems.iter().any(|problem| problem.path == path);
        (!is_there).then_some(path)
    }

    /// Returns whether the files say, or no longer say, anything of a domain.
    pub fn says_something_of(&self, domain: &DomainName) -> bool {
        self.bindings.contains_key(domain)
            || self.removed_bindings.contains(domain)
            || self.contracts_in(domain).next().is_some()
            || self.removed_contracts.keys().any(|(of, _)| of == domain)
    }

    /// Returns what the repository declares in `domain`.
    pub fn contracts_in<'a>(
        &'a self,
        domain: &'a DomainName,
    ) -> impl Iterator<Item = (&'a ContractName, &'a Declared<Contract>)> {
        // No name sorts before it.
        let least = "0".parse().unwrap_or_else(|_| unreachable!("it is a name"));
        let from_there = self.contracts.range((domain.clone(), least)..);
        from_there.take_while(move |((of, _), _)| of == domain).map(|((_, name), declared)| (name, declared))
    }
}

/// A repository whose files are judged, and what they say.
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
    fn the_contracts_of_a_domain_are_found_among_those_of_others() {
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
