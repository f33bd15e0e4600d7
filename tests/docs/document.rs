//! Runs the commands in a document: in ```` ```console ```` and ```` ```sh ```` blocks, a line `$ …` is a command, `>
//! …` continues it, and the rest is its output. In the output, `[..]` matches anything in a line and a line `...` any
//! lines.
//!
//! The commands of one document run in one shell, a minute apart, and must succeed. A document that contains `<!--
//! realm -->` starts with the three repositories of `make_realm.sh`.

use std::path::Path;

use snapbox::{Assert, IntoData as _};

use crate::{is_update, scripted::Scripted};

/// Separates the output of commands.
const MARK: &str = "\u{1e}";

/// Leaves only the user's identity in git's configuration: the tour must work with a plain git.
const BARE: &str = "for section in init advice gc maintenance; do git config --global --remove-section $section; done";

/// A command, and the lines of the document with its output.
struct Step {
    command: String,
    from: usize,
    to: usize,
}

/// Returns the commands in a document.
pub fn commands(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    steps(&text.lines().collect::<Vec<_>>()).into_iter().map(|step| step.command).collect()
}

/// Returns the differences between a document and the program.
pub fn differences(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let steps = steps(&lines);
    if steps.is_empty() {
        return Vec::new();
    }
    let start = if path.ends_with("README.md") { BARE } else { "true" };
    let written = run(&steps, text.contains("<!-- realm -->"), start);
    let mut wrong = Vec::new();
    let mut new: Vec<String> = Vec::new();
    let mut at = 0;
    for (step, actual) in steps.iter().zip(&written) {
        let expected = lines[step.from..step.to].iter().map(|line| format!("{line}\n")).collect::<String>();
        new.extend(lines[at..step.from].iter().map(ToString::to_string));
        at = step.to;
        match Assert::new().try_eq(None, actual.clone().into_data(), expected.clone().into_data()) {
            Ok(()) => new.extend(expected.lines().map(str::to_owned)),
            Err(error) => {
                new.extend(actual.lines().map(str::to_owned));
                wrong.push(format!(":{}: $ {}\n{error}", step.from, step.command));
            }
        }
    }
    new.extend(lines[at..].iter().map(ToString::to_string));
    if is_update() && !wrong.is_empty() {
        std::fs::write(path, new.join("\n") + "\n").unwrap();
        wrong.clear();
    }
    wrong
}

fn steps(lines: &[&str]) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_block, mut is_open) = (false, false);
    for (number, line) in lines.iter().enumerate() {
        if let Some(language) = line.strip_prefix("```") {
            is_block = !is_block && matches!(language, "console" | "sh");
            is_open = false;
        } else if let (true, Some(command)) = (is_block, line.strip_prefix("$ ")) {
            steps.push(Step { command: command.to_owned(), from: number + 1, to: number + 1 });
            is_open = true;
        } else if let (true, Some(step)) = (is_open, steps.last_mut()) {
            let is_command = step.from == number;
            if let (true, Some(more)) = (is_command, line.strip_prefix('>')) {
                step.command += &format!("\n{}", more.strip_prefix(' ').unwrap_or(more));
                step.from += 1;
            }
            step.to = number + 1;
        }
    }
    steps
}

/// Returns the output of each command, with the folders of a user `ada`.
fn run(steps: &[Step], with_realm: bool, first: &str) -> Vec<String> {
    let (place, start) = if with_realm { (Scripted::realm(), "true") } else { (Scripted::new(), "cd \"$HOME\"") };
    let mut script = format!("{first} && {start}\n");
    for (number, step) in steps.iter().enumerate() {
        let (hour, minute) = (9 + number / 60, number % 60);
        script += &format!("printf '{MARK}'\nnow 2026-02-02T{hour:02}:{minute:02}:00Z\n{{ {}\n", step.command);
        script += &format!("}} || {{ echo \"exit code $? of step {number}\"; exit 1; }}\n");
    }
    let (_, output) = place.shell(&script);
    let here = place.path().display().to_string();
    let output = output.replace(&format!("{here}/home"), "/home/ada").replace(&here, "/home/ada/work");
    let output = output.replace(env!("CARGO_BIN_EXE_git-blue"), "/home/ada/.local/bin/git-blue");
    let clean = |text: &str| text.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>();
    output.split(MARK).skip(1).chain(std::iter::repeat("(not run)\n")).take(steps.len()).map(clean).collect()
}
