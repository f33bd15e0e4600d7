//! `git blue realm …`, `git blue status`, `git blue check`.

use std::time::Duration;

use clap::{Args, Subcommand};

use super::{
    All, Names, Verdict, admin, conflict,
    output::{Delivery, Output},
    pr, review, status, sync,
    text::{Style, Text, Word, plain, styled},
    topology, worktree,
};
use crate::{
    error::{NextStep, OpError},
    model::{
        check::Finding,
        text::{comma_separated_at_most, count},
    },
    ops::{
        self,
        ctx::Ctx,
        inboxes::{inbox, pending},
        realm, repos,
    },
    repo::CodeRepo,
    surface::{
        cli::{formats::Formats, listing::render_log},
        report::{self, Format},
    },
    wire::{Elsewhere, PageRequest, RealmCheck, RealmList, RfcBranch, ScriptOutcome, ScriptRun},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Status(Status),
    Check(Check),
    Review,
    Sync(sync::Sync),
    List(List),
    Log(Log),
    Topology(topology::Topology),
    Compare(topology::Compare),
    /// Accept or reject changes that a sync set aside
    #[command(subcommand)]
    Conflict(conflict::Command),
    /// Manage the worktrees of an RFC, a change that spans repositories
    #[command(subcommand)]
    Worktree(worktree::Command),
    /// Manage the pull requests of an RFC, a change that spans repositories
    #[command(subcommand)]
    Pr(pr::Command),
    /// Set up realms, members, domains, contracts and bindings
    #[command(subcommand)]
    Admin(admin::Command),
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Status(arguments) => arguments.run(ctx, output),
            Self::Check(arguments) => arguments.run(ctx, output),
            Self::Review => review::run(ctx, output),
            Self::Sync(arguments) => arguments.run(ctx, output),
            Self::List(List { names }) => {
                let all = |body: &RealmList| body.realms.iter().map(|realm| realm.name.clone()).collect();
                names.answer(output, &realm::list::run(ctx)?, all, render_list)
            }
            Self::Log(arguments) => arguments.run(ctx, output),
            Self::Topology(arguments) => arguments.run(ctx, output),
            Self::Compare(arguments) => arguments.run(ctx, output),
            Self::Conflict(command) => command.run(ctx, output),
            Self::Worktree(command) => command.run(ctx, output),
            Self::Pr(command) => command.run(ctx, output),
            Self::Admin(command) => command.run(ctx, output),
        }
    }
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    names: Names,
}

#[derive(Debug, Args)]
pub struct Status {
    #[command(flatten)]
    request: realm::status::Request,
    #[command(flatten)]
    all: All,
    /// Publish nothing, and do not mark changes as seen
    #[arg(long)]
    peek: bool,
    /// Also show the realm's repositories, with their paths, and its domains
    #[arg(short, long)]
    verbose: bool,
}

impl Status {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let Self { mut request, all, peek, verbose } = self;
        let PageRequest { limit, cursor } = &request.page;
        let realm = all.is_wanted() || limit.is_some() || cursor.is_some() || verbose;
        let shown = status::Shown { realm, paths: verbose, now: ctx.env.now() };
        request.most = if output.json || shown.realm { pending::MAX_DELIVERED } else { status::MAX_CHANGES };
        let peek = peek || ctx.as_of.is_some();
        all.widen(&mut request.page);
        request.catch_up = !peek;
        let realm::status::Outcome { mut answer, receipt, .. } = realm::status::run(ctx, &request)?;
        if !output.json {
            // `git blue status` runs often, and users without sessions should not read this each time.
            answer.next_steps.retain(|step| !realm::status::next_steps::starts_a_session(step));
        }
        let unreadable = answer.body.not_judged().to_vec();
        output.partial(answer, &unreadable, |output, answer| {
            let delivery = output.answer(answer, |body, text| status::render(body, shown, text))?;
            // Mark the changes only after the output was written, so that changes that were not read are shown again.
            if let (false, Delivery::Done, Ok(acting)) = (peek, delivery, ctx.require_reader()) {
                let now = || ctx.env.now_here();
                if let Err(error) = inbox::record(acting.store, acting.repo, &pending::cli_reader(), &receipt, now) {
                    // The answer was printed; its reader will be shown the same changes again.
                    output.note(&format!("cannot record what was shown: {error}"));
                }
            }
            if !peek {
                ops::session::touch(ctx);
            }
            Ok(Verdict::Yes)
        })
    }
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    request: realm::check::Request,
    /// Report problems without failing
    #[arg(long)]
    advisory: bool,
    /// Fetch the realm from this URL for this check only, as in CI
    #[arg(long, value_name = "URL", conflicts_with = "realm_path")]
    pub(super) realm_url: Option<String>,
    /// Read the realm from this local store (or clone with its refs) for this check only
    #[arg(long, value_name = "DIR")]
    pub(super) realm_path: Option<std::path::PathBuf>,
    /// Run the validation scripts named in this repository's committed files. If CI is set (and not 0, false, no or
    /// off), a joined clone runs them even without this option.
    #[arg(long)]
    run_scripts: bool,
    /// The time limit for each validation script, at most 3600
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    script_timeout: u64,
    #[command(flatten)]
    pub(super) formats: Formats,
}

impl Check {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let mut formats = self.formats;
        formats.of_runner(&ctx.env);
        let is_listed = formats.any(output, &[Format::Json, Format::Junit]);
        let temporary = match (&self.realm_url, &self.realm_path) {
            (Some(url), _) => Some(repos::ephemeral_realm::at_url(ctx, url)?),
            (None, Some(path)) => Some(repos::ephemeral_realm::at_path(ctx, path)?),
            (None, None) => None,
        };
        let request = realm::check::Request {
            snapshot: temporary.as_ref().map(|temporary| temporary.source.clone()),
            realm_url: self.realm_url,
            scripts: Some(realm::check::Scripts {
                asked: self.run_scripts,
                timeout: Duration::from_secs(self.script_timeout),
            }),
            listed: is_listed,
            ..self.request
        };
        let mut answer = realm::check::run(temporary.as_ref().map_or(ctx, |temporary| &temporary.ctx), &request)?;
        let is_held = answer.body.unpublished.as_ref().is_some_and(|one| one.problem.is_some());
        if answer.body.valid && answer.body.behind.is_none() && !is_held && !output.json {
            // The last line of the text says the same as the next steps, except for uncommitted files.
            answer.next_steps.retain(|step| *step == NextStep::from(realm::check::UNCOMMITTED));
        }
        let report = || {
            let root = ctx.code.as_ref().and_then(CodeRepo::workdir);
            report::of_check(&answer.body, request.strict, &report::prefix(&ctx.env, root.as_deref()))
        };
        formats.deliver(ctx, output, &answer, report, render_check)?;
        Ok(if answer.body.valid || self.advisory { Verdict::Yes } else { Verdict::No })
    }
}

/// The maximum number of branches of an RFC that a check lists.
const MAX_BRANCHES: usize = 20;

/// Returns the name of a branch as git prints it: `rfc-7`, or `origin/rfc-7`.
fn short_ref(name: &str) -> &str {
    ["refs/heads/", "refs/remotes/"].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name)
}

fn render_check(body: &RealmCheck, text: &mut Text) {
    for finding in &body.errors {
        render_finding(finding, styled("error:", Style::Red), text);
    }
    for finding in &body.warnings {
        render_finding(finding, styled("warning:", Style::Yellow), text);
    }
    body.scripts.iter().for_each(|script| render_script(script, text));
    let Elsewhere { errors, warnings, .. } = &body.elsewhere;
    if *errors > 0 {
        let counts = format!("{}, {}", count(*errors, "error", "errors"), count(*warnings, "warning", "warnings"));
        text.line(&[styled("elsewhere:", Style::Dim), plain(counts), styled("(--all lists them)", Style::Dim)]);
    }
    if let Some(unpublished) = &body.unpublished {
        let line = format!("{} {}", unpublished.commit.short(), unpublished.phrase());
        let problem = unpublished.problem.as_ref().filter(|_| body.errors.is_empty());
        text.line(&match problem {
            Some(problem) => [styled("not published:", Style::Red), plain(format!("{line}: {problem}"))],
            None => [styled("not published yet:", Style::Dim), plain(line)],
        });
    }
    if let Some(behind) = &body.behind {
        text.line(&[styled("note:", Style::Yellow), plain(behind.phrase())]);
    }
    if let Some(why) = &body.read_only {
        text.line(&[styled("read-only:", Style::Yellow), plain(why)]);
    }
    if body.files == Some(0) {
        let message =
            "only the realm was checked: there are no committed files under .blue/contracts or .blue/bindings";
        text.line(&[styled("note:", Style::Yellow), plain(message)]);
    }
    if !body.branches.is_empty() {
        let branch = |one: &RfcBranch| format!("{} of {}", short_ref(&one.branch), one.repo);
        let branches = comma_separated_at_most(MAX_BRANCHES, body.branches.iter().map(branch));
        text.line(&[styled("branches:", Style::Dim), plain(branches)]);
    }
    let counts = format!(
        "{}, {}, {} checked",
        count(body.errors.len(), "error", "errors"),
        count(body.warnings.len(), "warning", "warnings"),
        count(body.contracts, "contract", "contracts")
    );
    let (counts, by_range) = (plain(counts), styled(by_range(body.imports_by_range), Style::Dim));
    if body.valid {
        text.success(&[styled("ok:", Style::Green), counts, by_range])
    } else {
        text.line(&[styled("failed:", Style::Red), counts, by_range])
    };
}

fn render_script(one: &ScriptRun, text: &mut Text) {
    let outcome = match one.outcome {
        ScriptOutcome::Passed => styled("passed", Style::Green),
        ScriptOutcome::Failed => styled("failed", Style::Red),
        ScriptOutcome::Undecided => styled("no verdict", Style::Yellow),
        ScriptOutcome::NotRun => styled(format!("not run: {}", one.output), Style::Dim),
    };
    let at = format!("of {}/{}:", one.domain, one.contract);
    text.line(&[styled("script", Style::Dim), plain(&one.script), plain(at), outcome]);
    let shown = matches!(one.outcome, ScriptOutcome::Failed | ScriptOutcome::Undecided);
    for line in one.output.lines().filter(|_| shown) {
        text.line(&[plain(" "), styled(line, Style::Dim)]);
    }
}

fn by_range(imports: usize) -> String {
    match imports {
        0 => String::new(),
        1 => "(1 import judged by version range only)".to_owned(),
        n => format!("({n} imports judged by version range only)"),
    }
}

/// Prints a finding in the format of compilers, so that editors and CI find the location.
fn render_finding(finding: &Finding, label: Word, text: &mut Text) {
    let mut words = Vec::new();
    words.extend(finding.location().map(|place| styled(format!("{place}:"), Style::Bold)));
    words.extend([label, plain(&finding.message), styled(format!("[{}]", finding.code), Style::Dim)]);
    text.line(&words);
    for note in &finding.notes {
        text.line(&[plain("   "), plain(note)]);
    }
    for place in finding.verdict.iter().flat_map(|verdict| verdict.places()) {
        text.line(&[styled("  -->", Style::Dim), plain(place)]);
    }
}

fn render_list(body: &RealmList, text: &mut Text) {
    if body.realms.is_empty() {
        text.line(&[plain("no realms on this machine")]);
    }
    let rows = body.realms.iter().map(|realm| {
        let (mark, shown) = if realm.is_current { ("*", Style::Green) } else { (" ", Style::Plain) };
        let state = match (&realm.problem, realm.repos, realm.domains) {
            (Some(problem), ..) => styled(problem, Style::Red),
            (None, repos, domains) => {
                let repos = count(repos.unwrap_or_default(), "repository", "repositories");
                plain(format!("{repos}, {}", count(domains.unwrap_or_default(), "domain", "domains")))
            }
        };
        vec![styled(format!("{mark} {}", realm.name), shown), styled(&realm.path, Style::Dim), state]
    });
    text.table("", &rows.collect::<Vec<_>>());
}

#[derive(Debug, Args)]
pub struct Log {
    #[command(flatten)]
    request: realm::log::Request,
    #[command(flatten)]
    all: All,
}

impl Log {
    fn run(mut self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        self.all.widen(&mut self.request.page);
        let answer = realm::log::run(ctx, &self.request)?;
        output.shown(&answer, |body, text| render_log(&body.entries, body.next_cursor.as_deref(), text))
    }
}
