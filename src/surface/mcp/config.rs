//! Generates the configuration with which a client starts or uses the server.

use serde_json::{Value, json};

use crate::{env::Env, error::OpError};

/// An MCP client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum ClientKind {
    /// Claude Code
    #[default]
    ClaudeCode,
    /// Claude Desktop
    ClaudeDesktop,
    /// Cursor
    Cursor,
    /// VS Code
    #[value(name = "vscode")]
    VsCode,
}

/// A configuration and its file.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The path of the file, as the client's documentation names it.
    pub file: &'static str,
    /// The JSON to write or to merge into the file.
    pub content: Value,
    /// Further steps that the user has to take.
    pub notes: &'static [&'static str],
}

/// The notes on how clients get the daemon's token.
const FROM_VARIABLE: &[&str] =
    &["the client reads the token from its environment: export GIT_BLUE_TOKEN=\"$(git blue daemon token)\""];
const FROM_USER: &[&str] = &["VS Code asks for the token once: git blue daemon token prints it"];

/// Returns the configuration with which a client starts the server.
pub fn config(env: &Env, client: ClientKind, all_realms: bool) -> Config {
    let mut arguments = vec!["mcp".to_owned(), "serve".to_owned()];
    // A committed file must not name a path of this machine. A desktop application starts programs with a PATH that
    // lacks the user's own folders.
    let mut command = "git-blue".to_owned();
    if client == ClientKind::ClaudeDesktop {
        command = env.exe().display().to_string();
        if !all_realms {
            // Claude Desktop is not started in a project.
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

/// Returns the configuration for a client of the daemon at a port. It does not contain the token, because the token is
/// secret and such files are committed.
///
/// # Errors
/// Returns an error if the client cannot use a server over HTTP.
pub fn over_http(client: ClientKind, port: u16) -> Result<Config, OpError> {
    let (file, key) = place(client);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let servers = |token: &str| json!({"git-blue": {"type": "http", "url": url, "headers": {"Authorization": format!("Bearer {token}")}}});
    let (content, notes) = match client {
        ClientKind::ClaudeCode => (json!({key: servers("${GIT_BLUE_TOKEN}")}), FROM_VARIABLE),
        ClientKind::Cursor => (json!({key: servers("${env:GIT_BLUE_TOKEN}")}), FROM_VARIABLE),
        ClientKind::VsCode => {
            let id = "git-blue-token";
            let about = "The output of: git blue daemon token";
            let input = json!({"type": "promptString", "id": id, "description": about, "password": true});
            (json!({"inputs": [input], key: servers(&format!("${{input:{id}}}"))}), FROM_USER)
        }
        ClientKind::ClaudeDesktop => {
            return Err(OpError::usage("Claude Desktop starts its servers itself, and does not use HTTP")
                .next("git blue mcp generate-config --client claude-desktop --transport stdio"));
        }
    };
    Ok(Config { file, content, notes })
}

/// Returns the file of a client, and the key of its servers.
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
    fn a_server_of_all_realms_names_no_folder() {
        let env = Env::isolated("/home/ada/work", []);
        let text = config(&env, ClientKind::ClaudeDesktop, true).content.to_string();
        assert!(text.contains("--all-realms") && !text.contains("/home/ada"), "{text}");
    }
}
