//! A digest of a domain: its members, bindings, counts and first contracts, and the contracts of each owner that break
//! the most importers. `status` needs no more. A repository may be in hundreds of domains, and decoding every summary
//! only to count its entries took most of the time of `status`.
//!
//! A digest is text with one line for each entry, grouped by kind. To read it, search for the first line of a kind, and
//! decode only the lines that are shown.

use std::{cmp::Reverse, collections::BTreeMap, str::FromStr};

use memchr::memmem;

use super::{
    binding::{Binding, Import, Role},
    contract::Deprecated,
    domain_summary::{ContractSummary, DomainSummary},
    name::{ContractName, RepoName},
    verdict::needed_versions,
    version::Version,
};

/// The maximum number of contracts that are shown for a domain, and for an owner.
pub const MAX_CONTRACTS: usize = 50;
/// The maximum number of importers that are named for one contract.
const MAX_IMPORTERS: usize = 50;
/// Marks a contract whose current version was yanked.
const YANKED: &str = "yanked";
/// Marks a contract if the documents of its versions decide whether some imports hold.
const MOVED: &str = "moved";
/// Represents an empty list or a missing mark.
const NONE: &str = "-";

/// The digest of a domain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DomainDigest(String);

/// The digest of a binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BindingDigest {
    /// The repository.
    pub repo: RepoName,
    /// Its role.
    pub role: Role,
    /// The number of its exports.
    pub exports: usize,
    /// The number of its imports.
    pub imports: usize,
}

/// The contracts of one owner in a domain, without retired ones.
#[derive(Debug, Clone, Copy, Default)]
pub struct OwnContracts<'g> {
    /// The number of contracts.
    pub count: usize,
    names: &'g str,
    first: &'g str,
}

/// A contract with the number of importers that are named for it.
#[derive(Debug, Clone, Copy)]
pub struct Ranked<'g> {
    /// The number of importers that it breaks.
    pub broken: usize,
    /// Whether the version may break importers whose ranges accept it.
    pub is_moved: bool,
    /// The number of other importers.
    pub importers: usize,
    rest: &'g str,
}

/// A contract and its importers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Imported {
    /// Its name.
    pub name: ContractName,
    /// Its current version.
    pub version: Version,
    /// Whether its current version was yanked.
    pub yanked: bool,
    /// Set if consumers should stop using it.
    pub deprecated: Option<Deprecated>,
    /// The importers that the version breaks, judged by ranges.
    pub broken: Vec<RepoName>,
    /// The other importers.
    pub importers: Vec<RepoName>,
    /// The number of importers that are not named.
    pub more: usize,
    /// Whether the version may break importers although their ranges accept it: their code is adapted to another
    /// version, or expects something.
    pub is_moved: bool,
}

impl From<&DomainSummary> for DomainDigest {
    fn from(summary: &DomainSummary) -> Self {
        let mut text = String::new();
        line(&mut text, "members", &summary.info.members);
        text += &format!("contracts {}\n", summary.contracts.len());
        text += &format!("conflicts {}\n", summary.open_conflicts().len());
        for name in summary.conflicts.contracts.keys() {
            if let Some(ContractSummary { owner, .. }) = summary.contracts.get(name) {
                text += &format!("contested {name} {owner}\n");
            }
        }
        for (name, to) in &summary.offers {
            if let Some(ContractSummary { owner, .. }) = summary.contracts.get(name) {
                text += &format!("offer {name} {owner} {to}\n");
            }
        }
        for (name, ContractSummary { version, owner, .. }) in summary.contracts.iter().take(MAX_CONTRACTS) {
            text += &format!("contract {name} {version} {owner}\n");
        }
        for (repo, Binding { role, exports, imports }) in &summary.bindings {
            text += &format!("binding {repo} {role} {} {}\n", exports.len(), imports.len());
        }
        let importers = summary.all_importers();
        for (owner, own) in by_owner(summary) {
            text += &format!("owner {owner} {}\n", own.len());
            if summary.sources.contains_key(owner) {
                line(&mut text, "names", own.iter().map(|(name, _)| name));
            }
            let of = |name| importers.get(name).map(Vec::as_slice).unwrap_or_default();
            let own = own.into_iter().map(|(name, contract)| imported(summary, name, contract, of(name)));
            let mut own: Vec<_> = own.collect();
            own.sort_by_key(|one| Reverse((one.broken.len(), one.is_moved, one.importers.len())));
            for one in own.iter().take(MAX_CONTRACTS) {
                let Imported { name, version, yanked, deprecated, broken, importers, more, is_moved } = one;
                let (broken_names, names) = (listed(broken), listed(importers));
                let (broken, importers) = (broken.len(), importers.len());
                let moved = if *is_moved { MOVED } else { NONE };
                let yanked = if *yanked { YANKED } else { NONE };
                let end = end(deprecated.as_ref());
                text += &format!("own {broken} {moved} {importers} {name} {version} ");
                text += &format!("{broken_names} {names} {more} {yanked} {end}\n");
            }
        }
        Self(text)
    }
}

/// Returns the contracts of each owner that are not retired.
fn by_owner(summary: &DomainSummary) -> BTreeMap<&RepoName, Vec<(&ContractName, &ContractSummary)>> {
    let mut owners = BTreeMap::<_, Vec<_>>::new();
    for (name, contract) in summary.contracts.iter().filter(|(_, contract)| contract.retired.is_none()) {
        owners.entry(&contract.owner).or_default().push((name, contract));
    }
    owners
}

fn imported(
    summary: &DomainSummary,
    name: &ContractName,
    contract: &ContractSummary,
    all: &[(&RepoName, &Import)],
) -> Imported {
    let (mut broken, mut importers, mut is_moved) = (Vec::new(), Vec::new(), false);
    for &(repo, import) in all {
        let resolution = summary.resolve_import(import);
        let list = if resolution.resolved().is_some() { &mut importers } else { &mut broken };
        list.push(repo.clone());
        is_moved |= !needed_versions(import, &resolution).is_empty();
    }
    broken.truncate(MAX_IMPORTERS);
    importers.truncate(MAX_IMPORTERS);
    let more = all.len() - broken.len() - importers.len();
    let (version, yanked, deprecated) = (contract.version.clone(), contract.is_yanked(), contract.deprecated.clone());
    Imported { name: name.clone(), version, yanked, deprecated, broken, importers, more, is_moved }
}

/// Returns the end of a contract's support as three words: since when, until when, and the replacement.
fn end(deprecated: Option<&Deprecated>) -> String {
    let word = |part: Option<String>| part.unwrap_or_else(|| NONE.to_owned());
    let since = word(deprecated.map(|one| one.since.to_string()));
    let sunset = word(deprecated.and_then(|one| one.sunset).map(|day| day.to_string()));
    let replacement = word(deprecated.and_then(|one| one.replaced_by.as_ref()).map(ToString::to_string));
    format!("{since} {sunset} {replacement}")
}

/// Appends a line that consists of a key and names, none of which contains a space.
fn line(text: &mut String, word: &str, parts: impl IntoIterator<Item = impl AsRef<str>>) {
    text.push_str(word);
    for part in parts {
        text.push(' ');
        text.push_str(part.as_ref());
    }
    text.push('\n');
}

fn listed(repos: &[RepoName]) -> String {
    match repos {
        [] => NONE.to_owned(),
        repos => repos.iter().map(RepoName::as_str).collect::<Vec<_>>().join(","),
    }
}

impl DomainDigest {
    /// Returns the digest with this text.
    pub fn with_text(text: String) -> Self {
        Self(text)
    }

    /// Returns its text.
    pub fn as_text(&self) -> &str {
        &self.0
    }

    /// Returns the text from the first line that starts with these words; empty if none does.
    fn text_from(&self, words: &str) -> &str {
        let text = &*self.0;
        if text.starts_with(words) {
            return text;
        }
        let found = memmem::find(text.as_bytes(), format!("\n{words}").as_bytes());
        found.map_or("", |at| &text[at + 1..])
    }

    /// Returns the values of each line with this key.
    fn lines<'g>(&'g self, word: &'g str) -> impl Iterator<Item = &'g str> {
        let lines = self.text_from(&format!("{word} ")).lines();
        lines.map_while(move |line| line.strip_prefix(word)?.strip_prefix(' '))
    }

    fn number(&self, word: &str) -> usize {
        self.lines(word).next().and_then(parsed).unwrap_or_default()
    }

    /// Returns the members of the domain.
    pub fn members(&self) -> Vec<RepoName> {
        self.lines("members").flat_map(|names| names.split(' ')).filter_map(parsed).collect()
    }

    /// Returns the number of contracts with a current version.
    pub fn contracts(&self) -> usize {
        self.number("contracts")
    }

    /// Returns the number of unresolved conflicts.
    pub fn conflicts(&self) -> usize {
        self.number("conflicts")
    }

    /// Returns the contracts that were ever in a conflict between machines, resolved or not, each with its owner.
    pub fn contested(&self) -> impl Iterator<Item = (ContractName, RepoName)> {
        self.lines("contested").filter_map(|line| {
            let [name, owner] = words(line)?;
            Some((parsed(name)?, parsed(owner)?))
        })
    }

    /// Returns the offered contracts, each with its owner and the repository that it is offered to.
    pub fn offers(&self) -> impl Iterator<Item = (ContractName, RepoName, RepoName)> {
        self.lines("offer").filter_map(|line| {
            let [name, from, to] = words(line)?;
            Some((parsed(name)?, parsed(from)?, parsed(to)?))
        })
    }

    /// Returns the first contracts, each with its current version and its owner.
    pub fn first_contracts(&self) -> impl Iterator<Item = (ContractName, Version, RepoName)> {
        self.lines("contract").filter_map(|line| {
            let [name, version, owner] = words(line)?;
            Some((parsed(name)?, parsed(version)?, parsed(owner)?))
        })
    }

    /// Returns the bindings, by the names of their repositories.
    pub fn bindings(&self) -> impl Iterator<Item = BindingDigest> {
        self.lines("binding").filter_map(|line| {
            let [repo, role, exports, imports] = words(line)?;
            let role = match role {
                "provider" => Role::Provider,
                "consumer" => Role::Consumer,
                _ => Role::Both,
            };
            Some(BindingDigest { repo: parsed(repo)?, role, exports: parsed(exports)?, imports: parsed(imports)? })
        })
    }

    /// Returns whether a repository imports anything.
    pub fn imports(&self, repo: &RepoName) -> bool {
        let binding = self.text_from(&format!("binding {repo} ")).lines().next();
        binding.is_some_and(|binding| !binding.ends_with(" 0"))
    }

    /// Returns the contracts of an owner.
    pub fn own(&self, owner: &RepoName) -> OwnContracts<'_> {
        let Some((head, rest)) = self.text_from(&format!("owner {owner} ")).split_once('\n') else {
            return OwnContracts::default();
        };
        let count = head.rsplit(' ').next().and_then(parsed).unwrap_or_default();
        let (names, first) = match rest.strip_prefix("names ").and_then(|rest| rest.split_once('\n')) {
            Some((names, first)) => (names, first),
            None => ("", rest),
        };
        OwnContracts { count, names, first }
    }
}

impl<'g> OwnContracts<'g> {
    /// Returns the names of the contracts, if the owner published a commit to the domain.
    pub fn names(&self) -> impl Iterator<Item = &'g str> + use<'g> {
        self.names.split(' ').filter(|name| !name.is_empty())
    }

    /// Returns the first contracts: those that break the most importers, then those whose documents decide whether they
    /// break some, then those with the most importers, then by name.
    pub fn first(&self) -> impl Iterator<Item = Ranked<'g>> + use<'g> {
        self.first.lines().map_while(|line| Ranked::of(line.strip_prefix("own ")?))
    }
}

impl<'g> Ranked<'g> {
    fn of(line: &'g str) -> Option<Self> {
        let [broken, moved, importers, rest] = words(line)?;
        Some(Self { broken: parsed(broken)?, is_moved: moved == MOVED, importers: parsed(importers)?, rest })
    }

    /// Returns the contract.
    pub fn imported(&self) -> Option<Imported> {
        let [name, version, broken, importers, more, yanked, since, sunset, replacement] = words(self.rest)?;
        let (name, version, more) = (parsed(name)?, parsed(version)?, parsed(more)?);
        let (yanked, is_moved) = (yanked == YANKED, self.is_moved);
        let end = |since| Deprecated {
            since,
            sunset: parsed(sunset),
            replaced_by: parsed(replacement).filter(|_| replacement != NONE),
        };
        let repos = |list: &str| list.split(',').filter(|_| list != NONE).filter_map(parsed).collect();
        let (broken, importers) = (repos(broken), repos(importers));
        let deprecated = parsed(since).map(end);
        Some(Imported { name, version, yanked, deprecated, broken, importers, more, is_moved })
    }
}

/// Splits a line into its values. The last one is the rest of the line.
fn words<const N: usize>(line: &str) -> Option<[&str; N]> {
    let mut words = line.splitn(N, ' ');
    let mut found = [""; N];
    for word in &mut found {
        *word = words.next()?;
    }
    Some(found)
}

fn parsed<T: FromStr>(word: &str) -> Option<T> {
    word.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        binding::UsedIn,
        contract::Contract,
        domain::{Domain, Source},
        domain_view::DomainView,
        oid::Oid,
        transfer::Transfers,
    };

    fn summary() -> DomainSummary {
        let name = |name: &str| -> RepoName { name.parse().unwrap() };
        let info = Domain {
            name: "s3".parse().unwrap(),
            description: "two words".into(),
            members: [name("a"), name("b")].into(),
            removed: false,
        };
        let mut view = DomainView::new(info);
        for (at, owner) in (0..60).map(|at| (at, if at == 7 { "b" } else { "a" })) {
            let contract = Contract::new(format!("c{at:02}").parse().unwrap(), name(owner));
            view.contracts.insert(contract.name.clone(), contract);
        }
        let import = |contract: &str, range: &str| {
            Import::new(contract.parse().unwrap(), range.parse().unwrap(), UsedIn::default())
        };
        let many = (0..120).map(|at| (format!("m{at:03}"), vec![import("c03", "<1.0.0")]));
        let few = [("b", vec![import("c09", ">=9.0.0"), import("c11", "<1.0.0")]), ("a", vec![])];
        let few = few.map(|(repo, imports)| (repo.to_owned(), imports));
        for (repo, imports) in many.chain(few) {
            view.bindings.insert(name(&repo), Binding { role: Role::Consumer, exports: vec![], imports });
        }
        view.sources.insert(name("b"), Source::of(Oid::from_bytes(&[1; 20]).unwrap()));
        for (contract, to) in [("c03", "b"), ("c07", "b"), ("c09", "m001")] {
            let contract: ContractName = contract.parse().unwrap();
            let offered = Transfers::of(contract.clone()).offering(&name("a"), Some(&name(to)));
            view.transfers.insert(contract, offered);
        }
        let versions = ["1.0.0".parse().unwrap()];
        view.conflicts.contracts.insert("c07".parse().unwrap(), versions.into());
        DomainSummary::from(&view)
    }

    #[test]
    fn digest_agrees_with_summary() {
        let summary = summary();
        let digest = DomainDigest::with_text(DomainDigest::from(&summary).as_text().to_owned());
        assert_eq!(digest.members(), summary.info.members.iter().cloned().collect::<Vec<_>>());
        assert_eq!((digest.contracts(), digest.conflicts()), (60, 1));
        let contested = digest.contested().map(|(name, owner)| format!("{name} {owner}"));
        assert_eq!(contested.collect::<Vec<_>>(), ["c07 b"]);
        // The owner of c07 is another one.
        let offers = digest.offers().map(|(name, from, to)| format!("{name} {from} {to}"));
        assert_eq!(offers.collect::<Vec<_>>(), ["c03 a b", "c09 a m001"]);
        let first = summary.contracts.iter().take(MAX_CONTRACTS);
        let first: Vec<_> = first.map(|(name, one)| (name.clone(), one.version.clone(), one.owner.clone())).collect();
        assert_eq!(digest.first_contracts().collect::<Vec<_>>(), first);
        let bindings = summary.bindings.iter().map(|(repo, binding)| BindingDigest {
            repo: repo.clone(),
            role: binding.role,
            exports: 0,
            imports: binding.imports.len(),
        });
        assert_eq!(digest.bindings().collect::<Vec<_>>(), bindings.collect::<Vec<_>>());
        let imports = ["a", "b", "m000", "m", "x"].map(|repo| digest.imports(&repo.parse().unwrap()));
        assert_eq!(imports, [false, true, true, false, false]);
    }

    #[test]
    fn the_contracts_of_an_owner_are_ranked() {
        let digest = DomainDigest::from(&summary());
        let own = digest.own(&"a".parse().unwrap());
        assert_eq!((own.count, own.first().count(), own.names().count()), (59, MAX_CONTRACTS, 0));
        let shown: Vec<_> = own.first().take(4).map(|one| one.imported().unwrap()).collect();
        let names: Vec<_> = shown.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["c09", "c03", "c11", "c00"], "first what breaks, then what is used most");
        let counts: Vec<_> = shown.iter().map(|one| (one.broken.len(), one.importers.len(), one.more)).collect();
        assert_eq!(counts, [(1, 0, 0), (0, MAX_IMPORTERS, 70), (0, 1, 0), (0, 0, 0)]);
        let other = digest.own(&"b".parse().unwrap());
        assert_eq!((other.count, other.names().collect(), other.first().count()), (1, vec!["c07"], 1));
        assert_eq!(digest.own(&"c".parse().unwrap()).count, 0);
    }
}
