//! Lists, reads and watches the resources of a realm.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CacheScope, ListResourcesResult, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
        ResourceContents,
    },
    service::{RequestContext, SubscriptionContext},
};

use super::{STABLE_MS, Server};
use crate::error::{ErrorCode, OpError};
use crate::surface::cli::text::escape_in_json;
use crate::surface::mcp::{
    body::to_string,
    open::{Project, open},
    project::{self, NoProject, Roots},
    refusal::{refused, refused_uri},
    resources::{self, MIME, Uri},
    roots::Outcome,
    skills,
    watch::{self, Watched},
};

/// The time for which a client may cache data that changes with the realm, in milliseconds.
const FRESH_MS: u64 = 5_000;

impl Server {
    /// Returns a page of the resources of a project.
    ///
    /// # Errors
    /// Returns an error if there is no project, or it cannot be read.
    pub async fn resources(
        &self,
        cursor: Option<String>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let start = cursor.map_or(Ok(0), |cursor| cursor.parse());
        let start = start.map_err(|_| ErrorData::invalid_params("the cursor does not belong to this list", None))?;
        let project = match self.project(None, context).await {
            Ok(project) => project,
            // Without a project, list the resources that every realm has.
            Err(_) if self.settings.is_shared => {
                let of_realms = self.realms()?.into_iter().flat_map(|realm| resources::of_realm(&realm));
                return Ok(listed(skills::resources().chain(of_realms).collect()));
            }
            // A skill explains how to join a realm.
            Err(_) => return Ok(listed(skills::resources().collect())),
        };
        let (found, end) = {
            let ctx = open(&self.settings.env, &project).map_err(|error| refused(&error))?;
            resources::list(&ctx, start).map_err(|error| refused(&error))?
        };
        // A client that has seen the list is notified when it changes.
        self.watches.add(Watched::list(&self.settings.env, project), &self.settings.env, context);
        let mut list = listed(found);
        list.next_cursor = end.map(|end| end.to_string());
        Ok(list)
    }

    /// Reads a resource.
    ///
    /// # Errors
    /// Returns an error if there is no such resource, or it cannot be read.
    pub async fn read(
        &self,
        request: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
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
        match self.roots_request.attempt(request.input_responses.as_ref(), context, attempt).await {
            Outcome::Done(mut body) => {
                if !body.next_steps.is_empty() {
                    body.fields.insert("next_steps".into(), serde_json::json!(body.next_steps));
                }
                let text = escape_in_json(&to_string(&body.fields));
                let contents = ResourceContents::text(text, request.uri).with_mime_type(MIME);
                let result = ReadResourceResult::new(vec![contents]).with_ttl_ms(FRESH_MS);
                Ok(result.with_cache_scope(CacheScope::Private).into())
            }
            Outcome::Failed(error) => Err(refused_uri(&error, &request.uri)),
            Outcome::Asked(question) => Ok(question.into()),
        }
    }

    /// Watches a resource for a client that made a handshake.
    ///
    /// # Errors
    /// Returns an error if there is no such resource.
    pub async fn watch(&self, uri: &str, context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
        let parsed: Uri = uri.parse().map_err(|error| refused(&error))?;
        let found = self.roots_request.attempt(None, context, |roots| self.of_resource(&parsed, roots)).await;
        match found {
            Outcome::Done(project) => {
                let env = &self.settings.env;
                self.watches.add(Watched::resource(env, project, uri, &parsed.what), env, context);
                Ok(())
            }
            Outcome::Failed(error) => Err(refused(&error)),
            Outcome::Asked(_) => Err(ErrorData::invalid_params("the project is not known yet", None)),
        }
    }

    /// Notifies a client of the stateless protocol of changes until it ends the subscription.
    ///
    /// # Errors
    /// Returns an error if the client subscribes to a list outside of a project.
    pub async fn tell_changes(&self, context: &SubscriptionContext) -> Result<(), ErrorData> {
        let env = &self.settings.env;
        let mut watched = Vec::new();
        let asked = context.request_context();
        if context.accepted().resources_list_changed == Some(true) {
            watched.push(Watched::list(env, self.project(None, asked).await?));
        }
        for uri in context.accepted().resource_subscriptions.iter().flatten() {
            let Ok(parsed) = uri.parse::<Uri>() else { continue };
            match self.roots_request.attempt(None, asked, |roots| self.of_resource(&parsed, roots)).await {
                Outcome::Done(project) => watched.push(Watched::resource(env, project, uri, &parsed.what)),
                Outcome::Failed(error) => self.log.say(|| format!("not watched: {uri}: {}", error.message)),
                Outcome::Asked(_) => self.log.say(|| format!("not watched: {uri}: no project")),
            }
        }
        watch::listen(watched, env, context).await;
        Ok(())
    }

    /// Returns the project of a resource. It must be in the resource's realm, unless all realms are offered.
    fn of_resource(&self, uri: &Uri, roots: &Roots) -> Result<Project, NoProject> {
        let realm = self.settings.all_realms.then(|| uri.realm.clone());
        // The resource names its realm, so the client does not need to be asked for its roots.
        let unasked = Roots::Unknown("not asked for");
        let roots = if self.settings.is_shared { &unasked } else { roots };
        let project = project::find(&self.settings, None, realm, roots)?;
        let ctx = open(&self.settings.env, &project)?;
        match ctx.realm()?.realm == uri.realm {
            true => Ok(project),
            false => Err(OpError::no(
                ErrorCode::UnknownResource,
                format!("this server does not serve the realm {}", uri.realm),
            )
            .into()),
        }
    }
}

/// Returns a list of resources that changes with the realm.
fn listed(resources: Vec<Resource>) -> ListResourcesResult {
    ListResourcesResult::with_all_items(resources).with_ttl_ms(FRESH_MS).with_cache_scope(CacheScope::Private)
}
