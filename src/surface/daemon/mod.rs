//! The daemon as a process: one for each user, that serves [`http`](super::http) until it is told
//! to stop.

pub mod secret;

use crate::{app, env::Env, error::OpError, surface::http};

/// The port, unless the user says otherwise.
pub const PORT: u16 = 7865;

/// What the user asked for.
#[derive(Debug, Clone)]
pub struct Options {
    /// The port; any that is free where it is 0.
    pub port: u16,
}

/// Serves until the process is told to stop. `ready` hears where, once requests are answered.
///
/// # Errors
/// Where the port cannot be had, or the user's own folder not be written.
pub fn serve(env: &Env, options: &Options, ready: impl FnOnce(&str)) -> Result<(), OpError> {
    let home = app::home(env)?;
    let token = secret::token(home.folder())?;
    http::serve(env, &http::Settings { port: options.port, token }, ready)
}
