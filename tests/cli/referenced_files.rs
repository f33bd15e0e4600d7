//! Contracts that read their schema or version from other files of the repository.

use serde_json::json;

use crate::{
    authoring::{ORDER, ORDER_FILE, two},
    world::World,
};

#[test]
fn schema_file_is_bundled_with_its_references() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/api/openapi.yaml", "components:\n  schemas:\n    Order:\n      type: object\n      properties:\n        to: { $ref: '#/components/schemas/Address' }\n        price: { $ref: ../money.json }\n    Address: { type: string }\n    Out: { $ref: ../../outside.json }\n    Link: { $ref: ../linked.json }\n");
    world.write("shop/money.json", r#"{"type": "number", "minimum": 0}"#);
    world.write("outside.json", "{}");
    std::os::unix::fs::symlink(world.path("outside.json"), dir.join("linked.json")).unwrap();
    let new = |name: &str, place: &str| {
        let schema = format!("openapi.yaml#/components/schemas/{place}");
        world.blue(
            &dir.join("api"),
            &["contract", "new", name, "--schema", &schema, "--inline", "--domain-members", "billing"],
        )
    };
    let out = new("orders/out", "Out").exits(1);
    assert!(out.stderr.contains("points outside the repository"), "{out:?}");
    let link = new("orders/link", "Link").exits(1);
    assert!(link.stderr.contains("linked.json: it is not a regular file"), "{link:?}");
    new(ORDER, "Order").exits(0);
    let text = world.read(&format!("shop/{ORDER_FILE}"));
    world.write("payload.json", r#"{"to": "x", "price": -1}"#);
    let checked = world.blue(&dir, &["contract", "validate", ORDER, "../payload.json", "--worktree"]).exits(1);
    assert!(checked.stdout.contains("/price: -1 is less than the minimum"), "{checked:?}\n{text}");
}

#[test]
fn file_of_another_draft_is_refused_if_it_means_something_else() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/order.json", r#"{"type": "object", "properties": {"day": {"$ref": "day.json"}}}"#);
    let day =
        |format: &str| format!(r#"{{"$schema": "http://json-schema.org/draft-07/schema#", "type": "string"{format}}}"#);
    let new = || world.blue(&dir, &["contract", "new", ORDER, "--schema", "order.json", "--domain-members", "billing"]);
    world.write("shop/day.json", &day(r#", "format": "date""#));
    let refused = new().exits(1);
    let said = r#"day.json: "format" differs between draft-07, which this schema names, and 2020-12"#;
    assert!(refused.stderr.contains(said), "{refused}");
    world.write("shop/day.json", &day(""));
    new().exits(0);
}

#[test]
fn contract_reads_schema_from_an_existing_file() {
    let world = two();
    let dir = world.path("shop");
    world.write(
        "shop/schemas/order.json",
        r##"{"$defs": {"Order": {"type": "object", "properties": {"id": {"$ref": "id.json"}}}}}"##,
    );
    world.write("shop/schemas/id.json", r#"{"type": "integer"}"#);
    world.write("shop/order.yaml", "id: 7\n");
    let made = world.ok(
        &dir,
        &["contract", "new", ORDER, "--schema", "schemas/order.json#/$defs/Order", "--domain-members", "billing"],
    );
    let path = format!("shop/{ORDER_FILE}");
    let text = world.read(&path);
    assert!(text.contains(r##"schema: { file: schemas/order.json, at: "#/$defs/Order" }"##), "{text}");
    world.write(&path, &text.replace("value: null", "value: { file: order.yaml }"));
    world.commit("shop", "Agree on orders");
    let held = |pointer: &str| {
        let answer = world.json(&dir, &["contract", "get", ORDER]);
        answer.pointer(&format!("/contract{pointer}")).cloned().unwrap_or_default()
    };
    assert_eq!(held("/schema/$defs/id/type"), json!("integer"), "{made:?}");
    assert_eq!(held("/value/id"), json!(7));
    // Only a referenced file changes, outside of .blue: the version has to be raised.
    world.write("shop/schemas/id.json", r#"{"type": ["integer", "string"]}"#);
    let refused = world.commit("shop", "Allow names");
    assert!(refused.stderr.contains("was already published with different content"), "{refused:?}");
    let bumped = world.ok(&dir, &["contract", "bump", ORDER, "-m", "Allow names"]);
    assert!(bumped.stdout.contains("1.0.0 -> 2.0.0"), "{bumped:?}");
    world.commit("shop", "Orders 2.0.0");
    assert_eq!((held("/version"), held("/schema/$defs/id/type")), (json!("2.0.0"), json!(["integer", "string"])));
    // An unrelated commit publishes nothing, and a broken file is reported.
    world.write("shop/README.md", "more\n");
    assert_eq!(world.commit("shop", "Say more").stderr, "");
    world.write("shop/schemas/id.json", "{\n  \"type\": }\n");
    let broken = world.commit("shop", "Break it");
    assert!(broken.stderr.contains("not published: schemas/id.json:2: expected value"), "{broken:?}");
    std::fs::remove_file(dir.join("schemas/id.json")).unwrap();
    std::os::unix::fs::symlink("../order.yaml", dir.join("schemas/id.json")).unwrap();
    let linked = world.blue(&dir, &["check", "--worktree"]).exits(1);
    assert!(linked.stdout.contains("links are not followed"), "{linked:?}");
}

#[test]
fn contracts_that_share_a_schema_file_are_bumped_and_committed_together() {
    let world = two();
    let dir = world.path("shop");
    let schema = |word: &str| format!(r#"{{"type": "object", "properties": {{"{word}": {{"type": "string"}}}}}}"#);
    world.write("shop/schemas/common.json", &schema("id"));
    let contracts = [ORDER, "orders/refund", "orders/invoice"];
    for at in contracts {
        let file = format!("shop/.blue/contracts/{at}.yaml");
        let made = ["contract", "new", at, "--schema", "schemas/common.json", "--domain-members", "billing"];
        world.ok(&dir, if at == ORDER { &made } else { &made[..5] });
        assert!(world.read(&file).contains("schemas/common.json"));
    }
    world.commit("shop", "Agree on orders");
    world.write("shop/schemas/common.json", &schema("number"));
    let mut next = format!("git blue contract bump {ORDER}");
    for left in [2, 1] {
        let bumped = world.finish_shell(&dir, &next).exits(0);
        let steps = world.next_steps(&bumped);
        assert_eq!(steps.len(), left, "{bumped}");
        next.clone_from(&steps[0]);
        assert!(next.starts_with("git blue contract bump"), "{bumped}");
    }
    let last = world.finish_shell(&dir, &next).exits(0);
    let steps = world.next_steps(&last);
    world.finish_shell(&dir, steps.last().unwrap()).exits(0);
    for at in contracts {
        assert_eq!(world.json(&dir, &["contract", "get", at])["contract"]["version"], "1.1.0", "{last}");
    }
    assert_eq!(world.git(&dir, &["status", "--short"]).stdout, "");
}

#[test]
fn large_schema_file_is_published_or_refused() {
    let world = World::pair();
    let dir = world.path("fungal");
    let schema_of = |words: usize, length: usize, levels: usize| {
        let words: Vec<_> = (0..words).map(|n| format!("{n:0length$}")).collect();
        let nested = (0..levels).fold(json!(words), |inner, _| json!([inner]));
        world.write("fungal/words.json", &json!({"enum": nested}).to_string());
    };
    world.write(
        "fungal/.blue/contracts/s3-access/words.yaml",
        "name: words\nversion: \"1.0.0\"\nowner: fungal\nschema: { file: words.json }\n",
    );
    schema_of(3_000, 1_000, 0);
    assert!(world.commit("fungal", "Agree on words").stderr.contains("published s3-access/words 1.0.0"));
    assert_eq!(world.stored("contracts/words.json")["schema"]["enum"][2_999].as_str().map(str::len), Some(1_000));
    // Stored with an indented line for each word, it would be too large to read.
    schema_of(480_000, 8, 12);
    let refused = world.blue(&dir, &["check", "--worktree"]).exits(1);
    assert!(refused.stdout.contains("words.yaml: error: the contract takes 20 MiB"), "{refused:?}");
}

#[test]
fn contract_reads_version_from_another_file() {
    let world = two();
    let dir = world.path("shop");
    world.ok(&dir, &["contract", "new", ORDER, "--domain-members", "billing"]);
    let path = format!("shop/{ORDER_FILE}");
    let from = |written: &str| {
        let text = world.read(&path);
        let lines = text.lines().map(|line| {
            if line.starts_with("version:") { format!("version: {written}\n") } else { format!("{line}\n") }
        });
        world.write(&path, &lines.collect::<String>());
    };
    let held = || world.json(&dir, &["contract", "get", ORDER])["contract"]["version"].clone();
    from("{ from: package.json }");
    world.write("shop/package.json", r#"{"name": "shop", "version": "1.4.0"}"#);
    world.commit("shop", "Agree on orders");
    assert_eq!(held(), "1.4.0");
    // A change of the file alone is published.
    world.write("shop/package.json", r#"{"name": "shop", "version": "1.5.0"}"#);
    let published = world.commit("shop", "Release 1.5.0");
    assert!(published.stderr.contains("1.4.0 -> 1.5.0"), "{published:?}");
    for (file, text, written) in [
        ("Cargo.toml", "[package]\nversion = \"2.0.0\"\n", "{ from: Cargo.toml }"),
        ("pyproject.toml", "[project]\nversion = \"3.0.0\"\n", "{ from: pyproject.toml }"),
        ("chart.yaml", "app:\n  release: \"4.0.0\"\n", "{ from: chart.yaml, at: /app/release }"),
    ] {
        world.write(&format!("shop/{file}"), text);
        from(written);
        world.commit("shop", file);
        assert!(text.contains(held().as_str().unwrap()), "{file}: {}", held());
    }
    // `bump` edits no other file, and says what to write there.
    let bump = world.blue(&dir, &["contract", "bump", ORDER, "minor"]).exits(1);
    assert!(bump.stderr.contains("the version is read from chart.yaml") && bump.stderr.contains("4.1.0"), "{bump:?}");
    for (written, says) in [
        ("{ from: gone.json }", "version: gone.json: there is no such file in this repository"),
        ("{ from: chart.yaml }", "chart.yaml: there is nothing at /version; give the place"),
        ("{ from: chart.yaml, at: /app }", "chart.yaml: /app is not a string"),
        ("{ from: ../outside.json }", "../outside.json"),
        ("{ file: package.json }", "the keys are from, at"),
    ] {
        from(written);
        let check = world.blue(&dir, &["check", "--worktree"]).exits(1);
        assert!(check.stdout.contains(says), "{written}: {check:?}");
    }
}

#[test]
fn schema_file_with_a_line_break_in_its_name_is_committed_by_the_next_step() {
    let world = two();
    let dir = world.path("shop");
    world.write("shop/a\nb'.json", r#"{"type": "object"}"#);
    let made = world.ok(&dir, &["contract", "new", ORDER, "--schema", "a\nb'.json", "--domain-members", "billing"]);
    let steps = world.next_steps(&made);
    let step = steps.iter().find(|step| step.starts_with("git add ")).unwrap();
    assert!(step.contains(r"$'a\nb\'.json'"), "{step}");
    let mut shell = world.command("bash", &dir);
    shell.args(["-c", step]);
    world.finish(shell, "bash").exits(0);
    assert!(world.git(&dir, &["status", "--porcelain"]).stdout.is_empty());
}
