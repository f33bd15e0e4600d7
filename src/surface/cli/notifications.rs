//! `git blue notifications …`.

use std::{ffi::OsString, process::Stdio};

use clap::{Args, Subcommand};

use super::{
    All, Names, Verdict,
    desktop_notification::{self, Desktop},
    output::{Delivery, Output},
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    env::Env,
    error::OpError,
    model::{
        notification::ChangeType,
        text::count,
        verdict::{ImportEffect, Verdict as Judged},
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        notifications::{self, watch::Delivered},
    },
    surface::{
        cli::listing::{render_cursor, signed},
        daemon::feed::Feed,
    },
    wire::{Answer, BindingsChanged, ImportStatus, JudgedBy, Notification, NotificationsAck, NotificationsList, State},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    List(Box<List>),
    Ack(Ack),
    Watch(Watch),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    request: notifications::list::Request,
    #[command(flatten)]
    all: All,
    #[command(flatten)]
    names: Names,
}

#[derive(Debug, Args)]
pub struct Ack {
    #[command(flatten)]
    request: notifications::ack::Request,
    /// Mark all pending notifications
    #[arg(long, conflicts_with = "ids")]
    all: bool,
}

#[derive(Debug, Args)]
pub struct Watch {
    /// Mark the shown notifications as seen
    #[arg(long)]
    mark: bool,
    #[command(flatten)]
    relevance: notifications::relevance::Relevance,
    /// Run this shell command for each change, with the change as JSON on its standard input
    ///
    /// With --json, its output goes to standard error.
    #[arg(long, value_name = "COMMAND")]
    exec: Option<OsString>,
    /// Also show each change as a desktop notification
    #[arg(long)]
    desktop: bool,
    /// Ring the terminal's bell for each change
    #[arg(long)]
    bell: bool,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::List(arguments) => arguments.run(ctx, output),
            Self::Watch(Watch { mark, relevance, exec, desktop, bell }) => {
                let request =
                    notifications::watch::Request { relevance, ..notifications::watch::Request::by_person(mark) };
                let desktop = if desktop { Some(Desktop::find(&ctx.env)?) } else { None };
                let mut listener = Listener { env: &ctx.env, output, exec, desktop, bell };
                let of_daemon = |acting: ActingRepo<'_>| {
                    let feed = Feed::open(&ctx.env, acting.realm, acting.repo)?;
                    Some(Box::new(feed) as Box<dyn notifications::watch::Feed>)
                };
                notifications::watch::run(ctx, &request, &mut listener, &of_daemon)?;
                Ok(Verdict::Yes)
            }
            Self::Ack(arguments) => {
                let answer = notifications::ack::run(ctx, &arguments.request)?;
                let render = |body: &NotificationsAck, text: &mut Text| {
                    let new = body.acknowledged.len() - body.already_seen;
                    let already = match body.already_seen {
                        0 => String::new(),
                        1 => "; 1 was seen before".to_owned(),
                        more => format!("; {more} were seen before"),
                    };
                    let what = count(new, "notification", "notifications");
                    text.line(&[plain(format!("marked {what} as seen{already}"))]);
                    for id in &body.unknown {
                        text.line(&[styled("no such notification:", Style::Yellow), plain(id)]);
                    }
                };
                output.judged(&answer, render, |body| body.unknown.is_empty())
            }
        }
    }
}

/// The output for changes, and the other actions for each change.
struct Listener<'a, 'b> {
    env: &'a Env,
    output: &'a mut Output<'b>,
    exec: Option<OsString>,
    desktop: Option<Desktop>,
    bell: bool,
}

impl notifications::watch::Listener for Listener<'_, '_> {
    fn deliver(&mut self, one: &Notification) -> Result<Delivered, OpError> {
        let delivery = self.output.item(&Answer::new(one.clone()), |answer, text| {
            let one = &answer.body;
            let time = text.time(one.created_at);
            let words = [styled(time, Style::Dim), phrase(one)].into_iter().chain(consequence(one)).chain(author(one));
            text.line(&words.collect::<Vec<_>>());
        })?;
        Ok(match delivery {
            Delivery::Done if self.announce(one) => Delivered::Done,
            Delivery::Done => Delivered::Failed,
            _ => Delivered::Gone,
        })
    }

    fn is_connected(&self) -> bool {
        !Output::is_closed()
    }

    fn warn(&mut self, line: &str) {
        self.output.note(line);
    }
}

impl List {
    fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        let Self { mut request, all, names } = self;
        all.widen(&mut request.page);
        names.widen(&mut request.page);
        let ids = |body: &NotificationsList| body.notifications.iter().map(|one| one.id.clone()).collect();
        let answer = notifications::list::run(ctx, &request)?;
        let unreadable = [&answer.body.unreadable_domains[..], &answer.body.unreadable].concat();
        output.partial(answer, &unreadable, |output, answer| names.answer(output, answer, ids, render_list))
    }
}

impl Listener<'_, '_> {
    /// Announces a change in the ways that the user asked for. A failure is reported and does not stop the others. Returns
    /// whether the command, if there is one, succeeded.
    fn announce(&mut self, one: &Notification) -> bool {
        if self.bell {
            self.output.ring();
        }
        // Only changes are printed between the lines of JSON.
        let output = if self.output.json { Stdio::from(std::io::stderr()) } else { Stdio::inherit() };
        let exec = self.exec.as_ref().map(|command| desktop_notification::run(self.env, command, one, output));
        let is_taken = exec.as_ref().is_none_or(Result::is_ok);
        let shown = self.desktop.as_ref().map(|desktop| desktop.show(self.env, &in_short(one)));
        for failure in [exec, shown].into_iter().flatten().filter_map(Result::err) {
            self.output.note(&failure);
        }
        is_taken
    }
}

/// Returns a change in one line that contains only names and versions.
fn in_short(one: &Notification) -> String {
    let meaning = match one.import_state {
        Some(ImportEffect::Broken) if one.was_broken => ": your import is still broken",
        Some(ImportEffect::Broken) => ": your import is broken",
        Some(ImportEffect::Satisfied) if one.was_broken => ": your import holds again",
        Some(ImportEffect::Unknown) => ": it is unknown whether your import holds",
        Some(ImportEffect::Behind) => ": your import is behind",
        Some(ImportEffect::Satisfied) | None => "",
    };
    format!("{}{meaning}", one.phrase())
}

fn render_list(body: &NotificationsList, text: &mut Text) {
    if body.notifications.is_empty() && body.unreadable_domains.is_empty() && body.unreadable.is_empty() {
        text.line(&[plain(match body.summary.expired_cleaned {
            0 => "no notifications".to_owned(),
            older => format!("no notifications in the last 30 days ({older} older: git blue realm log)"),
        })]);
    }
    let rows = body.notifications.iter().map(|one| {
        let state = match one.state {
            State::Pending => styled("pending", Style::Yellow),
            State::Seen => styled("seen", Style::Dim),
            State::Expired => styled("expired", Style::Dim),
        };
        let mut row = vec![styled(&one.id, Style::Commit), state, styled(text.time(one.created_at), Style::Dim)];
        row.push(phrase(one));
        row.extend(consequence(one));
        row.extend(author(one));
        row
    });
    text.table("", &rows.collect::<Vec<_>>());
    render_cursor(body.next_cursor.as_deref(), text);
    if body.summary.dropped > 0 {
        let what = format!("{} more were seen and are no longer kept: git blue realm log", body.summary.dropped);
        text.line(&[styled(what, Style::Dim)]);
    }
}

/// Prints changes as in `git blue status`.
pub fn render(
    notifications: &[Notification],
    bindings: Option<&BindingsChanged>,
    more: usize,
    imports: &[ImportStatus],
    text: &mut Text,
) {
    let number = notifications.len() + bindings.map_or(0, |bindings| bindings.changes) + more;
    if number == 0 {
        return;
    }
    text.heading(&format!("{} you have not seen", count(number, "change", "changes")));
    let range = |one: &Notification| {
        let mut imports = imports.iter();
        let import =
            imports.find(|import| import.domain == one.domain && Some(&import.contract) == one.contract.as_ref());
        import.map(|import| import.version_req.to_string())
    };
    let meaning = |one: &Notification| of_import(one, range(one).as_deref());
    let rows =
        notifications.iter().map(|one| [phrase(one)].into_iter().chain(meaning(one)).chain(author(one)).collect());
    text.table("  ", &rows.collect::<Vec<Vec<Word>>>());
    if let Some(BindingsChanged { changes, domains }) = bindings {
        let within = count(*domains, "domain", "domains");
        let what = count(*changes, "binding", "bindings");
        text.line(&[plain(format!("  {what} changed in {within}"))]);
    }
    if more > 0 {
        text.line(&[plain("  and"), plain(more), plain("more: git blue notifications list --state pending")]);
    }
}

fn phrase(one: &Notification) -> Word {
    plain(one.phrase())
}

/// Returns the author, highlighted if it is not the repository that may publish this.
fn author(one: &Notification) -> Option<Word> {
    let author = one.author.as_deref()?;
    Some(if one.changed_by_other {
        styled(format!("warning: changed by {author}, although this repository owns it"), Style::Red)
    } else if one.by_other_clone {
        styled(format!("by {author}, in another clone of {}", one.from_repo), Style::Dim)
    } else {
        signed(author, one.in_future)
    })
}

fn consequence(one: &Notification) -> Option<Word> {
    of_import(one, None)
}

/// Returns what the change means for an import with this range.
fn of_import(one: &Notification, range: Option<&str>) -> Option<Word> {
    let range = range.map(|range| format!(" {range}")).unwrap_or_default();
    let file = if one.binding.is_empty() { String::new() } else { format!(" ({})", one.binding) };
    let range = |tail: &str| format!("your import{range} {tail}");
    let now = |verb: &str| match one.change_type {
        _ if one.was_broken => format!("{verb} again"),
        ChangeType::ContractAdded => verb.to_owned(),
        _ => format!("still {verb}"),
    };
    let shown = one.verdict.as_ref().map(|verdict| format!(": {}", verdict.phrase())).unwrap_or_default();
    if let Some(orphans) = one.orphans_phrase() {
        return Some(styled(orphans, Style::Yellow));
    }
    Some(match one.import_state? {
        effect if effect.holds() && one.is_withdrawn() => styled(range("relies on it"), Style::Yellow),
        ImportEffect::Behind => {
            let served = one.served_version.as_ref().map(|served| format!(": {served} is still served"));
            let state = if one.was_broken { "is no longer broken, but behind" } else { "is behind" };
            styled(range(&format!("{state}{}", served.unwrap_or_default())), Style::Yellow)
        }
        ImportEffect::Satisfied if one.judged_by == Some(JudgedBy::VersionRange) => {
            styled(range(&format!("{} (judged by version range only)", now("accepts it"))), Style::Green)
        }
        ImportEffect::Satisfied if one.verdict.as_ref().is_some_and(|verdict| !verdict.unnamed.is_empty()) => {
            styled(range(&format!("{}{file}{shown}", now("holds"))), Style::Yellow)
        }
        ImportEffect::Satisfied => styled(range(&now("holds")), Style::Green),
        ImportEffect::Unknown => {
            let said = match one.verdict.as_ref().map(Judged::phrase) {
                Some(why) => format!("accepts it{file}, but {why}"),
                None => "cannot be judged: the contract cannot be read".to_owned(),
            };
            styled(range(&said), Style::Yellow)
        }
        ImportEffect::Broken => {
            let state = if one.was_broken { "is still broken" } else { "is broken" };
            styled(range(&format!("{state}{file}{shown}")), Style::Red)
        }
    })
}
