//! The properties of a command line that are known before the command runs.

use std::ffi::OsString;

use super::{Command, contract, definition, formats::Formats, manual, notify, realm};
use crate::{env::Env, model::name::ContractRef, ops};

/// Returns the operation that a command line calls, under its full or its short name.
pub fn operation(matches: &clap::ArgMatches) -> Option<&'static ops::Operation> {
    let mut path = Vec::new();
    let mut matches = matches;
    while let Some((name, below)) = matches.subcommand() {
        path.push(name);
        matches = below;
    }
    let path = path.join(" ");
    manual::operation(manual::long_name(&path).unwrap_or(&path))
}

/// Returns the contract that a command line names, if any.
pub fn contract(matches: &clap::ArgMatches) -> Option<ContractRef> {
    innermost(matches).try_get_one::<ContractRef>("contract").ok().flatten().cloned()
}

/// Returns whether a command line asks what a command would do.
pub fn is_dry_run(matches: &clap::ArgMatches) -> bool {
    innermost(matches).try_get_one("dry_run").ok().flatten().copied().unwrap_or_default()
}

/// Returns the arguments of the innermost command.
fn innermost(matches: &clap::ArgMatches) -> &clap::ArgMatches {
    matches.subcommand().map_or(matches, |(_, below)| innermost(below))
}

/// Returns whether the arguments contain `--json`, which also applies if they cannot be parsed.
pub fn wants_json(arguments: &[OsString]) -> bool {
    arguments.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--json")
}

/// Returns the innermost command that the arguments name.
pub fn named_command(arguments: &[OsString]) -> String {
    let (mut command, mut path) = (definition(), "git blue".to_owned());
    for word in arguments.iter().filter_map(|word| word.to_str()) {
        let Some(named) = command.find_subcommand(word).cloned() else { continue };
        path = format!("{path} {}", named.get_name());
        command = named;
    }
    path
}

impl Command {
    /// Returns whether the command uses no realm of this machine: it needs none, or its arguments
    /// name one at a URL or in a folder.
    pub fn takes_realm_from_elsewhere(&self) -> bool {
        match self {
            Self::Compat(_) => true,
            Self::Check(check) | Self::Realm(realm::Command::Check(check)) => {
                check.realm_url.is_some() || check.realm_path.is_some()
            }
            Self::Contract(contract::Command::Publish(publish)) => publish.realm_url.is_some(),
            Self::Notify(notify::Command::Forge(request)) => request.realm_url.is_some(),
            _ => false,
        }
    }

    /// Returns the name of a command whose answer is reported in formats for CI, and the formats to write.
    pub fn reported(&self, env: &Env) -> Option<(&'static str, Formats)> {
        let (name, formats, is_for_runners) = match self {
            Self::Check(check) | Self::Realm(realm::Command::Check(check)) => ("git blue check", &check.formats, true),
            Self::Compat(arguments) => ("git blue compat", &arguments.formats, true),
            Self::Contract(contract::Command::Diff(diff)) => ("git blue contract diff", &diff.formats, false),
            _ => return None,
        };
        let mut formats = formats.clone();
        if is_for_runners {
            formats.of_runner(env);
        }
        Some((name, formats))
    }
}
