//! Random sequences of events in a realm.

use proptest::prelude::*;

use crate::world::World;

/// An event.
#[derive(Debug, Clone)]
enum Event {
    Domain(u8),
    Contract(u8, u8),
    Edit(u8, u8, &'static str),
    Retire(u8, u8),
    Bind(u8, u8, &'static str),
    /// Git packs the refs, or everything.
    PackRefs,
    Gc,
    /// Another program moves a domain back, or deletes it.
    Rewind(u8),
    Delete(u8),
    /// Another program writes unreadable content.
    Damage(u8),
    /// The cache file is deleted.
    Forget,
}

fn event() -> impl Strategy<Value = Event> {
    let versions = prop_oneof![Just("0.2.0"), Just("1.0.0"), Just("2.0.0-rc.1"), Just("2.0.0")];
    let ranges = prop_oneof![Just(">=0.1.0"), Just("<0.2.0"), Just(">=1.0.0, <2.0.0")];
    let (domain, contract) = (0..3_u8, 0..3_u8);
    prop_oneof![
        3 => domain.clone().prop_map(Event::Domain),
        5 => (domain.clone(), contract.clone()).prop_map(|(at, number)| Event::Contract(at, number)),
        5 => (domain.clone(), contract.clone(), versions).prop_map(|(at, number, to)| Event::Edit(at, number, to)),
        1 => (domain.clone(), contract.clone()).prop_map(|(at, number)| Event::Retire(at, number)),
        3 => (domain.clone(), contract, ranges).prop_map(|(at, number, range)| Event::Bind(at, number, range)),
        1 => Just(Event::PackRefs),
        1 => Just(Event::Gc),
        1 => domain.clone().prop_map(Event::Rewind),
        1 => domain.clone().prop_map(Event::Delete),
        1 => domain.prop_map(Event::Damage),
        1 => Just(Event::Forget),
    ]
}

/// Applies the event. Refusals, for example without such a domain, are ignored.
fn happen(world: &World, event: &Event) {
    let git = |arguments: &[&str]| {
        let mut command = world.sandbox.command("git", &world.store());
        command.args(arguments).output().unwrap()
    };
    let reference = |at: u8| format!("refs/blue/domains/d{at}");
    match *event {
        Event::Domain(at) => drop(world.domain(at)),
        Event::Contract(at, number) => drop(world.contract(at, number)),
        Event::Edit(at, number, version) => drop(world.edit(at, number, version)),
        Event::Retire(at, number) => drop(world.retire(at, number)),
        Event::Bind(at, number, range) => drop(world.bind(at, number, range)),
        Event::PackRefs => drop(git(&["pack-refs", "--all"])),
        Event::Gc => drop(git(&["gc", "--quiet"])),
        Event::Rewind(at) => drop(git(&["update-ref", &reference(at), &format!("{}~1", reference(at))])),
        Event::Delete(at) => drop(git(&["update-ref", "-d", &reference(at)])),
        Event::Damage(at) => {
            let script = format!(
                "tip=$(git rev-parse -q --verify {0}) || exit 0; blob=$(echo '{{' | git hash-object -w --stdin); \
                 export GIT_INDEX_FILE=$PWD/index.tmp; git read-tree $tip && \
                 git update-index --add --cacheinfo 100644,$blob,contracts/c0.json && \
                 git update-ref {0} $(git commit-tree -p $tip -m x $(git write-tree)); rm -f index.tmp",
                reference(at)
            );
            let output = world.sandbox.command("sh", &world.store()).args(["-c", &script]).output().unwrap();
            assert!(output.status.success(), "{output:?}");
        }
        Event::Forget => drop(std::fs::remove_file(world.kept())),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, max_shrink_iters: 40, ..ProptestConfig::default() })]

    #[test]
    fn answers_are_equal_with_and_without_cache(events in proptest::collection::vec(event(), 4..14)) {
        let world = World::new();
        world.domain(0).unwrap();
        world.contract(0, 0).unwrap();
        for event in &events {
            happen(&world, event);
            world.agree(&format!("{event:?} of {events:?}"));
        }
    }
}
