//! A schema document: its drafts, its base URIs, and the targets of its references.

use std::collections::{HashMap, HashSet};

use serde_json::Value;

use super::uri;
use crate::model::pointer::unescape;
pub(super) use crate::model::schema::Draft;

/// The base URI and draft of a sub-schema, which decide what its references and keywords mean.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Context {
    pub(super) base: String,
    pub(super) draft: Draft,
}

impl Context {
    /// Returns the context inside of `schema`, which may set a base URI or draft of its own.
    pub(super) fn within(&self, schema: &Value) -> Self {
        let draft = schema.get("$schema").and_then(Value::as_str).and_then(Draft::of).unwrap_or(self.draft);
        let hides_siblings = draft <= Draft::D7 && schema.get("$ref").is_some_and(Value::is_string);
        let id = schema.get(draft.id()).and_then(Value::as_str).filter(|_| !hides_siblings);
        let base = match id.map(|id| uri::split(id).0) {
            Some(id) if !id.is_empty() => uri::join(&self.base, id),
            _ => self.base.clone(),
        };
        Self { base, draft }
    }
}

/// A document, with the ids and anchors in it.
pub(super) struct Document<'a> {
    pub(super) root: &'a Value,
    pub(super) context: Context,
    ids: HashMap<String, String>,
    anchors: HashMap<(String, String), String>,
    dynamic: HashMap<String, HashSet<String>>,
    recursive: usize,
    resources: usize,
}

/// The reason why a reference is not followed.
pub(super) enum Unresolved {
    /// Its target depends on the path of evaluation.
    Dynamic,
    /// Its target does not exist in this document.
    Missing,
}

impl<'a> Document<'a> {
    /// Collects the ids and anchors of a document.
    pub(super) fn new(root: &'a Value) -> Self {
        let context = Context { base: String::new(), draft: Draft::D2020 }.within(root);
        let mut document = Self {
            root,
            context: context.clone(),
            ids: HashMap::from([(String::new(), String::new()), (context.base.clone(), String::new())]),
            anchors: HashMap::new(),
            dynamic: HashMap::new(),
            recursive: 0,
            resources: 1,
        };
        let outer = Context { base: String::new(), draft: context.draft };
        let mut waiting = vec![(root, String::new(), outer)];
        while let Some((value, pointer, context)) = waiting.pop() {
            document.read(value, pointer, &context, &mut waiting);
        }
        document
    }

    fn read(
        &mut self,
        value: &'a Value,
        pointer: String,
        outer: &Context,
        waiting: &mut Vec<(&'a Value, String, Context)>,
    ) {
        match value {
            Value::Array(items) => {
                let at = |n: usize| format!("{pointer}/{n}");
                waiting.extend(
                    items
                        .iter()
                        .enumerate()
                        .filter(|(_, item)| is_container(item))
                        .map(|(n, item)| (item, at(n), outer.clone())),
                );
            }
            Value::Object(members) => {
                let context = outer.within(value);
                self.name(value, &pointer, &context, context.base != outer.base);
                for (name, member) in members {
                    if is_container(member) && !matches!(name.as_str(), "enum" | "const" | "default" | "examples") {
                        waiting.push((member, format!("{pointer}{}", uri::step(name)), context.clone()));
                    }
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, value: &Value, pointer: &str, context: &Context, is_new_base: bool) {
        if is_new_base && !pointer.is_empty() {
            self.ids.entry(context.base.clone()).or_insert_with(|| pointer.to_owned());
            self.resources += 1;
        }
        let mut anchor = |name: &str| {
            self.anchors.entry((context.base.clone(), name.to_owned())).or_insert_with(|| pointer.to_owned());
        };
        if context.draft <= Draft::D7 {
            let id = value.get(context.draft.id()).and_then(Value::as_str);
            if let Some((_, Some(name))) = id.map(uri::split) {
                anchor(name);
            }
            return;
        }
        for keyword in ["$anchor", "$dynamicAnchor"] {
            if let Some(name) = value.get(keyword).and_then(Value::as_str) {
                anchor(name);
            }
        }
        if let Some(name) = value.get("$dynamicAnchor").and_then(Value::as_str) {
            self.dynamic.entry(name.to_owned()).or_default().insert(pointer.to_owned());
        }
        if value.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
            self.recursive += 1;
        }
    }

    /// Returns the pointer to the target of `reference`.
    pub(super) fn resolve(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        let (target, fragment) = uri::split(reference);
        let resource = uri::join(base, target);
        let root = self.ids.get(&resource).ok_or(Unresolved::Missing)?;
        match fragment.map(uri::decode) {
            None => Ok(root.clone()),
            Some(fragment) if fragment.is_empty() => Ok(root.clone()),
            Some(fragment) if fragment.starts_with('/') => {
                let pointer = format!("{root}{fragment}");
                self.root.pointer(&pointer).map(|_| pointer).ok_or(Unresolved::Missing)
            }
            Some(name) => self.anchors.get(&(resource, name)).cloned().ok_or(Unresolved::Missing),
        }
    }

    /// Resolves a `$dynamicRef`, if only one anchor is possible.
    pub(super) fn resolve_dynamic(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        let first = self.resolve(reference, base)?;
        let name = uri::split(reference).1.unwrap_or_default();
        match self.dynamic.get(name) {
            Some(places) if places.contains(&first) && places.len() > 1 => Err(Unresolved::Dynamic),
            _ => Ok(first),
        }
    }

    /// Resolves a `$recursiveRef`, if only one schema is possible.
    pub(super) fn resolve_recursive(&self, reference: &str, base: &str) -> Result<String, Unresolved> {
        if reference != "#" || (self.recursive > 0 && self.resources > 1) {
            return Err(Unresolved::Dynamic);
        }
        self.resolve(reference, base)
    }

    /// Returns the context of the schema at `pointer`.
    pub(super) fn context_at(&self, pointer: &str) -> Context {
        let mut context = Context { base: String::new(), draft: self.context.draft };
        let mut value = self.root;
        for token in pointer.split('/').skip(1) {
            if value.is_object() {
                context = context.within(value);
            }
            let token = unescape(token);
            let next = match value {
                Value::Object(members) => members.get(&token),
                Value::Array(items) => token.parse::<usize>().ok().and_then(|n| items.get(n)),
                _ => None,
            };
            match next {
                Some(next) => value = next,
                None => break,
            }
        }
        context
    }
}

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
