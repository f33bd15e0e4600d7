//! A schema document: its drafts, its base URIs, and the targets of its references.

use std::collections::{BTreeMap, HashMap};

use super::{
    Draft, Tree, official, uri,
    words::{self, Contained},
};
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
    /// The resources with a recursive anchor, by base.
    recursive: HashMap<String, String>,
}

/// The targets of the references of a sub-schema that depend on the path by which it is reached.
///
/// See "Dynamic References" of JSON Schema 2020-12 (core, section 8.2.3.2) and `$recursiveRef` of 2019-09 (core,
/// section 8.2.4.2).
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DynamicScope {
    /// The pointer to the outermost dynamic anchor on the path, for each name with several anchors.
    anchors: BTreeMap<String, String>,
    /// The pointer to the outermost resource of the unbroken run of resources, at the end of the path, that have a
    /// recursive anchor.
    recursive: Option<String>,
}

/// A reference to something that does not exist in the document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unresolved;

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
            recursive: HashMap::new(),
        };
        let outer = Context { base: String::new(), draft: context.draft };
        let mut waiting = vec![(root, String::new(), outer)];
        while let Some((tree, pointer, context)) = waiting.pop() {
            document.read(tree, &pointer, &context, &mut waiting);
        }
        document
    }

    fn read(&mut self, tree: Tree<'a>, pointer: &str, outer: &Context, waiting: &mut Vec<(Tree<'a>, String, Context)>) {
        let context = outer.within(tree);
        self.name(tree, pointer, &context, context.base != outer.base);
        for (word, member) in tree.members().filter(|(_, member)| member.has_names()) {
            let pointer = format!("{pointer}{}", uri::step(word));
            let mut wait = |step: &str, part| waiting.push((part, format!("{pointer}{step}"), context.clone()));
            let contained = (word == official::MEMBER).then_some(Contained::ByName);
            match contained.or_else(|| words::contained(word, context.draft)) {
                Some(Contained::ByName) => member.members().for_each(|(name, part)| wait(&uri::step(name), part)),
                Some(Contained::OneOrList) if member.is_array() => {
                    member.items().enumerate().for_each(|(at, part)| wait(&format!("/{at}"), part));
                }
                Some(Contained::OneOrList) => wait("", member),
                None => {}
            }
        }
    }

    fn name(&mut self, tree: Tree<'a>, pointer: &str, context: &Context, is_new_base: bool) {
        if is_new_base && !pointer.is_empty() {
            self.ids.entry(context.base.clone()).or_insert_with(|| pointer.to_owned());
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
        }
        if has_recursive_anchor(tree) && (is_new_base || pointer.is_empty()) {
            self.recursive.insert(context.base.clone(), pointer.to_owned());
        }
    }

    /// Returns the dynamic scope in the resource at `base`, which is entered in `outer`.
    pub fn entered(&self, outer: &DynamicScope, base: &str) -> DynamicScope {
        let mut scope = outer.clone();
        for (name, places) in self.dynamic.iter().filter(|(_, places)| places.len() > 1) {
            if let Some(place) = places.get(base)
                && !scope.anchors.contains_key(name)
            {
                scope.anchors.insert(name.clone(), place.clone());
            }
        }
        // A resource without the anchor ends the search for the outermost one.
        scope.recursive = match self.recursive.get(base) {
            Some(_) if self.recursive.len() == 1 => None,
            place => place.map(|place| scope.recursive.unwrap_or_else(|| place.clone())),
        };
        scope
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
        let root = self.ids.get(&resource).ok_or(Unresolved)?;
        match fragment.map(percent::decode) {
            None => Ok(root.clone()),
            Some(fragment) if fragment.is_empty() => Ok(root.clone()),
            Some(fragment) if fragment.starts_with('/') => {
                let pointer = format!("{root}{fragment}");
                self.root.pointer(&pointer).map(|_| pointer).ok_or(Unresolved)
            }
            Some(name) => self.anchors.get(&(resource, name)).cloned().ok_or(Unresolved),
        }
    }

    /// Returns the references of a sub-schema in `scope`, each with the pointer to its target.
    pub fn references(
        &self,
        part: Tree<'a>,
        context: &Context,
        scope: &DynamicScope,
    ) -> impl Iterator<Item = (&'a str, Result<String, Unresolved>)> {
        let text = |keyword: &str, draft: Option<Draft>| {
            part.get(keyword).and_then(Tree::as_str).filter(|_| draft.is_none_or(|draft| draft == context.draft))
        };
        let base = &context.base;
        let of_2020 = text("$dynamicRef", Some(Draft::D2020));
        let of_2019 = text("$recursiveRef", Some(Draft::D2019));
        let found = [
            text("$ref", None).map(|to| (to, self.resolve(to, base))),
            of_2020.map(|to| (to, self.resolve_dynamic(to, base, scope))),
            // The draft allows no other value than `#`.
            of_2019.map(|to| (to, scope.recursive.clone().map_or_else(|| self.resolve("#", base), Ok))),
        ];
        found.into_iter().flatten()
    }

    fn resolve_dynamic(&self, reference: &str, base: &str, scope: &DynamicScope) -> Result<String, Unresolved> {
        let first = self.resolve(reference, base)?;
        let name = uri::split(reference).1.unwrap_or_default();
        let is_dynamic = self.dynamic.get(name).is_some_and(|places| places.values().any(|place| *place == first));
        Ok(scope.anchors.get(name).filter(|_| is_dynamic).cloned().unwrap_or(first))
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
