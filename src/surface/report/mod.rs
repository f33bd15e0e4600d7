//! Reports for runners and other tools: what a check, a comparison of schemas or of versions found.
//!
//! `check` and `compared` say what is reported; each format is written in a file of its own.

mod check;
mod compared;
mod github;
mod gitlab;
mod junit;
mod markdown;
mod sarif;

use std::{collections::BTreeMap, path::Path};

use crate::{env::Env, model::hash, surface::cli::text::clean};

pub use check::of_check;
pub use compared::{SideFile, of_compat, of_diff};
pub use github::append_summary;

/// A format that is reported in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text, one finding a line
    Human,
    /// The whole answer, as --json
    Json,
    /// Annotations of a workflow run: GitHub, Forgejo, Gitea
    Github,
    /// Code Quality report of GitLab
    Gitlab,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML, one case for each contract and direction
    Junit,
    /// A table, for comments and summaries
    Markdown,
}

/// What is reported.
#[derive(Debug)]
pub struct Report {
    /// The command that found it, as in `git blue check`.
    command: &'static str,
    /// Whether nothing fails.
    passed: bool,
    /// How much was found, as in `1 error, 0 warnings, 3 contracts checked`.
    counts: String,
    /// Where that was, as the end of that sentence.
    scope: String,
    /// What else is to be said, a sentence each.
    notes: Vec<String>,
    /// The file that stands for what is in no file of the runner.
    home: String,
    /// The group and the name of each case that was judged, whatever was found of it.
    cases: Vec<Case>,
    /// What was found, errors first.
    entries: Vec<Entry>,
    /// Whether warnings fail.
    strict: bool,
}

/// A case of a test report: its group and its name.
type Case = (String, String);

/// One thing that was found.
#[derive(Debug)]
struct Entry {
    level: Level,
    /// Its stable code.
    rule: String,
    /// What that means; none where the words of the code say it.
    meaning: Option<&'static str>,
    /// What it is about, as in `domain/contract`.
    subject: Option<String>,
    /// The case that it belongs to.
    case: Case,
    /// What is wrong, in a sentence.
    message: String,
    /// Where that is to be seen.
    place: Option<Place>,
    /// What it is compared with.
    old: Option<Related>,
    /// Whether it says that something is neither proved nor refuted.
    is_undecided: bool,
    /// Whether the owner of the contract approved it.
    is_approved: bool,
    /// Names it in later reports too: versions, lines and words are left out of it.
    fingerprint: String,
}

/// A place in a file, as the runner names it.
#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: Option<u32>,
    column: Option<u32>,
}

/// Another place that says more.
#[derive(Debug)]
struct Related {
    /// What is to be seen there.
    message: String,
    file: RelatedFile,
    line: Option<u32>,
}

/// The file of a related place.
#[derive(Debug)]
enum RelatedFile {
    /// One that the runner has.
    Here(String),
    /// One of the realm: `domain/contract/version`.
    Realm(String),
}

/// How bad something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    Error,
    Warning,
    Note,
}

impl Level {
    const ALL: [Self; 3] = [Self::Error, Self::Warning, Self::Note];

    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        }
    }
}

impl Report {
    /// Returns the report in a format; none for [`Format::Human`] and [`Format::Json`], which the command line
    /// writes itself.
    pub fn render(&self, format: Format) -> Option<String> {
        match format {
            Format::Human | Format::Json => None,
            Format::Github => Some(github::render(self)),
            Format::Gitlab => Some(gitlab::render(self)),
            Format::Sarif => Some(sarif::render(self)),
            Format::Junit => Some(junit::render(self)),
            Format::Markdown => Some(markdown::render(self)),
        }
    }

    /// Sorts the entries, makes their messages harmless where they are shown, and their fingerprints distinct.
    fn settled(mut self) -> Self {
        self.entries.sort_by_key(|entry| entry.level);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for entry in &mut self.entries {
            entry.message = clean(&entry.message).into_owned();
            let times = seen.entry(entry.fingerprint.clone()).or_default();
            if *times > 0 {
                entry.fingerprint = hash::of_text(format!("{}\0{times}", entry.fingerprint));
            }
            *times += 1;
        }
        self
    }

    fn outcome(&self) -> &'static str {
        if self.passed { "ok" } else { "failed" }
    }

    fn fails(&self, entry: &Entry) -> bool {
        match entry.level {
            Level::Error => true,
            Level::Warning => self.strict,
            Level::Note => false,
        }
    }
}

impl Entry {
    /// Returns the place in one line, as compilers write it; empty without one.
    fn at(&self) -> String {
        let Some(Place { file, line, .. }) = &self.place else { return String::new() };
        line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

/// Returns the format that a runner reads, where this is one and it reads any.
pub fn of_runner(env: &Env) -> Option<Format> {
    let is_true = |name: &&str| env.text(name) == Some("true");
    // Forgejo and Gitea set GITHUB_ACTIONS too.
    ["GITHUB_ACTIONS", "FORGEJO_ACTIONS", "GITEA_ACTIONS"].iter().any(is_true).then_some(Format::Github)
}

/// Returns a path as a runner names it: from the folder that it names files from, where that is around it.
pub fn as_runner_names(env: &Env, path: &Path) -> String {
    let runner = env.text("GITHUB_WORKSPACE").or_else(|| env.text("CI_PROJECT_DIR"));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(runner.map_or_else(|| env.cwd(), Path::new));
    let whole = real(&env.cwd().join(path));
    whole.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Returns where a work tree lies below the folder that a runner names files from; empty at its root.
pub fn prefix(env: &Env, root: Option<&Path>) -> String {
    let runner = env.text("GITHUB_WORKSPACE").or_else(|| env.text("CI_PROJECT_DIR"));
    let named = root.filter(|_| runner.is_some()).map(|root| as_runner_names(env, root));
    named.filter(|named| Path::new(named).is_relative()).unwrap_or_default()
}

/// Returns a file of the repository as a runner names it, by the [`prefix`] of the work tree.
pub fn below(prefix: &str, file: &str) -> String {
    if prefix.is_empty() { file.to_owned() } else { format!("{prefix}/{file}") }
}

/// Returns a number of things in words.
fn count(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

/// Returns a hash that names something in later reports too.
fn fingerprint(parts: &[&str]) -> String {
    hash::of_text(parts.join("\0"))
}
