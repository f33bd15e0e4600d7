//! `contract_new`: writes the file of a new contract, for its owner to edit and commit.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use serde::{Serialize, Serializer};
use serde_json::{Value, json};

use super::{
    documents::{self, Samples, Source},
    schema_file,
};
use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{
        bundle::BundleError,
        candidate::{NOT_IN_LFS, write_file},
        contract::{Compatibility, Contract, Evolution, Flow},
        name::{ContractName, ContractRef, RepoName},
        publish, samples,
        schema::{self, KeywordWarning, Part},
        text::shell_word,
        verdict::NothingValid,
        version::Version,
    },
    ops::{
        Operation, admin,
        binding::edit::own_path,
        ctx::{ActingRepo, Ctx},
        domain,
        publish::{
            editor_schemas,
            references::{self, Reference},
            work_file::WorkFile,
        },
        sync::auto,
        worktree::rfc_worktrees,
    },
    repo::blue_files::{Files, contract_path},
    store::{codec, read},
    wire::{Answer, ContractNew, DomainSet},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation =
    Operation::write::<ContractNew>("contract_new", &["contract", "new"], "Create the file of a new contract");

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The contract.
    pub contract: ContractRef,
    /// The source of its schema.
    pub schema: Schema,
    /// A file with its value; null by default.
    pub value: Option<Source>,
    /// Its first version; 1.0.0 by default.
    pub version: Option<Version>,
    /// Its owner, which can only be the current repository.
    pub owner: Option<RepoName>,
    /// Its purpose.
    pub description: Option<String>,
    /// The direction of the data.
    pub flow: Flow,
    /// Repositories to add to the domain, which is created if it is missing.
    pub members: Option<Vec<RepoName>>,
}

/// The source of a new contract's schema.
#[derive(Debug, Clone)]
pub enum Schema {
    /// A schema that accepts any object, as a placeholder.
    Open,
    /// A file and a JSON Pointer into it. The schema there is copied.
    Copy(Source, String),
    /// A file and a JSON Pointer into it. The contract refers to the file instead of copying the schema.
    File(Source, String),
    /// Samples from which the schema is inferred.
    Samples(Vec<Source>),
}

/// Writes the file, after checking everything.
///
/// # Errors
/// Returns an error if the contract or the file exists already, the domain does not exist, or the value does not
/// satisfy the schema.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractNew>, OpError> {
    let acting = ctx.require_writable()?;
    let ContractRef { domain: domain_name, contract } = &request.contract;
    require_owner(acting, request)?;
    let file = WorkFile::of(ctx.code()?, contract_path(domain_name, contract))?;
    let path = file.relative();
    file.require_absent().map_err(|error| error.next(format!("edit {path} to change the contract")))?;
    let is_member = require_new(ctx, acting, request)?;
    let (document, samples, sources) = document(ctx, acting.repo, request)?;
    require_valid(ctx, request, &document)?;
    let nothing = ctx.judge().nothing_valid(&document).map(NothingValid::warning);
    let text = text(&request.contract, &document, reference(ctx, request)?.as_ref());
    require_publishable(file.relative(), contract, &text).map_err(|error| without_value(ctx, request, error))?;
    let text = editor_schemas::modeline(ctx, "contract", "../..")? + &text;
    let made = request.members.as_ref().map(|members| set_domain(ctx, acting, request, members)).transpose()?;
    file.create(&text)?;
    let is_member = is_member || made.is_some();
    let is_realm_changed = made.as_ref().is_some_and(|made| made.changed);
    let answer = Answer::new(ContractNew {
        realm: acting.realm.clone(),
        domain: domain_name.clone(),
        contract: contract.clone(),
        current_repo: acting.repo.clone(),
        file: file.relative().to_owned(),
        version: document.version,
        samples: samples.values.len(),
        created_domain: made.as_ref().is_some_and(|made| made.created),
        added: made.map(|made| made.added).unwrap_or_default(),
    });
    let in_lfs = ctx.code()?.in_lfs(sources.iter().map(String::as_str).chain([file.relative()])).into_iter().next();
    let in_lfs =
        in_lfs.map(|file| format!("{file} would be in Git LFS, so publishing could not read it: {NOT_IN_LFS}"));
    let ignored = ctx.code()?.ignored(sources.iter().map(String::as_str)).into_iter().next();
    let ignored = ignored.map(|file| format!("  # git ignores {file}, but publishing reads it from the commit"));
    let paths = file.pathspecs(ctx, sources)?;
    let at = &request.contract;
    let answer = answer
        .next_all(samples.advice.into_iter().chain(in_lfs).map(NextStep::advice))
        .next_all(nothing.map(|one| NextStep::advice(of_nothing(&one))))
        .next_if(!is_member, format!("git blue realm admin domain --name {domain_name} --repos {}", acting.repo))
        .next(format!("git add {paths} && git commit -m \"Add the contract {at}\"{}", ignored.unwrap_or_default()))
        .next(format!("git blue import {at}  # {}", where_to_import(ctx, acting)?));
    auto::with_push(ctx, (acting.realm, acting.store), is_realm_changed, answer)
}

/// Returns where the new contract can be imported: its consumers can be part of the same RFC.
fn where_to_import(ctx: &Ctx, acting: ActingRepo<'_>) -> Result<String, OpError> {
    Ok(match rfc_worktrees::checked_out_rfc(ctx, acting.realm)? {
        Some(rfc) => format!("in the worktree of each consumer for {rfc}, or once it is published"),
        None => "in each consumer, once it is published".to_owned(),
    })
}

/// Says that the schema of the new contract allows nothing.
fn of_nothing(warning: &KeywordWarning) -> String {
    let place = if warning.pointer.is_empty() { String::new() } else { format!("at {} of it: ", warning.pointer) };
    format!("correct the schema: {place}{} [{}]", warning.message(), warning.rule())
}

fn require_owner(acting: ActingRepo<'_>, request: &Request) -> Result<(), OpError> {
    match &request.owner {
        Some(owner) if owner != acting.repo => Err(OpError::not_owner(acting.repo, "create a contract of", owner)),
        _ => Ok(()),
    }
}

/// Refuses a contract that the realm already has. Returns whether the repository is a member of the domain.
fn require_new(ctx: &Ctx, acting: ActingRepo<'_>, request: &Request) -> Result<bool, OpError> {
    let at = &request.contract;
    if acting.store.domain_tip(&at.domain)?.is_none() {
        if request.members.is_some() {
            admin::domain::require_no_collision(ctx.realm()?, &at.domain)?;
            return Ok(false);
        }
        let error = domain::unknown(acting.store, &at.domain);
        let others = read::repos(acting.store)?.repos.into_keys().filter(|repo| repo != acting.repo);
        let others: Vec<_> = others.map(|repo| repo.to_string()).collect();
        let given = options(request);
        let again = match &others[..] {
            [] => format!("--domain-members {}  # create it", acting.repo),
            [other] => format!("--domain-members {other}  # create it with this member"),
            _ => "--domain-members …  # create it with the repositories that use it".to_owned(),
        };
        let again = format!("git blue contract new {at}{given} {again}");
        return Err(if error.next_steps.is_empty() {
            error
        } else {
            OpError { next_steps: vec![again.into()], ..error }
        });
    }
    let view = domain::of_contract(acting.store, at)?;
    if let Some(held) = view.contracts.get(&at.contract) {
        let is_retired = held.retired.is_some();
        let retired = if is_retired { ", and retired" } else { "" };
        let message = format!("the realm already has {at}, owned by {}{retired}", held.owner);
        let error = OpError::no(ErrorCode::ContractExists, message);
        return Err(if held.owner == *acting.repo && is_retired {
            let write = write_file(&at.domain, &at.contract, &ctx.up_to_root());
            error.next(format!("{write}  # then write a version above {} in it, and commit", held.version))
        } else if held.owner == *acting.repo {
            error.next(format!("git blue contract get {at} --format yaml"))
        } else if is_retired {
            error.next_all(publish::without_owner(&held.owner, true, view.info.has_member(&held.owner)))
        } else {
            error.next(format!("git blue import {at}  # import it"))
        });
    }
    publish::is_distinct(&view, &at.contract)?;
    Ok(view.info.has_member(acting.repo))
}

/// Returns the options of a request, as on the command line, apart from the members.
fn options(request: &Request) -> String {
    // The owner can only be the current repository.
    let Request { contract: _, schema, value, version, owner: _, description, flow, members: _ } = request;
    let file = |source: &Source, pointer: &str| match &*source.name {
        documents::STANDARD_INPUT => "-".to_owned(),
        _ => shell_word(&source.place(pointer)),
    };
    let schema = match schema {
        Schema::Open => None,
        Schema::Copy(source, pointer) => Some(format!("--schema {} --inline", file(source, pointer))),
        Schema::File(source, pointer) => Some(format!("--schema {}", file(source, pointer))),
        Schema::Samples(files) => {
            let files: Vec<_> = files.iter().map(|source| file(source, "")).collect();
            Some(format!("--from-samples {}", files.join(" ")))
        }
    };
    let options = [
        schema,
        value.as_ref().map(|source| format!("--value {}", file(source, ""))),
        version.as_ref().map(|version| format!("--version {version}")),
        description.as_ref().map(|text| format!("--description {}", shell_word(text))),
        (*flow == Flow::ConsumerToProvider).then(|| "--flow consumer-to-provider".to_owned()),
    ];
    options.into_iter().flatten().map(|option| format!(" {option}")).collect()
}

fn set_domain(
    ctx: &Ctx,
    acting: ActingRepo<'_>,
    request: &Request,
    members: &[RepoName],
) -> Result<DomainSet, OpError> {
    let mut repos = members.to_vec();
    repos.push(acting.repo.clone());
    let request = admin::domain::Request { name: request.contract.domain.clone(), repos, description: None };
    admin::domain::set(ctx, ctx.realm()?, &request, &[])
}

/// Returns the contract, the samples that its schema was inferred from, and the files that it refers to.
fn document(ctx: &Ctx, owner: &RepoName, request: &Request) -> Result<(Contract, Samples, BTreeSet<String>), OpError> {
    let mut document = Contract::new(request.contract.contract.clone(), owner.clone());
    let first = "1.0.0".parse().unwrap_or_else(|_| Version::first());
    document.version = request.version.clone().unwrap_or(first);
    document.description = request.description.clone().unwrap_or_default();
    (document.flow, document.compatibility) = (request.flow, request.flow.into());
    let (mut samples, mut sources) = (Samples::default(), BTreeSet::new());
    document.schema = match &request.schema {
        Schema::Open => json!({"type": "object"}).into(),
        Schema::Copy(source, pointer) => schema_file::read(ctx, source, pointer, request.flow)?.0,
        Schema::File(source, pointer) => {
            let (schema, read) = schema_file::read(ctx, source, pointer, request.flow)?;
            sources = read;
            schema
        }
        Schema::Samples(files) => {
            samples = documents::samples(files)?;
            samples::infer(&samples.values).into()
        }
    };
    if let Some(source) = &request.value {
        document.value = documents::one(source)?;
    }
    let changes = vec!["Initial release".to_owned()];
    document.evolution = vec![Evolution { version: document.version.clone(), changes, compatible: true }];
    Ok((document, samples, sources))
}

fn require_valid(ctx: &Ctx, request: &Request, document: &Contract) -> Result<(), OpError> {
    let problems = schema::problems(&document.schema, &document.value, &ctx.budget());
    let Some(first) = problems.first() else {
        return Ok(());
    };
    let place = |problem: &schema::Problem| match (problem.part, &request.schema, &request.value) {
        (Part::Value | Part::Undecided, _, Some(source)) => source.place(&problem.pointer),
        (Part::Size | Part::Schema, Schema::Copy(source, at) | Schema::File(source, at), _) => {
            source.place(&format!("{at}{}", problem.pointer))
        }
        _ => format!("{}{}", problem.part.name(), problem.pointer),
    };
    let what = match first.part {
        Part::Value | Part::Undecided => "the value is not valid",
        Part::Size | Part::Schema => "the schema is not valid",
    };
    let mut error = OpError::no(ErrorCode::InvalidContract, format!("{what}: {}: {}", place(first), first.message));
    for problem in &problems[1..] {
        let message = format!("{}: {}", place(problem), problem.message);
        error = error.problem(crate::error::Problem {
            code: ErrorCode::InvalidContract.into(),
            message,
            file: None,
            line: None,
            column: None,
        });
    }
    Err(error)
}

/// Refuses a text that cannot be published: the schema or value is too large to be written in a contract's file.
fn require_publishable(file: &str, name: &ContractName, text: &str) -> Result<(), OpError> {
    let refuse = |problem: codec::Problem| {
        let message = format!("{file} could not be published: {}", problem.message);
        OpError::no(ErrorCode::InvalidContract, message)
    };
    codec::contract(text.as_bytes(), name).map(drop).map_err(refuse)
}

/// Adds the way to publish a large value: the contract's file refers to it.
fn without_value(ctx: &Ctx, request: &Request, error: OpError) -> OpError {
    let path = request.value.as_ref().and_then(|value| own_path(ctx, Path::new(&value.name)).ok());
    match path {
        Some(path) => {
            let reference = Reference { file: path, pointer: String::new() }.to_yaml();
            error.next(format!("run it without --value, then write value: {reference} into the file"))
        }
        None => error,
    }
}

/// Returns the reference that the contract's file contains in place of a schema.
fn reference(ctx: &Ctx, request: &Request) -> Result<Option<Reference>, OpError> {
    let Schema::File(source, pointer) = &request.schema else {
        return Ok(None);
    };
    let outside = |error: OpError| error.next("pass --inline to copy the schema");
    if source.name == documents::STANDARD_INPUT {
        return Err(outside(OpError::usage("a contract cannot refer to standard input")));
    }
    let file = own_path(ctx, Path::new(&source.name)).map_err(outside)?;
    if let Some(files) = Files::checkout(ctx.code()?) {
        let unread = |error: BundleError| outside(OpError::no(ErrorCode::UnreadableSchema, error.to_string()));
        references::regular(&files, &file).map_err(unread)?;
    }
    Ok(Some(Reference { file, pointer: pointer.clone() }))
}

/// Returns the text of a contract's file, with a comment on each key.
fn text(at: &ContractRef, document: &Contract, reference: Option<&Reference>) -> String {
    let ContractRef { domain, contract } = at;
    let mut text = format!(
        "# The contract {at}. Commit this file on the main branch to publish it.\n\
         # Raise the version with: git blue contract bump {at}\n\
         # Check it before committing with: git blue check --worktree\n"
    );
    text += &entry("name", contract);
    text += "\n# MAJOR.MINOR.PATCH, in quotes. A published version never changes.\n";
    text += &format!("version: \"{}\"\n", document.version);
    text += "\n# The only repository that can change the contract.\n";
    text += &entry("owner", &document.owner);
    text += &format!("\n# Its purpose in a sentence, for the other members of {domain}.\n");
    text += &entry("description", &document.description);
    if document.flow == Flow::ConsumerToProvider {
        text += "\n# Consumers send the data, and the owner reads it.\n";
        text += &entry("flow", &document.flow);
    }
    let Compatibility { backwards, forwards, .. } = document.compatibility;
    text += "\n# backwards: readers of the old version accept what the new one sends.\n\
             # forwards: readers of the new version accept what the old one sent.\n";
    text += &format!("compatibility: {{ backwards: {backwards}, forwards: {forwards} }}\n");
    text += "\n# The data that is exchanged, as a JSON Schema.\n";
    match reference {
        Some(reference) => {
            text += "# It is read from this file in the same commit when it is published.\n";
            text += &format!("schema: {}\n", reference.to_yaml());
        }
        None => text += &entry("schema", &InOrder(&document.schema.value())),
    }
    text += "\n# A value that all members agree on; null if they agree only on the schema.\n";
    text += &entry("value", &document.value);
    text += "\n# What each version changed, oldest first.\n";
    text += &format!("evolution:\n  - version: \"{}\"\n    changes: [\"Initial release\"]\n", document.version);
    text
}

/// A schema whose keywords are serialized in the usual order.
struct InOrder<'a>(&'a Value);

/// The keywords that come first.
const FIRST: [&str; 9] =
    ["$schema", "$id", "title", "description", "type", "required", "properties", "additionalProperties", "items"];

impl Serialize for InOrder<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Value::Object(members) => {
                let rank = |key: &str| FIRST.iter().position(|first| *first == key).unwrap_or(FIRST.len());
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by_key(|(key, _)| rank(key));
                serializer.collect_map(sorted.into_iter().map(|(key, value)| (key, InOrder(value))))
            }
            Value::Array(items) => serializer.collect_seq(items.iter().map(InOrder)),
            value => value.serialize(serializer),
        }
    }
}

fn entry<T: Serialize>(key: &str, value: &T) -> String {
    codec::render(&BTreeMap::from([(key, value)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_written_file_parses_to_the_same_contract() {
        let mut document = Contract::new("no".parse().unwrap(), "1.10".parse().unwrap());
        document.schema = json!({"type": "object", "description": "a: b\n# c\n", "properties": {"yes": {}}}).into();
        document.value = json!({"list": [[], {}, "~"], "text": "x\n  y\n"}).into();
        document.evolution = vec![Evolution {
            version: document.version.clone(),
            changes: vec!["Initial release".into()],
            compatible: true,
        }];
        let at = ContractRef { domain: "d".parse().unwrap(), contract: document.name.clone() };
        let text = text(&at, &document, None);
        assert_eq!(codec::contract(text.as_bytes(), &document.name), Ok(document), "{text}");
    }
}
