//! Describes refs of a remote that cannot be merged: the commit that made them invalid, its author, and the step that
//! restores the ref without losing valid commits.

use super::{realm_at, same_realm::KnownHere};
use crate::{
    error::{ErrorCode, OpError},
    locate,
    model::{
        oid::Oid,
        repo_url::without_credentials,
        text::{shell_path, shell_word},
    },
    store::{CommitInfo, Store, StoreError, StoreRef, validate_incoming},
};

/// The maximum number of commits of one ref that are examined.
const MAX_COMMITS: usize = 100;

/// A ref of a remote that cannot be merged.
#[derive(Debug)]
pub(super) struct InvalidRef {
    /// The problem, with the commit that caused it and its author.
    pub message: String,
    /// How to restore the ref at the remote.
    pub next_step: String,
}

/// The result of following the first parents of an invalid tip.
#[derive(Default)]
pub(super) struct Trace {
    /// The oldest invalid commit above the valid one, or else the tip. `None` if the tip cannot be read.
    culprit: Option<(Oid, CommitInfo)>,
    /// The newest valid commit.
    valid: Option<Oid>,
    /// Set if the whole history was examined and no commit is valid.
    is_all_invalid: bool,
    /// The valid commit that was there at the last sync, if the history of the tip cannot be examined.
    last_seen: Option<Oid>,
}

impl Trace {
    /// Follows the first parents of an invalid tip to a valid commit.
    pub(super) fn below(store: &dyn Store, tip: &Oid, is_valid: impl Fn(&Oid) -> bool) -> Self {
        let first = || store.commit(tip).ok().map(|commit| (*tip, commit));
        let Some(mut culprit) = first() else { return Self::default() };
        for _ in 0..MAX_COMMITS {
            let Some(parent) = culprit.1.parents.first().copied() else {
                return Self { culprit: first(), is_all_invalid: true, ..Self::default() };
            };
            if is_valid(&parent) {
                return Self { culprit: Some(culprit), valid: Some(parent), ..Self::default() };
            }
            match store.commit(&parent) {
                Ok(commit) => culprit = (parent, commit),
                Err(_) => break,
            }
        }
        Self { culprit: first(), ..Self::default() }
    }

    /// Returns the reason why `tip` is invalid, with the commit to blame and its author.
    pub(super) fn blame(&self, tip: &Oid, why: &str) -> String {
        match &self.culprit {
            Some((id, commit)) => format!("{why} (since commit {} by {})", id.short(), commit.author),
            None => format!("{why} (its tip there is {})", tip.short()),
        }
    }
}

impl KnownHere<'_> {
    /// Returns why the commit `tip` of the ref `name` is not valid in this realm. Ignores what is in `known`.
    ///
    /// # Errors
    /// Returns an error if a newer program wrote the realm, or the store cannot be read.
    pub(super) fn problems(self, name: &StoreRef, tip: &Oid, known: &[Oid]) -> Result<Vec<String>, OpError> {
        let problems = validate_incoming::inspect(self.store, name, tip, known)?;
        if !problems.is_empty() || *name != StoreRef::Realm {
            return Ok(problems);
        }
        let found = realm_at(self.store, tip)?.name;
        Ok(if found == *self.realm { problems } else { vec![format!("{name}:realm.json: it names the realm {found}")] })
    }

    /// Describes the ref `name`, whose tip at the remote is invalid for the reason `why`.
    pub(super) fn invalid_ref(self, name: &StoreRef, tip: &Oid, why: &str) -> InvalidRef {
        let found = self.trace(name, tip);
        let there = self.remote.mapping.there(name);
        let url = without_credentials(&self.remote.url);
        let message = found.blame(tip, why);
        let push = || {
            let store = locate::known(&self.ctx.home, self.realm).ok()?.path;
            let store = shell_path(&store);
            Some(format!("git --git-dir {store} push --force-with-lease={there}:{tip} {}", shell_word(&url)))
        };
        let step = match found {
            Trace { valid: Some(valid), .. } => {
                push().map(|push| format!("{push} {valid}:{there}  # restore its newest valid commit; then sync"))
            }
            Trace { is_all_invalid: true, .. } => {
                push().map(|push| format!("{push} :{there}  # remove it: none of its commits is valid; then sync"))
            }
            Trace { last_seen: Some(seen), .. } => push().map(|push| {
                format!("{push} {seen}:{there}  # restore what was there at the last sync; then sync on each machine")
            }),
            _ => None,
        };
        let next_step = step.unwrap_or_else(|| {
            format!(
                "ask who pushed to {there} at {url} to restore its last valid commit; deleting the ref could lose what \
                    others pushed"
            )
        });
        InvalidRef { message, next_step }
    }

    /// Returns the error for an invalid ref without which nothing can be synced.
    pub(super) fn invalid_error(self, name: &StoreRef, tip: &Oid, why: &str) -> OpError {
        let InvalidRef { message, next_step } = self.invalid_ref(name, tip, why);
        let message = format!("{}: {message}", without_credentials(&self.remote.url));
        OpError::cannot(ErrorCode::InvalidRemoteData, message).next(next_step)
    }

    /// Returns the error of an attempt to read the realm's ref at the remote. A format that no program has yet may be
    /// invalid content too, so its commit is named.
    pub(super) fn newer_format(self, tip: &Oid, error: StoreError) -> OpError {
        if !matches!(error, StoreError::NewerFormat { .. }) {
            return error.into();
        }
        let InvalidRef { message, next_step } = self.invalid_ref(&StoreRef::Realm, tip, &error.to_string());
        let message = format!("{}: {}: {message}", without_credentials(&self.remote.url), StoreRef::Realm);
        OpError { message, ..error.into() }.next(format!("if there is no such format: {next_step}"))
    }

    fn trace(self, name: &StoreRef, tip: &Oid) -> Trace {
        let held = |name: &StoreRef| self.store.tip(name).ok().flatten();
        let seen = StoreRef::Seen(self.remote.name.clone(), Box::new(name.clone()));
        let known: Vec<Oid> = [held(name), held(&seen)].into_iter().flatten().collect();
        let is_valid = |id: &Oid| self.problems(name, id, &known).is_ok_and(|problems| problems.is_empty());
        let trace = Trace::below(self.store, tip, is_valid);
        if trace.valid.is_some() || trace.is_all_invalid {
            return trace;
        }
        Trace { last_seen: held(&seen).filter(|seen| seen != tip && is_valid(seen)), ..trace }
    }
}
