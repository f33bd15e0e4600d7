//! Next steps, as data that each interface renders in its own way.

use std::{borrow::Cow, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{name::RealmName, text::shell_word};

/// The separator between a command and its reason on a line.
const REASON: &str = "  # ";
/// The programs that a next step can start with.
const PROGRAMS: [&str; 8] = ["git ", "cd ", "mkdir ", "cargo ", "export ", "unset ", "chmod ", "npm "];

/// A next step: a command, the MCP tool that does the same, or advice if no command does it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum NextStep {
    /// Call a tool of the MCP server. Only its answers have such steps.
    Tool {
        /// Its name.
        tool: Cow<'static, str>,
        /// Its arguments.
        arguments: Map<String, Value>,
        /// The reason; may be empty.
        reason: String,
    },
    /// Run a command in the repository.
    Command {
        /// The command line, ready to paste into a shell.
        command: String,
        /// The reason; may be empty.
        #[serde(default)]
        reason: String,
    },
    /// Do something that no command does.
    Advice {
        /// The advice.
        reason: String,
        /// The option of the command line that the advice names.
        #[serde(skip)]
        option: Option<CliOption>,
    },
}

/// An option of the command line for which other interfaces have something else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CliOption {
    /// `-C DIR`: the folder of the repository.
    Folder,
    /// `--repo NAME`: the name of the repository in the realm.
    Repo,
}

impl NextStep {
    /// Creates a step that is advice rather than a command.
    pub fn advice(text: impl Into<String>) -> Self {
        Self::Advice { reason: text.into(), option: None }
    }

    /// Creates a step that advises to pass an option of the command line.
    pub fn option(option: CliOption, text: impl Into<String>) -> Self {
        Self::Advice { reason: text.into(), option: Some(option) }
    }

    /// Returns the command, if the step is one.
    pub fn command(&self) -> Option<&str> {
        match self {
            Self::Command { command, .. } => Some(command),
            Self::Tool { .. } | Self::Advice { .. } => None,
        }
    }

    /// Returns the step with commands that act on `realm`, for a repository that has another one or none.
    #[must_use]
    pub fn in_realm(&self, realm: &RealmName) -> Self {
        match self {
            Self::Command { command, reason } if !command.contains("--realm") => {
                let each = command.split(" && ").map(|part| match part.strip_prefix("git blue ") {
                    // These choose the realm of the repository themselves, or need none.
                    Some(rest) if !["init", "leave", "install "].iter().any(|command| rest.starts_with(command)) => {
                        Cow::from(format!("git blue --realm {realm} {rest}"))
                    }
                    _ => Cow::from(part),
                });
                Self::Command { command: each.collect::<Vec<_>>().join(" && "), reason: reason.clone() }
            }
            other => other.clone(),
        }
    }

    /// Returns the step with a command that runs in `folder`, unless its reason names another place.
    #[must_use]
    pub fn in_folder(&self, folder: &str) -> Self {
        match self {
            Self::Command { command, reason }
                if !["in ", "run in "].iter().any(|place| reason.starts_with(place))
                    && !command.contains(" -C ")
                    && !command.starts_with("cd ") =>
            {
                let folder = shell_word(folder);
                let command = match command.strip_prefix("git blue ") {
                    Some(rest) if ![" && ", " | ", " >"].iter().any(|sign| rest.contains(sign)) => {
                        format!("git blue -C {folder} {rest}")
                    }
                    _ => format!("cd {folder} && {command}"),
                };
                Self::Command { command, reason: reason.clone() }
            }
            other => other.clone(),
        }
    }

    /// Returns the reason for a command, or the advice.
    pub fn reason(&self) -> &str {
        match self {
            Self::Tool { reason, .. } | Self::Command { reason, .. } | Self::Advice { reason, .. } => reason,
        }
    }
}

/// Formats the step on one line: `command  # reason`, or the advice.
impl fmt::Display for NextStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tool { tool, arguments, .. } => write!(f, "{tool} {}", Value::Object(arguments.clone()))?,
            Self::Command { command, .. } => f.write_str(command)?,
            Self::Advice { reason, .. } => return f.write_str(reason),
        }
        match self.reason() {
            "" => Ok(()),
            reason => write!(f, "{REASON}{reason}"),
        }
    }
}

/// Parses a line in the format of [`Display`](fmt::Display). A line that starts with a known program is a command.
impl From<&str> for NextStep {
    fn from(line: &str) -> Self {
        if !PROGRAMS.iter().any(|program| line.starts_with(program)) {
            return Self::advice(line);
        }
        let (command, reason) = line.split_once(REASON).unwrap_or((line, ""));
        Self::Command { command: command.to_owned(), reason: reason.to_owned() }
    }
}

impl From<String> for NextStep {
    fn from(line: String) -> Self {
        line.as_str().into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_line_is_a_command_with_its_reason_or_advice() {
        for (line, expected) in [
            ("git blue sync", json!({"command": "git blue sync", "reason": ""})),
            ("git blue sync  # share it", json!({"command": "git blue sync", "reason": "share it"})),
            ("git commit -m \"fix: #1 # x\"", json!({"command": "git commit -m \"fix: #1 # x\"", "reason": ""})),
            ("ask its owner", json!({"reason": "ask its owner"})),
        ] {
            let step = NextStep::from(line);
            assert_eq!(json!(step), expected);
            assert_eq!(step.to_string(), line);
            assert_eq!(serde_json::from_value::<NextStep>(expected).unwrap(), step);
        }
    }

    #[test]
    fn commands_name_a_realm_that_is_not_the_default() {
        let realm = "other".parse().unwrap();
        for (line, expected) in [
            ("git blue sync  # share it", "git blue --realm other sync  # share it"),
            ("git add x && git blue check", "git add x && git blue --realm other check"),
            ("git blue init --url hub", "git blue init --url hub"),
            ("git blue leave", "git blue leave"),
            ("git blue realm log --realm other", "git blue realm log --realm other"),
            ("git commit -m \"git blue sync\"", "git commit -m \"git blue sync\""),
            ("ask its owner", "ask its owner"),
        ] {
            assert_eq!(NextStep::from(line).in_realm(&realm).to_string(), expected);
        }
    }

    #[test]
    fn commands_name_a_folder_that_is_not_the_current_one() {
        for (line, expected) in [
            ("git blue sync  # share it", "git blue -C '/a b' sync  # share it"),
            ("git blue import a/b '>=1.0.0'", "git blue -C '/a b' import a/b '>=1.0.0'"),
            ("git add x && git blue check", "cd '/a b' && git add x && git blue check"),
            ("git blue contract get a/b >x", "cd '/a b' && git blue contract get a/b >x"),
            ("git blue export a/b  # in owner", "git blue export a/b  # in owner"),
            ("git blue -C /c sync", "git blue -C /c sync"),
            ("cd /c", "cd /c"),
            ("ask its owner", "ask its owner"),
        ] {
            assert_eq!(NextStep::from(line).in_folder("/a b").to_string(), expected);
        }
    }

    #[test]
    fn a_tool_call_round_trips() {
        let call = json!({"tool": "realm_check", "arguments": {"scope": "all"}, "reason": "see all"});
        let step: NextStep = serde_json::from_value(call.clone()).unwrap();
        assert!(matches!(&step, NextStep::Tool { tool, .. } if tool == "realm_check"));
        assert_eq!(json!(step), call);
        assert_eq!(step.to_string(), "realm_check {\"scope\":\"all\"}  # see all");
    }
}
