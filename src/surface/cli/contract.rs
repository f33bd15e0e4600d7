//! `git blue contract …`.

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde_json::json;

use super::{
    All, Names, Verdict, approve, blame, contract_files, difference, editor,
    output::Output,
    text::{Style, Text, Word, plain, styled},
    timeline, validate,
};
use crate::{
    error::OpError,
    model::{
        contract::{Flow, Values},
        json::Json,
        name::{ContractRef, RepoName},
        text::{comma_separated, count, short_commit},
        version::Version,
    },
    ops::{contract, ctx::Ctx, publish},
    store::codec::{self},
    surface::{
        cli::{
            input::{read_file, reason},
            listing::{render_cursor, render_cycles, render_log, unreadable_bindings},
        },
        publication_summary,
    },
    wire::{
        Answer, Broken, ChangeKind, ContractAdapted, ContractGet, ContractList, ContractMarked, ContractPublish,
        ContractState, Relationship, VersionOrigin,
    },
};

#[derive(Debug, Subcommand)]
pub enum Command {
    List(List),
    Get(Get),
    Log(Log),
    Timeline(timeline::Timeline),
    Blame(blame::Blame),
    Diff(difference::Diff),
    Impact(difference::Impact),
    Validate(validate::Validate),
    Publish(Publish),
    New(contract_files::New),
    Bump(contract::bump::Request),
    Edit(Edit),
    Retire(contract::retire::Request),
    Yank(contract::yank::Request),
    Transfer(Transfer),
    Adapted(contract::adapted::Request),
    Expect(super::contract_files::Expect),
    Approve(contract::approve::Request),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    request: contract::list::Request,
    #[command(flatten)]
    all: All,
    #[command(flatten)]
    names: Names,
}

#[derive(Debug, Args)]
pub struct Get {
    #[command(flatten)]
    request: contract::get::Request,
    /// Print only the document, in this format
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<DocumentFormat>,
    /// Print only the JSON Schema, for other tools
    #[arg(long)]
    schema: bool,
    /// With --format, refer to the schema in this file instead of printing it
    #[arg(long, value_name = "FILE", requires = "format", conflicts_with = "schema")]
    schema_file: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum DocumentFormat {
    /// YAML, as people write it
    Yaml,
    /// JSON, as the realm stores it
    Json,
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    request: contract::log::Request,
    #[command(flatten)]
    all: All,
}

#[derive(Debug, Args)]
pub struct Publish {
    #[command(flatten)]
    request: contract::publish::Request,
    /// Allow downgrades to previously published versions
    #[arg(long, requires = "reason")]
    rollback: bool,
    /// The reason to record in the history
    #[arg(long, value_name = "REASON", requires = "rollback", allow_hyphen_values = true, value_parser = reason)]
    reason: Option<String>,
    /// Sync the realm afterwards, and fail if the push fails
    #[arg(long, conflicts_with = "realm_url")]
    sync: bool,
    /// Publish to the realm at this URL and push it there, as in CI; store nothing here
    #[arg(long, value_name = "URL", conflicts_with = "realm")]
    pub(super) realm_url: Option<String>,
    /// The repository's name in that realm; overrides .blue/config.yaml
    #[arg(long, value_name = "NAME", requires = "realm_url")]
    repo: Option<RepoName>,
}

#[derive(Debug, Args)]
pub struct Edit {
    /// The contract
    #[arg(value_name = "DOMAIN/CONTRACT")]
    contract: ContractRef,
    /// Read the new document from this file (- for standard input) instead of using an editor
    #[arg(long, value_name = "FILE")]
    file: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("change").args(["to", "cancel"]).required(true))]
pub struct Transfer {
    /// The contract
    #[arg(value_name = "DOMAIN/CONTRACT")]
    contract: ContractRef,
    /// The new owner, which accepts by publishing the contract
    #[arg(long, value_name = "REPO")]
    to: Option<RepoName>,
    /// Withdraw an offer that has not been accepted
    #[arg(long)]
    cancel: bool,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::List(List { mut request, all, names }) => {
                all.widen(&mut request.page);
                names.widen(&mut request.page);
                let all = |body: &ContractList| {
                    body.contracts.iter().map(|line| format!("{}/{}", line.domain, line.name)).collect()
                };
                let answer = contract::list::run(ctx, &request)?;
                let unreadable = answer.body.unreadable_domains.clone();
                output.partial(answer, &unreadable, |output, answer| names.answer(output, answer, all, render_list))
            }
            Self::Get(arguments) => arguments.run(ctx, output),
            Self::Log(Log { mut request, all }) => {
                all.widen(&mut request.page);
                let answer = contract::log::run(ctx, &request)?;
                output.shown(&answer, |body, text| render_log(&body.entries, body.next_cursor.as_deref(), text))
            }
            Self::Timeline(arguments) => arguments.run(ctx, output),
            Self::Blame(arguments) => arguments.run(ctx, output),
            Self::Diff(arguments) => arguments.run(ctx, output),
            Self::Impact(arguments) => arguments.run(ctx, output),
            Self::Validate(arguments) => arguments.run(ctx, output),
            Self::Publish(arguments) => {
                let rollback = arguments.reason.filter(|_| arguments.rollback);
                let request = contract::publish::Request { rollback, ..arguments.request };
                let answer = match &arguments.realm_url {
                    Some(url) => publish::to_url::run(ctx, url, arguments.repo, &request)?,
                    None if arguments.sync => publish::publish_and_sync::run(ctx, &request)?,
                    None => contract::publish::run(ctx, &request)?,
                };
                output.shown(&answer, render_published)
            }
            Self::New(arguments) => arguments.run(ctx, output),
            Self::Bump(request) => output.shown(&contract::bump::run(ctx, &request)?, contract_files::render_bump),
            Self::Edit(arguments) => arguments.run(ctx, output),
            Self::Retire(request) => {
                output.shown(&contract::retire::run(ctx, &request)?, |body, text| render_marked("retired", body, text))
            }
            Self::Yank(request) => {
                output.shown(&contract::yank::run(ctx, &request)?, |body, text| render_marked("yanked", body, text))
            }
            Self::Transfer(Transfer { contract, to, cancel: _ }) => output.shown(
                &contract::transfer::run(ctx, &contract::transfer::Request { contract, to })?,
                |body, text| {
                    let at = format!("{}/{}", body.domain, body.contract);
                    text.line(&[match &body.offered_to {
                        Some(to) => {
                            plain(format!("offered {at} to {to}; {} stays the owner until {to} accepts", body.owner))
                        }
                        None => plain(format!("{} stays the owner of {at}", body.owner)),
                    }]);
                },
            ),
            Self::Approve(request) => approve::show(ctx, &request, output),
            Self::Expect(arguments) => arguments.run(ctx, output),
            Self::Adapted(request) => output.shown(&contract::adapted::run(ctx, &request)?, render_adapted),
        }
    }
}

impl Edit {
    fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let contract = self.contract;
        let answer = match self.file {
            Some(file) => {
                let document = read_file(ctx, &file)?;
                let file = if file == Path::new("-") {
                    contract::documents::STANDARD_INPUT.into()
                } else {
                    file.display().to_string()
                };
                contract::edit::run(ctx, &contract::edit::Request { contract, document, file })?
            }
            // The editor would draw on the standard output that belongs to the answer.
            None if output.json && !output.is_terminal() => {
                return Err(OpError::usage("--json without a terminal needs --file"));
            }
            None => {
                let edited = editor::edit(ctx, &contract::edit::template(ctx, &contract)?)?;
                let document = edited.text.clone();
                let file = contract.to_string();
                contract::edit::run(ctx, &contract::edit::Request { contract: contract.clone(), document, file })
                    .map_err(|error| match edited.keep() {
                        Some(path) => error.next(format!(
                            "your changes were saved: git blue contract edit {contract} --file {}",
                            path.display()
                        )),
                        None => error,
                    })?
            }
        };
        output.shown(&answer, render_published)
    }
}

fn render_list(body: &ContractList, text: &mut Text) {
    if body.contracts.is_empty() && body.unreadable_domains.is_empty() {
        text.line(&[plain("no contracts")]);
    }
    let rows = body.contracts.iter().map(|contract| {
        let mine = contract.owner.is_some() && contract.owner == body.current_repo;
        let owner = contract.owner.as_ref().map_or_else(|| "-".into(), ToString::to_string);
        let state = match contract.state {
            ContractState::Active => plain(""),
            state @ ContractState::Damaged => styled(state.word(), Style::Red),
            state => styled(state.word(), Style::Yellow),
        };
        let importers = match (contract.importers, contract.unreadable_bindings) {
            (0, 0) => "unused".to_owned(),
            (0, _) => "importers unknown".to_owned(),
            (n, 0) => count(n, "importer", "importers"),
            (n, _) => format!("{n} or more importers"),
        };
        vec![
            styled(
                format!("{}{}/{}", if mine { "* " } else { "  " }, contract.domain, contract.name),
                if mine { Style::Green } else { Style::Plain },
            ),
            plain(contract.version.as_ref().map_or_else(|| "-".into(), ToString::to_string)),
            plain(owner),
            styled(importers, Style::Dim),
            state,
        ]
    });
    text.table("", &rows.collect::<Vec<_>>());
    render_cursor(body.next_cursor.as_deref(), text);
}

impl Get {
    fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let answer = contract::get::run(ctx, &self.request)?;
        if self.format.is_none() && !self.schema {
            return output.shown(&answer, render_get);
        }
        let format = self.format.unwrap_or(DocumentFormat::Json);
        let part = (self.schema, self.schema_file.as_deref());
        let text = document(&answer, format, part, output.is_terminal());
        output.write(&text)?;
        if !self.schema && text.len() > codec::MAX_FILE {
            output.note(&too_large(&self.request.contract));
        }
        Ok(Verdict::Yes)
    }
}

fn render_get(body: &ContractGet, text: &mut Text) {
    let contract = &body.contract;
    text.line(&[
        styled(format!("{}/{}", body.domain, contract.name), Style::Bold),
        plain(&contract.version),
        styled(format!("of {}", contract.owner), Style::Dim),
    ]);
    if !contract.description.is_empty() {
        text.block("  ", &contract.description);
    }
    text.table("  ", &facts(body));
    if !body.bindings.is_empty() {
        text.heading("bindings");
        let rows = body.bindings.iter().map(|binding| match (binding.relationship, &binding.version_req) {
            (Relationship::Exports, _) => vec![plain(&binding.repo), plain("exports it")],
            (Relationship::Imports, Some(range)) => vec![plain(&binding.repo), plain(format!("imports {range}"))],
            (Relationship::Imports, None) => vec![plain(&binding.repo), plain("imports it")],
        });
        text.table("  ", &rows.collect::<Vec<_>>());
    }
    unreadable_bindings(&body.unreadable_bindings, text);
    if !contract.evolution.is_empty() {
        text.heading("evolution");
        let rows = contract.evolution.iter().map(|entry| {
            let mark = entry.mark().map_or_else(|| plain(""), |mark| styled(mark, Style::Red));
            vec![plain(&entry.version), plain(entry.changes.join("; ")), mark]
        });
        text.table("  ", &rows.collect::<Vec<_>>());
    }
    text.heading("schema");
    text.block("  ", &codec::render(&contract.schema));
    text.heading("value");
    text.block("  ", &codec::render(&contract.value));
}

fn facts(body: &ContractGet) -> Vec<Vec<Word>> {
    let contract = &body.contract;
    let mut facts = Vec::new();
    if let Some(origin) = &body.origin {
        facts.push(vec![plain("published"), styled(published(origin), Style::Dim)]);
    }
    facts.extend([
        vec![plain("promises"), plain(contract.compatibility.promise())],
        vec![plain("versions"), plain(comma_separated(&body.versions))],
    ]);
    if let Some(current) = body.current_version.as_ref().filter(|current| **current != contract.version) {
        facts.push(vec![plain("current version"), plain(current)]);
    }
    match contract.values {
        Values::Additive => {}
        Values::Free => facts.push(vec![plain("values"), plain("free: the value may change in any way")]),
        Values::Frozen => facts.push(vec![plain("values"), plain("frozen: the value does not change")]),
    }
    if contract.flow == Flow::ConsumerToProvider {
        facts.push(vec![plain("flow"), plain("consumer-to-provider: consumers send it")]);
    }
    if !contract.supported.is_empty() && contract.retired.is_none() {
        facts.push(vec![plain("still served"), plain(comma_separated(&contract.supported))]);
    }
    if let Some(script) = &contract.validation.importer {
        facts.push(vec![plain("test for consumers"), plain(script)]);
    }
    if let Some(deprecated) = &contract.deprecated {
        let sunset = deprecated.sunset.map(|date| format!(", served until {date}")).unwrap_or_default();
        let instead = deprecated.replaced_by.as_ref().map(|other| format!("; use {other}")).unwrap_or_default();
        let text = format!("since {}{sunset}{instead}", deprecated.since);
        facts.push(vec![plain("deprecated"), styled(text, Style::Yellow)]);
    }
    if let Some(retired) = &contract.retired {
        facts.push(vec![plain("retired"), styled(&retired.reason, Style::Yellow)]);
    }
    for yanked in &contract.yanked {
        facts.push(vec![plain("yanked"), styled(format!("{}: {}", yanked.version, yanked.reason), Style::Yellow)]);
    }
    if let Some(to) = &body.offered_to {
        facts.push(vec![plain("offered to"), styled(to, Style::Yellow)]);
    }
    facts
}

fn published(origin: &VersionOrigin) -> String {
    let source = origin.source_commit.as_deref().map(|commit| format!(" from {}", short_commit(commit)));
    let link = origin.commit_url.as_deref().map(|url| format!(" from {url}"));
    let ahead = if origin.in_future { " (in the future)" } else { "" };
    let date = origin.time.strftime("%Y-%m-%d");
    format!("{date}{ahead} by {}{}", origin.author, link.or(source).unwrap_or_default())
}

/// Prints only the document. Control characters are escaped only at a terminal; a program gets every character.
fn document(
    answer: &Answer<ContractGet>,
    format: DocumentFormat,
    (is_schema, schema_file): (bool, Option<&str>),
    to_terminal: bool,
) -> String {
    let mut contract = answer.body.contract.clone();
    if let Some(file) = schema_file {
        contract.schema = Json::from(json!({ "file": file }));
    }
    let json = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let text = match (format, is_schema) {
        (DocumentFormat::Yaml, false) => codec::render(&codec::Typed::from(&contract.typed())),
        (DocumentFormat::Json, false) => json(codec::encode(&contract)),
        (DocumentFormat::Yaml, true) => codec::render(&contract.schema),
        (DocumentFormat::Json, true) => json(codec::encode(&contract.schema)),
    };
    if !to_terminal {
        return text;
    }
    let mut safe = Text::new(false);
    safe.block("", &text);
    safe.into_string()
}

/// Says how to write the file of a contract that is too large for one file.
fn too_large(at: &ContractRef) -> String {
    let limit = codec::MAX_FILE >> 20;
    format!(
        "this is larger than {limit} MiB, the limit for a file under .blue/; write the schema with git blue contract get \
            {at} --schema >FILE, and the rest with --format yaml --schema-file FILE"
    )
}

fn render_published(body: &ContractPublish, text: &mut Text) {
    if body.published.is_empty() {
        text.line(&[plain("nothing to publish")]);
    }
    let rows = body.published.iter().map(|one| {
        let verb = match (one.change, body.dry_run) {
            (ChangeKind::Unbound, true) => "would remove",
            (ChangeKind::Unbound, false) => "removed",
            (_, true) => "would publish",
            (_, false) => "published",
        };
        let mut row = vec![plain(verb), plain(publication_summary::phrase(one))];
        row.extend(one.contract.is_some().then(|| plain(one.change.word())));
        row
    });
    text.table("", &rows.collect::<Vec<_>>());
    if let Some(breaks) = publication_summary::breaks(&body.published) {
        text.line(&[styled(breaks, Style::Red)]);
    }
    for one in body.published.iter().flat_map(|published| &published.breaks) {
        if let Some(verdict) = &one.verdict {
            text.line(&[styled(format!("  {}:", one.repo), Style::Red), plain(verdict.phrase())]);
        }
    }
    for remark in body.published.iter().flat_map(|published| &published.remarks) {
        text.line(&[
            styled("warning:", Style::Yellow),
            plain(&remark.message),
            styled(format!("[{}]", remark.code), Style::Dim),
        ]);
    }
    for file in &body.removed_files {
        text.line(&[
            styled("removed:", Style::Yellow),
            plain(file),
            plain("(the contract stays in the realm until it is retired)"),
        ]);
    }
    render_cycles(&body.cycles, text);
    if body.not_pushed {
        text.line(&[styled(publication_summary::UNSHARED, Style::Dim)]);
    }
}

fn render_marked(verb: &str, body: &ContractMarked, text: &mut Text) {
    let version = body.version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    let (already, why) = if body.changed { ("", String::new()) } else { ("already ", format!(": {}", body.reason)) };
    text.line(&[plain(format!("{already}{verb} {}/{}{version}{why}", body.domain, body.contract))]);
    if !body.importers.is_empty() {
        text.line(&[styled("imported by:", Style::Yellow), plain(comma_separated(&body.importers))]);
    }
    for Broken { repo, version_req, binding, verdict } in &body.breaks {
        let used = if binding.is_empty() { String::new() } else { format!(", used in {binding}") };
        let served = verdict.as_ref().filter(|verdict| version_req.matches(&verdict.new_version));
        let why = served.map_or("no served version is left for it".to_owned(), |verdict| {
            format!("it gets {}, which breaks it: {}", verdict.new_version, verdict.phrase())
        });
        let import = format!("{repo}, which imports {version_req}{used}: {why}");
        text.line(&[styled("breaks:", Style::Red), plain(import)]);
    }
}

fn render_adapted(body: &ContractAdapted, text: &mut Text) {
    let version = |version: &Option<Version>| version.as_ref().map_or_else(|| "-".into(), ToString::to_string);
    let before = if body.changed { version(&body.old_version) } else { "already".into() };
    text.line(&[
        plain(format!("{} is adapted to {}/{}", body.current_repo, body.domain, body.contract)),
        plain(version(&body.adapted_version)),
        styled(format!("({})", if body.changed { format!("previously {before}") } else { before }), Style::Dim),
    ]);
}
