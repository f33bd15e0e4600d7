//! Runs nested commands by their last word: `git blue publish` runs `git blue contract publish`.

use std::ffi::OsString;

use clap::{
    Command,
    error::{ContextKind, ContextValue, ErrorKind},
};

/// The commands that an unknown command may stand for.
#[derive(Debug, PartialEq, Eq)]
pub enum PossibleCommands {
    /// Exactly one: the command line that calls it.
    One(Vec<OsString>),
    /// One of several: their full names.
    Several(Vec<String>),
}

/// Returns the commands that a command line may mean if its first word is not a top-level command. Returns `None` if
/// nothing matches.
pub fn expand(definition: fn() -> Command, arguments: &[OsString], error: &clap::Error) -> Option<PossibleCommands> {
    if error.kind() != ErrorKind::InvalidSubcommand {
        return None;
    }
    let Some(ContextValue::String(word)) = error.get(ContextKind::InvalidSubcommand) else {
        return None;
    };
    let whole = &definition();
    let mut found = Vec::new();
    deeper(whole, &mut Vec::new(), word, &mut found);
    let is_outermost = whole.find_subcommand(word).is_some();
    match &found[..] {
        _ if is_outermost => None,
        [] => None,
        [path] => in_place_of(whole, arguments, word, path).map(PossibleCommands::One),
        [first, ..] => in_place_of(whole, arguments, word, first)
            .map(|_| PossibleCommands::Several(found.iter().map(|path| with_arguments(whole, path)).collect())),
    }
}

/// Returns the command line with the words of a command in place of the unknown word. Returns `None` if the unknown word
/// follows another command.
fn in_place_of(whole: &Command, arguments: &[OsString], word: &str, path: &[String]) -> Option<Vec<OsString>> {
    // The same word may also be the value of an option.
    let places = arguments.iter().enumerate().skip(1).filter(|(_, argument)| *argument == word);
    let mut lines = places.map(|(at, _)| {
        let path = path.iter().map(OsString::from);
        arguments[..at].iter().cloned().chain(path).chain(arguments[at + 1..].iter().cloned()).collect::<Vec<_>>()
    });
    lines.find(|line| is_known(whole, line))
}

fn is_known(whole: &Command, line: &[OsString]) -> bool {
    let parsed = whole.clone().try_get_matches_from(line);
    parsed.err().is_none_or(|error| error.kind() != ErrorKind::InvalidSubcommand)
}

/// Returns the command with its required arguments, as in its usage.
fn with_arguments(whole: &Command, path: &[String]) -> String {
    let leaf = path.iter().try_fold(whole, |command, part| command.find_subcommand(part));
    let needed = leaf.into_iter().flat_map(Command::get_positionals).filter(|one| one.is_required_set());
    let names = needed.filter_map(|one| one.get_value_names()?.first().map(ToString::to_string));
    path.iter().cloned().chain(names).collect::<Vec<_>>().join(" ")
}

fn deeper(command: &Command, path: &mut Vec<String>, word: &str, found: &mut Vec<Vec<String>>) {
    for sub in command.get_subcommands().filter(|sub| sub.get_name() != "help" && !sub.is_hide_set()) {
        path.push(sub.get_name().to_owned());
        if sub.get_name() == word {
            found.push(path.clone());
        } else {
            deeper(sub, path, word, found);
        }
        path.pop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(line: &str) -> Option<PossibleCommands> {
        let arguments: Vec<_> = ["git-blue"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
        let error = crate::surface::cli::run::parse(&arguments).err()?;
        expand(crate::surface::cli::command, &arguments, &error)
    }

    #[test]
    fn a_nested_command_is_found_by_its_last_word() {
        for (line, expected) in [
            ("publish --dry-run", "contract publish --dry-run"),
            ("-C publish publish", "-C publish contract publish"),
            ("join aperture", "realm admin join aperture"),
            ("worktree list", "realm worktree list"),
            ("pr status", "realm pr status"),
            ("get a/b", "contract get a/b"),
            ("diff a/b", "contract diff a/b"),
            ("topology", "realm topology"),
            ("watch", "notifications watch"),
        ] {
            let line_of = |line: &str| ["git-blue"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            assert_eq!(ask(line), Some(PossibleCommands::One(line_of(expected))), "{line}");
        }
    }

    #[test]
    fn ambiguous_and_unknown_words_do_not_run() {
        assert_eq!(
            ask("log"),
            Some(PossibleCommands::Several(vec!["realm log".into(), "contract log DOMAIN/CONTRACT".into()]))
        );
        for line in ["frobnicate", "contract foo", "contract publish --nonsense", "realm join", "realm conflict list"] {
            assert_eq!(ask(line), None, "{line}");
        }
    }
}
