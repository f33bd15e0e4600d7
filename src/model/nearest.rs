//! Finds the existing name that was probably meant.

use std::{collections::BTreeSet, fmt::Display};

/// The maximum number of edits that still look like a typo.
const MAX_EDITS: usize = 3;
/// The maximum number of unknown names in one document for which an existing name is suggested.
const MAX_SUGGESTIONS: usize = 20;

/// Returns the name with the smallest edit distance to `wanted`, if it looks like a typo: at most one edit per three
/// letters.
pub fn nearest<'a, N: AsRef<str> + Ord + 'a>(wanted: &N, names: impl IntoIterator<Item = &'a N>) -> Option<&'a N> {
    let wanted = wanted.as_ref();
    let allowed = (wanted.len() / 3).clamp(1, MAX_EDITS);
    let close = names.into_iter().filter(|name| name.as_ref().len().abs_diff(wanted.len()) <= allowed);
    let edits = close.map(|name| (strsim::osa_distance(wanted, name.as_ref()), name));
    edits.filter(|(edits, _)| (1..=allowed).contains(edits)).min().map(|(_, name)| name)
}

/// Returns a question that suggests the nearest name, to append to a message; empty if there is none.
pub fn did_you_mean<'a, N: AsRef<str> + Ord + Display + 'a>(
    wanted: &N,
    names: impl IntoIterator<Item = &'a N>,
) -> String {
    question(nearest(wanted, names))
}

/// Returns a question that suggests a name, to append to a message; empty if there is none.
pub fn question(name: Option<impl Display>) -> String {
    name.map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

/// Suggests existing names for the unknown names in a document, but only for the first few: each search takes time, and
/// nobody reads all suggestions.
#[derive(Debug)]
pub struct Suggestions<'a, N> {
    names: &'a BTreeSet<&'a N>,
    left: usize,
}

impl<'a, N: AsRef<str> + Ord + Display> Suggestions<'a, N> {
    /// Suggests existing names.
    pub fn among(names: &'a BTreeSet<&'a N>) -> Self {
        Self { names, left: MAX_SUGGESTIONS }
    }

    /// Returns the name that was probably meant.
    pub fn nearest(&mut self, wanted: &N) -> Option<&'a N> {
        self.left = self.left.checked_sub(1)?;
        nearest(wanted, self.names.iter().copied())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::name::ContractName;

    #[test]
    fn a_typo_is_recognized_and_another_word_is_not() {
        let names: Vec<ContractName> = ["s3-permissions", "s3-paths", "queue"].map(|name| name.parse().unwrap()).into();
        let found = |text: &str| nearest(&text.parse().unwrap(), &names).map(ToString::to_string);
        assert_eq!(found("s3-permisions").as_deref(), Some("s3-permissions"));
        assert_eq!(found("s3-ptahs").as_deref(), Some("s3-paths"));
        assert_eq!(found("S3-paths").as_deref(), Some("s3-paths"));
        assert_eq!(found("topics"), None);
        assert_eq!(found("s3-paths"), None, "the same name is no slip");
    }

    #[test]
    fn only_the_first_missing_names_get_a_suggestion() {
        let known: ContractName = "s3-paths".parse().unwrap();
        let names = [&known].into();
        let mut suggestions = Suggestions::among(&names);
        let wanted = "s3-pahts".parse().unwrap();
        let found: Vec<_> = (0..100).map(|_| suggestions.nearest(&wanted)).collect();
        assert_eq!(found[..MAX_SUGGESTIONS], [Some(&known); MAX_SUGGESTIONS]);
        assert_eq!(found[MAX_SUGGESTIONS..], [None; 100 - MAX_SUGGESTIONS]);
    }
}
