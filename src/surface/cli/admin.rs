//! `git blue init` and `git blue realm admin …`.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    Verdict,
    output::Output,
    sync,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    locate,
    model::{
        name::{RealmName, RepoName},
        text::{comma_separated, count},
    },
    ops::{admin, ctx::Ctx, init},
    surface::cli::input::value,
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Init(admin::init::Request),
    Join(admin::join::Request),
    Leave(admin::leave::Request),
    Reclaim(admin::reclaim::Request),
    Reseed(admin::reseed::Request),
    Domain(admin::domain::Request),
    Contract(Contract),
    Binding(admin::binding::Request),
    Rename(admin::rename::Request),
    RemoveDomain(admin::remove_domain::Request),
    RemoveMember(admin::remove_member::Request),
    RemoveRealm(admin::remove_realm::Request),
    Bootstrap(super::bootstrap::Bootstrap),
    /// Show or clear the realm's cache
    #[command(subcommand)]
    Cache(super::cache::Command),
}

#[derive(Debug, Args)]
pub struct Init {
    #[command(flatten)]
    request: init::Request,
    /// Sync the realm automatically, in the background
    #[arg(long, overrides_with = "no_auto_sync")]
    auto_sync: bool,
    /// Sync the realm only with git blue sync
    #[arg(long, overrides_with = "auto_sync")]
    no_auto_sync: bool,
}

#[derive(Debug, Args)]
pub struct Contract {
    #[command(flatten)]
    request: admin::contract::Request,
    /// A file with the JSON Schema, as JSON or YAML [default: {}]
    #[arg(long, value_name = "FILE")]
    schema: Option<PathBuf>,
    /// A file with the value, as JSON or YAML [default: null]
    #[arg(long, value_name = "FILE")]
    value: Option<PathBuf>,
}

impl Init {
    pub fn run(self, ctx: &Ctx, realm: Option<RealmName>, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let auto_sync = (self.auto_sync || self.no_auto_sync).then_some(self.auto_sync);
        let request = init::Request { realm, auto_sync, ..self.request };
        let mut answer = init::run(ctx, &request)?;
        let is_asked = request.url.is_some() && answer.body.auto_sync.is_none() && !answer.body.remotes.is_empty();
        if is_asked && output.is_terminal() && ctx.env.is_error_terminal() && !output.json && !output.quiet {
            let wanted = output.ask("Sync this realm automatically? [y/N]")?;
            ctx.home.record_auto_sync(&answer.body.realm, wanted)?;
            answer.body.auto_sync = Some(wanted);
        }
        let render = |body: &crate::wire::Init, text: &mut Text| {
            let verb = match (body.created_realm, body.fetched_realm) {
                (true, _) => "created",
                (_, true) => "fetched",
                _ => "found",
            };
            realm_at(verb, &body.realm, &body.path, text);
            joined(body.joined, &body.current_repo, body.replaced_url.as_deref(), text);
            wrote_config(body.wrote_config, &body.realm, text);
            for remote in body.remotes.iter().filter(|remote| !remote.sent.is_empty()) {
                text.line(&[plain("pushed the realm to"), plain(&remote.url)]);
            }
            not_pushed(body.push_problem.as_deref(), text);
            if !body.hooks.is_empty() {
                text.line(&[plain("installed hooks:"), plain(body.hooks.join(", "))]);
            }
            match (body.auto_sync, auto_sync) {
                (None, Some(_)) => {
                    text.line(&[plain("the realm is not shared yet: git blue init --url URL")]);
                }
                (choice, said) if request.url.is_some() || said.is_some() => {
                    text.line(&[plain(auto_synced(choice))]);
                }
                _ => {}
            }
        };
        output.judged(&answer, render, |body| body.push_problem.is_none())
    }
}

fn not_pushed(why: Option<&str>, text: &mut Text) {
    if let Some(why) = why {
        text.line(&[styled("warning:", Style::Yellow), plain(format!("the realm was not pushed: {why}"))]);
    }
}

/// Returns the text that says whether automatic sync was turned on.
fn auto_synced(choice: Option<bool>) -> &'static str {
    match choice {
        Some(true) => "automatic sync is on",
        Some(false) => "automatic sync is off: run git blue sync",
        None => "automatic sync is off: run git blue sync, or turn it on with git blue init --auto-sync",
    }
}

fn realm_at(verb: &str, realm: &RealmName, path: &str, text: &mut Text) {
    text.line(&[plain(verb), plain("realm"), styled(realm, Style::Bold), styled(format!("in {path}"), Style::Dim)]);
}

fn joined(now: bool, repo: &RepoName, replaced_url: Option<&str>, text: &mut Text) {
    let verb = if now { "joined as" } else { "already joined as" };
    text.line(&[plain(verb), styled(repo, Style::Bold)]);
    if let Some(url) = replaced_url {
        let replaced = format!("replaced the URL of {repo} in the realm, which was {url}");
        text.line(&[plain(replaced)]);
    }
}

fn wrote_config(now: bool, realm: &RealmName, text: &mut Text) {
    if now {
        text.line(&[plain("wrote"), plain(locate::CONFIG), styled(format!("for realm {realm}"), Style::Dim)]);
    }
}

/// Leaves the realm, and reverts the changes of `init` in the repository.
pub fn leave(ctx: &Ctx, request: admin::leave::Request, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    output.shown(&admin::leave::run(ctx, &admin::leave::Request { undo: true, ..request })?, left)
}

fn left(body: &crate::wire::RealmLeave, text: &mut Text) {
    text.line(&[plain(format!("{} left the realm {}", body.repo, body.realm))]);
    for undone in &body.undone {
        text.line(&[plain("removed"), plain(undone)]);
    }
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Init(request) => output.shown(&admin::init::run(ctx, &request)?, |body, text| {
                let verb = if body.created { "created" } else { "recorded" };
                realm_at(verb, &body.realm, &body.path, text);
            }),
            Self::Join(request) => {
                let render = |body: &crate::wire::RealmJoin, text: &mut Text| {
                    joined(body.joined, &body.current_repo, body.replaced_url.as_deref(), text);
                    wrote_config(body.wrote_config, &body.realm, text);
                    not_pushed(body.push_problem.as_deref(), text);
                };
                output.judged(&admin::join::run(ctx, &request)?, render, |body| body.push_problem.is_none())
            }
            Self::Leave(request) => output.shown(&admin::leave::run(ctx, &request)?, left),
            Self::Reclaim(request) => output.shown(&admin::reclaim::run(ctx, &request)?, |body, text| {
                let verb = if body.identity_changed || body.settled_conflict || !body.domains.is_empty() {
                    "reclaimed the name"
                } else {
                    "this repository already has the name"
                };
                text.line(&[plain(format!("{verb} {} in the realm {}", body.repo, body.realm))]);
                for domain in &body.domains {
                    text.line(&[plain(format!(
                        "{domain} no longer counts the other repository's last publication as yours"
                    ))]);
                }
            }),
            Self::Reseed(request) => {
                let answer = admin::reseed::run(ctx, &request)?;
                output.judged(&answer, sync::render_reseed, |body| body.problems.is_empty())
            }
            Self::Domain(request) => output.shown(&admin::domain::run(ctx, &request)?, |body, text| {
                let verb = match (body.created, &body.added[..]) {
                    (true, _) => "created domain".to_owned(),
                    (false, []) if body.changed => "described domain".to_owned(),
                    (false, []) => "found domain".to_owned(),
                    (false, added) => format!("added {} to domain", comma_separated(added)),
                };
                let members = match (body.created, body.members.is_empty()) {
                    (_, true) => "without members".to_owned(),
                    (true, false) => format!("with {}", comma_separated(&body.members)),
                    (false, false) => format!("({})", comma_separated(&body.members)),
                };
                text.line(&[plain(verb), styled(&body.domain, Style::Bold), styled(members, Style::Dim)]);
            }),
            Self::Contract(arguments) => arguments.run(ctx, output),
            Self::Binding(request) => set_binding(&request, ctx, output),
            Self::Rename(request) => output.shown(&admin::rename::run(ctx, &request)?, |body, text| {
                let verb = if body.changed { "renamed" } else { "already renamed" };
                text.line(&[plain(verb), plain(&body.old_name), plain("to"), styled(&body.name, Style::Bold)]);
                text.table("  ", &body.files.iter().map(|file| vec![plain(file)]).collect::<Vec<_>>());
            }),
            Self::RemoveDomain(request) => output.shown(&admin::remove_domain::run(ctx, &request)?, |body, text| {
                text.line(&[plain(format!("removed the domain {} from {}", body.domain, body.realm))]);
            }),
            Self::RemoveMember(request) => output.shown(&admin::remove_member::run(ctx, &request)?, |body, text| {
                text.line(&[plain(format!("removed {} from {}", body.repo, body.domain))]);
            }),
            Self::RemoveRealm(request) => output.shown(&admin::remove_realm::run(ctx, &request)?, |body, text| {
                text.line(&[plain(format!("deleted the realm {}", body.realm)), styled(&body.path, Style::Dim)]);
            }),
            Self::Bootstrap(arguments) => arguments.run(ctx, output),
            Self::Cache(command) => command.run(ctx, output),
        }
    }
}

impl Contract {
    fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let read = |file: Option<PathBuf>| file.map(|file| value(ctx, &file)).transpose();
        let request = admin::contract::Request { schema: read(self.schema)?, value: read(self.value)?, ..self.request };
        let answer = admin::contract::run(ctx, &request)?;
        output.shown(&answer, |body, text| {
            let name = format!("{}/{}", body.domain, body.contract.name);
            text.line(&[plain("created"), styled(name, Style::Bold), plain(&body.contract.version)]);
        })
    }
}

fn set_binding(request: &admin::binding::Request, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
    let answer = admin::binding::run(ctx, request)?;
    output.shown(&answer, |body, text| {
        let state = if body.changed { "the binding of" } else { "unchanged: the binding of" };
        let (exports, imports) = (count(body.exports, "export", "exports"), count(body.imports, "import", "imports"));
        text.line(&[
            plain(state),
            styled(&body.repo, Style::Bold),
            plain("in"),
            plain(&body.domain),
            plain(format!("has {exports} and {imports}")),
        ]);
        super::listing::render_cycles(&body.cycles, text);
    })
}
