//! What a change of a domain means for those who take part in it: whom it breaks, and what in it is
//! wrong in itself. Only the domain that moved is looked at.

use crate::model::{
    binding::{Binding, Import},
    contract::Contract,
    domain_view::{DomainView, Standing},
    name::{ContractName, RepoName},
    narrowing,
    nearest::{nearest, question},
    range::Range,
};

/// An import that held before the change and does not after it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// Whose import it is.
    pub repo: RepoName,
    /// The versions it works with.
    pub requirement: Range,
    /// The file of that repository that relies on the contract.
    pub binding: Option<String>,
}

/// Something in a change that does not stop it, and that its author should know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remark {
    /// Its stable code, as `check` has it.
    pub code: &'static str,
    /// What it is about.
    pub contract: ContractName,
    /// The name that was meant, where one is nearly the same.
    pub nearest: Option<ContractName>,
    /// The remark, as the end of a sentence.
    pub message: String,
}

/// Returns the imports of `contract` that held in `before` and do not in `after`.
pub fn breaks(before: &DomainView, after: &DomainView, contract: &ContractName) -> Vec<Break> {
    let importers = after.importers(contract).filter(|(_, import)| holds(before, import) && !holds(after, import));
    let broken = importers.map(|(repo, import)| Break {
        repo: repo.clone(),
        requirement: import.version.clone(),
        binding: import.binding.clone(),
    });
    broken.collect()
}

fn holds(domain: &DomainView, import: &Import) -> bool {
    domain.standing(import).resolved().is_some()
}

/// Returns what there is to say of the new document of a contract.
pub fn of_contract(before: Option<&Contract>, after: &Contract) -> Vec<Remark> {
    let remark = |code, message| Remark { code, contract: after.name.clone(), nearest: None, message };
    let mut remarks = Vec::new();
    if before.is_some_and(|before| before.retired.is_some()) && after.retired.is_none() {
        let message = format!("this brings {} back, which was retired", after.name);
        remarks.push(remark("brought-back", message));
    }
    if after.is_empty() {
        remarks.push(remark("empty-contract", format!("{} has neither a schema nor a value", after.name)));
    }
    let taken = before.map(|before| narrowing::under_minor(before, after)).unwrap_or_default();
    if let (Some(before), false) = (before, taken.is_empty()) {
        let (name, range) = (&after.name, format!("^{}", before.version));
        let message = format!(
            "{name} {} {}, and a range such as {range} accepts it all the same: bump to {} ({})",
            after.version,
            narrowing::summary(&taken),
            before.version.bump(true),
            narrowing::A_GUESS
        );
        remarks.push(remark("narrowed-under-minor", message));
    }
    remarks
}

/// Returns what is wrong with the binding of a repository: what it names that is not there, and ranges
/// that nothing satisfies.
pub fn of_binding(domain: &DomainView, binding: &Binding) -> Vec<Remark> {
    let imports = binding.imports.iter().filter_map(|import| of_import(domain, import));
    let exports = binding.exports.iter().map(|export| &export.contract).filter(|name| !is_known(domain, name));
    let exports = exports.map(|name| missing(domain, "exports", name));
    imports.chain(exports).collect()
}

fn of_import(domain: &DomainView, import: &Import) -> Option<Remark> {
    let name = &import.contract;
    match domain.standing(import) {
        Standing::Satisfied(_) | Standing::Behind { .. } => None,
        Standing::Missing if is_known(domain, name) => Some(Remark {
            code: "missing-contract",
            contract: name.clone(),
            nearest: None,
            message: format!("it imports {name} {}, which has no release yet", import.version),
        }),
        Standing::Missing => Some(missing(domain, "imports", name)),
        Standing::Broken { current } => Some(Remark {
            code: "import-broken",
            contract: name.clone(),
            nearest: None,
            message: format!("it imports {name} {}, but that is {current}", import.version),
        }),
    }
}

fn is_known(domain: &DomainView, name: &ContractName) -> bool {
    domain.contracts.contains_key(name) || domain.versions.contains_key(name) || domain.is_damaged(name)
}

fn missing(domain: &DomainView, verb: &str, name: &ContractName) -> Remark {
    let names = || domain.contracts.keys().chain(domain.versions.keys());
    Remark {
        code: "missing-contract",
        contract: name.clone(),
        nearest: nearest(name, names()).cloned(),
        message: format!("it {verb} {name}, which does not exist{}", question(name, names())),
    }
}
