//! Reports on checks and comparisons, for CI runners and other tools.
//!
//! `check` and `compared` build the report; each format has a separate file.

mod check;
mod compared;
mod github;
mod gitlab;
mod junit;
mod markdown;
mod sarif;

use std::{collections::BTreeMap, path::Path};

use crate::{env::Env, error::OpError, model::hash, surface::escape::clean};

pub use check::of_check;
pub use compared::{SideFile, names, needs, of_compat, of_diff};
pub use github::append_summary;

/// The format of a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// Text
    Human,
    /// The whole answer, as with --json
    Json,
    /// Annotations of a workflow run: GitHub, Forgejo, Gitea
    Github,
    /// Code Quality report of GitLab
    Gitlab,
    /// SARIF 2.1.0
    Sarif,
    /// JUnit XML, one case for each contract and direction
    Junit,
    /// A Markdown table, for comments and summaries
    Markdown,
}

/// A report.
#[derive(Debug)]
pub struct Report {
    /// The command that made the report, such as `git blue check`.
    command: &'static str,
    outcome: Outcome,
    /// The number of findings, such as `1 error, 0 warnings, 3 contracts checked`.
    counts: String,
    /// The location of the findings, as the end of that sentence.
    scope: String,
    /// Further notes, one sentence each.
    notes: Vec<String>,
    /// The file that is shown for findings without a file.
    home: String,
    /// The group and name of each test case that was checked, with or without findings.
    cases: Vec<Case>,
    /// The test cases that have errors in other repositories, each with the first of them.
    elsewhere: BTreeMap<Case, String>,
    /// The findings, errors first.
    entries: Vec<Entry>,
    /// Whether warnings are failures.
    strict: bool,
}

/// The outcome of the command that made a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// There are no failures.
    Passed,
    /// There are failures.
    Failed,
    /// The command could not run, so nothing is known.
    NotRun,
}

impl Outcome {
    fn of(passed: bool) -> Self {
        if passed { Self::Passed } else { Self::Failed }
    }

    fn word(self) -> &'static str {
        match self {
            Self::Passed => "ok",
            Self::Failed => "failed",
            Self::NotRun => "not checked",
        }
    }
}

/// A test case: its group and its name.
type Case = (String, String);

/// A finding.
#[derive(Debug, Default)]
struct Entry {
    level: Level,
    /// Its rule, a stable code.
    rule: String,
    /// The meaning of the rule; `None` if its name is clear enough.
    meaning: Option<&'static str>,
    /// Its subject, such as `domain/contract`.
    subject: Option<String>,
    /// The test case that it belongs to.
    case: Case,
    /// The problem, in a sentence.
    message: String,
    /// Its location.
    place: Option<Place>,
    /// The location that it is compared with.
    old: Option<Related>,
    /// True if the finding is that something is neither proved nor refuted.
    is_undecided: bool,
    /// Whether the owner of the contract approved it.
    is_approved: bool,
    /// Its identity across reports. Versions, lines and messages are not part of it.
    fingerprint: String,
}

/// A location in a file, under the file's name on the runner.
#[derive(Debug, Clone)]
struct Place {
    file: String,
    line: Option<u32>,
    column: Option<u32>,
}

/// A related location.
#[derive(Debug)]
struct Related {
    /// The content of that location.
    message: String,
    file: RelatedFile,
    line: Option<u32>,
}

/// The file of a related location.
#[derive(Debug)]
enum RelatedFile {
    /// A file that exists on the runner.
    Local(String),
    /// A version in the realm: `domain/contract/version`.
    Realm(String),
}

/// The severity of a finding.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Level {
    #[default]
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
    /// Returns the report of a command that could not run. Its only entry is the error.
    pub fn of_failure(command: &'static str, error: &OpError) -> Self {
        let case = ("git-blue".to_owned(), command.to_owned());
        let only = Some(&error.problems[..]).and_then(|problems| if let [one] = problems { Some(one) } else { None });
        let place = only.and_then(|one| Some(Place { file: one.file.clone()?, line: one.line, column: one.column }));
        let entry = Entry {
            level: Level::Error,
            rule: error.code.to_string(),
            case,
            message: only.filter(|_| place.is_some()).map_or(&error.message, |one| &one.message).clone(),
            place,
            fingerprint: fingerprint(&[command, error.code.as_str()]),
            ..Entry::default()
        };
        let report = Self {
            command,
            outcome: Outcome::NotRun,
            counts: format!("{command} could not run"),
            scope: String::new(),
            notes: Vec::new(),
            home: check::CONFIG.to_owned(),
            cases: Vec::new(),
            elsewhere: BTreeMap::new(),
            entries: vec![entry],
            strict: false,
        };
        report.finished()
    }

    /// Renders the report in a format. Returns `None` for [`Format::Human`] and [`Format::Json`], which the command
    /// line prints itself.
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

    /// Sorts the entries, escapes their texts, and makes their fingerprints distinct.
    fn finished(mut self) -> Self {
        self.entries.sort_by_key(|entry| entry.level);
        let mut seen: BTreeMap<String, usize> = BTreeMap::new();
        for entry in &mut self.entries {
            let file = entry.place.as_mut().map(|place| &mut place.file);
            let (other, other_file) = match &mut entry.old {
                Some(Related { message, file: RelatedFile::Local(file) | RelatedFile::Realm(file), .. }) => {
                    (Some(message), Some(file))
                }
                None => (None, None),
            };
            let (group, case) = &mut entry.case;
            for text in [&mut entry.message, group, case].into_iter().chain(&mut entry.subject).chain(file) {
                *text = clean(text).into_owned();
            }
            for text in other.into_iter().chain(other_file) {
                *text = clean(text).into_owned();
            }
            let times = seen.entry(entry.fingerprint.clone()).or_default();
            if *times > 0 {
                entry.fingerprint = hash::of_text(format!("{}\0{times}", entry.fingerprint));
            }
            *times += 1;
        }
        self
    }

    fn fails(&self, entry: &Entry) -> bool {
        entry.level == Level::Error || (entry.level == Level::Warning && self.strict)
    }
}

impl Entry {
    /// Returns the location on one line, in the format of compilers; empty if there is none.
    fn at(&self) -> String {
        let Some(Place { file, line, .. }) = &self.place else { return String::new() };
        line.map_or_else(|| file.clone(), |line| format!("{file}:{line}"))
    }
}

/// Returns the format that the current CI runner reads, if there is one.
pub fn of_runner(env: &Env) -> Option<Format> {
    let is_true = |name: &&str| env.text(name) == Some("true");
    // Forgejo and Gitea set GITHUB_ACTIONS too.
    ["GITHUB_ACTIONS", "FORGEJO_ACTIONS", "GITEA_ACTIONS"].iter().any(is_true).then_some(Format::Github)
}

/// Returns a path as the runner names it: relative to the runner's base folder, if the path is below it.
pub fn as_runner_names(env: &Env, path: &Path) -> String {
    let runner = env.text("GITHUB_WORKSPACE").or_else(|| env.text("CI_PROJECT_DIR"));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let root = real(runner.map_or_else(|| env.cwd(), Path::new));
    let whole = real(&env.cwd().join(path));
    whole.strip_prefix(root).unwrap_or(path).display().to_string()
}

/// Returns the path of a working tree below the runner's base folder; empty if they are the same.
pub fn prefix(env: &Env, root: Option<&Path>) -> String {
    let runner = env.text("GITHUB_WORKSPACE").or_else(|| env.text("CI_PROJECT_DIR"));
    let named = root.filter(|_| runner.is_some()).map(|root| as_runner_names(env, root));
    named.filter(|named| Path::new(named).is_relative()).unwrap_or_default()
}

/// Returns a file of the repository as the runner names it. `prefix` is the working tree's, see [`prefix`].
pub fn below(prefix: &str, file: &str) -> String {
    if prefix.is_empty() { file.to_owned() } else { format!("{prefix}/{file}") }
}

/// Returns a hash that identifies something across reports.
fn fingerprint(parts: &[&str]) -> String {
    hash::of_text(parts.join("\0"))
}
