//! The trailers of a realm's commits. They are unverified claims, since anyone can write them.

/// The trailer that names the publishing repository.
pub const REPO: &str = "Blue-Repo";

/// The trailer that names the commit in that repository whose content was published.
pub const SOURCE: &str = "Blue-Source-Commit";

/// The trailer that names the commit in that repository that changed the content, if it is not the published one.
pub const CHANGE: &str = "Blue-Change-Commit";

/// Returns the value of the last trailer named `key` in a message.
pub fn last<'m>(message: &'m str, key: &str) -> Option<&'m str> {
    let found = message.lines().rev().find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
    found.map(str::trim)
}
