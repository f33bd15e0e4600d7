//! Sync over smart HTTP.

use crate::{
    backend::{Backend, Mood},
    ssh::noise,
    world::{REALM, World},
};

/// Makes two machines that use the hub over HTTP, with a name and password from git's credential helper.
fn two() -> (World, Backend) {
    let world = World::new();
    let backend = Backend::start(&world.sandbox);
    keep_password(&world, &backend, "secret");
    world.join("alpha", &backend.url());
    world.ok("alpha", &["sync"]);
    world.join("beta", &backend.url());
    world.ok("beta", &["sync"]);
    world.ok("alpha", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
    (world, backend)
}

fn keep_password(world: &World, backend: &Backend, password: &str) {
    let file = world.path("credentials");
    std::fs::write(&file, format!("http://ada:{password}@127.0.0.1:{}\n", backend.port)).unwrap();
    let helper = format!("store --file {}", file.display());
    world.sandbox.git(&world.sandbox.path(), &["config", "--global", "credential.helper", &helper]);
}

/// Asserts that both machines have everything that was published, once nothing fails any more.
fn recovers(world: &World, backend: &Backend) {
    backend.set(Mood::Serve);
    world.ok("alpha", &["sync"]);
    world.ok("beta", &["sync"]);
    world.all_alike(&["alpha", "beta"]);
    let versions = world.sandbox.git(&world.store("beta"), &["ls-tree", "-r", "--name-only", "refs/blue/domains/s3"]);
    assert!(versions.contains("versions/of-alpha/1.0.0.json"), "{versions}");
}

#[test]
fn two_machines_share_a_realm_over_http_with_a_credential_helper() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    // More than git sends in one piece.
    world.publish_value("beta", 0, &noise(200_000));
    world.ok("beta", &["sync"]);
    recovers(&world, &backend);
    let config = std::fs::read_to_string(world.store("alpha").join("config")).unwrap();
    assert!(!config.contains("secret"), "no password is kept in the store: {config}");
}

#[test]
fn a_wrong_password_is_an_error_and_nobody_is_asked_for_another() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    keep_password(&world, &backend, "wrong");
    let run = world.fails("alpha", &["127.0.0.1"]);
    assert!(
        run.stderr.contains("Authentication failed") || run.stderr.contains("terminal prompts disabled"),
        "{run:?}"
    );
    // A machine without a password cannot sync either.
    std::fs::write(world.path("credentials"), "").unwrap();
    world.fails("alpha", &["could not read Username", "terminal prompts disabled"]);
    keep_password(&world, &backend, "secret");
    recovers(&world, &backend);
}

#[test]
fn a_password_in_the_url_is_not_shown() {
    let (world, backend) = two();
    world.machine("gamma");
    let url = format!("http://ada:wrong@127.0.0.1:{}/hub.git", backend.port);
    let run = world.blue("gamma", &["init", "--realm", REALM, "--url", &url]);
    assert_eq!(run.code, 128, "{run:?}");
    assert!(!run.stderr.contains("wrong") && !run.stdout.contains("wrong"), "{run:?}");
}

#[test]
fn a_page_for_people_is_no_realm() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    backend.set(Mood::Page);
    let run = world.fails("alpha", &["hub.git"]);
    assert!(!run.stderr.contains('\u{1b}') && !run.stderr.contains("<html>"), "{run:?}");
    recovers(&world, &backend);
}

#[test]
fn servers_that_are_down_refuse_or_lead_elsewhere_are_named() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    for (mood, words) in [
        (Mood::Status("hub.git", 500), "500"),
        (Mood::Status("hub.git", 403), "403"),
        (Mood::Status("hub.git", 404), "not found"),
        (Mood::Redirect("file:///etc/passwd".into()), "hub.git"),
        (Mood::Redirect("ext::sh -c id".into()), "hub.git"),
    ] {
        backend.set(mood);
        world.fails("alpha", &[words]);
    }
    recovers(&world, &backend);
}

#[test]
fn a_server_that_only_gives_takes_nothing_and_nothing_is_lost() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    world.publish("beta", 0);
    world.ok("beta", &["sync"]);
    backend.set(Mood::Status("git-receive-pack", 403));
    let run = world.blue("alpha", &["sync"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("403") || run.stdout.contains("403"), "{run:?}");
    // Everything that could be fetched was fetched.
    world.ok("alpha", &["contract", "get", "s3/of-beta"]);
    recovers(&world, &backend);
}

#[test]
fn a_server_that_says_nothing_is_given_up() {
    let (mut world, backend) = two();
    world.publish("alpha", 0);
    // By our settings git waits for a minute, but the user's settings take precedence.
    world.set("GIT_HTTP_LOW_SPEED_LIMIT", "1");
    world.set("GIT_HTTP_LOW_SPEED_TIME", "2");
    backend.set(Mood::Silent);
    world.fails("alpha", &["hub.git"]);
    recovers(&world, &backend);
}

#[test]
fn a_server_that_hangs_up_half_way_loses_nothing() {
    let (world, backend) = two();
    world.publish_value("alpha", 0, &noise(100_000));
    world.publish_value("beta", 0, &noise(100_000));
    // During the listing, and during the push: the server may have accepted everything without being able to say so.
    for (path, bytes) in [("info/refs", 0), ("info/refs", 60), ("info/refs", 400), ("git-receive-pack", 0)] {
        backend.set(Mood::HangUp(path, bytes));
        let run = world.blue("alpha", &["sync"]);
        assert!(run.code == 128 || run.code == 1, "{path} {bytes}: {run:?}");
        world.ok("alpha", &["status"]);
    }
    // During the fetch.
    recovers_one(&world, &backend, "alpha");
    for bytes in [0, 300, 1_000, 30_000] {
        backend.set(Mood::HangUp("git-upload-pack", bytes));
        let run = world.blue("beta", &["sync"]);
        assert_eq!(run.code, 128, "{bytes}: {run:?}");
        world.sandbox.git(&world.store("beta"), &["fsck", "--strict", "--no-dangling"]);
    }
    backend.set(Mood::Serve);
    world.ok("beta", &["sync"]);
    recovers(&world, &backend);
}

fn recovers_one(world: &World, backend: &Backend, machine: &str) {
    backend.set(Mood::Serve);
    world.ok(machine, &["sync"]);
}
