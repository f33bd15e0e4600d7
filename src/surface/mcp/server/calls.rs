//! Calls of tools: each is answered in its project, in time, and handed over to be written.

use std::time::{Duration, Instant};

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, InputResponses},
    service::RequestContext,
};

use super::Server;
use crate::surface::mcp::{
    body::Body,
    client::Slip,
    open::{Project, open},
    outbox::{Answer, Teller},
    paging,
    project::{self, Lost, Roots},
    refusal::failed,
    roots::Outcome,
    settings::Settings,
    tools::{self, Call, Tool},
};
use crate::{
    error::{ErrorCode, OpError},
    model::name::ReaderName,
    surface::arguments::Arguments,
};

/// How long an answer that waits for a lock leaves the thread to others.
const PAUSE: Duration = Duration::from_millis(20);

impl Server {
    /// Calls a tool.
    ///
    /// # Errors
    /// Where there is none of that name: everything else that goes wrong, a client's model should read.
    pub async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = tools::named(&request.name, &self.settings) else {
            let declared = &self.settings.declared.tools;
            if let Some(tool) = declared.iter().find(|tool| tool.name == request.name) {
                self.log.say(|| format!("call {}: {}", context.id, tool.name));
                return Ok(self.call_declared(tool, request, context).await);
            }
            return Err(self.unknown(&request.name));
        };
        self.log.say(|| format!("call {}: {}", context.id, tool.name()));
        let arguments = request.arguments.unwrap_or_default();
        let arguments = match Arguments::read(arguments, tool.parameters(&self.settings)) {
            Ok(arguments) => arguments.renamed(tool.shape.names),
            Err(error) => return Ok(failed(&error).into()),
        };
        let work = self.outcome(tool, &arguments, request.input_responses.as_ref(), context);
        let outcome = match self.settings.limit {
            Some(limit) => tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
                let message = format!("{} took longer than {} seconds", tool.name(), limit.as_secs());
                Outcome::Failed(
                    OpError::cannot(ErrorCode::Timeout, message).next("ask again: what was done stays done"),
                )
            }),
            None => work.await,
        };
        Ok(match outcome {
            Outcome::Done(()) => self.handed_over(context).into(),
            Outcome::Failed(error) => failed(&error).into(),
            Outcome::Asked(question) => question.into(),
        })
    }

    fn unknown(&self, name: &str) -> ErrorData {
        let name: String = name.chars().take(64).collect();
        let mut names: Vec<&str> = tools::offered(&self.settings).map(Tool::name).collect();
        names.extend(self.settings.declared.tools.iter().map(|tool| &*tool.name));
        let message = format!("Unknown tool: {name:?}; the tools are {}", names.join(", "));
        ErrorData::invalid_params(message, None)
    }

    /// Runs a tool until it is done, or no lock is waited for any longer. What it answers lies on the
    /// desk then.
    async fn outcome(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<()> {
        let attempt = |roots: &Roots| {
            // Between here and the answer on the desk nothing else runs.
            if context.ct.is_cancelled() {
                return Err(OpError::no(ErrorCode::Cancelled, "cancelled").into());
            }
            self.run(tool, arguments, context, roots)
        };
        let started = Instant::now();
        loop {
            let outcome = match tool.shape.is_slow {
                true => self.run_aside(tool, arguments, responses, context).await,
                false => self.asking.attempt(responses, context, attempt).await,
            };
            let is_locked = matches!(&outcome, Outcome::Failed(error) if error.code == ErrorCode::Locked);
            if !is_locked || started.elapsed() >= self.settings.patience {
                return outcome;
            }
            // Nothing was written. Others are answered before the next try.
            self.log.say(|| format!("call {}: waits for a lock", context.id));
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Runs a tool, if its project is known. What it answers lies on the desk then.
    fn run(
        &self,
        tool: &Tool,
        arguments: &Arguments,
        context: &RequestContext<RoleServer>,
        roots: &Roots,
    ) -> Result<(), Lost> {
        let project = self.project_of(tool, arguments, roots)?;
        let body = answer(&self.settings, &self.client(context).reader, tool, arguments, &project)?;
        self.put(tool, context, project, body);
        Ok(())
    }

    /// Runs a tool that takes its time, on a thread beside the others.
    async fn run_aside(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Outcome<()> {
        let found = self.asking.attempt(responses, context, |roots| self.project_of(tool, arguments, roots)).await;
        let project = match found {
            Outcome::Done(project) => project,
            Outcome::Failed(error) => return Outcome::Failed(error),
            Outcome::Asked(question) => return Outcome::Asked(question),
        };
        let (settings, arguments, place) = (self.settings.clone(), arguments.clone(), project.clone());
        let reader = self.client(context).reader.clone();
        let work = tokio::task::spawn_blocking(move || answer(&settings, &reader, tool, &arguments, &place));
        let answered =
            work.await.unwrap_or_else(|error| Err(OpError::cannot(ErrorCode::Io, format!("{}: {error}", tool.name()))));
        match answered {
            Ok(_) if context.ct.is_cancelled() => Outcome::Failed(OpError::no(ErrorCode::Cancelled, "cancelled")),
            Ok(body) => {
                self.put(tool, context, project, body);
                Outcome::Done(())
            }
            Err(error) => Outcome::Failed(error),
        }
    }

    fn project_of(&self, tool: &Tool, arguments: &Arguments, roots: &Roots) -> Result<Project, Lost> {
        let realm = arguments.read_as::<tools::Named>()?.realm;
        let found = project::find(&self.settings, arguments.text("cwd"), realm, roots);
        let project = match found {
            // What realms there are can be asked from anywhere: it is how one is found.
            Err(_) if tool.is_of_the_machine() => Project { folder: self.settings.env.cwd().to_owned(), realm: None },
            found => found?,
        };
        self.log.say(|| format!("{} in {}", tool.name(), project.folder.display()));
        Ok(project)
    }

    fn put(&self, tool: &Tool, context: &RequestContext<RoleServer>, project: Project, body: Body) {
        let teller = tool.shape.tells.then(|| self.teller(project, context));
        self.desk.put(context.id.clone(), Answer { body, teller });
    }

    /// Returns who tells what is pending in a project.
    pub fn teller(&self, project: Project, context: &RequestContext<RoleServer>) -> Teller {
        let client = self.client(context);
        Teller {
            env: self.settings.env.clone(),
            project,
            reader: client.reader.clone(),
            marks: self.settings.marks,
            quiet: client.quiet.clone(),
        }
    }

    /// Returns the result of a call whose answer lies on the desk: nothing where the transport picks it
    /// up when it is written.
    pub fn handed_over(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        let Some(slip) = Slip::of(context) else { return CallToolResult::success(Vec::new()) };
        let Some(answer) = self.desk.take(&context.id) else {
            return failed(&OpError::no(ErrorCode::Cancelled, "cancelled"));
        };
        let turn = slip.client.turn();
        let (result, told) = answer.result(turn.is_some());
        if let (Some(told), Some(turn)) = (told, turn) {
            slip.note(told, turn);
        }
        result
    }
}

/// Returns what a tool answers in a project: as much of it as fits a message.
fn answer(
    settings: &Settings,
    reader: &ReaderName,
    tool: &Tool,
    arguments: &Arguments,
    project: &Project,
) -> Result<Body, OpError> {
    let ctx = open(&settings.env, project)?;
    let mut body = (tool.shape.run)(&Call { tool, ctx: &ctx, arguments, reader, settings })?;
    if !tool.shape.lists.is_empty() {
        paging::page(&mut body, tool.shape.lists, arguments.count("limit"), arguments.text("cursor"))?;
    }
    body.cut(tool.rest());
    Ok(body)
}
