//! `git blue session …`.

use clap::{Args, Subcommand};

use super::{
    All, Verdict,
    output::Output,
    text::{Style, Text, Word, plain, styled},
};
use crate::{
    error::OpError,
    model::{
        session::{State, Work},
        text::comma_separated,
    },
    ops::{ctx::Ctx, session},
    surface::cli::listing::{render_cursor, render_unreadable},
    wire::{SessionInfo, SessionLine, SessionList, SessionStart, SessionStatus, SessionStop},
};

#[derive(Debug, Subcommand)]
pub enum Command {
    Start(session::start::Request),
    Status,
    List(List),
    Stop(session::stop::Request),
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    request: session::list::Request,
    #[command(flatten)]
    all: All,
}

impl Command {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        match self {
            Self::Start(request) => output.shown(&session::start::run(ctx, &request)?, render_start),
            Self::Status => {
                let shown = output.shown(&session::status::run(ctx)?, render_status)?;
                session::touch(ctx);
                Ok(shown)
            }
            Self::List(List { mut request, all }) => {
                all.widen(&mut request.page);
                let shown = output.shown(&session::list::run(ctx, &request)?, render_list)?;
                session::touch(ctx);
                Ok(shown)
            }
            Self::Stop(request) => output.shown(&session::stop::run(ctx, &request)?, render_stop),
        }
    }
}

fn render_start(body: &SessionStart, text: &mut Text) {
    text.line(&[plain(&body.message)]);
    render_info(&body.session, text);
}

fn render_status(body: &SessionStatus, text: &mut Text) {
    match &body.session {
        Some(session) => render_info(session, text),
        None => drop(text.line(&[plain("no session in this working tree")])),
    }
    render_unreadable(&body.unreadable, usize::MAX, text);
}

fn render_info(session: &SessionInfo, text: &mut Text) {
    let mut rows = vec![
        vec![plain("session"), styled(&session.id, Style::Commit), state(session.state)],
        vec![plain("since"), plain(text.time(session.started_at))],
    ];
    if session.state == State::Stale {
        rows.push(vec![plain("until"), plain(text.time(session.last_activity))]);
    }
    rows.extend(session.active_rfc.as_ref().map(|rfc| vec![plain("rfc"), plain(rfc)]));
    rows.extend(work(&session.work));
    text.table("", &rows);
}

fn render_stop(body: &SessionStop, text: &mut Text) {
    text.line(&[plain(&body.message)]);
    let mut rows = vec![vec![plain("session"), styled(&body.summary.id, Style::Commit)]];
    rows.extend(body.summary.active_rfc.as_ref().map(|rfc| vec![plain("rfc"), plain(rfc)]));
    rows.extend(work(&body.summary.work));
    text.table("", &rows);
    render_unreadable(&body.summary.unreadable, usize::MAX, text);
}

fn work(work: &Work) -> Vec<Vec<Word>> {
    let rows = [
        ("domains", comma_separated(&work.active_domains)),
        ("modified", comma_separated(&work.contracts_modified)),
        ("imports", comma_separated(&work.contracts_watched)),
        ("changed", comma_separated(&work.contracts_changed)),
    ];
    let said = rows.into_iter().filter(|(_, names)| !names.is_empty());
    said.map(|(what, names)| vec![plain(what), plain(names)]).collect()
}

fn render_list(body: &SessionList, text: &mut Text) {
    if body.sessions.is_empty() && body.unreadable.is_empty() {
        text.line(&[plain("no sessions")]);
    }
    render_lines(&body.sessions, text);
    render_unreadable(&body.unreadable, usize::MAX, text);
    render_cursor(body.next_cursor.as_deref(), text);
}

/// Prints the sessions of the realm as in `git blue status`.
pub fn render(sessions: &[SessionLine], more: usize, text: &mut Text) {
    if sessions.is_empty() {
        return;
    }
    text.heading("sessions");
    render_lines(sessions, text);
    if more > 0 {
        text.line(&[plain("  and"), plain(more), plain("more: git blue session list")]);
    }
}

fn render_lines(sessions: &[SessionLine], text: &mut Text) {
    let rows = sessions.iter().map(|session| {
        let (mark, shown) = if session.is_current { ("*", Style::Green) } else { (" ", Style::Plain) };
        let since = text.time(session.started_at);
        let when = match (session.state, session.ended_at) {
            (State::Active, _) => format!("since {since}"),
            (_, ended_at) => format!("{since} to {}", text.time(ended_at.unwrap_or(session.last_activity))),
        };
        let mut row = vec![
            styled(format!("{mark} {}", session.repo), shown),
            styled(&session.id, Style::Commit),
            state(session.state),
            styled(when, Style::Dim),
        ];
        row.extend(session.active_rfc.as_ref().map(plain));
        row
    });
    text.table("", &rows.collect::<Vec<_>>());
}

fn state(state: State) -> Word {
    match state {
        State::Active => styled("active", Style::Green),
        State::Stale => styled("stale", Style::Yellow),
        State::Ended => styled("ended", Style::Dim),
    }
}
