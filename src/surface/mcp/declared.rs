//! Runs commands that the user declared as tools: without a shell, in the project, for a limited time, and only while
//! their client waits.

use std::{io, path::Path, process::Stdio, sync::Arc};

use rmcp::model::ToolAnnotations;
use serde_json::{Map, Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _},
    process::Command,
};

use super::{
    body::{Body, to_string},
    settings::Settings,
    tools::common,
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    model::text,
    ops::tools::{self, declared::DeclaredTool},
    platform::process,
    surface::arguments::{Arguments, schema},
};

/// The maximum number of commands that run at the same time. Others wait.
pub const MAX_RUNNING: usize = 4;
/// The maximum number of bytes of standard output that are kept.
const MAX_OUTPUT: usize = 64 << 10;
/// The maximum number of bytes of standard error that are kept.
const MAX_ERROR: usize = 2 << 10;

/// Returns a declared tool for `tools/list`.
pub fn listed(tool: &DeclaredTool, settings: &Settings) -> rmcp::model::Tool {
    // All other properties belong to the command.
    let mut input = schema(common(settings));
    input.remove("additionalProperties");
    let output = json!({
        "type": "object",
        "properties": {
            "status": {"type": "string"},
            "truncated": {"type": "boolean"},
            "more_notifications": {"type": "integer"},
            "next_steps": {"type": "array"},
            "notifications": {"type": "array"},
            "output": {"description": "what it printed, as JSON if possible, else as text"},
        },
        "required": ["status", "output"],
    });
    let output = output.as_object().cloned().unwrap_or_default();
    let annotations = ToolAnnotations::new().read_only(tool.is_read_only).open_world(true);
    rmcp::model::Tool::new(tool.name.clone(), tool.about.clone(), Arc::new(input))
        .with_raw_output_schema(Arc::new(output))
        .with_annotations(annotations)
}

/// Returns the arguments of a call that select the folder and realm.
///
/// # Errors
/// Returns an error if one of them is invalid.
pub fn parse_arguments(given: &Map<String, Value>, settings: &Settings) -> Result<Arguments, OpError> {
    let parameters = common(settings);
    let is_ours = |name: &str| parameters.iter().any(|one| one.name == name);
    let ours = given.iter().filter(|(name, _)| is_ours(name)).map(|(name, value)| (name.clone(), value.clone()));
    Arguments::read(ours.collect(), parameters)
}

/// Runs a command in a folder, with the arguments of the call as JSON on its standard input. A process of this program
/// [supervises](crate::surface::supervise) it: if this future is dropped, the standard input of that process is closed,
/// and it kills the command and everything that the command started.
///
/// # Errors
/// Returns an error if the command cannot be started, fails, or takes too long.
pub async fn run(
    tool: &DeclaredTool,
    folder: &Path,
    env: &Env,
    arguments: &Map<String, Value>,
) -> Result<Body, OpError> {
    let failed = |error: io::Error| {
        OpError::cannot(ErrorCode::ToolFailed, format!("{}: cannot run {}: {error}", tool.name, tool.program.display()))
    };
    let mut command = Command::new(env.exe());
    command.args(["supervise", "--"]).arg(&tool.program).args(&tool.arguments).current_dir(folder);
    command.env_clear().envs(tools::environment::variables(env, &tool.passed));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    process::own_process_group(command.as_std_mut());
    let mut child = command.spawn().map_err(failed)?;
    // Closed only after the command has ended.
    let mut input = child.stdin.take();
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let text = to_string(arguments) + "\n";
    let feed = async {
        if let Some(input) = &mut input {
            // If the input cannot be written, the exit status says why.
            let _ = input.write_all(text.as_bytes()).await;
        }
    };
    let work =
        async { tokio::join!(child.wait(), feed, read_start(output, MAX_OUTPUT), read_start(errors, MAX_ERROR)) };
    let Ok((status, (), (output, is_cut), (errors, _))) = tokio::time::timeout(tool.timeout, work).await else {
        return Err(timed_out(tool));
    };
    let status = status.map_err(failed)?;
    if !status.success() {
        let said = if errors.trim().is_empty() { &output[..] } else { &errors[..] };
        let said: String = said.trim().chars().take(MAX_ERROR).collect();
        let separator = if said.is_empty() { "" } else { ": " };
        return Err(OpError::no(ErrorCode::ToolFailed, format!("{}: {status}{separator}{said}", tool.name)));
    }
    let output = match serde_json::from_str(&output) {
        Ok(value) if !is_cut => value,
        _ => Value::String(output),
    };
    let fields = json!({"status": "success", "output": output, "truncated": is_cut});
    Ok(Body { fields: fields.as_object().cloned().unwrap_or_default(), ..Body::default() })
}

fn timed_out(tool: &DeclaredTool) -> OpError {
    let message = format!("{}: stopped after {}", tool.name, text::seconds(tool.timeout));
    OpError::no(ErrorCode::ToolTimeout, message)
        .next(format!("blue.mcp.tool.{}.timeout, in the user's git configuration, raises the limit", tool.name))
}

/// Reads to the end and returns the first `most` bytes as text, and whether there was more.
async fn read_start(stream: Option<impl AsyncRead + Unpin>, most: usize) -> (String, bool) {
    let (mut kept, mut is_cut) = (Vec::new(), false);
    if let Some(mut stream) = stream {
        let mut part = [0; 8 << 10];
        // A read error counts as the end.
        while let Ok(count @ 1..) = stream.read(&mut part).await {
            let taken = count.min(most - kept.len());
            kept.extend_from_slice(&part[..taken]);
            is_cut |= taken < count;
        }
    }
    (String::from_utf8_lossy(&kept).into_owned(), is_cut)
}
