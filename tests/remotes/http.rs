//! Sync over smart HTTP.

use crate::{
    backend::{Backend, Mood},
    ssh::noise,
    world::{REALM, World},
};

/// Two machines that reach the hub by HTTP, with credentials in git's own credential helper.
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

/// Ends the failure, and asserts that both machines get everything.
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
    // More than git sends in one request.
    world.publish_value("beta", 0, &noise(200_000));
    world.ok("beta", &["sync"]);
    recovers(&world, &backend);
    let config = std::fs::read_to_string(world.store("alpha").join("config")).unwrap();
    assert!(!config.contains("secret"), "no password is kept in the store: {config}");
}

/// git fetches single objects from such a server, which the store does not accept.
#[test]
fn server_of_files_is_refused() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    world.ok("alpha", &["sync"]);
    world.publish("beta", 0);
    backend.set(Mood::Files);
    world.fails("beta", &["127.0.0.1", "dumb HTTP", "smart HTTP"]);
    backend.set(Mood::Serve);
    world.ok("beta", &["sync"]);
    recovers(&world, &backend);
}

#[test]
fn wrong_password_is_an_error_without_prompt() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    keep_password(&world, &backend, "wrong");
    let run = world.fails("alpha", &["127.0.0.1"]);
    assert!(
        run.stderr.contains("Authentication failed") || run.stderr.contains("terminal prompts disabled"),
        "{run:?}"
    );
    // A machine without credentials is not prompted either.
    std::fs::write(world.path("credentials"), "").unwrap();
    world.fails("alpha", &["could not read Username", "terminal prompts disabled"]);
    keep_password(&world, &backend, "secret");
    recovers(&world, &backend);
}

#[test]
fn password_in_the_url_is_hidden() {
    let (world, backend) = two();
    world.machine("gamma");
    let url = format!("http://ada:wrong@127.0.0.1:{}/hub.git", backend.port);
    for (args, code) in [(&["init", "--realm", REALM, "--url"][..], 129), (&["check", "--realm-url"], 128)] {
        let run = world.blue("gamma", &[args, &[&*url]].concat());
        assert_eq!(run.code, code, "{run:?}");
        assert!(!run.stderr.contains("wrong") && !run.stdout.contains("wrong"), "{run:?}");
    }
}

#[test]
fn html_page_is_not_a_realm() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    backend.set(Mood::Page);
    let run = world.fails("alpha", &["hub.git"]);
    assert!(!run.stderr.contains('\u{1b}') && !run.stderr.contains("<html>"), "{run:?}");
    recovers(&world, &backend);
}

#[test]
fn failing_and_redirecting_servers_are_reported() {
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
fn read_only_server_loses_nothing() {
    let (world, backend) = two();
    world.publish("alpha", 0);
    world.publish("beta", 0);
    world.ok("beta", &["sync"]);
    backend.set(Mood::Status("git-receive-pack", 403));
    let run = world.blue("alpha", &["sync"]);
    assert_ne!(run.code, 0, "{run:?}");
    assert!(run.stderr.contains("403") || run.stdout.contains("403"), "{run:?}");
    // What could be fetched was fetched.
    world.ok("alpha", &["contract", "get", "s3/of-beta"]);
    recovers(&world, &backend);
}

#[test]
fn silent_server_times_out() {
    let (mut world, backend) = two();
    world.publish("alpha", 0);
    // Our default is a minute; the user's configuration takes precedence.
    world.set("GIT_HTTP_LOW_SPEED_LIMIT", "1");
    world.set("GIT_HTTP_LOW_SPEED_TIME", "2");
    backend.set(Mood::Silent);
    world.fails("alpha", &["hub.git"]);
    recovers(&world, &backend);
}

#[test]
fn interrupted_transfer_loses_nothing() {
    let (world, backend) = two();
    world.publish_value("alpha", 0, &noise(100_000));
    world.publish_value("beta", 0, &noise(100_000));
    // While it lists, and while it receives: it may have received everything without confirming.
    for (path, bytes) in [("info/refs", 0), ("info/refs", 60), ("info/refs", 400), ("git-receive-pack", 0)] {
        backend.set(Mood::HangUp(path, bytes));
        let run = world.blue("alpha", &["sync"]);
        assert!(run.code == 128 || run.code == 1, "{path} {bytes}: {run:?}");
        world.ok("alpha", &["status"]);
    }
    // While it sends.
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
