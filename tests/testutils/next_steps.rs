//! Every next step that a test sees is a valid command line.

use std::sync::OnceLock;

use clap::Command;

/// Placeholders that the user fills in.
const OPEN: [&str; 2] = ["…", "<"];

/// Panics if the `git blue` commands of a step do not parse.
#[track_caller]
pub fn hold(steps: &[String]) {
    for step in steps {
        let command = step.split_once("  # ").map_or(&**step, |(command, _)| command);
        for one in command.split(" && ").flat_map(|one| one.split(" | ")) {
            let words: Vec<_> = words(one).into_iter().take_while(|word| !word.starts_with('>')).collect();
            let own = words.iter().position(|word| word == "blue").filter(|_| words[0] == "git");
            let Some(own) = own.filter(|_| !OPEN.iter().any(|open| one.contains(open))) else { continue };
            if let Err(error) = program().try_get_matches_from(&words[own..])
                && error.use_stderr()
            {
                panic!("the step `{step}` cannot be pasted: {error}");
            }
        }
    }
}

/// Returns the command line of the program.
pub fn program() -> Command {
    static PROGRAM: OnceLock<Command> = OnceLock::new();
    PROGRAM.get_or_init(git_blue::surface::cli::command).clone()
}

/// Splits a command like a shell, without expansions.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match quote {
            Some(open) if c == open => quote = None,
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            None if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}
