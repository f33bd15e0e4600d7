//! Traces the parts of a bundle to their files.

use std::collections::{BTreeMap, BTreeSet};

use super::Place;
use crate::model::pointer::upwards;

/// The places that the parts of a bundle come from.
#[derive(Debug, Clone, Default)]
pub struct Origins {
    /// The file and pointer of the schema itself.
    pub(super) root: Place,
    /// The keyword that holds the definitions.
    pub(super) key: &'static str,
    /// The file and pointer of each definition that was added, by its name.
    pub(super) definitions: BTreeMap<String, Place>,
    /// The schemas in files that were replaced, so that their parts are elsewhere in the bundle.
    pub(super) replaced: BTreeSet<Place>,
}

impl Origins {
    /// Returns the file that a part of the bundle comes from, and its JSON Pointer there.
    pub fn of(&self, pointer: &str) -> (&str, String) {
        let definition = || {
            let rest = pointer.strip_prefix('/')?.strip_prefix(self.key)?.strip_prefix('/')?;
            let (name, rest) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            Some((self.definitions.get(name)?, rest))
        };
        let (place, rest) = definition().unwrap_or((&self.root, pointer));
        let pointer = format!("{}{rest}", place.1);
        let is_replaced = |at: &&str| self.replaced.contains(&(place.0.clone(), (*at).to_owned()));
        let replaced = upwards(&pointer).filter(|_| !self.replaced.is_empty()).find(is_replaced).map(str::to_owned);
        (&place.0, replaced.unwrap_or(pointer))
    }
}
