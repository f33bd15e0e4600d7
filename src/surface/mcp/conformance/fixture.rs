//! The fixtures, read from a file.

#![expect(deprecated, reason = "the suite asks for what older eras have")]

use std::{collections::BTreeMap, path::Path, sync::OnceLock, time::Duration};

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        GetPromptRequestParams, GetPromptResponse, GetPromptResult, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam, Prompt, PromptArgument, ReadResourceResult, Resource, ResourceTemplate,
        ServerRequest, Tool,
    },
    service::RequestContext,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json};

use super::rounds;

/// The pause of a tool between two messages.
const PAUSE: Duration = Duration::from_millis(50);

#[derive(Debug, Deserialize)]
pub struct Fixtures {
    tools: BTreeMap<String, ToolFixture>,
    prompts: BTreeMap<String, PromptFixture>,
    resources: BTreeMap<String, Map<String, Value>>,
    template: Map<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct ToolFixture {
    name: String,
    /// The content of the answer.
    content: Value,
    is_error: bool,
    /// The input schema, if the tool takes anything other than one string or nothing.
    schema: Option<Map<String, Value>>,
    /// The argument whose text is used as the question to the client.
    argument: Option<String>,
    /// The messages that it logs and reports before it answers.
    logs: Vec<String>,
    progress: Vec<f64>,
    /// The request that it sends to the client while it runs.
    asks: Option<Value>,
    /// The requests that the client should answer with the next call, one set per round.
    rounds: Vec<Map<String, Value>>,
    /// The capability that the client must have.
    needs: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PromptFixture {
    name: String,
    arguments: Vec<String>,
    messages: Value,
    rounds: Vec<Map<String, Value>>,
}

fn of<T: DeserializeOwned>(value: Value) -> Result<T, ErrorData> {
    serde_json::from_value(value)
        .map_err(|error| ErrorData::internal_error(format!("a fixture is wrong: {error}"), None))
}

impl Fixtures {
    /// Returns the fixtures in a file, which is read once.
    pub fn of(path: &Path) -> &'static Self {
        static ALL: OnceLock<Fixtures> = OnceLock::new();
        ALL.get_or_init(|| {
            let text = std::fs::read(path);
            let text = text.unwrap_or_else(|error| unreachable!("cannot read {}: {error}", path.display()));
            let mut all: Self = serde_json::from_slice(&text)
                .unwrap_or_else(|error| unreachable!("the fixtures are this project's own: {error}"));
            all.tools.iter_mut().for_each(|(name, tool)| name.clone_into(&mut tool.name));
            all.prompts.iter_mut().for_each(|(name, prompt)| name.clone_into(&mut prompt.name));
            all
        })
    }

    /// Returns the tool of this name.
    pub fn tool(&self, name: &str) -> Option<&ToolFixture> {
        self.tools.get(name)
    }

    /// Returns the prompt of this name.
    pub fn prompt(&self, name: &str) -> Option<&PromptFixture> {
        self.prompts.get(name)
    }

    /// Returns the tools for `tools/list`.
    pub fn tools(&self) -> Vec<Tool> {
        self.tools.values().map(ToolFixture::listed).collect()
    }

    /// Returns the prompts for `prompts/list`.
    pub fn prompts(&self) -> Vec<Prompt> {
        let argument = |name: &String| PromptArgument::new(name).with_description(name).with_required(true);
        let listed = |prompt: &PromptFixture| {
            let arguments = prompt.arguments.iter().map(argument).collect();
            Prompt::new(&prompt.name, Some("A fixture"), Some(arguments))
        };
        self.prompts.values().map(listed).collect()
    }

    /// Returns the resources for `resources/list`.
    pub fn resources(&self) -> Vec<Resource> {
        let mime = |fields: &Map<String, Value>| fields["mimeType"].as_str().unwrap_or_default().to_owned();
        let listed = |(uri, fields): (&String, &Map<String, Value>)| {
            Resource::new(uri, uri).with_description("A fixture").with_mime_type(mime(fields))
        };
        self.resources.iter().map(listed).collect()
    }

    /// Returns the resource template.
    pub fn resource_template(&self) -> ResourceTemplate {
        let text = |name: &str| self.template[name].as_str().unwrap_or_default();
        ResourceTemplate::new(text("uri"), "template").with_description("A fixture").with_mime_type(text("mimeType"))
    }

    /// Reads a resource, if there is one with this URI.
    pub fn read(&self, uri: &str) -> Option<ReadResourceResult> {
        let of_template = || {
            let (before, after) = self.template["uri"].as_str()?.split_once("{id}")?;
            let id = uri.strip_prefix(before)?.strip_suffix(after)?;
            filled(&Value::Object(self.template.clone()), &[("id".to_owned(), id.to_owned())].into())
                .as_object()
                .cloned()
        };
        let mut fields = self.resources.get(uri).cloned().or_else(of_template)?;
        fields.insert("uri".into(), uri.into());
        of(Value::Object(fields)).ok().map(|contents| ReadResourceResult::new(vec![contents]))
    }
}

impl ToolFixture {
    fn listed(&self) -> Tool {
        let properties: Map<_, _> =
            self.argument.iter().map(|name| (name.clone(), json!({"type": "string"}))).collect();
        let own = || json!({"type": "object", "properties": properties}).as_object().cloned().unwrap_or_default();
        Tool::new(self.name.clone(), "A fixture", self.schema.clone().unwrap_or_else(own))
    }

    /// Calls the tool.
    ///
    /// # Errors
    /// Returns an error if the client lacks a capability, or does not answer the tool's request.
    pub async fn call(
        &self,
        request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if self.needs.is_some() && context.client_capabilities().is_none_or(|can| can.sampling.is_none()) {
            let needed = ClientCapabilities::builder().enable_sampling().build();
            return Err(ErrorData::missing_required_client_capability(needed));
        }
        let asked = (self.name.as_str(), &self.rounds[..]);
        let state = request.request_state.as_deref();
        if let Some(question) = rounds::next(asked, request.input_responses.as_ref(), state, context)? {
            return Ok(question.into());
        }
        self.says(context).await;
        let content = match &self.asks {
            Some(asks) => vec![ContentBlock::text(self.ask(asks, &request, context).await?)],
            None => of(self.content.clone())?,
        };
        let result = if self.is_error { CallToolResult::error(content) } else { CallToolResult::success(content) };
        Ok(result.into())
    }

    /// Sends the messages that precede the answer.
    async fn says(&self, context: &RequestContext<RoleServer>) {
        for text in &self.logs {
            let log = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
            let _ = context.peer.notify_logging_message(log).await;
            tokio::time::sleep(PAUSE).await;
        }
        for (progress, token) in self.progress.iter().filter_map(|at| Some((at, context.meta.get_progress_token()?))) {
            let report = ProgressNotificationParam::new(token, *progress).with_total(100.0);
            let _ = context.peer.notify_progress(report).await;
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Sends a request to the client. Returns its answer.
    async fn ask(
        &self,
        asks: &Value,
        request: &CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<String, ErrorData> {
        let given = request.arguments.as_ref().zip(self.argument.as_ref());
        let given = given.and_then(|(all, name)| all.get(name)?.as_str()).unwrap_or("Please answer");
        let mut asks = asks.clone();
        let is_form = asks["method"] == "elicitation/create";
        match (is_form, &self.argument) {
            (true, Some(_)) => asks["params"]["message"] = given.into(),
            (true, None) => {}
            (false, _) => asks["params"]["messages"][0]["content"]["text"] = given.into(),
        }
        let answer = context.peer.send_request(of::<ServerRequest>(asks)?).await;
        let answer = json!(answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?);
        Ok(match is_form {
            true => format!("Elicitation completed: action={}, content={}", answer["action"], answer["content"]),
            false => format!("LLM response: {}", answer["content"]["text"].as_str().unwrap_or_default()),
        })
    }
}

impl PromptFixture {
    /// Fills in the prompt.
    ///
    /// # Errors
    /// Returns an error if the state of the round was modified.
    pub fn fill(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let asked = (self.name.as_str(), &self.rounds[..]);
        let state = request.request_state.as_deref();
        if let Some(question) = rounds::next(asked, request.input_responses.as_ref(), state, context)? {
            return Ok(question.into());
        }
        let given = request.arguments.unwrap_or_default();
        let given = given.iter().filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned()))).collect();
        let messages = filled(&self.messages, &given);
        Ok(GetPromptResult::new(of(messages)?).into())
    }
}

/// Replaces `{name}` in the strings of a value with the arguments in `given`.
fn filled(value: &Value, given: &BTreeMap<String, String>) -> Value {
    match value {
        Value::String(text) => {
            given.iter().fold(text.clone(), |text, (name, value)| text.replace(&format!("{{{name}}}"), value)).into()
        }
        Value::Array(items) => items.iter().map(|item| filled(item, given)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(name, field)| (name.clone(), filled(field, given))).collect::<Map<_, _>>().into()
        }
        other => other.clone(),
    }
}
