//! Parses the commands that hooks, editors and scripts run often. Building the definition of all commands takes longer
//! than most of these commands run, so each is parsed with a definition of only that command.
//!
//! Such a definition is used only if it accepts the arguments. It then gives the same result as the
//! full definition: it has fewer commands, so the words cannot mean anything else. Help and usage
//! errors come from the full definition.

use std::ffi::OsString;

use clap::{ArgMatches, Args as _, Command};

use super::{Global, Hook, contract, mcp, realm};

/// The words of a command, and the function that adds its arguments.
type FrequentCommand = (&'static [&'static str], fn(Command) -> Command);

/// The commands. Those that take arbitrary words come first, then longer commands before shorter
/// ones, because the last word of a longer one may be a command too.
const OFTEN: &[FrequentCommand] = &[
    (&["hook"], Hook::augment_args),
    (&["realm", "status"], realm::Status::augment_args),
    (&["realm", "check"], realm::Check::augment_args),
    (&["contract", "get"], contract::Get::augment_args),
    (&["contract", "list"], contract::List::augment_args),
    (&["contract", "publish"], contract::Publish::augment_args),
    (&["mcp", "serve"], mcp::Serve::augment_args),
    (&["status"], realm::Status::augment_args),
    (&["check"], realm::Check::augment_args),
];

/// Parses a command line if it calls one of these commands. Otherwise returns `None`.
pub fn parse(arguments: &[OsString]) -> Option<ArgMatches> {
    let words = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    // Options may occur between the words. If a value is mistaken for a command, parsing fails.
    let is_called = |(path, _): &&FrequentCommand| {
        let mut words = words.clone();
        path.iter().all(|part| words.any(|word| word == *part))
    };
    let (path, arguments_of) = OFTEN.iter().find(is_called)?;
    let (last, groups) = path.split_last()?;
    let leaf = arguments_of(Command::new(*last));
    let below = groups.iter().rev().fold(leaf, |below, group| Command::new(*group).subcommand(below));
    let root = Global::augment_args(Command::new(super::NAME)).subcommand(below);
    root.try_get_matches_from(arguments).ok().filter(|matches| matches.subcommand().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::surface::cli::Cli;

    fn whole(arguments: &[OsString]) -> Result<ArgMatches, clap::Error> {
        crate::surface::cli::command().try_get_matches_from(arguments)
    }

    fn read(mut matches: ArgMatches) -> String {
        use clap::FromArgMatches as _;
        format!("{:?}", Cli::from_arg_matches_mut(&mut matches).unwrap())
    }

    #[test]
    fn each_command_has_the_same_arguments_as_in_the_full_definition() {
        let whole = crate::surface::cli::definition();
        for (path, arguments_of) in OFTEN {
            let mut command = &whole;
            for part in *path {
                command = command.find_subcommand(part).unwrap();
            }
            let alone = arguments_of(Command::new("alone"));
            let arguments = |command: &Command| format!("{:?}", command.get_arguments().collect::<Vec<_>>());
            assert_eq!(arguments(&alone), arguments(command), "{path:?}");
            assert!(!command.has_subcommands(), "{path:?}");
        }
    }

    #[test]
    fn accepted_lines_parse_as_in_the_full_definition() {
        let lines = [
            "status",
            "status --peek --json",
            "--json status",
            "-C /tmp status -q --limit 3",
            "--realm status status --color=never",
            "check --mode importer --format json",
            "realm status --all",
            "realm --no-cache check",
            "contract --no-pager get s3-access/paths --version 1.0.0",
            "contract get status/check --format yaml",
            "contract get a/b --schema",
            "contract list -z",
            "contract publish --dry-run",
            "hook post-commit",
            "hook post-rewrite --amend status",
            "hook pre-push -- -x",
            "mcp serve --read-only -C /tmp",
        ];
        for line in lines {
            let arguments: Vec<_> = ["git-blue"].into_iter().chain(line.split(' ')).map(OsString::from).collect();
            let Some(alone) = parse(&arguments) else { panic!("{line}: not accepted") };
            assert_eq!(read(alone), read(whole(&arguments).unwrap()), "{line}");
        }
    }

    #[test]
    fn other_lines_are_left_to_the_full_definition() {
        let lines = [
            "",
            "--version",
            "-h",
            "status -h",
            "help status",
            "contract help get",
            "status check",
            "status --limit 0",
            "contract get",
            "contract get status",
            "contract log a/get",
            "complete -- status",
            "--realm status log",
            "-C status check",
            "realm",
            "hook",
        ];
        for line in lines {
            let words = line.split(' ').filter(|word| !word.is_empty());
            let arguments: Vec<_> = ["git-blue"].into_iter().chain(words).map(OsString::from).collect();
            assert!(parse(&arguments).is_none(), "{line}");
        }
    }
}
