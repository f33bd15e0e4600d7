//! The client of a connection, and the notifications that were sent to it but are not recorded as seen yet.

use std::sync::{Arc, Mutex};

use rmcp::{RoleServer, service::RequestContext};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{idle_projects::IdleProjects, outbox::SentNotifications};
use crate::{model::name::ReaderName, surface::locked::locked};

/// A reader while it is connected.
#[derive(Debug, Clone)]
pub struct Client {
    /// The name of the reader.
    pub reader: ReaderName,
    /// The projects in which nothing was pending when last checked.
    pub idle: Arc<IdleProjects>,
    /// Allows only one answer at a time to carry notifications, so that no two answers carry the same ones.
    turn: Arc<Semaphore>,
}

impl Client {
    /// Creates a client that has received no notifications.
    pub fn new(reader: ReaderName) -> Self {
        Self { reader, idle: Arc::default(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// Takes the permit to carry notifications, unless another answer holds it.
    pub fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turn.clone().try_acquire_owned().ok()
    }
}

/// The client of a request over HTTP, and the notifications in its answer. Both are attached to the request, because
/// one layer makes the answer and another writes it.
#[derive(Debug, Clone)]
pub struct ClientOfRequest {
    /// The reader that sent the request.
    pub client: Client,
    unrecorded: Arc<Mutex<Option<Unrecorded>>>,
}

/// Notifications to record as seen once the answer has been written. Until then, no other answer carries any.
#[derive(Debug)]
pub struct Unrecorded {
    told: SentNotifications,
    _turn: OwnedSemaphorePermit,
}

impl ClientOfRequest {
    /// Creates the client of a request.
    pub fn new(client: Client) -> Self {
        Self { client, unrecorded: Arc::default() }
    }

    /// Returns the client of a request. Returns `None` over standard input and output, where the transport itself
    /// writes the answers.
    pub fn of(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<hyper::http::request::Parts>()?.extensions.get::<Self>()
    }

    /// Sets the notifications that the answer carries.
    pub fn note(&self, told: SentNotifications, turn: OwnedSemaphorePermit) {
        *locked(&self.unrecorded) = Some(Unrecorded { told, _turn: turn });
    }

    /// Takes the notifications that the answer carried.
    pub fn take(&self) -> Option<Unrecorded> {
        locked(&self.unrecorded).take()
    }
}

impl Unrecorded {
    /// Records the notifications, as [`SentNotifications::is_settled`] does.
    pub fn is_settled(&self) -> bool {
        self.told.is_settled()
    }
}
