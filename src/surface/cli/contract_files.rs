//! `git blue contract new`, `expect` and `bump`, `git blue import`, `export`, `unimport` and `unexport`, which write
//! the repository's own files.

use std::path::{Path, PathBuf};

use clap::Args;

use super::{
    Verdict,
    input::read_at_most,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    model::{
        contract::Flow,
        name::{ContractRef, RepoName},
        text::{comma_separated, count},
        version::Version,
    },
    ops::{
        binding::edit::own_path,
        contract::{
            self,
            documents::{MAX_BYTES, STANDARD_INPUT, Source},
        },
        ctx::Ctx,
        publish::{references::Reference, work_file::WorkFile},
    },
    wire::{Answer, BindingEdit, ContractBump, ContractExpect, ContractNew, FileEdit},
};

#[derive(Debug, Args)]
pub struct New {
    /// The contract
    #[arg(value_name = "DOMAIN/CONTRACT")]
    contract: ContractRef,
    /// Refer to the JSON Schema in this file of the repository, or in a part of it: FILE#/POINTER
    #[arg(long, value_name = "FILE", conflicts_with = "from_samples")]
    schema: Option<String>,
    /// Copy the schema from that file instead of referring to it
    #[arg(long, requires = "schema")]
    inline: bool,
    /// Infer the schema from examples: JSON, JSON Lines or YAML files, or - for standard input
    #[arg(long, value_name = "FILE", num_args = 1..)]
    from_samples: Vec<PathBuf>,
    /// Copy the agreed value from this file
    #[arg(long, value_name = "FILE")]
    value: Option<PathBuf>,
    /// The first version [default: 1.0.0]
    #[arg(long, value_name = "VERSION")]
    version: Option<Version>,
    /// The owner, which must be this repository
    #[arg(long, value_name = "REPO")]
    owner: Option<RepoName>,
    /// The purpose of the contract, in a sentence
    #[arg(long, value_name = "TEXT", allow_hyphen_values = true)]
    description: Option<String>,
    /// The direction of the data
    #[arg(long, value_enum, default_value_t)]
    flow: Flow,
    /// Create the domain if needed, and add this repository and the given ones
    #[arg(long, value_name = "REPO,…", value_delimiter = ',')]
    domain_members: Option<Vec<RepoName>>,
}

#[derive(Debug, Args)]
pub struct Expect {
    /// The contract
    #[arg(value_name = "DOMAIN/CONTRACT")]
    contract: ContractRef,
    /// Examples of what the code reads or sends: JSON, JSON Lines or YAML files, or - for standard input
    #[arg(long, value_name = "FILE", num_args = 1.., required = true)]
    from_samples: Vec<PathBuf>,
    /// Replace the file if it exists
    #[arg(long)]
    replace: bool,
}

impl New {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let schema = match (&self.schema, &self.from_samples[..]) {
            (Some(place), _) => {
                let (file, pointer) = Reference::split(ctx.env.cwd(), Path::new(place));
                let source = source(ctx, file)?;
                if self.inline {
                    contract::new::Schema::Copy(source, pointer.to_owned())
                } else {
                    contract::new::Schema::File(source, pointer.to_owned())
                }
            }
            (None, []) => contract::new::Schema::Open,
            (None, files) => contract::new::Schema::Samples(sources(ctx, files)?),
        };
        let request = contract::new::Request {
            contract: self.contract,
            schema,
            value: self.value.map(|file| source(ctx, &file)).transpose()?,
            version: self.version,
            owner: self.owner,
            description: self.description,
            flow: self.flow,
            members: self.domain_members,
        };
        output.shown(&contract::new::run(ctx, &request)?, render_new)
    }
}

/// Reads a file that the user named; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn source(ctx: &Ctx, file: &Path) -> Result<Source, OpError> {
    let name = if file == Path::new("-") { STANDARD_INPUT.to_owned() } else { file.display().to_string() };
    let bytes = read_at_most(ctx, file, MAX_BYTES).map_err(|error| not_checked_out(ctx, file).unwrap_or(error))?;
    Ok(Source { name, bytes })
}

/// Returns the error for a file that a sparse checkout leaves out of the working tree, with the command that adds it.
fn not_checked_out(ctx: &Ctx, file: &Path) -> Option<OpError> {
    WorkFile::of(ctx.code().ok()?, own_path(ctx, file).ok()?).ok()?.read().err()
}

/// Reads several files that the user named; only one of them can be standard input.
///
/// # Errors
/// Returns an error if a file cannot be read, or standard input is named twice.
pub fn sources(ctx: &Ctx, files: &[PathBuf]) -> Result<Vec<Source>, OpError> {
    if files.iter().filter(|file| *file == Path::new("-")).count() > 1 {
        return Err(OpError::usage("only one of the files can be standard input"));
    }
    files.iter().map(|file| source(ctx, file)).collect()
}

impl Expect {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let samples = sources(ctx, &self.from_samples)?;
        let request = contract::expect::Request { contract: self.contract, samples, replace: self.replace };
        output.shown(&contract::expect::run(ctx, &request)?, render_expect)
    }
}

/// Prints the changes to a binding.
pub fn edited(answer: Answer<BindingEdit>, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    output.shown(&answer, render_binding)
}

fn render_new(body: &ContractNew, text: &mut Text) {
    if body.created_domain || !body.added.is_empty() {
        let verb = if body.created_domain { "created domain" } else { "extended domain" };
        let added = format!("with {}", comma_separated(&body.added));
        text.line(&[plain(verb), styled(&body.domain, Style::Bold), styled(added, Style::Dim)]);
    }
    let samples = match body.samples {
        0 => String::new(),
        1 => "(schema inferred from 1 sample)".to_owned(),
        n => format!("(schema inferred from {n} samples)"),
    };
    text.line(&[plain("wrote"), styled(&body.file, Style::Bold), plain(&body.version), styled(samples, Style::Dim)]);
}

fn render_expect(body: &ContractExpect, text: &mut Text) {
    let samples = format!("inferred from {}", count(body.samples, "sample", "samples"));
    text.line(&[plain(word(body.change)), styled(&body.file, Style::Bold), styled(samples, Style::Dim)]);
    text.line(&[plain(word(body.binding_change)), styled(&body.binding, Style::Bold)]);
}

/// Prints the new version and its reason.
pub fn render_bump(body: &ContractBump, text: &mut Text) {
    let at = format!("{}/{}", body.domain, body.contract);
    let step = match (body.changed, body.old_version == body.new_version) {
        (true, false) => format!("{} -> {}", body.old_version, body.new_version),
        (true, true) => format!("{} (evolution changed)", body.new_version),
        (false, _) => format!("stays at {}", body.new_version),
    };
    text.line(&[
        styled(at, Style::Bold),
        plain(step),
        styled(format!("(published: {})", body.published_version), Style::Dim),
    ]);
    text.line(&[plain("  because"), plain(&body.reason)]);
}

fn render_binding(body: &BindingEdit, text: &mut Text) {
    text.line(&[plain(word(body.change)), styled(&body.file, Style::Bold)]);
    if let Some(range) = &body.version_req {
        text.line(&[plain(format!("  imports {}/{}", body.domain, body.contract)), plain(range)]);
    }
    if let Some(files) = &body.exported_files {
        let files = if files.is_empty() { String::new() } else { format!("implemented in {}", files.join(", ")) };
        text.line(&[plain(format!("  exports {}/{}", body.domain, body.contract)), styled(files, Style::Dim)]);
    }
}

fn word(change: FileEdit) -> &'static str {
    match change {
        FileEdit::Created => "wrote",
        FileEdit::Changed => "changed",
        FileEdit::Unchanged => "unchanged:",
        FileEdit::Removed => "removed",
    }
}
