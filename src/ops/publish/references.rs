//! References to files: contracts whose schema, value or version is in another file, and imports that expect a schema
//! in another file. `schema: { file: F, at: '#/$defs/Order' }`, `version: { from: package.json }`. The file is read
//! from the same commit or working tree as the contract or binding, and its content is published as if it were written
//! there.

use std::{
    cell::RefCell,
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde_json::{Value, json};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::Binding,
        bundle::{self, Bundle, BundleError},
        contract::{Contract, Flow},
        contract_forms::VersionFrom,
        json::Json,
        name::{ContractName, DomainName},
        oid::Oid,
        schema::{self, Budget, Forest},
        version::Version,
        yaml_text,
    },
    ops::contract::documents::{self, Source},
    repo::{
        CodeRepo,
        blue_files::{self, CONTRACTS, FileSource, Files, IN_SUBMODULE, Item},
    },
    store::{
        EntryKind,
        codec::{self, Problem},
        read,
    },
};

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    /// The file, relative to the root of the repository.
    pub file: String,
    /// The JSON Pointer into it.
    pub pointer: String,
}

impl Reference {
    /// Parses a schema or value as a reference. Returns `None` if it is anything else.
    pub fn of(json: &Json) -> Option<Self> {
        Self::of_value(json.parsed().ok()?)
    }

    fn of_value(value: &Value) -> Option<Self> {
        let members = value.as_object()?;
        let file = members.get("file")?.as_str()?;
        let at = match members.get("at") {
            None if members.len() == 1 => "",
            Some(Value::String(at)) if members.len() == 2 => at,
            _ => return None,
        };
        Some(Self { file: file.to_owned(), pointer: at.trim_start_matches('#').to_owned() })
    }

    /// Splits `FILE#/POINTER` into a path and a JSON Pointer, which is empty if there is none. If the file exists under
    /// the whole text, the `#` is part of its name.
    pub fn split<'p>(cwd: &Path, place: &'p Path) -> (&'p Path, &'p str) {
        let parts = place.to_str().and_then(|text| text.split_once('#'));
        match parts.filter(|_| !cwd.join(place).exists()) {
            Some((file, pointer)) => (Path::new(file), pointer),
            None => (place, ""),
        }
    }

    /// Returns the reference as a value, as in a file.
    pub fn to_json(&self) -> Json {
        let Self { file, pointer } = self;
        Json::from(if pointer.is_empty() {
            json!({"file": file})
        } else {
            json!({"file": file, "at": format!("#{pointer}")})
        })
    }

    /// Returns the reference as YAML on one line.
    pub fn to_yaml(&self) -> String {
        let at = if self.pointer.is_empty() {
            String::new()
        } else {
            format!(", at: {}", yaml_text::plain(&format!("#{}", self.pointer)))
        };
        format!("{{ file: {}{at} }}", yaml_text::plain(&self.file))
    }
}

/// Checks that a part of a file is a schema, and not a reference to the file of a schema, which only contracts and
/// bindings may have. `place` names the part.
///
/// # Errors
/// Returns the error, which names the other file.
pub fn require_schema(place: &str, part: &Json) -> Result<(), OpError> {
    let Some(Reference { file, pointer }) = Reference::of(part) else { return Ok(()) };
    let other = if pointer.is_empty() { file } else { format!("{file}#{pointer}") };
    let message = format!("{place} refers to {other}; name that file instead");
    Err(OpError::cannot(ErrorCode::UnreadableSchema, message))
}

/// Returns whether a contract refers to a file.
pub fn refers(contract: &Contract) -> bool {
    contract.version == Version::from_file_placeholder()
        || [&contract.schema, &contract.value].into_iter().any(|json| Reference::of(json).is_some())
}

/// The documents that contracts and bindings refer to.
struct Documents<'f> {
    files: &'f Files<'f>,
    /// The files that were read.
    read: RefCell<BTreeSet<String>>,
    /// The error for a file that a partial clone lacks, which is no problem of the document that refers to it.
    lacking: RefCell<Option<OpError>>,
}

impl<'f> Documents<'f> {
    fn of(files: &'f Files<'f>) -> Self {
        Self { files, read: RefCell::default(), lacking: RefCell::default() }
    }

    fn load(&self, path: &str) -> Result<Json, BundleError> {
        self.read.borrow_mut().insert(path.to_owned());
        load(self.files, path).inspect_err(|_| *self.lacking.borrow_mut() = self.files.lacking(path))
    }

    /// Adds the files that were read to an outcome.
    fn finish<T, E>(self, outcome: Result<T, E>) -> Result<Result<(T, BTreeSet<String>), E>, OpError> {
        match self.lacking.into_inner().filter(|_| outcome.is_err()) {
            Some(error) => Err(error),
            None => Ok(outcome.map(|resolved| (resolved, self.read.into_inner()))),
        }
    }
}

/// Reads a contract and replaces its references: schema, value and version. Also returns the files that were read, or
/// the problem with the contract or one of the files, with file and line.
///
/// # Errors
/// Returns an error if a partial clone lacks a file.
pub fn contract(
    files: &Files<'_>,
    bytes: &[u8],
    name: &ContractName,
) -> Result<Result<(Contract, BTreeSet<String>), Problem>, OpError> {
    let documents = Documents::of(files);
    let outcome = resolved_contract(&documents, bytes, name);
    documents.finish(outcome)
}

fn resolved_contract(documents: &Documents<'_>, bytes: &[u8], name: &ContractName) -> Result<Contract, Problem> {
    let mut contract = codec::contract(bytes, name)?;
    resolve(documents, &mut contract).map_err(|(pointer, problem)| problem.or_at(bytes, pointer))?;
    if contract.version == Version::from_file_placeholder() {
        let from = codec::version_from(bytes).ok_or_else(|| Problem::whole("version: write the version, in quotes"))?;
        contract.version = version(documents, &from).map_err(|problem| problem.or_at(bytes, "/version"))?;
    }
    if bytes.len() > SURELY_FITS || !documents.read.borrow().is_empty() {
        fits(&contract)?;
    }
    Ok(contract)
}

/// Files up to this size, in bytes, fit into a stored file if they refer to no other file.
const SURELY_FITS: usize = codec::MAX_BLOB >> 8;

/// Checks that a contract fits into a stored file, which has one line for each value.
fn fits(contract: &Contract) -> Result<(), Problem> {
    let size = codec::encode_contract(contract).len();
    if size > codec::MAX_BLOB {
        let (most, size) = (codec::MAX_BLOB >> 20, size.div_ceil(1 << 20));
        let message =
            format!("the contract takes {size} MiB when stored with one line per value; the limit is {most} MiB");
        return Err(Problem::whole(message));
    }
    Ok(())
}

/// Reads the version from the file that contains it.
fn version(documents: &Documents<'_>, VersionFrom { from: file, at }: &VersionFrom) -> Result<Version, Problem> {
    let refuse = |message: String| Problem::whole(format!("version: {message}"));
    let document = documents.load(file).map_err(|error| in_field("version", error))?.value();
    let usual = match file.rsplit('/').next() {
        Some("Cargo.toml") => &["/package/version", "/workspace/package/version"][..],
        Some("pyproject.toml") => &["/project/version", "/tool/poetry/version"],
        _ => &["/version"],
    };
    let given = at.as_deref().map(|at| at.trim_start_matches('#'));
    let pointers = given.as_ref().map_or(usual, std::slice::from_ref);
    let missing = || {
        let hint =
            if at.is_none() { format!("; give the place: {{ from: {file}, at: /POINTER }}") } else { String::new() };
        refuse(format!("{file}: there is nothing at {}{hint}", pointers.join(" or ")))
    };
    let found = pointers.iter().find_map(|pointer| Some((pointer, document.pointer(pointer)?)));
    let (pointer, found) = found.ok_or_else(missing)?;
    let text = found.as_str().ok_or_else(|| refuse(format!("{file}: {pointer} is not a string")))?;
    text.parse().map_err(|error| refuse(format!("{file}: {pointer}: {error}")))
}

/// Replaces the references of a contract with the content that they refer to.
///
/// # Errors
/// Returns the problem with a file, with file and line, and the field of the contract that refers to it.
fn resolve(documents: &Documents<'_>, contract: &mut Contract) -> Result<(), (&'static str, Problem)> {
    let refuse = |pointer, message: String| (pointer, Problem::whole(message));
    let mut load = |path: &str| documents.load(path);
    if let Some(Reference { file, pointer }) = Reference::of(&contract.schema) {
        let schema = bundled("schema", (&file, &pointer), Some(contract.flow), &mut load);
        contract.schema = schema.map_err(|problem| ("/schema", problem))?;
    }
    if let Some(Reference { file, pointer }) = Reference::of(&contract.value) {
        let document = load(&file).map_err(|error| ("/value", in_field("value", error)))?;
        let value = if pointer.is_empty() {
            Some(document)
        } else {
            document.value().pointer(&pointer).cloned().map(Json::from)
        };
        let missing = || refuse("/value", format!("value: {file}: there is nothing at {pointer}"));
        let value = value.ok_or_else(missing)?;
        if let Some(at) = value.inexact() {
            let error = BundleError::inexact(&file, &format!("{pointer}{at}"), "write it as a string");
            return Err(refuse("/value", format!("value: {error}")));
        }
        contract.value = value;
    }
    Ok(())
}

/// Returns the problem with a field that refers to a file. If the text of the file is invalid, it is one of that file.
fn in_field(field: &str, error: BundleError) -> Problem {
    match error.line {
        Some(_) => Problem { file: Some(error.file), line: error.line, ..Problem::whole(error.message) },
        None => Problem::whole(format!("{field}: {error}")),
    }
}

/// Returns the schema at a place in a file, with everything that it refers to, or the problem with the `field` that
/// refers to it.
fn bundled(
    field: &str,
    (file, pointer): (&str, &str),
    flow: Option<Flow>,
    load: &mut dyn FnMut(&str) -> Result<Json, BundleError>,
) -> Result<Json, Problem> {
    let schema = bundle::bundle(file, pointer, flow, load).and_then(Bundle::exact);
    let schema = schema.map_err(|error| in_field(field, error))?;
    let refuse = |error: OpError| Problem::whole(format!("{field}: {}", error.message));
    require_schema(&format!("{file}#{pointer}"), &schema).map_err(refuse)?;
    Ok(schema)
}

/// Replaces the references to expected schemas in imports with the content that they refer to. Returns the files that
/// were read, or the problem with a file, with file and line, and the index of its import.
///
/// # Errors
/// Returns an error if a partial clone lacks a file.
pub fn resolve_expected(
    files: &Files<'_>,
    binding: &mut Binding,
) -> Result<Result<BTreeSet<String>, (usize, Problem)>, OpError> {
    let documents = Documents::of(files);
    let outcome = resolve_imports(&documents, binding);
    Ok(documents.finish(outcome)?.map(|((), read)| read))
}

/// Replaces the references of imports. An expected schema that is not a valid JSON Schema is also a problem.
fn resolve_imports(documents: &Documents<'_>, binding: &mut Binding) -> Result<(), (usize, Problem)> {
    let mut load = |path: &str| documents.load(path);
    for (index, import) in binding.imports.iter_mut().enumerate() {
        let Some(expects) = &mut import.expects else { continue };
        let field = format!("the import of {}: expects", import.contract);
        if let Some(Reference { file, pointer }) = Reference::of(expects) {
            let schema = bundled(&field, (&file, &pointer), None, &mut load);
            *expects = schema.map_err(|problem| (index, problem))?;
        }
        if let Some(first) = problem_of_expected(expects) {
            return Err((index, Problem::whole(format!("{field}{}: {}", first.pointer, first.message))));
        }
    }
    Ok(())
}

/// Returns the first problem of an expected schema. One that names no draft is read in that of the contract, so it may have
/// the syntax of any draft.
fn problem_of_expected(expects: &Json) -> Option<schema::Problem> {
    let first = |expects: &Json| schema::problems(expects, &Json::default(), &Budget::default()).into_iter().next();
    let problem = first(expects)?;
    let (forest, [root]) = Forest::of_json([expects]);
    match schema::in_older_draft(forest.tree(root)) {
        Some(named) => first(&named.into()),
        None => Some(problem),
    }
}

/// Reads a document from the repository's own files.
///
/// # Errors
/// Returns an error if it is not a regular file of the repository, or cannot be read.
pub fn load(files: &Files<'_>, path: &str) -> Result<Json, BundleError> {
    let refuse = |message: String| BundleError::new(path, message);
    let bytes = files.read(&regular(files, path)?).map_err(|error| refuse(error.message))?;
    let bytes = bytes.ok_or_else(|| refuse(format!("it is larger than {} MiB", codec::MAX_SCHEMA >> 20)))?;
    if path.ends_with(".toml") {
        return toml_document(&bytes)
            .map(Json::from)
            .map_err(|(line, message)| BundleError { line, ..refuse(message) });
    }
    let source = Source { name: path.to_owned(), bytes };
    documents::generated(&source).map_err(|error| match error.problems.into_iter().next() {
        Some(problem) => BundleError { line: problem.line, ..refuse(problem.message) },
        None => refuse(error.message),
    })
}

/// Returns where to read a file, which must be a regular file of the repository itself.
///
/// # Errors
/// Returns an error if it is missing, a symbolic link, or in a submodule.
pub fn regular(files: &Files<'_>, path: &str) -> Result<FileSource, BundleError> {
    let refuse = |message: String| BundleError::new(path, message);
    match files.file(path).map_err(|error| refuse(error.message))? {
        Some(Item::File(handle)) => Ok(handle),
        Some(Item::Submodule) => Err(refuse(IN_SUBMODULE.into())),
        Some(Item::Other) => {
            Err(refuse("it is not a regular file of this repository; symbolic links are not followed".into()))
        }
        None => Err(refuse(missing(files, path).into())),
    }
}

/// Returns why a file is missing.
fn missing(files: &Files<'_>, path: &str) -> &'static str {
    let root = match files {
        Files::Commit(code, _) => code.workdir(),
        Files::Worktree(..) => None,
    };
    if root.is_some_and(|root| root.join(path).is_file()) {
        "it is in the working tree, but not in the commit"
    } else {
        "there is no such file in this repository"
    }
}

/// Returns the blobs of all files that the contracts and the binding of a domain refer to, in a tree. Files that
/// cannot be read are reported when they are published.
///
/// # Errors
/// Returns an error if the tree cannot be read.
pub fn blobs(code: &CodeRepo, tree: &Oid, domain: &str) -> Result<BTreeMap<String, Option<Oid>>, OpError> {
    let files = Files::Commit(code, *tree);
    let mut named = BTreeSet::new();
    let folder = format!("{CONTRACTS}/{domain}");
    if read::lookup(code, tree, &folder)?.is_some_and(|entry| entry.kind == EntryKind::Tree) {
        for (path, item) in files.below(&folder)? {
            let Some(name) = path.strip_prefix(&folder).and_then(|name| name.strip_prefix('/')?.strip_suffix(".yaml"))
            else {
                continue;
            };
            let (Item::File(handle), Ok(name)) = (item, name.parse()) else { continue };
            let Some(bytes) = files.read(&handle)?.filter(|bytes| may_refer(bytes)) else { continue };
            let Ok(mut contract) = codec::contract(&bytes, &name) else { continue };
            // If the references of a file cannot be resolved, the file that the contract names is enough.
            named.extend([&contract.schema, &contract.value].into_iter().filter_map(Reference::of).map(|one| one.file));
            let documents = Documents::of(&files);
            if resolve(&documents, &mut contract).is_ok() {
                named.extend(documents.read.into_inner());
            }
            named.extend(codec::version_from(&bytes).map(|version| version.from));
        }
    }
    if let Some(Item::File(handle)) = files.file(&blue_files::binding(domain))?
        && let Some(bytes) = files.read(&handle)?.filter(|bytes| mentions_one(bytes, [b"expects"]))
        && let Ok(mut binding) = codec::binding(&bytes)
    {
        let expected = binding.imports.iter().filter_map(|import| import.expects.as_ref());
        named.extend(expected.filter_map(Reference::of).map(|one| one.file));
        named.extend(resolve_expected(&files, &mut binding).into_iter().flatten().flatten());
    }
    let mut found = BTreeMap::new();
    for path in named {
        let blob = match files.file(&path)? {
            Some(Item::File(FileSource::Blob(blob))) => Some(blob),
            _ => None,
        };
        found.insert(path, blob);
    }
    Ok(found)
}

/// Returns whether the text of a contract may refer to another file.
pub fn may_refer(text: &[u8]) -> bool {
    mentions_one(text, [b"file", b"from"])
}

/// Returns the contracts that refer to one of these files, with their references replaced. A document that cannot be read
/// is reported when it is published.
///
/// # Errors
/// Returns an error if a file cannot be read.
pub fn contracts_with(files: &Files<'_>, shared: &BTreeSet<String>) -> Result<Vec<(DomainName, Contract)>, OpError> {
    let mut found = Vec::new();
    for (path, item) in files.below(CONTRACTS)? {
        let place = path.strip_prefix(CONTRACTS).and_then(|rest| rest.strip_prefix('/')?.strip_suffix(".yaml"));
        let Some((domain, name)) = place.and_then(|place| place.split_once('/')) else { continue };
        let (Item::File(handle), Ok(domain), Ok(name)) = (item, domain.parse(), name.parse()) else { continue };
        let Some(bytes) = files.read(&handle)?.filter(|bytes| mentions_one(bytes, [b"file"])) else { continue };
        if let Ok((document, read)) = contract(files, &bytes, &name)?
            && !read.is_disjoint(shared)
        {
            found.push((domain, document));
        }
    }
    Ok(found)
}

/// Returns whether the files that a contract or a binding refers to change it between two trees. A document that cannot
/// be read is reported when it is published.
///
/// # Errors
/// Returns an error if a tree cannot be read.
pub fn changed(code: &CodeRepo, [before, now]: [&Oid; 2], path: &str) -> Result<bool, OpError> {
    let Some((document, read)) = resolved(code, now, path)? else { return Ok(false) };
    for file in read {
        let id = |tree| Ok::<_, OpError>(read::lookup(code, tree, &file)?.map(|entry| entry.id));
        if id(before)? != id(now)? {
            return Ok(resolved(code, before, path)?.is_none_or(|(known, _)| known != document));
        }
    }
    Ok(false)
}

/// A contract or a binding whose references were replaced.
#[derive(PartialEq)]
enum Resolved {
    Contract(Box<Contract>),
    Binding(Binding),
}

/// Returns the document at a path in a tree, and the files that it refers to. Returns `None` if it refers to none.
fn resolved(code: &CodeRepo, tree: &Oid, path: &str) -> Result<Option<(Resolved, BTreeSet<String>)>, OpError> {
    let files = Files::Commit(code, *tree);
    let Some(Item::File(handle)) = files.file(path)? else { return Ok(None) };
    let mentioned = files.read(&handle)?.filter(|bytes| mentions_one(bytes, [b"file", b"from"]));
    let name = path.strip_suffix(".yaml").and_then(|path| path.rsplit('/').next());
    let (Some(bytes), Some(name)) = (mentioned, name) else { return Ok(None) };
    if !path.starts_with(CONTRACTS) {
        let Ok(mut binding) = codec::binding(&bytes) else { return Ok(None) };
        let read = resolve_expected(&files, &mut binding).ok().and_then(Result::ok);
        return Ok(read.map(|read| (Resolved::Binding(binding), read)));
    }
    let Ok(name) = name.parse() else { return Ok(None) };
    let contract = contract(&files, &bytes, &name).ok().and_then(Result::ok);
    Ok(contract.map(|(contract, read)| (Resolved::Contract(Box::new(contract)), read)))
}

/// Returns a TOML document, or the line and the problem.
fn toml_document(bytes: &[u8]) -> Result<Value, (Option<u32>, String)> {
    let text = std::str::from_utf8(bytes).map_err(|_| (None, "the text is not UTF-8".to_owned()))?;
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start));
        let line = before.and_then(|before| u32::try_from(before.matches('\n').count() + 1).ok());
        (line, error.message().to_owned())
    })
}

/// Returns whether `text` contains one of these words. Without any of them, it refers to no file
/// and need not be parsed, which takes much longer.
pub fn mentions_one<const N: usize, const L: usize>(text: &[u8], words: [&[u8; L]; N]) -> bool {
    words.iter().any(|word| memchr::memmem::find(text, &word[..]).is_some())
}
