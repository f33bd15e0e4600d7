//! A schema document: its drafts, its base URIs, and the targets of its references.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Draft, Tree, subschemas, uri};
use crate::model::percent;

/// The base of a sub-schema, which determines the meaning of its relative references and keywords.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Context {
    /// The URI that relative references are resolved against; empty if there is none.
    pub base: String,
    /// The draft that defines its keywords.
    pub draft: Draft,
}

impl Context {
    /// Returns the context within `schema`, which may set its own base or draft.
    #[must_use]
    pub fn within(&self, schema: Tree<'_>) -> Self {
        let draft = schema.get("$schema").and_then(Tree::as_str).and_then(Draft::of).unwrap_or(self.draft);
        let hides_siblings = draft <= Draft::D7 && schema.get("$ref").is_some_and(|to| to.as_str().is_some());
        let id = schema.get(draft.id()).and_then(Tree::as_str).filter(|_| !hides_siblings);
        let base = match id.map(|id| uri::split(id).0) {
            Some(id) if !id.is_empty() => uri::join(&self.base, id),
            _ => self.base.clone(),
        };
        Self { base, draft }
    }
}

/// A document and the names that it gives to its parts.
#[derive(Debug)]
pub struct Document<'a> {
    /// The root of the document.
    pub root: Tree<'a>,
    /// The context within the root.
    pub context: Context,
    ids: HashMap<String, String>,
    anchors: HashMap<(String, String), String>,
    /// The dynamic anchors by name, each with the pointer to it by the base of its resource.
    dynamic: HashMap<String, HashMap<String, String>>,
    /// The dynamic anchors of the root's own resource, which every dynamic scope begins with.
    outermost: HashMap<String, String>,
    /// The resources with a recursive anchor, by base.
    recursive: HashMap<String, String>,
    resources: usize,
    /// The only resource with a dynamic anchor that the root leads to without passing another one, by name of the
    /// anchor. The empty name stands for recursive anchors.
    entries: HashMap<String, String>,
}

/// The reason why a reference is not resolved.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unresolved {
    /// The target depends on the path by which the reference is reached.
    Dynamic,
    /// The target does not exist in this document.
    Missing,
}

impl<'a> Document<'a> {
    /// Reads the names that a document gives to its parts.
    pub fn new(root: Tree<'a>) -> Self {
        let outer = Context { base: String::new(), draft: Draft::D2020 };
        let context = outer.within(root);
        let mut document = Self {
            root,
            context: context.clone(),
            ids: HashMap::from([(String::new(), String::new()), (context.base.clone(), String::new())]),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
            outermost: HashMap::new(),
            recursive: HashMap::new(),
            resources: 1,
            entries: HashMap::new(),
        };
        let outer = Context { base: String::new(), draft: context.draft };
        let mut waiting = vec![(root, String::new(), outer)];
        while let Some((tree, pointer, context)) = waiting.pop() {
            document.read(tree, &pointer, &context, &mut waiting);
        }
        document.entries = document.entries();
        document
    }

    fn read(&mut self, tree: Tree<'a>, pointer: &str, outer: &Context, waiting: &mut Vec<(Tree<'a>, String, Context)>) {
        let items = tree.items().enumerate().filter(|(_, item)| item.has_names());
        waiting.extend(items.map(|(n, item)| (item, format!("{pointer}/{n}"), outer.clone())));
        if !tree.is_object() {
            return;
        }
        let context = outer.within(tree);
        self.name(tree, pointer, &context, context.base != outer.base);
        for (name, member) in tree.members() {
            if member.has_names() && !matches!(name, "enum" | "const" | "default" | "examples") {
                waiting.push((member, format!("{pointer}{}", uri::step(name)), context.clone()));
            }
        }
    }

    fn name(&mut self, tree: Tree<'a>, pointer: &str, context: &Context, is_new_base: bool) {
        if is_new_base && !pointer.is_empty() {
            self.ids.entry(context.base.clone()).or_insert_with(|| pointer.to_owned());
            self.resources += 1;
        }
        let mut anchor = |name: &str| {
            self.anchors.entry((context.base.clone(), name.to_owned())).or_insert_with(|| pointer.to_owned());
        };
        if context.draft <= Draft::D7 {
            let id = tree.get(context.draft.id()).and_then(Tree::as_str);
            if let Some((_, Some(name))) = id.map(uri::split) {
                anchor(name);
            }
            return;
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = tree.get(keyword).and_then(Tree::as_str) {
                anchor(name);
            }
        }
        if let Some(name) = tree.get("$dynamicAnchor").and_then(Tree::as_str) {
            self.dynamic.entry(name.to_owned()).or_default().insert(context.base.clone(), pointer.to_owned());
            if context.base == self.context.base {
                self.outermost.insert(name.to_owned(), pointer.to_owned());
            }
        }
        if has_recursive_anchor(tree) && (is_new_base || pointer.is_empty()) {
            self.recursive.insert(context.base.clone(), pointer.to_owned());
        }
    }

    fn entries(&self) -> HashMap<String, String> {
        let mut found = HashMap::new();
        let several =
            self.dynamic.iter().filter(|(name, places)| places.len() > 1 && !self.outermost.contains_key(*name));
        for (name, places) in several {
            if let [entry] = &self.reached(self.root, &|base| places.contains_key(base))[..] {
                found.insert(name.clone(), places[entry].clone());
            }
        }
        let is_recursive = |base: &str| self.recursive.contains_key(base);
        if self.recursive.len() > 1
            && let [entry] = &self.reached(self.root, &is_recursive)[..]
            && let Some(root) = self.root.pointer(&self.recursive[entry])
            // A resource without the anchor would end the search for the outermost one.
            && self.reached(root, &|base| !is_recursive(base)).is_empty()
        {
            found.insert(String::new(), self.recursive[entry].clone());
        }
        found
    }

    /// Returns the bases of sub-schemas reachable from `start` for which `is_end` holds. Does not look beyond them.
    fn reached(&self, start: Tree<'a>, is_end: &dyn Fn(&str) -> bool) -> Vec<String> {
        let mut ends = BTreeSet::new();
        let mut seen = HashSet::new();
        let mut waiting = vec![(start, self.outside())];
        if start.id() != self.root.id() {
            waiting = vec![(start, self.context_at(&self.root.pointer_to(start.id()).unwrap_or_default()))];
        }
        while let Some((part, outer)) = waiting.pop() {
            let context = outer.within(part);
            if !seen.insert((part.id(), context.base.clone())) {
                continue;
            }
            if is_end(&context.base) {
                ends.insert(context.base);
                continue;
            }
            subschemas::for_each_part(part, |_, below| waiting.push((below, context.clone())));
            for pointer in self.targets(part, &context.base) {
                if let Some(target) = self.root.pointer(&pointer) {
                    waiting.push((target, self.context_at(&pointer)));
                }
            }
        }
        ends.into_iter().collect()
    }

    /// Returns pointers to everything that a reference of a sub-schema may lead to.
    pub(super) fn targets(&self, part: Tree<'a>, base: &str) -> Vec<String> {
        let text = |keyword: &str| part.get(keyword).and_then(Tree::as_str);
        let references = ["$ref", "$dynamicRef", "$recursiveRef"].into_iter().filter_map(text);
        let mut found: Vec<_> = references.filter_map(|to| self.resolve(to, base).ok()).collect();
        if let Some(name) = text("$dynamicRef").and_then(|to| uri::split(to).1) {
            found.extend(self.dynamic.get(name).into_iter().flat_map(HashMap::values).cloned());
        }
        if text("$recursiveRef").is_some() {
            found.extend(self.recursive.values().cloned());
        }
        found
    }

    /// Returns the context around the root.
    pub fn outside(&self) -> Context {
        Context { base: String::new(), draft: self.context.draft }
    }

    /// Returns the pointer to the target of `reference`.
    ///
    /// # Errors
    /// Returns an error if the target does not exist in this document.
    pub fn resolve(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        let (target, fragment) = uri::split(reference);
        let resource = uri::join(base, target);
        let root = self.ids.get(&resource).ok_or(Unresolved::Missing)?;
        match fragment.map(percent::decode) {
            None => Ok(root.clone()),
            Some(fragment) if fragment.is_empty() => Ok(root.clone()),
            Some(fragment) if fragment.starts_with('/') => {
                let pointer = format!("{root}{fragment}");
                self.root.pointer(&pointer).map(|_| pointer).ok_or(Unresolved::Missing)
            }
            Some(name) => self.anchors.get(&(resource, name)).cloned().ok_or(Unresolved::Missing),
        }
    }

    /// Resolves a `$dynamicRef` that has only one possible target.
    ///
    /// # Errors
    /// Returns an error if there are several possible targets, or none.
    pub fn resolve_dynamic(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        let first = self.resolve(reference, base)?;
        let name = uri::split(reference).1.unwrap_or_default();
        match self.dynamic.get(name) {
            Some(places) if !places.values().any(|place| *place == first) => Ok(first),
            Some(places) if places.len() > 1 => {
                // Every path to a reference in a resource with the anchor passes through the only entry.
                let entry = self.entries.get(name).filter(|_| uri::split(reference).0.is_empty());
                self.outermost.get(name).or(entry).cloned().ok_or(Unresolved::Dynamic)
            }
            _ => Ok(first),
        }
    }

    /// Resolves a `$recursiveRef` that has only one possible target.
    ///
    /// # Errors
    /// Returns an error if there are several possible targets, or none.
    pub fn resolve_recursive(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        if reference != "#" {
            return Err(Unresolved::Dynamic);
        }
        let first = self.resolve(reference, base)?;
        let is_static = self.root.pointer(&first).is_none_or(|tree| !has_recursive_anchor(tree));
        match self.resources {
            1 => Ok(first),
            _ if is_static => Ok(first),
            // No other resource is a target.
            _ if self.recursive.len() == 1 => Ok(first),
            // Every resource passes the reference on to the one around it.
            count if count == self.recursive.len() => Ok(String::new()),
            _ => self.entries.get("").cloned().ok_or(Unresolved::Dynamic),
        }
    }

    /// Returns the context around the schema at `pointer`.
    pub fn context_at(&self, pointer: &str) -> Context {
        let mut context = self.outside();
        let mut tree = self.root;
        for token in pointer.split('/').skip(1) {
            if tree.has_names() {
                context = context.within(tree);
            }
            match tree.step(token) {
                Some(next) => tree = next,
                None => break,
            }
        }
        context
    }
}

/// Returns whether a `$recursiveRef` to this schema leads to an outer resource.
fn has_recursive_anchor(tree: Tree<'_>) -> bool {
    tree.get("$recursiveAnchor").and_then(Tree::as_bool) == Some(true)
}
