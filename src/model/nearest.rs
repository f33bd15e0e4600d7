//! Finds the existing name that was probably meant.

use std::fmt::Display;

/// The maximum number of edits that still look like a typo.
const MAX_EDITS: usize = 3;

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
    nearest(wanted, names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
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
}
