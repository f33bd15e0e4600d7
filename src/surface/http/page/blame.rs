//! The version that introduced each line of a contract, and its publisher.

use std::collections::BTreeMap;

use super::components::text;
use crate::{
    model::{pointer::upwards, text::short_commit, version::Version},
    wire::{ContractBlame, VersionOrigin},
};

/// The versions that introduced the parts of a contract.
#[derive(Debug)]
pub struct Origins<'a> {
    parts: BTreeMap<&'a str, &'a Version>,
    versions: BTreeMap<&'a Version, &'a VersionOrigin>,
}

impl<'a> From<&'a ContractBlame> for Origins<'a> {
    fn from(blame: &'a ContractBlame) -> Self {
        Self {
            parts: blame.parts.iter().map(|part| (&*part.pointer, &part.version)).collect(),
            versions: blame.versions.iter().map(|version| (&version.version, version)).collect(),
        }
    }
}

impl<'a> Origins<'a> {
    /// Returns the version that introduced the part at `pointer`, if that is known.
    pub fn of(&self, pointer: &str) -> Option<&'a VersionOrigin> {
        let version = upwards(pointer).find_map(|at| self.parts.get(at))?;
        self.versions.get(*version).copied()
    }
}

/// Returns who published a version, when and from which commit, in one line.
pub fn published(version: &VersionOrigin) -> String {
    let when = version.time.strftime("%Y-%m-%d");
    let repo = version.repo.as_deref().map(|repo| format!(", from {repo}")).unwrap_or_default();
    let commit =
        version.source_commit.as_deref().map(|commit| format!(" {}", short_commit(commit))).unwrap_or_default();
    text(&format!("{} of {when} by {}{repo}{commit}", version.version, version.author)).into_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::BlamePart;

    #[test]
    fn the_innermost_part_decides_the_version_of_a_line() {
        let part = |pointer: &str, version: &str| BlamePart {
            pointer: pointer.into(),
            version: version.parse().unwrap(),
            value: json!(null).into(),
        };
        let version = |version: &str, author: &str| VersionOrigin {
            version: version.parse().unwrap(),
            time: "2026-01-21T09:00:00Z".parse().unwrap(),
            in_future: false,
            author: author.into(),
            repo: Some("fungal".into()),
            source_commit: Some("1234567890".into()),
            commit_url: None,
            commit: "1234567890123456789012345678901234567890".parse().unwrap(),
        };
        let blame = ContractBlame {
            realm: "aperture".parse().unwrap(),
            domain: "s3-access".parse().unwrap(),
            contract: "s3-permissions".parse().unwrap(),
            version: "1.1.0".parse().unwrap(),
            parts: vec![part("/schema", "1.0.0"), part("/schema/properties/write", "1.1.0")],
            versions: vec![version("1.1.0", "Ada \u{202e}"), version("1.0.0", "Grace")],
            next_cursor: None,
        };
        let origins = Origins::from(&blame);
        let of = |pointer: &str| origins.of(pointer).map(|one| one.version.to_string());
        assert_eq!(of("/schema/properties/write/type").as_deref(), Some("1.1.0"));
        assert_eq!(of("/schema/properties/read").as_deref(), Some("1.0.0"));
        assert_eq!(of("/value"), None);
        let said = published(origins.of("/schema/properties/write").unwrap());
        assert_eq!(said, "1.1.0 of 2026-01-21 by Ada \\u{202e}, from fungal 1234567");
    }
}
