//! Works in many repositories in parallel.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::{error::OpError, ops::progress::RequestProgress};

/// The maximum number of threads: enough threads that waits on a slow network do not add up, but not so many that they
/// overload a machine.
const WORKERS: usize = 16;

/// Calls `work` for each item on several threads. Returns the results in the order of the items.
///
/// # Errors
/// Returns an error if the request is cancelled. Then no further item is started.
pub fn each<T: Sync, R: Send>(
    progress: &RequestProgress,
    items: &[T],
    work: impl Fn(&T) -> R + Sync,
) -> Result<Vec<R>, OpError> {
    progress.expect(items.len());
    let next = AtomicUsize::new(0);
    let worker = || {
        let mut done = Vec::new();
        while let Some((at, item)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            items.get(at).filter(|_| progress.check().is_ok()).map(|item| (at, item))
        } {
            done.push((at, work(item)));
            progress.step();
        }
        done
    };
    let mut all = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..items.len().min(WORKERS)).map(|_| scope.spawn(worker)).collect();
        let joined = workers.into_iter().map(|one| one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        joined.flatten().collect::<Vec<_>>()
    });
    progress.check()?;
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, result)| result).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_item_is_processed_once_and_keeps_its_position() {
        let (items, progress): (Vec<usize>, _) = ((0..100).collect(), RequestProgress::default());
        assert_eq!(
            each(&progress, &items, |item| item * 2).unwrap(),
            items.iter().map(|item| item * 2).collect::<Vec<_>>()
        );
        assert_eq!(progress.so_far(), (100, 100));
        assert!(each(&progress, &[] as &[usize], |item| *item).unwrap().is_empty());
    }

    #[test]
    fn items_are_processed_in_parallel() {
        // Each item waits for the other, so this would never end if they ran one after the other.
        let barrier = std::sync::Barrier::new(2);
        let progress = RequestProgress::default();
        assert_eq!(each(&progress, &[1, 2], |item| (barrier.wait(), *item).1).unwrap(), [1, 2]);
    }

    #[test]
    fn no_item_is_started_after_a_cancellation() {
        let progress = RequestProgress::default();
        let done = AtomicUsize::new(0);
        let work = |_: &usize| {
            progress.cancel();
            done.fetch_add(1, Ordering::Relaxed);
        };
        let items: Vec<usize> = (0..10_000).collect();
        assert_eq!(each(&progress, &items, work).unwrap_err().code, crate::error::ErrorCode::Cancelled);
        assert!(done.into_inner() <= WORKERS);
    }
}
