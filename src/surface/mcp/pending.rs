//! Tracks the requests of a client that are being answered, because the library answers only one of two concurrent
//! requests with the same id.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex},
};

use crate::surface::locked::locked;
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
        if locked(&self.0).insert(id.clone()) {
            Ok(())
        } else {
            let message = format!("the request {id} is still being answered: use another id");
            Err(JsonRpcError::new(Some(id.clone()), ErrorData::new(ErrorCode::INVALID_REQUEST, message, None)))
        }
    }

    /// Returns whether a request is being answered.
    pub fn has(&self, id: &RequestId) -> bool {
        locked(&self.0).contains(id)
    }

    /// Returns the number of requests that are being answered.
    pub fn count(&self) -> usize {
        locked(&self.0).len()
    }

    /// Removes a request.
    pub fn end(&self, id: &RequestId) {
        locked(&self.0).remove(id);
    }
}

/// Reserves the id of a request until it is dropped.
#[derive(Debug)]
pub struct RequestIdGuard {
    all: Arc<Pending>,
    id: RequestId,
}

impl RequestIdGuard {
    /// Reserves an id.
    ///
    /// # Errors
    /// Returns an error if another request with this id is being answered.
    pub fn take(all: &Arc<Pending>, id: &RequestId) -> Result<Self, JsonRpcError> {
        all.begin(id)?;
        Ok(Self { all: all.clone(), id: id.clone() })
    }
}

impl Drop for RequestIdGuard {
    fn drop(&mut self) {
        self.all.end(&self.id);
    }
}
