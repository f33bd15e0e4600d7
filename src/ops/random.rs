//! Cryptographically secure random numbers.

use crate::{
    error::{ErrorCode, OpError},
    model::hash,
};

/// Returns random bytes in hex.
///
/// # Errors
/// Returns an error if the system provides no random numbers.
pub fn hex<const BYTES: usize>() -> Result<String, OpError> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        OpError::cannot(ErrorCode::Io, format!("cannot get random numbers from the system: {error}"))
    })?;
    Ok(hash::hex(&bytes))
}
