//! What stands around every page: where one is, where one can go, whether it is up to date.

use maud::{DOCTYPE, Markup, html};

use super::{super::status, links, pieces::text};
use crate::{error::OpError, model::name::RealmName};

/// The parts of a realm that have a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The realm at a glance.
    Overview,
    /// Its contracts.
    Contracts,
    /// What changed.
    Notifications,
    /// Who works on what.
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
    /// What the browser calls it.
    pub title: String,
    /// The realm it is of; none for the list of realms.
    pub realm: Option<RealmName>,
    /// Which part of the realm.
    pub part: Option<Part>,
    /// What it shows.
    pub main: Markup,
}

/// Returns the whole document.
pub fn whole(page: &Page) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head(&page.title, &html! {
                link rel="icon" href="/assets/blue.svg" type="image/svg+xml";
                link rel="stylesheet" href="/assets/blue.css";
                script src="/assets/blue.js" defer {}
            }))
            body data-realm=[page.realm.as_ref()] {
                a.skip href="#main" { "Skip to the content" }
                header.top {
                    div.bar {
                        p.brand {
                            a href="/" { span.mark aria-hidden="true" {} "git blue" }
                            @if let Some(realm) = &page.realm {
                                span.slash aria-hidden="true" { "/" }
                                a.realm href=(links::realm(realm)) { (realm) }
                            }
                        }
                        p.live #live data-state="still" role="status" {
                            span.dot aria-hidden="true" {}
                            span.word { "Not live: reload to update" }
                        }
                    }
                    @if let Some(realm) = &page.realm { (tabs(realm, page.part)) }
                }
                main #main tabindex="-1" { (page.main) }
                p.unseen #news role="status" aria-live="polite" {}
                footer.bottom {
                    p { "Read straight from the realm on this machine. This page changes nothing." }
                }
            }
        }
    }
}

fn tabs(realm: &RealmName, here: Option<Part>) -> Markup {
    html! {
        nav.tabs aria-label="Realm" {
            ul {
                @for (part, word, path) in PARTS {
                    @let href = if path.is_empty() { links::realm(realm) } else { links::part(realm, path, &[]) };
                    li { a href=(href) aria-current=[(here == Some(part)).then_some("page")] { (word) } }
                }
            }
        }
    }
}

/// Returns the page that says why there is no other.
pub fn failure(realm: Option<RealmName>, error: &OpError) -> Page {
    let is_missing = status::of(error) == hyper::StatusCode::NOT_FOUND;
    let title = if is_missing { "There is no such page" } else { "This cannot be shown" };
    let main = html! {
        h1 { (title) }
        (reasons(error))
        p { a href="/" { "All realms" } }
    };
    Page { title: title.into(), realm, part: None, main }
}

/// Returns the document for whom nobody let in.
pub fn refusal(error: &OpError) -> Markup {
    html! {
        (DOCTYPE)
        html lang="en" {
            (head("Not let in", &html! {}))
            body { main { h1 { "This browser was not let in" } (reasons(error)) } }
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
