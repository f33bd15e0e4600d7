//! Commands of operations that have no code of their own for the command line. Their options are the fields of the
//! request, and their text is the fields of the answer.

use clap::{ArgMatches, Command};
use serde_json::Value;

use super::text::{Style, Text, plain, styled};
use crate::ops::{
    self, Operation,
    operation::{Call, Prepared},
};

/// Adds a command for each such operation.
pub fn add(command: Command) -> Command {
    let missing = ops::TABLE.iter().filter_map(|operation| Some((operation, operation.call?)));
    let missing: Vec<_> = missing.filter(|(operation, _)| !has(&command, operation.cli)).collect();
    missing.into_iter().fold(command, |command, (operation, call)| below(command, operation.cli, call))
}

fn has(command: &Command, path: &[&str]) -> bool {
    path.split_first().is_none_or(|(first, rest)| command.find_subcommand(first).is_some_and(|sub| has(sub, rest)))
}

fn below(command: Command, path: &[&'static str], call: Call) -> Command {
    match path {
        [] => command,
        [last] => command.subcommand((call.options)(Command::new(*last))),
        [first, rest @ ..] if has(&command, &[first]) => command.mut_subcommand(first, |sub| below(sub, rest, call)),
        [first, rest @ ..] => command.subcommand(below(Command::new(*first), rest, call)),
    }
}

/// Reads the options of such a command. Returns `None` if the operation has a command of its own.
///
/// # Errors
/// Returns an error if the options do not parse as the request of the operation.
pub fn prepared(operation: &Operation, matches: &ArgMatches) -> Option<Result<Prepared, clap::Error>> {
    let leaf = operation.cli.iter().try_fold(matches, |matches, part| matches.subcommand_matches(part))?;
    Some((operation.call?.parse)(leaf))
}

/// Prints the fields of an answer.
pub fn render(fields: &Value, text: &mut Text) {
    let own = |(name, _): &(&String, &Value)| !["status", "next_steps"].contains(&name.as_str());
    for (name, value) in fields.as_object().into_iter().flatten().filter(own) {
        field(0, name, value, text);
    }
}

fn field(depth: usize, name: &str, value: &Value, text: &mut Text) {
    let name = styled(format!("{}{name}:", "  ".repeat(depth)), Style::Bold);
    match value {
        Value::Object(fields) => {
            text.line(&[name]);
            fields.iter().for_each(|(name, value)| field(depth + 1, name, value, text));
        }
        Value::Array(items) if items.iter().any(|item| item.is_object() || item.is_array()) => {
            text.line(&[name]);
            items.iter().enumerate().for_each(|(at, item)| field(depth + 1, &(at + 1).to_string(), item, text));
        }
        Value::Array(items) => drop(text.line(&[name, plain(items.iter().map(word).collect::<Vec<_>>().join(", "))])),
        value => drop(text.line(&[name, plain(word(value))])),
    }
}

fn word(value: &Value) -> String {
    match value {
        Value::Null => "-".to_owned(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::ops::realm;

    #[test]
    fn an_operation_without_a_command_gets_one() {
        let root = add(Command::new("git-blue").subcommand(Command::new("realm").subcommand(Command::new("status"))));
        assert!(has(&root, &["contract", "get"]), "in a group of its own");
        let log = &realm::log::OPERATION;
        assert!(has(&root, log.cli));
        let parsed = root.clone().try_get_matches_from(["git-blue", "realm", "log", "--since", "2w", "--limit", "3"]);
        assert!(prepared(log, &parsed.unwrap()).unwrap().is_ok());
        assert!(root.try_get_matches_from(["git-blue", "realm", "log", "--limit", "0"]).is_err());
    }

    #[test]
    fn an_answer_is_printed_field_by_field() {
        let mut text = Text::new(false);
        render(
            &json!({"status": "success", "realm": "r", "counts": {"repos": 3}, "names": ["a", "b"],
                "lines": [{"name": "c"}], "none": null, "next_steps": []}),
            &mut text,
        );
        let expected = "counts:\n  repos: 3\nlines:\n  1:\n    name: c\nnames: a, b\nnone: -\nrealm: r\n";
        assert_eq!(text.into_string(), expected);
    }
}
