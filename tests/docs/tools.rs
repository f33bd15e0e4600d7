//! The list of tools in `docs/mcp.md` is generated from the server's answer.

use std::fmt::Write as _;

use git_blue::{env::Env, surface::mcp};
use serde_json::{Value, json};

use crate::check_section;

#[test]
fn tool_list_is_current() {
    let options = mcp::Options { all_realms: true, ..mcp::Options::default() };
    let listed = mcp::ask(&Env::isolated("/", []), &options, "tools/list", &json!({})).unwrap();
    let mut text = String::new();
    for tool in listed["tools"].as_array().unwrap() {
        write(tool, &mut text);
    }
    check_section("docs/mcp.md", "tools", &text);
}

fn write(tool: &Value, text: &mut String) {
    let name = tool["name"].as_str().unwrap();
    write!(text, "\n### `{name}`\n\n{}\n\n", tool["description"].as_str().unwrap()).unwrap();
    text.push_str("| argument | | |\n|---|---|---|\n");
    let input = mcp::input(name).unwrap();
    let required = input.get("required").and_then(Value::as_array).cloned().unwrap_or_default();
    for (argument, schema) in input["properties"].as_object().unwrap() {
        let words = schema["enum"].as_array().map(|words| {
            words.iter().map(|word| format!("`{}`", word.as_str().unwrap())).collect::<Vec<_>>().join(", ")
        });
        let kind = words.unwrap_or_else(|| schema["type"].as_str().unwrap_or("any JSON").to_owned());
        let need = if required.contains(&json!(argument)) { ", required" } else { "" };
        writeln!(text, "| `{argument}` | {kind}{need} | {} |", schema["description"].as_str().unwrap_or_default())
            .unwrap();
    }
    let fields: Vec<_> =
        tool["outputSchema"]["properties"].as_object().unwrap().keys().map(|field| format!("`{field}`")).collect();
    let concise = input["properties"].get("detail").map_or("", |_| " of `detail: full`; `concise` leaves out fields");
    let link = format!("[its whole schema](schema/{name}.json){concise}");
    write!(text, "\nAnswers with {}; {link}.\n\n", fields.join(", ")).unwrap();
}
