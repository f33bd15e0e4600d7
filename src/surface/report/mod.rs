//! Reports of a check in the formats that runners and other tools read.

mod github;
mod gitlab;
mod junit;
mod markdown;
mod sarif;

use std::{borrow::Cow, path::Path};

use crate::{
    env::Env,
    model::{check::Finding, hash},
    surface::cli::text::clean,
    wire::RealmCheck,
};

pub use github::append_summary;

/// A format that a check is reported in.
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
    /// JUnit XML, one case for each contract
    Junit,
    /// A table, for comments and summaries
    Markdown,
}

/// What is reported.
#[derive(Debug, Clone, Copy)]
pub struct Report<'a> {
    /// The answer of the check.
    pub body: &'a RealmCheck,
    /// Whether warnings fail.
    pub strict: bool,
    /// Where the repository lies below the folder that the runner names files from; empty at its root.
    pub prefix: &'a str,
}

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Level {
    Error,
    Warning,
}

impl Level {
    fn word(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
        }
    }
}

impl<'a> Report<'a> {
    /// Returns the report in a format; none for [`Format::Human`] and [`Format::Json`], which the command line
    /// writes itself.
    pub fn render(self, format: Format) -> Option<String> {
        match format {
            Format::Human | Format::Json => None,
            Format::Github => Some(github::render(self)),
            Format::Gitlab => Some(gitlab::render(self)),
            Format::Sarif => Some(sarif::render(self)),
            Format::Junit => Some(junit::render(self)),
            Format::Markdown => Some(markdown::render(self)),
        }
    }

    /// Returns the findings, errors first.
    fn findings(self) -> impl Iterator<Item = (Level, &'a Finding)> {
        let errors = self.body.errors.iter().map(|finding| (Level::Error, finding));
        errors.chain(self.body.warnings.iter().map(|finding| (Level::Warning, finding)))
    }

    /// Returns the file that a finding is in, as the runner names it. A file of the realm's store is none that
    /// a runner has.
    fn file(self, finding: &Finding) -> Option<String> {
        let file = finding.file.as_deref().filter(|file| !file.starts_with("refs/"))?;
        Some(if self.prefix.is_empty() { file.to_owned() } else { format!("{}/{file}", self.prefix) })
    }

    fn counts(self) -> String {
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let RealmCheck { errors, warnings, contracts, .. } = self.body;
        let [errors, warnings] = [(errors, "error"), (warnings, "warning")].map(|(all, what)| count(all.len(), what));
        format!("{errors}, {warnings}, {} checked", count(*contracts, "contract"))
    }
}

/// Returns the format that a runner reads, where this is one and it reads any.
pub fn of_runner(env: &Env) -> Option<Format> {
    let is_true = |name: &&str| env.text(name) == Some("true");
    // Forgejo and Gitea set GITHUB_ACTIONS too.
    ["GITHUB_ACTIONS", "FORGEJO_ACTIONS", "GITEA_ACTIONS"].iter().any(is_true).then_some(Format::Github)
}

/// Returns where a work tree lies below the folder that a runner names files from.
pub fn prefix(env: &Env, root: Option<&Path>) -> String {
    let runner = env.text("GITHUB_WORKSPACE").or_else(|| env.text("CI_PROJECT_DIR"));
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let below = root.zip(runner).map(|(root, runner)| (real(root), real(Path::new(runner))));
    let below = below.and_then(|(root, runner)| root.strip_prefix(runner).map(|below| below.to_owned()).ok());
    below.unwrap_or_default().display().to_string()
}

/// Returns what a finding is about, `domain/contract` as far as it says.
fn subject(finding: &Finding) -> Option<String> {
    let domain = finding.domain.as_ref()?;
    Some(finding.contract.as_ref().map_or_else(|| domain.to_string(), |contract| format!("{domain}/{contract}")))
}

/// Returns a hash that names a finding in later reports too: versions, lines and words are left out of it.
fn fingerprint(finding: &Finding) -> String {
    let subject = subject(finding).unwrap_or_default();
    let repo = finding.repo.as_ref().map(ToString::to_string).unwrap_or_default();
    let pointer = finding.pointer.as_deref().unwrap_or_default();
    hash::of_text([&*finding.code, &subject, &repo, pointer].join("\0"))
}

/// Returns the message without characters that would do harm where it is shown.
fn message(finding: &Finding) -> Cow<'_, str> {
    clean(&finding.message)
}
