//! The library for other programs: a machine, its realms, and the repositories in them.

use std::path::Path;

use serde_json::Value;

use crate::{
    env::Env,
    error::{NextStep, OpError},
    locate,
    model::{
        name::{ContractRef, NameError, ReaderName, RealmName, RepoName},
        version::{Version, VersionError},
    },
    ops::{compat, contract, ctx::Ctx, inboxes::pending, notifications, realm},
    wire::{
        Answer, AskedDirection, Compat, ContractGet, ContractImpact, ContractList, ContractPublish, Failure,
        NotificationFilter, NotificationsAck, NotificationsList, PageRequest, Problem, RealmCheck, RealmList,
        RealmStatus, RealmSync, SchemaReading,
    },
};

/// The error of an operation: its kind, a message, and what to do next.
#[derive(Debug, Clone, thiserror::Error)]
#[error(transparent)]
pub struct Error(OpError);

impl Error {
    /// Returns the error code, such as `unknown-realm`. Codes do not change between versions.
    pub fn code(&self) -> &'static str {
        self.0.code.as_str()
    }

    /// Returns the message, a sentence with the subject and cause.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the individual problems, with file, line and column if known. Empty unless there are several.
    pub fn problems(&self) -> &[Problem] {
        &self.0.problems
    }

    /// Returns the next steps, most urgent first.
    pub fn next_steps(&self) -> &[NextStep] {
        &self.0.next_steps
    }
}

#[doc(hidden)]
impl From<OpError> for Error {
    fn from(error: OpError) -> Self {
        Self(error)
    }
}

impl From<NameError> for Error {
    fn from(error: NameError) -> Self {
        Self(error.into())
    }
}

impl From<VersionError> for Error {
    fn from(error: VersionError) -> Self {
        Self(OpError::usage(error.to_string()))
    }
}

impl From<Error> for Failure {
    /// Serializes the error as `--json` prints it.
    fn from(error: Error) -> Self {
        Self::from(&error.0)
    }
}

/// A user's view of one machine, for opening realms and repositories.
#[derive(Debug, Clone)]
pub struct Machine {
    env: Env,
}

impl Machine {
    /// Opens the user's realms, which are in `GIT_BLUE_HOME`, or in `.blue` in the home directory.
    ///
    /// The variables and the working directory of the process are read here, once.
    ///
    /// # Errors
    /// Returns an error if the working directory does not exist, or no variable contains the home directory.
    ///
    /// ```no_run
    /// // These are the user's own realms, so this example is not run.
    /// for realm in git_blue::Machine::open()?.realms()?.body.realms {
    ///     println!("{}", realm.name);
    /// }
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn open() -> Result<Self, Error> {
        let env = Env::from_process().map_err(OpError::io("read", "the current directory"))?;
        Self::with_env(env)
    }

    /// Opens the realms in a given directory, as if `GIT_BLUE_HOME` were set to it. Everything else is
    /// as in [`Machine::open`]; commits use the identity in git's configuration.
    ///
    /// # Errors
    /// Returns an error if the working directory does not exist.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// let machine = git_blue::Machine::at(folder.path())?;
    /// assert!(machine.realms()?.body.realms.is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn at(home: impl AsRef<Path>) -> Result<Self, Error> {
        let env = Env::from_process().map_err(OpError::io("read", "the current directory"))?;
        Self::with_env(env.with(locate::HOME, home.as_ref()))
    }

    /// Opens the realms of a given environment, for tests that must not depend on their process.
    ///
    /// # Errors
    /// Returns the errors of [`Machine::open`].
    #[doc(hidden)]
    pub fn with_env(env: Env) -> Result<Self, Error> {
        // Fix the location of the realms, so that it does not depend on the folder of a repository that is opened
        // later.
        let home = locate::home(&env)?;
        let env = env.with(locate::HOME, home.folder());
        // Remove variables of a surrounding repository or git command, because the caller passes the folders.
        Ok(Self { env: env.without_repository().without_selection().without_terminal() })
    }

    /// Lists the realms of this machine. A realm that cannot be read is listed with its problem.
    ///
    /// # Errors
    /// Returns an error if the list of realms cannot be read.
    pub fn realms(&self) -> Result<Answer<RealmList>, Error> {
        Ok(realm::list::run(&Ctx::open(self.env.clone().at(Path::new("/")), None)?)?)
    }

    /// Opens a realm.
    ///
    /// # Errors
    /// Returns an error if this machine does not have it, or its store cannot be opened.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let machine = example.machine();
    /// let realm = machine.realm(&"aperture".parse()?)?;
    /// let contract = realm.contract(&"s3-access/s3-permissions".parse()?, None)?.body.contract;
    /// assert_eq!(contract.owner.as_str(), "fungal");
    /// assert_eq!(contract.version.to_string(), "1.0.0");
    ///
    /// let error = machine.realm(&"nowhere".parse()?).err().unwrap();
    /// assert_eq!(error.code(), "unknown-realm");
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn realm(&self, name: &RealmName) -> Result<Realm, Error> {
        Ok(Realm { ctx: Ctx::in_realm(self.env.clone(), name, None)? })
    }

    /// Opens the repository at or above a directory, as part of the realm that its `.blue/config.yaml` or git's
    /// configuration names.
    ///
    /// # Errors
    /// Returns an error if the directory is not in a repository, or the repository is not in a realm of this machine.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let (machine, folder) = (example.machine(), example.folder("access"));
    /// let repository = machine.repository(&folder)?;
    /// assert_eq!(repository.name().as_str(), "access");
    /// assert_eq!(repository.realm().name().as_str(), "aperture");
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn repository(&self, folder: impl AsRef<Path>) -> Result<Repository, Error> {
        let ctx = Ctx::open(self.env.clone().at(folder.as_ref()), None)?;
        ctx.code()?;
        let name = ctx.acting_repo()?.repo.clone();
        Ok(Repository { realm: Realm { ctx }, name, reader: pending::cli_reader() })
    }
}

/// A realm. Only [`Realm::sync`] uses the network.
///
/// A realm cannot be shared between threads: open one per thread.
pub struct Realm {
    ctx: Ctx,
}

impl Realm {
    /// Returns its name.
    pub fn name(&self) -> &RealmName {
        match &self.ctx.realm {
            Ok(here) => &here.realm,
            Err(_) => unreachable!("a realm that was not found is not opened"),
        }
    }

    /// Returns the repositories of the realm, and its domains in pages.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    pub fn status(&self, page: &PageRequest) -> Result<Answer<RealmStatus>, Error> {
        self.status_for(None, page)
    }

    fn status_for(&self, reader: Option<&ReaderName>, page: &PageRequest) -> Result<Answer<RealmStatus>, Error> {
        let request = realm::status::Request { reader: reader.cloned(), page: page.clone(), ..Default::default() };
        // Drop the receipt: a program acknowledges notifications explicitly.
        Ok(realm::status::run(&self.ctx, &request)?.answer)
    }

    /// Lists the contracts of all domains.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let realm = example.machine().realm(&"aperture".parse()?)?;
    /// let all = git_blue::wire::PageRequest::all();
    /// let names: Vec<_> = realm.contracts(&all)?.body.contracts.into_iter().map(|line| line.name).collect();
    /// assert_eq!(names, ["s3-permissions".parse()?]);
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn contracts(&self, page: &PageRequest) -> Result<Answer<ContractList>, Error> {
        let request = contract::list::Request { page: page.clone(), ..Default::default() };
        Ok(contract::list::run(&self.ctx, &request)?)
    }

    /// Returns a contract, at a version or at the current one. The cost does not depend on the size of the realm.
    ///
    /// # Errors
    /// Returns an error if there is no such contract or version, or it cannot be read.
    pub fn contract(&self, contract: &ContractRef, version: Option<&Version>) -> Result<Answer<ContractGet>, Error> {
        let request = contract::get::Request { contract: contract.clone(), version: version.cloned(), origin: false };
        Ok(contract::get::run(&self.ctx, &request)?)
    }

    /// Returns the consequences of a version of a contract, published or not, for each repository that imports it.
    ///
    /// # Errors
    /// Returns an error if there is no such contract, or it cannot be read.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let realm = example.machine().realm(&"aperture".parse()?)?;
    /// let impact = realm.impact(&"s3-access/s3-permissions".parse()?, Some(&"2.0.0".parse()?))?.body;
    /// assert_eq!((impact.broken, impact.importers[0].repo.as_str()), (1, "access"));
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn impact(&self, contract: &ContractRef, version: Option<&Version>) -> Result<Answer<ContractImpact>, Error> {
        let to = contract::impact::Candidate::Version(version.cloned());
        Ok(contract::impact::run(&self.ctx, &contract::impact::Request { contract: contract.clone(), to })?)
    }

    /// Syncs the realm with all its remotes, through the user's git, which does not prompt for passwords.
    ///
    /// If one of several remotes refuses something, this is reported as a problem in the answer, which is then not
    /// `complete`.
    ///
    /// # Errors
    /// Returns an error if the realm has no remote, or if its only remote cannot be reached.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let realm = example.machine().realm(&"aperture".parse()?)?;
    /// let error = realm.sync().unwrap_err();
    /// assert_eq!(error.code(), "no-remote");
    /// assert!(error.next_steps()[0].command().unwrap().starts_with("git blue init --url"));
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn sync(&self) -> Result<Answer<RealmSync>, Error> {
        self.sync_for(&pending::cli_reader())
    }

    fn sync_for(&self, reader: &ReaderName) -> Result<Answer<RealmSync>, Error> {
        let request = realm::sync::Request { reader: reader.clone(), ..Default::default() };
        Ok(realm::sync::run(&self.ctx, &request)?)
    }
}

/// A clone of a repository in a realm. It only writes if its user ran `git blue init` in it.
///
/// A repository cannot be shared between threads: open one per thread.
pub struct Repository {
    realm: Realm,
    name: RepoName,
    reader: ReaderName,
}

impl Repository {
    /// Returns its name in the realm.
    pub fn name(&self) -> &RepoName {
        &self.name
    }

    /// Returns its realm.
    pub fn realm(&self) -> &Realm {
        &self.realm
    }

    /// Sets the reader of notifications, which by default is the person at the command line. Each reader sees every
    /// notification once, so a program that marks notifications as seen needs its own name.
    #[must_use]
    pub fn with_reader(self, reader: ReaderName) -> Self {
        Self { reader, ..self }
    }

    /// Returns a summary of the realm and the state of this repository: its imports, unpublished commits, and pending
    /// notifications. Publishes nothing and marks nothing as seen.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    ///
    /// ```
    /// use git_blue::wire::ImportStanding;
    ///
    /// # let example = git_blue::testing::example::Example::new();
    /// # let repository = example.machine().repository(example.folder("access"))?;
    /// let status = repository.status(&Default::default())?.body;
    /// let import = &status.imports[0];
    /// assert_eq!((import.contract.as_str(), import.state), ("s3-permissions", ImportStanding::Current));
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn status(&self, page: &PageRequest) -> Result<Answer<RealmStatus>, Error> {
        self.realm.status_for(Some(&self.reader), page)
    }

    /// Syncs the realm like [`Realm::sync`], after publishing the commits that no hook published.
    ///
    /// # Errors
    /// Returns the errors of [`Realm::sync`].
    pub fn sync(&self) -> Result<Answer<RealmSync>, Error> {
        self.realm.sync_for(&self.reader)
    }

    /// Lists changes by other repositories that this reader has not seen, most important first. Marks nothing as seen;
    /// use [`Repository::acknowledge`] for that.
    ///
    /// # Errors
    /// Returns an error if the realm cannot be read.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let machine = example.machine();
    /// # example.commit("fungal", "1.1.0");
    /// // `fungal` publishes version 1.1.0 of its contract, and `access`, which imports it, is notified.
    /// machine.repository(example.folder("fungal"))?.publish()?;
    /// let access = machine.repository(example.folder("access"))?.with_reader("my-bot".parse()?);
    /// let pending = access.pending(&Default::default())?.body.notifications;
    /// assert_eq!(pending[0].changes.new_version, Some("1.1.0".parse()?));
    ///
    /// access.acknowledge([pending[0].id.clone()])?;
    /// assert!(access.pending(&Default::default())?.body.notifications.is_empty());
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn pending(&self, page: &PageRequest) -> Result<Answer<NotificationsList>, Error> {
        let filter = NotificationFilter::Pending;
        let request = notifications::list::Request {
            reader: self.reader.clone(),
            filter,
            page: page.clone(),
            ..Default::default()
        };
        Ok(notifications::list::run(&self.realm.ctx, &request)?)
    }

    /// Marks pending notifications as seen by this reader. Unknown ids are listed in the answer.
    ///
    /// # Errors
    /// Returns an error if none of them is a notification of this reader, or the clone may not write.
    pub fn acknowledge(&self, ids: impl IntoIterator<Item = String>) -> Result<Answer<NotificationsAck>, Error> {
        let ids: Vec<_> = ids.into_iter().collect();
        if ids.is_empty() {
            // The operation treats an empty list as all ids.
            return Err(OpError::usage("no notification id was given").into());
        }
        let request = notifications::ack::Request { reader: self.reader.clone(), ids };
        Ok(notifications::ack::run(&self.realm.ctx, &request)?)
    }

    /// Checks the realm with the files of this repository's HEAD applied to it, like CI. An invalid realm is reported
    /// in the answer (`valid` is false), not as an error. Publishes nothing.
    ///
    /// # Errors
    /// Returns an error if the realm or the repository cannot be read.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let machine = example.machine();
    /// # example.commit("fungal", "2.0.0");
    /// // `fungal` has committed version 2.0.0, and `access` imports `>=1.0.0, <2.0.0`.
    /// let check = machine.repository(example.folder("fungal"))?.check()?.body;
    /// assert!(!check.valid);
    /// assert_eq!(check.errors[0].repo, Some("access".parse()?));
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn check(&self) -> Result<Answer<RealmCheck>, Error> {
        Ok(realm::check::run(&self.realm.ctx, &realm::check::Request { reader: None, ..Default::default() })?)
    }

    /// Publishes the contracts and bindings of HEAD. Does nothing if they are already published.
    ///
    /// # Errors
    /// Returns all refusals at once, in which case nothing was published, or an error if the clone may not write.
    pub fn publish(&self) -> Result<Answer<ContractPublish>, Error> {
        Ok(contract::publish::run(&self.realm.ctx, &contract::publish::Request::default())?)
    }

    /// Returns what [`Repository::publish`] would do, without doing it.
    ///
    /// # Errors
    /// Returns all refusals at once.
    ///
    /// ```
    /// # let example = git_blue::testing::example::Example::new();
    /// # let machine = example.machine();
    /// # example.commit("fungal", "2.0.0");
    /// let preview = machine.repository(example.folder("fungal"))?.preview()?.body;
    /// let change = &preview.published[0];
    /// assert_eq!((change.change, change.broken), (git_blue::wire::ChangeKind::Updated, 1));
    /// # Ok::<(), git_blue::Error>(())
    /// ```
    pub fn preview(&self) -> Result<Answer<ContractPublish>, Error> {
        let request = contract::publish::Request { dry_run: true, ..Default::default() };
        Ok(contract::publish::run(&self.realm.ctx, &request)?)
    }
}

/// Compares two JSON Schemas in both directions. Compatibility in each is proved, refuted by a value that the
/// validator confirms, or unknown. By default, writers are assumed to send only the properties that their schema
/// names; the answer also contains the result without this assumption. The comparison takes about a second at most.
///
/// # Errors
/// Returns an error if either is not a valid JSON Schema.
///
/// ```
/// use serde_json::json;
///
/// let (old, new) = (json!({"type": "integer"}), json!({"type": ["integer", "string"]}));
/// let found = git_blue::compare_schemas(&old, &new)?;
/// // Readers of the old schema do not understand a string; readers of the new one understand everything.
/// assert_eq!(found.compatible, Some(false));
/// assert_eq!(found.differences[0].direction, git_blue::wire::BrokenDirection::Backwards);
/// # Ok::<(), git_blue::Error>(())
/// ```
pub fn compare_schemas(old: &Value, new: &Value) -> Result<Compat, Error> {
    let source =
        |name: &str, schema: &Value| compat::Source { name: name.into(), bytes: schema.to_string().into(), part: None };
    let request = compat::Request {
        old: source("old", old),
        new: source("new", new),
        direction: AskedDirection::Both,
        reading: SchemaReading::Lenient,
    };
    Ok(compat::compare(&Env::isolated("/", []), &request)?.body)
}
