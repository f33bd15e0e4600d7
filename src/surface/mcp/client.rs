//! Who is told, and what it was told that is not recorded yet.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::{RoleServer, service::RequestContext};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::{outbox::Told, quiet::Quiet};
use crate::{error::ErrorCode, model::name::ReaderName};

/// One reader, as long as it is served.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its name.
    pub reader: ReaderName,
    /// Where nothing was pending when last looked at.
    pub quiet: Arc<Quiet>,
    /// One answer at a time tells it something: what another one is about to tell is not told again.
    turn: Arc<Semaphore>,
}

impl Client {
    /// Returns one that was told nothing yet.
    pub fn new(reader: ReaderName) -> Self {
        Self { reader, quiet: Arc::default(), turn: Arc::new(Semaphore::new(1)) }
    }

    /// Returns the right to tell it something, unless another answer has it.
    pub fn turn(&self) -> Option<OwnedSemaphorePermit> {
        self.turn.clone().try_acquire_owned().ok()
    }
}

/// Goes with a request over HTTP: who asks, and what its answer tells. The answer is written by another
/// layer than the one that makes it.
#[derive(Debug, Clone)]
pub struct Slip {
    /// The reader that asks.
    pub client: Client,
    owed: Arc<Mutex<Option<Owed>>>,
}

/// What is to be recorded once the answer has been written. Until then nothing else is told.
#[derive(Debug)]
pub struct Owed {
    told: Told,
    _turn: OwnedSemaphorePermit,
}

impl Slip {
    /// Returns the slip of a request.
    pub fn new(client: Client) -> Self {
        Self { client, owed: Arc::default() }
    }

    /// Returns the slip that came with a request; none where its transport writes answers itself.
    pub fn of(context: &RequestContext<RoleServer>) -> Option<&Self> {
        context.extensions.get::<hyper::http::request::Parts>()?.extensions.get::<Self>()
    }

    /// Notes what the answer tells.
    pub fn note(&self, told: Told, turn: OwnedSemaphorePermit) {
        *self.owed.lock().unwrap_or_else(PoisonError::into_inner) = Some(Owed { told, _turn: turn });
    }

    /// Takes what the answer told.
    pub fn take(&self) -> Option<Owed> {
        self.owed.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

impl Owed {
    /// Records that it was told. Returns whether that is done with: somebody else may hold the lock for
    /// it. What cannot be recorded at all is told again.
    pub fn is_settled(&self) -> bool {
        !matches!(self.told.record(), Err(error) if error.code == ErrorCode::Locked)
    }
}
