//! Warnings about words in a schema that have no effect.

use super::{Draft, ExternalReference};

/// A word that was probably meant as a keyword but is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeywordWarning {
    /// The JSON Pointer (RFC 6901) to the word.
    pub pointer: String,
    /// The word.
    pub keyword: String,
    /// The reason why it asserts nothing.
    pub kind: KeywordKind,
    /// What to write instead.
    pub suggestion: String,
}

/// The reason why a keyword asserts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeywordKind {
    /// The word is not a keyword of any draft, but differs from one by a letter or two.
    Misspelt,
    /// The word is a keyword, but only of other drafts.
    OtherDraft(Draft),
    /// The word is a keyword of another language, such as OpenAPI.
    OtherLanguage,
    /// The schema names no draft, and a draft other than 2020-12 was assumed.
    Assumed(Draft),
    /// The reference leads out of the schema, so its target is not known.
    External,
    /// The schema has words, but no keyword, so it allows every value.
    NoKeyword,
    /// The format changed, but the draft does not assert it.
    UncomparedFormat(Draft),
    /// The pattern has a meaning in Rust's syntax, but none in ECMA-262.
    Pattern,
    /// Other schemas have this one in `allOf`, and its discriminator chooses among them.
    Children,
    /// The schema allows no value, or no object with the properties that it names.
    NothingValid,
}

impl KeywordWarning {
    /// Returns the warning that a draft was assumed for a schema that names none.
    pub fn assumed(draft: Draft) -> Self {
        let suggestion = format!("write \"$schema\": {:?}", draft.uri());
        let keyword = "$schema".to_owned();
        Self { pointer: String::new(), keyword, kind: KeywordKind::Assumed(draft), suggestion }
    }

    /// Returns the warning that a reference leads out of the schema.
    pub fn external(reference: ExternalReference) -> Self {
        let suggestion = "copy it to $defs to compare it too".to_owned();
        let ExternalReference { pointer, target, .. } = reference;
        Self { pointer, keyword: target, kind: KeywordKind::External, suggestion }
    }

    /// Returns the warning that the children of the schema at a pointer are not compared.
    pub fn children(pointer: &str) -> Self {
        let (pointer, keyword) = (format!("{pointer}/discriminator"), "discriminator".to_owned());
        Self { pointer, keyword, kind: KeywordKind::Children, suggestion: "compare a oneOf of them".to_owned() }
    }

    /// Returns the id of the rule.
    pub fn rule(&self) -> &'static str {
        match self.kind {
            KeywordKind::Misspelt => "misspelt-keyword",
            KeywordKind::OtherDraft(_) => "keyword-of-another-draft",
            KeywordKind::OtherLanguage => "keyword-of-another-language",
            KeywordKind::Assumed(_) => "assumed-draft",
            KeywordKind::External => "external-reference",
            KeywordKind::NoKeyword => "no-keyword",
            KeywordKind::UncomparedFormat(_) => "format-not-compared",
            KeywordKind::Pattern => "pattern-not-ecma-262",
            KeywordKind::Children => "children-not-compared",
            KeywordKind::NothingValid => "nothing-valid",
        }
    }

    /// Returns a message that states the problem and what to write instead.
    pub fn message(&self) -> String {
        let Self { keyword, suggestion, .. } = self;
        match self.kind {
            KeywordKind::Misspelt => format!("{keyword:?} is not a keyword and has no effect; {suggestion}"),
            KeywordKind::OtherDraft(draft) => {
                format!("{keyword:?} has no effect in this form in {draft}; {suggestion}")
            }
            KeywordKind::OtherLanguage => format!("{keyword:?} is not a JSON Schema keyword; {suggestion}"),
            KeywordKind::Assumed(draft) => {
                format!(
                    "no draft is named, and not all of it is valid in 2020-12, so it was read as {draft}; {suggestion}"
                )
            }
            KeywordKind::External => format!("{keyword:?} is outside the schema and was not read; {suggestion}"),
            KeywordKind::NoKeyword => {
                format!(
                    "no keyword restricts anything, so every value is valid; {keyword:?} is not a keyword; {suggestion}"
                )
            }
            KeywordKind::UncomparedFormat(draft) => {
                format!("{keyword:?} was not compared, since {draft} does not assert it; {suggestion}")
            }
            KeywordKind::Children => format!(
                "{keyword:?} chooses among schemas that have this one in allOf, which are not compared; {suggestion}"
            ),
            KeywordKind::NothingValid => suggestion.clone(),
            KeywordKind::Pattern => {
                let shown: String = keyword.chars().take(60).collect();
                format!("{shown:?} is not an ECMA-262 pattern: other validators may refuse it; {suggestion}")
            }
        }
    }
}
