//! A server that is made with the SDK and only answers: it has the same library, transport and runtime as ours, and one
//! answer for every call.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ServerCapabilities, ServerConfig},
    service::RequestContext,
};
use serde_json::{Value, json};

/// The flag that makes this program that server.
pub const FLAG: &str = "--sdk-echo";
/// The approximate length of a message without its answer, in bytes.
const ENVELOPE: usize = 160;

struct Echo(CallToolResult);

impl ServerHandler for Echo {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(self.0.clone().into())
    }
}

/// Returns whether this process was started as that server.
pub fn is_asked_for() -> bool {
    std::env::args().nth(1).is_some_and(|argument| argument == FLAG)
}

/// Answers every call with a message of about as many bytes as requested, until the client closes the connection. As in
/// our answers, half of it is data and half is text.
pub fn serve() {
    let length: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let filler = "x".repeat(length.saturating_sub(ENVELOPE) / 2);
    let data = json!({"answer": filler});
    let mut result = CallToolResult::success(vec![ContentBlock::text(data.to_string())]);
    result.structured_content = Some(Value::Object(data.as_object().unwrap().clone()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let running = rmcp::serve_server(Echo(result), rmcp::transport::stdio_pipes()).await.unwrap();
        running.waiting().await.unwrap();
    });
    runtime.shutdown_background();
}
