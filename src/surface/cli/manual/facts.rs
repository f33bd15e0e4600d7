//! Facts for manual pages that do not belong to one option: variables, files, exit codes.

/// A variable, a file or an exit code.
pub(super) struct Fact {
    /// Its name.
    pub name: &'static str,
    /// Its meaning, in a sentence.
    pub text: &'static str,
    /// The prefixes of the names of the commands that it concerns; empty for all commands.
    pub commands: &'static [&'static str],
}

impl Fact {
    const fn of_all(name: &'static str, text: &'static str) -> Self {
        Self { name, text, commands: &[] }
    }

    /// Returns whether the fact concerns a command, which is given without `git blue`.
    pub fn concerns(&self, command: &str) -> bool {
        let is_below = |above: &&str| command == *above || command.starts_with(&format!("{above} "));
        match self.commands {
            [] => !WITHOUT_REALM.contains(&command),
            commands => command.is_empty() || commands.iter().any(is_below),
        }
    }
}

/// Commands that open no realm.
const WITHOUT_REALM: &[&str] = &["compat", "install man", "install completions"];

/// The exit codes besides 1, whose meaning depends on the command.
pub(super) const EXIT_CODES: [(&str, &str); 3] = [
    ("0", "Success."),
    ("128", "The command could not run; for example, a file cannot be read, or there is no realm."),
    ("129", "The command line is invalid."),
];

/// The meaning of exit code 1, unless the page of a command says otherwise.
pub(super) const EXIT_1: &str =
    "The request was refused, or names something that does not exist; the message gives the reason.";

const PULL_REQUESTS: &[&str] = &["realm pr", "notify forge"];
const CHECKS: &[&str] = &["check", "realm check"];
const REPORTS: &[&str] = &["check", "realm check", "compat"];

/// The environment variables; docs/environment.md describes them in full.
pub(super) const VARIABLES: &[Fact] = &[
    Fact::of_all("GIT_BLUE_HOME", "The directory with this machine's realms and settings. The default is ~/.blue."),
    Fact::of_all("GIT_BLUE_REALM", "The realm to use; --realm takes precedence."),
    Fact::of_all("GIT_BLUE_REPO", "The name of this repository in the realm."),
    Fact::of_all(
        "GIT_BLUE_LOG",
        "Write a log: at this level (error, warn, info, debug, trace), to this file, or both.",
    ),
    Fact { name: "GIT_BLUE_DIR", text: "The project to serve, unless -C is given.", commands: &["mcp"] },
    Fact {
        name: "GITHUB_ACTIONS",
        text: "If true, findings are shown as annotations; the same goes for FORGEJO_ACTIONS and GITEA_ACTIONS.",
        commands: REPORTS,
    },
    Fact { name: "GITHUB_BASE_REF", text: "The target branch of a pull request, used as --base.", commands: CHECKS },
    Fact {
        name: "CI_MERGE_REQUEST_TARGET_BRANCH_SHA",
        text: "The commit that GitLab merged a merge request into, used as --base.",
        commands: CHECKS,
    },
    Fact {
        name: "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        text: "The commit that a merge request starts from, used as --base.",
        commands: CHECKS,
    },
    Fact { name: "GITHUB_STEP_SUMMARY", text: "The file to append a summary to.", commands: REPORTS },
    Fact {
        name: "GITHUB_REF",
        text: "The pull request of a workflow run; on GitLab, CI_MERGE_REQUEST_IID.",
        commands: &["realm pr comment"],
    },
    Fact { name: "GITHUB_TOKEN", text: "The token for GitHub; GH_TOKEN works too.", commands: PULL_REQUESTS },
    Fact { name: "GITLAB_TOKEN", text: "The token for GitLab.", commands: PULL_REQUESTS },
    Fact { name: "FORGEJO_TOKEN", text: "The token for Forgejo.", commands: PULL_REQUESTS },
    Fact { name: "GIT_EDITOR", text: "The editor, as in git.", commands: &["contract edit"] },
    Fact::of_all("GIT_PAGER", "The pager, as in git."),
    Fact::of_all("NO_COLOR", "Disable colors; --color takes precedence."),
];

/// The files.
pub(super) const FILES: &[Fact] = &[
    Fact::of_all(".blue/config.yaml", "The realm and the name of this repository; committed."),
    Fact::of_all(".blue/contracts/DOMAIN/NAME.yaml", "A contract that this repository owns; committed."),
    Fact::of_all(".blue/bindings/DOMAIN.yaml", "The exports and imports of this repository; committed."),
    Fact::of_all("$GIT_BLUE_HOME/config", "The locations of realms and repositories on this machine, in git's format."),
    Fact::of_all("$GIT_BLUE_HOME/realms/NAME.git", "The store of a realm: a bare git repository."),
    Fact {
        name: "$GIT_BLUE_HOME/daemon/token",
        text: "The token that authenticates programs to the daemon; readable only by you.",
        commands: &["daemon"],
    },
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variable_is_documented() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
        let text: String = ["environment.md", "ci.md"]
            .iter()
            .map(|file| std::fs::read_to_string(format!("{folder}/{file}")).unwrap())
            .collect();
        for variable in VARIABLES.iter().filter(|variable| variable.name != "GIT_EDITOR") {
            assert!(text.contains(&format!("`{}`", variable.name)), "{} is not in docs/environment.md", variable.name);
        }
    }
}
