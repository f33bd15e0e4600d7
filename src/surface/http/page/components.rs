//! Elements that several pages share. All text from others passes through [`text`].

pub use crate::surface::escape::clean as text;

use maud::{Markup, html};

use super::links::Site;
use crate::{
    model::{
        name::{ContractName, DomainName, RepoName},
        text::short_commit,
    },
    wire::ContractState,
};

/// The meaning of a word. It is never shown by color alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Less important.
    Quiet,
    Good,
    /// Worth a look.
    Warn,
    /// Broken.
    Bad,
}

impl Tone {
    /// Returns its CSS class.
    pub fn class(self) -> &'static str {
        match self {
            Self::Quiet => "quiet",
            Self::Good => "good",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// Returns a line of text from others, cut to at most `most` characters.
pub fn cut(line: &str, most: usize) -> String {
    let cut: String = line.chars().take(most).collect();
    let dots = if cut.len() < line.len() { " …" } else { "" };
    format!("{}{dots}", text(&cut))
}

/// Returns several lines of text from others.
pub fn prose(words: &str) -> Markup {
    html! {
        @for line in words.lines().filter(|line| !line.trim().is_empty()) {
            p.prose dir="auto" { (text(line)) }
        }
    }
}

/// Returns a word as a badge.
pub fn badge(tone: Tone, word: &str) -> Markup {
    html! { span class={ "badge " (tone.class()) } { (word) } }
}

/// Returns a time. The script adds how long ago it was.
pub fn time(at: jiff::Timestamp) -> Markup {
    html! { time datetime=(at) { (at.strftime("%Y-%m-%d %H:%M")) " UTC" } }
}

/// Returns the first digits of a commit, as a link to its page on the forge if that is known.
pub fn source_commit(commit: &str, url: Option<&str>) -> Markup {
    let digits = short_commit(commit);
    html! {
        code title=(text(commit)) {
            @if let Some(url) = url { a href=(url) rel="noreferrer" { (text(digits)) } } @else { (text(digits)) }
        }
    }
}

/// Returns the name of a contract, as a link to it.
pub fn contract(site: &Site, domain: &DomainName, name: &ContractName) -> Markup {
    html! { a.name href=(site.contract(domain, name, &[])) { span.of { (domain) "/" } (name) } }
}

/// Returns the name of a repository, as a link to it.
pub fn repo(site: &Site, name: &RepoName) -> Markup {
    html! { a.name href=(site.repo(name)) { (name) } }
}

/// Returns a badge for the state of a contract, if it is worth mentioning.
pub fn state(state: ContractState) -> Markup {
    let tone = match state {
        ContractState::Active => return html! {},
        ContractState::PreRelease => Tone::Quiet,
        ContractState::Deprecated => Tone::Warn,
        _ => Tone::Bad,
    };
    html! { " " (badge(tone, state.word())) }
}

/// Returns a table with these columns, which becomes a list on narrow screens.
pub fn table(caption: &str, columns: &[&str], rows: &Markup) -> Markup {
    html! {
        div.scroll role="group" aria-label=(caption) tabindex="0" {
            table {
                caption.unseen { (caption) }
                thead { tr { @for column in columns { th scope="col" { (column) } } } }
                tbody { (rows) }
            }
        }
    }
}

/// Returns a cell of a table; `column` is its label if the table is shown as a list.
pub fn cell(column: &str, content: &Markup) -> Markup {
    html! { td data-column=(column) { (content) } }
}

/// Returns a command to run. A click selects all of it.
pub fn command(command: &str) -> Markup {
    html! { code.command { (text(command)) } }
}

/// Returns names separated by commas; only the first ones if there are many.
pub fn names(site: &Site, repos: &[&RepoName]) -> Markup {
    const MOST: usize = 8;
    html! {
        @if repos.is_empty() { span.none { "nobody" } }
        @for (at, name) in repos.iter().take(MOST).enumerate() {
            @if at > 0 { ", " }
            (repo(site, name))
        }
        @if let Some(more @ 1..) = repos.len().checked_sub(MOST) { " and " (more) " more" }
    }
}

/// Returns `1 contract`, `2 contracts`, `10,000 contracts`. Unlike [`crate::model::text::count`], this separates
/// thousands, and derives the plural, which is regular for all nouns of the pages.
pub fn count(number: usize, noun: &str) -> String {
    let noun = match (number, noun.strip_suffix('y')) {
        (1, _) => noun.to_owned(),
        (_, Some(stem)) => format!("{stem}ies"),
        (_, None) => format!("{noun}s"),
    };
    format!("{} {noun}", grouped(number))
}

/// Returns a number with commas between thousands.
pub fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Returns links to the first page and to the next one, from the cursors of this page and the next one. Returns nothing
/// if everything is on this page.
pub fn pager(
    (shown, total): (usize, usize),
    (here, next): (Option<&str>, Option<&str>),
    at: impl Fn(&str) -> String,
) -> Markup {
    let (first, next) = (here.map(|_| at("")), next.map(at));
    html! {
        @if first.is_some() || next.is_some() {
            nav.pager aria-label="Pages" {
                span { (grouped(shown)) " of " (grouped(total)) }
                @if let Some(first) = first { a href=(first) { "First page" } }
                @if let Some(next) = next { a href=(next) rel="next" { "Next page" } }
            }
        }
    }
}

/// Returns how many items are not shown, and the command that shows all of them. Returns nothing if all are shown.
pub fn more(all: usize, shown: usize, command: &str) -> Markup {
    html! {
        @if let Some(more @ 1..) = all.checked_sub(shown) {
            p.note {
                "And " (grouped(more)) " more"
                @if command.is_empty() { "." } @else { ": " (self::command(command)) }
            }
        }
    }
}

/// Returns a note that there is nothing, and the command that would change that.
pub fn empty(what: &str, how: Option<&str>) -> Markup {
    html! {
        div.empty {
            p { (what) }
            @if let Some(how) = how { p { code { (how) } } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!(count(1, "contract"), "1 contract");
        assert_eq!(count(2, "repository"), "2 repositories");
        assert_eq!(count(10_000, "contract"), "10,000 contracts");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(0), "0");
    }

    #[test]
    fn hostile_text_is_escaped() {
        let evil = "<script>alert(1)</script>\n\u{202e}\"'&\u{1b}[31m";
        let shown = prose(evil).into_string();
        assert!(!shown.contains("<script"), "{shown}");
        assert!(
            shown.contains("&lt;script&gt;") && shown.contains("\\u{202e}") && shown.contains("\\u{1b}"),
            "{shown}"
        );
        assert!(badge(Tone::Bad, "\"><b>").into_string().contains("&quot;&gt;&lt;b&gt;"));
    }
}
