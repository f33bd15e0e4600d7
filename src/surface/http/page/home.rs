//! `/`: the realms of this machine.

use maud::{Markup, html};

use super::{
    components::{Tone, badge, count, empty, text},
    frame::Page,
    links::Site,
};
use crate::{
    error::OpError,
    ops::{ctx::Ctx, realm},
    wire::{RealmLine, RealmList},
};

/// Returns the page.
///
/// # Errors
/// Returns an error if this machine's records cannot be read.
pub fn page(ctx: &Ctx) -> Result<Page, OpError> {
    let list = realm::list::run(ctx)?.body;
    Ok(Page { title: "Realms".into(), site: None, part: None, main: render(&list) })
}

fn render(body: &RealmList) -> Markup {
    html! {
        h1 { "Realms on this machine" }
        @if body.realms.is_empty() { (empty("There are no realms yet.", Some("git blue init --realm …"))) }
        ul.cards { @for realm in &body.realms { li { (card(realm)) } } }
    }
}

fn card(realm: &RealmLine) -> Markup {
    html! {
        article.card {
            h2 { a href=(Site::now(&realm.name).overview()) { (realm.name) } }
            @if let Some(problem) = &realm.problem {
                p { (badge(Tone::Bad, "cannot be read")) }
                p.note dir="auto" { (text(problem)) }
            }
            @if let (Some(repos), Some(domains)) = (realm.repos, realm.domains) {
                p { (count(repos, "repository")) ", " (count(domains, "domain")) }
            }
            p.note {
                @if let Some(url) = &realm.url { "Shared at " span.path { (text(url)) } }
                @else { "On this machine only" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_realm_that_cannot_be_read_says_why_and_hides_no_other() {
        let line = RealmLine {
            name: "aperture".parse().unwrap(),
            path: "/r".into(),
            url: Some("https://x/<script>".into()),
            is_current: false,
            repos: None,
            domains: None,
            problem: Some("<b>gone\u{202e}</b>".into()),
        };
        let shown = render(&RealmList { realms: vec![line] }).into_string();
        assert!(shown.contains("&lt;b&gt;gone\\u{202e}&lt;/b&gt;") && shown.contains("x/&lt;script&gt;"), "{shown}");
        assert!(shown.contains(r#"href="/r/aperture""#));
        assert!(render(&RealmList { realms: vec![] }).into_string().contains("git blue init --realm …"));
    }
}
