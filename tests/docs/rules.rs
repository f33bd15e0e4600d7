//! `docs/rules.md` is generated from the rule catalogue.

use std::fmt::Write as _;

use git_blue::model::{
    compatibility::{RULES, VALUE_RULES, VersionBump},
    contract::{BrokenDirection, Values},
};

use crate::{ROOT, is_update};

const HEAD: &str = "\
# The rules

This page lists every kind of difference that `git blue compat` finds, each with two example schemas. A difference breaks
`forwards` if the new schema rejects a value that the old one allows, and `backwards` if the old schema rejects a value that
the new one allows ([compatibility](compatibility.md)). It needs a major version if the contract promises that direction,
and a minor version otherwise.

| rule | breaks | what changed | old | new |
|---|---|---|---|---|
";

const VALUES: &str = "
## Values

The agreed `value` of a contract can change while its schema stays the same. Which version such a change needs depends on what
the contract promises in `values`: `free`, `additive` (the default) or `frozen`. Lists are compared as sets, so their order does
not matter.

| rule | what changed | `free` | `additive` | `frozen` | old | new |
|---|---|---|---|---|---|---|
";

const FLOW: &str = "
## Flow

| rule | what changed | bump |
|---|---|---|
| `flow-reversed` | the side that sends the values (`flow`) became the one that receives them | major |
";

#[test]
fn rule_catalogue_is_current() {
    let mut text = HEAD.to_owned();
    for rule in RULES {
        let breaks = if rule.direction == BrokenDirection::Forwards { "forwards" } else { "backwards" };
        let (old, new) = (rule.old.replace('|', "\\|"), rule.new.replace('|', "\\|"));
        writeln!(text, "| `{}` | {breaks} | {} | `{old}` | `{new}` |", rule.id, rule.text).unwrap();
    }
    text += VALUES;
    for rule in VALUE_RULES {
        let of = |promised| match rule.bump(promised) {
            VersionBump::Major => "major",
            VersionBump::Minor => "minor",
            VersionBump::Patch | VersionBump::Unknown => "patch",
        };
        let [free, additive, frozen] = [Values::Free, Values::Additive, Values::Frozen].map(of);
        let (id, what, old, new) = (rule.id, rule.text, rule.old, rule.new);
        writeln!(text, "| `{id}` | {what} | {free} | {additive} | {frozen} | `{old}` | `{new}` |").unwrap();
    }
    text += FLOW;
    let path = std::path::Path::new(ROOT).join("docs/rules.md");
    if is_update() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/rules.md is stale: UPDATE=1 cargo test --test docs");
}
