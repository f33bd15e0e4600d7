//! Offers the tools, prompts and resources that the conformance suite of MCP expects. Only debug builds do so, if
//! `GIT_BLUE_CONFORMANCE` names the file that describes them: `tests/mcp_peers/conformance.json`.
//!
//! Everything else, including the transport, is the ordinary server.

#![expect(deprecated, reason = "the suite asks for what older eras have")]

mod fixture;
mod rounds;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, CustomRequest, CustomResult,
        DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams, GetSkillResult,
        InitializeRequestParams, InitializeResult, ListPromptsResult, ListResourceTemplatesResult, ListResourcesResult,
        ListSkillsResult, ListToolsResult, PaginatedRequestParams, ProtocolVersion, ReadResourceRequestParams,
        ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};

use super::server::Server;
use fixture::Fixtures;

/// The variable with the file of the fixtures.
const VARIABLE: &str = "GIT_BLUE_CONFORMANCE";

/// The server, with the fixtures if they are enabled.
#[derive(Clone)]
pub struct Conforming {
    server: Server,
    fixtures: Option<&'static Fixtures>,
}

type Context = RequestContext<RoleServer>;
type Answer<T> = Result<T, ErrorData>;

impl Conforming {
    /// Wraps a server, adding the fixtures if its environment names them.
    pub fn new(server: Server) -> Self {
        let fixtures = server.env().var(VARIABLE).map(|path| Fixtures::of(path.as_ref()));
        Self { server, fixtures }
    }
}

impl ServerHandler for Conforming {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.server.get_info();
        if self.fixtures.is_some() {
            info.capabilities.logging = Some(serde_json::Map::new());
        }
        info
    }

    fn supported_protocol_versions(&self) -> std::borrow::Cow<'static, [ProtocolVersion]> {
        self.server.supported_protocol_versions()
    }

    async fn initialize(&self, request: InitializeRequestParams, context: Context) -> Answer<InitializeResult> {
        let mut answer = self.server.initialize(request, context).await?;
        answer.capabilities = self.get_info().capabilities;
        Ok(answer)
    }

    async fn discover(&self, context: Context) -> Answer<DiscoverResult> {
        self.server.discover(context).await
    }

    async fn set_level(&self, _request: SetLevelRequestParams, _context: Context) -> Answer<()> {
        match self.fixtures {
            Some(_) => Ok(()),
            None => Err(ErrorData::method_not_found::<rmcp::model::SetLevelRequestMethod>()),
        }
    }

    async fn list_tools(&self, page: Option<PaginatedRequestParams>, context: Context) -> Answer<ListToolsResult> {
        let mut list = self.server.list_tools(page, context).await?;
        list.tools.extend(self.fixtures.into_iter().flat_map(Fixtures::tools));
        Ok(list)
    }

    async fn call_tool(&self, request: CallToolRequestParams, context: Context) -> Answer<CallToolResponse> {
        match self.fixtures.and_then(|fixtures| fixtures.tool(&request.name)) {
            Some(tool) => tool.call(request, &context).await,
            None => self.server.call_tool(request, context).await,
        }
    }

    async fn list_resources(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourcesResult> {
        let mut list = self.server.list_resources(page, context).await?;
        list.resources.extend(self.fixtures.into_iter().flat_map(Fixtures::resources));
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        page: Option<PaginatedRequestParams>,
        context: Context,
    ) -> Answer<ListResourceTemplatesResult> {
        let mut list = self.server.list_resource_templates(page, context).await?;
        list.resource_templates.extend(self.fixtures.map(Fixtures::resource_template));
        Ok(list)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: Context,
    ) -> Answer<ReadResourceResponse> {
        match self.fixtures.and_then(|fixtures| fixtures.read(&request.uri)) {
            Some(found) => Ok(found.into()),
            None => self.server.read_resource(request, context).await,
        }
    }

    async fn subscribe(&self, request: SubscribeRequestParams, context: Context) -> Answer<()> {
        match self.fixtures.and_then(|fixtures| fixtures.read(&request.uri)) {
            Some(_) => Ok(()),
            None => self.server.subscribe(request, context).await,
        }
    }

    async fn unsubscribe(&self, request: UnsubscribeRequestParams, context: Context) -> Answer<()> {
        self.server.unsubscribe(request, context).await
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        self.server.accepted_subscription_filter(requested)
    }

    async fn listen(&self, context: SubscriptionContext) -> Answer<()> {
        self.server.listen(context).await
    }

    async fn list_prompts(&self, page: Option<PaginatedRequestParams>, context: Context) -> Answer<ListPromptsResult> {
        let mut list = self.server.list_prompts(page, context).await?;
        list.prompts.extend(self.fixtures.into_iter().flat_map(Fixtures::prompts));
        Ok(list)
    }

    async fn get_prompt(&self, request: GetPromptRequestParams, context: Context) -> Answer<GetPromptResponse> {
        match self.fixtures.and_then(|fixtures| fixtures.prompt(&request.name)) {
            Some(prompt) => prompt.fill(request, &context),
            None => self.server.get_prompt(request, context).await,
        }
    }

    async fn complete(&self, request: CompleteRequestParams, context: Context) -> Answer<CompleteResult> {
        self.server.complete(request, context).await
    }

    async fn list_skills(&self, page: Option<PaginatedRequestParams>, context: Context) -> Answer<ListSkillsResult> {
        self.server.list_skills(page, context).await
    }

    async fn get_skill(&self, request: GetSkillRequestParams, context: Context) -> Answer<GetSkillResult> {
        self.server.get_skill(request, context).await
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.server.on_roots_list_changed(context).await;
    }

    async fn on_custom_request(&self, request: CustomRequest, context: Context) -> Answer<CustomResult> {
        self.server.on_custom_request(request, context).await
    }
}
