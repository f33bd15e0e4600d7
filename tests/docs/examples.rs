//! Runs the examples in the long help of commands: those that only read, and need nothing but the realm of
//! `make_realm.sh`. `src/surface/cli/manual/mod.rs` tests that the others can be parsed.

use git_blue::{ops, surface::cli};

use crate::scripted::Scripted;

/// Examples that need something that the realm does not have: other contracts, files, programs or hosts.
const NEEDS_MORE: [&str; 12] = [
    "orders/",
    "staging",
    "watch",
    "dot -",
    ".json",
    "faster-checkout",
    "origin/main",
    "example.com",
    "2.0.0",
    "pr ",
    "sync --realm",
    "--worktree",
];

/// Returns the examples of operations that only read.
fn examples() -> Vec<String> {
    let mut found = Vec::new();
    for operation in ops::TABLE.iter().filter(|operation| !operation.writes) {
        let mut command = cli::command();
        for part in operation.cli {
            command = command.find_subcommand(part).unwrap().clone();
        }
        let help = command.get_after_long_help().unwrap().to_string();
        found.extend(help.lines().filter_map(|line| line.strip_prefix("    ")).map(str::to_owned));
    }
    found.retain(|line| !NEEDS_MORE.iter().any(|word| line.contains(word)));
    found
}

#[test]
fn examples_that_read_work_as_they_are_shown() {
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
