//! Rewrites next steps for clients: a command for which there is a tool becomes a call of that tool.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::{realm_argument, settings::Settings};
use crate::{
    error::{CliOption, NextStep},
    model::{name::RealmName, text::cut},
    ops::{Operation, contract, notifications, pr, realm, session, worktree},
};

/// The maximum length of a reason or a piece of advice, in characters.
const MAX_REASON: usize = 300;
/// The maximum length of a command, or of the arguments of a tool, in characters. Longer ones are dropped, because a
/// truncated command does something else.
const MAX_COMMAND: usize = 600;

/// Rewrites the next steps of a call. They name the project that the call named, because `cwd` and `realm` of one call
/// do not affect others.
#[derive(Debug, Clone, Default)]
pub struct FollowUp {
    cwd: Option<String>,
    realm: Option<RealmName>,
    /// Whether the server has tools that write.
    may_write: bool,
}

impl FollowUp {
    /// Reads the project from the arguments of a call.
    pub fn of<'a>(settings: &Settings, argument: impl Fn(&str) -> Option<&'a str>) -> Self {
        let realm = argument("realm").and_then(|name| name.parse().ok());
        Self { cwd: argument("cwd").map(str::to_owned), realm, may_write: !settings.read_only }
    }

    /// Rewrites a step for a client of this server: into a call of the tool that does the same as the command, if there
    /// is one. A read-only server has no tools that write, so those steps stay commands. Returns `None` for a step that
    /// no client can take.
    pub fn rewrite(&self, step: &NextStep) -> Option<NextStep> {
        match step {
            // A session records changes, and a read-only server makes none.
            NextStep::Command { command, .. } if !self.may_write && command.starts_with("git blue session ") => None,
            NextStep::Command { command, reason } => Some(self.instead_of(command, reason)),
            NextStep::Advice { option: Some(CliOption::Folder), .. } => {
                Some(NextStep::advice("pass cwd: the absolute path of a directory in the repository"))
            }
            // No tool takes the name of a repository, which is determined by the folder.
            NextStep::Advice { option: Some(CliOption::Repo), .. } => None,
            NextStep::Advice { .. } | NextStep::Tool { .. } => Some(NextStep::advice(cut(step.reason(), MAX_REASON))),
        }
    }

    /// Returns the step to take instead of running a command.
    fn instead_of(&self, command: &str, reason: &str) -> NextStep {
        let reason = cut(reason, MAX_REASON);
        let call = words(command).and_then(|words| call(&words));
        let step = match call.filter(|(operation, _)| self.may_write || !operation.writes) {
            Some((operation, arguments)) => self.call(operation.name, arguments, reason),
            None => self.command(NextStep::Command { command: command.to_owned(), reason }),
        };
        let length = match &step {
            NextStep::Tool { arguments, .. } => json!(arguments).to_string().chars().count(),
            step => step.command().map_or(0, |command| command.chars().count()),
        };
        if length > MAX_COMMAND { NextStep::advice(step.reason()) } else { step }
    }

    fn call(&self, tool: &'static str, mut arguments: Map<String, Value>, reason: String) -> NextStep {
        if let Some(cwd) = &self.cwd {
            arguments.entry("cwd").or_insert_with(|| json!(cwd));
        }
        if let Some(realm) = self.realm.as_ref().filter(|_| realm_argument::is_listed_for(tool)) {
            arguments.entry("realm").or_insert_with(|| json!(realm));
        }
        NextStep::Tool { tool: Cow::Borrowed(tool), arguments, reason }
    }

    fn command(&self, step: NextStep) -> NextStep {
        let step = self.realm.as_ref().map_or_else(|| step.clone(), |realm| step.in_realm(realm));
        self.cwd.as_ref().map_or_else(|| step.clone(), |cwd| step.in_folder(cwd))
    }
}

/// Splits a command as a shell does. Returns `None` if it is more than one command of plain and quoted words.
fn words(command: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), c) => word.get_or_insert_default().push(c),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, '&' | '|' | ';' | '$' | '`' | '\\' | '>' | '<' | '*') => return None,
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// An operation with a tool, and the arguments that the options and positional arguments of its command are converted
/// to.
type Form = (&'static Operation, &'static [(&'static str, Word)], &'static [Position]);

/// The tool argument that an option is converted to.
#[derive(Clone, Copy)]
enum Word {
    /// The argument of this name, with the value of the option.
    Text(&'static str),
    /// The argument of this name, with several values.
    List(&'static str),
    /// The first argument, with the second as its value.
    Is(&'static str, &'static str),
    /// The argument of this name, set to true.
    Flag(&'static str),
    /// None, because the tool does this anyway.
    Anyway,
    /// None for the option and its value, because the server determines the value.
    Given,
}

/// The tool argument that a positional argument is converted to.
#[derive(Clone, Copy)]
enum Position {
    /// `DOMAIN/CONTRACT`.
    Contract,
    /// The argument of this name.
    Text(&'static str),
}

const DOMAIN: &[(&str, Word)] = &[("--domain", Word::Text("domain"))];
const LOG: &[(&str, Word)] = &[("--domain", Word::Text("domain")), ("--realm", Word::Given), ("--all", Word::Anyway)];
const RFC: &[(&str, Word)] = &[("--rfc", Word::Text("rfc"))];
const CHECK: &[(&str, Word)] = &[
    ("--worktree", Word::Flag("worktree")),
    ("--all", Word::Is("scope", "all")),
    ("--published", Word::Is("scope", "published")),
    ("--rfc", Word::Text("rfc")),
];

/// The commands for which there is a tool.
const FORMS: &[Form] = &[
    (&realm::status::OPERATION, &[], &[]),
    (&realm::check::OPERATION, CHECK, &[]),
    (&realm::review::OPERATION, &[], &[]),
    (&realm::list::OPERATION, &[], &[]),
    (&realm::log::OPERATION, LOG, &[]),
    (&realm::topology::OPERATION, DOMAIN, &[]),
    (&pr::status::OPERATION, RFC, &[]),
    (&worktree::create::OPERATION, &[("--rfc", Word::Text("rfc")), ("--repos", Word::List("repos"))], &[]),
    (&session::start::OPERATION, &[("--rfc", Word::Text("active_rfc"))], &[]),
    (&session::stop::OPERATION, &[], &[]),
    (&notifications::list::OPERATION, &[("--state", Word::Text("state"))], &[]),
    (&contract::list::OPERATION, DOMAIN, &[]),
    (&contract::get::OPERATION, &[("--version", Word::Text("version"))], &[Position::Contract]),
    (
        &contract::diff::OPERATION,
        &[("--worktree", Word::Flag("worktree"))],
        &[Position::Contract, Position::Text("old_version"), Position::Text("new_version")],
    ),
    (
        &contract::impact::OPERATION,
        &[("--to", Word::Text("to")), ("--worktree", Word::Flag("worktree"))],
        &[Position::Contract],
    ),
];

/// Returns the words after the command of an operation, if a line is this command. The word `realm` may be left out.
fn after<'l, 'w>(line: &'l [&'w str], operation: &Operation) -> Option<&'l [&'w str]> {
    let short = operation.cli.strip_prefix(&["realm"]);
    line.strip_prefix(operation.cli).or_else(|| line.strip_prefix(short?))
}

/// Returns the tool that does the same as a command, with its arguments. Returns `None` if there is no such tool, or it
/// cannot express the whole command.
fn call(words: &[String]) -> Option<(&'static Operation, Map<String, Value>)> {
    let mut words = words.iter().map(String::as_str).skip_while(|word| *word == "git").peekable();
    words.next().filter(|word| *word == "blue")?;
    let mut arguments = Map::new();
    if words.next_if_eq(&"-C").is_some() {
        let folder = words.next().filter(|folder| folder.starts_with('/'))?;
        arguments.insert("cwd".into(), json!(folder));
    }
    if words.next_if_eq(&"--at").is_some() {
        arguments.insert("at".into(), json!(words.next()?));
    }
    let line: Vec<&str> = words.collect();
    let mut forms = FORMS.iter();
    let (rest, (operation, options, positions)) = forms.find_map(|form| Some((after(&line, form.0)?, form)))?;
    let mut rest = rest.iter().copied();
    let mut positions = positions.iter();
    while let Some(word) = rest.next() {
        if !word.starts_with('-') {
            match positions.next()? {
                Position::Contract => {
                    let (domain, contract) = word.split_once('/')?;
                    arguments.insert("domain".into(), json!(domain));
                    arguments.insert("contract".into(), json!(contract));
                }
                Position::Text(name) => drop(arguments.insert((*name).into(), json!(word))),
            }
            continue;
        }
        let (_, option) = options.iter().find(|(name, _)| *name == word)?;
        let (name, value) = match option {
            Word::Text(name) => (name, json!(rest.next()?)),
            Word::List(name) => (name, json!(rest.next()?.split(',').collect::<Vec<_>>())),
            Word::Is(name, value) => (name, json!(value)),
            Word::Flag(name) => (name, json!(true)),
            Word::Anyway => continue,
            Word::Given => {
                rest.next()?;
                continue;
            }
        };
        arguments.insert((*name).into(), value);
    }
    Some((*operation, arguments))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Value {
        json!(FollowUp::default().rewrite(&line.into()))
    }

    fn tool(name: &str, arguments: Value, reason: &str) -> Value {
        json!({"tool": name, "arguments": arguments, "reason": reason})
    }

    #[test]
    fn commands_with_a_tool_become_a_tool_call() {
        let at = |more: Value| {
            let mut all = json!({"domain": "s3", "contract": "paths"});
            all.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            all
        };
        for (line, expected) in [
            (
                "git blue contract get s3/paths  # read what changed",
                tool("contract_get", at(json!({})), "read what changed"),
            ),
            (
                "git blue contract diff s3/paths 1.0.0 2.0.0  # what changed",
                tool("contract_diff", at(json!({"old_version": "1.0.0", "new_version": "2.0.0"})), "what changed"),
            ),
            (
                "git blue contract impact s3/paths --to 2.0.0  # show the affected consumers",
                tool("contract_impact", at(json!({"to": "2.0.0"})), "show the affected consumers"),
            ),
            ("git blue check --worktree", tool("realm_check", json!({"worktree": true}), "")),
            ("git blue --at 2026-03-03 check", tool("realm_check", json!({"at": "2026-03-03"}), "")),
            ("git blue review", tool("realm_review", json!({}), "")),
            ("git blue realm status", tool("realm_status", json!({}), "")),
            ("git blue status", tool("realm_status", json!({}), "")),
            ("git blue realm log --realm r --all  # its history", tool("realm_log", json!({}), "its history")),
            ("git blue contract list  # list the contracts", tool("contract_list", json!({}), "list the contracts")),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn every_named_tool_exists() {
        for (operation, ..) in FORMS {
            assert!(operation.tool.is_some(), "{}", operation.name);
        }
        let line = "git blue session start --rfc rfc-1  # track your work";
        let writing = FollowUp { may_write: true, ..FollowUp::default() };
        assert_eq!(
            json!(writing.rewrite(&line.into())),
            tool("session_start", json!({"active_rfc": "rfc-1"}), "track your work")
        );
    }

    #[test]
    fn steps_name_the_project_of_the_call() {
        let follow_up =
            |cwd: &str| FollowUp { cwd: Some(cwd.into()), realm: Some("r".parse().unwrap()), may_write: true };
        for (line, expected) in [
            (
                "git blue check",
                json!({"tool": "realm_check", "arguments": {"cwd": "/a b", "realm": "r"}, "reason": ""}),
            ),
            // It works on the working tree, and does not list the argument.
            ("git blue review", json!({"tool": "realm_review", "arguments": {"cwd": "/a b"}, "reason": ""})),
            (
                "git blue -C /c session start",
                json!({"tool": "session_start", "arguments": {"cwd": "/c"}, "reason": ""}),
            ),
            ("git blue sync", json!({"command": "git blue -C '/a b' --realm r sync", "reason": ""})),
        ] {
            assert_eq!(json!(follow_up("/a b").rewrite(&line.into())), expected, "{line}");
        }
        let far = follow_up(&format!("/{}", "a".repeat(MAX_COMMAND)));
        for line in ["git blue check  # why", "git blue sync  # why"] {
            assert_eq!(far.rewrite(&line.into()), Some(NextStep::advice("why")));
        }
    }

    #[test]
    fn other_commands_stay_commands_or_advice() {
        let command = |command: &str, reason: &str| json!({"command": command, "reason": reason});
        let advice = |reason: &str| json!({"reason": reason});
        for (line, expected) in [
            ("git blue check --strict", command("git blue check --strict", "")),
            ("git blue contract gets", command("git blue contract gets", "")),
            ("git blue init --realm …  # create one", command("git blue init --realm …", "create one")),
            ("git blue import a/b '>=1.0.0, <2.0.0'  # x", command("git blue import a/b '>=1.0.0, <2.0.0'", "x")),
            (
                "git blue contract retire a/b --reason \"x: y\"",
                command("git blue contract retire a/b --reason \"x: y\"", ""),
            ),
            ("git add .blue && git commit -m x", command("git add .blue && git commit -m x", "")),
            ("You own this contract.", advice("You own this contract.")),
            (
                "git blue check --published  # check only the realm",
                tool("realm_check", json!({"scope": "published"}), "check only the realm"),
            ),
            ("git blue realm worktree create x  # y", command("git blue realm worktree create x", "y")),
            ("git blue session start  # track your work", Value::Null),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
    }

    #[test]
    fn options_of_the_command_line_become_arguments_of_tools() {
        let rewritten = |option| FollowUp::default().rewrite(&NextStep::option(option, "change it, or pass …"));
        let with_folder = NextStep::advice("pass cwd: the absolute path of a directory in the repository");
        assert_eq!(rewritten(CliOption::Folder), Some(with_folder));
        assert_eq!(rewritten(CliOption::Repo), None);
    }
}
