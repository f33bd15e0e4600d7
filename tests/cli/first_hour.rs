//! From two fresh repositories to a break that is found, by what the program says comes next, and without
//! a file that is written by hand.

use crate::world::{Run, World, snapshot};

/// What a person chooses: the names.
const NAMES: &[(&str, &str)] = &[("NAME", "team"), ("DOMAIN/CONTRACT", "orders/order-placed")];

#[test]
fn a_break_is_found_within_twelve_commands() {
    let world = World::new();
    let count = std::cell::Cell::new(0);
    for repo in ["shop", "billing"] {
        world.git(&world.root(), &["init", "--quiet", repo]);
    }
    let (shop, billing) = (world.path("shop"), world.path("billing"));
    // Pastes a line, with the names that a person puts in.
    let paste = |dir: &std::path::Path, line: &str| -> Run {
        count.set(count.get() + 1);
        let line = NAMES.iter().fold(line.to_owned(), |line, (placeholder, name)| line.replace(placeholder, name));
        world.finish_shell(dir, &line)
    };
    let works = |run: Run| -> Run {
        assert_eq!(run.code, 0, "{run:?}");
        run
    };
    let screen = works(paste(&shop, "git blue"));
    let made = works(paste(&shop, &world.next_step(&screen)));
    let steps = world.next_steps(&made);
    works(paste(&shop, &steps[0]));
    let joined = works(paste(&billing, &steps[1]));
    let steps = world.next_steps(&joined);
    works(paste(&billing, &steps[0]));
    // It names the repository that it was printed in; the contract is the shop's.
    let agree = steps[1].clone();
    assert!(agree.contains("--domain-members shop"), "{agree}");
    let contract = works(paste(&shop, &agree.replace("shop", "billing")));
    let steps = world.next_steps(&contract);
    works(paste(&shop, &steps[0]));
    let imported = works(paste(&billing, &steps[1]));
    works(paste(&billing, &world.next_step(&imported)));
    let bumped = works(paste(&shop, "git blue contract bump DOMAIN/CONTRACT major"));
    let check = paste(&shop, &world.next_step(&bumped)).exits(1);
    assert!(check.stdout.contains("billing"), "{check:?}");
    assert!(count.get() <= 12, "{}", count.get());
    snapshot("first_hour", &[&screen, &made, &joined, &contract, &imported, &bumped, &check]);
}
