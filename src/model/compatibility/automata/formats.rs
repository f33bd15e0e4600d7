//! Facts about the formats that the validator asserts: regular expressions that match a superset and a subset of each,
//! valid examples, and which format implies which.

/// The facts about one format.
pub struct Known {
    pub name: &'static str,
    /// A regular expression that matches every valid string.
    pub around: &'static str,
    /// A regular expression that matches only valid strings.
    pub within: &'static str,
    pub good: &'static [&'static str],
}

/// The valid dates: a leap year is divisible by 4, and by 400 if it ends in 00.
macro_rules! date {
    () => {
        concat!(
            "(?:[0-9]{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12][0-9]|3[01])|(?:0[469]|11)-(?:0[1-9]|[12][0-9]|30)",
            "|02-(?:0[1-9]|1[0-9]|2[0-8]))",
            "|(?:[0-9]{2}(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29)"
        )
    };
}

/// Times with an offset, whose seconds match `$seconds`.
macro_rules! time {
    ($seconds:literal) => {
        concat!(
            "(?:[01][0-9]|2[0-3]):[0-5][0-9]:",
            $seconds,
            "(?:\\.[0-9]+)?(?:[Zz]|[+-](?:[01][0-9]|2[0-3]):[0-5][0-9])"
        )
    };
}

const IPV4: &str =
    "^(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])(?:\\.(?:25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])){3}$";

/// The formats that a validator asserts up to draft-07. The expressions of dates and times follow RFC 3339; this
/// program's validator accepts some other texts too, such as `.026-01-01`. Whether a leap second is valid depends on
/// the offset.
pub const FORMATS: &[Known] = &[
    Known {
        name: "date",
        around: concat!("^", date!(), "$"),
        within: concat!("^", date!(), "$"),
        good: &["2026-01-01", "2000-02-29"],
    },
    Known {
        name: "date-time",
        around: concat!("^", date!(), "[Tt]", time!("(?:[0-5][0-9]|60)"), "$"),
        within: concat!("^", date!(), "[Tt]", time!("[0-5][0-9]"), "$"),
        good: &["2026-01-01T00:00:00Z", "2026-01-01t23:59:60.5+00:00"],
    },
    Known {
        name: "time",
        around: concat!("^", time!("(?:[0-5][0-9]|60)"), "$"),
        within: concat!("^", time!("[0-5][0-9]"), "$"),
        good: &["00:00:00Z", "23:59:60.5+00:00"],
    },
    Known { name: "ipv4", around: IPV4, within: IPV4, good: &["127.0.0.1", "255.249.100.0"] },
    Known {
        name: "ipv6",
        around: "^[0-9A-Fa-f]{0,4}:[0-9A-Fa-f:.]{1,40}$",
        within: "^(?:[0-9a-fA-F]{1,4}:){7}[0-9a-fA-F]{1,4}$",
        good: &["::1", "fe80::1", "::ffff:127.0.0.1", "2001:0db8:0000:0000:0000:ff00:0042:8329"],
    },
    Known {
        name: "email",
        around: "^(?s:.)+@(?s:.)+$",
        within: "^[a-z0-9]{1,20}@[a-z]{2,20}\\.[a-z]{2,6}$",
        good: &["a@example.com", "A.b+c_d@example.co.uk", "\"a b\"@example.com", LONG_EMAIL],
    },
    Known {
        name: "hostname",
        around: "^(?s:.){1,253}$",
        within: "^[a-z]{1,20}(?:\\.[a-z]{2,20})?$",
        good: &["example.com", "a-b.Example.com", LONG_HOSTNAME],
    },
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

/// A host name of nearly the maximum length of 253 characters.
macro_rules! long_hostname {
    () => {
        concat!(
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.",
            "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.com"
        )
    };
}

const LONG_HOSTNAME: &str = long_hostname!();
const LONG_EMAIL: &str = concat!("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa@", long_hostname!());

/// Formats that imply others.
const IMPLIED: &[(&str, &[&str])] = &[
    ("uri", &["iri", "uri-reference", "iri-reference"]),
    ("iri", &["iri-reference"]),
    ("uri-reference", &["iri-reference"]),
];

/// Strings that match few formats, or none.
pub const ODD: &[&str] = &["", "\n", " ", "a b", "%", "{", "[", "a", "0", "A", "é", "aA1!", "aaaaaaaa", "(", "\\"];

/// Returns the facts about a format.
pub fn known(name: &str) -> Option<&'static Known> {
    FORMATS.iter().find(|known| known.name == name)
}

/// Returns whether every string of the format `one` is also one of `other`.
pub fn implies(one: &str, other: &str) -> bool {
    IMPLIED.iter().any(|(name, others)| *name == one && others.contains(&other))
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_automata::{
        Input,
        dfa::{Automaton as _, dense::DFA},
    };
    use serde_json::{Value, json};

    fn matches(dfa: &DFA<Vec<u32>>, text: &str) -> bool {
        dfa.try_search_fwd(&Input::new(text)).unwrap().is_some()
    }

    fn validator(format: &str) -> jsonschema::Validator {
        let schema = json!({"$schema": "http://json-schema.org/draft-07/schema#", "format": format});
        jsonschema::validator_for(&schema).unwrap()
    }

    #[test]
    fn listed_examples_are_valid() {
        for known in FORMATS {
            let validator = validator(known.name);
            for good in known.good {
                assert!(validator.is_valid(&Value::from(*good)), "{} {good:?}", known.name);
            }
        }
    }

    /// Returns strings that differ from an example in one or two places.
    fn similar(text: &str, others: &str) -> Vec<String> {
        let letters: Vec<char> = text.chars().take(40).collect();
        let mut found = Vec::new();
        for at in 0..=letters.len() {
            for other in others.chars() {
                for (skipped, added) in [(1, 1), (0, 1), (1, 0), (2, 2)] {
                    let new = std::iter::repeat_n(other, added);
                    let rest = letters.iter().skip(at + skipped).copied();
                    found.push(letters[..at].iter().copied().chain(new).chain(rest).collect());
                }
            }
        }
        found
    }

    #[test]
    fn regular_expressions_enclose_the_formats() {
        for known in FORMATS {
            let validator = validator(known.name);
            let [around, within] = [known.around, known.within].map(|regex| DFA::new(regex).unwrap());
            // The validator accepts `.026-01-01` as a date, because it treats some of these characters as digits.
            let is_time = ["date", "time", "date-time"].contains(&known.name);
            let others = if is_time { "0123456789aFzZtT: é\n" } else { "0123456789aFzZtT: é\n.-+/@" };
            let once = known.good.iter().flat_map(|good| similar(good, others));
            for text in once.flat_map(|text| if text.len() < 12 { similar(&text, others) } else { vec![text] }) {
                let is_valid = validator.is_valid(&Value::from(&*text));
                assert!(!is_valid || matches(&around, &text), "{} {text:?} is valid", known.name);
                assert!(is_valid || !matches(&within, &text), "{} {text:?} is not valid", known.name);
            }
        }
    }

    #[test]
    fn dates_are_exact() {
        let (validator, date) = (validator("date"), DFA::new(concat!("^", date!(), "$")).unwrap());
        for year in (0..=9_999).filter(|year| year % 100 < 9 || year % 97 == 0) {
            for (month, day) in (0..=13).flat_map(|month| [0, 1, 9, 28, 29, 30, 31, 32].map(|day| (month, day))) {
                let text = format!("{year:04}-{month:02}-{day:02}");
                assert_eq!(matches(&date, &text), validator.is_valid(&Value::from(&*text)), "{text}");
            }
        }
    }
}
