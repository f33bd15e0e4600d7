//! `/r/REALM/sessions`: the sessions.

use maud::{Markup, html};

use super::{
    components::{self, Tone, badge, cell, count, empty, pager, text, time},
    frame::{Page, Part},
    links::{Query, Site},
};
use crate::{
    error::OpError,
    model::session::State,
    ops::{ctx::Ctx, session},
    wire::{SessionLine, SessionList},
};

/// The number of sessions on one page.
const ROWS: usize = 50;

/// Returns the page.
///
/// # Errors
/// Returns an error if the realm cannot be read.
pub fn page(site: &Site, ctx: &Ctx, query: &Query) -> Result<Page, OpError> {
    let request = session::list::Request { ended: query.get("ended").is_some(), page: query.page(ROWS) };
    let list = session::list::run(ctx, &request)?.body;
    let title = format!("Sessions of {}", list.realm);
    Ok(Page::new(site, Part::Sessions, title, render(site, &list, query)))
}

fn render(site: &Site, body: &SessionList, query: &Query) -> Markup {
    let ended = query.get("ended").is_some();
    let at = |cursor: &str| site.part("sessions", &[("ended", if ended { "1" } else { "" }), ("cursor", cursor)]);
    let other = site.part("sessions", &[("ended", if ended { "" } else { "1" })]);
    html! {
        h1 { "Sessions" }
        p.summary {
            (count(body.total, "session"))
            " · "
            a href=(other) { @if ended { "Show only active ones" } @else { "Include the last 30 days" } }
        }
        @for problem in &body.unreadable { p.problem { (badge(Tone::Bad, "cannot be read")) " " (text(problem)) } }
        @if body.sessions.is_empty() {
            (empty("There are no sessions.", Some("git blue session start")))
        } @else {
            (table(site, &body.sessions))
        }
        (pager((body.sessions.len(), body.total), (query.get("cursor"), body.next_cursor.as_deref()), at))
    }
}

/// Returns sessions as a table.
pub fn table(site: &Site, sessions: &[SessionLine]) -> Markup {
    let columns = ["Repository", "RFC", "Started", "Last active", "Session"];
    components::table("Sessions", &columns, &html! { @for session in sessions { (row(site, session)) } })
}

fn row(site: &Site, session: &SessionLine) -> Markup {
    html! {
        tr data-key=(session.id) {
            th scope="row" {
                (components::repo(site, &session.repo))
                @match session.state {
                    State::Active => {}
                    State::Stale => { " " (badge(Tone::Warn, "stale")) }
                    State::Ended => { " " (badge(Tone::Quiet, "ended")) }
                }
            }
            (cell("RFC", &html! {
                @if let Some(rfc) = &session.active_rfc { (rfc) } @else { span.none { "none" } }
            }))
            (cell("Started", &time(session.started_at)))
            (cell("Last active", &time(session.ended_at.unwrap_or(session.last_activity))))
            (cell("Session", &html! { code { (session.id) } }))
        }
    }
}
