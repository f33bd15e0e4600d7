//! A damaged cache file, and a folder where no cache can be written.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::world::{OWNER, World};

/// A realm with content, and its cache file.
fn world() -> (World, Vec<u8>) {
    let world = World::new();
    for at in 0..2 {
        world.domain(at).unwrap();
        world.contract(at, 0).unwrap();
        world.bind(at, 0, ">=0.1.0").unwrap();
    }
    world.agree("making it");
    let kept = fs::read(world.kept()).unwrap();
    (world, kept)
}

#[test]
fn flipped_byte_never_changes_an_answer() {
    let (world, kept) = world();
    let wanted = world.answers(|repo| world.ctx(repo, false));
    // The bytes of the last line, and a sample of those before.
    let tail = kept.len() - 64;
    for at in (tail..kept.len()).step_by(3).chain((0..tail).step_by(97)) {
        for flip in [0x01, 0x80] {
            let mut damaged = kept.clone();
            damaged[at] ^= flip;
            fs::write(world.kept(), &damaged).unwrap();
            assert_eq!(
                world.answers(|repo| world.ctx(repo, true)),
                wanted,
                "byte {at} of {} flipped by {flip:#x}",
                kept.len()
            );
        }
    }
}

#[test]
fn truncated_or_foreign_file_never_changes_an_answer() {
    let (world, kept) = world();
    let wanted = world.answers(|repo| world.ctx(repo, false));
    let text = String::from_utf8_lossy(&kept).into_owned();
    let foreign = text.replacen("git-blue-snapshot-", "git-blue-snapshot-9", 1).into_bytes();
    let longer = text.replacen("-5 ", "-5 99999999999", 1).into_bytes();
    let cut = [0, 1, 63, 64, 65, kept.len() / 2, kept.len() - 1].map(|len| kept[..len].to_vec());
    for damaged in cut.into_iter().chain([foreign, longer, vec![0; kept.len()], b"\n".repeat(100)]) {
        fs::write(world.kept(), &damaged).unwrap();
        assert_eq!(world.answers(|repo| world.ctx(repo, true)), wanted, "{} bytes", damaged.len());
        assert_ne!(fs::read(world.kept()).unwrap(), damaged, "it is replaced");
    }
}

/// Root ignores folder permissions, but not a file in place of the folder.
#[test]
fn works_without_a_writable_cache() {
    let (world, _) = world();
    let folder = world.kept().parent().unwrap().to_owned();
    fs::remove_dir_all(&folder).unwrap();
    fs::write(&folder, "in the way").unwrap();
    world.agree("putting a file in the way");
    fs::remove_file(&folder).unwrap();
    fs::create_dir_all(world.kept()).unwrap();
    world.agree("putting a folder in the way");
    fs::remove_dir_all(&folder).unwrap();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o500)).unwrap();
    world.agree("taking the permission to write");
}

#[test]
fn does_not_wait_for_another_writer() {
    let (world, _) = world();
    let lock = fs::File::create(world.kept().with_file_name("lock")).unwrap();
    lock.lock().unwrap();
    fs::remove_file(world.kept()).unwrap();
    let start = std::time::Instant::now();
    world.agree("somebody began to keep it");
    assert!(start.elapsed() < std::time::Duration::from_secs(20));
    assert!(!world.kept().exists());
}

#[test]
fn removes_files_of_killed_writers() {
    let (world, _) = world();
    let left = world.kept().with_file_name("new-abc");
    fs::write(&left, "half").unwrap();
    world.contract(0, 1).unwrap();
    world.ctx(OWNER, true);
    world.agree("a kill");
    assert!(!left.exists());
}
