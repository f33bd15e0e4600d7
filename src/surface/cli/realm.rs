//! `git blue realm …`, `git blue status`, `git blue check`.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use clap::{Args, Subcommand, ValueEnum};

use super::{
    All, Names, Verdict, admin, conflict, notifications,
    output::{Delivery, Output},
    pr, review, session, sync,
    text::{Look, Text, Word, look, plain},
    topology, worktree,
};
use crate::{
    error::OpError,
    model::{check::Finding, verdict::Outcome},
    ops::{
        self,
        ctx::Ctx,
        notify::{inbox, pending},
        realm, repos,
    },
    repo::CodeRepo,
    surface::{
        cli::{
            json,
            listing::{render_cursor, render_log},
        },
        report::{self, Format, Report},
        told,
    },
    wire::{
        Elsewhere, JudgedBy, Published, RealmCheck, RealmList, RealmStatus, RemovedFile, Role, ScriptOutcome,
        ScriptRun, Unpublished,
    },
};

#[derive(Debug, Subcommand)]
pub enum Command {
    #[command(about = ops::realm::status::OPERATION.summary)]
    Status(Status),
    #[command(about = ops::realm::check::OPERATION.summary)]
    Check(Check),
    #[command(about = ops::realm::review::OPERATION.summary)]
    Review,
    #[command(about = ops::realm::sync::OPERATION.summary)]
    Sync(sync::Sync),
    #[command(about = ops::realm::list::OPERATION.summary)]
    List(List),
    #[command(about = ops::realm::log::OPERATION.summary)]
    Log(Log),
    #[command(about = ops::realm::topology::OPERATION.summary)]
    Topology(topology::Topology),
    #[command(about = ops::realm::compare::OPERATION.summary)]
    Compare(topology::Compare),
    /// Accept or reject changes that a sync set aside
    #[command(subcommand)]
    Conflict(conflict::Command),
    /// Manage the worktrees of an RFC
    #[command(subcommand)]
    Worktree(worktree::Command),
    /// Manage the pull requests of an RFC
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
                names.answer(output, &realm::list::run(ctx)?, all, render_list)?;
                Ok(Verdict::Yes)
            }
            Self::Log(arguments) => arguments.run(ctx, output),
            Self::Topology(arguments) => arguments.run(ctx, output).map(|()| Verdict::Yes),
            Self::Compare(arguments) => arguments.run(ctx, output).map(|()| Verdict::Yes),
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
    /// Mark nothing as seen: changes stay pending
    #[arg(long)]
    peek: bool,
}

impl Status {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let Self { mut request, all, peek } = self;
        let peek = peek || ctx.as_of.is_some();
        all.widen(&mut request.page);
        request.reader = request.reader.filter(|_| ctx.as_of.is_none());
        request.catch_up = !peek;
        let (mut answer, receipt) = realm::status::run(ctx, &request)?;
        if !output.json {
            // A person who wants no sessions would read it every day.
            answer.next_steps.retain(|step| step != realm::status::START_A_SESSION);
        }
        let failure = realm::status::failure(&answer.body);
        if let Some(error) = &failure {
            if output.json {
                return Err(error.clone());
            }
            // Said once, with the failure.
            answer.next_steps.retain(|step| !error.next_steps.contains(step));
        }
        let delivery = output.answer(&answer, render_status)?;
        // Marked only now: what was not read is told again.
        if let (false, Delivery::Done, Ok(acting)) = (peek, delivery, ctx.recording()) {
            let now = || ctx.env.now_here();
            if let Err(error) = inbox::record(acting.store, acting.repo, &pending::person(), &receipt, now) {
                // The answer stands; its reader is told the same again.
                output.say(&format!("what was told is not recorded: {error}"));
            }
        }
        if !peek {
            ops::session::touch(ctx);
        }
        failure.map_or(Ok(Verdict::Yes), Err)
    }
}

fn render_status(body: &RealmStatus, text: &mut Text) {
    text.line(&[plain("realm"), look(&body.realm, Look::Bold)]);
    if let Some(why) = &body.read_only {
        text.line(&[look("read-only:", Look::Yellow), plain(why)]);
    }
    text.heading("repos");
    let repos: Vec<_> = body
        .repos
        .iter()
        .map(|repo| {
            let (mark, shown) = if repo.is_current { ("*", Look::Green) } else { (" ", Look::Plain) };
            let path = repo.path.clone().unwrap_or_else(|| "not on this machine".into());
            vec![look(format!("{mark} {}", repo.name), shown), look(path, Look::Dim)]
        })
        .collect();
    text.table("", &repos);
    for domain in &body.domains {
        let members: Vec<_> = domain.members.iter().map(ToString::to_string).collect();
        text.heading(&format!("domain {}", domain.name));
        let members = if members.is_empty() { "no members".to_owned() } else { members.join(", ") };
        text.line(&[plain(" "), look(members, Look::Dim)]);
        let contracts = domain.contracts.iter().map(|contract| {
            vec![plain(&contract.name), plain(&contract.version), look(format!("of {}", contract.owner), Look::Dim)]
        });
        text.table("  ", &contracts.collect::<Vec<_>>());
        if domain.more_contracts > 0 {
            let rest = format!("and {} more: git blue contract list --domain {}", domain.more_contracts, domain.name);
            text.line(&[plain(" "), look(rest, Look::Dim)]);
        }
        let bindings = domain.bindings.iter().map(|binding| {
            let role = match binding.role {
                Role::Provider => "provider",
                Role::Consumer => "consumer",
                Role::Both => "provider and consumer",
            };
            let counts = [(binding.exports, "exports"), (binding.imports, "imports")];
            let counts: Vec<_> =
                counts.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {n}")).collect();
            let counts = if counts.is_empty() { "nothing yet".to_owned() } else { counts.join(", ") };
            vec![plain(&binding.repo), plain(role), look(counts, Look::Dim)]
        });
        text.table("  ", &bindings.collect::<Vec<_>>());
    }
    if body.next_cursor.is_some() {
        text.gap().line(&[look(format!("{} of {} domains", body.domains.len(), body.total), Look::Dim)]);
        render_cursor(body.next_cursor.as_deref(), text);
    }
    if !body.imports.is_empty() {
        text.heading("your imports");
        text.table("  ", &body.imports.iter().map(import).collect::<Vec<_>>());
    }
    session::render(&body.sessions, body.more_sessions, text);
    sync::render_conflicts(&body.conflicts, text);
    sync::render_status(&body.remotes, text);
    if !body.unreadable.is_empty() {
        text.heading("unreadable");
        for line in &body.unreadable {
            text.line(&[plain(" "), look(line, Look::Red)]);
        }
    }
    if !body.removed_files.is_empty() {
        text.heading("removed files");
        for RemovedFile { domain, contract, file } in &body.removed_files {
            let stays = format!("is gone; {domain}/{contract} stays in the realm until it is retired");
            text.line(&[plain(" "), look(file, Look::Yellow), plain(stays)]);
        }
    }
    render_published(&body.published, text);
    if let Some(unpublished) = &body.unpublished {
        render_unpublished(unpublished, text);
    }
    notifications::render(&body.notifications, body.more_notifications, &body.imports, text);
}

/// What a command published by the way.
fn render_published(published: &[Published], text: &mut Text) {
    if !published.is_empty() {
        let phrases: Vec<_> = published.iter().map(told::phrase).collect();
        text.gap();
        text.line(&[look("published now:", Look::Green), plain(phrases.join(", "))]);
    }
}

fn render_unpublished(unpublished: &Unpublished, text: &mut Text) {
    text.heading("unpublished");
    let (commit, branch) = (unpublished.commit.short(), &unpublished.branch);
    let domains = unpublished.domains.join(", ");
    text.line(&[
        plain(" "),
        look(&commit, Look::Commit),
        plain(format!("({branch}) has unpublished changes in {domains}")),
    ]);
    let why = match (&unpublished.problem, &*unpublished.policy) {
        (Some(problem), _) if unpublished.failed_at.is_none() => look(format!("not published: {problem}"), Look::Red),
        (Some(problem), _) => look(format!("publish of {commit} failed: {problem}"), Look::Red),
        (None, "pushed") => look("published once it is pushed (blue.publish is pushed)", Look::Dim),
        (None, "ci") => look("published by CI (blue.publish is ci)", Look::Dim),
        (None, "off") => look("published by hand (blue.publish is off)", Look::Dim),
        (None, _) => look("published by the next hook, or git blue status without --peek", Look::Dim),
    };
    text.line(&[plain(" "), why]);
}

fn import(import: &crate::wire::ImportStatus) -> Vec<Word> {
    let now = import.current_version.as_ref().map_or_else(|| "missing".into(), ToString::to_string);
    let outcome = import.verdict.as_ref().map(|verdict| (verdict.verdict, verdict.phrase()));
    let verdict = match (&*import.state, &import.resolved_version) {
        ("broken", Some(version)) => {
            let shown = outcome.map(|(_, phrase)| format!(": {phrase}")).unwrap_or_default();
            look(format!("broken: {version} is in the range, and breaks it{shown}"), Look::Red)
        }
        ("current", _) => match (&import.retired, outcome) {
            (Some(reason), _) => look(format!("accepts {now}, retired: {reason}"), Look::Yellow),
            (None, Some((Outcome::Unknown, phrase))) => look(format!("accepts {now}; {phrase}"), Look::Yellow),
            (None, _) if import.judged_by == JudgedBy::VersionRange => {
                look(format!("accepts {now}, by version range only"), Look::Green)
            }
            (None, _) => look(format!("accepts {now}"), Look::Green),
        },
        ("stale", Some(served)) => look(format!("behind: it is {now}, {served} is still served"), Look::Yellow),
        _ if import.current_version.is_none() => look("broken: there is no such contract", Look::Red),
        _ => look(format!("broken: it is {now}"), Look::Red),
    };
    let adapted = import.adapted_version.as_ref().filter(|adapted| Some(*adapted) != import.current_version.as_ref());
    let adapted = adapted.map(|version| format!("(adapted to {version})")).unwrap_or_default();
    let name = plain(format!("{}/{}", import.domain, import.contract));
    vec![name, plain(&import.version_req), verdict, look(adapted, Look::Dim)]
}

#[derive(Debug, Args)]
pub struct Check {
    #[command(flatten)]
    request: realm::check::Request,
    /// Report, but do not fail
    #[arg(long)]
    advisory: bool,
    /// Fetch the realm from this URL for this check only, as in CI
    #[arg(long, value_name = "URL", conflicts_with = "realm_path")]
    realm_url: Option<String>,
    /// Read the realm from this repository for this check only: a store, or a clone with its refs
    #[arg(long, value_name = "DIR")]
    realm_path: Option<std::path::PathBuf>,
    /// Run the scripts that this repository's own committed files name as tests of contracts
    ///
    /// In CI they run without it, where this clone is joined.
    #[arg(long)]
    run_hooks: bool,
    /// How long each of these scripts may run
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=3600))]
    hook_timeout: u64,
    /// How to print the answer [default: github in a workflow run, else human]
    #[arg(long, value_enum, conflicts_with = "json")]
    format: Option<Format>,
    /// Also write a report to a file, as in sarif=blue.sarif; can be given several times
    #[arg(long, value_name = "FORMAT=FILE", value_parser = report_file)]
    output: Vec<(Format, PathBuf)>,
}

/// Parses a report and its file, as in `sarif=blue.sarif`.
fn report_file(text: &str) -> Result<(Format, PathBuf), String> {
    let (format, file) = text.split_once('=').ok_or("expected FORMAT=FILE, as in sarif=blue.sarif")?;
    let format = <Format as ValueEnum>::from_str(format, false)?;
    match format {
        Format::Human => Err("human is for reading, not for a file: redirect the output".into()),
        _ if file.is_empty() => Err("the file is missing behind `=`".into()),
        format => Ok((format, file.into())),
    }
}

impl Check {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let format = self.format.or_else(|| report::of_runner(&ctx.env)).unwrap_or(Format::Human);
        let format = if output.json { Format::Json } else { format };
        output.json |= format == Format::Json;
        let lists = |format: Format| matches!(format, Format::Json | Format::Junit);
        let borrowed = match (&self.realm_url, &self.realm_path) {
            (Some(url), _) => Some(repos::ephemeral_realm::at_url(ctx, url)?),
            (None, Some(path)) => Some(repos::ephemeral_realm::at_path(ctx, path)?),
            (None, None) => None,
        };
        let request = realm::check::Request {
            borrowed: borrowed.is_some(),
            scripts: Some(realm::check::Scripts {
                asked: self.run_hooks,
                timeout: Duration::from_secs(self.hook_timeout),
            }),
            listed: lists(format) || self.output.iter().any(|(format, _)| lists(*format)),
            ..self.request
        };
        let mut answer = realm::check::run(borrowed.as_ref().map_or(ctx, |borrowed| &borrowed.ctx), &request)?;
        if answer.body.valid && !output.json {
            // The last line of the text says so already.
            answer.next_steps.clear();
        }
        let root = ctx.code.as_ref().and_then(CodeRepo::workdir);
        let prefix = report::prefix(&ctx.env, root.as_deref());
        let report = Report { body: &answer.body, strict: request.strict, prefix: &prefix };
        for (format, file) in &self.output {
            let text = report.render(*format).unwrap_or_else(|| json(&answer));
            std::fs::write(ctx.env.cwd().join(file), text).map_err(OpError::io("write", file))?;
        }
        match report.render(format) {
            Some(text) => output.write_plainly(&text)?,
            None => output.answer(&answer, render_check)?,
        };
        if format == Format::Github
            && let Some(summary) = ctx.env.text("GITHUB_STEP_SUMMARY").filter(|file| !file.is_empty())
        {
            report::append_summary(Path::new(summary), report)?;
        }
        Ok(if answer.body.valid || self.advisory { Verdict::Yes } else { Verdict::No })
    }
}

fn render_check(body: &RealmCheck, text: &mut Text) {
    for finding in &body.errors {
        render_finding(finding, look("error:", Look::Red), text);
    }
    for finding in &body.warnings {
        render_finding(finding, look("warning:", Look::Yellow), text);
    }
    let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
    body.scripts.iter().for_each(|script| render_script(script, text));
    let Elsewhere { errors, warnings, .. } = &body.elsewhere;
    if *errors > 0 {
        let counts = format!("{}, {}", count(*errors, "error"), count(*warnings, "warning"));
        text.line(&[
            look("elsewhere:", Look::Dim),
            plain(counts),
            look("(git blue check --all lists them)", Look::Dim),
        ]);
    }
    if let Some(unpublished) = &body.unpublished {
        let (commit, branch) = (unpublished.commit.short(), &unpublished.branch);
        let news = format!("{commit} ({branch}) has unpublished changes in {}", unpublished.domains.join(", "));
        text.line(&[look("not published yet:", Look::Dim), plain(news)]);
    }
    if let Some(why) = &body.read_only {
        text.line(&[look("read-only:", Look::Yellow), plain(why)]);
    }
    if body.files == Some(0) {
        let message = "this repository has no file below .blue/contracts or .blue/bindings to check";
        text.line(&[look("note:", Look::Yellow), plain(message)]);
    }
    let counts = format!(
        "{}, {}, {} checked",
        count(body.errors.len(), "error"),
        count(body.warnings.len(), "warning"),
        count(body.contracts, "contract")
    );
    text.line(&[
        if body.valid { look("ok:", Look::Green) } else { look("failed:", Look::Red) },
        plain(counts),
        look(by_range(body.imports_by_range), Look::Dim),
    ]);
}

fn render_script(one: &ScriptRun, text: &mut Text) {
    let outcome = match one.outcome {
        ScriptOutcome::Passed => look("passed", Look::Green),
        ScriptOutcome::Failed => look("failed", Look::Red),
        ScriptOutcome::Undecided => look("cannot tell", Look::Yellow),
        ScriptOutcome::NotRun => look(format!("not run: {}", one.output), Look::Dim),
    };
    let at = format!("of {}/{}:", one.domain, one.contract);
    text.line(&[look("script", Look::Dim), plain(&one.script), plain(at), outcome]);
    let shown = matches!(one.outcome, ScriptOutcome::Failed | ScriptOutcome::Undecided);
    for line in one.output.lines().filter(|_| shown) {
        text.line(&[plain(" "), look(line, Look::Dim)]);
    }
}

fn by_range(imports: usize) -> String {
    match imports {
        0 => String::new(),
        1 => "(1 import by version range only)".to_owned(),
        n => format!("({n} imports by version range only)"),
    }
}

/// As compilers print it, so that editors and CI find the place.
fn render_finding(finding: &Finding, label: Word, text: &mut Text) {
    let mut words = Vec::new();
    if let Some(file) = &finding.file {
        let numbers = [finding.line, finding.column].into_iter().flatten();
        words.push(look(numbers.fold(file.clone(), |place, n| format!("{place}:{n}")) + ":", Look::Bold));
    }
    words.extend([label, plain(&finding.message), look(format!("[{}]", finding.code), Look::Dim)]);
    text.line(&words);
    for place in finding.verdict.iter().flat_map(|verdict| verdict.places()) {
        text.line(&[look("  -->", Look::Dim), plain(place)]);
    }
}

fn render_list(body: &RealmList, text: &mut Text) {
    if body.realms.is_empty() {
        text.line(&[plain("no realms on this machine")]);
    }
    let rows = body.realms.iter().map(|realm| {
        let (mark, shown) = if realm.is_current { ("*", Look::Green) } else { (" ", Look::Plain) };
        let state = match (&realm.problem, realm.repos, realm.domains) {
            (Some(problem), ..) => look(problem, Look::Red),
            (None, repos, domains) => {
                plain(format!("repos {}, domains {}", repos.unwrap_or_default(), domains.unwrap_or_default()))
            }
        };
        vec![look(format!("{mark} {}", realm.name), shown), look(&realm.path, Look::Dim), state]
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
        output.answer(&answer, |body, text| render_log(&body.entries, body.next_cursor.as_deref(), text))?;
        Ok(Verdict::Yes)
    }
}
