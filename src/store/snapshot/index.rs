//! The index of a snapshot: a line about the realm, and one for each domain.

use std::{collections::BTreeMap, sync::OnceLock};

use memchr::{memchr_iter, memmem::Finder};
use serde::{Deserialize, Serialize};

use super::{Place, decode, encode};
use crate::{
    model::{
        domain::Source,
        domain_summary::DomainSummary,
        name::{DomainName, RepoName},
        oid::Oid,
        realm::Repo,
    },
    store::contract_index::ContractIndex,
};

/// The part of the snapshot about the realm itself, and the locations of all other parts.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Index {
    pub(in crate::store) head: Head,
    pub(in crate::store) lines: Lines,
}

/// The line of the index about the realm.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct Head {
    /// The tip of the realm's own ref; `None` if something in it could not be read.
    pub(in crate::store) realm: Option<Oid>,
    /// The repositories that joined.
    pub(in crate::store) repos: BTreeMap<RepoName, Repo>,
    /// The sums of all domains.
    #[serde(flatten)]
    pub(in crate::store) sums: Sums,
}

/// Sums of all domains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::store) struct Sums {
    /// The number of contracts, as shown in a list of all domains.
    pub(in crate::store) contracts: usize,
    /// The number of bytes of the parts that the index refers to.
    pub(in crate::store) used: u64,
}

impl Sums {
    pub(in crate::store) fn add(&mut self, line: &Line) {
        self.contracts += line.contracts;
        self.used += line.used();
    }

    pub(in crate::store) fn subtract(&mut self, line: &Line) {
        self.contracts -= line.contracts;
        self.used -= line.used();
    }
}

/// The domains that could be read, sorted by name.
#[derive(Debug, Clone, Default)]
pub(in crate::store) struct Lines {
    /// The text of the index, including the line about the realm.
    text: String,
    all: OnceLock<Vec<Line>>,
    /// The domains of the first repository that was requested.
    of: OnceLock<(RepoName, Vec<Line>)>,
}

impl Lines {
    /// Returns all domains.
    pub(in crate::store) fn all(&self) -> &[Line] {
        self.all.get_or_init(|| self.written().filter_map(WrittenLine::decode).collect())
    }

    /// Returns the number of domains.
    pub(in crate::store) fn count(&self) -> usize {
        // The line about the realm is the only one that no line break precedes.
        self.all.get().map_or_else(|| memchr_iter(b'\n', self.text.as_bytes()).count(), Vec::len)
    }

    /// Returns the domains that `repo` is involved in.
    pub(in crate::store) fn of(&self, repo: &RepoName) -> impl Iterator<Item = &Line> {
        let is_its = |line: &&Line| line.repos.binary_search(repo).is_ok();
        let all = || self.all().iter().filter(is_its).collect::<Vec<_>>();
        let found = match self.all.get() {
            Some(_) => all(),
            None => match self.of.get_or_init(|| (repo.clone(), self.with(&format!("\"{repo}\"")).collect())) {
                (of, lines) if of == repo => lines.iter().filter(is_its).collect(),
                _ => all(),
            },
        };
        found.into_iter()
    }

    /// Returns the domains that `repo` is not involved in, decoded one by one.
    pub(in crate::store) fn not_of(&self, repo: &RepoName) -> impl Iterator<Item = Line> {
        let decoded = self.all.get().into_iter().flatten().cloned();
        let others = self.written().filter(|_| self.all.get().is_none()).filter_map(WrittenLine::decode);
        decoded.chain(others).filter(move |line| line.repos.binary_search(repo).is_err())
    }

    /// Returns the domains with damage.
    pub(in crate::store) fn damaged(&self) -> impl Iterator<Item = Line> {
        let decoded = self.all.get().into_iter().flatten().cloned();
        decoded.chain(self.with(NO_SUMMARY)).filter(|line| line.summary.is_none())
    }

    /// Returns the lines that contain a word, unless all lines are decoded already. The text is searched as a whole,
    /// because most lines of a large realm do not contain the word.
    fn with(&self, word: &str) -> impl Iterator<Item = Line> {
        let mut rest = if self.all.get().is_none() { self.domains() } else { "" };
        let finder = Finder::new(word).into_owned();
        let found = std::iter::from_fn(move || {
            let at = finder.find(rest.as_bytes())?;
            let start = rest[..at].rfind('\n').map_or(0, |end| end + 1);
            let (line, after) = rest[start..].split_once('\n').unwrap_or((&rest[start..], ""));
            rest = after;
            Some(line)
        });
        found.filter_map(|line| decode(line.as_bytes()))
    }

    /// Returns the lines as they are written.
    pub(in crate::store) fn written(&self) -> impl Iterator<Item = WrittenLine<'_>> {
        self.domains().lines().map(WrittenLine)
    }

    /// Returns the line of a domain.
    pub(in crate::store) fn line(&self, name: &DomainName) -> Option<WrittenLine<'_>> {
        let start = self.text.find(&format!("\n{}{name}\"", WrittenLine::START))? + 1;
        self.text[start..].lines().next().map(WrittenLine)
    }

    /// Returns the text of the lines.
    fn domains(&self) -> &str {
        self.text.split_once('\n').map_or("", |(_, domains)| domains)
    }
}

/// The text by which a line without a summary is recognized.
const NO_SUMMARY: &str = "\"summary\":null";

/// A line of the index that is not decoded.
#[derive(Debug, Clone, Copy)]
pub(in crate::store) struct WrittenLine<'a>(&'a str);

impl<'a> WrittenLine<'a> {
    const START: &'static str = "{\"name\":\"";

    /// Returns the name and the tip, which come first in a line, and the rest.
    fn key(self) -> Option<(&'a str, &'a str, &'a str)> {
        let (name, rest) = self.0.strip_prefix(Self::START)?.split_once('"')?;
        let (tip, rest) = rest.strip_prefix(",\"tip\":\"")?.split_once('"')?;
        Some((name, tip, rest))
    }

    /// Returns the name of the domain.
    pub(in crate::store) fn name(self) -> &'a str {
        self.key().map_or("", |(name, ..)| name)
    }

    /// Returns the location of the index of its contracts, if the domain was read from this commit. The rest of the
    /// line, which may name ten thousand repositories, is not decoded.
    pub(in crate::store) fn contract_index(self, tip: &Oid) -> Option<ContractIndex> {
        let (_, of, rest) = self.key()?;
        let place = rest.strip_prefix(",\"contract_index\":").filter(|_| of == tip.to_string())?;
        serde_json::Deserializer::from_str(place).into_iter().next()?.ok()
    }

    /// Returns whether the domain was read from this commit, without damage.
    pub(in crate::store) fn is_of(self, tip: &Oid) -> bool {
        self.key().is_some_and(|(_, of, _)| of == tip.to_string()) && !self.0.contains(NO_SUMMARY)
    }

    pub(in crate::store) fn decode(self) -> Option<Line> {
        decode(self.0.as_bytes())
    }
}

/// The lines of an index under construction, each after a line break.
#[derive(Default)]
pub(in crate::store) struct LineWriter(String);

impl LineWriter {
    pub(in crate::store) fn copy(&mut self, line: WrittenLine<'_>) {
        self.0.push('\n');
        self.0.push_str(line.0);
    }

    pub(in crate::store) fn add(&mut self, line: &Line) {
        let line = serde_json::to_string(line);
        self.copy(WrittenLine(&line.unwrap_or_else(|error| unreachable!("model types have a JSON form: {error}"))));
    }
}

impl Index {
    pub(in crate::store) fn new(head: Head, lines: LineWriter) -> Self {
        let mut text = String::from_utf8(encode(&head)).unwrap_or_else(|_| unreachable!("JSON is UTF-8"));
        text.push_str(&lines.0);
        Self { head, lines: Lines { text, ..Lines::default() } }
    }

    pub(in crate::store) fn decode(bytes: Vec<u8>) -> Option<Self> {
        let text = String::from_utf8(bytes).ok()?;
        let head = decode(text.split('\n').next()?.as_bytes())?;
        Some(Self { head, lines: Lines { text, ..Lines::default() } })
    }

    /// Returns its text.
    pub(in crate::store) fn text(&self) -> &str {
        &self.lines.text
    }
}

/// A domain in the index.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Line {
    /// Its name.
    pub name: DomainName,
    /// The commit that it was read from.
    pub tip: Oid,
    /// The location of the index of its contracts, if it is large.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::store) contract_index: Option<ContractIndex>,
    /// The tree of that commit.
    pub tree: Oid,
    /// The repositories involved in the domain, sorted.
    pub repos: Vec<RepoName>,
    /// The last published commit of each repository.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub sources: BTreeMap<RepoName, Source>,
    /// The repositories that have no binding in the domain, or whose code is adapted to a version of a contract that
    /// is not the current one, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::store) behind: Vec<RepoName>,
    /// The number of contracts, as shown in a list of domains.
    pub contracts: usize,
    /// The location of its summary; `None` if a part of it could not be read.
    pub(in crate::store) summary: Option<Place>,
    /// The location of its digest.
    pub(in crate::store) digest: Option<Place>,
    /// The location of the hashes of its schemas, if it was examined without findings.
    pub(in crate::store) schemas: Option<Place>,
}

impl Line {
    /// Returns whether the domain was examined without findings.
    pub fn is_examined(&self) -> bool {
        self.schemas.is_some()
    }

    /// Returns whether all of the domain could be read when its summary was cached. If not, its summary says why.
    pub fn is_intact(&self) -> bool {
        self.summary.is_some()
    }
}

impl Line {
    /// Returns the line of a domain that was just read and is not cached yet.
    pub fn of(name: DomainName, tip: Oid, tree: Oid, summary: &DomainSummary) -> Self {
        Self {
            name,
            tip,
            contract_index: None,
            tree,
            repos: summary.repos().into_iter().cloned().collect(),
            behind: summary.behind(),
            contracts: summary.contract_names().len(),
            sources: summary.sources.clone(),
            summary: None,
            digest: None,
            schemas: None,
        }
    }

    /// Returns the number of bytes of its parts.
    fn used(&self) -> u64 {
        let parts = [self.summary, self.digest, self.schemas];
        let parts = parts.into_iter().flatten().map(|part| part.len() as u64).sum::<u64>();
        parts + self.contract_index.map_or(0, ContractIndex::size)
    }

    /// Returns whether `repo` is known to take part with code that is adapted to the current versions of all its
    /// imports. In that case, no earlier change has to be reported to it.
    pub fn is_as_adapted(&self, repo: &RepoName) -> bool {
        self.summary.is_some() && self.behind.binary_search(repo).is_err()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_repository_are_found_among_all() {
        let repos = |names: &[&str]| names.iter().map(|name| name.parse().unwrap()).collect::<Vec<RepoName>>();
        let oid = Oid::from_bytes(&[0; 20]).unwrap();
        let line = |name: &str, names: &[&str]| Line {
            name: name.parse().unwrap(),
            tip: oid,
            contract_index: None,
            tree: oid,
            repos: repos(names),
            sources: BTreeMap::new(),
            behind: Vec::new(),
            contracts: 0,
            summary: None,
            digest: None,
            schemas: None,
        };
        let all = [line("a", &["one"]), line("b", &["one", "two"]), line("c", &["twofold"]), line("d", &["two"])];
        let mut lines = LineWriter::default();
        all.iter().for_each(|line| lines.add(line));
        let written = Index::new(Head::default(), lines);
        let read = || Index::decode(written.text().to_owned().into_bytes()).unwrap().lines;
        let names = |lines: &Lines, repo: &str| {
            lines.of(&repo.parse().unwrap()).map(|line| line.name.to_string()).collect::<Vec<_>>()
        };
        for (repo, expected) in [("one", &["a", "b"][..]), ("two", &["b", "d"]), ("twofold", &["c"]), ("three", &[])] {
            assert_eq!(names(&read(), repo), expected);
            let decoded = read();
            assert_eq!(decoded.all().len(), 4);
            assert_eq!(names(&decoded, repo), expected, "the same as in decoded lines");
        }
        assert_eq!((read().count(), Lines::default().count()), (4, 0));
        let keys = read().written().map(|line| (line.name().to_owned(), line.is_of(&oid))).collect::<Vec<_>>();
        assert_eq!(keys[1], ("b".to_owned(), false), "a domain with damage is always read again");
        let whole = Line { summary: Some(Place(0, 1, 2)), ..all[0].clone() };
        let mut lines = LineWriter::default();
        lines.add(&whole);
        let index = Index::new(Head::default(), lines);
        let line = index.lines.written().next().unwrap();
        assert!(line.is_of(&oid) && !line.is_of(&Oid::from_bytes(&[1; 20]).unwrap()));
        assert_eq!(line.decode(), Some(whole));
        assert_eq!(Index::new(Head::default(), LineWriter::default()).lines.count(), 0);
    }
}
