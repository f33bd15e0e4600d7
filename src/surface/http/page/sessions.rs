//! `/r/REALM/sessions`: who works on what.

use maud::{Markup, html};

use super::{
    frame::{Page, Part},
    links::{self, Query},
    pieces::{Tone, badge, count, empty, heads, pager, text, time},
};
use crate::{
    error::OpError,
    model::session::State,
    ops::{ctx::Ctx, session},
    wire::{PageRequest, SessionLine, SessionList},
};

/// How many sessions one page shows.
const ROWS: usize = 50;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn page(ctx: &Ctx, query: &Query) -> Result<Page, OpError> {
    let cursor = query.get("cursor").map(str::to_owned);
    let ended = query.get("ended").is_some();
    let request = session::list::Request { ended, page: PageRequest { limit: Some(ROWS), cursor } };
    let list = session::list::run(ctx, &request)?.body;
    Ok(Page {
        title: format!("Sessions of {}", list.realm),
        realm: Some(list.realm.clone()),
        part: Some(Part::Sessions),
        main: render(&list, query),
    })
}

fn render(body: &SessionList, query: &Query) -> Markup {
    let ended = query.get("ended").is_some();
    let at = |cursor: &str| {
        links::part(&body.realm, "sessions", &[("ended", if ended { "1" } else { "" }), ("cursor", cursor)])
    };
    let other = links::part(&body.realm, "sessions", &[("ended", if ended { "" } else { "1" })]);
    html! {
        h1 { "Sessions" }
        p.summary {
            (count(body.total, "session"))
            " · "
            a href=(other) { @if ended { "Only those that go on" } @else { "Show those of the last 30 days, too" } }
        }
        @for problem in &body.unreadable { p.problem { (badge(Tone::Bad, "cannot be read")) " " (text(problem)) } }
        @if body.sessions.is_empty() {
            (empty("Nobody is in a session.", Some("git blue session start")))
        } @else {
            (table(&body.sessions))
        }
        (pager((body.sessions.len(), body.total), (query.get("cursor"), body.next_cursor.as_deref()), at))
    }
}

/// Returns sessions as a table.
pub fn table(sessions: &[SessionLine]) -> Markup {
    html! {
        div.scroll role="group" aria-label="Sessions" tabindex="0" {
            table {
                caption.unseen { "Sessions" }
                (heads(&["Repository", "State", "Works on", "Started", "Last active", "Session"], &[]))
                tbody { @for session in sessions { (row(session)) } }
            }
        }
    }
}

fn row(session: &SessionLine) -> Markup {
    let (word, tone) = match session.state {
        State::Active => ("active", Tone::Good),
        State::Stale => ("stale", Tone::Warn),
        State::Ended => ("ended", Tone::Quiet),
    };
    html! {
        tr data-key=(session.id) {
            th scope="row" { (session.repo) }
            td { (badge(tone, word)) }
            td { @if let Some(rfc) = &session.active_rfc { (rfc) } @else { span.none { "nothing named" } } }
            td { (time(session.started_at)) }
            td { (time(session.ended_at.unwrap_or(session.last_activity))) }
            td { code { (session.id) } }
        }
    }
}
