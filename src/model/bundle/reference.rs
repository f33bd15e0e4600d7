//! Resolves references of a bundled schema, and names the definitions that they point to.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::Value;

use super::{BundleError, NotSent, Place, Work, base};
use crate::model::percent;

/// The maximum number of definitions in a bundle.
const MAX_DEFINITIONS: usize = 5_000;

impl Work<'_> {
    /// Returns the reference to write into the bundle in place of one in a file. Its target becomes a definition. The
    /// definition does not require the properties that are `not_sent` around the reference.
    pub(super) fn reference(
        &mut self,
        reference: &str,
        file: &str,
        not_sent: &BTreeSet<NotSent>,
    ) -> Result<String, BundleError> {
        let refuse = |message: String| BundleError::new(file, message);
        let target = self.target(reference, &(file.to_owned(), self.at.clone()))?;
        if target.0 == self.root.0 && self.root.1.is_empty() {
            return Ok(format!("#{}", target.1));
        }
        let at = self.at.clone();
        if self.referred(&target.0, (file, &at))?.pointer(&target.1).is_none() {
            let at = if self.at.is_empty() { String::new() } else { format!(" at {}", self.at) };
            return Err(refuse(format!("$ref {reference:?}{at} points to a place that does not exist")));
        }
        let not_sent = self.wrongly_required(&target, not_sent)?;
        if target == self.root && not_sent.is_empty() {
            return Ok("#".to_owned());
        }
        let name = self
            .name(target, not_sent)
            .ok_or_else(|| refuse(format!("the schema refers to more than {MAX_DEFINITIONS} places")))?;
        Ok(format!("#/{}/{name}", self.key))
    }

    /// Returns the place that a reference at a place leads to, which may not exist.
    pub(super) fn target(&mut self, reference: &str, (file, at): &Place) -> Result<Place, BundleError> {
        let refuse = |message: String| BundleError::new(file, message);
        let (path, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let document = self.file(file)?;
        let around = base::resource(&document, at);
        let named = |resource: &str| document.pointer(resource).and_then(base::uri) == Some(path);
        let (target, resource) = match path {
            "" => (file.clone(), around.to_owned()),
            _ if named(around) => (file.clone(), around.to_owned()),
            _ if named("") => (file.clone(), String::new()),
            path if path.contains("://") || path.starts_with("urn:") => {
                let found = self.named(file, "", path)?.ok_or_else(|| {
                    refuse(format!("$ref {reference:?} points outside the repository, and nothing is fetched"))
                })?;
                (file.clone(), found)
            }
            path => {
                let target = beside(file, &percent::decode(path));
                let outside = || refuse(format!("$ref {reference:?} points outside the repository"));
                (target.ok_or_else(outside)?, String::new())
            }
        };
        if target != *file && self.is_of_openapi(file)? && self.referred(&target, (file, at))?.get("$schema").is_none()
        {
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
        Ok((target, pointer))
    }

    /// Returns a file that the schema at a place refers to. The error for one that cannot be read says who refers to it.
    fn referred(&mut self, target: &str, (file, at): (&str, &str)) -> Result<Arc<Value>, BundleError> {
        self.file(target).map_err(|error| match error.line {
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

    /// Returns the name of the definition for a target that does not require some properties. Returns `None` if there are
    /// too many definitions.
    fn name(&mut self, target: Place, not_sent: BTreeSet<NotSent>) -> Option<String> {
        let key = (target, not_sent);
        if let Some(name) = self.given.get(&key) {
            return Some(name.clone());
        }
        let (file, pointer) = &key.0;
        if self.given.len() >= MAX_DEFINITIONS {
            return None;
        }
        let last = pointer.rsplit('/').next().filter(|last| !last.is_empty()).unwrap_or(stem(file));
        let plain = |c: char| if c.is_ascii_alphanumeric() || "_.-".contains(c) { c } else { '_' };
        let wanted: String = last.chars().map(plain).take(64).collect();
        let mut name = wanted.clone();
        let number = self.next.entry(wanted.clone()).or_insert(2);
        while !self.taken.insert(name.clone()) {
            name = format!("{wanted}-{number}");
            *number += 1;
        }
        self.open.push((name.clone(), key.clone()));
        self.given.insert(key, name.clone());
        Some(name)
    }
}

/// Returns the name of a file without its folder and extensions.
pub(super) fn stem(file: &str) -> &str {
    file.rsplit('/').next().and_then(|name| name.split('.').next()).unwrap_or_default()
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
