//! Runs the examples in the long help that only read and need only the realm of `make_realm.sh`.
//! `src/surface/cli/manual/mod.rs` checks that the others parse.

use git_blue::{ops, surface::cli};

use crate::scripted::Scripted;

/// Parts of examples that need more than the realm has: other contracts, files, programs or hosts.
const NEEDS_MORE: [&str; 13] = [
    "orders/",
    "staging",
    "watch",
    "dot -",
    ".json",
    ".yaml#",
    "faster-checkout",
    "origin/main",
    "example.com",
    "2.0.0",
    "pr ",
    "sync --realm",
    "--worktree",
];

/// Returns the examples of reading operations.
fn examples() -> Vec<String> {
    let mut found = Vec::new();
    for operation in ops::TABLE.iter().filter(|operation| !operation.writes) {
        let mut command = cli::command();
        for part in operation.cli {
            command = command.find_subcommand(part).unwrap().clone();
        }
        let help = cli::manual::printed(&command.get_after_long_help().unwrap().to_string());
        let help = help.replace(" \\\n      ", " ");
        found.extend(help.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned));
    }
    found.retain(|line| !NEEDS_MORE.iter().any(|word| line.contains(word)));
    found
}

#[test]
fn reading_examples_in_help_work() {
    let place = Scripted::realm();
    let (code, output) = place.shell(
        "sed -i 's/\"1.0.0\"/\"1.1.0\"/' aperture/.blue/contracts/s3-access/s3-permissions.yaml
        git -C aperture commit -q -a -m 'A new minor version'",
    );
    assert_eq!(code, 0, "{output}");
    let examples = examples();
    assert!(examples.len() > 15, "{examples:?}");
    for example in examples {
        let (code, output) = place.shell(&format!("cd fungal && {example}"));
        assert_eq!(code, 0, "{example}: {output}");
    }
}
