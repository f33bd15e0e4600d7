//! `docs/cli.md` is generated from the definitions that parse the arguments.

use std::fmt::Write as _;

use clap::Command;
use git_blue::surface::cli;

use crate::{ROOT, is_update};

const HEAD: &str = "\
# The command line

Every command, as `git blue COMMAND -h` shows it, with its examples. `git-blue COMMAND --help` and the manual
pages (`git blue install man`) say more.

The options of every command (`--json`, `-C`, `--realm`, …) are listed once, under [`git blue`](#git-blue).

Answers go to standard output, everything else to standard error. The exit code is 0 for success (also for an
empty list), 1 if the answer is no (a failed check, an unknown contract or domain, a refusal), 128 if the command
cannot run (no realm, an unknown realm, repository, RFC or commit, a broken store) and 129 for wrong usage. With
`--json`, errors are JSON on standard output too.

[schema/](schema/) has the JSON Schemas of the answers. Each is named after the long form of its command:
`git blue status` answers with `realm_status`. `install` and `daemon` are for the commands of these groups (and of
`uninstall`) that have no schema of their own, and `error` is for all errors. The commands of `git blue mcp` have none.
";

#[test]
fn cli_reference_is_current() {
    let mut text = HEAD.to_owned();
    let mut root = cli::command().term_width(96);
    root.build();
    write(&root, &mut text);
    let path = std::path::Path::new(ROOT).join("docs/cli.md");
    if is_update() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/cli.md is stale: UPDATE=1 cargo test --test docs");
}

/// Writes commands in the order of the help, with groups as headings.
fn write(command: &Command, text: &mut String) {
    let name = command.get_bin_name().unwrap_or("git blue");
    let level = if command.has_subcommands() { "##" } else { "###" };
    let is_root = name == "git blue";
    let own = command.clone().mut_args(|arg| if arg.is_global_set() && !is_root { arg.hide(true) } else { arg });
    let help = own.clone().render_help().to_string();
    let examples = own.get_after_long_help().map(ToString::to_string).unwrap_or_default();
    let shown: Vec<_> = help.lines().map(str::trim_end).collect();
    let shown = shown.join("\n");
    let shown = cli::manual::printed(&[shown.trim_end(), &examples].join("\n\n"));
    let block = format!("\n\n```text\n{}\n```\n", shown.trim_end());
    // Short commands come before the commands that they abbreviate.
    let short = name.replacen(" realm ", " ", 1);
    let is_repeated = short != name && text.contains(&format!("`{short}`{}", block.replace(name, &short)));
    let anchor = short.replace(' ', "-");
    let block = if is_repeated { format!("\n\nThe same as [`{short}`](#{anchor}).\n") } else { block };
    write!(text, "\n{level} `{name}`{block}").unwrap();
    let shown = |sub: &&Command| !sub.is_hide_set() && sub.get_name() != "help";
    for sub in command.get_subcommands().filter(shown) {
        write(sub, text);
    }
}
