//! Calls tools: finds the project, runs the operation within the time limit, and hands over the answer.

use std::{
    rc::Rc,
    time::{Duration, Instant},
};

use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolRequestParams, CallToolResponse, CallToolResult, InputResponses},
    service::RequestContext,
};

use super::Server;
use crate::surface::mcp::{
    body::{Body, name_cuts},
    client::ClientOfRequest,
    declared,
    open::{Project, open},
    outbox::{Answer, NotificationSource},
    project::{self, NoProject, Roots},
    realm_argument::RealmArgument,
    refusal::failed,
    roots::NotDone,
    settings::Settings,
    steps::FollowUp,
    tools::{self, Call, Tool},
};
use crate::{
    error::{ErrorCode, OpError},
    model::text,
    ops::{
        as_of::{self, At},
        ctx::Ctx,
        progress::cancelled,
        tools::declared::DeclaredTool,
    },
    surface::arguments::Arguments,
    wire::NextStep,
};

/// The tool that reviews imports.
const REVIEW: &str = "realm_review";
/// The pause for which a call that waits for a lock lets others run before it tries again.
const PAUSE: Duration = Duration::from_millis(20);

impl Server {
    /// Calls a tool.
    ///
    /// # Errors
    /// Returns an error only if there is no tool of this name. Every other failure is a result, so that the client's
    /// model can read it.
    pub async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let declared = &self.settings.declared.tools;
        let given = |name: &str| request.arguments.as_ref()?.get(name)?.as_str();
        let follow_up = FollowUp::of(&self.settings, given);
        let outcome = if let Some(tool) = tools::named(&request.name, &self.settings) {
            tracing::debug!(id = ?context.id, tool = tool.name(), "called");
            self.run_within_limit(tool, request, context).await
        } else if let Some(tool) = declared.iter().find(|tool| tool.name == request.name) {
            tracing::debug!(id = ?context.id, tool = tool.name, "called");
            self.run_declared(tool, request, context).await
        } else {
            return Err(self.unknown(&request.name));
        };
        Ok(match outcome {
            Ok(()) => self.placeholder_result(context).into(),
            Err(NotDone::Failed(error)) => failed(&error, &follow_up).into(),
            Err(NotDone::Asked(question)) => question.into(),
        })
    }

    fn unknown(&self, name: &str) -> ErrorData {
        let name: String = name.chars().take(64).collect();
        let mut names: Vec<&str> = tools::offered(&self.settings).map(Tool::name).collect();
        names.extend(self.settings.declared.tools.iter().map(|tool| &*tool.name));
        let message = format!("unknown tool {name:?}; the tools are {}", names.join(", "));
        ErrorData::invalid_params(message, None)
    }

    /// Runs a tool within the time limit of the server.
    async fn run_within_limit(
        &self,
        tool: &'static Tool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), NotDone> {
        let arguments = Arguments::read(request.arguments.unwrap_or_default(), &tool.parameters)?;
        let arguments = arguments.renamed(tool.kind.names);
        let work = self.run_with_patience(tool, &arguments, request.input_responses.as_ref(), context);
        let Some(limit) = self.settings.limit else { return work.await };
        tokio::time::timeout(limit, work).await.unwrap_or_else(|_| {
            let message = format!("{} took longer than {}", tool.name(), text::seconds(limit));
            Err(OpError::cannot(ErrorCode::Timeout, message).next("try again: completed work is kept").into())
        })
    }

    /// Runs a tool, and tries again for a limited time while a lock is held.
    async fn run_with_patience(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), NotDone> {
        let started = Instant::now();
        loop {
            let outcome = self.run(tool, arguments, responses, context).await;
            let is_locked = matches!(&outcome, Err(NotDone::Failed(error)) if error.code == ErrorCode::Locked);
            if !is_locked || started.elapsed() >= self.settings.patience {
                return outcome;
            }
            // Nothing was written, so other requests are answered before the next attempt.
            tracing::debug!(id = ?context.id, "waits for a lock");
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Runs a tool if its project is found, and stores the answer.
    async fn run(
        &self,
        tool: &'static Tool,
        arguments: &Arguments,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), NotDone> {
        let find = |roots: &Roots| self.project_of(tool, arguments, roots);
        let project = self.roots_request.attempt(responses, context, find).await?;
        let body = if tool.kind.is_slow {
            self.run_in_background(tool, arguments, &project, context).await?
        } else if context.ct.is_cancelled() {
            return Err(cancelled().into());
        } else {
            // Nothing else runs on this thread until the answer is stored.
            let ctx = opened(&self.settings, &project, arguments)?;
            let reader = &self.client(context).reader;
            answer(&Call { tool, ctx: &ctx, arguments, reader, settings: &self.settings })?
        };
        self.put(tool, arguments, context, project, body);
        Ok(())
    }

    /// Runs a command that the user declared as a tool, and stores its answer.
    async fn run_declared(
        &self,
        tool: &DeclaredTool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), NotDone> {
        let given = request.arguments.unwrap_or_default();
        let arguments = declared::parse_arguments(&given, &self.settings)?;
        let attempt = |roots: &Roots| {
            let realm = arguments.read_as::<RealmArgument>()?.realm;
            let project = project::find(&self.settings, arguments.text("cwd"), realm, roots)?;
            let ctx = open(&self.settings.env, &project)?;
            let top = ctx.code.as_ref().and_then(|code| code.workdir());
            Ok((top.unwrap_or_else(|| project.folder.clone()), project))
        };
        let (folder, project) = self.roots_request.attempt(request.input_responses.as_ref(), context, attempt).await?;
        let work = async {
            let _turn = self.running.acquire().await;
            declared::run(tool, &folder, &self.settings.commands, &given).await
        };
        // If the future of the command is dropped, the command is killed.
        let outcome = tokio::select! {
            biased;
            () = context.ct.cancelled() => Err(cancelled()),
            outcome = work => outcome,
        };
        let mut body = outcome?;
        body.cut("the command's output is too long for a message");
        let source = Some(self.notification_source(project, &arguments, context));
        self.answers.put(context.id.clone(), Answer { body, source, is_review: false });
        Ok(())
    }

    /// Returns the project of a call.
    fn project_of(&self, tool: &Tool, arguments: &Arguments, roots: &Roots) -> Result<Project, NoProject> {
        let realm = arguments.read_as::<RealmArgument>()?.realm;
        let found = project::find_named(&self.settings, arguments.text("cwd"), realm, roots);
        let project = match found {
            // The realms of this machine can be listed from anywhere, so that clients can find a realm.
            Err(_) if tool.is_of_the_machine() => Project { folder: self.settings.env.cwd().to_owned(), realm: None },
            found => found?,
        };
        tracing::debug!(tool = tool.name(), folder = ?project.folder, "found a project");
        Ok(project)
    }

    /// Stores an answer for the layer that writes it.
    fn put(
        &self,
        tool: &Tool,
        arguments: &Arguments,
        context: &RequestContext<RoleServer>,
        project: Project,
        body: Body,
    ) {
        let source = tool.kind.notifies.then(|| self.notification_source(project, arguments, context));
        let is_step = |step: &NextStep| matches!(step, NextStep::Tool { tool, .. } if tool == REVIEW);
        let is_review = tool.name() == REVIEW || body.next_steps.iter().any(is_step);
        self.answers.put(context.id.clone(), Answer { body, source, is_review });
    }

    /// Returns the source of the notifications that are added to an answer in a project.
    fn notification_source(
        &self,
        project: Project,
        arguments: &Arguments,
        context: &RequestContext<RoleServer>,
    ) -> NotificationSource {
        let client = self.client(context);
        NotificationSource {
            env: self.settings.env.clone(),
            project,
            reader: client.reader.clone(),
            follow_up: FollowUp::of(&self.settings, |name| arguments.text(name)),
            marks: self.settings.marks,
            idle: client.idle.clone(),
        }
    }

    /// Returns the result of a call whose answer is stored. It is empty if the transport replaces it when writing the
    /// message.
    fn placeholder_result(&self, context: &RequestContext<RoleServer>) -> CallToolResult {
        let Some(request_client) = ClientOfRequest::of(context) else { return CallToolResult::success(Vec::new()) };
        let Some(answer) = self.answers.take(&context.id) else {
            return failed(&cancelled(), &FollowUp::default());
        };
        let turn = request_client.client.turn();
        let (result, told) = answer.result(turn.is_some());
        if let (Some(told), Some(turn)) = (told, turn) {
            request_client.note(told, turn);
        }
        result
    }
}

/// Returns the context of a call: the current realm, or the realm at the time that the call names.
///
/// # Errors
/// Returns an error if the project cannot be opened, or had no realm at that time.
pub fn opened(settings: &Settings, project: &Project, arguments: &Arguments) -> Result<Rc<Ctx>, OpError> {
    match arguments.read_as::<At>()?.at {
        Some(at) => {
            let contract = as_of::named(arguments.text("domain"), arguments.text("contract"));
            Ok(Rc::new(project.ctx(&settings.env)?.as_of(&at.of(contract))?))
        }
        None => open(&settings.env, project),
    }
}

/// Runs the operation of a call and cuts its answer to the size of a message.
///
/// # Errors
/// Returns an error if the operation fails.
pub fn answer(call: &Call<'_>) -> Result<Body, OpError> {
    let mut body = (call.tool.kind.run)(call)?;
    body.cut(call.tool.rest_hint());
    name_cuts(&mut body, "contract", call.arguments.count("offset").unwrap_or_default());
    Ok(body)
}
