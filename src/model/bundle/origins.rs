//! Traces the parts of a bundle to their files.

use std::collections::BTreeMap;

/// The places that the parts of a bundle come from.
#[derive(Debug, Clone)]
pub struct Origins {
    /// The file and pointer of the schema itself.
    pub(super) root: (String, String),
    /// The keyword that holds the definitions.
    pub(super) key: &'static str,
    /// The file and pointer of each definition that was added, by its name.
    pub(super) definitions: BTreeMap<String, (String, String)>,
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
        (&place.0, format!("{}{rest}", place.1))
    }
}
