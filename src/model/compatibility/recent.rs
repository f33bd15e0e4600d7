//! What this thread compiled last. The contracts of a realm often have the same patterns and formats, and compiling one
//! takes longer than comparing two usual schemas.

use std::collections::HashMap;

/// The size limit, in bytes. Beyond it, everything is compiled again.
const MAX_SIZE: usize = 4 << 20;

/// Compiled things by their source text.
pub struct Recent<T> {
    by_text: HashMap<String, T>,
    size: usize,
}

impl<T> Default for Recent<T> {
    fn default() -> Self {
        Self { by_text: HashMap::new(), size: 0 }
    }
}

impl<T: Clone> Recent<T> {
    /// Returns what a text compiles to. `compile` also returns its approximate size in bytes.
    pub fn get(&mut self, text: &str, compile: impl FnOnce() -> (T, usize)) -> T {
        if let Some(known) = self.by_text.get(text) {
            return known.clone();
        }
        let (compiled, size) = compile();
        let size = size + text.len();
        if self.size + size > MAX_SIZE {
            *self = Self::default();
        }
        self.size += size;
        self.by_text.insert(text.to_owned(), compiled.clone());
        compiled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compiles_again_only_beyond_the_limit() {
        let mut recent = Recent::default();
        let mut count = 0;
        let mut get = |text: &str, size: usize| {
            count += 1;
            let fresh = count;
            recent.get(text, || (fresh, size))
        };
        assert_eq!([get("a", 1), get("b", MAX_SIZE / 2), get("a", 1)], [1, 2, 1]);
        assert_eq!([get("c", MAX_SIZE / 2), get("b", 1), get("a", 1)], [4, 5, 6]);
    }
}
