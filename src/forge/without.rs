//! Stands in for the client where the program is built without the feature `forge`: there is none.

use std::{
    convert::Infallible,
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{Address, Forge, Kind, Message, Secret};

/// A way to one forge. None can be made.
#[derive(Debug, Clone, Copy)]
pub struct Client(Infallible);

impl Client {
    /// Returns why there is no client.
    ///
    /// # Errors
    /// Always.
    pub fn new(_host: &str, _base: &str, _secret: Option<Secret>) -> Result<Self, String> {
        Err("this program was built without the feature `forge`".into())
    }

    /// Never runs.
    #[must_use]
    pub fn with_memory(self, _folder: &Path) -> Self {
        self
    }

    /// Never runs.
    #[must_use]
    pub fn with_limit(self, _limit: Duration) -> Self {
        self
    }

    /// Never runs.
    #[must_use]
    pub fn cancelled_by(self, _flag: Arc<AtomicBool>) -> Self {
        self
    }
}

/// Returns why nothing is sent.
///
/// # Errors
/// Always.
pub fn post(_url: &str, _message: &Message<'_>, _secret: Option<&Secret>, _limit: Duration) -> Result<(), String> {
    Err("this program was built without the feature `forge`".into())
}

impl Kind {
    /// Never runs.
    pub fn prepare(self, client: Client) -> Client {
        client
    }

    /// Never runs.
    pub fn forge(self, client: Arc<Client>, _address: &Address) -> Box<dyn Forge> {
        match client.0 {}
    }
}
