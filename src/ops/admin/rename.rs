//! `realm_admin_rename`: renames a repository, everywhere in the realm and on this machine.
//!
//! The new name is written before the old one is removed, so that running it again finishes an interrupted rename.
//! Published versions keep the name that they were published under.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::{
    error::{ErrorCode, OpError, REPAIR},
    locate::{self, CONFIG, renamed},
    model::{
        candidate::contract_of,
        change::DomainChange,
        contract::Contract,
        domain::Domain,
        domain_view::{DomainView, Subject},
        name::{ContractRef, DomainName, RealmName, RepoName},
        publish::Decision,
        realm::{Rename, Repo},
        transfer::{Transfer, Transfers},
        yaml_text,
    },
    ops::{
        Operation,
        ctx::{ActingRepo, Ctx},
        domain::{self, Part},
        inboxes,
        message::Message,
        publish::work_file::{WorkFile, require_checked_out},
        repos::{joined, unknown},
        runs, session,
        sync::auto,
    },
    repo::{
        CodeRepo,
        blue_files::{CONTRACTS, Files, Item},
    },
    store::{
        Change, Edit, Parents, Store, StoreRef, TreePath, codec, layout,
        overview::Overview,
        read,
        sessions::{self, SessionFilter},
        write::write,
    },
    wire::{Answer, RealmRename},
};

/// The operation's entry in the table of operations.
pub const OPERATION: Operation = Operation::writes::<Request>(
    "realm_admin_rename",
    &["realm", "admin", "rename"],
    "Rename a repository in the realm",
);

/// The arguments.
#[derive(Debug, Clone, serde::Deserialize, schemars::JsonSchema)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct Request {
    /// The current name of the repository
    #[cfg_attr(feature = "cli", arg(value_name = "REPO"))]
    pub repo: RepoName,
    /// Its new name
    #[cfg_attr(feature = "cli", arg(value_name = "NAME"))]
    pub name: RepoName,
}

runs!(RealmRename, run);

/// Renames the repository. Running it again renames what was published under the old name since
/// then; in another clone, it renames the files there.
///
/// # Errors
/// Returns an error if the repository does not exist, another repository has the new name, or the request comes from
/// another repository.
pub fn run(ctx: &Ctx, request: &Request) -> Result<Answer<RealmRename>, OpError> {
    let (realm, asking) = find(ctx, request)?;
    let known = locate::known(&ctx.home, &realm)?;
    let store = ctx.open_store(&known)?;
    let Request { repo: old, name: new } = request;
    if let Some(other) = asking.as_ref().filter(|asking| *asking != old && *asking != new) {
        let repos = read::repos(&store)?.repos;
        if !repos.contains_key(old) {
            return Err(unknown::error((&realm, &store), old, repos.keys()));
        }
        return Err(OpError::not_owner(other, "rename", old));
    }
    let mut is_joined = true;
    if let Some(code) = ctx.code.as_ref().filter(|_| asking.is_some()) {
        let joined = joined::read(&ctx.home, code)?;
        is_joined = joined.is_some_and(|joined| joined.is_of(&realm, old) || joined.is_of(&realm, new));
        // If the realm already has the new name, only the files of this clone are rewritten.
        if !is_joined && renamed::newer(&store, old)?.as_ref() != Some(new) {
            return Err(joined::missing(ActingRepo { realm: &realm, store: &store, repo: old, code: None }));
        }
    }
    if let Some(code) = ctx.code.as_ref().filter(|_| asking.is_some()) {
        require_checked_out(code, |path| path == CONFIG || path.starts_with(CONTRACTS))?;
    }
    let renaming = Renaming { ctx, store: &store, old, new };
    let is_new = renaming.begin(&realm)?;
    // Another machine may have published under the old name at the same time.
    let domains = if is_new || is_joined { renaming.domains()? } else { Vec::new() };
    if is_new {
        renaming.sessions()?;
        renaming.finish()?;
    }
    let changed = is_new || !domains.is_empty();
    inboxes::renamed::take_over(&store, old, new, || ctx.env.now_here())?;
    let local = renaming.rename_locally(&realm);
    let again = || format!("git blue realm admin rename {old} {new}  # finish it here: the realm has the new name");
    let Rewritten { files, by_hand } = local.map_err(|error| error.next(again()))?;
    let body = RealmRename {
        realm: realm.clone(),
        old_name: old.clone(),
        name: new.clone(),
        changed,
        domains,
        files: files.clone(),
    };
    let is_elsewhere = files.is_empty() && by_hand.is_empty();
    let answer = Answer::new(body).next_all(by_hand);
    let answer = match files.split_first() {
        None if !is_elsewhere || asking.as_ref() == Some(new) => answer,
        None => answer.next(format!("git blue realm admin rename {old} {new}  # in its working tree: write {CONFIG}")),
        Some((first, rest)) => {
            let paths = WorkFile::of(ctx.code()?, first.clone())?.pathspecs(ctx, rest.iter().cloned())?;
            answer.next(format!("git add {paths} && git commit -m \"Take the name {new}\""))
        }
    };
    auto::with_push(ctx, (&realm, &store), changed, answer)
}

/// Returns the realm and the current repository, even if this clone still has the old name.
fn find(ctx: &Ctx, request: &Request) -> Result<(RealmName, Option<RepoName>), OpError> {
    match ctx.realm() {
        Ok(here) => Ok((here.realm.clone(), here.repo.clone())),
        Err(error) if error.code == ErrorCode::Renamed => {
            let proposed = locate::proposed(ctx.code()?)?.ok_or(error)?;
            Ok((proposed.realm.name, Some(request.repo.clone())))
        }
        Err(error) => Err(error),
    }
}

struct Renaming<'a> {
    ctx: &'a Ctx,
    store: &'a dyn Store,
    old: &'a RepoName,
    new: &'a RepoName,
}

impl Renaming<'_> {
    fn message(&self) -> Message<'_> {
        let subject = format!("rename {} to {}", self.old, self.new);
        Message { repo: Some(self.old), ..Message::of(self.ctx, subject) }
    }

    /// Adds the new name and keeps the old one. Returns whether the old name still has to be removed.
    fn begin(&self, realm: &RealmName) -> Result<bool, OpError> {
        let Self { ctx, store, old, new } = *self;
        let mut is_old_there = false;
        // Until the realm is locked, another repository may take the name.
        domain::change_realm(ctx, store, || {
            let repos = read::repos(store)?.repos;
            is_old_there = repos.contains_key(old);
            if repos.contains_key(new) && self.recorded()? {
                return Ok(None);
            }
            let held = repos.get(old).ok_or_else(|| unknown::error((realm, store), old, repos.keys()))?;
            let is_taken = |other: &&RepoName| *other == new || (*other != old && other.collides_with(new));
            if let Some(taken) = repos.keys().find(is_taken) {
                let message = format!("the realm {realm} already has a repository {taken}");
                return Err(OpError::no(ErrorCode::NameTaken, message).next("choose another name"));
            }
            self.refuse_conflicts()?;
            Ok(Some((self.first_edits(held)?, self.message())))
        })?;
        Ok(is_old_there)
    }

    /// Returns the edits that add the new name of the repository `held`, and the record of the rename.
    fn first_edits(&self, held: &Repo) -> Result<Vec<(TreePath, Edit)>, OpError> {
        let Self { old, new, .. } = *self;
        let entry = Repo { name: new.clone(), ..held.clone() };
        let rename = Rename { from: old.clone(), to: new.clone() };
        let mut edits = vec![
            (layout::repo(new), Edit::Put(codec::encode(&entry))),
            (layout::rename(old), Edit::Put(codec::encode(&rename))),
        ];
        // If `new` was itself renamed before, that record is removed, because the name is in use again.
        if self.has(&layout::rename(new))? {
            edits.push((layout::rename(new), Edit::Remove));
        }
        Ok(edits)
    }

    fn has(&self, path: &TreePath) -> Result<bool, OpError> {
        let Some(root) = read::tip_tree(self.store, &StoreRef::Realm)? else { return Ok(false) };
        Ok(read::lookup(self.store, &root, path.as_str())?.is_some())
    }

    fn recorded(&self) -> Result<bool, OpError> {
        let Some(root) = read::tip_tree(self.store, &StoreRef::Realm)? else { return Ok(false) };
        let rename: Option<Rename> = read::file(self.store, &StoreRef::Realm, &root, &layout::rename(self.old))?;
        Ok(rename.is_some_and(|rename| rename.to == *self.new))
    }

    /// Refuses a rename while conflicts are open, or something of the repository cannot be read: they are recorded under
    /// the old name and must be settled first.
    fn refuse_conflicts(&self) -> Result<(), OpError> {
        let overview = Overview::open(self.store)?;
        for line in overview.domains_of(self.old) {
            let summary = overview.summary(line)?;
            let of_old = [Subject::Binding(self.old.clone()), Subject::Source(self.old.clone())];
            if let Some(damage) = summary.damage.iter().find(|damage| of_old.contains(&damage.subject)) {
                let error = OpError::cannot(ErrorCode::Damaged, format!("{damage} (it could not be renamed)"));
                return Err(error.next(REPAIR));
            }
            if summary.conflicts.bindings.contains(self.old) {
                let message = format!("two machines wrote the binding of {} in {} differently", self.old, line.name);
                return Err(OpError::no(ErrorCode::WriteRace, message)
                    .next("git blue contract publish  # in its working tree: publish the intended one"));
            }
        }
        Ok(())
    }

    fn domains(&self) -> Result<Vec<DomainName>, OpError> {
        let overview = Overview::open(self.store)?;
        let mut done = Vec::new();
        for line in overview.domains() {
            let summary = overview.summary(line)?;
            let owns = summary.contract_names().into_iter().any(|name| summary.owner(name) == Some(self.old));
            let is_offered = summary.offers.values().any(|to| to == self.old);
            if !owns && !is_offered && !line.repos.contains(self.old) {
                continue;
            }
            let subject = format!("rename {} to {}", self.old, self.new);
            let why = Message { repo: Some(self.new), subject, ..Message::default() };
            domain::change(self.ctx, self.store, &line.name, Part::default(), why, |view| {
                Ok(Decision { changes: self.changes(view), events: Vec::new() })
            })?;
            done.push(line.name.clone());
        }
        Ok(done)
    }

    fn changes(&self, view: &DomainView) -> Vec<DomainChange> {
        let (old, new) = (self.old, self.new);
        let named = |repo: &RepoName| if repo == old { new.clone() } else { repo.clone() };
        let mut changes = Vec::new();
        if view.info.has_member(old) {
            let members = view.info.members.iter().map(named).collect();
            changes.push(DomainChange::Domain(Domain { members, ..view.info.clone() }));
        }
        for contract in view.contracts.values().filter(|contract| contract.owner == *old) {
            changes.push(DomainChange::Contract(Box::new(Contract { owner: new.clone(), ..contract.clone() })));
        }
        if let Some(binding) = view.bindings.get(old) {
            changes.push(DomainChange::RemoveBinding(old.clone()));
            if !view.bindings.contains_key(new) {
                changes.push(DomainChange::Binding(new.clone(), binding.clone()));
            }
        }
        // The source under the new name is newer, so it stays. A clone with later commits publishes them again.
        if let Some(source) = view.sources.get(old) {
            changes.push(DomainChange::RemoveSource(old.clone()));
            if !view.sources.contains_key(new) {
                changes.push(DomainChange::Source(new.clone(), source.clone()));
            }
        }
        changes.extend(self.transfers(view).into_iter().map(DomainChange::Transfers));
        changes
    }

    /// Renames the repository in all recorded transfers. For a contract without a release, the record alone names its
    /// owner, so it gets another step: published versions keep the old name.
    fn transfers(&self, view: &DomainView) -> Vec<Transfers> {
        let (old, new) = (self.old, self.new);
        let names = BTreeMap::from([(old.clone(), new.clone())]);
        let contracts: BTreeSet<_> = view.versions.keys().chain(view.transfers.keys()).collect();
        let mut records = Vec::new();
        for contract in contracts {
            let held = view.transfers.get(contract).cloned().unwrap_or_else(|| Transfers::of(contract.clone()));
            let mut record = held.clone();
            if view.contracts.contains_key(contract) {
                record = held.named(&names);
            } else if view.owner(contract) == Some(old) {
                record.transfers.push(Transfer { from: old.clone(), to: new.clone() });
            }
            if record != held {
                records.push(record);
            }
        }
        records
    }

    fn sessions(&self) -> Result<(), OpError> {
        let Some(tip) = self.store.tip(&StoreRef::Sessions(self.old.clone()))? else { return Ok(()) };
        let (mut put, mut gone) = (Vec::new(), Vec::new());
        for which in [SessionFilter::Open, SessionFilter::Ended] {
            for held in sessions::at(self.store, self.old, &tip, which)?.0 {
                let renamed = crate::model::session::Session { repo: self.new.clone(), ..held.clone() };
                let path = which.path(&held.id);
                put.push((path.clone(), Edit::Put(codec::encode(&renamed))));
                gone.push((path, Edit::Remove));
            }
        }
        if put.is_empty() {
            return Ok(());
        }
        let author = self.ctx.signature()?;
        for (repo, edits) in [(self.new, put), (self.old, gone)] {
            write(self.store, &StoreRef::Sessions(repo.clone()), |_| {
                let (message, author) = (self.message().text(), author.clone());
                Ok::<_, OpError>(Some(Change {
                    edits: edits.clone(),
                    message,
                    author,
                    committer: None,
                    parents: Parents::Tip,
                }))
            })?;
        }
        Ok(())
    }

    /// Removes the old name from the realm.
    fn finish(&self) -> Result<(), OpError> {
        domain::change_realm(self.ctx, self.store, || {
            let is_there = self.has(&layout::repo(self.old))?;
            Ok(is_there.then(|| (vec![(layout::repo(self.old), Edit::Remove)], self.message())))
        })?;
        Ok(())
    }

    /// Renames the repository on this machine and in the current working tree. Returns the files to commit, and those
    /// to edit.
    fn rename_locally(&self, realm: &RealmName) -> Result<Rewritten, OpError> {
        self.ctx.home.rename_repo(realm, self.old, self.new)?;
        let Some(code) = &self.ctx.code else { return Ok(Rewritten::default()) };
        let acting = ActingRepo { realm, store: self.store, repo: self.old, code: None };
        if let Some(id) = session::marker::of(code, acting) {
            session::marker::write(code, ActingRepo { repo: self.new, ..acting }, &id)?;
        }
        if code.config("blue.repo").as_deref() == Some(self.old.as_str()) {
            code.set_config("blue.repo", self.new.as_str())?;
        }
        let (Some(root), Some(config)) = (code.workdir(), locate::proposed(code)?) else {
            return Ok(Rewritten::default());
        };
        if config.repo != *self.old && config.repo != *self.new {
            return Ok(Rewritten::default());
        }
        if let Some(joined) = joined::read(&self.ctx.home, code)? {
            self.ctx.home.record_repo(realm, self.new, &code.main_folder())?;
            joined::write(&self.ctx.home, code, realm, self.new, joined.has_roots)?;
        }
        self.rewrite_files(code, &root)
    }

    fn rewrite_files(&self, code: &CodeRepo, root: &Path) -> Result<Rewritten, OpError> {
        let mut rewritten = Rewritten::default();
        self.rewrite(code, CONFIG.to_owned(), "repo", &mut rewritten)?;
        let overview = Overview::open(self.store)?;
        for (path, item) in Files::on_disk(root.to_owned()).below(CONTRACTS)? {
            if !matches!(item, Item::File(_)) {
                continue;
            }
            match self.standing(&overview, &path)? {
                FileStanding::Own => self.rewrite(code, path, "owner", &mut rewritten)?,
                FileStanding::Offered => {}
                FileStanding::LeftOver(at, owner) => {
                    let file = WorkFile::of(code, path)?;
                    if self.named(&file, "owner")?.is_some() {
                        let step = format!("git rm {}  # {at} belongs to {owner}", file.pathspec(self.ctx));
                        rewritten.by_hand.push(step);
                    }
                }
            }
        }
        Ok(rewritten)
    }

    /// Returns what the realm says about the contract of a file. One that the realm does not know counts as the
    /// repository's own.
    fn standing(&self, overview: &Overview, path: &str) -> Result<FileStanding, OpError> {
        let Some((domain, contract)) = contract_of(path) else { return Ok(FileStanding::Own) };
        let Some(line) = overview.domains().iter().find(|line| line.name == domain) else {
            return Ok(FileStanding::Own);
        };
        let summary = overview.summary(line)?;
        Ok(match summary.owner(&contract) {
            Some(owner) if owner != self.old && owner != self.new => match summary.offers.get(&contract) {
                Some(to) if to == self.old || to == self.new => FileStanding::Offered,
                _ => FileStanding::LeftOver(ContractRef { domain, contract }, owner.clone()),
            },
            _ => FileStanding::Own,
        })
    }

    /// Returns the text of a document, and its value, if the old name is the value of a key in it.
    fn named(&self, file: &WorkFile, key: &str) -> Result<Option<(String, serde_json::Value)>, OpError> {
        let Some(text) = (if file.is_left_out() { None } else { file.read()? }) else { return Ok(None) };
        let Ok(parsed) = codec::value(text.as_bytes()) else { return Ok(None) };
        let value = serde_json::Value::from(parsed);
        let is_old = value.get(key).and_then(|name| name.as_str()) == Some(self.old.as_str());
        Ok(is_old.then_some((text, value)))
    }

    /// Replaces the value of a key in the document if it is the old name, and nothing else.
    fn rewrite(&self, code: &CodeRepo, path: String, key: &str, rewritten: &mut Rewritten) -> Result<(), OpError> {
        let file = WorkFile::of(code, path)?;
        let Some((text, mut wanted)) = self.named(&file, key)? else { return Ok(()) };
        wanted[key] = self.new.as_str().into();
        let is_right = |text: &String| codec::value(text.as_bytes()).is_ok_and(|read| *read.value() == wanted);
        match yaml_text::set(&text, key, &yaml_text::plain(self.new.as_str())).filter(is_right) {
            Some(edited) => {
                file.replace(&edited)?;
                rewritten.files.push(file.relative().to_owned());
            }
            None => rewritten.by_hand.push(format!("write {key}: {} in {}", self.new, file.relative())),
        }
        Ok(())
    }
}

/// Who owns the contract of a file, according to the realm.
enum FileStanding {
    /// It belongs to the repository, or nobody published it yet.
    Own,
    /// Its owner offers it to the repository. Publishing the file with the new name would accept the offer.
    Offered,
    /// It belongs to another repository, and the file remains here.
    LeftOver(ContractRef, RepoName),
}

/// The files of the working tree after a rename.
#[derive(Debug, Default)]
struct Rewritten {
    /// The files that were changed.
    files: Vec<String>,
    /// The steps for files whose layout is not supported.
    by_hand: Vec<String>,
}
