//! Resolves references of a bundled schema, and names the definitions that they point to.

use std::sync::Arc;

use serde_json::Value;

use super::{BundleError, Work, base};
use crate::model::percent;

/// The maximum number of definitions in a bundle.
const MAX_DEFINITIONS: usize = 5_000;

impl Work<'_> {
    /// Returns the reference in the bundle for one in a file. Its target becomes a definition.
    pub(super) fn reference(&mut self, reference: &str, file: &str) -> Result<String, BundleError> {
        let refuse = |message: String| BundleError::new(file, message);
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = self.file(file)?;
        let around = base::resource(&document, &self.at);
        let named = |resource: &str| document.pointer(resource).and_then(base::uri) == Some(path);
        let (target, resource) = match path {
            "" => (file.to_owned(), around.to_owned()),
            _ if named(around) => (file.to_owned(), around.to_owned()),
            _ if named("") => (file.to_owned(), String::new()),
            path if path.contains("://") || path.starts_with("urn:") => {
                let found = self.named(file, "", path)?.ok_or_else(|| {
                    refuse(format!("$ref {reference:?} points outside the repository, and nothing is fetched"))
                })?;
                (file.to_owned(), found)
            }
            path => {
                let target = beside(file, &percent::decode(path));
                let outside = || refuse(format!("$ref {reference:?} points outside the repository"));
                (target.ok_or_else(outside)?, String::new())
            }
        };
        let content = self.referred(&target, file)?;
        if target != file && self.is_of_openapi(file)? && content.get("$schema").is_none() {
            self.parts_of_openapi.insert(target.clone());
        }
        let fragment = percent::decode(fragment);
        let pointer = if fragment.starts_with('/') || fragment.is_empty() {
            format!("{resource}{fragment}")
        } else {
            let found = self.named(&target, &resource, &format!("#{fragment}"))?;
            let missing = || refuse(format!("$ref {reference:?} is not an anchor in {target}"));
            format!("{resource}{}", found.ok_or_else(missing)?)
        };
        if target == self.root.0 && self.root.1.is_empty() {
            return Ok(format!("#{pointer}"));
        }
        if (&target, &pointer) == (&self.root.0, &self.root.1) {
            return Ok("#".to_owned());
        }
        if content.pointer(&pointer).is_none() {
            let at = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
            return Err(refuse(format!("$ref {reference:?}{at} points to a place that does not exist")));
        }
        let name = self
            .name(&target, &pointer)
            .ok_or_else(|| refuse(format!("the schema refers to more than {MAX_DEFINITIONS} places")))?;
        Ok(format!("#/{}/{name}", self.key))
    }

    /// Returns a file that the schema being rewritten refers to. The error for one that cannot be read says who refers
    /// to it.
    fn referred(&mut self, target: &str, file: &str) -> Result<Arc<Value>, BundleError> {
        let read = self.file(target);
        let at = &self.at;
        read.map_err(|error| match error.line {
            None if target != file => {
                BundleError { message: format!("{}; {file}#{at} refers to it", error.message), ..error }
            }
            _ => error,
        })
    }

    /// Returns the pointer, within a resource, to the schema with a URI or `#anchor`.
    fn named(&mut self, file: &str, resource: &str, name: &str) -> Result<Option<String>, BundleError> {
        let place = (file.to_owned(), resource.to_owned());
        if !self.named.contains_key(&place) {
            let document = self.file(file)?;
            self.named.insert(place.clone(), document.pointer(resource).map(base::names).unwrap_or_default());
        }
        Ok(self.named[&place].get(name).cloned())
    }

    /// Returns the name of the definition for a target. Returns `None` if there are too many definitions.
    fn name(&mut self, file: &str, pointer: &str) -> Option<String> {
        let place = (file.to_owned(), pointer.to_owned());
        if let Some(name) = self.given.get(&place) {
            return Some(name.clone());
        }
        if self.given.len() >= MAX_DEFINITIONS {
            return None;
        }
        let stem = file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default();
        let last = pointer.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(stem);
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        let wanted: String = last.chars().map(plain).take(64).collect();
        let mut name = wanted.clone();
        let number = self.next.entry(wanted.clone()).or_insert(2);
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}-{number}");
            *number += 1;
        }
        self.given.insert(place, name.clone());
        self.open.push((name.clone(), file.to_owned(), pointer.to_owned()));
        Some(name)
    }
}

/// Resolves a path in a file against the root of the repository. Returns `None` if it leads out of the repository.
fn beside(file: &str, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains('\\') || path.contains('\0') {
        return None;
    }
    let mut parts: Vec<&str> = file.split('/').collect();
    parts.pop();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    (!parts.is_empty()).then(|| parts.join("/"))
}
