//! `contract_validate`: checks whether payloads satisfy the schema of a contract.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, de::Error as _};
use serde_json::Value;

use super::{documents::Document, draft::Draft, get::at_version};
use crate::{
    error::{ErrorCode, OpError},
    model::{
        contract::Contract,
        domain_view::DomainView,
        json::Json,
        name::{ContractFields, ContractRef},
        range::Range,
        schema,
        version::Version,
    },
    ops::{
        Operation,
        ctx::{Ctx, RealmContext},
        domain::{self, Part},
        operation::given_as,
        runs,
    },
    wire::{Answer, ContractValidate, DocumentSource, PayloadFailure},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::reads::<Request>(
    "contract_validate",
    &["contract", "validate"],
    "Check payloads against a contract's schema",
)
.reads_past()
.tool("Validate a payload against a contract's schema.")
.route("POST", "/realms/{realm}/contracts/{domain}/{contract}/validate");

/// The maximum number of failures that an answer lists.
const MAX_FAILURES: usize = 100;
/// The maximum number of versions that payloads are checked against at once.
const MAX_VERSIONS: usize = 1_000;

/// The arguments.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The contract
    #[serde(flatten, with = "ContractFields")]
    #[cfg_attr(feature = "cli", arg(value_name = "DOMAIN/CONTRACT"))]
    pub contract: ContractRef,
    /// The versions to check against
    #[serde(flatten)]
    #[cfg_attr(feature = "cli", command(flatten))]
    pub against: Against,
    /// The payload: any JSON
    #[serde(rename = "payload", deserialize_with = "alone")]
    #[schemars(with = "Value")]
    #[cfg_attr(feature = "cli", arg(skip))]
    pub payloads: Vec<Payload>,
}

runs!(ContractValidate, run);

/// The versions that payloads are checked against.
#[derive(Debug, Clone)]
pub enum Against {
    /// The current version.
    Current,
    /// A published version.
    Version(Version),
    /// Every published version in a range.
    Range(Range),
    /// The files of this repository.
    Draft(Draft),
}

/// A value to check.
#[derive(Debug, Clone)]
pub struct Payload {
    /// The name of its file in messages.
    pub file: String,
    /// The value and its line.
    pub document: Document,
}

/// Reads a single payload that does not come from a file.
fn alone<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Payload>, D::Error> {
    let value = Json::deserialize(deserializer).map_err(|error| D::Error::custom(format_args!("payload: {error}")))?;
    let document = Document { line: None, value: value.into() };
    Ok(vec![Payload { file: "payload".to_owned(), document }])
}

/// The fields that select the versions to check against.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
struct AgainstFields {
    /// Check against this published version instead of the current one
    #[cfg_attr(feature = "cli", arg(long, value_name = "VERSION", conflicts_with_all = ["range", "worktree"]))]
    version: Option<Version>,
    /// Check against every published version in this range
    #[cfg_attr(feature = "cli", arg(long, value_name = "RANGE", conflicts_with = "worktree"))]
    range: Option<Range>,
    /// Check against the file in the working tree, committed or not
    #[serde(default)]
    #[cfg_attr(feature = "cli", arg(long))]
    worktree: bool,
}

given_as!(Against, AgainstFields);

impl TryFrom<AgainstFields> for Against {
    type Error = &'static str;

    fn try_from(AgainstFields { version, range, worktree }: AgainstFields) -> Result<Self, Self::Error> {
        match (version, range, worktree) {
            (None, None, false) => Ok(Self::Current),
            (Some(version), None, false) => Ok(Self::Version(version)),
            (None, Some(range), false) => Ok(Self::Range(range)),
            (None, None, true) => Ok(Self::Draft(Draft::Worktree)),
            _ => Err("pass only one of version, range and worktree"),
        }
    }
}

/// Checks the payloads.
///
/// # Errors
/// Returns an error if there is no such contract or version, or its schema is invalid.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<ContractValidate>, OpError> {
    let here = ctx.realm()?;
    let (contracts, source) = contracts(ctx, here, request)?;
    let values: Vec<&Value> = request.payloads.iter().map(|payload| &payload.document.value).collect();
    let budget = ctx.budget();
    let (mut found, mut more_failures) = (Vec::new(), 0);
    for contract in &contracts {
        let all = schema::payloads(&contract.schema, &values, &budget).map_err(|problem| {
            let at = format!("{} {}", request.contract, contract.version);
            let message = format!("the schema of {at} is not valid at {:?}: {}", problem.pointer, problem.message);
            OpError::no(ErrorCode::InvalidContract, message)
        })?;
        for (payload, failures) in request.payloads.iter().zip(all) {
            found.extend(failures.listed.into_iter().map(|failure| of(payload, &contract.version, failure)));
            more_failures += failures.more;
        }
    }
    let is_refused = found.iter().any(|failure| !failure.undecided);
    more_failures += found.len().saturating_sub(MAX_FAILURES);
    let valid = if is_refused { Some(false) } else { found.is_empty().then_some(true) };
    let refused: BTreeSet<_> = found.iter().map(|failure| (&failure.file, failure.line)).collect();
    let refused = refused.len();
    found.truncate(MAX_FAILURES);
    let is_quoted = is_refused && values.iter().any(|value| is_json_text(value));
    let answer = Answer::new(ContractValidate {
        realm: here.realm.clone(),
        domain: request.contract.domain.clone(),
        contract: request.contract.contract.clone(),
        source,
        versions: contracts.into_iter().map(|contract| contract.version).collect(),
        payloads: request.payloads.len(),
        refused,
        valid,
        failures: found,
        more_failures,
    });
    Ok(answer.next_if(is_quoted, "the payload is a string that contains JSON: pass the value, not its text"))
}

/// Returns whether a value is the text of a JSON object or array, which clients pass by mistake.
fn is_json_text(value: &Value) -> bool {
    let Value::String(text) = value else { return false };
    text.trim_start().starts_with(['{', '[']) && serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok()
}

fn of(payload: &Payload, version: &Version, failure: schema::Failure) -> PayloadFailure {
    PayloadFailure {
        file: payload.file.clone(),
        line: payload.document.line,
        version: version.clone(),
        pointer: failure.pointer,
        schema_pointer: failure.schema_pointer,
        message: failure.message,
        undecided: failure.is_undecided,
    }
}

/// Returns the contract at each of the versions.
fn contracts(ctx: &Ctx, here: &RealmContext, request: &Request) -> Result<(Vec<Contract>, DocumentSource), OpError> {
    let at = &request.contract;
    let store = &*here.store;
    let published = |versions: &[Version]| {
        let wanted: Vec<_> = versions.iter().map(|version| (at.contract.clone(), version.clone())).collect();
        let only = [at.contract.clone()].into();
        domain::load(
            store,
            &at.domain,
            &domain::tip(store, &at.domain)?,
            &Part { published: &wanted, contracts: Some(&only), ..Part::default() },
        )
    };
    let contracts = match &request.against {
        Against::Draft(draft) => return Ok((vec![draft.contract(ctx, at)?], draft.source())),
        Against::Current => vec![domain::contract(store, at)?],
        Against::Version(version) => {
            let view = published(std::slice::from_ref(version))?;
            let found = at_version(&view, &at.contract, version);
            vec![found.map_err(|error| domain::with_similar_name(store, at, error))?]
        }
        Against::Range(range) => {
            let view = domain::of_contract(store, at)?;
            let versions = in_range(&view, at, range).map_err(|error| domain::with_similar_name(store, at, error))?;
            let view = published(&versions)?;
            versions.iter().map(|version| at_version(&view, &at.contract, version)).collect::<Result<_, _>>()?
        }
    };
    Ok((contracts, DocumentSource::Realm))
}

fn in_range(view: &DomainView, at: &ContractRef, range: &Range) -> Result<Vec<Version>, OpError> {
    let Some(known) = view.versions.get(&at.contract) else {
        return domain::current(view, &at.contract).map(|current| vec![current.version.clone()]);
    };
    let found: Vec<_> = known.iter().filter(|version| range.matches(version)).cloned().collect();
    if found.len() > MAX_VERSIONS {
        let message = format!("{range} accepts {} versions of {at}; at most {MAX_VERSIONS} are checked", found.len());
        return Err(OpError::no(ErrorCode::TooManyVersions, message).next("use a narrower range"));
    }
    if found.is_empty() {
        let known: Vec<_> = known.iter().rev().take(20).map(ToString::to_string).collect();
        return Err(OpError::no(ErrorCode::UnknownVersion, format!("no published version of {at} is in {range}"))
            .next(format!("published versions: {}", known.join(", "))));
    }
    Ok(found)
}
