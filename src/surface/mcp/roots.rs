//! Asks a client for its roots, as its protocol version defines it, and only if nothing else determines the project.

use std::{path::PathBuf, time::Duration};

use rmcp::{
    RoleServer,
    model::{InputRequest, InputRequests, InputRequiredResult, InputResponses},
    service::RequestContext,
};
use serde_json::Value;
use tokio::sync::Mutex;

use super::project::{self, NoProject, Roots};
use crate::error::OpError;

/// The maximum time to wait for the roots.
const TIMEOUT: Duration = Duration::from_secs(5);
/// The key under which a client of the stateless protocol is asked for its roots.
const NAME: &str = "roots";

/// The roots of one client, if it has already named them.
#[derive(Debug, Default)]
pub struct RootsRequest {
    known: Mutex<Roots>,
}

/// Why an attempt did not succeed.
#[derive(Debug)]
pub enum NotDone {
    Failed(OpError),
    /// The client has to name its roots first; this result asks for them.
    Asked(InputRequiredResult),
}

impl From<OpError> for NotDone {
    fn from(error: OpError) -> Self {
        Self::Failed(error)
    }
}

impl RootsRequest {
    /// Forgets the roots of the client, because they have changed.
    pub async fn forget(&self) {
        *self.known.lock().await = Roots::Unasked;
    }

    /// Attempts something that needs a project. If no project is found, asks the client for its roots and tries again.
    ///
    /// # Errors
    /// Returns an error if the attempt fails, or a client of the stateless protocol has to be asked.
    pub async fn attempt<T>(
        &self,
        responses: Option<&InputResponses>,
        context: &RequestContext<RoleServer>,
        mut attempt: impl FnMut(&Roots) -> Result<T, NoProject> + Send,
    ) -> Result<T, NotDone> {
        let mut roots = match responses.and_then(|responses| responses.get(NAME)) {
            Some(answer) => Roots::Known(folders(answer)),
            None if responses.is_some() => Roots::Unknown("the client did not name them"),
            None => self.known.lock().await.clone(),
        };
        loop {
            match attempt(&roots) {
                Ok(done) => return Ok(done),
                Err(NoProject::Failed(error)) => return Err(error.into()),
                Err(NoProject::Nowhere(tried)) if roots != Roots::Unasked => {
                    tracing::debug!(tried = tried.places(), "no project");
                    return Err(project::not_found_error(&tried).into());
                }
                Err(NoProject::Nowhere(_)) => {
                    if context.client_capabilities().is_none_or(|can| can.roots.is_none()) {
                        roots = Roots::Unknown("the client does not support roots");
                    } else if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
                        return Err(NotDone::Asked(InputRequiredResult::from_input_requests(question())));
                    } else {
                        roots = self.ask(context).await;
                    }
                }
            }
        }
    }

    async fn ask(&self, context: &RequestContext<RoleServer>) -> Roots {
        let mut known = self.known.lock().await;
        if *known == Roots::Unasked {
            *known = self.listed(context).await;
        }
        known.clone()
    }

    #[expect(deprecated, reason = "clients of the eras before 2026-07-28 are asked like this")]
    async fn listed(&self, context: &RequestContext<RoleServer>) -> Roots {
        match tokio::time::timeout(TIMEOUT, context.peer.list_roots()).await {
            Ok(Ok(result)) => {
                tracing::debug!(roots = result.roots.len(), "the client named its roots");
                Roots::Known(result.roots.iter().filter_map(|root| project::root(&root.uri)).collect())
            }
            Ok(Err(error)) => {
                tracing::debug!(%error, "the client could not name its roots");
                Roots::Unknown("the client could not name them")
            }
            Err(_) => Roots::Unknown("the client did not answer in time"),
        }
    }
}

#[expect(deprecated, reason = "the stateless era asks with the same request")]
fn question() -> InputRequests {
    let request = InputRequest::ListRoots(rmcp::model::ListRootsRequest::default());
    InputRequests::from([(NAME.to_owned(), request)])
}

/// Reads the folders in a list of roots.
fn folders(answer: &Value) -> Vec<PathBuf> {
    let roots = answer["roots"].as_array().into_iter().flatten();
    roots.filter_map(|root| project::root(root["uri"].as_str()?)).collect()
}
