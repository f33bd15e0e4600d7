//! Replaces the client in builds without the feature `forge`.

use std::{
    convert::Infallible,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use super::{Address, Forge, Kind, Message, Secret};

/// A client, which cannot be created.
#[derive(Debug, Clone, Copy)]
pub struct Client(Infallible);

impl Client {
    /// Returns an error that explains why there is no client.
    ///
    /// # Errors
    /// Always returns an error.
    pub fn new(_host: &str, _base: &str, _secret: Option<Secret>) -> Result<Self, String> {
        Err("this program was built without the feature `forge`".into())
    }

    /// Never called.
    #[must_use]
    pub fn with_limit(self, _limit: Duration) -> Self {
        self
    }

    /// Never called.
    #[must_use]
    pub fn cancelled_by(self, _flag: Arc<AtomicBool>) -> Self {
        self
    }

    /// Never called.
    pub fn renew_time(&self) {}
}

/// Returns an error that explains why nothing is sent.
///
/// # Errors
/// Always returns an error.
pub fn post(_url: &str, _message: &Message<'_>, _secret: Option<&Secret>, _limit: Duration) -> Result<(), String> {
    Err("this program was built without the feature `forge`".into())
}

impl Kind {
    /// Never called.
    pub fn prepare(self, client: Client) -> Client {
        client
    }

    /// Never called.
    pub fn forge(self, client: Arc<Client>, _address: &Address) -> Box<dyn Forge> {
        match client.0 {}
    }
}
