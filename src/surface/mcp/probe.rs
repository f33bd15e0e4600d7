//! A client in the same process, which shows users what a client would receive. It uses the same line protocol.

use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};

use super::{
    line_reader::{Line, Lines},
    runtime, serve_client,
    settings::{Options, Settings},
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
};

/// Sends one request to a server that is started for it. Notifications in the answer are not recorded as seen, so the
/// next client still receives them.
///
/// # Errors
/// Returns the server's error if the answer is not a result.
pub fn ask(env: &Env, options: &Options, method: &str, params: &Value) -> Result<Value, OpError> {
    let settings = Settings { marks: false, ..Settings::new(env, options) };
    runtime()?.block_on(async {
        let (near, far) = tokio::io::duplex(1 << 16);
        let (input, output) = tokio::io::split(far);
        let server = tokio::spawn(serve_client(settings, input, output));
        let (answers, questions) = tokio::io::split(near);
        let answer = question(answers, questions, method, params).await;
        server.abort();
        answer
    })
}

async fn question<R, W>(answers: R, mut questions: W, method: &str, params: &Value) -> Result<Value, OpError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let info = json!({"name": "git-blue", "version": env!("CARGO_PKG_VERSION")});
    let hello = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": info});
    let messages = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": method, "params": params}),
    ];
    let text: String = messages.iter().map(|message| format!("{message}\n")).collect();
    let failed = |what: String| OpError::cannot(ErrorCode::Protocol, what);
    let asked = async { questions.write_all(text.as_bytes()).await };
    let mut lines = Lines::new(answers);
    let answered = async {
        loop {
            let Line::Text(line) = lines.next().await else { return Err(failed("the server did not answer".into())) };
            let message: Value = serde_json::from_slice(&line).map_err(|error| failed(error.to_string()))?;
            if message["id"] == 2 || (message["id"].is_null() && message["error"].is_object()) {
                return Ok(message);
            }
        }
    };
    let (asked, answered) = tokio::join!(asked, answered);
    asked.map_err(|error| failed(format!("cannot ask the server: {error}")))?;
    let mut message = answered?;
    match message["error"]["message"].as_str() {
        Some(error) => Err(OpError::usage(error).next("git blue mcp list-tools  # show the tools")),
        None => Ok(message["result"].take()),
    }
}
