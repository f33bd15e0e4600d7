//! The MCP server: `git blue mcp serve`. Client and server send one JSON message per line; nothing else is ever written
//! to standard output.
//!
//! Operations are synchronous and run one after the other on the single thread of the runtime. Slow ones run on
//! separate threads, so that they can be cancelled and do not delay others. Only waiting is asynchronous: for the
//! client, for locks, and for commands that the user declared as tools.

mod batch;
mod body;
mod client;
mod complete;
pub mod config;
mod declared;
mod http;
mod http_delivery;
mod idle_projects;
mod instructions;
pub mod jsonrpc_frame;
mod line_reader;
mod open;
mod outbox;
mod output;
mod paging;
mod pending;
mod probe;
mod project;
mod prompts;
mod rate;
mod realm_argument;
mod refusal;
mod resources;
mod roots;
mod server;
mod settings;
mod size_limit;
mod skills;
mod steps;
mod tools;
mod transport;
mod watch;
mod writer;

use std::sync::Arc;

use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

pub use http::Mcp;
pub use http_delivery::{AfterFlush, Body};
pub use probe::ask;
pub use rate::PER_MINUTE;
pub use settings::{Options, PROJECT_DIR, SESSION, reader};
pub use tools::input;

use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate,
    surface::log,
};
use outbox::FinishedAnswers;
use server::Server;
use settings::Settings;
use transport::Connection;

/// Returns why some tools that the user declared are not offered.
pub fn declared_problems(env: &Env, options: &Options) -> Vec<String> {
    Settings::new(env, options).declared.problems
}

/// Serves the client at standard input and output until it disconnects.
///
/// # Errors
/// Returns an error if the log cannot be written, or the system cannot start a runtime.
pub fn serve(env: &Env, options: &Options) -> Result<(), OpError> {
    let settings = Settings::new(env, options);
    if options.debug {
        let home = locate::home(env)?;
        home.make()?;
        log::start_in(&home.folder().join("mcp.log"))?;
    }
    // Several servers append to the same log.
    let _span = tracing::debug_span!("mcp", pid = std::process::id()).entered();
    tracing::debug!(folder = ?env.cwd(), reader = %settings.reader, "started");
    for problem in &settings.declared.problems {
        tracing::warn!(problem, "not offered");
    }
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        serve_client(settings, input, output).await
    });
    // Otherwise a pending read of a standard input that is not a pipe would block the exit.
    runtime.shutdown_background();
    tracing::debug!("ended");
    outcome
}

/// The maximum number of slow tools that run at once.
const MAX_ASIDE: usize = 8;

fn runtime() -> Result<tokio::runtime::Runtime, OpError> {
    let built = tokio::runtime::Builder::new_current_thread().max_blocking_threads(MAX_ASIDE).enable_all().build();
    built.map_err(|error| OpError::cannot(ErrorCode::Io, format!("cannot start the server: {error}")))
}

/// Serves one client until it disconnects.
async fn serve_client<R, W>(settings: Settings, input: R, output: W) -> Result<(), OpError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let answers = Arc::new(FinishedAnswers::default());
    let connection = Connection::new(input, output, answers.clone());
    let server = Server::new(Arc::new(settings), answers);
    match rmcp::serve_server(server, connection).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => {
                Err(OpError::cannot(ErrorCode::Io, format!("the server stopped: {error}")))
            }
            Ok(_) => Ok(()),
        },
        // The client disconnected before its first message.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => {
            Err(OpError::cannot(ErrorCode::Protocol, format!("cannot start a session with the client: {error}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

    use super::*;

    #[test]
    fn a_call_that_takes_too_long_fails_and_the_server_continues() {
        let settings = Settings::shared(&Env::isolated("/", []), &Options { all_realms: true, ..Options::default() });
        let settings = Settings { limit: Some(Duration::from_secs(1)), ..settings };
        runtime().unwrap().block_on(async {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (input, output) = tokio::io::split(theirs);
            let serving = tokio::spawn(serve_client(settings, input, output));
            let (read, mut write) = tokio::io::split(ours);
            let mut lines = BufReader::new(read).lines();
            let info = json!({"name": "test", "version": "1"});
            // This client declares that it has roots, but does not list them.
            let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {"roots": {}}, "clientInfo": info});
            for message in [
                json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": hello}),
                json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
                json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "realm_status"}}),
            ] {
                write.write_all(format!("{message}\n").as_bytes()).await.unwrap();
            }
            let mut next =
                async || -> Value { serde_json::from_str(&lines.next_line().await.unwrap().unwrap()).unwrap() };
            assert_eq!(next().await["id"], 0);
            assert_eq!(next().await["method"], "roots/list");
            let answer = next().await;
            assert_eq!((&answer["id"], &answer["result"]["isError"]), (&json!(1), &json!(true)), "{answer}");
            let failure: Value =
                serde_json::from_str(answer["result"]["content"][0]["text"].as_str().unwrap()).unwrap();
            assert_eq!(failure["code"], "timeout", "{failure}");
            assert_eq!(failure["message"], "realm_status took longer than 1 second");
            write.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n").await.unwrap();
            while next().await["id"] != 2 {}
            drop((next, write));
            drop(lines);
            serving.await.unwrap().unwrap();
        });
    }
}
