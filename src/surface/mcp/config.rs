//! What to write into a client's configuration, so that it starts the server.

use serde_json::{Value, json};

use crate::{env::Env, error::OpError};

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
    /// What else is to be done.
    pub notes: &'static [&'static str],
}

/// How clients come by the daemon's token.
const FROM_VARIABLE: &[&str] =
    &["the client reads the token from its environment: export GIT_BLUE_TOKEN=\"$(git blue daemon token)\""];
const FROM_USER: &[&str] = &["VS Code asks for the token once: git blue daemon token prints it"];

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
    let (file, key) = place(client);
    Config { file, content: json!({key: {"git-blue": server}}), notes: &[] }
}

/// Returns the configuration for a client that asks the daemon at a port. The token is a secret, and
/// such files are committed: it is not in them.
///
/// # Errors
/// Returns an error if the client cannot ask a server that it did not start.
pub fn over_http(client: ClientKind, port: u16) -> Result<Config, OpError> {
    let (file, key) = place(client);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let servers = |token: &str| json!({"git-blue": {"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}}});
    let (content, notes) = match client {
        ClientKind::ClaudeCode => (json!({key: servers("${GIT_BLUE_TOKEN}")}), FROM_VARIABLE),
        ClientKind::Cursor => (json!({key: servers("${env:GIT_BLUE_TOKEN}")}), FROM_VARIABLE),
        ClientKind::VsCode => {
            let id = "git-blue-token";
            let about = "What git blue daemon token prints";
            let input = json!({"type": "promptString", "id": id, "description": about, "password": true});
            (json!({"inputs": [input], key: servers(&format!("${{input:{id}}}"))}), FROM_USER)
        }
        ClientKind::ClaudeDesktop => {
            return Err(OpError::usage("Claude Desktop starts its servers itself, and asks none over HTTP")
                .next("git blue mcp generate-config --client claude-desktop --transport stdio"));
        }
    };
    Ok(Config { file, content, notes })
}

/// Returns a client's file, and the name under which servers stand in it.
fn place(client: ClientKind) -> (&'static str, &'static str) {
    match client {
        ClientKind::ClaudeCode => (".mcp.json", "mcpServers"),
        ClientKind::ClaudeDesktop => ("claude_desktop_config.json", "mcpServers"),
        ClientKind::Cursor => (".cursor/mcp.json", "mcpServers"),
        ClientKind::VsCode => (".vscode/mcp.json", "servers"),
    }
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
        assert!(over_http(ClientKind::ClaudeDesktop, 1).is_err());
        for client in [ClientKind::ClaudeCode, ClientKind::Cursor, ClientKind::VsCode] {
            let text = over_http(client, 7865).unwrap().content.to_string();
            assert!(text.contains("http://127.0.0.1:7865/mcp") && text.contains("Bearer ${"), "{text}");
        }
        assert!(desktop(true).contains("--all-realms") && !desktop(true).contains("/home/ada"));
    }
}
