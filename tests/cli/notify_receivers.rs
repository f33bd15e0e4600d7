//! The kinds of receivers, what is sent to each, and where they are configured.

use std::{os::unix::fs::PermissionsExt as _, path::Path};

use serde_json::{Value, json};

use crate::{
    notify::{configure, list, place, publish, send},
    receiver::Receiver,
    world::World,
};

#[test]
fn receivers_in_repository_configuration_are_ignored() {
    let receiver = Receiver::start();
    let world = World::pair();
    world.git(&world.path("fungal"), &["config", "blue.notify.evil.url", &receiver.url]);
    let none = world.blue(&world.path("fungal"), &["notify", "list"]).exits(0);
    assert!(none.stdout.contains("no receivers"), "{none}");
    world.bump("1.1.0");
    send(&world).exits(0);
    // A secret that others can read, or in the configuration, is not used.
    world.write("home/secret", "s3cret\n");
    std::fs::set_permissions(world.path("home/secret"), std::fs::Permissions::from_mode(0o644)).unwrap();
    configure(&world, &[("url", &receiver.url), ("secretFile", "~/secret")]);
    let refused = world.blue(&world.path("fungal"), &["notify", "test", "team"]).exits(1);
    assert!(refused.stderr.contains("others can read it: chmod 600"), "{refused}");
    configure(&world, &[("secret", "s3cret")]);
    let listed = send(&world).exits(1).json();
    assert!(listed["receivers"][0]["problem"].as_str().unwrap().contains("secretCommand or secretFile"), "{listed}");
    assert_eq!(receiver.asked(), [] as [&str; 0]);
}

#[test]
fn receiver_may_be_in_the_home_configuration() {
    let receiver = Receiver::start();
    let world = World::pair();
    let file = world.path("home/blue/config").display().to_string();
    world.git(&world.root(), &["config", "--file", &file, "blue.notify.team.url", &receiver.url]);
    let listed = list(&world);
    assert_eq!(
        (&listed["name"], &listed["kind"], &listed["filter"]),
        (&json!("team"), &json!("webhook"), &json!("everything"))
    );
    world.git(&world.root(), &["config", "--file", &file, "blue.notify.team.url", "http://127.0.0.1:1/"]);
    for (command, why) in
        [("exit 3", "it failed: exit status: 3"), ("echo a b", "is not a secret"), ("true", "nothing")]
    {
        world.git(&world.root(), &["config", "--file", &file, "blue.notify.team.secretCommand", command]);
        let failed = world.blue(&world.path("access"), &["notify", "test", "team"]).exits(1);
        assert!(failed.stderr.contains(why), "{failed}");
        let step = world.next_step(&failed);
        assert!(world.finish_shell(&world.root(), &step).stdout.contains("blue.notify.team.url http"), "{step}");
    }
}

#[test]
fn filters_select_events() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url), ("rank", "broken"), ("repo", "access")]);
    publish(&world, "1.1.0");
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0, "its import still holds");
    publish(&world, "2.0.0");
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 1);
    assert_eq!(receiver.taken()[0].json()["data"]["changes"][0]["changes"]["old_version"], "1.1.0");
    configure(&world, &[("domain", "elsewhere")]);
    publish(&world, "3.0.0");
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0);
    configure(&world, &[("realm", "another")]);
    assert_eq!(send(&world).exits(0).json()["receivers"], json!([]));
}

#[test]
fn chat_gets_one_line_for_each_change() {
    for (kind, expected) in [
        ("slack", "*s3-access*\n• fungal changed s3-access/s3-permissions 1.0.0 → 2.0.0: breaks access"),
        ("mattermost", "**s3-access**\n- fungal changed s3-access/s3-permissions 1.0.0 → 2.0.0: breaks access"),
    ] {
        let receiver = Receiver::start();
        // Such a URL is itself a secret.
        let world = place(&[("kind", kind), ("secretCommand", &format!("echo {}", receiver.url))]);
        publish(&world, "2.0.0");
        send(&world).exits(0);
        let taken = &receiver.taken()[0];
        assert_eq!(taken.json(), json!({ "text": expected }));
        publish(&world, "2.1.0");
        send(&world).exits(0);
        let later = receiver.taken()[1].json()["text"].as_str().unwrap().to_owned();
        assert!(later.ends_with("2.0.0 → 2.1.0: still breaks access"), "{later}");
        assert!(taken.id().len() == 32 && !taken.headers.contains_key("webhook-signature"), "{:?}", taken.headers);
        assert!(!list(&world).to_string().contains("s3cret-path"));
    }
}

/// A sendmail that records its input, and fails as often as a file says.
const SENDMAIL: &str = r#"#!/bin/sh
here=${0%/*}
cat >"$here/mail"
if [ -s "$here/failures" ]; then
    sed -i 1d "$here/failures"
    echo "no route to anywhere" >&2
    exit 75
fi
printf 'to %s\n' "$*" >>"$here/mails"
cat "$here/mail" >>"$here/mails"
"#;

fn program(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn mail_is_sent_with_sendmail() {
    let world = place(&[("url", "mailto:team@example.com,ops@example.com")]);
    std::fs::create_dir_all(world.path("bin")).unwrap();
    program(&world.path("bin/sendmail"), SENDMAIL);
    world.write("bin/failures", "1\n2\n");
    publish(&world, "2.0.0");
    let failed = send(&world).exits(1).json();
    let problem = failed["receivers"][0]["waiting"][0]["problem"].as_str().unwrap().to_owned();
    assert_eq!(problem, "it failed: exit status: 75: no route to anywhere");
    send(&world).exits(1);
    send(&world).exits(0);
    let mails = world.read("bin/mails");
    let id = failed["receivers"][0]["waiting"][0]["id"].as_str().unwrap();
    assert_eq!(mails.matches("Message-ID: ").count(), 1, "{mails}");
    for line in [
        "to -i -- team@example.com ops@example.com",
        "From: git blue <ada@example.com>",
        "To: team@example.com, ops@example.com",
        "Subject: [aperture] fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0",
        &format!("Message-ID: <{id}@git-blue.invalid>"),
        "Auto-Submitted: auto-generated",
        "fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0: breaks access",
    ] {
        assert!(mails.lines().any(|one| one == line), "{line}\n{mails}");
    }
}

#[test]
fn command_gets_the_event_and_is_killed_on_timeout() {
    let world = World::pair();
    world.set("GIT_BLUE_FORGE_TIMEOUT_MS", "700");
    let (out, slow) = (world.path("events").display().to_string(), world.path("slow").display().to_string());
    std::fs::write(&slow, "").unwrap();
    configure(&world, &[("command", &format!("if [ -e '{slow}' ]; then sleep 30; fi; cat >>'{out}'"))]);
    send(&world).exits(0);
    publish(&world, "1.1.0");
    let start = std::time::Instant::now();
    let failed = send(&world).exits(1).json();
    assert!(start.elapsed().as_secs() < 15, "it does not wait for it");
    assert_eq!(failed["receivers"][0]["waiting"][0]["problem"], "it took more than 0.7 s");
    std::fs::remove_file(&slow).unwrap();
    send(&world).exits(0);
    let events = world.read("events");
    let event: Value = serde_json::from_str(events.trim()).unwrap();
    assert_eq!(event["id"], failed["receivers"][0]["waiting"][0]["id"]);
}

#[test]
fn unknown_names_in_a_filter_are_reported() {
    let world = World::pair();
    let fungal = world.path("fungal");
    configure(&world, &[("command", "cat"), ("realm", "apreture")]);
    let list = world.ok(&fungal, &["notify", "list"]).stdout;
    let unknown = "blue.notify.team.realm is apreture: there is no such realm on this machine";
    assert!(list.contains(unknown) && !list.contains("the first receiver"), "{list}");
    assert!(world.ok(&fungal, &["notify", "send"]).stdout.contains(unknown));
    let test = world.blue(&fungal, &["notify", "test", "team"]).exits(1);
    assert!(test.stderr.contains("team is not for this realm: blue.notify.team.realm is apreture"), "{test}");
    assert!(test.stderr.contains("git config --global blue.notify.team.realm aperture\n"), "{test}");
    configure(&world, &[("realm", "aperture"), ("repo", "acess"), ("domain", "s3-acess")]);
    let list = world.ok(&fungal, &["notify", "list"]).stdout;
    for (key, value, what) in [("repo", "acess", "repository"), ("domain", "s3-acess", "domain")] {
        let remark = format!("blue.notify.team.{key} is {value}: there is no such {what} in the realm aperture");
        assert!(list.contains(&remark), "{list}");
    }
    configure(&world, &[("repo", "access"), ("domain", "s3-access")]);
    assert!(!world.ok(&fungal, &["notify", "list"]).stdout.contains("there is no such"));
}
