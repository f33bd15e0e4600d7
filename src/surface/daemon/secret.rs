//! The token that every request shows: who can read the user's own files may use the daemon.

use std::{fs, io::Write as _, os::unix::fs::OpenOptionsExt as _, path::Path};

use crate::{error::OpError, model::hash};

/// Returns the daemon's token, and makes one where there is none.
///
/// # Errors
/// Where it can be neither read nor written.
pub fn token(home: &Path) -> Result<String, OpError> {
    let folder = home.join("daemon");
    fs::create_dir_all(&folder).map_err(OpError::io("create", &folder))?;
    let path = folder.join("token");
    match fs::read_to_string(&path) {
        Ok(token) if is_token(token.trim()) => return Ok(token.trim().to_owned()),
        // One that is no token, or half of one, is made anew.
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(OpError::io("read", &path)(error)),
    }
    let token = random()?;
    let new = folder.join("token.new");
    let _ = fs::remove_file(&new);
    let file = fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new);
    file.and_then(|mut file| writeln!(file, "{token}"))
        .and_then(|()| fs::rename(&new, &path))
        .map_err(OpError::io("write", &path))?;
    Ok(token)
}

/// Returns a secret that nobody can guess: 256 random bits in hex.
///
/// # Errors
/// Where the system has no random numbers to give.
pub fn random() -> Result<String, OpError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes)
        .map_err(|error| OpError::cannot("io", format!("cannot get random numbers from the system: {error}")))?;
    Ok(hash::hex(&bytes))
}

fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
