//! Reads a realm as it was at an earlier time: `--at` of the commands that read, and `at` of their tools and routes.

use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, de};

use super::{
    ctx::{Ctx, RealmContext},
    domain,
    history::arrivals::arrivals,
};
use crate::{
    env::Env,
    error::{ErrorCode, OpError},
    locate::renamed,
    model::{
        clock::Moment,
        name::{ContractRef, RepoName},
        next_step::NextStep,
        oid::Oid,
        version::Version,
    },
    store::{
        Objects as _, Store, StoreError, StoreRef, layout, read,
        store_at::{self, StoreAt},
    },
    wire::Answer,
};

/// A moment in the history of a realm, as users write it.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "String")]
pub enum AsOf {
    /// A point in time.
    Time(Moment),
    /// The time of a commit.
    Commit(String),
    /// The time at which a version of a contract was published. Without a contract, it can only be the name of a
    /// commit.
    Version {
        /// The version.
        version: Version,
        /// The contract that the call is about.
        contract: Option<ContractRef>,
    },
}

impl AsOf {
    /// Interprets a version as one of `contract`, the contract that the call is about, if there is one.
    #[must_use]
    pub fn of(self, contract: Option<ContractRef>) -> Self {
        match self {
            Self::Version { version, .. } => Self::Version { version, contract },
            other => other,
        }
    }
}

/// Returns the contract that a call names in two arguments, if it names one.
pub fn named(domain: Option<&str>, contract: Option<&str>) -> Option<ContractRef> {
    Some(ContractRef { domain: domain?.parse().ok()?, contract: contract?.parse().ok()? })
}

impl FromStr for AsOf {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.parse() {
            Ok(moment) => Ok(Self::Time(moment)),
            Err(problem) if text.trim().is_empty() => Err(problem),
            Err(_) => Ok(match text.parse() {
                Ok(version) => Self::Version { version, contract: None },
                Err(_) => Self::Commit(text.to_owned()),
            }),
        }
    }
}

/// The optional time of a request.
#[derive(Debug, Deserialize, schemars::JsonSchema)]
pub struct At {
    /// Read as of this time, commit or version
    #[serde(default, deserialize_with = "unless_empty")]
    #[schemars(with = "Option<String>")]
    pub at: Option<AsOf>,
}

/// Parses a moment. An empty string is `None`, because forms also send empty fields.
fn unless_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<AsOf>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?.filter(|text| !text.trim().is_empty());
    text.map(|text| text.parse().map_err(de::Error::custom)).transpose()
}

impl TryFrom<String> for AsOf {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

/// Refuses commands that cannot read an earlier state of the realm.
///
/// # Errors
/// Returns an error if the command cannot; the message lists the commands that can.
pub fn require(operation: Option<&super::Operation>) -> Result<(), OpError> {
    if operation.is_some_and(|operation| operation.reads_past) {
        return Ok(());
    }
    let can = super::TABLE.iter().filter(|operation| operation.reads_past);
    let can: Vec<_> = can.map(|operation| operation.cli.join(" ")).collect();
    Err(OpError::usage(format!("--at works only with {}", can.join(", "))))
}

/// Returns the name that a repository had in the past, of its current and its former `names`.
fn name_then(past: &dyn Store, names: Vec<RepoName>) -> Result<Option<RepoName>, StoreError> {
    let Some(root) = read::tip_tree(past, &StoreRef::Realm)? else { return Ok(None) };
    for name in names {
        if read::lookup(past, &root, layout::repo(&name).as_str())?.is_some() {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

impl Ctx {
    /// Returns a context in which the realm is as it was at `at`; a date means the end of that day. The context is
    /// read-only.
    ///
    /// # Errors
    /// Returns an error if there is no realm, if it did not exist yet, if the version was never published, or if `at`
    /// is not a time, a commit of this repository or of the realm's store, or a version of the contract.
    pub fn as_of(self, at: &AsOf) -> Result<Self, OpError> {
        let mut known = None;
        let moment = match at {
            AsOf::Time(moment) => store_at::Moment { time: moment.end(&self.env.now_of_client()), source: None },
            AsOf::Commit(revision) => self.commit_as_of(revision)?,
            AsOf::Version { version, contract: None } => self.commit_as_of(&version.to_string())?,
            AsOf::Version { version, contract: Some(contract) } => {
                let (commit, time) = self.published(contract, version)?;
                known = Some((StoreRef::Domain(contract.domain.clone()), commit));
                store_at::Moment { time, source: None }
            }
        };
        let RealmContext { realm, store, repo, .. } = self.realm?;
        let names = repo.as_ref().map(|repo| renamed::names(&*store, repo)).transpose()?.unwrap_or_default();
        let past = StoreAt::new(store, moment);
        let past = match known {
            Some((name, commit)) => past.with(name, commit),
            None => past,
        };
        if past.tip(&StoreRef::Realm)?.is_none() {
            let message = format!("the realm {realm} did not exist at {}", shown(&self.env, moment.time));
            return Err(OpError::cannot(ErrorCode::BeforeRealm, message)
                .next(format!("git blue realm log --realm {realm} --all  # its history")));
        }
        let repo = name_then(&past, names)?.or(repo);
        let here = RealmContext::new(realm, past, repo);
        Ok(Self { realm: Ok(here), as_of: Some(moment.time), ..self })
    }

    fn commit_as_of(&self, revision: &str) -> Result<store_at::Moment, OpError> {
        if let Some(code) = &self.code
            && let Ok(commit) = code.resolve(revision)
        {
            return Ok(store_at::Moment { time: code.commit(&commit)?.time, source: Some(commit) });
        }
        let in_store = revision.parse::<Oid>().ok().and_then(|commit| self.realm().ok()?.store.commit(&commit).ok());
        in_store.map(|commit| store_at::Moment { time: commit.time, source: None }).ok_or_else(|| {
            let message = format!("{revision:?} is neither a time nor a commit");
            let error = OpError::cannot(ErrorCode::UnknownCommit, message)
                .next("write 2026-03-03, 2026-03-03T12:00:00Z, \"2 weeks ago\", or a commit of this repository");
            match revision.parse::<Version>() {
                Ok(version) => {
                    error.next(format!("git blue contract get …/… --at {version}  # name the contract of that version"))
                }
                Err(_) => error,
            }
        })
    }

    /// Returns the commit that added a version to its domain, and its time.
    fn published(&self, contract: &ContractRef, version: &Version) -> Result<(Oid, Timestamp), OpError> {
        let store = &*self.realm()?.store;
        let arrived = arrivals(store, domain::tip(store, &contract.domain)?, &contract.contract)?;
        if let Some(arrival) = arrived.get(version) {
            return Ok((arrival.commit, arrival.info.time));
        }
        if arrived.is_empty() {
            domain::contract(store, contract)?;
        }
        Err(domain::never_published(contract, version, arrived.keys().map(ToString::to_string).collect()))
    }

    /// Returns an answer whose next steps fit the state of the realm that it shows. For an earlier state, these are only
    /// commands that read the same state: the others act on the present.
    pub(super) fn with_past_steps<T>(&self, mut answer: Answer<T>) -> Answer<T> {
        if let Some(moment) = self.as_of {
            answer.next_steps = answer.next_steps.iter().filter_map(|step| past_step(step, moment)).collect();
        }
        answer
    }

    /// Refuses to write in a context that reads an earlier state of the realm.
    pub(super) fn in_present(&self) -> Result<(), OpError> {
        let refuse = |moment| {
            OpError::usage(format!("the realm is shown as of {}, and cannot be changed", shown(&self.env, moment)))
        };
        self.as_of.map_or(Ok(()), |moment| Err(refuse(moment)))
    }
}

/// Returns the step with a command that reads the realm as of `moment`, or `None` if it does not read an earlier state.
fn past_step(step: &NextStep, moment: Timestamp) -> Option<NextStep> {
    let NextStep::Command { command, reason } = step else { return None };
    let rest = command.strip_prefix("git blue ")?;
    let words: Vec<_> = rest.split(' ').collect();
    let is_this = |command: &[&str]| words.starts_with(command);
    let mut readers = super::TABLE.iter().filter(|operation| operation.reads_past);
    readers
        .any(|operation| is_this(operation.cli) || operation.cli.strip_prefix(&["realm"]).is_some_and(is_this))
        .then(|| NextStep::Command { command: format!("git blue --at {moment:.0} {rest}"), reason: reason.clone() })
}

/// Formats a moment for people, to the second.
fn shown(env: &Env, moment: Timestamp) -> String {
    let zone = env.now_of_client().time_zone().clone();
    moment.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S %Z").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_moment_is_none() {
        let read = |text: &str| serde_json::from_value::<At>(serde_json::json!({"at": text})).map(|read| read.at);
        assert!(matches!(read(""), Ok(None)) && matches!(read(" "), Ok(None)));
        assert!(matches!(read("2026-03-03"), Ok(Some(AsOf::Time(_)))));
        assert!(matches!(read("main~2"), Ok(Some(AsOf::Commit(_)))));
    }

    #[test]
    fn every_operation_that_reads_the_past_is_read_only() {
        let mut readers = super::super::TABLE.iter().filter(|operation| operation.reads_past);
        assert!(readers.all(|operation| !operation.writes && require(Some(operation)).is_ok()));
        let error = require(Some(&super::super::realm::sync::OPERATION)).unwrap_err();
        assert!(error.message.starts_with("--at works only with realm status, realm check, "), "{error}");
    }

    #[test]
    fn times_and_commits_are_distinguished() {
        assert!(matches!("2026-03-03".parse(), Ok(AsOf::Time(_))));
        assert!(matches!("2 weeks ago".parse(), Ok(AsOf::Time(_))));
        assert!(matches!("HEAD~2".parse(), Ok(AsOf::Commit(_))));
        assert!(matches!("v1.2.0".parse(), Ok(AsOf::Commit(_))));
        assert!(matches!("1.2.0".parse(), Ok(AsOf::Version { contract: None, .. })));
        let of = |text: &str| text.parse::<AsOf>().unwrap().of(named(Some("s3"), Some("paths")));
        assert!(matches!(of("1.2.0"), AsOf::Version { contract: Some(_), .. }));
        assert!(matches!(of("main"), AsOf::Commit(_)));
        assert!(" ".parse::<AsOf>().is_err());
    }
}
