//! What to do next, in the words of who reads it.

use super::tools::TOOLS;

/// Returns a step that names a command as one that names its tool, where there is one.
pub fn of_tools(step: &str) -> String {
    if step.ends_with("or pass -C DIR") {
        return "pass cwd: the absolute path of a folder in the repository".to_owned();
    }
    if let Some(rest) = step.strip_prefix("pass --published ") {
        return format!("pass scope published {rest}");
    }
    let Some(rest) = step.strip_prefix("git blue ") else { return step.to_owned() };
    for tool in TOOLS {
        let command = tool.operation.cli.join(" ");
        let short = command.strip_prefix("realm ").filter(|short| matches!(*short, "status" | "check" | "review"));
        for command in [Some(command.as_str()), short].into_iter().flatten() {
            if let Some(arguments) = rest.strip_prefix(command)
                && !arguments.starts_with(|c: char| c.is_alphanumeric())
                && !arguments.starts_with(" -")
            {
                return format!("{}{arguments}", tool.name());
            }
        }
    }
    step.to_owned()
}

#[cfg(test)]
mod tests {
    use super::of_tools;

    #[test]
    fn commands_with_a_tool_become_the_tool() {
        for (step, expected) in [
            ("git blue contract get s3/paths: read what changed", "contract_get s3/paths: read what changed"),
            ("git blue check: say what is wrong", "realm_check: say what is wrong"),
            ("git blue realm status", "realm_status"),
            ("git blue check --strict", "git blue check --strict"),
            ("git blue contract gets", "git blue contract gets"),
            ("git blue contract list shows those there are", "contract_list shows those there are"),
            ("git blue init --realm NAME", "git blue init --realm NAME"),
            (
                "change into a repository of the realm, or pass -C DIR",
                "pass cwd: the absolute path of a folder in the repository",
            ),
            ("You own this contract.", "You own this contract."),
        ] {
            assert_eq!(of_tools(step), expected);
        }
    }
}
