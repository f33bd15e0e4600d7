//! JSON Pointers (RFC 6901).

/// Returns a key as a pointer spells it (section 3).
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// Returns the key that a step of a pointer spells (section 4).
pub fn unescape(step: &str) -> String {
    step.replace("~1", "/").replace("~0", "~")
}
