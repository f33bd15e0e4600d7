//! The layers of `docs/architecture.md`: which part of `src/` may use which, who may use gix, and that files do not
//! depend on each other in cycles.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use proc_macro2::{TokenStream, TokenTree};
use syn::{Item, UseTree, visit::Visit};

/// A part of the sources, and the other parts that it may use.
const TABLE: &[(&str, &[&str])] = &[
    ("lib", &[]),
    ("library", &["env", "error", "locate", "model", "ops", "wire"]),
    ("types", &["model"]),
    ("main", &["surface"]),
    ("platform", &[]),
    ("env", &["platform"]),
    ("model", &[]),
    ("store", &["model", "platform"]),
    ("repo", &["error", "model", "platform", "store"]),
    ("machine", &["model", "platform", "store"]),
    ("forge", &["model", "platform"]),
    ("wire", &["model"]),
    ("error", &["model", "store"]),
    ("locate", &["env", "error", "machine", "model", "platform", "repo", "store"]),
    ("ops", &["env", "error", "forge", "locate", "machine", "model", "platform", "repo", "store", "wire"]),
    ("surface", &["env", "error", "locate", "machine", "model", "ops", "platform", "repo", "wire"]),
    (
        "testing",
        &["env", "error", "forge", "locate", "machine", "model", "ops", "platform", "repo", "store", "surface", "wire"],
    ),
];

/// Exceptions of single files, with the reason.
const EXCEPTIONS: &[(&str, &str, &str)] = &[
    ("wire/mod", "error", "a failure is an answer too"),
    ("surface/cli/input", "store", "schemas and values are files that its user names"),
    ("surface/cli/contract", "store", "documents are read from and shown as YAML"),
];

/// The parts that may use gix.
const GIX: &[&str] = &["store/git/", "repo/", "machine/"];

/// Platform-specific crates.
const OF_ONE_SYSTEM: &[&str] = &["gix_path", "gix_sec", "gix_validate", "rustix", "win32job", "winapi_util"];

/// Words of `cfg` that select the system.
const ASKS_FOR_SYSTEM: &[&str] = &["target_os", "target_family", "unix", "windows"];

/// The files that may use the crates of a feature in `Cargo.toml`. None of them is compiled without that feature.
const FEATURES: &[(&str, &[&str])] = &[
    ("cli", &["main", "surface/", "model/json_text", "ops/operation", "platform/terminal"]),
    ("forge", &["forge/client", "forge/api", "forge/pages", "forge/redirect", "forge/webhook"]),
];

/// Accepted cycles, with the reason. Each is the set of its files.
const CYCLES: &[(&[&str], &str)] = &[(
    &[
        "model/compatibility/prove/engine",
        "model/compatibility/prove/flatten",
        "model/compatibility/prove/naming",
        "model/compatibility/prove/summary",
    ],
    "to prove needs alternatives, and which alternatives are empty needs a proof: one recursion in four files",
)];

/// A path in a source file: `crate`, `super`, `self` or a crate, and the rest.
type Used = Vec<String>;

/// Collects the paths of a file, except in its tests.
#[derive(Default)]
struct Paths(Vec<Used>);

impl Paths {
    fn of(text: &str) -> Vec<Used> {
        let mut paths = Self::default();
        paths.visit_file(&syn::parse_file(text).unwrap());
        paths.0
    }

    fn tree(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: String| [before, &[name]].concat();
        match tree {
            UseTree::Path(path) => self.tree(&path.tree, &with(path.ident.to_string())),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.tree(tree, before)),
            UseTree::Name(name) => self.0.push(with(name.ident.to_string())),
            UseTree::Rename(name) => self.0.push(with(name.ident.to_string())),
            UseTree::Glob(_) => self.0.push(before.to_vec()),
        }
    }

    /// Finds the paths in the tokens of a macro call.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut path: Used = Vec::new();
        let mut colons = 0;
        for token in tokens {
            match token {
                TokenTree::Ident(ident) if colons == 2 && !path.is_empty() => {
                    path.push(ident.to_string());
                    colons = 0;
                    continue;
                }
                TokenTree::Punct(punct) if punct.as_char() == ':' && !path.is_empty() => {
                    colons += 1;
                    continue;
                }
                other => {
                    self.0.extend((path.len() > 1).then(|| std::mem::take(&mut path)));
                    (path, colons) = (Vec::new(), 0);
                    match other {
                        TokenTree::Group(group) => self.tokens(group.stream()),
                        TokenTree::Ident(ident) => path = vec![ident.to_string()],
                        _ => {}
                    }
                }
            }
        }
        self.0.extend((path.len() > 1).then_some(path));
    }
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item(&mut self, item: &'ast Item) {
        let is_test = |module: &syn::ItemMod| module.content.is_some() && module.ident == "tests";
        match item {
            Item::Mod(module) if is_test(module) => {}
            _ => syn::visit::visit_item(self, item),
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        self.tokens(call.tokens.clone());
    }
}

/// Returns all source files below a folder, sorted.
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

/// Returns the sources: the name of each file below `src/` without `.rs`, with the paths that it uses.
fn uses() -> BTreeMap<String, Vec<Used>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let name = |path: &Path| path.strip_prefix(&src).unwrap().with_extension("").display().to_string();
    let read = |path: PathBuf| (name(&path), Paths::of(&std::fs::read_to_string(&path).unwrap()));
    sources(&src).into_iter().map(read).collect()
}

/// Returns the module path of a file.
fn module(file: &str) -> Vec<String> {
    let file = file.strip_suffix("/mod").unwrap_or(file);
    if file == "lib" { Vec::new() } else { file.split('/').map(str::to_owned).collect() }
}

/// Returns a path from the root of the crate, or `None` if it leads elsewhere.
fn absolute(path: &[String], from: &[String]) -> Option<Vec<String>> {
    let ups = path.iter().take_while(|part| *part == "super").count();
    match path.first()?.as_str() {
        "crate" | "git_blue" => Some(path[1..].to_vec()),
        "self" => Some([from, &path[1..]].concat()),
        "super" => Some([from.get(..from.len().checked_sub(ups)?)?, &path[ups..]].concat()),
        _ => None,
    }
}

#[test]
fn layers_use_only_what_the_table_allows() {
    let mut wrong = Vec::new();
    let mut unneeded: Vec<_> = EXCEPTIONS.iter().collect();
    for (file, paths) in uses() {
        let part = file.split('/').next().unwrap();
        let Some((_, may)) = TABLE.iter().find(|(name, _)| *name == part) else {
            wrong.push(format!("src/{file}.rs: {part} is not in the table"));
            continue;
        };
        for path in paths {
            let Some(target) = absolute(&path, &module(&file)).and_then(|path| path.first().cloned()) else { continue };
            let is_part = TABLE.iter().any(|(name, _)| *name == target);
            if !is_part || target == part || may.contains(&target.as_str()) {
                continue;
            }
            unneeded.retain(|(file_, used, _)| (*file_, *used) != (&*file, &*target));
            if !EXCEPTIONS.iter().any(|(file_, used, _)| (*file_, *used) == (&*file, &*target)) {
                wrong.push(format!("src/{file}.rs: {part} uses {target} ({})", path.join("::")));
            }
        }
    }
    wrong.extend(unneeded.iter().map(|(file, used, _)| format!("src/{file}.rs: needs no exception for {used}")));
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn only_some_folders_use_gix() {
    let is_gix = |path: &Used| path.first().is_some_and(|first| first == "gix");
    let may = |file: &str| GIX.iter().any(|part| file.starts_with(part));
    let wrong: Vec<_> = uses().into_iter().filter(|(file, paths)| paths.iter().any(is_gix) && !may(file)).collect();
    assert!(wrong.is_empty(), "{:?}", wrong.iter().map(|(file, _)| file).collect::<Vec<_>>());
}

/// Returns whether a path is platform-specific.
fn is_of_one_system(path: &Used) -> bool {
    let words: Vec<_> = path.iter().map(String::as_str).collect();
    match words[..] {
        ["std", "os", ..] | ["tokio", "signal", "unix" | "windows", ..] => true,
        [first, ..] => OF_ONE_SYSTEM.contains(&first),
        [] => false,
    }
}

#[test]
fn only_platform_uses_system_crates() {
    let used = uses().into_iter().flat_map(|(file, paths)| paths.into_iter().map(move |path| (file.clone(), path)));
    let (inside, outside): (Vec<_>, Vec<_>) =
        used.filter(|(_, path)| is_of_one_system(path)).partition(|(file, _)| file.starts_with("platform/"));
    assert!(outside.is_empty(), "{outside:?}");
    for name in OF_ONE_SYSTEM {
        assert!(inside.iter().any(|(_, path)| path[0] == *name), "nothing uses {name}");
    }
}

/// Returns the words within each `cfg(…)`, `cfg!(…)` and `cfg_attr(…)` of a text.
fn conditions(text: &str) -> impl Iterator<Item = &str> {
    let after =
        text.match_indices("cfg").map(|(at, _)| text[at + 3..].trim_start_matches("_attr").trim_start_matches('!'));
    let inside = after.filter_map(|rest| rest.strip_prefix('(')?.split(['\n', ']', '{']).next());
    inside.flat_map(|condition| condition.split(|c: char| !c.is_alphanumeric() && c != '_'))
}

#[test]
fn only_platform_uses_cfg_for_the_system() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let asks = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).unwrap();
        conditions(&text).any(|word| ASKS_FOR_SYSTEM.contains(&word))
    };
    let (inside, outside): (Vec<_>, Vec<_>) =
        sources(&src).into_iter().filter(asks).partition(|path| path.starts_with(src.join("platform")));
    assert!(outside.is_empty(), "{outside:?}");
    assert!(inside.len() > 5, "{inside:?}");
}

/// Returns the crates of a feature in `Cargo.toml`, by their Rust names.
fn crates(manifest: &str, feature: &str) -> Vec<String> {
    let (_, list) = manifest.split_once(&format!("\n{feature} = [")).unwrap();
    let list = list.split(']').next().unwrap();
    list.split('"').filter_map(|item| item.strip_prefix("dep:")).map(|name| name.replace('-', "_")).collect()
}

#[test]
fn feature_crates_are_used_behind_their_feature() {
    let manifest = include_str!("../Cargo.toml");
    let uses = uses();
    for (feature, places) in FEATURES {
        let mut unused = crates(manifest, feature);
        let all = unused.clone();
        for (file, paths) in &uses {
            let used: Vec<_> =
                all.iter().filter(|name| paths.iter().any(|path| path.len() > 1 && path[0] == **name)).collect();
            let may = places.iter().any(|place| file.starts_with(place));
            assert!(may || used.is_empty(), "src/{file}.rs: {used:?} are there with {feature} only");
            unused.retain(|name| !used.contains(&name));
        }
        assert!(unused.is_empty(), "{feature}: nothing uses {unused:?}");
    }
}

/// A folder's `mod.rs` re-exports its files, which does not count as a dependency.
#[test]
fn files_do_not_depend_on_each_other_in_cycles() {
    let uses = uses();
    let files: BTreeMap<_, _> = uses.keys().map(|file| (module(file), file.as_str())).collect();
    let arrows = uses.iter().map(|(file, paths)| {
        let own = module(file);
        let target = |path: &Used| {
            let mut path = absolute(path, &own)?;
            while !files.contains_key(&path) {
                path.pop()?;
            }
            let is_behind = path.starts_with(&own) && path != own;
            (!path.is_empty() && !is_behind).then(|| files[&path])
        };
        (file.as_str(), paths.iter().filter_map(target).filter(|target| target != file).collect::<BTreeSet<_>>())
    });
    let arrows: BTreeMap<_, _> = arrows.collect();
    let mut found = cycles(&arrows);
    for (cycle, why) in CYCLES {
        let before = found.len();
        found.retain(|found| found != cycle);
        assert!(found.len() < before, "no such cycle any more: {cycle:?} ({why})");
    }
    assert!(found.is_empty(), "\n{}", found.iter().map(|cycle| cycle.join(" ")).collect::<Vec<_>>().join("\n"));
}

/// Returns the sets of files that reach each other, sorted.
fn cycles<'a>(arrows: &BTreeMap<&'a str, BTreeSet<&'a str>>) -> Vec<Vec<&'a str>> {
    let reached = |from: &'a str| {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(file) = next.pop() {
            next.extend(arrows[file].iter().filter(|target| seen.insert(**target)));
        }
        seen
    };
    let reach: BTreeMap<_, _> = arrows.keys().map(|file| (*file, reached(file))).collect();
    let of = |file: &'a str| reach[file].iter().copied().filter(|other| reach[other].contains(file)).collect();
    let all: BTreeSet<Vec<_>> = arrows.keys().map(|file| of(file)).filter(|cycle: &Vec<_>| cycle.len() > 1).collect();
    all.into_iter().collect()
}

#[test]
fn finds_paths_in_all_positions() {
    let text = "use crate::a;\n// crate::no\nuse crate::{\n    b::{x, y},\n    c,\n};\nfn f(_: crate::d::E) { m!(g(crate::h::I)) }\n";
    let text = format!("{text}\n#[cfg(test)]\nmod tests {{ use crate::late; }}\n");
    let of_crate = |path: Used| (path[0] == "crate").then(|| path[1].clone());
    let found: Vec<_> = Paths::of(&text).into_iter().filter_map(of_crate).collect();
    assert_eq!(found, ["a", "b", "b", "c", "d", "h"]);
}

#[test]
fn finds_a_cycle() {
    let arrows = [("a", vec!["b"]), ("b", vec!["c", "d"]), ("c", vec!["a"]), ("d", vec![])];
    let arrows = arrows.into_iter().map(|(file, to)| (file, to.into_iter().collect())).collect();
    assert_eq!(cycles(&arrows), [["a", "b", "c"]]);
}
