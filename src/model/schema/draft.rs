//! The drafts of JSON Schema.

use std::fmt;

/// A draft of JSON Schema. A later draft is greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Draft {
    /// Draft-04.
    D4,
    /// Draft-06.
    D6,
    /// Draft-07.
    D7,
    /// 2019-09.
    D2019,
    /// 2020-12, the default for a schema that names none.
    D2020,
}

/// The `$schema` URI and the name of each draft.
const NAMES: [(&str, &str); 5] = [
    ("http://json-schema.org/draft-04/schema#", "draft-04"),
    ("http://json-schema.org/draft-06/schema#", "draft-06"),
    ("http://json-schema.org/draft-07/schema#", "draft-07"),
    ("https://json-schema.org/draft/2019-09/schema", "2019-09"),
    ("https://json-schema.org/draft/2020-12/schema", "2020-12"),
];

pub(super) fn without_scheme(uri: &str) -> Option<&str> {
    uri.trim_end_matches('#').split_once("://").map(|(_, rest)| rest)
}

impl Draft {
    /// All drafts, in the order of [`NAMES`].
    pub const ALL: [Self; 5] = [Self::D4, Self::D6, Self::D7, Self::D2019, Self::D2020];

    /// Returns the draft of a `$schema` URI, whatever its scheme.
    pub fn of(uri: &str) -> Option<Self> {
        let name = without_scheme(uri)?;
        Self::ALL.into_iter().find(|draft| without_scheme(draft.uri()) == Some(name))
    }

    /// Returns the `$schema` URI of the draft.
    pub fn uri(self) -> &'static str {
        NAMES[self as usize].0
    }

    /// Returns the keyword for a schema's own URI.
    pub fn id(self) -> &'static str {
        if self == Self::D4 { "id" } else { "$id" }
    }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(NAMES[*self as usize].1)
    }
}
