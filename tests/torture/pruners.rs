//! Writers with git's own pruning and packing commands, a quarter of them killed: acknowledged writes survive.

use std::{
    collections::BTreeSet,
    process::Stdio,
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use super::{World, kills::Random, scale};

const WRITERS: u64 = 4;
const DOMAINS: [&str; 3] = ["d0", "d1", "d2"];
/// The commands that run in loops, each in its own thread.
const PRUNERS: [&[&str]; 4] = [
    &["gc", "--prune=now", "--quiet"],
    &["prune", "--expire=now"],
    &["repack", "-a", "-d", "-q"],
    &["pack-refs", "--all"],
];

/// The results of the writes.
#[derive(Default)]
struct Tally {
    acknowledged: Mutex<BTreeSet<String>>,
    killed: AtomicUsize,
    refused: Mutex<Vec<String>>,
    longest: Mutex<Duration>,
}

#[test]
fn acknowledged_writes_survive_git_prune() {
    let wanted = scale(24, 1_500);
    let world = World::new(&DOMAINS.map(str::to_owned));
    let (tally, done) = (Tally::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        let (world, tally, done) = (&world, &tally, &done);
        for args in PRUNERS {
            scope.spawn(move || {
                while !done.load(Ordering::Relaxed) {
                    world.sandbox.try_git(&world.store(), args);
                }
            });
        }
        let writers: Vec<_> =
            (0..WRITERS).map(|writer| scope.spawn(move || write(world, writer, wanted, tally))).collect();
        let ended: Vec<_> = writers.into_iter().map(thread::ScopedJoinHandle::join).collect();
        done.store(true, Ordering::Relaxed);
        ended.into_iter().for_each(|ended| ended.unwrap());
    });
    let Tally { acknowledged, killed, refused, longest } = tally;
    let (acknowledged, refused) = (acknowledged.into_inner().unwrap(), refused.into_inner().unwrap());
    let there: BTreeSet<_> = world.contracts().into_iter().collect();
    let lost: Vec<_> = acknowledged.difference(&there).collect();
    assert!(lost.is_empty(), "{} of {} are lost: {lost:?}", lost.len(), acknowledged.len());
    assert!(refused.is_empty(), "{} were refused: {:?}", refused.len(), refused.first());
    world.fsck();
    // The next commands work, without leftovers.
    world.blue(&["status"]);
    world.blue(&["gc"]);
    world.fsck();
    assert_eq!(world.contracts().into_iter().collect::<BTreeSet<_>>(), there);
    let killed = killed.into_inner();
    println!(
        "{} acknowledged, {killed} killed, 0 lost, 0 refused, fsck clean; the longest write took {:?}",
        acknowledged.len(),
        longest.into_inner().unwrap()
    );
}

/// Writes until enough writes were acknowledged, and kills every fourth process at a random time.
fn write(world: &World, writer: u64, wanted: usize, tally: &Tally) {
    let mut random = Random(100 + writer);
    for number in 0.. {
        if tally.acknowledged.lock().unwrap().len() >= wanted {
            return;
        }
        let (domain, name) = (DOMAINS[usize::try_from(random.below(3)).unwrap()], format!("c{writer}-{number}"));
        let args = ["realm", "admin", "contract", "--domain", domain, "--name", &name, "--owner", "aperture"];
        let mut command = world.command(&args);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let start = Instant::now();
        let mut child = command.spawn().unwrap();
        if number % 4 == 3 {
            thread::sleep(Duration::from_micros(random.below(60_000)));
            let _ = child.kill();
            tally.killed.fetch_add(1, Ordering::Relaxed);
        }
        let output = child.wait_with_output().unwrap();
        match output.status.code() {
            Some(0) => drop(tally.acknowledged.lock().unwrap().insert(format!("{domain}/{name} 0.1.0"))),
            // Killed: done or not done.
            None => {}
            Some(_) => tally.refused.lock().unwrap().push(String::from_utf8_lossy(&output.stderr).into_owned()),
        }
        let mut longest = tally.longest.lock().unwrap();
        *longest = start.elapsed().max(*longest);
    }
}
