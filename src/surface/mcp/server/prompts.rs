//! Answers requests for prompts, and for completions of prompts and resources.

use rmcp::{
    ErrorData, RoleServer,
    model::{CompleteRequestParams, CompleteResult, GetPromptRequestParams, GetPromptResponse},
    service::RequestContext,
};

use super::{
    super::{
        complete,
        open::open,
        project::{self, Roots},
        prompts::PROMPTS,
        refusal::refused,
        roots::Outcome,
    },
    Server,
};

impl Server {
    /// Fills a prompt in.
    ///
    /// # Errors
    /// Returns an error if there is no such prompt, or its data cannot be read.
    pub async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == request.name) else {
            let names: Vec<_> = PROMPTS.iter().map(|prompt| prompt.name).collect();
            return Err(ErrorData::invalid_params(format!("the prompts are {}", names.join(", ")), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let attempt = |roots: &Roots| {
            let project =
                project::find(&self.settings, arguments.get("cwd").and_then(|cwd| cwd.as_str()), None, roots)?;
            let ctx = open(&self.settings.env, &project)?;
            Ok(prompt.filled(&ctx, &self.client(context).reader, &arguments)?)
        };
        match self.roots_request.attempt(request.input_responses.as_ref(), context, attempt).await {
            Outcome::Done(result) => Ok(result.into()),
            Outcome::Failed(error) => Err(refused(&error)),
            Outcome::Asked(question) => Ok(question.into()),
        }
    }

    /// Completes an argument.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub async fn completions(
        &self,
        request: CompleteRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let typed = &request.argument.value;
        if request.argument.name == "realm" {
            let all = self.realms()?.iter().map(ToString::to_string).collect();
            return complete::fitting(all, typed).map(CompleteResult::new).map_err(|error| refused(&error));
        }
        let realm = known.get("realm").filter(|_| self.settings.all_realms).and_then(|name| name.parse().ok());
        let project = self.project(realm, context).await?;
        let ctx = open(&self.settings.env, &project).map_err(|error| refused(&error))?;
        let found = complete::values(&ctx, &request.argument.name, typed, &known);
        found.map(CompleteResult::new).map_err(|error| refused(&error))
    }
}
