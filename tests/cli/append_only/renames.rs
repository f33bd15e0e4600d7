//! Renames and transfers: by those who may, and by others.

use serde_json::json;

use super::{CURRENT, REALM_REF, Three};
use crate::world::{BINDING_FILE, CONTRACT_FILE, DOMAIN_REF, contract};

#[test]
fn rename_and_transfer_break_no_rule_elsewhere() {
    let three = Three::new();
    let settled = |three: &Three| {
        three.alike();
        for at in 0..3 {
            assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]), "{at}");
        }
    };
    three.ok(0, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    settled(&three);
    let taken = contract("1.1.0").replace("owner: fungal", "owner: access");
    three.path(1);
    three.world.write(&format!("access/{CONTRACT_FILE}"), &taken);
    three.world.write(&format!("access/{BINDING_FILE}"), "role: provider\nexports: [ { contract: s3-permissions } ]\n");
    three.world.commit("access", "Take it over");
    three.ok(1, &["sync"]);
    settled(&three);
    assert_eq!(three.at_hub(DOMAIN_REF, CURRENT).unwrap()["owner"], "access");

    three.ok(0, &["realm", "admin", "rename", "fungal", "lens"]);
    three.path(0);
    three.world.commit("fungal", "Take the name lens");
    settled(&three);
    assert!(three.at_hub(REALM_REF, "repos/lens.json").is_some());
    assert!(three.at_hub(REALM_REF, "repos/fungal.json").is_none());
}

#[test]
fn repository_that_was_offered_a_contract_may_be_renamed() {
    let three = Three::new();
    three.ok(0, &["contract", "transfer", "s3-access/s3-permissions", "--to", "access"]);
    three.alike();
    three.ok(1, &["realm", "admin", "rename", "access", "shop"]);
    three.path(1);
    three.world.commit("access", "Take the name shop");
    three.alike();
    for at in 0..3 {
        assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]), "{at}");
    }
    assert_eq!(three.at_hub(DOMAIN_REF, "transfers/s3-permissions.json").unwrap()["transfers"][0]["to"], "shop");
}

#[test]
fn removed_domain_in_which_another_machine_published_stays() {
    let three = Three::new();
    three.ok(1, &["realm", "admin", "domain", "--name", "extra", "--repos", "access"]);
    three.alike();
    three.path(1);
    let more = contract("1.0.0").replace("owner: fungal", "owner: access");
    three.world.write("access/.blue/contracts/extra/s3-permissions.yaml", &more);
    three.world.commit("access", "Publish in the other domain");
    three.ok(0, &["realm", "admin", "remove-domain", "extra"]);
    three.alike();
    let domain = three.at_hub("refs/blue/domains/extra", "domain.json").unwrap();
    assert_eq!((&domain["members"], &domain["removed"]), (&json!(["access"]), &json!(null)), "{domain:#}");
    for at in 0..3 {
        three.ok(at, &["contract", "get", "extra/s3-permissions"]);
        assert!(three.ok(at, &["contract", "list", "--all"]).stdout.contains("extra/s3-permissions"));
    }
}

#[test]
fn rename_or_transfer_by_a_non_owner_is_set_aside() {
    let three = Three::new();
    let mal = "take it\n\nBlue-Repo: reader\n";
    three.push(REALM_REF, &[("renames/fungal.json", Some(json!({"from": "fungal", "to": "reader"})))], mal, &[]);
    let offer = json!({"contract": "s3-permissions", "transfers": [{"from": "fungal", "to": "reader"}]});
    three.push(DOMAIN_REF, &[("transfers/s3-permissions.json", Some(offer))], mal, &[]);
    three.ok(0, &["sync"]);
    let status = three.json(0, &["status", "--peek"]);
    assert_eq!(status["conflicts"].as_array().unwrap().len(), 2, "{status:#}");
    assert_eq!(three.at_hub(DOMAIN_REF, "transfers/s3-permissions.json"), None);
    assert_eq!(three.at_hub(REALM_REF, "renames/fungal.json"), None);
}

/// Only the history shows who had the name before: the record of the first rename was removed by the second one.
#[test]
fn former_name_that_another_repository_takes_breaks_no_rule_elsewhere() {
    let three = Three::new();
    three.path(0);
    let (fungal, other) = (three.world.path("fungal"), three.world.join("other"));
    three.alike();
    three.path(0);
    three.world.ok(&fungal, &["realm", "admin", "rename", "fungal", "lens"]);
    three.world.commit("fungal", "Take the name lens");
    three.world.ok(&other, &["realm", "admin", "rename", "other", "fungal"]);
    three.world.commit("other", "Take the free name");
    three.alike();
    for at in 0..3 {
        assert_eq!(three.json(at, &["status", "--peek"])["conflicts"], json!([]), "{at}");
    }
    assert_eq!(three.at_hub(REALM_REF, "renames/fungal.json"), None);
    assert_eq!(three.at_hub(DOMAIN_REF, CURRENT).unwrap()["owner"], "lens");
    assert!(three.at_hub(DOMAIN_REF, "bindings/lens.json").is_some());
}
