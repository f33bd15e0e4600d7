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

impl Draft {
    /// Returns the draft of a `$schema` URI.
    pub fn of(uri: &str) -> Option<Self> {
        let uri = uri.trim_end_matches('#');
        let (_, name) = uri.split_once("://")?;
        Some(match name {
            "json-schema.org/draft-04/schema" => Self::D4,
            "json-schema.org/draft-06/schema" => Self::D6,
            "json-schema.org/draft-07/schema" => Self::D7,
            "json-schema.org/draft/2019-09/schema" => Self::D2019,
            "json-schema.org/draft/2020-12/schema" => Self::D2020,
            _ => return None,
        })
    }

    /// Returns the `$schema` URI of the draft.
    pub fn uri(self) -> &'static str {
        match self {
            Self::D4 => "http://json-schema.org/draft-04/schema#",
            Self::D6 => "http://json-schema.org/draft-06/schema#",
            Self::D7 => "http://json-schema.org/draft-07/schema#",
            Self::D2019 => "https://json-schema.org/draft/2019-09/schema",
            Self::D2020 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// Returns the keyword for a schema's own URI.
    pub fn id(self) -> &'static str {
        if self == Self::D4 { "id" } else { "$id" }
    }
}

impl fmt::Display for Draft {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::D4 => "draft-04",
            Self::D6 => "draft-06",
            Self::D7 => "draft-07",
            Self::D2019 => "2019-09",
            Self::D2020 => "2020-12",
        })
    }
}
