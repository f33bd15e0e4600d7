//! Answers that are given again to who asks the same: those that follow from a realm and from the files
//! that decide the project alone, and that told nobody anything.

use std::sync::Arc;

use super::{
    asked::Asked,
    open::{Project, Stamps, stamps},
};
use crate::{
    ops::{ctx::Ctx, rest::Rest},
    surface::memory::{Begun, Memory},
};

/// How every answer begins, up to its id.
const HEAD: &[u8] = br#"{"jsonrpc":"2.0","id":"#;

/// The answers of a server.
#[derive(Debug, Default)]
pub struct Answers(Memory<Arc<Kept>>);

#[derive(Debug)]
struct Kept {
    /// What follows the id.
    tail: Box<[u8]>,
    stamps: Arc<Stamps>,
}

/// What an answer follows from, as it stood before the answer was made.
#[derive(Debug)]
pub struct Resting {
    begun: Begun,
    stamps: Arc<Stamps>,
}

impl Answers {
    /// Returns how a realm stands; nothing where that cannot be known.
    pub fn stand(&self, ctx: &Ctx) -> Option<Begun> {
        let realm = &ctx.here().ok()?.realm;
        self.0.begin(realm, || Rest::begin(ctx, realm)).ok()
    }

    /// Returns how everything stands that an answer in a project follows from.
    pub fn begin(&self, ctx: &Ctx, project: &Project) -> Option<Resting> {
        Some(Resting { begun: self.stand(ctx)?, stamps: stamps(project)? })
    }

    /// Returns the answer to a request, if it was given before and still holds.
    pub fn given(&self, asked: &Asked) -> Option<Vec<u8>> {
        let kept = self.0.of_any(&asked.key).filter(|kept| kept.stamps.hold())?;
        // Room for the end of the line.
        let mut answer = Vec::with_capacity(HEAD.len() + asked.id.len() + kept.tail.len() + 1);
        for part in [HEAD, &asked.id, &kept.tail] {
            answer.extend_from_slice(part);
        }
        Some(answer)
    }

    /// Keeps an answer, unless something has changed since it was begun.
    pub fn keep(&self, asked: &Asked, resting: Resting, answer: &[u8]) {
        let Some(tail) = answer.strip_prefix(HEAD).and_then(|rest| rest.strip_prefix(&*asked.id)) else { return };
        if tail.starts_with(br#","result":"#) {
            let kept = Kept { tail: tail.trim_ascii_end().into(), stamps: resting.stamps };
            self.0.keep(&resting.begun, &asked.key, Arc::new(kept), tail.len());
        }
    }

    /// Forgets everything, also what is being answered now.
    pub fn forget(&self) {
        self.0.clear();
    }
}
