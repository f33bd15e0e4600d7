//! Runs deep recursion on a stack that is large enough: the caller's, or a temporary one on the same thread.

/// The stack size that a comparison of schemas may need, in bytes. Schemas and the search may nest deeply.
const COMPARISON: usize = 256 << 20;

/// The stack, in bytes, that may be used between one call of this module and a nested one without growing the stack
/// again.
const SPARE: usize = 4 << 20;

/// Runs `work`, which compares schemas, on a stack that is large enough. A caller with many comparisons wraps them all
/// in one call, so that the stack grows only once.
pub(crate) fn for_comparisons<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(COMPARISON, COMPARISON + SPARE, work)
}

/// Does work that uses this much stack, in bytes.
pub(crate) fn with<T>(size: usize, work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(size, size + SPARE, work)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nested_work_stays_on_the_same_stack() {
        let room = || stacker::remaining_stack().unwrap_or_default();
        for_comparisons(|| {
            let outer = room();
            for_comparisons(|| assert!(outer >= room() && outer - room() < SPARE, "{outer} {}", room()));
            with(COMPARISON, || assert!(outer >= room()));
        });
        with(1 << 30, || assert!(room() >= 1 << 30));
    }
}
