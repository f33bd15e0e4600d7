//! `git blue realm topology` and `git blue realm compare`.

use clap::{Args, ValueEnum};

use super::{
    All, Verdict,
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::OpError,
    model::text::{comma_separated, count, shell_word},
    ops::{ctx::Ctx, realm},
    surface::{
        cli::listing::{render_cursor, render_unreadable},
        graph,
    },
    wire::{ContractComparison, ContractSide, ContractTopology, ImportHealth, RealmCompare, RealmTopology},
};

#[derive(Debug, Args)]
pub struct Topology {
    #[command(flatten)]
    request: realm::topology::Request,
    /// The output format
    #[arg(long, value_enum, default_value_t, conflicts_with = "json")]
    format: Format,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line for each import
    #[default]
    Text,
    /// A graph for Graphviz: pipe it to dot -Tsvg
    Dot,
    /// A graph for Mermaid, which forges draw in Markdown
    Mermaid,
    /// The whole answer, as with --json
    Json,
}

impl Topology {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        output.json |= self.format == Format::Json;
        let answer = realm::topology::run(ctx, &self.request)?;
        match self.format {
            Format::Dot => output.write(&graph::dot(&answer.body))?,
            Format::Mermaid => output.write(&graph::mermaid(&answer.body))?,
            _ => output.answer(&answer, render_topology)?,
        };
        Ok(Verdict::Yes)
    }
}

fn render_topology(body: &RealmTopology, text: &mut Text) {
    text.line(&[plain("realm"), styled(&body.realm, Style::Bold)]);
    for domain in &body.domains {
        text.heading(&format!("domain {}", domain.name));
        if domain.contracts.is_empty() {
            text.line(&[styled("  no contracts", Style::Dim)]);
        }
        text.table("  ", &domain.contracts.iter().flat_map(rows).collect::<Vec<_>>());
    }
    let takes_part = |repo| body.domains.iter().any(|domain| domain.members.contains(repo));
    let idle: Vec<_> = body.repos.iter().filter(|repo| !takes_part(*repo)).collect();
    if !idle.is_empty() && body.next_cursor.is_none() {
        text.heading("in none of these domains");
        text.line(&[plain(" "), styled(comma_separated(idle), Style::Dim)]);
    }
    if !body.cycles.is_empty() {
        text.heading("dependency cycles");
        for cycle in &body.cycles {
            text.line(&[plain(" "), styled(cycle, Style::Yellow)]);
        }
    }
    render_unreadable(&body.unreadable, usize::MAX, text);
    if let Some(cursor) = &body.next_cursor {
        text.line(&[styled(format!("more: --cursor {}", shell_word(cursor)), Style::Dim)]);
    }
}

/// Returns the rows of a contract. Only its first row names the contract and its providers.
fn rows(contract: &ContractTopology) -> Vec<Vec<Word>> {
    let providers = contract.providers();
    let provider = if providers.is_empty() { styled("nobody", Style::Red) } else { plain(comma_separated(providers)) };
    let version = match (&contract.version, &contract.owner) {
        (Some(version), _) if contract.retired => styled(format!("{version} retired"), Style::Yellow),
        (Some(version), _) if contract.yanked => styled(format!("{version} yanked"), Style::Yellow),
        (Some(version), _) => plain(version),
        (None, Some(_)) => styled("pre-release", Style::Yellow),
        (None, None) => styled("missing", Style::Red),
    };
    let head = [plain(&contract.name), version, provider];
    if contract.importers.is_empty() {
        return vec![head.into_iter().chain([styled("-> nobody", Style::Dim)]).collect()];
    }
    let imports = contract.importers.iter().enumerate().map(|(at, import)| {
        let head = if at == 0 { head.clone() } else { [plain(""), plain(""), plain("")] };
        let health = import.health();
        let state = match health {
            ImportHealth::Current => plain(""),
            ImportHealth::Behind | ImportHealth::Unknown => styled(health.word(), Style::Yellow),
            ImportHealth::Broken => styled(health.word(), Style::Red),
        };
        let arrow = plain(format!("-> {}", import.repo));
        head.into_iter().chain([arrow, styled(&import.version_req, Style::Dim), state]).collect()
    });
    imports.collect()
}

#[derive(Debug, Args)]
pub struct Compare {
    #[command(flatten)]
    request: realm::compare::Request,
    #[command(flatten)]
    all: All,
}

impl Compare {
    pub fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.all.widen(&mut self.request.page);
        output.shown(&realm::compare::run(ctx, &self.request)?, render_compare)
    }
}

fn render_compare(body: &RealmCompare, text: &mut Text) {
    let (here, there) = (body.realm.to_string(), body.other_realm.to_string());
    let (differ, equal) =
        (if body.total == 1 { "differs" } else { "differ" }, count(body.same, "is equal", "are equal"));
    let counts = format!("{} {differ}, {equal}", count(body.total, "contract", "contracts"));
    let there_is = styled(format!("{there}:"), Style::Bold);
    text.line(&[styled(&here, Style::Bold), plain("and"), there_is, styled(counts, Style::Dim)]);
    let row = |one: &ContractComparison| {
        let what = match &*one.difference {
            "only-here" => styled(format!("only in {here}"), Style::Yellow),
            "only-there" => styled(format!("only in {there}"), Style::Yellow),
            "content" => styled("same version, different content", Style::Red),
            "owner" => styled("different owner", Style::Yellow),
            "state" => styled("retired or yanked in only one", Style::Yellow),
            _ => styled("different version", Style::Yellow),
        };
        vec![plain(format!("{}/{}", one.domain, one.contract)), side(&one.here), side(&one.there), what]
    };
    text.table("  ", &body.differences.iter().map(row).collect::<Vec<_>>());
    for (repos, realm) in [(&body.repos_only_here, &here), (&body.repos_only_there, &there)] {
        if !repos.is_empty() {
            text.line(&[plain(format!("repos only in {realm}:")), plain(comma_separated(repos))]);
        }
    }
    for line in &body.unreadable {
        text.line(&[styled("unreadable:", Style::Red), plain(line)]);
    }
    render_cursor(body.next_cursor.as_deref(), text);
}

fn side(side: &Option<ContractSide>) -> Word {
    match side {
        Some(side) => {
            let state = match (side.retired, side.yanked) {
                (true, _) => ", retired",
                (false, true) => ", yanked",
                (false, false) => "",
            };
            plain(format!("{} of {}{state}", side.version, side.owner))
        }
        None => plain("-"),
    }
}
