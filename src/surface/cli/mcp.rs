//! `git blue mcp …`.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Map, Value, json};

use super::{
    Verdict,
    output::{self, Output},
    text::{Style, Text, plain, styled},
};
use crate::{
    env::Env,
    error::OpError,
    model::name::RealmName,
    surface::{
        daemon::{self, State},
        http,
        mcp::{
            self, Options,
            config::{self, ClientKind},
        },
    },
};

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve an MCP client over standard input and output
    Serve(Serve),
    /// List the tools that a client sees
    ListTools(ListTools),
    /// Call a tool as a client would, and show its answer
    TestTool(TestTool),
    /// Print the configuration for a client
    GenerateConfig(GenerateConfig),
}

#[derive(Debug, Args)]
pub struct Serve {
    /// Write a log to mcp.log in $GIT_BLUE_HOME
    #[arg(long)]
    debug: bool,
    #[command(flatten)]
    offer: Offer,
}

/// The options that select the tools.
#[derive(Debug, Clone, Copy, Args)]
struct Offer {
    /// Offer only read-only tools
    #[arg(long)]
    read_only: bool,
    /// Let tools use any realm on this machine
    #[arg(long)]
    all_realms: bool,
}

#[derive(Debug, Args)]
pub struct ListTools {
    #[command(flatten)]
    offer: Offer,
}

#[derive(Debug, Args)]
pub struct TestTool {
    /// The tool
    #[arg(value_name = "NAME")]
    name: String,
    /// Its arguments, as a JSON object
    #[arg(long, value_name = "JSON", value_parser = object)]
    args: Option<Map<String, Value>>,
    #[command(flatten)]
    offer: Offer,
}

#[derive(Debug, Args)]
pub struct GenerateConfig {
    /// The client
    #[arg(long, value_enum, default_value_t)]
    client: ClientKind,
    /// How the client reaches the server
    #[arg(long, value_enum, default_value_t)]
    transport: Transport,
    /// The daemon's port, with --transport http [default: the running daemon's, else 7865]
    #[arg(long, value_name = "PORT")]
    port: Option<u16>,
    /// Let tools use any realm on this machine
    #[arg(long)]
    all_realms: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
enum Transport {
    /// The client starts the server
    #[default]
    Stdio,
    /// The client connects to the daemon
    Http,
}

/// Returns the port of the daemon: that of the running one, or else the one where it starts.
fn daemon_port(env: &Env) -> Result<u16, OpError> {
    Ok(match daemon::status(env)? {
        State::Running(running) => running.port,
        State::Changing | State::Stopped => http::PORT,
    })
}

fn object(text: &str) -> Result<Map<String, Value>, String> {
    match serde_json::from_str(text) {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is JSON, but not an object: write {\"name\": \"value\"}".into()),
        Err(error) => Err(format!("it is not JSON: {error}")),
    }
}

impl Command {
    pub fn run(
        self,
        env: &Env,
        folder: Option<PathBuf>,
        realm: Option<RealmName>,
        output: &mut Output<'_>,
    ) -> Result<Verdict, OpError> {
        let options = |offer: Offer| Options {
            folder: folder.clone(),
            realm: realm.clone(),
            read_only: offer.read_only,
            all_realms: offer.all_realms,
            debug: false,
        };
        match self {
            Self::Serve(Serve { debug, offer }) => {
                mcp::serve(env, &Options { debug, ..options(offer) })?;
                Ok(Verdict::Yes)
            }
            Self::ListTools(ListTools { offer }) => {
                let list = mcp::ask(env, &options(offer), "tools/list", &json!({}))?;
                for problem in mcp::declared_problems(env, &options(offer)) {
                    output.note(&format!("not offered: {problem}"));
                }
                if output.json {
                    output.write(&output::json(&list))?;
                } else {
                    let mut text = output.text();
                    render_tools(&list, &mut text);
                    output.write(&text.into_string())?;
                }
                Ok(Verdict::Yes)
            }
            Self::TestTool(TestTool { name, args, offer }) => {
                let params = json!({"name": name, "arguments": args.unwrap_or_default()});
                let result = mcp::ask(env, &options(offer), "tools/call", &params)?;
                output.write(&shown(&result, output.json))?;
                Ok(if result["isError"] == true { Verdict::No } else { Verdict::Yes })
            }
            Self::GenerateConfig(arguments) => {
                let config = match arguments.transport {
                    Transport::Stdio => config::config(env, arguments.client, arguments.all_realms),
                    Transport::Http => {
                        let port = arguments.port.map_or_else(|| daemon_port(env), Ok)?;
                        config::over_http(arguments.client, port)?
                    }
                };
                if !output.quiet {
                    output.note(&format!("write this to {}, or merge it into the existing file", config.file));
                    for note in config.notes {
                        output.note(note);
                    }
                }
                output.write(&output::json(&config.content))?;
                Ok(Verdict::Yes)
            }
        }
    }
}

/// Returns the result of a tool: the raw message, or the text that a model reads.
fn shown(result: &Value, is_raw: bool) -> String {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    match serde_json::from_str::<Value>(text) {
        Ok(answer) if !is_raw => output::json(&answer),
        _ => output::json(result),
    }
}

fn render_tools(list: &Value, text: &mut Text) {
    let mut is_first = true;
    for tool in list["tools"].as_array().into_iter().flatten() {
        let name = tool["name"].as_str().unwrap_or_default();
        if is_first {
            text.line(&[styled(name, Style::Bold)]);
        } else {
            text.heading(name);
        }
        is_first = false;
        text.block("  ", tool["description"].as_str().unwrap_or_default());
        let required: Vec<_> = tool["inputSchema"]["required"].as_array().into_iter().flatten().collect();
        let properties = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
        let rows = properties.map(|(name, schema)| {
            let need =
                if required.iter().any(|one| *one == name) { styled("required", Style::Yellow) } else { plain("") };
            let (kind, about) = kind(schema);
            vec![plain(name), plain(kind), need, plain(about)]
        });
        text.table("    ", &rows.collect::<Vec<_>>());
    }
}

/// The number of words of an argument that its type can show in a table.
const FEW_WORDS: usize = 4;

/// Returns the type of an argument in one word, and what it is for.
fn kind(schema: &Value) -> (String, String) {
    let about = schema["description"].as_str().unwrap_or_default().to_owned();
    let plain = schema["type"].as_str().unwrap_or("any").to_owned();
    let words = schema["enum"].as_array().into_iter().flatten();
    match &words.filter_map(Value::as_str).collect::<Vec<_>>()[..] {
        [] => (plain, about),
        words if words.len() <= FEW_WORDS => (words.join("|"), about),
        words => (plain, format!("one of {}{}{about}", words.join(", "), if about.is_empty() { "" } else { ": " })),
    }
}
