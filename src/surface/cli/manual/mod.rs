//! The part of the long help and manual page of each command that is not about options: a description, examples, and
//! the meaning of exit code 1. There is one entry per command.

mod contract;
mod facts;
mod machine;
mod man;
mod realm;

use std::sync::LazyLock;

use clap::Arg;

use crate::{
    ops::{self, Operation, as_of},
    wire::DEFAULT_LIMIT,
};

pub(super) use man::{page_files, write_pages};

/// The long help of one command.
struct Page {
    /// The command, below `git blue`; empty for `git blue` itself.
    command: &'static str,
    /// The description in whole sentences; empty if the summary says it all.
    description: &'static str,
    /// When the exit code is 1; empty if only a refusal exits with 1.
    exit_1: &'static str,
    /// Example command lines, each with its purpose.
    examples: &'static [(&'static str, &'static str)],
}

const fn page(command: &'static str) -> Page {
    Page { command, description: "", exit_1: "", examples: &[] }
}

impl Page {
    const fn about(mut self, description: &'static str) -> Self {
        self.description = description;
        self
    }

    const fn exit_1(mut self, when: &'static str) -> Self {
        self.exit_1 = when;
        self
    }

    const fn examples(mut self, examples: &'static [(&'static str, &'static str)]) -> Self {
        self.examples = examples;
        self
    }
}

/// Short commands and the commands that they abbreviate. Both share one page.
const SHORT: [(&str, &str); 5] = [
    ("status", "realm status"),
    ("check", "realm check"),
    ("review", "realm review"),
    ("sync", "realm sync"),
    ("leave", "realm admin leave"),
];

/// The pages of operations that declare their examples themselves.
static OF_OPERATIONS: LazyLock<Vec<Page>> = LazyLock::new(|| {
    let operations = ops::TABLE.iter().filter(|operation| !operation.examples.is_empty());
    operations.map(|operation| page(operation.cli.join(" ").leak()).examples(operation.examples)).collect()
});

fn pages() -> impl Iterator<Item = &'static Page> {
    [realm::PAGES, contract::PAGES, machine::PAGES].into_iter().flatten().chain(&*OF_OPERATIONS)
}

/// Returns the page of a command, which is given without `git blue`.
fn page_of(command: &str) -> Option<&'static Page> {
    let command = long_name(command).unwrap_or(command);
    pages().find(|page| page.command == command)
}

/// Returns the command that a short command abbreviates.
pub(super) fn long_name(command: &str) -> Option<&'static str> {
    SHORT.iter().find(|(short, _)| *short == command).map(|(_, long)| *long)
}

/// Adds the summary of its operation to every command, and descriptions and examples to its long help.
pub(super) fn describe(command: clap::Command) -> clap::Command {
    let globals: Vec<_> = command.get_arguments().cloned().collect();
    below(command, "", &globals)
}

/// Returns the global options that a command describes in its own way: `--realm` of `init`, and `--at`, which only some
/// commands take.
fn redefined(globals: &[Arg], command: &clap::Command, path: &str) -> Vec<Arg> {
    let long = long_name(path).unwrap_or(path);
    let own = |arg: &Arg| match arg.get_id().as_str() {
        "realm" if path == "init" => Some(arg.clone().help_heading(None).help(
            "The realm to create or join [default: the one in .blue/config.yaml, else the one at --url, else the only \
            one on this machine]",
        )),
        "at" if !command.has_subcommands() && as_of::require(operation(long)).is_ok() => {
            Some(arg.clone().help_heading(None))
        }
        "at" => Some(arg.clone().hide(true)),
        _ => None,
    };
    globals.iter().filter_map(own).collect()
}

/// Returns the operation with the words of a command.
pub(super) fn operation(path: &str) -> Option<&'static Operation> {
    ops::TABLE.iter().find(|operation| operation.cli.iter().copied().eq(path.split(' ')))
}

fn below(mut command: clap::Command, path: &str, globals: &[Arg]) -> clap::Command {
    let names: Vec<_> = command.get_subcommands().map(|sub| sub.get_name().to_owned()).collect();
    for name in names {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(name, |sub| {
            let own = if sub.is_hide_set() { Vec::new() } else { redefined(globals, &sub, &path) };
            below(sub.args(own), &path, globals)
        });
    }
    if let Some(operation) = operation(path) {
        command = command.about(operation.summary);
    }
    command = listing(command, path);
    if path == "contract diff" {
        // Only checks print annotations in a workflow run.
        command = command.mut_arg("format", |arg| arg.help("The output format [default: human]"));
    }
    let Some(page) = page_of(path) else { return command };
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let short = long_name(path).map(|long| match path {
        "leave" => format!("Like `git blue {long}`, and also removes the hooks and .blue/config.yaml."),
        _ => format!("Short for `git blue {long}`."),
    });
    let sentences: Vec<_> = short.iter().map(String::as_str).chain([page.description]).collect();
    let description = sentences.join(" ").trim().to_owned();
    if !description.is_empty() {
        command = command.long_about(format!("{about}\n\n{description}"));
    }
    command.after_long_help(format!("{}{}", examples(page), exit_status(page)).trim_end().to_owned())
}

/// Adds the default to the option that limits a list, and removes the option from the help of a list without one.
fn listing(command: clap::Command, path: &str) -> clap::Command {
    let has = |id: &str| command.get_arguments().any(|arg| arg.get_id() == id);
    let (is_limited, has_names) = (has("limit"), has("null"));
    let default = match long_name(path).unwrap_or(path) {
        "realm status" => return listing_realm(command),
        "realm topology" => "all".to_owned(),
        "realm log" => ops::realm::log::DEFAULT_LIMIT.to_string(),
        _ => DEFAULT_LIMIT.to_string(),
    };
    match (is_limited, has_names) {
        (true, _) => {
            command.mut_arg("limit", |arg| arg.help(format!("Show at most this many entries [default: {default}]")))
        }
        (false, true) => command.mut_arg("null", |arg| arg.help("Print only the names, NUL-terminated")),
        (false, false) => command,
    }
}

/// Describes the options that make `status` list the realm.
fn listing_realm(command: clap::Command) -> clap::Command {
    let default = ops::realm::status::DEFAULT_DOMAINS;
    let limit = format!("Also show the realm's repositories, and at most this many domains [default: {default}]");
    command
        .mut_arg("limit", |arg| arg.help(limit))
        .mut_arg("all", |arg| arg.help("Also show the realm's repositories and all its domains"))
}

fn examples(page: &Page) -> String {
    let kept = |line: &str| format!("    {}", wrapped(line)).replace(' ', &KEPT_SPACE.to_string());
    let entry = |(line, what): &(&str, &str)| format!("\n  {what}:\n{}\n", kept(line));
    let entries: String = page.examples.iter().map(entry).collect();
    if entries.is_empty() { entries } else { format!("Examples:{entries}\n") }
}

/// Returns the exit codes of a command whose answer can be no.
fn exit_status(page: &Page) -> String {
    let [yes, cannot, usage] = facts::EXIT_CODES;
    let entry = |(code, meaning): (&str, &str)| format!("\n  {code:<4} {meaning}");
    let entries = [yes, ("1", page.exit_1), cannot, usage].map(entry).concat();
    if page.exit_1.is_empty() { String::new() } else { format!("Exit status:{entries}") }
}

/// The width of an example, in characters, unless one of its words is longer.
const WIDTH: usize = 74;
/// The space within examples. The library that prints the help breaks lines only at other spaces.
const KEPT_SPACE: char = '\u{a0}';

/// Returns a command line with a backslash before each line break, so that it can be pasted. Lines break only between
/// words, and not within quotes.
fn wrapped(line: &str) -> String {
    let (mut text, mut width) = (String::new(), 0);
    let mut words = words(line).into_iter().peekable();
    while let Some(word) = words.next() {
        // The last line needs no backslash.
        let limit = if words.peek().is_none() { WIDTH + 2 } else { WIDTH };
        if width > 0 && width + 1 + word.len() > limit {
            text += " \\\n      ";
            width = 2;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text += &word;
        width += word.len();
    }
    text
}

/// Splits a command line at spaces that are not within quotes, and not between an option and its value.
fn words(line: &str) -> Vec<String> {
    let mut quote = None;
    let is_end = |c: char| {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            _ => {}
        }
        quote.is_none() && c == ' '
    };
    let is_option = |word: &str| word.len() > 1 && word.starts_with('-');
    let mut words: Vec<String> = Vec::new();
    for word in line.split(is_end) {
        match words.last_mut() {
            Some(last) if is_option(last) && !last.contains(' ') && !is_option(word) => {
                *last = format!("{last} {word}")
            }
            _ => words.push(word.to_owned()),
        }
    }
    words
}

/// Returns a rendered help as it is printed.
pub fn printed(help: &str) -> String {
    help.replace(KEPT_SPACE, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Splits a line of an example as a shell would, into the words of each program.
    fn programs(line: &str) -> Vec<Vec<String>> {
        let (mut programs, mut words, mut word, mut quote) = (Vec::new(), Vec::new(), String::new(), None);
        for c in line.chars().chain(['|']) {
            match (quote, c) {
                (Some(open), c) if c == open => quote = None,
                (None, '\'' | '"') => quote = Some(c),
                (None, ' ' | '|' | '>') => {
                    if !word.is_empty() {
                        words.push(std::mem::take(&mut word));
                    }
                    if c != ' ' {
                        programs.push(std::mem::take(&mut words));
                    }
                }
                (_, c) => word.push(c),
            }
        }
        assert_eq!(quote, None, "a quote is left open: {line}");
        programs
    }

    fn commands(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let path = format!("{path} {}", sub.get_name()).trim().to_owned();
            found.push(path.clone());
            commands(sub, &path, found);
        }
    }

    #[test]
    fn every_command_has_a_page_with_examples_and_every_page_a_command() {
        let mut found = vec![String::new()];
        commands(&super::super::command(), "", &mut found);
        found.retain(|command| SHORT.iter().all(|(short, _)| short != command));
        let mut known: Vec<_> = pages().map(|page| page.command.to_owned()).collect();
        found.sort();
        known.sort();
        assert_eq!(found, known, "each command has one entry in src/surface/cli/manual/");
        for page in pages() {
            assert!(!page.examples.is_empty(), "git blue {} has no example", page.command);
        }
    }

    #[test]
    fn every_example_is_a_command_line_of_its_page() {
        for page in pages() {
            let mut called = Vec::new();
            for (line, what) in page.examples {
                assert!(what.chars().next().is_some_and(char::is_uppercase) && !what.ends_with(['.', ':']), "{what}");
                for words in programs(line).iter().filter(|words| words.starts_with(&["git".into(), "blue".into()])) {
                    let parsed = super::super::command().try_get_matches_from(&words[1..]);
                    let matches = parsed.unwrap_or_else(|error| panic!("{line}: {error}"));
                    called.push(path(&matches));
                }
            }
            let is_called = called.iter().any(|path| long_name(path).unwrap_or(path).starts_with(page.command));
            assert!(is_called, "no example of `git blue {}` calls it: {called:?}", page.command);
        }
    }

    fn path(matches: &clap::ArgMatches) -> String {
        let mut path = Vec::new();
        let mut at = matches;
        while let Some((name, below)) = at.subcommand() {
            path.push(name);
            at = below;
        }
        path.join(" ")
    }

    #[test]
    fn examples_can_be_pasted_at_every_width() {
        for width in (60..=120).step_by(12) {
            for page in pages() {
                let mut command = super::super::command().term_width(width);
                command.build();
                let mut at = &mut command;
                for part in page.command.split_whitespace() {
                    at = at.find_subcommand_mut(part).unwrap();
                }
                let help = printed(&at.clone().term_width(width).render_long_help().to_string());
                for (line, _) in page.examples {
                    let pasted = help.replace(" \\\n      ", " ");
                    assert!(pasted.lines().any(|shown| shown.trim() == *line), "{width}: {line}\n{help}");
                }
            }
        }
        for line in pages().flat_map(|page| page.examples).map(|(line, _)| wrapped(line)) {
            let parts: Vec<_> = line.lines().collect();
            assert!(parts.iter().all(|part| part.len() <= WIDTH + 6 || !part.trim().contains(' ')), "{line}");
        }
    }

    #[test]
    fn sentences_end_with_a_period() {
        for page in pages() {
            for text in [page.description, page.exit_1] {
                assert!(text.is_empty() || text.ends_with('.'), "git blue {}: {text}", page.command);
            }
        }
    }
}
