//! Hostile file contents.

use serde_json::{Value, json};

use crate::watch::CANARY;

/// A file's content, and its purpose.
pub struct Payload {
    pub name: String,
    pub bytes: Vec<u8>,
}

fn payload(name: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Payload {
    Payload { name: name.into(), bytes: bytes.into() }
}

/// The head of a valid contract.
const HEAD: &str = "name: paths\nversion: \"2.0.0\"\nowner: fungal\n";

/// Bytes that are no document, or that readers parse differently: for any file.
pub fn texts() -> Vec<Payload> {
    let deep = |open: &str, close: &str| format!("value: {}1{}\n", open.repeat(100_000), close.repeat(100_000));
    let aliases: String = (0..60).map(|at| format!("  a{}: &a{0} [*a{at}, *a{at}]\n", at + 1)).collect();
    let indented: String = (1..1_000).map(|at| format!("{}a:\n", " ".repeat(at))).collect();
    let utf16: Vec<u8> = HEAD.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let mut all = vec![
        payload("nothing", ""),
        payload("a line break", "\n"),
        payload("a comment", "# nothing\n"),
        payload("deep lists", deep("[", "]")),
        payload("deep maps", deep("{a: ", "}")),
        payload("deep indentation", format!("value:\n{indented}")),
        payload("unclosed lists", "[".repeat(200_000)),
        payload("unclosed maps", "{".repeat(200_000)),
        payload("doubling aliases", format!("a0: &a0 [x]\nvalue:\n{aliases}")),
        payload("an alias of itself", "value: &a [*a]\n"),
        payload("many values", format!("value: [{}]\n", "1,".repeat(400_000))),
        payload("many keys", (0..50_000).map(|at| format!("k{at}: 1\n")).collect::<String>()),
        payload("a long text", format!("value: \"{}\"\n", "x".repeat(900_000))),
        payload("a large file", vec![b' '; 3 << 20]),
        payload("a large line", vec![b'a'; 1 << 20]),
        payload("a mark of byte order", format!("\u{feff}{HEAD}")),
        payload("two bytes a letter", utf16),
        payload("no text", (0u8..=255).collect::<Vec<_>>()),
        payload("cut text", [HEAD.as_bytes(), b"description: \xe2\x82"].concat()),
        payload("zeros", vec![0; 4_096]),
        payload("a zero", format!("{HEAD}description: \"a\0b\"\n")),
        payload("escapes", format!("{HEAD}description: \"\u{1b}]0;pwned\u{7}\u{1b}[2J\"\n")),
        payload("escapes in a key", "\u{1b}[31mred\u{1b}[0m: 1\n"),
        payload("escapes written out", "name: \"\\e[2J\\a\\b\"\nversion: \"\\x1b[31m\"\nowner: \"\\u202e\"\n"),
        payload("text from right to left", format!("{HEAD}description: \"\u{202e}gnp.exe\u{2066}\"\n")),
        payload("a next line", format!("{HEAD}description: \"a\u{85}b\u{2028}c\"\n")),
        payload("returns alone", HEAD.replace('\n', "\r")),
        payload("tabs", "name:\tpaths\n\tversion: \"1.0.0\"\n"),
        payload("a key twice", format!("{HEAD}owner: mallory\n")),
        payload("a merge key", "<<: {name: paths}\nversion: \"1.0.0\"\n"),
        payload("a tag", format!("{HEAD}value: !!python/object/apply:os.system [\"touch {CANARY}\"]\n")),
        payload("another tag", format!("{HEAD}value: !ruby/object:Gem::Installer {{i: x}}\n")),
        payload("a binary", format!("{HEAD}value: !!binary aGVsbG8=\n")),
        payload("two documents", format!("{HEAD}---\n{HEAD}")),
        payload("a directive", format!("%YAML 9.9\n%TAG ! tag:evil,2026:\n---\n{HEAD}")),
        payload("a key of many parts", "? {a: [b, c]}\n: {d: e}\n"),
        payload("a list", "- name: paths\n"),
        payload("a text", "just a text\n"),
        payload("null", "null\n"),
        payload("a number", "1e999999\n"),
        payload("numbers", format!("{HEAD}value: [.inf, -.inf, .nan, 0x7fffffffffffffffff, 0o777, 1_0, 1e400, 010]\n")),
        payload("words", format!("{HEAD}value: [yes, No, on, OFF, ~, NULL, y]\n")),
        payload("dates", format!("{HEAD}value: [2026-01-01, 12:30:45, 2026-13-45T99:99:99Z]\n")),
        payload("json", "{\"name\": \"paths\", \"name\": \"other\", \"version\": 1.10, \"owner\": []}"),
        payload("json that is cut", "{\"name\": \"paths\", \"version\": \"1.0"),
        payload("a script", format!("#!/bin/sh\ntouch {CANARY}\n")),
        payload(
            "a shell's words",
            format!("name: \"$(touch {CANARY})\"\nversion: \"`touch {CANARY}`\"\nowner: \"; touch {CANARY}\"\n"),
        ),
        payload("a template", "name: \"{{7*7}}${jndi:ldap://x/a}%n%s\"\nversion: \"1.0.0\"\nowner: fungal\n"),
        payload("markup", format!("{HEAD}description: \"<script>alert(1)</script>\"\n")),
        payload("an include", "!include /etc/passwd\n"),
    ];
    for (at, one) in ["[]", "{}", "null", "1", "true", "\"\"", "[[[]]]"].iter().enumerate() {
        let fields = ["name", "version", "owner", "schema", "supported", "deprecated", "evolution", "validation"];
        let text: String = fields.iter().map(|field| format!("{field}: {one}\n")).collect();
        all.push(payload(format!("fields of the wrong type {at}"), text));
    }
    all
}

/// Contracts that are valid except for their schema, or whose value takes long to judge.
pub fn schemas() -> Vec<Payload> {
    let chain = |count: usize, link: &dyn Fn(Value) -> Value| {
        let to = |at: usize| json!({"$ref": format!("#/$defs/x{at}")});
        let mut schema = json!({"$defs": {}, "$ref": "#/$defs/x0"});
        (0..count).for_each(|at| schema["$defs"][format!("x{at}")] = link(to(at + 1)));
        schema["$defs"][format!("x{count}")] = json!({"type": "object"});
        schema
    };
    let many = |count: usize, of: &dyn Fn(usize) -> Value| Value::Array((0..count).map(of).collect());
    let named = |count: usize, of: &dyn Fn(usize) -> (String, Value)| Value::Object((0..count).map(of).collect());
    let deep = (0..50).fold(json!(1), |below, _| json!({"next": below}));
    let next = json!({"properties": {"next": {"$ref": "#"}}, "required": ["next"]});
    let slow = many(500, &|at| json!(format!("{}{at}!", "a".repeat(60))));
    let draft7 = "http://json-schema.org/draft-07/schema#";
    let cases = [
        ("anyOf doubles", chain(30, &|to| json!({"anyOf": [to, to]})), json!(1)),
        ("allOf doubles", chain(60, &|to| json!({"allOf": [to, to]})), json!({})),
        ("oneOf doubles", chain(200, &|to| json!({"oneOf": [to, to]})), json!(1)),
        ("not doubles", chain(40, &|to| json!({"not": to, "if": to, "else": to})), json!(1)),
        ("properties double", chain(40, &|to| json!({"properties": {"a": to, "b": to}})), json!({})),
        (
            "the same property twice",
            chain(40, &|to| json!({"allOf": [{"properties": {"next": to}}, {"properties": {"next": to}}]})),
            deep.clone(),
        ),
        (
            "it doubles inside a circle",
            chain(40, &|to| json!({"anyOf": [to, to], "properties": {"a": {"$ref": "#/$defs/x0"}}})),
            json!(1),
        ),
        (
            "dependentSchemas double",
            chain(40, &|to| json!({"dependentSchemas": {"a": to, "b": to}})),
            json!({"a": 1, "b": 2}),
        ),
        ("ten each", chain(12, &|to| json!({"anyOf": [to, to, to, to, to, to, to, to, to, to]})), json!(1)),
        ("below the limit", chain(14, &|to| json!({"anyOf": [to, to]})), json!(1)),
        (
            "below the limit, many values",
            json!({"items": chain(9, &|to| json!({"anyOf": [to, to]}))}),
            many(500, &|at| json!(at)),
        ),
        ("a long chain", chain(1_000, &|to| to), json!(1)),
        ("a chain of items", chain(1_000, &|to| json!({"items": to})), json!([[[]]])),
        ("it is itself", json!({"$ref": "#"}), json!(1)),
        (
            "two are each other",
            json!({"$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}, "$ref": "#/$defs/a"}),
            json!(1),
        ),
        (
            "many are each other",
            json!({"$defs": named(14, &|at| (format!("x{at}"), json!({"anyOf": many(14, &|to| json!({"$ref": format!("#/$defs/x{to}")}))}))), "$ref": "#/$defs/x0"}),
            json!(1),
        ),
        ("recursion in a deep value", json!({"oneOf": [next, next, {"type": "string"}]}), deep.clone()),
        ("recursion that collects", json!({"allOf": [next, next], "unevaluatedProperties": false}), deep),
        (
            "dynamic recursion",
            json!({"$dynamicAnchor": "n", "anyOf": [{"properties": {"next": {"$dynamicRef": "#n"}}}, {"properties": {"next": {"$dynamicRef": "#n"}}}]}),
            json!({"next": {"next": 1}}),
        ),
        (
            "resources in resources",
            named(30, &|at| {
                (
                    ["$id", "$defs"][usize::from(at > 0)].to_owned(),
                    if at == 0 { json!("http://x/") } else { json!({"a": {"$id": "a/", "$ref": "b"}}) },
                )
            }),
            json!(1),
        ),
        ("a file", json!({"$ref": "file:///etc/passwd"}), json!(1)),
        ("a network", json!({"$ref": "http://127.0.0.1:1/schema.json"}), json!(1)),
        ("a fifo", json!({"$ref": "file:///dev/stdin"}), json!(1)),
        (
            "an unknown dialect",
            json!({"$schema": "https://evil.example/meta", "$vocabulary": {"https://evil.example/v": true}}),
            json!(1),
        ),
        ("a slow pattern", json!({"items": {"pattern": "^(a+)+\\1$"}}), slow.clone()),
        ("a slow pattern looked ahead", json!({"items": {"pattern": "^(?=(a+)+$)(a|a)*$"}}), slow.clone()),
        ("a large pattern", json!({"pattern": "((a{1000}){1000}){1000}"}), json!("a")),
        (
            "many large patterns",
            json!({"anyOf": many(2_000, &|at| json!({"pattern": format!("\\w{{500}}{at}")}))}),
            json!("a"),
        ),
        ("a deep pattern", json!({"pattern": "(".repeat(20_000)}), json!("a")),
        (
            "patterns of properties",
            json!({"patternProperties": named(500, &|at| (format!("(?=a)x{at}"), json!(true)))}),
            named(3_000, &|at| (format!("p{at}"), json!(1))),
        ),
        (
            "a long enum",
            json!({"items": {"enum": many(1_500, &|at| json!(["x", at]))}}),
            many(500, &|at| json!(["x", at + 9_000])),
        ),
        ("unique values", json!({"uniqueItems": true}), many(1_500, &|at| json!({"a": [at]}))),
        (
            "large numbers",
            json!({"minItems": 1e300, "maxLength": 1e308, "multipleOf": 1e-300, "minimum": -1e308}),
            json!([1e300, 1e-300]),
        ),
        ("everything fails", json!({"items": {"type": "string"}}), many(3_000, &|at| json!(at))),
        (
            "nothing is contained",
            json!({"contains": {"type": "string"}, "minContains": 1_000_000}),
            many(2_000, &|at| json!(at)),
        ),
        (
            "formats",
            json!({"$schema": draft7, "items": {"anyOf": [{"format": "email"}, {"format": "regex"}, {"format": "iri"}, {"format": "date-time"}]}}),
            slow,
        ),
        (
            "encodings",
            json!({"$schema": draft7, "contentEncoding": "base64", "contentMediaType": "application/json"}),
            json!("e30=".repeat(10_000)),
        ),
        (
            "deep in one another",
            (0..55).fold(json!({"type": "string"}), |below, _| json!({"allOf": [below]})),
            json!(1),
        ),
        (
            "keywords that are none",
            json!({"properties": 1, "items": "x", "enum": {}, "$defs": [], "required": 5}),
            json!(1),
        ),
        ("references that are none", json!({"$ref": 5, "$dynamicRef": [], "$id": {}, "$anchor": 1}), json!(1)),
        (
            "odd references",
            json!({"allOf": [{"$ref": "#/%"}, {"$ref": "##"}, {"$ref": "#/~2"}, {"$ref": ""}, {"$ref": "?x#y"}]}),
            json!(1),
        ),
    ];
    let text = |schema: &Value, value: &Value| {
        json!({"name": "paths", "version": "2.0.0", "owner": "fungal", "schema": schema, "value": value}).to_string()
    };
    cases.iter().map(|(name, schema, value)| payload(*name, text(schema, value))).collect()
}

/// Names that escape a folder, or mean something to a shell, git or a terminal.
pub fn names() -> Vec<String> {
    let long = "a".repeat(300);
    let fixed = [
        "../../x",
        "-x",
        "--upload-pack=x",
        "a..b",
        "a.lock",
        "a b",
        "a\u{202e}b",
        "\u{430}",
        ".git",
        "CON",
        "a/b/c",
        "@{u}",
        "*",
        "~",
        "$(touch canary)",
        "|touch canary",
        "a\\b",
        "\u{1b}[2J",
    ];
    fixed.into_iter().chain([&*long]).map(str::to_owned).collect()
}

/// URLs that run something, or lead to unwanted places.
pub const URLS: [&str; 16] = [
    "ext::sh -c touch% canary",
    "--upload-pack=touch canary",
    "-oProxyCommand=touch canary",
    "ssh://-oProxyCommand=touch/x",
    "ssh://host/$(touch canary)",
    "fd::3",
    "file:///dev/zero",
    "git://127.0.0.1:1/x",
    "http://127.0.0.1:1/x",
    "https://user:secret@127.0.0.1:1/x",
    "javascript:alert(1)",
    "-",
    "\u{1b}[31m://x",
    "host:`touch canary`",
    "../../../etc",
    "transport::address",
];

/// Files of `.blue/` with such a realm, repository or URL.
pub fn configs() -> Vec<Payload> {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let urls = URLS.iter().map(|url| {
        payload(format!("url {url:?}"), format!("realm: {{ name: aperture, url: {} }}\nrepo: fungal\n", quoted(url)))
    });
    let named = names();
    let realms = named.iter().map(|name| {
        payload(format!("realm {name:.20?}"), format!("realm: {{ name: {} }}\nrepo: fungal\n", quoted(name)))
    });
    let repos = named.iter().map(|name| {
        payload(format!("repo {name:.20?}"), format!("realm: {{ name: aperture }}\nrepo: {}\n", quoted(name)))
    });
    urls.chain(realms).chain(repos).collect()
}

/// Returns contracts and bindings with such names.
pub fn named() -> (Vec<Payload>, Vec<Payload>) {
    let quoted = |text: &str| serde_json::to_string(text).unwrap();
    let (mut contracts, mut bindings) = (Vec::new(), Vec::new());
    for name in names() {
        let quoted = quoted(&name);
        contracts
            .push(payload(format!("owner {name:.20?}"), format!("name: paths\nversion: \"2.0.0\"\nowner: {quoted}\n")));
        let text = format!(
            "role: both\nexports: [{{ contract: paths, source_files: [{quoted}] }}]\n\
             imports: [{{ contract: paths, version: \"*\", binding: {quoted} }}]\n"
        );
        bindings.push(payload(format!("file {name:.20?}"), text));
    }
    (contracts, bindings)
}
