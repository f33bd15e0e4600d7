//! Which folder of `src/` may use which: the table of `docs/architecture.md`.

use std::path::{Path, PathBuf};

/// A part of the sources, and the parts that it may use besides itself.
const TABLE: &[(&str, &[&str])] = &[
    ("lib", &[]),
    ("main", &["app", "surface", "env"]),
    ("app", &["env", "error", "forge", "machine", "model", "ops", "repo", "store", "surface", "wire"]),
    ("env", &[]),
    ("model", &[]),
    ("store", &["model"]),
    ("repo", &["model", "store"]),
    ("machine", &["model", "store"]),
    ("wire", &["model"]),
    ("forge", &["model"]),
    ("ops", &["model", "store", "repo", "machine", "forge", "wire", "env", "error"]),
    ("error", &["model", "store"]),
    ("surface", &["app", "ops", "wire", "model", "error", "env"]),
    ("testing", &["app", "env", "error", "forge", "machine", "model", "ops", "repo", "store", "surface", "wire"]),
];

/// What a single file may use beyond the table, and why.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("wire/mod", "error", "a failure is an answer too"),
    ("surface/cli/admin", "store", "schemas and values are files that its user names"),
    ("surface/cli/contract", "store", "documents are read from and shown as YAML"),
];

/// Returns every source file below a folder, sorted.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => found.extend(sources(&path)),
            path if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            _ => {}
        }
    }
    found.sort();
    found
}

/// Returns the line and the part of each path `crate::part…` in a source text, also of those in
/// braces: `use crate::{part, other::Item}`. What is below `#[cfg(test)]` may use anything.
fn used(text: &str) -> Vec<(usize, String)> {
    let code = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or_default();
    let lines = code.lines().map(|line| if line.trim_start().starts_with("//") { "" } else { line });
    let code = lines.collect::<Vec<_>>().join("\n");
    let mut found = Vec::new();
    for root in ["crate::", "git_blue::"] {
        for (at, _) in code.match_indices(root) {
            let line = code[..at].matches('\n').count() + 1;
            let rest = &code[at + root.len()..];
            match rest.strip_prefix('{') {
                Some(group) => found.extend(grouped(group).into_iter().map(|(below, part)| (line + below, part))),
                None => found.push((line, word(rest))),
            }
        }
    }
    found
}

/// Returns the first word of each member of a group, up to its closing brace.
fn grouped(text: &str) -> Vec<(usize, String)> {
    let (mut depth, mut line, mut is_start) = (0, 0, true);
    let mut found = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => is_start = true,
            '\n' => line += 1,
            c if is_start && c.is_alphanumeric() => {
                found.push((line, word(&text[at..])));
                is_start = false;
            }
            _ => {}
        }
    }
    found
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn every_part_uses_what_it_may() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    let mut unneeded: Vec<_> = EXCEPTIONS.iter().collect();
    for path in sources(&src) {
        let relative = path.strip_prefix(&src).unwrap().with_extension("").display().to_string();
        let part = relative.split('/').next().unwrap();
        let Some((_, may)) = TABLE.iter().find(|(name, _)| *name == part) else {
            wrong.push(format!("src/{relative}.rs: {part} is not in the table"));
            continue;
        };
        for (line, target) in used(&std::fs::read_to_string(&path).unwrap()) {
            let is_part = TABLE.iter().any(|(name, _)| *name == target);
            if !is_part || target == part || may.contains(&target.as_str()) {
                continue;
            }
            let before = unneeded.len();
            unneeded.retain(|(file, used, _)| (*file, *used) != (&*relative, &*target));
            let is_excepted = EXCEPTIONS.iter().any(|(file, used, _)| (*file, *used) == (&*relative, &*target));
            if before == unneeded.len() && !is_excepted {
                wrong.push(format!("src/{relative}.rs:{line}: {part} uses {target}"));
            }
        }
    }
    wrong.extend(unneeded.iter().map(|(file, used, _)| format!("src/{file}.rs: needs no exception for {used}")));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn paths_are_found_wherever_they_stand() {
    let text = "use crate::a;\n// crate::no\nuse crate::{\n    b::{x, y},\n    c,\n};\nfn f(_: crate::d::E) {}\n";
    let text = format!("{text}\n#[cfg(test)]\nmod tests {{ use crate::late; }}\n");
    let found: Vec<_> = used(&text).into_iter().map(|(line, part)| format!("{line}{part}")).collect();
    assert_eq!(found, ["1a", "4b", "5c", "7d"]);
}
