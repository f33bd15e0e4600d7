//! Calls of commands that the user declared as tools.

use rmcp::{
    RoleServer,
    model::{CallToolRequestParams, CallToolResponse},
    service::RequestContext,
};

use super::Server;
use crate::{
    ops::{progress::cancelled, tools::declared::DeclaredTool},
    surface::mcp::{
        declared,
        open::open,
        outbox::Answer,
        project::{self, Roots},
        refusal::failed,
        roots::NotDone,
    },
};

impl Server {
    /// Runs a command that the user declared as a tool, and stores its answer.
    pub async fn call_declared(
        &self,
        tool: &DeclaredTool,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> CallToolResponse {
        let given = request.arguments.unwrap_or_default();
        let arguments = match declared::parse_arguments(&given, &self.settings) {
            Ok(arguments) => arguments,
            Err(error) => return failed(&error).into(),
        };
        let attempt = |roots: &Roots| {
            let project = project::find(
                &self.settings,
                arguments.text("cwd"),
                arguments.read_as::<crate::surface::mcp::tools::RealmArgument>()?.realm,
                roots,
            )?;
            let ctx = open(&self.settings.env, &project)?;
            let top = ctx.code.as_ref().and_then(|code| code.workdir());
            Ok((top.unwrap_or_else(|| project.folder.clone()), project))
        };
        let (folder, project) =
            match self.roots_request.attempt(request.input_responses.as_ref(), context, attempt).await {
                Ok(found) => found,
                Err(NotDone::Failed(error)) => return failed(&error).into(),
                Err(NotDone::Asked(question)) => return question.into(),
            };
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
        match outcome {
            Ok(mut body) => {
                body.cut("the command's output is too long for a message");
                let source = Some(self.notification_source(project, context));
                self.answers.put(context.id.clone(), Answer { body, source, is_review: false });
                self.placeholder_result(context).into()
            }
            Err(error) => failed(&error).into(),
        }
    }
}
