//! `contract_expect`: writes a schema of what this repository's code relies on, derived from samples of the data that
//! the code reads.

use crate::{
    error::{ErrorCode, NextStep, OpError},
    model::{binding::Role, contract::Flow, name::ContractRef, samples},
    ops::{
        Operation,
        binding::{edit::Editing, import::widening},
        contract::documents::{self, Samples, Source},
        ctx::Ctx,
        domain,
        publish::{references::Reference, work_file::WorkFile},
    },
    repo::blue_files::FOLDER,
    wire::{Answer, ContractExpect, FileEdit},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::write::<ContractExpect>(
    "contract_expect",
    &["contract", "expect"],
    "Infer what this repository's code relies on from samples",
);

/// The arguments.
#[derive(Debug, Clone)]
pub struct Request {
    /// The contract, which this repository's binding imports.
    pub contract: ContractRef,
    /// Examples of what the code reads, or sends.
    pub samples: Vec<Source>,
    /// Whether to replace an existing file and existing expectations.
    pub replace: bool,
}

/// Writes a file with a schema that all samples satisfy, and names it in the binding.
///
/// # Errors
/// Returns an error if the binding does not import the contract, the file exists already, or a file cannot be read or
/// edited.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractExpect>, OpError> {
    let at = &request.contract;
    let mut editing = Editing::open(ctx, at, Role::Consumer)?;
    let Some(import) = editing.binding.import(&at.contract) else {
        return Err(domain::not_imported(editing.acting().repo, at));
    };
    let (widening, expected) = (widening(at, &import.version), import.expects.clone());
    let Samples { values, advice } = documents::samples(&request.samples)?;
    if values.is_empty() {
        return Err(OpError::usage("the files contain no sample"));
    }
    let schema = samples::infer(&values);
    let file = WorkFile::of(ctx.code()?, format!("{FOLDER}/expects/{}/{}.json", at.domain, at.contract))?;
    let wanted = Reference { file: file.relative().to_owned(), pointer: String::new() };
    if let Some(expected) = expected.filter(|_| !request.replace)
        && Reference::of(&expected).as_ref() != Some(&wanted)
    {
        let what = Reference::of(&expected).map_or_else(String::new, |expected| format!(" in {}", expected.file));
        return Err(exists(format!("the import of {at} has expectations{what} already, which were not replaced"), at));
    }
    let before = file.read()?;
    let text = format!("{schema:#}\n");
    let change = match &before {
        Some(before) if *before == text => FileEdit::Unchanged,
        Some(_) if !request.replace => {
            return Err(exists(format!("{} already exists, and was not overwritten", file.relative()), at));
        }
        Some(_) => FileEdit::Changed,
        None => FileEdit::Created,
    };
    match change {
        FileEdit::Changed => file.replace(&text)?,
        FileEdit::Created => file.create(&text)?,
        FileEdit::Unchanged | FileEdit::Removed => {}
    }
    let named = editing.expect(&wanted).and_then(|()| {
        let by_hand = format!("expects: {{ file: {} }} in the import of {}", file.relative(), at.contract);
        editing.finish(&by_hand)
    });
    // Restore the file: no binding names it, or the user did not ask to change it alone.
    let edited = named.inspect_err(|_| {
        let _ = match (change, &before) {
            (FileEdit::Created, _) => file.remove(),
            (FileEdit::Changed, Some(before)) => file.replace(before),
            _ => Ok(()),
        };
    })?;
    let body = ContractExpect {
        realm: edited.body.realm,
        domain: edited.body.domain,
        contract: edited.body.contract,
        current_repo: edited.body.current_repo,
        file: file.relative().to_owned(),
        change,
        binding: edited.body.file.clone(),
        binding_change: edited.body.change,
        samples: values.len(),
    };
    let paths = file.pathspecs(ctx, [edited.body.file])?;
    let edit = match domain::contract(ctx.acting_repo()?.store, at).map(|held| held.flow) {
        Ok(Flow::ConsumerToProvider) => "restrict each value to what the code sends, with the keywords of the contract",
        _ => "remove what the code does not read",
    };
    let answer = advice.into_iter().fold(Answer::new(body), |answer, advice| answer.next(NextStep::advice(advice)));
    let answer = answer
        .next(format!("edit {}: {edit}", file.relative()))
        .next("git blue check --worktree  # check that the contract meets the expectations");
    let answer = answer.next_all(widening);
    Ok(answer.next(format!("git add {paths} && git commit -m \"Add expectations for {at}\"")))
}

fn exists(message: String, at: &ContractRef) -> OpError {
    OpError::no(ErrorCode::FileExists, message)
        .next(format!("git blue contract expect {at} --replace --from-samples FILE…  # replace it"))
}
