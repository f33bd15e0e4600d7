//! Reviews one import: the differences that concern it, and the next step.

use std::collections::{BTreeMap, BTreeSet};

use jiff::civil::Date;

use crate::{
    error::{NextStep, OpError},
    model::{
        binding::{Import, UsedIn},
        bundle,
        contract::Contract,
        domain_summary::{ContractSummary, DomainSummary},
        name::{ContractName, ContractRef, DomainName},
        nearest::did_you_mean,
        oid::Oid,
        range::Range,
        review::{Changes, fields_at},
        successor::Successor,
        verdict::{self, Basis, ImportEffect, ImportState, Judge, Outcome, Verdict},
        version::Version,
    },
    ops::{
        ctx::Ctx,
        publish::{
            references::Reference,
            work_file::{self, WorkFile},
        },
    },
    repo::{
        CodeRepo,
        blue_files::{self, Files, Item},
    },
    store::{Store, StoreRef, codec, layout, read, unless_damaged},
    wire::{FieldChange, ImportReview, JudgedBy, Withdrawal},
};

/// The maximum number of lines of differences.
const MAX_LINES: usize = 20;
/// The maximum number of removed fields in a next step.
const MAX_NAMES: usize = 3;

/// Returns whether an import needs a review: it is broken, undecided or cannot be judged, it is behind, or its code is not known to be
/// adapted to the current version.
pub fn is_due(import: &Import, state: &ImportState) -> bool {
    let is_moved = state.resolution.current().is_some_and(|current| import.adapted() != Some(current));
    state.effect() != ImportEffect::Satisfied || is_moved
}

/// The bindings of the user's repository, in the working tree, or at HEAD if there is no working tree.
pub struct BindingFiles<'a> {
    ctx: &'a Ctx,
    code: Option<&'a CodeRepo>,
    files: Option<Files<'a>>,
}

impl<'a> BindingFiles<'a> {
    /// Returns the bindings of a repository.
    ///
    /// # Errors
    /// Returns an error if HEAD cannot be read.
    pub fn of(ctx: &'a Ctx, code: Option<&'a CodeRepo>) -> Result<Self, OpError> {
        let files = match code {
            Some(code) => match (Files::checkout(code), code.head()?.commit) {
                (Some(files), _) => Some(files),
                (None, Some(commit)) => Some(Files::at(code, &commit)?),
                (None, None) => None,
            },
            None => None,
        };
        Ok(Self { ctx, code, files })
    }

    /// Reads the binding in a domain. Returns `None` if it has no file.
    ///
    /// # Errors
    /// Returns an error if the file exists, but cannot be read.
    pub fn read(&self, domain: &DomainName) -> Result<Option<BindingFile>, OpError> {
        let path = blue_files::binding(domain);
        let Some(files) = &self.files else { return Ok(None) };
        let Some(Item::File(handle)) = files.file(&path)? else { return Ok(None) };
        let bytes = files.read(&handle)?.unwrap_or_default();
        let checkout = self.code.filter(|code| code.workdir().is_some());
        let checkout = checkout.map(|code| Checkout::of(self.ctx, code, &path)).transpose()?;
        let imports = imports(&bytes);
        let used = imports.iter().flat_map(BTreeMap::values).flat_map(|import| import.binding.files());
        let mut gone = BTreeSet::new();
        for file in used {
            if !files.exists(file)? {
                gone.insert(file.clone());
            }
        }
        Ok(Some(BindingFile { imports, gone, lines: codec::binding_lines(&bytes), path, checkout }))
    }
}

/// Returns the imports in the text of a binding; `None` if it is invalid.
fn imports(text: &[u8]) -> Option<BTreeMap<ContractName, Import>> {
    let binding = codec::binding(text).ok()?;
    Some(binding.imports.into_iter().map(|import| (import.contract.clone(), import)).collect())
}

/// The working tree that has the file of a binding.
struct Checkout {
    /// The imports in the file at HEAD.
    committed: BTreeMap<ContractName, Import>,
    /// The file as an argument of `git add`.
    argument: String,
    /// The branch that is published, if another one is checked out.
    published: Option<String>,
}

impl Checkout {
    fn of(ctx: &Ctx, code: &CodeRepo, path: &str) -> Result<Self, OpError> {
        let committed = work_file::committed(code, path)?.and_then(|text| imports(&text)).unwrap_or_default();
        let argument = WorkFile::of(code, path.to_owned())?.pathspec(ctx);
        let (head, published) = (code.head()?.branch, code.publishing_branch()?);
        Ok(Self { committed, argument, published: published.filter(|branch| head.as_ref() != Some(branch)) })
    }
}

/// The file of a binding.
pub struct BindingFile {
    path: String,
    /// The imports as they are in the file; `None` if the binding is invalid.
    imports: Option<BTreeMap<ContractName, Import>>,
    /// The files that the imports name as their code, but that do not exist.
    gone: BTreeSet<String>,
    lines: BTreeMap<String, u32>,
    /// `None` if there is no working tree.
    checkout: Option<Checkout>,
}

impl BindingFile {
    /// Returns whether the file has the import, or is invalid.
    fn may_have(&self, contract: &ContractName) -> bool {
        self.imports.as_ref().is_none_or(|imports| imports.contains_key(contract))
    }

    /// Returns the line of an import's range, if it is known.
    fn line(&self, contract: &ContractName) -> Option<u32> {
        self.lines.get(contract.as_str()).copied()
    }

    /// Returns the file with the schema that an import expects of its contract, if the import refers to one.
    fn expects(&self, contract: &ContractName) -> Option<String> {
        let expects = self.imports.as_ref()?.get(contract)?.expects.as_ref()?;
        Some(Reference::of(expects)?.file)
    }

    /// Returns the range of an import in the file, if it is not the published one.
    fn other_range(&self, import: &Import) -> Option<&Range> {
        let range = &self.imports.as_ref()?.get(&import.contract)?.version;
        (*range != import.version).then_some(range)
    }

    /// Returns the step that publishes what the file says about an import, if it was edited as `new` requires, or the
    /// import was removed.
    fn after_edit(&self, at: &ContractRef, import: &Import, new: Option<&Version>) -> Option<String> {
        let Checkout { committed, argument, published } = self.checkout.as_ref()?;
        let held = committed.get(&at.contract).map(|import| &import.version);
        if !self.may_have(&at.contract) {
            let commit = format!("git add {argument} && git commit -m \"Remove {at} from the binding\"");
            return held.map(|_| format!("{commit}  # it is removed from {} already", self.path));
        }
        let range = self.other_range(import).filter(|range| new.is_some_and(|new| range.matches(new)))?;
        if held != Some(range) {
            let commit = format!("git add {argument} && git commit -m \"Bind {at}\"");
            return Some(format!("{commit}  # {} has \"{range}\" already", self.path));
        }
        Some(match published {
            Some(branch) => format!("{} has \"{range}\", which is published once it is on {branch}", self.path),
            None => format!("git blue status  # {} has \"{range}\": see why it is not published yet", self.path),
        })
    }
}

/// Returns whether a path from a file is safe to paste into a shell.
fn is_plain(path: &str) -> bool {
    path.len() <= 200 && path.chars().all(|c| c.is_alphanumeric() || "/._-+@".contains(c))
}

/// A domain during a review.
pub struct Domain<'a> {
    pub store: &'a dyn Store,
    pub tree: &'a Oid,
    pub summary: &'a DomainSummary,
    pub file: Option<BindingFile>,
    pub today: Date,
    pub judge: &'a Judge<'a>,
}

impl Domain<'_> {
    /// Reviews an import.
    ///
    /// # Errors
    /// Returns an error if a document or the file of the binding cannot be read.
    pub fn review(&self, import: &Import, state: &ImportState) -> Result<ImportReview, OpError> {
        let (old, new) = (import.adapted(), state.resolution.current());
        let document = |version: Option<&Version>| version.map(|version| self.document(import, version)).transpose();
        let documents = (document(old)?.flatten(), document(new)?.flatten());
        let changes = match &documents {
            (Some(old), Some(new)) => Changes::between(old, new),
            _ => Changes::default(),
        };
        let verdict = match &documents {
            // The range selects an older version, which satisfies the import. The next step is about the current one.
            (old, Some(new)) if !state.is_broken() && state.resolution.resolved() != Some(&new.version) => {
                verdict::of_documents(import, old.as_ref(), new, self.judge)
            }
            _ => state.between_versions().cloned(),
        };
        let broken_at = verdict.iter().filter_map(|verdict| verdict.difference.as_ref());
        let first: Vec<_> = broken_at.flat_map(|difference| fields_at(&difference.at)).collect();
        let mut differences = changes.lines();
        let more_differences = differences.len().saturating_sub(MAX_LINES);
        differences.truncate(MAX_LINES);
        let file = self.file.as_ref().filter(|file| file.may_have(&import.contract));
        let deprecated = self.summary.contracts.get(&import.contract).and_then(|offered| offered.deprecated.clone());
        let body = ImportReview {
            domain: self.summary.info.name.clone(),
            contract: import.contract.clone(),
            version_req: import.version.clone(),
            state: state.standing(),
            judged_by: JudgedBy::of(state),
            withdrawal: self.withdrawal(import),
            past_sunset: deprecated.as_ref().is_some_and(|deprecated| deprecated.is_over(self.today)),
            deprecated,
            old_version: old.cloned(),
            new_version: new.cloned(),
            verdict,
            never_satisfied: self.never_satisfied(import, state)?,
            differences,
            more_differences,
            fields: changes.fields(&first),
            more_fields: 0,
            binding: import.binding.clone(),
            binding_file: file.map(|file| file.path.clone()),
            binding_line: file.and_then(|file| file.line(&import.contract)),
            file_version_req: file.and_then(|file| file.other_range(import)).cloned(),
            next_step: None,
            mentions: Vec::new(),
        };
        let expects = self.unmet(import, state, &body);
        let at = ContractRef { domain: body.domain.clone(), contract: body.contract.clone() };
        let after_edit = self.file.as_ref().and_then(|file| file.after_edit(&at, import, new));
        let next: Option<String> = match self.withdrawal(import) {
            _ if state.is_unreadable() => None,
            _ if after_edit.is_some() => after_edit,
            Some(Withdrawal::Retired) => Some(self.way_out(&body)),
            Some(Withdrawal::Deprecated) if !is_due(import, state) => Some(self.way_out(&body)),
            _ => Some(self.next_step(&body, state, expects.as_deref())),
        };
        Ok(ImportReview { next_step: next.map(NextStep::from), ..body })
    }

    /// Returns how the owner withdraws an imported contract or its current version, if it does.
    pub fn withdrawal(&self, import: &Import) -> Option<Withdrawal> {
        let offered = self.summary.contracts.get(&import.contract)?;
        match (&offered.retired, &offered.deprecated) {
            (Some(_), _) => Some(Withdrawal::Retired),
            (None, Some(_)) => Some(Withdrawal::Deprecated),
            (None, None) => offered.is_yanked_for(import).then_some(Withdrawal::Yanked),
        }
    }

    /// Names the code that uses a contract.
    fn code(&self, used: &UsedIn) -> String {
        let files = used.files();
        let is_gone = |path: &String| self.file.as_ref().is_some_and(|file| file.gone.contains(path));
        if files.is_empty() || !files.iter().all(|file| is_plain(file)) {
            "the code".to_owned()
        } else if files.iter().all(is_gone) {
            format!("the code, which is no longer in {used},")
        } else {
            used.to_string()
        }
    }

    /// Returns the command to run next for an import whose contract is withdrawn.
    fn way_out(&self, body: &ImportReview) -> String {
        let (domain, contract) = (&body.domain, &body.contract);
        let code = self.code(&body.binding);
        let is_imported = |name: &ContractName| self.file.as_ref().is_some_and(|file| file.may_have(name));
        match self.summary.successor(contract) {
            Some(Successor::Last(name)) if self.summary.contracts.contains_key(name) && is_imported(name) => {
                format!("git blue unimport {domain}/{contract}  # once {code} uses {name} instead")
            }
            Some(Successor::Last(name)) if self.summary.contracts.contains_key(name) => format!(
                "git blue import {domain}/{name}  # replaces {contract}; adapt {code} to it, then run git blue \
                    unimport {domain}/{contract}"
            ),
            _ => format!("git blue unimport {domain}/{contract}  # once {code} no longer uses it"),
        }
    }

    fn document(&self, import: &Import, version: &Version) -> Result<Option<Contract>, OpError> {
        let within = StoreRef::Domain(self.summary.info.name.clone());
        let path = layout::version(&import.contract, version);
        // `check` reports a damaged version.
        Ok(unless_damaged(read::file(self.store, &within, self.tree, &path))?)
    }

    /// Returns whether the version that the code was written against fails the expectations too.
    fn never_satisfied(&self, import: &Import, state: &ImportState) -> Result<bool, OpError> {
        let is_unmet = |one: &Verdict| one.basis == Basis::Expects && one.verdict == Outcome::Breaks;
        let unmet = state.verdict.as_ref().filter(|verdict| is_unmet(verdict));
        let (Some(unmet), Some(expects), Some(old)) = (unmet, &import.expects, import.adapted()) else {
            return Ok(false);
        };
        if *old == unmet.new_version {
            return Ok(true);
        }
        let document = self.document(import, old)?;
        Ok(document
            .is_some_and(|old| is_unmet(&self.judge.satisfies_expects(&bundle::sent(expects, old.flow), None, &old))))
    }

    /// Returns the file of the expectations that the current version does not satisfy.
    fn unmet(&self, import: &Import, state: &ImportState, body: &ImportReview) -> Option<String> {
        let is_unmet = |one: &Verdict| one.basis == Basis::Expects && one.verdict == Outcome::Breaks;
        if import.expects.is_none() || !state.verdict.as_ref().is_some_and(is_unmet) {
            return None;
        }
        let file = self.file.as_ref().and_then(|file| file.expects(&import.contract)).filter(|file| is_plain(file));
        let file = file.or_else(|| body.binding_file.clone());
        Some(file.unwrap_or_else(|| "the expectations".to_owned()))
    }

    /// Returns the command to run next, and what to do before it. `expects` is the file of the
    /// expectations that the current version does not satisfy.
    fn next_step(&self, body: &ImportReview, state: &ImportState, expects: Option<&str>) -> String {
        let at = format!("{}/{}", body.domain, body.contract);
        let place = match (&body.binding_file, body.binding_line) {
            (Some(file), Some(line)) => format!("{file}:{line}"),
            (Some(file), None) => file.clone(),
            (None, _) => "the binding in the realm".to_owned(),
        };
        let Some(new) = &body.new_version else {
            let (domain, contract) = (&body.domain, &body.contract);
            let known = self.summary.contract_names();
            let why = if known.contains(contract) {
                "which has no release yet".to_owned()
            } else {
                format!("which {domain} does not have{}", did_you_mean(contract, known))
            };
            return format!("git blue contract list --domain {domain}  # {place} imports {contract}, {why}");
        };
        let is_yanked = self.summary.contracts.get(&body.contract).is_some_and(ContractSummary::is_yanked);
        if is_yanked {
            return format!("git blue contract get {at}  # {new} was yanked: see why, and wait for a newer version");
        }
        if body.old_version.is_none() && body.version_req.is_above(new) {
            return format!("wait for a version in {}, the range in {place}: none is published yet", body.version_req);
        }
        let code = self.code(&body.binding);
        let code = expects.map_or(code.clone(), |expects| format!("{code} and {expects}"));
        let outcome = body.verdict.as_ref().map(|verdict| verdict.verdict);
        let removed: Vec<_> = body.fields.iter().filter(|field| field.change == FieldChange::Removed).collect();
        if state.resolution.resolved() != Some(new) {
            let range = Range::since(new);
            let is_proof = |verdict: &&Verdict| {
                verdict.verdict == Outcome::Compatible && verdict.new_version == *new && removed.is_empty()
            };
            let proof = body.verdict.as_ref().filter(is_proof);
            let is_editable =
                body.binding_file.is_some() && self.file.as_ref().is_some_and(|file| file.checkout.is_some());
            return match (is_editable, proof) {
                (true, Some(proof)) => {
                    format!("git blue import {at} '{range}'  # {}; this updates {place}", proof.phrase())
                }
                (true, None) => {
                    format!("git blue import {at} '{range}'  # first adapt {code} to {new}; this updates {place}")
                }
                (false, _) => format!(
                    "git blue contract diff {at}  # then adapt {code} to {new}, and write \"{range}\" in {place}, in \
                        a clone with a working tree"
                ),
            };
        }
        if expects.is_some() {
            return format!(
                "git blue check --worktree  # first adapt {code} to {new}, which lacks what the import \
                expects"
            );
        }
        let first = match outcome {
            Some(Outcome::Compatible) if !removed.is_empty() => {
                // Field names were written by somebody else.
                let plain = removed.iter().map(|field| field.name.as_str()).filter(|name| is_plain(name));
                let names: Vec<_> = plain.take(MAX_NAMES).collect();
                let all = if names.len() == removed.len() { names.join(", ") } else { "the fields".to_owned() };
                format!("first check that {code} does not need {all}, which {new} removed")
            }
            None if body.old_version.is_none() => {
                format!("first check that {code} works with {new}: the version that it was written for is unknown")
            }
            Some(Outcome::Breaks) => format!("first adapt {code} to {new}, which {place} accepts"),
            Some(Outcome::Compatible) => body.verdict.as_ref().map(Verdict::phrase).unwrap_or_default(),
            Some(Outcome::Unknown) => format!("first check that {code} works with {new}, which {place} accepts"),
            None => format!(
                "first check that {code} works with {new}: {place} accepts it, but there is no schema to \
                compare"
            ),
        };
        format!("git blue contract adapted {at} {new}  # {first}; this records it")
    }
}
