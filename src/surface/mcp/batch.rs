//! Batches: several messages in one array, answered by one array (JSON-RPC 2.0, section 6). Only protocol version
//! 2025-03-26 has them; other versions refuse them.

use std::{collections::HashSet, sync::Mutex};

use crate::surface::locked::locked;
use rmcp::model::{ErrorCode, ErrorData, JsonRpcError, RequestId};
use serde::de::IgnoredAny;

/// The protocol version that has batches.
pub const VERSION: &str = "2025-03-26";
/// The maximum number of messages in a batch.
const MAX: usize = 64;

/// Splits a batch into its messages. Returns `None` if the line is not an array.
///
/// # Errors
/// Returns an error if the batch is empty or too large.
pub fn parts(line: &[u8]) -> Option<Result<Vec<Vec<u8>>, JsonRpcError>> {
    let all = elements(line)?;
    let refused = |message: String| {
        let error = ErrorData::new(ErrorCode::INVALID_REQUEST, message, None);
        Some(Err(JsonRpcError::new(None, error)))
    };
    match all.len() {
        0 => refused("the batch is empty".to_owned()),
        count if count > MAX => refused(format!("a batch may have at most {MAX} messages, not {count}")),
        _ => Some(Ok(all.into_iter().map(|one| one.as_bytes().to_vec()).collect())),
    }
}

/// Returns the texts of the elements of an array, so that each is read as strictly as a single message.
fn elements(line: &[u8]) -> Option<Vec<&str>> {
    let count = serde_json::from_slice::<Vec<IgnoredAny>>(line).ok()?.len();
    let mut rest = std::str::from_utf8(line).ok()?.trim_start().strip_prefix('[')?;
    let mut all = Vec::with_capacity(count);
    for _ in 0..count {
        let mut values = serde_json::Deserializer::from_str(rest).into_iter::<IgnoredAny>();
        values.next()?.ok()?;
        let (element, after) = rest.split_at(values.byte_offset());
        all.push(element.trim());
        rest = after.trim_start().trim_start_matches(',');
    }
    Some(all)
}

/// Joins answers into an array. Each may have a line end.
pub fn joined(answers: &[Vec<u8>]) -> Vec<u8> {
    let inner: Vec<_> = answers.iter().map(|one| one.trim_ascii_end()).collect();
    [b"[".as_slice(), &inner.join(&b","[..]), b"]\n"].concat()
}

/// The batches of a connection that are not fully answered.
#[derive(Debug, Default)]
pub struct Batches(Mutex<Vec<Batch>>);

#[derive(Debug)]
struct Batch {
    open: HashSet<RequestId>,
    done: Vec<Vec<u8>>,
}

impl Batches {
    /// Registers a batch: the requests to be answered, and the answers that already exist. Returns the line to write if
    /// no further answer is expected.
    pub fn begin(&self, open: HashSet<RequestId>, done: Vec<Vec<u8>>) -> Option<Vec<u8>> {
        if open.is_empty() {
            return (!done.is_empty()).then(|| joined(&done));
        }
        self.all().push(Batch { open, done });
        None
    }

    /// Returns whether a request is part of a batch.
    pub fn has(&self, id: &RequestId) -> bool {
        self.all().iter().any(|batch| batch.open.contains(id))
    }

    /// Returns the line to write for an answer: the answer itself outside of a batch, or all answers once its batch is
    /// complete.
    pub fn collect(&self, id: &RequestId, line: Vec<u8>) -> Option<Vec<u8>> {
        self.settle(id, Some(line))
    }

    /// Removes a cancelled request. Returns the line to write if it was the last of its batch.
    pub fn forget(&self, id: &RequestId) -> Option<Vec<u8>> {
        self.settle(id, None)
    }

    fn settle(&self, id: &RequestId, line: Option<Vec<u8>>) -> Option<Vec<u8>> {
        let mut all = self.all();
        let Some(at) = all.iter().position(|batch| batch.open.contains(id)) else { return line };
        all[at].open.remove(id);
        all[at].done.extend(line);
        if !all[at].open.is_empty() {
            return None;
        }
        let done = all.remove(at).done;
        (!done.is_empty()).then(|| joined(&done))
    }

    fn all(&self) -> std::sync::MutexGuard<'_, Vec<Batch>> {
        locked(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_split_and_an_invalid_one_is_refused() {
        assert!(parts(b"{}").is_none() && parts(b"[").is_none());
        let split = parts(br#" [{"a": 1, "a": "],"} , 2 ] "#).unwrap().unwrap();
        assert_eq!(split, [br#"{"a": 1, "a": "],"}"#.to_vec(), b"2".to_vec()]);
        for wrong in ["[]".to_owned(), format!("[{}]", ["1"; MAX + 1].join(","))] {
            assert_eq!(parts(wrong.as_bytes()).unwrap().unwrap_err().error.code, ErrorCode::INVALID_REQUEST);
        }
    }
}
