//! Watches for changes that a client asked to be notified of. The refs are polled, which is cheap while they do not
//! change.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use rmcp::{
    Peer, RoleServer,
    model::ResourceUpdatedNotificationParam,
    service::{RequestContext, SubscriptionContext},
};

use super::{
    open::{Project, open},
    resources::ResourceKind,
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    ops::inboxes::{self, fingerprint::Part},
    surface::locked::locked,
};

/// The interval of polling.
const EVERY: Duration = Duration::from_millis(1_000);

/// A watched resource, or the list of resources.
#[derive(Debug, Clone)]
pub struct Watched {
    project: Project,
    /// The URI of the resource; `None` for the list of resources.
    uri: Option<String>,
    part: Part,
    /// The state of the part's gate when last checked; `None` if it could not be read.
    gate: Option<String>,
    /// The state of the watched part when last checked.
    state: Option<String>,
}

impl Watched {
    /// Starts to watch a resource.
    pub fn resource(env: &Env, project: Project, uri: &str, what: &ResourceKind) -> Self {
        Self::new(env, project, Some(uri.to_owned()), what.part())
    }

    /// Starts to watch the list of resources.
    pub fn list(env: &Env, project: Project) -> Self {
        Self::new(env, project, None, Part::Names)
    }

    fn new(env: &Env, project: Project, uri: Option<String>, part: Part) -> Self {
        let mut watched = Self { project, uri, part, gate: None, state: None };
        watched.gate = watched.read_state(env, &watched.part.gate());
        watched.state = watched.read_state(env, &watched.part);
        watched
    }

    /// Returns whether it has changed since the last call.
    fn has_changed(&mut self, env: &Env, gates: &mut Gates) -> bool {
        // A failed read counts as no change, and is retried.
        let Some(gate) = gates.state(env, self) else { return false };
        if self.gate.as_ref() == Some(gate) {
            return false;
        }
        let Some(state) = self.read_state(env, &self.part) else { return false };
        self.gate = Some(gate.clone());
        let has_changed = self.state.as_ref() != Some(&state);
        self.state = Some(state);
        has_changed
    }

    fn read_state(&self, env: &Env, part: &Part) -> Option<String> {
        let ctx = open(env, &self.project).ok()?;
        inboxes::fingerprint::of(&ctx, part).ok()
    }
}

/// The states of the gates, each read once for all that is watched behind it.
#[derive(Debug, Default)]
struct Gates(Vec<(Project, Part, Option<String>)>);

impl Gates {
    fn state(&mut self, env: &Env, watched: &Watched) -> Option<&String> {
        let gate = watched.part.gate();
        let known = self.0.iter().position(|(project, part, _)| *project == watched.project && *part == gate);
        let at = known.unwrap_or_else(|| {
            let state = watched.read_state(env, &gate);
            self.0.push((watched.project.clone(), gate, state));
            self.0.len() - 1
        });
        self.0[at].2.as_ref()
    }
}

/// The subscriptions of one client that made a handshake.
#[derive(Debug, Default)]
pub struct Watches {
    all: Mutex<Vec<Watched>>,
    is_running: AtomicBool,
}

/// The maximum number of subscriptions of one client.
pub const MAX_WATCHED: usize = 1_000;

impl Watches {
    /// Adds a subscription until the client disconnects or unsubscribes. In the stateless protocol, clients call
    /// [`listen`] instead.
    ///
    /// # Errors
    /// Returns an error if the client has too many.
    pub fn add(
        self: &Arc<Self>,
        watched: Watched,
        env: &Env,
        context: &RequestContext<RoleServer>,
    ) -> Result<(), OpError> {
        if context.protocol_version().is_some_and(|version| !version.has_initialize()) {
            return Ok(());
        }
        add_to(&mut locked(&self.all), watched, MAX_WATCHED)?;
        if !self.is_running.swap(true, Ordering::Relaxed) {
            tokio::spawn(notify_changes(self.clone(), env.clone(), context.peer.clone()));
        }
        Ok(())
    }

    /// Removes the subscription to a resource.
    pub fn remove(&self, uri: &str) {
        locked(&self.all).retain(|one| one.uri.as_deref() != Some(uri));
    }

    fn changed(&self, env: &Env) -> Vec<Option<String>> {
        let (mut all, mut gates) = (locked(&self.all), Gates::default());
        all.iter_mut().filter_map(|one| one.has_changed(env, &mut gates).then(|| one.uri.clone())).collect()
    }
}

/// Adds a subscription, unless the client has it already or would have more than `most`.
fn add_to(all: &mut Vec<Watched>, watched: Watched, most: usize) -> Result<(), OpError> {
    if all.iter().any(|one| one.uri == watched.uri) {
        return Ok(());
    }
    if all.len() >= most {
        return Err(OpError::cannot(ErrorCode::Busy, format!("at most {most} resources are watched")));
    }
    all.push(watched);
    Ok(())
}

/// Notifies a client of changes until it disconnects.
async fn notify_changes(watches: Arc<Watches>, env: Env, peer: Peer<RoleServer>) {
    while !peer.is_transport_closed() {
        tokio::time::sleep(EVERY).await;
        for uri in watches.changed(&env) {
            let sent = match uri {
                Some(uri) => peer.notify_resource_updated(ResourceUpdatedNotificationParam::new(uri)).await,
                None => peer.notify_resource_list_changed().await,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

/// Notifies a client of the stateless protocol of changes until it ends the subscription.
pub async fn listen(mut watched: Vec<Watched>, env: &Env, context: &SubscriptionContext) {
    loop {
        tokio::select! {
            () = context.cancelled() => return,
            () = tokio::time::sleep(EVERY) => {}
        }
        let mut gates = Gates::default();
        for one in &mut watched {
            if !one.has_changed(env, &mut gates) {
                continue;
            }
            let sent = match &one.uri {
                Some(uri) => context.sink().notify_resource_updated(uri.clone()).await,
                None => context.sink().notify_resource_list_changed().await,
            };
            if sent.is_err() {
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subscriptions_are_limited_in_number() {
        let project = Project { folder: "/".into(), realm: None };
        let watched = |uri: &str| Watched {
            project: project.clone(),
            uri: Some(uri.to_owned()),
            part: Part::Names,
            gate: None,
            state: None,
        };
        let mut all = Vec::new();
        for uri in ["one", "two", "one"] {
            add_to(&mut all, watched(uri), 2).unwrap();
        }
        let error = add_to(&mut all, watched("three"), 2).unwrap_err();
        assert_eq!((error.code, &*error.message), (ErrorCode::Busy, "at most 2 resources are watched"));
        add_to(&mut all, watched("two"), 2).unwrap();
        assert_eq!(all.len(), 2);
    }
}
