//! `git blue complete` prints the candidates for TAB. The short scripts for bash, zsh and fish call it. Commands and
//! options come from the parser; names are read from the realm. It never writes, and on an error it offers fewer
//! candidates instead of failing.

use std::collections::BTreeMap;

use clap::{Arg, Command};

use crate::{
    env::Env,
    error::OpError,
    model::name::RealmName,
    ops::{ctx::Ctx, names},
    surface::escape::clean,
};

/// Tells the script to complete file names or folders.
const FILES: &str = ":files";
const FOLDERS: &str = ":folders";

/// The kind of value that an option or argument takes, derived from its value name in the help. For other names, nothing
/// can be offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Realm,
    Repo,
    Repos,
    Domain,
    DomainContract,
    /// A contract of the domain that `--domain` names.
    Contract,
    /// A contract of the domain, followed by a version range.
    Import,
    Version,
    Notification,
    Session,
    Rfc,
    File,
    Folder,
}

const KINDS: &[(&str, Kind)] = &[
    ("REALM", Kind::Realm),
    ("OTHER", Kind::Realm),
    ("REPO", Kind::Repo),
    ("REPO,…", Kind::Repos),
    ("DOMAIN", Kind::Domain),
    ("DOMAIN/CONTRACT", Kind::DomainContract),
    ("EXPORT", Kind::Contract),
    ("IMPORT", Kind::Import),
    ("VERSION", Kind::Version),
    ("FROM", Kind::Version),
    ("TO", Kind::Version),
    ("ID", Kind::Notification),
    ("SESSION", Kind::Session),
    ("FILE", Kind::File),
    ("OLD", Kind::File),
    ("NEW", Kind::File),
    ("PATH", Kind::File),
    ("DIR", Kind::Folder),
    ("TIME|COMMIT|VERSION", Kind::Version),
    ("RFC", Kind::Rfc),
];

fn kind(arg: &Arg) -> Option<Kind> {
    let name = arg.get_value_names()?.first()?;
    KINDS.iter().find(|(known, _)| known == name).map(|(_, kind)| *kind)
}

/// Returns the candidates for the last of these words, one per line: the word, a tab, its description.
pub fn offer(env: Env, words: &[String]) -> String {
    let mut root = super::command();
    root.build();
    let (last, before) = match words.split_last() {
        Some((last, before)) => (last.as_str(), before),
        None => ("", &[][..]),
    };
    let line = Line::read(&root, before);
    let mut text = String::new();
    for (word, help) in line.offers(&env, last) {
        text += &format!("{}\t{}\n", clean(&word), clean(&help));
    }
    text
}

/// A candidate and its description.
type Offer = (String, String);

/// The words before the one to complete, parsed as far as possible.
struct Line<'a> {
    command: &'a Command,
    /// The values given so far, by the id of the option; positional arguments in order.
    options: BTreeMap<&'a str, String>,
    positional: Vec<String>,
    /// The option that expects a value next.
    open: Option<&'a Arg>,
    only_positional: bool,
}

impl<'a> Line<'a> {
    fn read(root: &'a Command, words: &[String]) -> Self {
        let mut line = Self {
            command: root,
            options: BTreeMap::new(),
            positional: Vec::new(),
            open: None,
            only_positional: false,
        };
        for word in words {
            line.take(word);
        }
        line
    }

    fn take(&mut self, word: &str) {
        if let Some(arg) = self.open.take() {
            self.options.insert(arg.get_id().as_str(), word.to_owned());
        } else if self.only_positional || !word.starts_with('-') || word == "-" {
            match self.command.find_subcommand(word).filter(|_| !self.only_positional && self.positional.is_empty()) {
                Some(command) => self.command = command,
                None => self.positional.push(word.to_owned()),
            }
        } else if word == "--" {
            self.only_positional = true;
        } else if let Some(long) = word.strip_prefix("--") {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            if let Some(arg) = self.command.get_arguments().find(|arg| arg.get_long() == Some(name)) {
                self.given(arg, value);
            }
        } else {
            self.take_short(&word[1..]);
        }
    }

    /// Parses a group of short options such as `-qf`. The last one may take a value.
    fn take_short(&mut self, mut letters: &str) {
        while let Some(letter) = letters.chars().next() {
            letters = &letters[letter.len_utf8()..];
            let Some(arg) = self.command.get_arguments().find(|arg| arg.get_short() == Some(letter)) else { return };
            if arg.get_action().takes_values() {
                return self.given(arg, Some(letters).filter(|rest| !rest.is_empty()));
            }
            self.given(arg, None);
        }
    }

    fn given(&mut self, arg: &'a Arg, value: Option<&str>) {
        match value {
            None if arg.get_action().takes_values() => self.open = Some(arg),
            value => {
                self.options.insert(arg.get_id().as_str(), value.unwrap_or_default().to_owned());
            }
        }
    }

    fn offers(&self, env: &Env, last: &str) -> Vec<Offer> {
        if let Some(arg) = self.open {
            return self.values(env, arg, last);
        }
        let is_option = !self.only_positional && last.starts_with('-');
        match last.split_once('=') {
            Some((option, value)) if is_option => {
                let long = option.trim_start_matches("--");
                let arg = self.command.get_arguments().find(|arg| arg.get_long() == Some(long));
                let values = arg.map(|arg| self.values(env, arg, value)).unwrap_or_default();
                values.into_iter().map(|(value, help)| (within(option, value), help)).collect()
            }
            _ if is_option => self.options(last),
            _ => self.words(env, last),
        }
    }

    /// Returns the options that were not given yet.
    fn options(&self, last: &str) -> Vec<Offer> {
        let again = |arg: &&Arg| {
            matches!(arg.get_action(), clap::ArgAction::Append) || !self.options.contains_key(arg.get_id().as_str())
        };
        let shown = self.command.get_arguments().filter(|arg| !arg.is_positional() && !arg.is_hide_set()).filter(again);
        let spelled = shown.flat_map(|arg| {
            let short = arg.get_short().map(|letter| format!("-{letter}"));
            let long = arg.get_long().map(|name| format!("--{name}"));
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            // One spelling per option is enough: the long one, which is more descriptive.
            long.or(short).map(|option| (option, help))
        });
        spelled.filter(|(option, _)| option.starts_with(last)).collect()
    }

    /// Returns subcommands, or values of the next positional argument.
    fn words(&self, env: &Env, last: &str) -> Vec<Offer> {
        let mut found = Vec::new();
        if self.positional.is_empty() && !self.only_positional {
            let commands = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
            found.extend(
                commands
                    .filter(|command| command.get_name().starts_with(last))
                    .map(|command| (command.get_name().to_owned(), about(command))),
            );
        }
        let mut arguments = self.command.get_positionals();
        let next = arguments.nth(self.positional.len()).or_else(|| {
            // The last positional argument may be repeatable.
            self.command.get_positionals().last().filter(|arg| matches!(arg.get_action(), clap::ArgAction::Append))
        });
        found.extend(next.map(|arg| self.values(env, arg, last)).unwrap_or_default());
        found
    }

    fn values(&self, env: &Env, arg: &Arg, last: &str) -> Vec<Offer> {
        let possible = arg.get_possible_values();
        if !possible.is_empty() {
            let shown = possible.iter().filter(|value| !value.is_hide_set() && value.get_name().starts_with(last));
            let help = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string);
            return shown.map(|value| (value.get_name().to_owned(), help(value).unwrap_or_default())).collect();
        }
        match kind(arg) {
            None => Vec::new(),
            Some(Kind::File) => vec![(FILES.into(), String::new())],
            Some(Kind::Folder) => vec![(FOLDERS.into(), String::new())],
            Some(kind) => {
                let found = self.ctx(env).and_then(|ctx| self.names(&ctx, kind, last)).unwrap_or_default();
                found.into_iter().filter(|name| name.starts_with(last)).map(|name| (name, String::new())).collect()
            }
        }
    }

    /// Returns the context for the realm and the folder that the preceding words name.
    fn ctx(&self, env: &Env) -> Result<Ctx, OpError> {
        let env = match self.options.get("directory") {
            Some(folder) => env.clone().at(folder.as_ref()),
            None => env.clone(),
        };
        let realm = self.options.get("realm").map(|realm| realm.parse::<RealmName>()).transpose()?;
        Ctx::open(env, realm)
    }

    fn names(&self, ctx: &Ctx, kind: Kind, last: &str) -> Result<Vec<String>, OpError> {
        let of_domain = || match self.options.get("domain").and_then(|name| name.parse().ok()) {
            Some(domain) => names::contracts(ctx, &domain),
            None => Ok(Vec::new()),
        };
        match kind {
            Kind::Realm => names::realms(ctx),
            Kind::Repo => names::repos(ctx),
            Kind::Repos => {
                let before = last.rfind(',').map_or("", |at| &last[..=at]);
                let given = |name: &String| before.split(',').any(|one| one == name);
                let repos = names::repos(ctx)?.into_iter().filter(|name| !given(name));
                Ok(repos.map(|name| format!("{before}{name}")).collect())
            }
            Kind::Domain => names::domains(ctx),
            Kind::DomainContract => match self.command.get_name() {
                "unimport" | "adapted" => names::imported_contracts(ctx),
                "bump" | "edit" | "export" | "retire" | "transfer" | "unexport" | "yank" => names::own_contracts(ctx),
                _ => domain_contract(ctx, last),
            },
            Kind::Contract => of_domain(),
            Kind::Import => Ok(of_domain()?.into_iter().map(|name| name + "@").collect()),
            Kind::Version => match self.positional.first().and_then(|name| name.parse().ok()) {
                Some(contract) => names::versions(ctx, &contract),
                None => Ok(Vec::new()),
            },
            Kind::Notification => names::notifications(ctx),
            Kind::Session => names::sessions(ctx),
            Kind::Rfc => names::rfcs(ctx),
            Kind::File | Kind::Folder => Ok(Vec::new()),
        }
    }
}

/// Completes in steps, like paths: the domain first, unless only one contract matches.
fn domain_contract(ctx: &Ctx, last: &str) -> Result<Vec<String>, OpError> {
    let within = |domain: &str| -> Result<Vec<String>, OpError> {
        let contracts = names::contracts(ctx, &domain.parse()?)?;
        Ok(contracts.into_iter().map(|contract| format!("{domain}/{contract}")).collect())
    };
    if let Some((domain, _)) = last.split_once('/') {
        return within(domain);
    }
    let domains: Vec<_> = names::domains(ctx)?.into_iter().filter(|name| name.starts_with(last)).collect();
    match &domains[..] {
        [only] => within(only),
        many => Ok(many.iter().map(|domain| format!("{domain}/")).collect()),
    }
}

/// Returns a value prefixed with its option, as in `--option=value`. Markers for the script are left unchanged.
fn within(option: &str, value: String) -> String {
    if value.starts_with(':') { value } else { format!("{option}={value}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(words: &[&str]) -> Vec<String> {
        let words: Vec<_> = words.iter().map(ToString::to_string).collect();
        let text = offer(Env::isolated("/", []), &words);
        text.lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
    }

    #[test]
    fn offered_commands_options_and_values_can_be_parsed() {
        assert_eq!(offered(&["st"]), ["status"]);
        assert_eq!(offered(&["realm", "admin", "do"]), ["domain"]);
        assert!(!offered(&[""]).contains(&"hook".to_owned()), "plumbing is not offered");
        assert_eq!(offered(&["check", "--wor"]), ["--worktree"]);
        assert_eq!(offered(&["check", "--mode", ""]), ["all", "contract", "exporter", "importer", "compatibility"]);
        assert_eq!(offered(&["check", "--mode=i"]), ["--mode=importer"]);
        assert_eq!(offered(&["contract", "edit", "a/b", "--file", ""]), [":files"]);
        assert_eq!(offered(&["contract", "edit", "a/b", "--file=x"]), [":files"]);
        assert_eq!(offered(&["-C", ""]), [":folders"]);
        assert_eq!(offered(&["-qC", "/", "st"]), ["status"]);
        assert_eq!(offered(&["realm", "admin", "contract", "--backwards", "t"]), ["true"]);
    }

    #[test]
    fn given_options_are_not_offered_again() {
        assert!(offered(&["check", "--"]).contains(&"--strict".to_owned()));
        assert!(!offered(&["check", "--strict", "--"]).contains(&"--strict".to_owned()));
        let binding = ["realm", "admin", "binding", "--export", "a", "--exp"];
        assert_eq!(offered(&binding), ["--export"], "unless it may be");
        assert!(offered(&["status", "--", "--"]).is_empty(), "behind -- there are no options");
    }

    #[test]
    fn invalid_input_offers_nothing() {
        for words in
            [&[][..], &["nonsense", ""], &["--nonsense", "--nonsense=", ""], &["-é", "st"], &["contract", "get", ""]]
        {
            let _ = offered(words);
        }
        assert!(offered(&["contract", "get", ""]).is_empty(), "there is no realm here");
        assert!(offered(&["contract", "get", "../..", "--version", ""]).is_empty());
    }
}
