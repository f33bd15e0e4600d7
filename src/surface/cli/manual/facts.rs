//! Facts for manual pages that do not belong to one option: variables, files, exit codes.

/// A variable, a file or an exit code.
pub(super) struct Fact {
    /// Its name.
    pub name: &'static str,
    /// What it means, in a sentence.
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
    ("0", "It worked, and the answer is yes."),
    ("128", "It cannot be done or told: there is no realm, or its store cannot be read."),
    ("129", "The command line is wrong."),
];

/// What exit code 1 means unless the page of a command says otherwise.
pub(super) const NO: &str = "Nothing was found, or the command was refused; the message says why.";

const PULL_REQUESTS: &[&str] = &["realm pr", "notify forge"];
const CHECKS: &[&str] = &["check", "realm check"];
const REPORTS: &[&str] = &["check", "realm check", "compat"];

/// The environment variables; docs/environment.md describes them in full.
pub(super) const VARIABLES: &[Fact] = &[
    Fact::of_all("GIT_BLUE_HOME", "Your own folder, with the realms of this machine. The default is ~/.blue."),
    Fact::of_all("GIT_BLUE_REALM", "The realm to use, as --realm, which comes first."),
    Fact::of_all("GIT_BLUE_REPO", "The name of this repository in the realm."),
    Fact::of_all(
        "GIT_BLUE_LOG",
        "Write a log to standard error; a level (error, warn, info, debug, trace), a file, or both.",
    ),
    Fact { name: "GIT_BLUE_DIR", text: "The project to serve, where -C names none.", commands: &["mcp"] },
    Fact {
        name: "GITHUB_ACTIONS",
        text: "Annotate the workflow run; so do FORGEJO_ACTIONS and GITEA_ACTIONS.",
        commands: REPORTS,
    },
    Fact { name: "GITHUB_BASE_REF", text: "The branch that a pull request goes to, as --base.", commands: CHECKS },
    Fact {
        name: "CI_MERGE_REQUEST_DIFF_BASE_SHA",
        text: "The commit that a merge request starts from, as --base.",
        commands: CHECKS,
    },
    Fact { name: "GITHUB_STEP_SUMMARY", text: "The file that a summary is appended to.", commands: REPORTS },
    Fact {
        name: "GITHUB_REF",
        text: "Which pull request a workflow run is of; on GitLab, CI_MERGE_REQUEST_IID.",
        commands: &["realm pr comment"],
    },
    Fact { name: "GITHUB_TOKEN", text: "Opens GitHub; GH_TOKEN does too.", commands: PULL_REQUESTS },
    Fact { name: "GITLAB_TOKEN", text: "Opens GitLab.", commands: PULL_REQUESTS },
    Fact { name: "FORGEJO_TOKEN", text: "Opens Forgejo.", commands: PULL_REQUESTS },
    Fact { name: "GIT_EDITOR", text: "The editor, as for git.", commands: &["contract edit"] },
    Fact::of_all("GIT_PAGER", "The pager, as for git."),
    Fact::of_all("NO_COLOR", "Use no colors, unless --color says otherwise."),
];

/// The files.
pub(super) const FILES: &[Fact] = &[
    Fact::of_all(".blue/config.yaml", "The realm and the name of this repository; committed."),
    Fact::of_all(".blue/contracts/DOMAIN/NAME.yaml", "A contract that this repository owns; committed."),
    Fact::of_all(".blue/bindings/DOMAIN.yaml", "What this repository exports and imports; committed."),
    Fact::of_all("$GIT_BLUE_HOME/config", "Where realms and repositories are on this machine, in git's format."),
    Fact::of_all("$GIT_BLUE_HOME/realms/NAME.git", "The store of a realm: a bare git repository."),
    Fact {
        name: "$GIT_BLUE_HOME/daemon/token",
        text: "The token that programs show to the daemon; readable by you alone.",
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
