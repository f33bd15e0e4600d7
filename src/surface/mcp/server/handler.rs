//! Implements the library's server trait: the requests of a client, in protocol versions with and without a handshake.

use std::borrow::Cow;

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        self, CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult,
        CustomRequest, CustomResult, DiscoverResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
        GetSkillResult, Implementation, InitializeRequestParams, InitializeResult, ListPromptsResult,
        ListResourceTemplatesResult, ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceContents, ServerCapabilities, ServerConfig, SubscribeRequestParams, SubscriptionFilter,
        UnsubscribeRequestParams,
    },
    service::{NotificationContext, RequestContext, SubscriptionContext},
};

use super::{
    super::{
        body::to_string,
        complete, declared,
        instructions::{self, INSTRUCTIONS},
        open::{Project, open},
        project::{self, NoProject, Roots},
        prompts::PROMPTS,
        refusal::{refused, refused_call, refused_uri},
        resources::{self, MIME, Uri},
        roots::NotDone,
        skills::{self, SKILLS},
        steps::FollowUp,
        tools,
        watch::{self, MAX_WATCHED, Watched},
    },
    STABLE_MS, Server,
};
use crate::{
    error::{ErrorCode, OpError},
    surface::escape::escape_in_json,
};

/// The time for which a client may cache data that changes with the realm, in milliseconds.
const FRESH_MS: u64 = 5_000;

/// Marks a result as cacheable by the client while the server runs.
macro_rules! lasting {
    ($list:ident, $items:expr) => {
        $list::with_all_items($items).with_ttl_ms(STABLE_MS).with_cache_scope(CacheScope::Private)
    };
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_resources_list_changed()
            .enable_prompts()
            .enable_completions()
            .enable_skills()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(Implementation::new("git-blue", env!("CARGO_PKG_VERSION")).with_title("git blue"))
            .with_instructions(INSTRUCTIONS)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        Cow::Borrowed(ProtocolVersion::KNOWN_VERSIONS)
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut answer = self.negotiate_initialize(&request)?;
        // A session starts here, so the instructions include facts about the project. Instructions that a client may
        // cache for an hour do not.
        answer.instructions = Some(instructions::with_facts(&self.begin()));
        Ok(answer)
    }

    async fn discover(&self, _context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let versions = self.supported_protocol_versions().into_owned();
        let mut found = DiscoverResult::from_server_info(versions, self.get_info());
        found.ttl_ms = STABLE_MS;
        Ok(found)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let ours = tools::offered(&self.settings).map(|tool| tools::listed(tool, &self.settings));
        let declared = self.settings.declared.tools.iter().map(|tool| declared::listed(tool, &self.settings));
        Ok(lasting!(ListToolsResult, ours.chain(declared).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, &context).await
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let start = request.and_then(|request| request.cursor).map_or(Ok(0), |cursor| cursor.parse());
        let start = start.map_err(|_| ErrorData::invalid_params("the cursor does not belong to this list", None))?;
        let project = match self.project(None, &context).await {
            Ok(project) => project,
            // Without a project, list the resources that every realm has.
            Err(_) if self.settings.is_shared => {
                let of_realms = self.realms()?.into_iter().flat_map(|realm| resources::of_realm(&realm));
                return Ok(listed(skills::resources().chain(of_realms).collect()));
            }
            // A skill explains how to join a realm.
            Err(_) => return Ok(listed(skills::resources().collect())),
        };
        let found = open(&self.settings.env, &project).and_then(|ctx| resources::list(&ctx, start));
        let (found, end) = found.map_err(|error| refused(&error))?;
        // A client that has seen the list is notified when it changes.
        let watched = Watched::list(&self.settings.env, project);
        if let Err(error) = self.watches.add(watched, &self.settings.env, &context) {
            tracing::debug!(error = error.message, "not watched");
        }
        let mut list = listed(found);
        list.next_cursor = end.map(|end| end.to_string());
        Ok(list)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        Ok(lasting!(ListResourceTemplatesResult, resources::templates()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if let Some(contents) = skills::read(&request.uri) {
            let result = ReadResourceResult::new(vec![contents]).with_ttl_ms(STABLE_MS);
            return Ok(result.with_cache_scope(CacheScope::Private).into());
        }
        let uri: Uri = request.uri.parse().map_err(|error| refused_uri(&error, &request.uri))?;
        let attempt = |roots: &Roots| {
            let project = self.of_resource(&uri, roots)?;
            let ctx = open(&self.settings.env, &project)?;
            Ok(uri.what.read(&ctx)?)
        };
        match self.roots_request.attempt(request.input_responses.as_ref(), &context, attempt).await {
            Ok(mut body) => {
                if !body.next_steps.is_empty() {
                    body.fields.insert("next_steps".into(), serde_json::json!(body.next_steps));
                }
                let text = escape_in_json(&to_string(&body.fields));
                let contents = ResourceContents::text(text, request.uri).with_mime_type(MIME);
                let result = ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_MS);
                Ok(result.with_cache_scope(CacheScope::Private).into())
            }
            Err(NotDone::Failed(error)) => Err(refused_uri(&error, &request.uri)),
            Err(NotDone::Asked(question)) => Ok(question.into()),
        }
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let uri: Uri = request.uri.parse().map_err(|error| refused(&error))?;
        match self.roots_request.attempt(None, &context, |roots| self.of_resource(&uri, roots)).await {
            Ok(project) => {
                let env = &self.settings.env;
                let watched = Watched::resource(env, project, &request.uri, &uri.what);
                self.watches.add(watched, env, &context).map_err(|error| refused(&error))
            }
            Err(NotDone::Failed(error)) => Err(refused(&error)),
            Err(NotDone::Asked(_)) => Err(ErrorData::invalid_params("the project is not known yet", None)),
        }
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.watches.remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = requested.clone();
        accepted.tools_list_changed = None;
        accepted.prompts_list_changed = None;
        if let Some(uris) = &mut accepted.resource_subscriptions {
            uris.retain(|uri| uri.parse::<Uri>().is_ok());
            uris.truncate(MAX_WATCHED);
        }
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let env = &self.settings.env;
        let mut watched = Vec::new();
        let asked = context.request_context();
        if context.accepted().resources_list_changed == Some(true) {
            watched.push(Watched::list(env, self.project(None, asked).await?));
        }
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let Ok(parsed) = uri.parse::<Uri>() else { continue };
            match self.roots_request.attempt(None, asked, |roots| self.of_resource(&parsed, roots)).await {
                Ok(project) => watched.push(Watched::resource(env, project, uri, &parsed.what)),
                Err(NotDone::Failed(error)) => tracing::debug!(uri, error = error.message, "not watched"),
                Err(NotDone::Asked(_)) => tracing::debug!(uri, "not watched: no project"),
            }
        }
        watch::listen(watched, env, &context).await;
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(lasting!(ListPromptsResult, PROMPTS.iter().map(|prompt| prompt.listed()).collect()))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = PROMPTS.iter().find(|prompt| prompt.name == request.name) else {
            let names: Vec<_> = PROMPTS.iter().map(|prompt| prompt.name).collect();
            return Err(ErrorData::invalid_params(format!("the prompts are {}", names.join(", ")), None));
        };
        let arguments = request.arguments.unwrap_or_default();
        let text = |name: &str| arguments.get(name)?.as_str();
        let attempt = |roots: &Roots| {
            let project = project::find(&self.settings, text("cwd"), None, roots)?;
            let ctx = open(&self.settings.env, &project)?;
            Ok(prompt.filled(&ctx, &self.client(&context).reader, &arguments)?)
        };
        match self.roots_request.attempt(request.input_responses.as_ref(), &context, attempt).await {
            Ok(result) => Ok(result.into()),
            Err(NotDone::Failed(error)) => Err(refused_call(&error, &FollowUp::of(&self.settings, text))),
            Err(NotDone::Asked(question)) => Ok(question.into()),
        }
    }

    async fn list_skills(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListSkillsResult, ErrorData> {
        Ok(lasting!(ListSkillsResult, SKILLS.to_vec()))
    }

    async fn get_skill(
        &self,
        request: GetSkillRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetSkillResult, ErrorData> {
        let found = SKILLS.iter().find(|skill| skill.uri == request.uri);
        let skill = found.ok_or_else(|| {
            let known: Vec<_> = SKILLS.iter().map(|skill| &*skill.uri).collect();
            ErrorData::invalid_params(format!("no such skill; the skills are {}", known.join(", ")), None)
        })?;
        Ok(GetSkillResult::new(skill.clone()).with_ttl_ms(STABLE_MS).with_cache_scope(CacheScope::Private))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let known = request.context.and_then(|context| context.arguments).unwrap_or_default();
        let (argument, typed) = (&*request.argument.name, &*request.argument.value);
        let found = if argument == "realm" {
            complete::matching(self.served_realms(&context).await?.iter().map(ToString::to_string).collect(), typed)
        } else {
            let realm = known.get("realm").filter(|_| self.settings.all_realms).and_then(|name| name.parse().ok());
            let project = self.project(realm, &context).await?;
            open(&self.settings.env, &project).and_then(|ctx| complete::values(&ctx, argument, typed, &known))
        };
        found.map(CompleteResult::new).map_err(|error| refused(&error))
    }

    async fn on_roots_list_changed(&self, _context: NotificationContext<RoleServer>) {
        self.roots_request.forget().await;
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(100).collect();
        Err(ErrorData::new(model::ErrorCode::METHOD_NOT_FOUND, format!("Unknown method: {method:?}"), None))
    }
}

impl Server {
    /// Returns the project of a resource. It must be in the resource's realm, unless all realms are offered.
    fn of_resource(&self, uri: &Uri, roots: &Roots) -> Result<Project, NoProject> {
        let realm = self.settings.all_realms.then(|| uri.realm.clone());
        // The resource names its realm, so the client does not need to be asked for its roots.
        let unasked = Roots::Unknown("not asked for");
        let roots = if self.settings.is_shared { &unasked } else { roots };
        let project = project::find(&self.settings, None, realm, roots)?;
        let ctx = open(&self.settings.env, &project)?;
        if ctx.realm()?.realm == uri.realm {
            Ok(project)
        } else {
            Err(OpError::no(ErrorCode::UnknownResource, format!("this server does not serve the realm {}", uri.realm))
                .into())
        }
    }
}

/// Returns a list of resources that changes with the realm.
fn listed(resources: Vec<Resource>) -> ListResourcesResult {
    ListResourcesResult::with_all_items(resources).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private)
}
