//! Reads files and reasons that the user names on the command line.

use crate::{
    error::OpError,
    model::json::Json,
    ops::ctx::Ctx,
    store::codec::{self, MAX_FILE},
};
use std::path::Path;

pub use crate::model::text::reason;

/// Reads a file that the user named; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read_file(ctx: &Ctx, file: &Path) -> Result<Vec<u8>, OpError> {
    read_at_most(ctx, file, MAX_FILE)
}

/// Reads a file that the user named, up to one byte more than `most`; `-` is standard input.
///
/// # Errors
/// Returns an error if the file cannot be read.
pub fn read_at_most(ctx: &Ctx, file: &Path, most: usize) -> Result<Vec<u8>, OpError> {
    use std::io::Read as _;
    let mut bytes = Vec::new();
    let limit = most as u64 + 1;
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(ctx.env.cwd().join(file)).and_then(|open| open.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(OpError::io("read", file))?;
    Ok(bytes)
}

/// Reads a JSON value from a file that the user named.
///
/// # Errors
/// Returns an error if the file cannot be read or is not JSON.
pub fn value(ctx: &Ctx, file: &std::path::Path) -> Result<Json, OpError> {
    let value = codec::value(&read_at_most(ctx, file, codec::MAX_SCHEMA)?);
    Ok(value.map_err(|problem| problem.in_file(&file.display().to_string()))?)
}
