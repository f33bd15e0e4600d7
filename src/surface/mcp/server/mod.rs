//! The server that answers one client.

mod background;
mod calls;
mod handler;

use std::sync::Arc;

use rmcp::{ErrorData, RoleServer, service::RequestContext};
use tokio::sync::Semaphore;

use super::{
    client::{Client, ClientOfRequest},
    declared,
    open::{Project, open},
    outbox::FinishedAnswers,
    project::{self, NoProject, Roots},
    refusal::refused,
    roots::{NotDone, RootsRequest},
    settings::Settings,
    watch::Watches,
};
use crate::{
    locate,
    model::name::RealmName,
    ops::{inboxes::inbox, prime},
};

/// The time for which a client may cache data that does not change while the server runs, in milliseconds.
const STABLE_MS: u64 = 3_600_000;

/// A server for one client.
#[derive(Clone)]
pub struct Server {
    settings: Arc<Settings>,
    answers: Arc<FinishedAnswers>,
    /// The client, unless requests name their own.
    client: Client,
    roots_request: Arc<RootsRequest>,
    watches: Arc<Watches>,
    /// Limits how many declared commands run at the same time.
    running: Arc<Semaphore>,
}

impl Server {
    /// Creates a server that stores its answers in `answers`.
    pub fn new(settings: Arc<Settings>, answers: Arc<FinishedAnswers>) -> Self {
        Self {
            client: Client::new(settings.reader.clone()),
            settings,
            answers,
            roots_request: Arc::default(),
            watches: Arc::default(),
            running: Arc::new(Semaphore::new(declared::MAX_RUNNING)),
        }
    }

    /// Returns the client that sent a request.
    fn client<'a>(&'a self, context: &'a RequestContext<RoleServer>) -> &'a Client {
        ClientOfRequest::of(context).map_or(&self.client, |request_client| &request_client.client)
    }

    /// Finds the project of a request that is not a tool call. A client of the stateless protocol is not asked for its
    /// roots, since that takes another request.
    async fn project(
        &self,
        realm: Option<RealmName>,
        context: &RequestContext<RoleServer>,
    ) -> Result<Project, ErrorData> {
        let find = |roots: &Roots| project::find(&self.settings, None, realm.clone(), roots);
        let found = match self.roots_request.attempt(None, context, find).await {
            Ok(project) => return Ok(project),
            Err(NotDone::Failed(error)) => Err(NoProject::Failed(error)),
            Err(NotDone::Asked(_)) => find(&Roots::Unknown("not asked for")),
        };
        found.map_err(|lost| match lost {
            NoProject::Failed(error) => refused(&error),
            NoProject::Nowhere(tried) => refused(&project::not_found_error(&tried)),
        })
    }

    /// Starts the session: its inbox, so that it is notified of all changes that follow. Returns facts about the project in
    /// which the server was started, if there is one. The client is not asked for its roots, and errors are ignored,
    /// because each call reports them, and the first answer with notifications starts the inbox too.
    fn begin(&self) -> Vec<String> {
        if self.settings.is_shared {
            return Vec::new();
        }
        let found = project::find(&self.settings, None, None, &Roots::Unknown("not asked for"));
        let Some(ctx) = found.ok().and_then(|project| open(&self.settings.env, &project).ok()) else {
            return Vec::new();
        };
        let reader = &self.settings.reader;
        let facts = prime::run(&ctx, &prime::Request { reader: reader.clone(), is_resumed: false });
        if self.settings.marks
            && let Ok(acting) = ctx.require_reader()
            && let Err(error) = inbox::begin(acting.store, acting.repo, reader, || ctx.env.now_here())
        {
            tracing::debug!(error = error.to_string(), "the inbox was not started");
        }
        facts.map(|answer| answer.body.facts).unwrap_or_default()
    }

    /// Returns the realms that calls may name. Outside of any realm, these are all.
    async fn served_realms(&self, context: &RequestContext<RoleServer>) -> Result<Vec<RealmName>, ErrorData> {
        if self.settings.all_realms {
            return self.realms();
        }
        let Ok(project) = self.project(None, context).await else { return self.realms() };
        let ctx = open(&self.settings.env, &project).map_err(|error| refused(&error))?;
        ctx.realm().map(|here| vec![here.realm.clone()]).map_err(|error| refused(&error))
    }

    /// Returns the realms of this machine.
    fn realms(&self) -> Result<Vec<RealmName>, ErrorData> {
        let known = locate::home(&self.settings.env).and_then(|home| Ok(home.realms()?));
        let known = known.map_err(|error| refused(&error))?;
        Ok(known.into_iter().map(|known| known.name).collect())
    }
}
