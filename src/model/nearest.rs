//! The name that somebody may have meant.

use super::name::ContractName;

/// Most edits that still look like a slip.
const MAX_EDITS: usize = 3;

/// Returns the name that differs least from `wanted`, if that looks like a slip: at most one edit in
/// three letters.
pub fn nearest<'a>(
    wanted: &ContractName,
    names: impl IntoIterator<Item = &'a ContractName>,
) -> Option<&'a ContractName> {
    let wanted = wanted.as_str();
    let allowed = (wanted.len() / 3).clamp(1, MAX_EDITS);
    let close = names.into_iter().filter(|name| name.as_str().len().abs_diff(wanted.len()) <= allowed);
    let edits = close.map(|name| (strsim::osa_distance(wanted, name.as_str()), name));
    edits.filter(|(edits, _)| (1..=allowed).contains(edits)).min().map(|(_, name)| name)
}

/// Returns the question that names it, to be put behind a message; empty where there is none.
pub fn question<'a>(wanted: &ContractName, names: impl IntoIterator<Item = &'a ContractName>) -> String {
    nearest(wanted, names).map(|name| format!(" (did you mean {name}?)")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_recognised_and_another_word_is_not() {
        let names: Vec<ContractName> = ["s3-permissions", "s3-paths", "queue"].map(|name| name.parse().unwrap()).into();
        let found = |text: &str| nearest(&text.parse().unwrap(), &names).map(ToString::to_string);
        assert_eq!(found("s3-permisions").as_deref(), Some("s3-permissions"));
        assert_eq!(found("s3-ptahs").as_deref(), Some("s3-paths"));
        assert_eq!(found("S3-paths").as_deref(), Some("s3-paths"));
        assert_eq!(found("topics"), None);
        assert_eq!(found("s3-paths"), None, "the same name is no slip");
    }
}
