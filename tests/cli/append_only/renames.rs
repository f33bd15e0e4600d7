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
