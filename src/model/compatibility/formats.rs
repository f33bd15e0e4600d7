//! Facts about the formats that the validator asserts: regular expressions that match a superset and a subset of each,
//! valid examples, and which format implies which.

/// The facts about one format.
pub(super) struct Known {
    pub(super) name: &'static str,
    /// A regular expression that matches every valid string.
    pub(super) around: &'static str,
    /// A regular expression that matches only valid strings.
    pub(super) within: &'static str,
    pub(super) good: &'static [&'static str],
}

/// The formats that a validator asserts up to draft-07.
pub(super) const FORMATS: &[Known] = &[
    Known {
        name: "date",
        around: "^[0-9]{4}-[0-9]{2}-[0-9]{2}$",
        within: "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])$",
        good: &["2026-01-01", "2000-02-29"],
    },
    Known {
        name: "date-time",
        around: "^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$",
        within: "^[0-9]{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?Z$",
        good: &["2026-01-01T00:00:00Z"],
    },
    Known {
        name: "time",
        around: "^[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\\.[0-9]+)?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$",
        within: "^(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:\\.[0-9]+)?Z$",
        good: &["00:00:00Z"],
    },
    Known {
        name: "ipv4",
        around: "^[0-9]{1,3}(?:\\.[0-9]{1,3}){3}$",
        within: "^(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}$",
        good: &["127.0.0.1"],
    },
    Known {
        name: "ipv6",
        around: "^[0-9A-Fa-f:.]{2,45}$",
        within: "^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$",
        good: &["::1"],
    },
    Known {
        name: "email",
        around: "^(?s:.)+@(?s:.)+$",
        within: "^[a-z0-9]{1,20}@[a-z]{2,20}\\.[a-z]{2,6}$",
        good: &["a@example.com"],
    },
    Known { name: "hostname", around: "^(?s:.)+$", within: "^[a-z]{1,20}(?:\\.[a-z]{2,20})?$", good: &["example.com"] },
    Known {
        name: "uri",
        around: "^[A-Za-z][A-Za-z0-9+.-]*:",
        within: "^https?://[a-z]{1,20}(?:\\.[a-z]{1,20})*(?:/[a-z0-9]*)*$",
        good: &["https://example.com/", "urn:a:b"],
    },
    Known {
        name: "iri",
        around: "^[A-Za-z][A-Za-z0-9+.-]*:",
        within: "^https?://[a-z]{1,20}(?:\\.[a-z]{1,20})*(?:/[a-z0-9]*)*$",
        good: &["https://example.com/", "https://example.com/é"],
    },
    Known { name: "uri-reference", around: "", within: "^(?:/?[a-z0-9]+)*$", good: &["a", "https://example.com/", ""] },
    Known {
        name: "iri-reference",
        around: "",
        within: "^(?:/?[a-z0-9]+)*$",
        good: &["a", "é", "https://example.com/", ""],
    },
    Known {
        name: "json-pointer",
        around: "^(?:/(?:[^/~]|~[01])*)*$",
        within: "^(?:/(?:[^/~]|~[01])*)*$",
        good: &["", "/a"],
    },
    Known {
        name: "relative-json-pointer",
        around: "^[0-9]",
        within: "^(?:0|[1-9][0-9]*)(?:#|(?:/[a-z]*)*)$",
        good: &["0", "0/a"],
    },
    Known { name: "regex", around: "", within: "^[a-z0-9]*$", good: &["", "a"] },
    Known { name: "uri-template", around: "", within: "^[a-z0-9/]*$", good: &["", "a", "{a}"] },
];

/// Formats that imply others.
const IMPLIED: &[(&str, &[&str])] = &[
    ("uri", &["iri", "uri-reference", "iri-reference"]),
    ("iri", &["iri-reference"]),
    ("uri-reference", &["iri-reference"]),
];

/// Texts that few formats accept, or none.
pub(super) const ODD: &[&str] =
    &["", "\n", " ", "a b", "%", "{", "[", "a", "0", "A", "é", "aA1!", "aaaaaaaa", "(", "\\"];

/// Returns the facts about a format.
pub(super) fn known(name: &str) -> Option<&'static Known> {
    FORMATS.iter().find(|known| known.name == name)
}

/// Returns whether every string of the format `one` is also one of `other`.
pub(super) fn implies(one: &str, other: &str) -> bool {
    IMPLIED.iter().any(|(name, others)| *name == one && others.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn listed_examples_are_valid() {
        for known in FORMATS {
            let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": known.name});
            let validator = jsonschema::validator_for(&schema).unwrap();
            for good in known.good {
                assert!(validator.is_valid(&Value::from(*good)), "{} {good:?}", known.name);
            }
        }
    }
}
