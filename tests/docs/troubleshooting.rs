//! `docs/troubleshooting.md` has an entry for every code in the sources, and no others.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use proc_macro2::TokenTree;
use syn::{
    Expr, Lit,
    visit::{self, Visit},
};

use crate::ROOT;

/// Functions whose first argument is a code.
const NAMING: [&str; 5] = ["error", "warning", "problem", "no", "cannot"];

/// The codes that were collected.
#[derive(Default)]
struct Codes(BTreeSet<String>);

impl Codes {
    fn add(&mut self, text: &str) {
        let is_code = !text.is_empty()
            && text.split('-').all(|word| !word.is_empty())
            && text.chars().all(|c| c.is_ascii_lowercase() || c == '-');
        if is_code {
            self.0.insert(text.to_owned());
        }
    }

    /// Adds a literal, also one with a conversion.
    fn add_expression(&mut self, expression: &Expr) {
        match expression {
            Expr::Lit(literal) => {
                if let Lit::Str(text) = &literal.lit {
                    self.add(&text.value());
                }
            }
            Expr::MethodCall(call) => self.add_expression(&call.receiver),
            _ => {}
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|one| {
        one.path().is_ident("cfg") && one.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
    })
}

impl<'a> Visit<'a> for Codes {
    fn visit_item_mod(&mut self, module: &'a syn::ItemMod) {
        if !is_test(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_expr_call(&mut self, call: &'a syn::ExprCall) {
        if let (Expr::Path(function), Some(first)) = (&*call.func, call.args.first())
            && function.path.segments.last().is_some_and(|last| NAMING.iter().any(|name| last.ident == name))
        {
            self.add_expression(first);
        }
        visit::visit_expr_call(self, call);
    }

    fn visit_expr_method_call(&mut self, call: &'a syn::ExprMethodCall) {
        if let (true, Some(first)) = (call.method == "coded", call.args.first()) {
            self.add_expression(first);
        }
        visit::visit_expr_method_call(self, call);
    }

    fn visit_field_value(&mut self, field: &'a syn::FieldValue) {
        if matches!(&field.member, syn::Member::Named(name) if name == "code") {
            self.add_expression(&field.expr);
        }
        visit::visit_field_value(self, field);
    }

    /// In `fn code(&self)`, each arm is a code.
    fn visit_impl_item_fn(&mut self, function: &'a syn::ImplItemFn) {
        if function.sig.ident == "code" {
            let mut arms = Arms::default();
            arms.visit_impl_item_fn(function);
            arms.0.iter().for_each(|text| self.add(text));
        }
        visit::visit_impl_item_fn(self, function);
    }

    /// The table of codes, in a macro of that name: `Name = "code",`.
    fn visit_macro(&mut self, call: &'a syn::Macro) {
        if call.path.is_ident("codes") {
            let tokens: Vec<_> = call.tokens.clone().into_iter().collect();
            for pair in tokens.windows(2) {
                let [TokenTree::Punct(equals), TokenTree::Literal(text)] = pair else { continue };
                if equals.as_char() == '=' {
                    self.add(text.to_string().trim_matches('"'));
                }
            }
        }
    }
}

#[derive(Default)]
struct Arms(Vec<String>);

impl<'a> Visit<'a> for Arms {
    fn visit_arm(&mut self, arm: &'a syn::Arm) {
        if let Expr::Lit(literal) = &*arm.body
            && let Lit::Str(text) = &literal.lit
        {
            self.0.push(text.value());
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in folder.read_dir().unwrap().map(Result::unwrap) {
        match entry.path() {
            path if path.is_dir() => sources(&path, found),
            path if path.extension().is_some_and(|extension| extension == "rs") => found.push(path),
            _ => {}
        }
    }
}

#[test]
fn every_code_has_an_entry() {
    let mut files = Vec::new();
    sources(&Path::new(ROOT).join("src"), &mut files);
    let mut codes = Codes::default();
    for file in files.iter().filter(|file| !file.ends_with("tests.rs") && !file.iter().any(|part| part == "testing")) {
        codes.visit_file(&syn::parse_file(&std::fs::read_to_string(file).unwrap()).unwrap());
    }
    let text = std::fs::read_to_string(Path::new(ROOT).join("docs/troubleshooting.md")).unwrap();
    let entries: BTreeSet<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` |"))
        .map(|(code, _)| code.to_owned())
        .collect();
    let missing: Vec<_> = codes.0.difference(&entries).collect();
    assert!(missing.is_empty(), "docs/troubleshooting.md does not say what to do about {missing:?}");
    for line in text.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<_> = line.replace("\\|", " ").split('|').map(|cell| cell.trim().to_owned()).collect();
        assert!(cells.len() == 5 && cells[2].ends_with('.') && cells[3].ends_with('.'), "{line}");
    }
    let sources: String = files.iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    let gone: Vec<_> = entries.iter().filter(|code| !sources.contains(&format!("\"{code}\""))).collect();
    assert!(gone.is_empty(), "docs/troubleshooting.md speaks of codes that are gone: {gone:?}");
}
