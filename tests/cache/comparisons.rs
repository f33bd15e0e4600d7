//! Comparisons of schemas are computed once for each pair.

use std::fs;

use crate::world::World;

/// A realm in which a version breaks an import whose range accepts it, and the lines of the cached comparisons.
fn world() -> (World, Vec<String>) {
    let world = World::new();
    world.domain(0).unwrap();
    world.contract(0, 0).unwrap();
    world.edit_schema(0, 0, "1.0.0", r#"{"type": "object", "properties": {"a": {"type": "string"}}}"#);
    world.bind(0, 0, ">=1.0.0").unwrap();
    world.edit_schema(0, 0, "2.0.0", r#"{"type": "object", "properties": {"a": {"type": "integer"}}}"#);
    world.agree("a break");
    let lines = lines(&world);
    (world, lines)
}

fn lines(world: &World) -> Vec<String> {
    let text = fs::read_to_string(world.comparisons()).unwrap();
    text.lines().skip(1).map(str::to_owned).collect()
}

#[test]
fn known_comparison_is_not_repeated() {
    let (world, before) = world();
    assert!(world.answers(|repo| world.ctx(repo, true)).iter().any(|answer| answer.contains("widened-type")));
    assert!(before.iter().any(|line| line.contains("widened-type")), "{before:?}");
    assert_eq!(lines(&world), before);
    fs::remove_file(world.comparisons()).unwrap();
    world.agree("removing the file");
    assert!(lines(&world).iter().any(|line| line.contains("widened-type")));
}

#[test]
fn damaged_file_never_changes_an_answer() {
    let (world, _) = world();
    let kept = fs::read(world.comparisons()).unwrap();
    for at in (0..kept.len()).step_by(131) {
        let mut damaged = kept.clone();
        damaged[at] ^= 1;
        fs::write(world.comparisons(), &damaged).unwrap();
        world.agree(&format!("flipping a bit of byte {at}"));
    }
    for len in [0, 1, 30, kept.len() / 2, kept.len() - 1] {
        fs::write(world.comparisons(), &kept[..len]).unwrap();
        world.agree(&format!("cutting at {len}"));
    }
}
