//! A damaged cache file, and a folder where no cache can be written.

use std::{fs, os::unix::fs::PermissionsExt as _};

use crate::world::World;

/// A realm with content, and its snapshot.
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
    let (world, _) = world();
    let wanted = world.answers(|repo| world.ctx(repo, false));
    for file in [World::kept, World::parts] {
        let kept = fs::read(file(&world)).unwrap();
        // The first line of the snapshot, and a sample of all bytes.
        let first = kept.iter().position(|byte| *byte == b'\n').filter(|at| *at < 64).map_or(0, |at| at + 40);
        for at in (0..first).step_by(3).chain((first..kept.len()).step_by(97)) {
            for flip in [0x01, 0x80] {
                // Files are replaced once they are found to be damaged.
                let (path, mut damaged) = (file(&world), fs::read(file(&world)).unwrap());
                let Some(byte) = damaged.get_mut(at) else { continue };
                *byte ^= flip;
                fs::write(&path, &damaged).unwrap();
                let found = world.answers(|repo| world.ctx(repo, true));
                assert_eq!(found, wanted, "byte {at} of {} flipped by {flip:#x} in {}", kept.len(), path.display());
            }
        }
    }
}

#[test]
fn truncated_or_foreign_file_never_changes_an_answer() {
    let (world, kept) = world();
    let wanted = world.answers(|repo| world.ctx(repo, false));
    let text = String::from_utf8_lossy(&kept).into_owned();
    let foreign = text.replacen("git-blue-snapshot-", "git-blue-snapshot-9", 1).into_bytes();
    let longer = text.replacen("-6 ", "-6 99999999999", 1).into_bytes();
    let elsewhere = text.replacen("parts-", "../../", 1).into_bytes();
    let cut = [0, 1, 12, 13, 14, 63, kept.len() / 2, kept.len() - 1].map(|len| kept[..len].to_vec());
    for damaged in cut.into_iter().chain([foreign, longer, elsewhere, vec![0; kept.len()], b"\n".repeat(100)]) {
        fs::write(world.kept(), &damaged).unwrap();
        assert_eq!(world.answers(|repo| world.ctx(repo, true)), wanted, "{} bytes", damaged.len());
        assert_ne!(fs::read(world.kept()).unwrap(), damaged, "it is replaced");
    }
}

#[test]
fn damaged_parts_are_replaced() {
    let (world, _) = world();
    let wanted = world.answers(|repo| world.ctx(repo, false));
    for damage in [|len| vec![0; len], |_| Vec::new()] {
        let parts = world.parts();
        let len = fs::read(&parts).unwrap().len();
        fs::write(&parts, damage(len)).unwrap();
        assert_eq!(world.answers(|repo| world.ctx(repo, true)), wanted);
        assert!(!parts.exists() && world.parts().exists());
    }
    fs::remove_file(world.parts()).unwrap();
    assert_eq!(world.answers(|repo| world.ctx(repo, true)), wanted);
    assert!(world.parts().exists());
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
    let left = ["new-abc", "parts-abcdef"].map(|name| world.kept().with_file_name(name));
    for left in &left {
        fs::write(left, "half").unwrap();
    }
    world.contract(0, 1).unwrap();
    world.agree("a kill");
    assert!(left.iter().all(|left| !left.exists()));
    assert!(world.parts().exists());
}
