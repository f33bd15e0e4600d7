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

    #[test]
    fn the_innermost_part_decides_the_version_of_a_line() {
        let version = |version: &str, author: &str| {
            json!({
                "version": version, "time": "2026-01-21T09:00:00Z", "in_future": false, "author": author,
                "repo": "fungal", "source_commit": "1234567890", "commit": "1234567890123456789012345678901234567890",
            })
        };
        let blame = json!({
            "realm": "aperture", "domain": "s3-access", "contract": "s3-permissions", "version": "1.1.0",
            "parts": [
                {"pointer": "/schema", "version": "1.0.0", "value": null},
                {"pointer": "/schema/properties/write", "version": "1.1.0", "value": null},
            ],
            "versions": [version("1.1.0", "Ada \u{202e}"), version("1.0.0", "Grace")],
        });
        let blame: ContractBlame = serde_json::from_value(blame).unwrap();
        let origins = Origins::from(&blame);
        let of = |pointer: &str| origins.of(pointer).map(|one| one.version.to_string());
        assert_eq!(of("/schema/properties/write/type").as_deref(), Some("1.1.0"));
        assert_eq!(of("/schema/properties/read").as_deref(), Some("1.0.0"));
        assert_eq!(of("/value"), None);
        let said = published(origins.of("/schema/properties/write").unwrap());
        assert_eq!(said, "1.1.0 of 2026-01-21 by Ada \\u{202e}, from fungal 1234567");
    }
}
