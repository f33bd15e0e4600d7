//! From new repositories to a detected break, following only the printed next steps, without writing a file by hand.

use std::{cell::RefCell, path::Path};

use crate::world::{Run, World, snapshot};

/// Names that a person chooses.
const NAMES: &[(&str, &str)] = &[("--realm …", "--realm team"), ("…/…", "orders/order-placed")];

/// Somebody who runs `git blue` and pastes the next steps that it prints.
struct Follower<'a> {
    world: &'a World,
    /// Printed steps that were not run yet, the newest first.
    said: RefCell<Vec<String>>,
    shown: RefCell<Vec<Run>>,
}

/// Prepares a breaking change.
const BUMP: &str = "git blue contract bump orders/order-placed major";

impl<'a> Follower<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, said: RefCell::default(), shown: RefCell::default() }
    }

    /// Runs `git blue`.
    fn asks(&self, dir: &Path) {
        self.run(dir, "git blue", 0);
    }

    /// Runs the first step that was not run yet.
    fn follows(&self, dir: &Path) {
        self.follows_to(dir, 0);
    }

    fn follows_to(&self, dir: &Path, code: i32) {
        let step = self.said.borrow_mut().remove(0);
        self.run(dir, &NAMES.iter().fold(step, |step, (placeholder, name)| step.replace(placeholder, name)), code);
    }

    fn run(&self, dir: &Path, line: &str, code: i32) {
        let run = self.world.finish_shell(dir, line);
        assert_eq!(run.code, code, "{run:?}");
        // The newest steps are followed first.
        self.said.borrow_mut().splice(0..0, self.world.next_steps(&run));
        self.shown.borrow_mut().push(run);
    }

    fn commands(&self) -> usize {
        self.shown.borrow().len()
    }

    fn last(&self) -> String {
        self.shown.borrow().last().unwrap().stdout.clone()
    }

    fn snapshot(&self, name: &str) {
        // The output of git commit depends on git.
        snapshot(name, &self.shown.borrow().iter().filter(|run| !run.stdout.starts_with("[main ")).collect::<Vec<_>>());
    }
}

/// Takes two new repositories to a contract that one owns and the other imports.
fn agree(world: &World, shop: &Path, billing: &Path, follower: &Follower<'_>) {
    for repo in ["shop", "billing"] {
        world.git(&world.root(), &["init", "--quiet", repo]);
    }
    follower.asks(shop);
    follower.follows(shop);
    follower.follows(shop);
    // In each other repository.
    follower.follows(billing);
    follower.follows(billing);
    follower.follows(billing);
    follower.follows(billing);
    // In each importing repository.
    follower.follows(shop);
}

#[test]
fn break_is_found_within_twelve_commands() {
    let world = World::new();
    let (shop, billing) = (world.path("shop"), world.path("billing"));
    let follower = Follower::new(&world);
    agree(&world, &shop, &billing, &follower);
    follower.follows(&shop);
    follower.run(&billing, BUMP, 0);
    follower.follows_to(&billing, 1);
    assert!(follower.last().contains("shop imports orders/order-placed"), "{}", follower.last());
    assert!(follower.commands() <= 12, "{}", follower.commands());
    follower.snapshot("first_hour");
}

#[test]
fn second_machine_needs_only_clone_and_url() {
    let world = World::new();
    let (shop, billing) = (world.path("shop"), world.path("billing"));
    let follower = Follower::new(&world);
    agree(&world, &shop, &billing, &follower);
    follower.follows(&shop);
    // The owner shares the realm.
    let hub = world.hub();
    for repo in [&shop, &billing] {
        world.ok(repo, &["init", "--url", &hub]);
        world.git(repo, &["commit", "--quiet", "--all", "-m", "Say where the realm is shared"]);
    }
    world.ok(&billing, &["sync"]);

    world.on("second");
    for repo in ["shop", "billing"] {
        world.git(&world.root(), &["clone", "--quiet", repo, &format!("second-{repo}")]);
    }
    let clone = world.path("second-billing");
    let follower = Follower::new(&world);
    follower.asks(&clone);
    follower.follows(&clone);
    follower.follows(&clone);
    follower.run(&clone, BUMP, 0);
    follower.follows_to(&clone, 1);
    assert!(follower.last().contains("shop imports orders/order-placed"), "{}", follower.last());
    assert!(follower.commands() <= 12, "{}", follower.commands());
    follower.snapshot("first_hour_second_machine");
}
