//! Doing the same in many repositories at once.

use std::sync::atomic::{AtomicUsize, Ordering};

/// How many at most: enough that a slow network does not add up, and few enough for any of them.
const WORKERS: usize = 16;

/// Does `work` for each item, several at once. Returns what came of them, in the order of the items.
pub fn each<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).map(|item| (at, item))
        } {
            done.push((at, work(item)));
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..items.len().min(WORKERS)).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    all.sort_by_key(|(at, _)| *at);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_done_once_and_keeps_its_place() {
        let items: Vec<usize> = (0..100).collect();
        assert_eq!(each(&items, |item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
        assert!(each(&[] as &[usize], |item| *item).is_empty());
    }

    #[test]
    fn they_run_at_the_same_time() {
        // Each waits for the other: one after the other would never end.
        let barrier = std::sync::Barrier::new(2);
        assert_eq!(each(&[1, 2], |item| (barrier.wait(), *item).1), [1, 2]);
    }
}
