//! What to write into a client's configuration, so that it starts the server.

use serde_json::{Value, json};

use crate::env::Env;

/// A client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// Claude Code.
    ClaudeCode,
    /// Claude Desktop.
    ClaudeDesktop,
    /// Cursor.
    Cursor,
    /// VS Code.
    VsCode,
}

/// Where a configuration belongs, and what it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The file, as its documentation names it.
    pub file: &'static str,
    /// What to write there, or to merge into what is there.
    pub content: Value,
}

/// Returns the configuration for a client.
pub fn config(env: &Env, client: ClientKind, all_realms: bool) -> Config {
    let mut arguments = vec!["mcp".to_owned(), "serve".to_owned()];
    // A file that is committed names no path of this machine; a program that a desktop starts has
    // a PATH without the user's own folders.
    let mut command = "git-blue".to_owned();
    if client == ClientKind::ClaudeDesktop {
        command = env.exe().display().to_string();
        if !all_realms {
            // It works in no project of its own.
            arguments.extend(["-C".to_owned(), env.cwd().display().to_string()]);
        }
    }
    if all_realms {
        arguments.push("--all-realms".to_owned());
    }
    let server = json!({"type": "stdio", "command": command, "args": arguments});
    let (file, key) = match client {
        ClientKind::ClaudeCode => (".mcp.json", "mcpServers"),
        ClientKind::ClaudeDesktop => ("claude_desktop_config.json", "mcpServers"),
        ClientKind::Cursor => (".cursor/mcp.json", "mcpServers"),
        ClientKind::VsCode => (".vscode/mcp.json", "servers"),
    };
    Config { file, content: json!({key: {"git-blue": server}}) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_committed_names_no_path_of_this_machine() {
        let env = Env::sealed("/home/ada/work", []);
        for client in [ClientKind::ClaudeCode, ClientKind::Cursor, ClientKind::VsCode] {
            let text = config(&env, client, false).content.to_string();
            assert!(!text.contains("ada") && text.contains("\"git-blue\""), "{text}");
        }
        let desktop = |all_realms| config(&env, ClientKind::ClaudeDesktop, all_realms).content.to_string();
        assert!(desktop(false).contains("\"-C\",\"/home/ada/work\""));
        assert!(desktop(true).contains("--all-realms") && !desktop(true).contains("/home/ada"));
    }
}
