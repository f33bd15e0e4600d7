//! JSON Pointers (RFC 6901).

/// Returns a key as a pointer spells it (section 3).
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns a pointer and those to what is around it, the whole document last.
pub fn upwards(pointer: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(pointer), |at| at.rsplit_once('/').map(|(above, _)| above))
}

/// Returns the key that a step of a pointer spells (section 4).
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
