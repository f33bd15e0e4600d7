//! Tracks the requests of a client that are being answered, because the library answers only one of two concurrent
//! requests with the same id.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};

/// The ids of these requests.
#[derive(Debug, Default)]
pub struct Pending(Mutex<HashSet<RequestId>>);

impl Pending {
    /// Adds a request.
    ///
    /// # Errors
    /// Returns an error if another request with the same id is being answered.
    pub fn begin(&self, id: &RequestId) -> Result<(), JsonRpcError> {
        match self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone()) {
            true => Ok(()),
            false => Err(taken(id)),
        }
    }

    /// Returns whether a request is being answered.
    pub fn has(&self, id: &RequestId) -> bool {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).contains(id)
    }

    /// Returns the number of requests that are being answered.
    pub fn count(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Removes a request.
    pub fn end(&self, id: &RequestId) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(id);
    }
}

/// The requests of all sessions that are being answered, by session and id.
pub type ActiveRequests = Mutex<HashSet<(String, RequestId)>>;

/// Reserves the id of a request in a session until it is dropped.
#[derive(Debug)]
pub struct RequestIdGuard {
    all: Arc<ActiveRequests>,
    own: (String, RequestId),
}

impl RequestIdGuard {
    /// Reserves an id.
    ///
    /// # Errors
    /// Returns an error if another request with this id is being answered.
    pub fn take(all: &Arc<ActiveRequests>, session: &str, id: &RequestId) -> Result<Self, JsonRpcError> {
        let own = (session.to_owned(), id.clone());
        match all.lock().unwrap_or_else(PoisonError::into_inner).insert(own.clone()) {
            true => Ok(Self { all: all.clone(), own }),
            false => Err(taken(id)),
        }
    }
}

impl Drop for RequestIdGuard {
    fn drop(&mut self) {
        self.all.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.own);
    }
}

/// Returns the error for a request whose id is in use.
fn taken(id: &RequestId) -> JsonRpcError {
    let message = format!("the request {id} is still being answered: use another id");
    JsonRpcError::new(Some(id.clone()), ErrorData::new(ErrorCode::INVALID_REQUEST, message, None))
}
