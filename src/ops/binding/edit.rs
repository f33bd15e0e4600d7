//! Edits `.blue/bindings/<domain>.yaml` in place, so that comments are kept.

use std::{collections::BTreeSet, fs::File, path::Path};

use crate::{
    error::{ErrorCode, OpError},
    model::{
        binding::{Binding, Import, Role},
        name::ContractRef,
        nearest,
        range::Range,
        yaml_text,
    },
    ops::{
        ctx::{ActingRepo, Ctx},
        publish::{
            editor_schemas,
            references::{self, Reference},
            work_file::{WorkFile, committed, is_committed},
        },
    },
    repo::{
        CodeRepo,
        blue_files::{self, FOLDER, Files},
    },
    store::codec,
    wire::{Answer, BindingEdit, FileEdit},
};

/// The file of a binding, before and after the edit.
pub struct Editing<'a> {
    ctx: &'a Ctx,
    acting: ActingRepo<'a>,
    at: &'a ContractRef,
    file: WorkFile,
    /// The text before the edit; `None` if there is no file.
    before: Option<String>,
    /// The text after the steps so far; `None` after a step that could not be applied.
    text: Option<String>,
    /// The binding that the text should contain.
    pub binding: Binding,
    /// The files of the expectations that this edit names.
    expected: BTreeSet<String>,
    /// Another command could otherwise replace the file after it was read.
    _lock: Option<File>,
}

impl<'a> Editing<'a> {
    /// Reads the file for the contract `at`. If there is no file, the binding starts with `role`.
    ///
    /// # Errors
    /// Returns an error if the repository is in no realm, or the file cannot be read.
    pub fn open(ctx: &'a Ctx, at: &'a ContractRef, role: Role) -> Result<Self, OpError> {
        let acting = ctx.acting_repo()?;
        let file = WorkFile::of(ctx.code()?, blue_files::binding(&at.domain))?;
        let lock = WorkFile::lock(ctx.code()?);
        let before = file.read()?;
        let binding = match &before {
            Some(text) => codec::binding(text.as_bytes()).map_err(|problem| problem.in_file(file.relative()))?,
            None => Binding { role, exports: Vec::new(), imports: Vec::new() },
        };
        let text = Some(before.clone().unwrap_or_else(|| beginning(acting, at, role)));
        Ok(Self { ctx, acting, at, file, before, text, binding, expected: BTreeSet::new(), _lock: lock })
    }

    /// Returns the realm and the repository.
    pub fn acting(&self) -> ActingRepo<'a> {
        self.acting
    }

    /// Applies one step to the text. The caller changes `self.binding` in the same way.
    pub fn step(&mut self, step: impl FnOnce(&str) -> Option<String>) {
        self.text = self.text.take().and_then(|text| step(&text));
    }

    /// Sets the role.
    pub fn set_role(&mut self, role: Role) {
        if self.binding.role != role {
            self.binding.role = role;
            self.step(|text| yaml_text::set(text, "role", &role.to_string()));
        }
    }

    /// Sets the schema that describes what this repository expects of an imported contract. The binding must import the
    /// contract.
    ///
    /// # Errors
    /// Returns an error if the file does not contain a JSON Schema.
    pub fn expect(&mut self, place: &Reference) -> Result<(), OpError> {
        let contract = &self.at.contract;
        let Some(index) = self.binding.imports.iter().position(|import| import.contract == *contract) else {
            return Ok(());
        };
        let expects = place.to_json();
        let Some(files) = Files::checkout(self.ctx.code()?) else { return Ok(()) };
        let import = Import { expects: Some(expects.clone()), ..self.binding.imports[index].clone() };
        let mut alone = Binding { imports: vec![import], ..self.binding.clone() };
        self.expected = references::resolve_expected(&files, &mut alone)?
            .map_err(|(_, problem)| problem.in_file(self.file.relative()))?;
        if self.binding.imports[index].expects.as_ref() != Some(&expects) {
            self.binding.imports[index].expects = Some(expects);
            let field = ("expects", place.to_yaml());
            self.step(|text| yaml_text::set_in_item(text, "imports", index, &field));
        }
        Ok(())
    }

    /// Writes the file, or removes it if nothing is left in it. `otherwise` says what to write by
    /// hand if the text cannot be edited.
    ///
    /// # Errors
    /// Returns an error if the text cannot be edited without losing its formatting, or the file cannot be replaced.
    pub fn finish(self, otherwise: &str) -> Result<Answer<BindingEdit>, OpError> {
        let says_nothing = self.binding.imports.is_empty() && self.binding.exports.is_empty();
        let path = self.file.pathspec(self.ctx);
        let (change, commit) = match (&self.before, says_nothing) {
            (Some(_), true) => {
                self.file.remove()?;
                // `--all` also stages the removal of a file that git does not track.
                let all = path.replace(self.file.relative(), FOLDER);
                (
                    FileEdit::Removed,
                    format!("git add --all {all} && git commit -m \"Remove the binding of {}\"", self.at.domain),
                )
            }
            (None, true) => (FileEdit::Unchanged, String::new()),
            (before, false) => {
                let commit = self.commit()?;
                let is_right = |text: &String| codec::binding(text.as_bytes()).is_ok_and(|read| read == self.binding);
                let text = self.text.clone().filter(is_right).ok_or_else(|| self.cannot_edit(otherwise))?;
                match before {
                    Some(before) if *before == text => (FileEdit::Unchanged, commit),
                    Some(_) => {
                        self.file.replace(&text)?;
                        (FileEdit::Changed, commit)
                    }
                    None => {
                        self.file.create(&(editor_schemas::modeline(self.ctx, "binding", "..")? + &text))?;
                        (FileEdit::Created, commit)
                    }
                }
            }
        };
        let answer = Answer::new(self.body(change));
        let is_void = match change {
            FileEdit::Unchanged => says_nothing || self.is_as_committed()?,
            // If the file was never committed, there is nothing to commit after removing it.
            FileEdit::Removed => !is_committed(self.ctx.code()?, self.file.relative())?,
            FileEdit::Created | FileEdit::Changed => false,
        };
        Ok(if is_void { answer } else { answer.next(commit) })
    }

    /// Returns whether the file at HEAD says the same.
    fn is_as_committed(&self) -> Result<bool, OpError> {
        let text = committed(self.ctx.code()?, self.file.relative())?;
        Ok(text.and_then(|text| codec::binding(&text).ok()).as_ref() == Some(&self.binding))
    }

    /// Returns the command that commits the binding, and the files of expectations that it names now.
    fn commit(&self) -> Result<String, OpError> {
        let contract = &self.at.contract;
        let is_left = self.binding.import(contract).is_some() || self.binding.export(contract).is_some();
        let subject =
            if is_left { format!("Bind {}", self.at) } else { format!("Remove {} from the binding", self.at) };
        let paths = self.file.pathspecs(self.ctx, self.expected.clone())?;
        Ok(format!("git add {paths} && git commit -m \"{subject}\""))
    }

    fn body(&self, change: FileEdit) -> BindingEdit {
        let is_gone = change == FileEdit::Removed || (self.before.is_none() && change == FileEdit::Unchanged);
        BindingEdit {
            realm: self.acting.realm.clone(),
            domain: self.at.domain.clone(),
            contract: self.at.contract.clone(),
            current_repo: self.acting.repo.clone(),
            file: self.file.relative().to_owned(),
            change,
            role: (!is_gone).then(|| self.binding.role.into()),
            version_req: self.range(),
            exported_files: self.binding.export(&self.at.contract).map(|export| export.source_files.clone()),
        }
    }

    fn range(&self) -> Option<Range> {
        self.binding.import(&self.at.contract).map(|import| import.version.clone())
    }

    fn cannot_edit(&self, otherwise: &str) -> OpError {
        let message = format!("cannot edit {}: its layout is not supported; nothing was changed", self.file.relative());
        OpError::no(ErrorCode::CannotEdit, message).next(format!("edit it by hand: {otherwise}"))
    }
}

/// Removes the contract from the exports or the imports of a binding, depending on `role`. Removes the file if nothing
/// else is in it.
///
/// # Errors
/// Returns an error if the binding does not have the contract, or the file cannot be edited.
pub fn remove(ctx: &Ctx, at: &ContractRef, role: Role) -> Result<Answer<BindingEdit>, OpError> {
    let mut editing = Editing::open(ctx, at, role)?;
    let Binding { exports, imports, .. } = &editing.binding;
    let (list, verb, code, names): (_, _, _, Vec<_>) = if role.provides() {
        ("exports", "export", ErrorCode::NotExported, exports.iter().map(|one| &one.contract).collect())
    } else {
        ("imports", "import", ErrorCode::NotImported, imports.iter().map(|one| &one.contract).collect())
    };
    let Some(index) = names.iter().position(|name| **name == at.contract) else {
        let meant = nearest::did_you_mean(&at.contract, names);
        return Err(OpError::no(code, format!("{} does not {verb} {at}{meant}", editing.acting.repo)));
    };
    if role.provides() {
        drop(editing.binding.exports.remove(index))
    } else {
        drop(editing.binding.imports.remove(index))
    }
    editing.step(|text| yaml_text::remove(text, list, index));
    match (editing.binding.exports.is_empty(), editing.binding.imports.is_empty()) {
        (true, false) => editing.set_role(Role::Consumer),
        (false, true) => editing.set_role(Role::Provider),
        _ => {}
    }
    editing.finish(&format!("remove {} from {list}", at.contract))
}

fn beginning(acting: ActingRepo<'_>, at: &ContractRef, role: Role) -> String {
    format!(
        "# The exports and imports of {} in the domain {}. Commit this file to publish it.\n\
         # git blue import, export, unimport and unexport edit this file.\n\n\
         # provider, consumer or both\n\
         role: {role}\n\n\
         # {}\n",
        acting.repo,
        at.domain,
        match role {
            Role::Provider => "Contracts that it provides, and the files that implement them.",
            _ => "Contracts that it relies on, and the versions that its code works with.",
        }
    )
}

/// Returns the path of a file that a user named, relative to the root of the working tree. A sparse checkout may leave
/// the file out.
///
/// # Errors
/// Returns an error if the file does not exist, is a directory, or is not in this working tree.
pub fn own_path(ctx: &Ctx, file: &Path) -> Result<String, OpError> {
    let code = ctx.code()?;
    let root = code.workdir().ok_or_else(|| OpError::usage("a bare repository has no working tree"))?;
    let path = ctx.env.cwd().join(file);
    let missing = || {
        let error = OpError::cannot(ErrorCode::NoSuchFile, format!("no such file: {}", file.display()));
        error.next_if(root.join(file).exists(), "paths are relative to the current directory")
    };
    let Ok(found) = path.symlink_metadata() else {
        return left_out(code, &root, &path)?.ok_or_else(missing);
    };
    if found.is_dir() {
        let message = format!("{} is a directory: name its files", file.display());
        return Err(OpError::no(ErrorCode::NoSuchFile, message));
    }
    let (folder, name) = (path.parent().ok_or_else(missing)?, path.file_name().ok_or_else(missing)?);
    let folder = dunce::canonicalize(folder).map_err(|_| missing())?;
    let root = dunce::canonicalize(&root).map_err(OpError::io("read", &root))?;
    let relative = folder.join(name);
    let relative = relative.strip_prefix(&root).ok().and_then(Path::to_str);
    let outside = || OpError::no(ErrorCode::NotInRepo, format!("{} is not in {}", file.display(), root.display()));
    relative.filter(|path| !path.starts_with(".git/")).map(str::to_owned).ok_or_else(outside)
}

/// Returns the path of a file relative to the root, if a sparse checkout leaves it out of the working tree. Its folder
/// may be missing too.
fn left_out(code: &CodeRepo, root: &Path, path: &Path) -> Result<Option<String>, OpError> {
    let Some(folder) = path.ancestors().find(|folder| folder.exists()) else { return Ok(None) };
    let (Ok(rest), Ok(folder), Ok(root)) =
        (path.strip_prefix(folder), dunce::canonicalize(folder), dunce::canonicalize(root))
    else {
        return Ok(None);
    };
    let path = folder.join(rest);
    let relative = path.strip_prefix(root).ok().and_then(Path::to_str).map(str::to_owned);
    let files = code.left_out()?;
    Ok(relative.filter(|path| files.contains_key(path)))
}

/// Returns the next step for a repository that is not yet a member of the domain, or `None` if it is.
///
/// # Errors
/// Returns an error if the domain does not exist or cannot be read.
pub fn membership(acting: ActingRepo<'_>, at: &ContractRef) -> Result<Option<String>, OpError> {
    let view = crate::ops::domain::of_contract(acting.store, at)?;
    let is_member = view.info.has_member(acting.repo);
    Ok((!is_member).then(|| format!("git blue realm admin domain --name {} --repos {}", at.domain, acting.repo)))
}
