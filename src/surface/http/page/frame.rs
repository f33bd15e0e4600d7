//! The frame of every page: its location, the navigation, and whether it is up to date.

use maud::{DOCTYPE, Markup, html};

use super::{
    super::status,
    components::{text, time},
    links::{PastTime, Site},
};
use crate::error::OpError;

/// The parts of a realm that have a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The overview of the realm, its repositories and its domains.
    Overview,
    Contracts,
    Notifications,
    Sessions,
}

const PARTS: [(Part, &str, &str); 4] = [
    (Part::Overview, "Overview", ""),
    (Part::Contracts, "Contracts", "contracts"),
    (Part::Notifications, "Notifications", "notifications"),
    (Part::Sessions, "Sessions", "sessions"),
];

/// A page without its frame.
#[derive(Debug)]
pub struct Page {
    /// The title in the browser.
    pub title: String,
    /// The realm that the page belongs to; `None` for the list of realms.
    pub site: Option<Site>,
    /// The part of the realm.
    pub part: Option<Part>,
    /// The content.
    pub main: Markup,
}

impl Page {
    /// Creates a page of a realm.
    pub fn new(site: &Site, part: Part, title: impl Into<String>, main: Markup) -> Self {
        Self { title: title.into(), site: Some(site.clone()), part: Some(part), main }
    }

    fn past(&self) -> Option<&PastTime> {
        self.site.as_ref()?.past.as_ref()
    }
}

/// Returns the full document of the page at a path.
pub fn whole(page: &Page, path: &str) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page.title, &html! {
                link rel="icon" href="/assets/blue.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/blue.css";
                script src="/assets/blue.js" defer {}
            }))
            body data-realm=[page.site.as_ref().map(|site| &site.realm)] {
                a.skip href="#main" { "Skip to content" }
                (top(page, path))
                main #main tabindex="-1" { (page.main) }
                p.unseen #news role="status" aria-live="polite" {}
                footer.bottom {
                    p { "Read directly from the realm on this machine. This page is read-only." }
                    @if page.site.is_some() { (date_form(page.past(), path)) }
                }
            }
        }
    }
}

fn top(page: &Page, path: &str) -> Markup {
    html! {
        header.top {
            div.bar {
                p.brand {
                    a href="/" { span.mark aria-hidden="true" {} "git blue" }
                    @if let Some(site) = &page.site {
                        span.slash aria-hidden="true" { "/" }
                        a.realm href=(site.overview()) { (site.realm) }
                    }
                }
                // An earlier state does not change.
                @if page.past().is_none() {
                    p.live #live data-state="still" role="status" {
                        span.dot aria-hidden="true" {}
                        span.word { "Not updating live; reload to see changes" }
                    }
                }
            }
            @if let Some(site) = &page.site { (tabs(site, page.part)) }
            @if let Some(past) = page.past() { (banner(past, path)) }
        }
    }
}

/// Returns the tabs. Notifications and sessions exist only for the current state.
fn tabs(site: &Site, here: Option<Part>) -> Markup {
    let is_known = |part: Part| site.past.is_none() || matches!(part, Part::Overview | Part::Contracts);
    html! {
        nav.tabs aria-label="Realm" {
            ul {
                @for (part, word, path) in PARTS.into_iter().filter(|(part, ..)| is_known(*part)) {
                    li { a href=(site.part(path, &[])) aria-current=[(here == Some(part)).then_some("page")] { (word) } }
                }
            }
        }
    }
}

fn banner(past: &PastTime, path: &str) -> Markup {
    html! {
        div.past {
            p {
                strong { "History:" } " the realm as of " (time(past.moment)) ". "
                a href=(path) { "Show the current state" }
            }
        }
    }
}

/// Returns the form that shows the page at an earlier time.
fn date_form(past: Option<&PastTime>, path: &str) -> Markup {
    let day = past.map(|past| &past.said).filter(|said| said.parse::<jiff::civil::Date>().is_ok());
    html! {
        form.travel method="get" action=(path) {
            label for="at" { "Show the realm on" }
            input #at type="date" name="at" value=[day] required;
            button type="submit" { "Show" }
        }
    }
}

/// Returns the page for an error.
pub fn failure(error: &OpError) -> Page {
    let is_missing = status::of(error) == hyper::StatusCode::NOT_FOUND;
    let title = if is_missing { "Page not found" } else { "This page cannot be shown" };
    let main = html! {
        h1 { (title) }
        (reasons(error))
        p { a href="/" { "All realms" } }
    };
    Page { title: title.into(), site: None, part: None, main }
}

/// Returns the document for a browser that was not admitted.
pub fn refusal(error: &OpError) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head("Not signed in", &html! {}))
            body { main { h1 { "This browser is not signed in" } (reasons(error)) } }
        }
    }
}

fn head(title: &str, assets: &Markup) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { (title) " · git blue" }
            (assets)
        }
    }
}

fn reasons(error: &OpError) -> Markup {
    html! {
        p.lead dir="auto" { (text(&error.message)) }
        @for problem in &error.problems { p { (text(&problem.message)) } }
        @if !error.next_steps.is_empty() {
            h2 { "What to do next" }
            ul.steps { @for step in &error.next_steps { li { code { (text(&step.to_string())) } } } }
        }
    }
}
