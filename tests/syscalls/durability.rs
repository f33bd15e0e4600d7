//! The order of system calls of a publish: a power failure at any time leaves the old version or the new one, and
//! success is reported only once the new one is durable.

use super::{
    trace::{self, Call},
    world::World,
};

/// The calls of a publish.
struct Recorded {
    calls: Vec<Call>,
    store: String,
}

impl Recorded {
    fn publish() -> Self {
        let world = World::new();
        let (output, calls) =
            trace::of_all_threads(&world.sandbox, &world.folder("aperture"), &["contract", "publish"]);
        assert!(output.status.success(), "{output:?}");
        let calls: Vec<_> = calls.into_iter().filter(Call::succeeded).collect();
        Self { calls, store: world.stores()[0].display().to_string() }
    }

    /// Returns the position of the only such call.
    fn only(&self, what: &str, is_meant: impl Fn(&Call) -> bool) -> usize {
        let found: Vec<_> = (0..self.calls.len()).filter(|at| is_meant(&self.calls[*at])).collect();
        assert_eq!(found.len(), 1, "{what}: {found:?} in {:#?}", self.calls);
        found[0]
    }

    /// Returns the position of a rename to this name in the store.
    fn renamed_to(&self, path: &str) -> usize {
        let path = format!("{}/{path}", self.store);
        let is_meant = |call: &Call| call.name.starts_with("rename") && call.text.contains(&format!("\"{path}\")"));
        self.only(&path, is_meant)
    }

    /// Returns the position of the flush of a file or folder.
    fn flushed(&self, path: &str) -> Vec<usize> {
        let is_meant = |call: &Call| call.name == "fsync" && call.paths() == [path];
        (0..self.calls.len()).filter(|at| is_meant(&self.calls[*at])).collect()
    }

    fn assert_flushed(&self, path: &str, after: usize, before: usize, what: &str) {
        let flushed = self.flushed(path);
        assert!(flushed.iter().any(|at| (after..before).contains(at)), "{what}: {path} at {flushed:?}");
    }

    fn success(&self) -> usize {
        self.only("the answer", |call| call.name == "write" && call.text.starts_with('1'))
    }
}

#[test]
fn objects_are_flushed_before_the_ref_moves() {
    let recorded = Recorded::publish();
    let moved = recorded.renamed_to("refs/blue/domains/s3");
    let folder = format!("{}/objects", recorded.store);
    let mut files = Vec::new();
    // Later writes are local to this machine and not flushed: losing them repeats notifications.
    for (at, call) in recorded.calls[..moved].iter().enumerate().filter(|(_, call)| call.name.starts_with("rename")) {
        let target = call.text.split('"').nth(3).unwrap();
        let Some(within) = target.strip_prefix(&format!("{folder}/")) else { continue };
        let source = call_source(&recorded.calls[at]);
        recorded.assert_flushed(&source, 0, at, "what it holds, before it has its name");
        recorded.assert_flushed(&format!("{folder}/pack"), at, moved, "its folder");
        recorded.assert_flushed(&folder, at, moved, "the folder of its folder, which is new");
        files.push(within.rsplit_once('.').unwrap().1.to_owned());
    }
    assert_eq!(files, ["pack", "idx"], "{:#?}", recorded.calls);
    let flushed = recorded.calls.iter().filter(|call| call.name.contains("sync")).count();
    assert!(flushed <= 8, "a pack, its index, the ref, and their folders: {:#?}", recorded.calls);
}

/// Returns the file that a call renames.
fn call_source(call: &Call) -> String {
    call.text.split('"').nth(1).unwrap().to_owned()
}

#[test]
fn new_ref_value_is_on_disk_before_the_old_one_is_gone() {
    let recorded = Recorded::publish();
    let moved = recorded.renamed_to("refs/blue/domains/s3");
    let lock = format!("{}/refs/blue/domains/s3.lock", recorded.store);
    let is_written = |call: &Call| call.name == "write" && call.paths() == [&lock];
    let written = recorded.calls.iter().rposition(is_written).unwrap();
    recorded.assert_flushed(&lock, written, moved, "what the ref is to hold");
}

#[test]
fn refs_are_flushed_before_success_is_reported() {
    let recorded = Recorded::publish();
    let success = recorded.success();
    // Its content was flushed when it was written; see `new_ref_value_…`.
    let moved = recorded.renamed_to("refs/blue/domains/s3");
    for folder in ["refs/blue/domains", "refs/blue", "refs"] {
        recorded.assert_flushed(&format!("{}/{folder}", recorded.store), moved, success, "the ref's name");
    }
    let packed = |call: &&Call| call.name.starts_with("rename") && call.text.contains("packed-refs\"");
    assert_eq!(recorded.calls.iter().find(packed), None, "nobody else's ref is written anew");
}

#[test]
fn nothing_is_written_after_success_was_reported() {
    let recorded = Recorded::publish();
    let later = &recorded.calls[recorded.success() + 1..];
    assert!(later.iter().all(Call::only_reads), "{later:#?}");
}
