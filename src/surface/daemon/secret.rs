//! The token that every request must carry. It is in a file that only the user can read.

use std::{fs, path::Path};

use super::state;
use crate::{
    error::OpError,
    ops::random,
    platform::files::{self, Access},
};

/// The length of an unguessable secret, in bytes.
pub const SECRET: usize = 32;

/// The token of the daemon, read or created.
#[derive(Debug)]
pub struct Token {
    /// The token.
    pub text: String,
    /// Messages about permissions that were too wide and were corrected.
    pub warnings: Vec<String>,
}

/// Returns the daemon's token, creating it if there is none. Processes that create it at the same time get the same
/// token.
///
/// # Errors
/// Returns an error if the token can be neither read nor written.
pub fn token(home: &Path) -> Result<Token, OpError> {
    let folder = state::folder(home)?;
    let path = folder.join("token");
    let mut warnings = Vec::new();
    let was = narrow(&folder, Access::PrivateFolder)?;
    warnings.extend(was.map(|was| format!("changed the mode of {} from {was:o} to 700", folder.display())));
    let text = match read(&path)? {
        Some(text) => text,
        None => create_or_read(&folder, &path)?,
    };
    warnings.extend(narrow(&path, Access::Private)?.map(|was| readable(&path, was)));
    Ok(Token { text, warnings })
}

/// Creates a token, unless another process holds the lock and creates one first. In that case, reads that token.
fn create_or_read(folder: &Path, path: &Path) -> Result<String, OpError> {
    let lock_path = folder.join("token.lock");
    let lock = state::open(&lock_path)?;
    lock.lock().map_err(OpError::io("lock", &lock_path))?;
    match read(path)? {
        Some(text) => Ok(text),
        None => make(path),
    }
}

fn readable(path: &Path, was: u32) -> String {
    let path = path.display();
    format!(
        "changed the mode of {path} from {was:o} to 600; if somebody may have read it, remove it and restart the daemon"
    )
}

/// Reads the token in a file. Returns `None` if the content is not a complete token.
fn read(path: &Path) -> Result<Option<String>, OpError> {
    match fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned()).filter(|text| is_token(text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(OpError::io("read", path)(error)),
    }
}

/// Writes a new token by an atomic rename, so that nobody reads a partial one.
fn make(path: &Path) -> Result<String, OpError> {
    let text = random::hex::<SECRET>()?;
    files::replace(path, format!("{text}\n").as_bytes(), Access::Private).map_err(OpError::io("write", path))?;
    Ok(text)
}

/// Removes permissions beyond `most` from a file. Returns the previous mode if it was wider.
fn narrow(path: &Path, most: Access) -> Result<Option<u32>, OpError> {
    files::narrow(path, most).map_err(OpError::io("change the mode of", path))
}

fn is_token(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
