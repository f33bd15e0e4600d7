//! JSON Pointers (RFC 6901).

/// Escapes a key for a pointer (section 3).
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns a pointer and the pointers to its parents, the whole document last.
pub fn upwards(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |at| at.rsplit_once('/').map(|(above, _)| above))
}

/// Unescapes a step of a pointer (section 4).
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
