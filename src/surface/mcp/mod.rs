//! The MCP server: `git blue mcp serve`. A client sends one JSON message a line and gets one a line
//! back; nothing else is ever written to standard output.
//!
//! Operations are synchronous and run on the one thread of the runtime, one after the other; the few
//! that wait for other programs run beside it. Only waiting is asynchronous: for the client, for locks,
//! and for commands that the user declared as tools.

pub mod arguments;
mod body;
mod client;
mod complete;
pub mod config;
mod declared;
mod desk;
pub mod frame;
mod http;
mod instructions;
mod lines;
mod log;
mod open;
mod output;
mod paging;
mod probe;
mod project;
mod prompts;
mod refusal;
mod resources;
mod roots;
mod server;
mod settings;
mod steps;
mod tools;
mod transport;
mod watch;
mod weigh;

use std::sync::Arc;

use rmcp::service::{QuitReason, ServerInitializeError};
use tokio::io::{AsyncRead, AsyncWrite};

pub use http::{AfterFlush, Mcp};
pub use probe::ask;
pub use settings::{Options, reader};

use self::{desk::Desk, log::Log, server::Server, settings::Settings, transport::Connection};
use crate::{app, env::Env, error::OpError};

/// Returns why tools that the user declared are not offered.
pub fn declared_problems(env: &Env, options: &Options) -> Vec<String> {
    Settings::new(env, options).declared.problems
}

/// Serves the client at standard input and output until it hangs up.
///
/// # Errors
/// Where the log cannot be written, or the system gives no runtime.
pub fn serve(env: &Env, options: &Options) -> Result<(), OpError> {
    let settings = Settings::new(env, options);
    let log = if options.debug { Log::open(env, app::home(env)?.folder())? } else { Log::default() };
    log.say(|| format!("started in {} for {}", env.cwd().display(), settings.reader));
    for problem in &settings.declared.problems {
        log.say(|| format!("not offered: {problem}"));
    }
    let runtime = runtime()?;
    let outcome = runtime.block_on(async {
        let (input, output) = rmcp::transport::stdio_pipes();
        converse(settings, input, output, log.clone()).await
    });
    // A read of standard input that is under way where it is no pipe would be waited for.
    runtime.shutdown_background();
    log.say(|| "ended".to_owned());
    outcome
}

/// How many tools that take their time run at once.
const MAX_ASIDE: usize = 8;

fn runtime() -> Result<tokio::runtime::Runtime, OpError> {
    let built = tokio::runtime::Builder::new_current_thread().max_blocking_threads(MAX_ASIDE).enable_all().build();
    built.map_err(|error| OpError::cannot("io", format!("cannot start the server: {error}")))
}

/// Speaks with one client until it hangs up.
async fn converse<R, W>(settings: Settings, input: R, output: W, log: Log) -> Result<(), OpError>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    let desk = Arc::new(Desk::default());
    let connection = Connection::new(input, output, desk.clone(), log.clone());
    let server = Server::new(Arc::new(settings), desk, log.clone());
    match rmcp::serve_server(server, connection).await {
        Ok(running) => match running.waiting().await {
            Ok(QuitReason::JoinError(error)) | Err(error) => {
                Err(OpError::cannot("io", format!("the server stopped: {error}")))
            }
            Ok(_) => Ok(()),
        },
        // It hung up before it said anything.
        Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
        Err(error) => {
            log.say(|| format!("no conversation: {error}"));
            Err(OpError::cannot("protocol", format!("no conversation with the client: {error}")))
        }
    }
}
