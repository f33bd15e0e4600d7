//! What `notify forge` says about names that the realm does not have, and about a dry run.

use super::notify_forge::{place, rename_the_field, tell};

#[test]
fn unknown_repository_is_refused() {
    let (world, _forge) = place();
    let typo = tell(&world, &["--repo", "acces"]).exits(128);
    assert!(typo.all().contains("acces is not in the realm aperture (did you mean access?)"), "{typo}");
    world.ok(&world.path("access"), &["realm", "admin", "rename", "access", "entry"]);
    let renamed = tell(&world, &["--repo", "access"]).exits(128);
    assert!(renamed.all().contains("access was renamed to entry in the realm"), "{renamed}");
    assert!(renamed.all().contains("use the name entry"), "{renamed}");
    tell(&world, &["--repo", "entry"]).exits(0);
}

#[test]
fn dry_run_says_what_would_be_written() {
    let (world, _forge) = place();
    rename_the_field(&world, "2.0.0", "paths");
    let tell = |more: &[&str]| world.ok(&world.path("fungal"), &[&["notify", "forge"], more].concat()).stdout;
    assert!(tell(&["--dry-run"]).starts_with("would open "), "{}", tell(&["--dry-run"]));
    assert!(tell(&[]).starts_with("opened "));
    rename_the_field(&world, "3.0.0", "read");
    let closing = tell(&["--dry-run"]);
    assert!(closing.starts_with("would ") && closing.contains("nothing was written"), "{closing}");
}
