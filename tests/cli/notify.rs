//! Receivers outside of git: servers and programs that mostly misbehave. No event is lost or duplicated under another
//! id, and each domain keeps its order.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::{fs::PermissionsExt as _, process::ExitStatusExt as _},
    time::Duration,
};

use base64::{Engine as _, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use super::missing_objects::unpack;
use crate::{
    receiver::{
        Manner::{Answer, Drop, Redirect, Slow, Take, TakeAndDrop},
        Receiver, Taken,
    },
    wait::eventually,
    world::{DOMAIN_REF, Run, World, contract},
};

/// A provider and a consumer, and the receiver `team`, which has looked once, so that later changes are new to it.
pub fn place(keys: &[(&str, &str)]) -> World {
    let world = World::pair();
    world.set("GIT_BLUE_FORGE_TIMEOUT_MS", "700");
    configure(&world, keys);
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0, "it hears what comes from now on");
    world
}

pub fn configure(world: &World, keys: &[(&str, &str)]) {
    let file = world.path("home/gitconfig");
    for (key, value) in keys {
        let key = format!("blue.notify.team.{key}");
        world.git(&world.root(), &["config", "--file", file.to_str().unwrap(), &key, value]);
    }
}

pub fn send(world: &World) -> Run {
    world.blue(&world.path("fungal"), &["notify", "send", "--json"])
}

/// Publishes without configured receivers, so that nothing is sent in the background.
pub fn publish(world: &World, version: &str) {
    let plain = world.read("home/gitconfig").split("[blue \"notify.").next().unwrap().to_owned();
    world.write("home/plain", &plain);
    let plain = world.path("home/plain");
    let vars = [("GIT_CONFIG_GLOBAL", plain.as_os_str())];
    for args in [&["hooks", "uninstall"][..], &["contract", "publish"]] {
        if args[0] == "contract" {
            world.bump(version);
        }
        world.blue_with(&world.path("fungal"), args, &vars).exits(0);
    }
}

pub fn list(world: &World) -> Value {
    world.json(&world.path("access"), &["notify", "list"])["receivers"][0].clone()
}

/// Returns the first receipt of each event; repetitions must be equal.
fn once(taken: &[Taken]) -> Vec<Value> {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let mut first = Vec::new();
    for one in taken {
        let event = one.json();
        assert_eq!(event["id"], *one.id(), "the key is in the header, too");
        match seen.insert(one.id(), one.text.clone()) {
            Some(before) => assert_eq!(before, one.text, "one key, two texts"),
            None => first.push(event),
        }
    }
    first
}

/// Returns the old and new version of each change, in order.
fn versions(events: &[Value]) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let changes = events.iter().map(|event| &event["data"]["changes"][0]["changes"]);
    changes.map(|change| (text(&change["old_version"]), text(&change["new_version"]))).collect()
}

#[test]
fn commit_sends_a_signed_event() {
    let receiver = Receiver::start();
    let world = World::pair();
    world.write("home/secret", "whsec_c2VjcmV0IGtleSBvZiB0ZXN0cw==\n");
    let secret = world.path("home/secret");
    std::fs::set_permissions(&secret, std::fs::Permissions::from_mode(0o600)).unwrap();
    configure(&world, &[("url", &receiver.url), ("secretFile", secret.to_str().unwrap())]);
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0);
    world.bump("2.0.0");
    let taken = receiver.waits_for(1);
    let event = taken[0].json();
    assert_eq!(event["specversion"], "1.0");
    assert_eq!(
        (&event["source"], &event["type"]),
        (&json!("git-blue:/realms/aperture"), &json!("git-blue.domain.changed"))
    );
    assert_eq!((&event["subject"], &event["data"]["rank"]), (&json!("s3-access"), &json!("broken")));
    assert_eq!(event["data"]["commit"], world.tip("refs/blue/domains/s3-access"));
    let change = &event["data"]["changes"][0];
    assert_eq!(change["text"], "fungal changed s3-access/s3-permissions 1.0.0 -> 2.0.0");
    assert_eq!((&change["imports"][0]["repo"], &change["imports"][0]["state"]), (&json!("access"), &json!("broken")));
    assert_eq!(taken[0].headers["content-type"], "application/cloudevents+json; charset=utf-8");
    // Verified as by the libraries of Standard Webhooks.
    let mut mac = Hmac::<Sha256>::new_from_slice(b"secret key of tests").unwrap();
    mac.update(format!("{}.{}.{}", taken[0].id(), taken[0].headers["webhook-timestamp"], taken[0].text).as_bytes());
    let expected = format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes()));
    assert_eq!(taken[0].headers["webhook-signature"], expected);
    let again = send(&world).exits(0).json();
    assert_eq!((&again["complete"], &again["receivers"][0]["waiting"]), (&json!(true), &json!([])));
    assert_eq!(receiver.taken().len(), 1, "once");
}

#[test]
fn no_event_is_lost_duplicated_or_reordered_by_failures() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    // Another domain, with its own contract.
    let fungal = world.path("fungal");
    world.ok(&fungal, &["realm", "admin", "domain", "--name", "events", "--repos", "fungal,access"]);
    let manners =
        [Answer(500), TakeAndDrop, Drop, Slow(1_200), Answer(429), Take, Redirect, TakeAndDrop, Drop, Answer(503)];
    receiver.then(manners.into_iter().cycle().take(25));
    for minor in 1..=6 {
        let version = format!("1.{minor}.0");
        let text = contract(&version).replace("s3-permissions", "placed");
        world.write("fungal/.blue/contracts/events/placed.yaml", &text);
        publish(&world, &version);
        send(&world);
    }
    for _ in 0..30 {
        if send(&world).code == 0 {
            break;
        }
    }
    send(&world).exits(0);
    let taken = receiver.taken();
    let events = once(&taken);
    assert!(taken.len() > events.len(), "some came twice, with their keys");
    for (domain, first) in [("s3-access", Some("1.0.0")), ("events", None)] {
        let of: Vec<_> = events.iter().filter(|event| event["subject"] == domain).cloned().collect();
        let changes: Vec<_> = of
            .iter()
            .flat_map(|event| event["data"]["changes"].as_array().unwrap().clone())
            .filter(|change| !change["contract"].is_null())
            .collect();
        let mut known = first.map(str::to_owned);
        for change in &changes {
            assert_eq!(change["changes"]["old_version"].as_str(), known.as_deref(), "{domain}: {changes:#?}");
            known = change["changes"]["new_version"].as_str().map(str::to_owned);
        }
        assert_eq!(known.as_deref(), Some("1.6.0"), "{domain}: none is lost: {changes:#?}");
    }
}

#[test]
fn undeliverable_event_is_given_up_and_resent_on_demand() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    receiver.then([Answer(500); 9]);
    publish(&world, "1.1.0");
    let first = send(&world).exits(1).json();
    let waiting = &first["receivers"][0]["waiting"][0];
    assert_eq!((&waiting["tries"], &waiting["problem"]), (&json!(1), &json!("127.0.0.1 responded with 500")));
    assert!(!first.to_string().contains("s3cret-path"), "the path of a url is not shown: {first}");
    publish(&world, "1.2.0");
    for _ in 0..8 {
        send(&world).exits(1);
    }
    // The delays grow, and nothing is sent early.
    let asked = receiver.asked().len();
    let due = world.blue(&world.path("fungal"), &["notify", "send", "--due", "--json"]).exits(1).json();
    // All changes while an event waits are one event.
    assert_eq!(due["receivers"][0]["waiting"].as_array().unwrap().len(), 1, "{due}");
    assert_eq!((asked, receiver.asked().len()), (9, 9));
    // Attempts before an event is due do not count.
    receiver.then([Answer(500); 40]);
    for _ in 0..40 {
        send(&world).exits(1);
    }
    assert_eq!(list(&world)["failed"], json!([]));
    while list(&world)["failed"] == json!([]) {
        world.pass_hours(2);
        receiver.then([Answer(500)]);
        send(&world).exits(1);
        assert!(receiver.asked().len() <= 49 + 33, "it is given up in the end");
    }
    // The next event of the domain follows.
    let now = list(&world);
    assert_eq!(now["failed"][0]["text"], "fungal changed s3-access/s3-permissions 1.0.0 -> 1.1.0", "{now}");
    let sent = send(&world).exits(1).json();
    assert_eq!(sent["complete"], false, "the failed event is still missing");
    assert_eq!(versions(&once(&receiver.taken())), [("1.1.0".to_owned(), "1.2.0".to_owned())]);
    let id = now["failed"][0]["id"].as_str().unwrap().to_owned();
    let wrong = world.blue(&world.path("fungal"), &["notify", "retry", "nothing", "--json"]).exits(1).json();
    assert_eq!(wrong["code"], "unknown-notification");
    assert!(wrong["message"].as_str().unwrap().contains("no event with the id \"nothing\" failed"), "{wrong}");
    let text = world.blue(&world.path("fungal"), &["notify", "list"]).exits(0).stdout;
    assert!(text.contains("failed  ") && text.contains("32 tries") && text.contains("notify retry --all"), "{text}");
    let again = world.blue(&world.path("fungal"), &["notify", "retry", &id, "--json"]).exits(0).json();
    assert_eq!((&again["receivers"][0]["sent"], &again["receivers"][0]["failed"]), (&json!(1), &json!([])));
    assert_eq!(receiver.taken().last().unwrap().id(), id);
}

#[test]
fn failed_delivery_is_retried_within_the_wait() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    world.set("GIT_BLUE_NOW", "");
    receiver.then([Answer(500)]);
    publish(&world, "1.1.0");
    let args = ["notify", "send", "--wait", "40", "--json"];
    let answer = world.blue(&world.path("fungal"), &args).exits(0).json();
    assert_eq!(answer["receivers"][0]["sent"], 1);
    assert_eq!(receiver.asked().len(), 2);
}

#[test]
fn failing_receiver_does_not_delay_the_others() {
    let world = World::pair();
    world.set("GIT_BLUE_NOW", "");
    let (file, out) = (world.path("home/gitconfig"), world.path("events"));
    for (key, value) in [("bad", "exit 3".to_owned()), ("log", format!("cat >'{}'", out.display()))] {
        let key = format!("blue.notify.{key}.command");
        world.git(&world.root(), &["config", "--file", file.to_str().unwrap(), &key, &value]);
    }
    send(&world).exits(0);
    publish(&world, "1.1.0");
    let mut waiting = world.command(env!("CARGO_BIN_EXE_git-blue"), &world.path("fungal"));
    let mut waiting = waiting.args(["notify", "send", "--wait", "60"]).spawn().unwrap();
    eventually("it is sent, although the other receiver still waits", || out.exists());
    waiting.kill().unwrap();
    waiting.wait().unwrap();
}

#[test]
fn refuses_redirects_and_plain_http() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    receiver.then([Redirect]);
    let refused = world.blue(&world.path("fungal"), &["notify", "test", "team"]).exits(1);
    assert!(refused.stderr.contains("redirects (307), and redirects are not followed"), "{refused}");
    assert_eq!(receiver.asked(), ["/hook/s3cret-path"]);
    configure(&world, &[("url", "http://forge.test/hook")]);
    let refused = world.blue(&world.path("fungal"), &["notify", "test", "team"]).all();
    assert!(refused.contains("must begin with https://"), "{refused}");
    let missing = world.blue(&world.path("fungal"), &["notify", "test", "teem", "--json"]).exits(1).json();
    assert_eq!(missing["code"], "unknown-receiver");
    assert!(missing["message"].as_str().unwrap().contains("did you mean team?"), "{missing}");
}

#[test]
fn damaged_record_restarts_the_receiver() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    let store = world.store();
    world.git(&store, &["update-ref", "-d", "refs/blue/local/notify/team"]);
    publish(&world, "1.1.0");
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0);
    publish(&world, "1.2.0");
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 1);
    assert_eq!(world.git(&store, &["fsck", "--strict", "--no-dangling"]).stdout, "");
}

#[test]
fn change_that_cannot_be_read_is_sent_once_it_is_restored() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    let store = world.store();
    publish(&world, "1.1.0");
    unpack(&world, &store);
    let id = world.git(&store, &["rev-parse", &format!("{DOMAIN_REF}:contracts/s3-permissions.json")]).stdout;
    let (object, aside) = (store.join("objects").join(&id[..2]).join(id[2..].trim()), world.path("aside"));
    fs::rename(&object, &aside).unwrap();
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 0);
    fs::rename(&aside, &object).unwrap();
    assert_eq!(send(&world).exits(0).json()["receivers"][0]["sent"], 1);
    assert_eq!(versions(&once(&receiver.taken())), [("1.0.0".to_owned(), "1.1.0".to_owned())]);
}

#[test]
fn concurrent_senders_deliver_each_event_once() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    for version in ["1.1.0", "1.2.0", "1.3.0"] {
        publish(&world, version);
        receiver.then([Slow(100)]);
        let fungal = world.path("fungal");
        let start = |_| {
            let mut command = world.command("git", &fungal);
            command.args(["blue", "notify", "send", "--due", "--quiet"]).spawn().unwrap()
        };
        let children: Vec<_> = (0..6).map(start).collect();
        for mut child in children {
            child.wait().unwrap();
        }
    }
    let taken = receiver.taken();
    assert_eq!(taken.len(), 3, "{taken:#?}");
    let expected = [("1.0.0", "1.1.0"), ("1.1.0", "1.2.0"), ("1.2.0", "1.3.0")];
    assert_eq!(versions(&once(&taken)), expected.map(|(old, new)| (old.to_owned(), new.to_owned())));
}

#[test]
fn killed_sender_loses_nothing() {
    let receiver = Receiver::start();
    let world = place(&[("url", &receiver.url)]);
    let fungal = world.path("fungal");
    let mut killed = 0;
    for round in 1..=12 {
        publish(&world, &format!("1.{round}.0"));
        let is_sending = round <= 6;
        receiver.then([Slow(if is_sending { 200 } else { 40 })]);
        let asked = receiver.asked().len();
        let mut command = world.command("git-blue", &fungal);
        let mut child = command.args(["notify", "send", "--quiet"]).spawn().unwrap();
        if is_sending {
            receiver.is_asked(asked + 1);
        }
        // First while it waits for an answer, or just after; then before, during or after sending.
        std::thread::sleep(Duration::from_millis(if is_sending { (round - 1) * 40 } else { round * 12 }));
        child.kill().unwrap();
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(9), "{status}");
        killed += usize::from(!status.success());
    }
    assert!(killed > 0, "every sender had ended");
    send(&world).exits(0);
    let told = versions(&once(&receiver.taken()));
    assert_eq!(told.first().map(|(old, _)| &**old), Some("1.0.0"), "{told:?}");
    assert_eq!(told.last().map(|(_, new)| &**new), Some("1.12.0"), "{told:?}");
    assert!(told.windows(2).all(|pair| pair[0].1 == pair[1].0), "no gap: {told:?}");
}
