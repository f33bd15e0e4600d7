//! Numbers that many JSON parsers do not keep exactly, in files that contracts refer to.

use crate::world::World;

const ORDER: &str = "orders/order-placed";
const ORDER_FILE: &str = ".blue/contracts/orders/order-placed.yaml";

/// A large number may be in any part of a file, except in the one that enters a contract.
#[test]
fn large_numbers_matter_only_in_the_referenced_part() {
    let world = World::new();
    world.join("shop");
    world.join("billing");
    let dir = world.path("shop");
    let api = |order: &str, id: &str| {
        let text = format!(
            "openapi: 3.1.0\ncomponents:\n  schemas:\n    Order:\n      properties:\n        id: {{ $ref: \
             '#/components/schemas/Id' }}\n        limit: {{ maximum: {order} }}\n    Id: {{ maximum: {id} }}\n    \
             Other: {{ maximum: 9223372036854775807 }}\n"
        );
        world.write("shop/openapi.yaml", &text);
    };
    let schema = "openapi.yaml#/components/schemas/Order";
    let refusal = |place: &str| {
        let why = "many JSON parsers cannot represent integers beyond ±2^53 exactly";
        format!("openapi.yaml: /components/schemas/{place}/maximum: {why}; leave this one out, or write a smaller one")
    };
    let new = |more: &[&str]| {
        let base = ["contract", "new", ORDER, "--schema", schema, "--domain-members", "billing"];
        world.blue(&dir, &[&base, more].concat())
    };
    api("7", "9223372036854775807");
    for more in [&[][..], &["--inline"]] {
        let refused = new(more).exits(1);
        assert!(refused.stderr.contains(&refusal("Id")), "{refused}");
    }
    api("7", "8");
    new(&[]).exits(0);
    let path = format!("shop/{ORDER_FILE}");
    let text = world.read(&path).replace("value: null", "value: { file: value.json, at: /good }");
    world.write(&path, &text);
    let value = r#"{"good": {"id": 7}, "bad": {"id": [9007199254740993]}}"#;
    world.write("shop/value.json", value);
    let published = world.commit("shop", "Agree on orders");
    assert!(published.stderr.contains("published orders/order-placed 1.0.0"), "{published}");
    world.blue(&dir, &["contract", "impact", ORDER, "--schema", schema]).exits(0);
    api("1e16", "8");
    let refused = world.blue(&dir, &["check", "--worktree"]).exits(1);
    assert!(refused.stdout.contains(&format!("schema: {}", refusal("Order/properties/limit"))), "{refused}");
    let refused = world.blue(&dir, &["contract", "impact", ORDER, "--schema", schema]).exits(1);
    assert!(refused.stderr.contains(&refusal("Order/properties/limit")), "{refused}");
    api("7", "8");
    world.write(&path, &text.replace("/good", "/bad"));
    let refused = world.blue(&dir, &["check", "--worktree"]).exits(1);
    let place = "value: value.json: /bad/id/0: many JSON parsers";
    assert!(refused.stdout.contains(place) && refused.stdout.contains("write it as a string"), "{refused}");
    // Inline, as ever.
    let limit = "schema: { maximum: 9223372036854775807 }";
    world.write(&path, &text.replace("schema: { file: openapi.yaml, at: \"#/components/schemas/Order\" }", limit));
    let refused = world.blue(&dir, &["check", "--worktree"]).exits(1);
    assert!(refused.stdout.contains("beyond ±2^53 exactly; write it as a string"), "{refused}");
}
