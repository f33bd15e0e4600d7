//! The requests of a client that are being answered. The library answers only one of two that have the
//! same id at the same time.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

use super::asked::Asked;

/// Requests by their ids.
#[derive(Debug, Default)]
pub struct Pending(Mutex<HashMap<RequestId, Option<Asked>>>);

impl Pending {
    /// Notes a request, and what it asks if that is plain to see.
    ///
    /// # Errors
    /// Where another one of the same id is being answered.
    pub fn begin(&self, id: &RequestId, asked: Option<Asked>) -> Result<(), JsonRpcError> {
        if self.has(id) {
            return Err(taken(id));
        }
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), asked);
        Ok(())
    }

    /// Returns whether a request of this id is being answered.
    pub fn has(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains_key(id)
    }

    /// Forgets a request, and returns what it asked.
    pub fn end(&self, id: &RequestId) -> Option<Asked> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id).flatten()
    }
}

/// The requests of all sessions that are being answered.
pub type Asking = Mutex<HashSet<(String, RequestId)>>;

/// The right to the id of a request in a session, which two cannot have at the same time.
#[derive(Debug)]
pub struct Turn {
    all: Arc<Asking>,
    own: (String, RequestId),
}

impl Turn {
    /// Takes it.
    ///
    /// # Errors
    /// Where another request has it.
    pub fn take(all: &Arc<Asking>, session: &str, id: &RequestId) -> Result<Self, JsonRpcError> {
        let own = (session.to_owned(), id.clone());
        match all.lock().unwrap_or_else(PoisonError::into_inner).insert(own.clone()) {
            true => Ok(Self { all: all.clone(), own }),
            false => Err(taken(id)),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.own);
    }
}

/// Returns the answer to a request whose id another one has.
fn taken(id: &RequestId) -> JsonRpcError {
    let message = format!("the request {id} is still being answered: take another id");
    JsonRpcError::new(Some(id.clone()), ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}
