//! Builds a self-contained JSON Schema from a part of a document and everything that it refers to, in the same
//! document or in other files of the same repository. Nothing else is ever read.

use std::{
    borrow::Cow,
    collections::{BTreeMap, BTreeSet, HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{
    contract::Flow,
    json::Json,
    nearest::did_you_mean,
    pointer::{escape, unescape, upwards},
    schema::{
        Draft, refers_outside,
        words::{NAMED, VALUES},
    },
    text::comma_separated_at_most,
};

mod base;
mod discriminator;
mod drafts;
mod exact;
mod openapi;
mod origins;
mod parts;
mod reference;
#[cfg(test)]
mod tests;

pub use origins::Origins;

/// The maximum number of files in a bundle.
const MAX_FILES: usize = 100;
/// The maximum number of names that a message lists.
const MAX_NAMES: usize = 10;

/// A file, and a JSON Pointer into it.
type Place = (String, String);
/// A property that is only sent one way, after the mark that says so.
type NotSent = (&'static str, String);

/// The reason why a schema cannot be bundled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{file}: {}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct BundleError {
    /// The file with the problem, relative to the root of the repository.
    pub file: String,
    /// The line, from 1, if the text of the file is invalid.
    pub line: Option<u32>,
    /// The problem, and what to write instead.
    pub message: String,
}

impl BundleError {
    /// Creates an error about a file.
    pub fn new(file: &str, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line: None, message: message.into() }
    }
}

/// A self-contained schema.
#[derive(Debug, Clone)]
pub struct Bundle {
    /// The schema.
    pub schema: Json,
    /// The places that its parts come from.
    pub origins: Origins,
    /// The names of the schemas that have a schema with a `discriminator` in `allOf`, by the file and pointer of that one.
    pub children: BTreeMap<(String, String), Vec<String>>,
}

/// Returns the schema at a JSON Pointer into a file, with everything that it refers to. `load` reads a file by its
/// path relative to the root of the repository. In an older OpenAPI document, `flow` decides which properties are
/// required. Without it, the bundle requires all, and lists those that are only sent one way for [`sent`].
///
/// # Errors
/// Returns an error if the target of a reference does not exist, is outside of the repository, or cannot be
/// determined.
pub fn bundle(
    file: &str,
    pointer: &str,
    flow: Option<Flow>,
    load: &mut dyn FnMut(&str) -> Result<Json, BundleError>,
) -> Result<Bundle, BundleError> {
    let whole = load(file)?;
    let root = (file.to_owned(), pointer.to_owned());
    if pointer.is_empty() && !refers_outside(&whole) {
        let origins = Origins { root, key: "$defs", ..Origins::default() };
        return Ok(Bundle { schema: whole, origins, children: BTreeMap::new() });
    }
    let document = Arc::<Value>::from(whole);
    let target = document.pointer(pointer).ok_or_else(|| nothing_at(&document, file, pointer))?;
    let dialect = base::dialect(&document, pointer);
    let draft = match &dialect {
        Some(dialect) => dialect.as_str().and_then(Draft::of),
        None => Some(Draft::D2020),
    };
    let mut work = Work::new(root, flow, draft, load);
    work.files.insert(file.to_owned(), Arc::clone(&document));
    let taken = target.get(work.key).and_then(Value::as_object);
    work.taken = taken.into_iter().flat_map(Map::keys).cloned().collect();
    let mut body = work.rewritten_at(&document, file, pointer)?;
    let mut definitions = work.definitions()?;
    if let Value::Object(members) = &mut body {
        if let Some(dialect) = dialect {
            members.insert("$schema".to_owned(), dialect);
        }
        if !definitions.is_empty() {
            let own = members.entry(work.key).or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(own) = own else {
                return Err(BundleError::new(file, format!("{pointer}/{} is not an object", work.key)));
            };
            own.append(&mut definitions);
        }
    }
    let definitions = work.given.into_iter().map(|((place, _), name)| (name, place)).collect();
    let origins = Origins { root: work.root, key: work.key, definitions, replaced: work.replaced };
    Ok(Bundle { schema: body.into(), origins, children: work.children })
}

fn nothing_at(document: &Value, file: &str, pointer: &str) -> BundleError {
    let message = match pointer.strip_prefix('/') {
        Some(_) => format!("there is nothing at {pointer}; {}", names_above(document, pointer)),
        None => format!("a JSON Pointer begins with a slash: write /{pointer}"),
    };
    BundleError::new(file, message)
}

/// Describes, for a pointer to something that does not exist, the names in the innermost object on its path that does.
fn names_above(document: &Value, pointer: &str) -> String {
    let closest = upwards(pointer).find_map(|at| Some((at, document.pointer(at)?.as_object()?)));
    let Some((at, members)) = closest else { return "the document has no names".to_owned() };
    let place = if at.is_empty() { "the document" } else { at };
    let missing = pointer[at.len()..].trim_start_matches('/').split('/').next().map(unescape).unwrap_or_default();
    let meant = did_you_mean(&missing, members.keys());
    let names = members.keys().map(|name| format!("{name:?}"));
    format!("{place} has {}{meant}", comma_separated_at_most(MAX_NAMES, names))
}

/// Returns the bundle for values that are sent in one direction, from a bundle that was made without a `flow`.
pub fn sent(bundle: &Json, flow: Flow) -> Cow<'_, Json> {
    let text = bundle.to_string();
    if !openapi::MARKS.iter().any(|(_, list)| text.contains(list)) {
        return Cow::Borrowed(bundle);
    }
    let mut schema = Value::clone(&bundle.value());
    openapi::sent(&mut schema, flow);
    Cow::Owned(schema.into())
}

struct Work<'a> {
    load: &'a mut dyn FnMut(&str) -> Result<Json, BundleError>,
    files: BTreeMap<String, Arc<Value>>,
    root: Place,
    flow: Option<Flow>,
    /// The keyword that holds the definitions.
    key: &'static str,
    /// The draft that the bundle is read in, if it is known.
    draft: Option<Draft>,
    /// The pointer to the schema that is being rewritten, in its file.
    at: String,
    /// The names already in use.
    taken: HashSet<String>,
    /// The next number for a name that is in use.
    next: HashMap<String, usize>,
    /// The name of each definition, by its target and by the properties that the definition must not require: the
    /// target requires them, although the `allOf` around the reference says that they are never sent.
    given: BTreeMap<(Place, BTreeSet<NotSent>), String>,
    /// Definitions still to be written, with their names.
    open: Vec<(String, (Place, BTreeSet<NotSent>))>,
    /// Files without a dialect of their own that older OpenAPI documents refer to.
    parts_of_openapi: BTreeSet<String>,
    /// The properties that the schema around an `allOf` never sends, while its branches are rewritten.
    not_sent_around: BTreeSet<NotSent>,
    /// The alternatives that a discriminator added to.
    replaced: BTreeSet<Place>,
    /// The names of the children of each schema with a discriminator.
    children: BTreeMap<Place, Vec<String>>,
    /// The URIs and anchors in each resource, by file and pointer.
    named: HashMap<Place, HashMap<String, String>>,
}

impl<'a> Work<'a> {
    fn new(
        root: Place,
        flow: Option<Flow>,
        draft: Option<Draft>,
        load: &'a mut dyn FnMut(&str) -> Result<Json, BundleError>,
    ) -> Self {
        Self {
            load,
            files: BTreeMap::new(),
            root,
            flow,
            key: if draft.is_some_and(|draft| draft <= Draft::D7) { "definitions" } else { "$defs" },
            draft,
            at: String::new(),
            taken: HashSet::new(),
            next: HashMap::new(),
            given: BTreeMap::new(),
            open: Vec::new(),
            parts_of_openapi: BTreeSet::new(),
            not_sent_around: BTreeSet::new(),
            replaced: BTreeSet::new(),
            children: BTreeMap::new(),
            named: HashMap::new(),
        }
    }

    /// Returns the definitions that were named so far, and those that they refer to.
    fn definitions(&mut self) -> Result<Map<String, Value>, BundleError> {
        let mut definitions = Map::new();
        while let Some((name, (place, not_sent))) = self.open.pop() {
            let document = self.file(&place.0)?;
            self.not_sent_around = not_sent;
            let definition = self.rewritten_at(&document, &place.0, &place.1)?;
            self.require_draft(&definition, &place)?;
            definitions.insert(name, definition);
        }
        Ok(definitions)
    }

    fn file(&mut self, path: &str) -> Result<Arc<Value>, BundleError> {
        if !self.files.contains_key(path) {
            if self.files.len() >= MAX_FILES {
                return Err(BundleError::new(path, format!("the schema refers to more than {MAX_FILES} files")));
            }
            let document = (self.load)(path)?;
            self.files.insert(path.to_owned(), document.into());
        }
        Ok(Arc::clone(&self.files[path]))
    }

    /// Returns the rewritten schema at a pointer into a document.
    fn rewritten_at(&mut self, document: &Value, file: &str, pointer: &str) -> Result<Value, BundleError> {
        pointer.clone_into(&mut self.at);
        self.rewritten(document.pointer(pointer).unwrap_or(&Value::Null), file)
    }

    /// Returns a schema whose references point into the bundle. A schema of an older OpenAPI document is translated.
    fn rewritten(&mut self, schema: &Value, file: &str) -> Result<Value, BundleError> {
        match schema {
            Value::Object(members) => {
                let mut found = Map::new();
                let not_sent = self.not_sent(members, file)?;
                let around = std::mem::take(&mut self.not_sent_around);
                for (key, value) in members {
                    // Branches of `allOf` may require each other's properties.
                    self.not_sent_around = if key == "allOf" { not_sent.clone() } else { BTreeSet::new() };
                    let value = match (key.as_str(), value) {
                        // A bundle has a single base, so these keywords are left out.
                        ("$id" | "id" | "$schema", Value::String(_)) => continue,
                        ("$ref", Value::String(reference)) => Value::from(self.reference(reference, file, &not_sent)?),
                        ("$dynamicRef" | "$recursiveRef", Value::String(_)) => {
                            return Err(BundleError::new(file, format!("{key} is not supported; use $ref")));
                        }
                        (key, value) if is_data(key) => value.clone(),
                        (key, Value::Object(named)) if NAMED.contains(&key) => self.below(key, |work| {
                            let each = named.iter().map(|(name, one)| Ok((name.clone(), work.part(name, one, file)?)));
                            Ok(Value::Object(each.collect::<Result<_, BundleError>>()?))
                        })?,
                        (key, value) => self.part(key, value, file)?,
                    };
                    found.insert(key.clone(), value);
                }
                self.not_sent_around = around;
                if self.is_of_openapi(file)? {
                    openapi::translate(&mut found, &not_sent, self.flow);
                }
                self.discriminate(members, &mut found, file)?;
                Ok(Value::Object(found))
            }
            Value::Array(items) => {
                items.iter().enumerate().map(|(index, item)| self.part(&index.to_string(), item, file)).collect()
            }
            other => Ok(other.clone()),
        }
    }

    fn part(&mut self, step: &str, part: &Value, file: &str) -> Result<Value, BundleError> {
        self.below(step, |work| work.rewritten(part, file))
    }

    /// Does the work on a part of the schema that is being rewritten.
    fn below<T>(&mut self, step: &str, work: impl FnOnce(&mut Self) -> T) -> T {
        let here = self.at.len();
        self.at.push('/');
        self.at.push_str(&escape(step));
        let done = work(self);
        self.at.truncate(here);
        done
    }

    /// Returns whether the schemas of a file are those of an older OpenAPI document.
    fn is_of_openapi(&mut self, file: &str) -> Result<bool, BundleError> {
        Ok(self.parts_of_openapi.contains(file) || openapi::has_own_schemas(&*self.file(file)?))
    }
}

/// Returns whether the value of a keyword is data. `example` is a keyword of OpenAPI.
fn is_data(keyword: &str) -> bool {
    VALUES.contains(&keyword) || keyword == "example"
}
