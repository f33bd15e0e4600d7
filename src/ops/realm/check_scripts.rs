//! Runs the scripts that test contracts. A script runs only if this repository's own committed files name it, and its
//! user or CI asks for it. Nothing that comes from a realm is ever run.

use std::{path::PathBuf, time::Duration};

use serde_json::{Value, json};

use super::check_subject::{Found, Subject};
use crate::{
    error::{Kind, OpError},
    locate,
    model::{
        binding::Import,
        candidate::Candidate,
        check::{Finding, Mode},
        contract::Contract,
        name::ContractRef,
        next_version,
        text::{seconds, shell_word},
    },
    ops::{contract::get, ctx::Ctx, domain, publish::places, tools::script},
    platform::files,
    repo::blue_files::{FileSource, Files, Item},
    store::{Objects as _, read},
    wire::{ScriptOutcome, ScriptRole, ScriptRun},
};

/// The options for running scripts.
#[derive(Debug, Clone, Copy)]
pub struct Scripts {
    /// Whether the user asked for scripts. In CI, the scripts of a joined clone run without asking.
    pub asked: bool,
    /// The time limit of each script.
    pub timeout: Duration,
}

/// The input of a check.
#[derive(Clone, Copy)]
pub struct Checked<'a> {
    /// The files to judge.
    pub subject: &'a Subject,
    /// The repository and its files.
    pub found: &'a Found<'a>,
    /// The candidate read from these files.
    pub candidate: &'a Candidate,
    /// The rules that apply.
    pub mode: Mode,
    /// Whether the realm was fetched only for this check, and the clone has not joined it.
    pub is_temporary: bool,
}

/// A script that a file of this repository names.
struct DeclaredScript<'a> {
    at: ContractRef,
    role: ScriptRole,
    script: &'a str,
    file: &'a str,
    /// The pointer to its name in that file.
    pointer: String,
    tested: Tested<'a>,
}

/// The document of this repository that names a script.
#[derive(Clone, Copy)]
enum Tested<'a> {
    Contract(&'a Contract),
    Import(&'a Import),
}

/// Runs the scripts that may run, none if `scripts` is `None`. Returns the outcome of each script, and the findings.
///
/// # Errors
/// Returns an error if the repository cannot be read.
pub fn run(
    ctx: &Ctx,
    checked: Checked<'_>,
    scripts: Option<Scripts>,
) -> Result<(Vec<ScriptRun>, Vec<Finding>), OpError> {
    let (mut runs, mut findings) = (Vec::new(), Vec::new());
    let is_ci = locate::unknown::is_ci(&ctx.env);
    let named = named(checked);
    if named.is_empty() {
        return Ok((runs, findings));
    }
    let allowed = allowed(ctx, checked, scripts, is_ci)?;
    for one in &named {
        if allowed.is_err() || (one.role == ScriptRole::Ci && !is_ci) {
            findings.extend(missing(checked, one)?);
        }
        if one.role == ScriptRole::Ci && !is_ci {
            continue;
        }
        let (outcome, exit_code, output) = match allowed {
            Err(why) => (ScriptOutcome::NotRun, None, why.to_owned()),
            Ok(timeout) => run_one(ctx, checked, one, timeout)?,
        };
        findings.extend(finding(checked, one, outcome, &output));
        runs.push(ScriptRun {
            domain: one.at.domain.clone(),
            contract: one.at.contract.clone(),
            role: one.role,
            script: one.script.to_owned(),
            outcome,
            exit_code,
            output,
        });
    }
    Ok((runs, findings))
}

fn named<'a>(checked: Checked<'a>) -> Vec<DeclaredScript<'a>> {
    let mut found = Vec::new();
    if matches!(checked.mode, Mode::All | Mode::Exporter) {
        for ((domain, name), declared) in &checked.candidate.contracts {
            let tests = &declared.document.validation;
            let exporter = tests.exporter.iter().map(|script| (ScriptRole::Exporter, script, "exporter".to_owned()));
            let in_ci = tests.ci_only.iter().enumerate();
            let in_ci = in_ci.map(|(at, script)| (ScriptRole::Ci, script, format!("ci_only/{at}")));
            let at = ContractRef { domain: domain.clone(), contract: name.clone() };
            found.extend(exporter.chain(in_ci).map(|(role, script, key)| DeclaredScript {
                at: at.clone(),
                role,
                script,
                file: &declared.path,
                pointer: format!("/validation/{key}"),
                tested: Tested::Contract(&declared.document),
            }));
        }
    }
    if matches!(checked.mode, Mode::All | Mode::Importer) {
        for (domain, declared) in &checked.candidate.bindings {
            let imports = declared.document.imports.iter().enumerate();
            found.extend(imports.filter_map(|(index, import)| {
                Some(DeclaredScript {
                    at: ContractRef { domain: domain.clone(), contract: import.contract.clone() },
                    role: ScriptRole::Importer,
                    script: import.validation.as_ref()?,
                    file: &declared.path,
                    pointer: format!("/imports/{index}/validation"),
                    tested: Tested::Import(import),
                })
            }));
        }
    }
    found
}

/// Returns the time limit of each script if scripts may run, else the reason why they may not.
fn allowed(
    ctx: &Ctx,
    checked: Checked<'_>,
    scripts: Option<Scripts>,
    is_ci: bool,
) -> Result<Result<Duration, &'static str>, OpError> {
    let is_commit = !matches!(checked.subject, Subject::Worktree | Subject::Staged);
    let is_head = is_commit && checked.found.commit == ctx.code()?.head()?.commit;
    let is_joined = !checked.is_temporary && ctx.require_writable().is_ok();
    let Some(Scripts { asked, timeout }) = scripts else {
        return Ok(Err("servers and hooks run no scripts"));
    };
    Ok(match (is_joined, asked, is_ci) {
        _ if !is_head => Err("scripts run in the working tree, and only when HEAD is checked"),
        (true, true, _) | (true, _, true) | (false, true, true) => Ok(timeout),
        (true, false, false) => Err("scripts run only with --run-scripts, or in CI"),
        (false, ..) if checked.is_temporary => {
            Err("with --realm-url or --realm-path, scripts run only with --run-scripts and CI=true")
        }
        (false, ..) => Err("in a clone that has not joined the realm, scripts run only with --run-scripts and CI=true"),
    })
}

fn run_one(
    ctx: &Ctx,
    checked: Checked<'_>,
    named: &DeclaredScript<'_>,
    timeout: Duration,
) -> Result<(ScriptOutcome, Option<i32>, String), OpError> {
    let failed = |why: String| (ScriptOutcome::Failed, None, why);
    let root = ctx.code()?.workdir().ok_or_else(|| OpError::usage("scripts cannot run in a bare repository"))?;
    let program = match committed(ctx, checked.found, named.script, root.clone())? {
        Ok(program) => program,
        Err(why) => return Ok(failed(why)),
    };
    let line = match input(ctx, named) {
        Ok(input) => input.to_string(),
        Err(error) => return Ok(failed(format!("it cannot be run: {error}"))),
    };
    let ended = match script::run(&ctx.env, &program, &root, &line, timeout) {
        Ok(ended) => ended,
        Err(error) => return Ok(failed(format!("it cannot be run: {error}"))),
    };
    let outcome = match ended.code {
        Some(0) => ScriptOutcome::Passed,
        Some(2) => ScriptOutcome::Undecided,
        _ => ScriptOutcome::Failed,
    };
    let output = match ended.code {
        None => format!("it was stopped after {}; {}", seconds(timeout), ended.output),
        // A shell reports a signal as 128 plus its number.
        Some(code @ 129..160) => format!("it was stopped by signal {}; {}", code - 128, ended.output),
        Some(code) if code != 0 && ended.output.is_empty() => format!("it exited with {code} and no output"),
        Some(_) => ended.output,
    };
    Ok((outcome, ended.code, output.trim_end_matches([';', ' ']).to_owned()))
}

/// Returns the path of the script in the working tree, or how it differs from the committed script.
fn committed(ctx: &Ctx, found: &Found<'_>, script: &str, root: PathBuf) -> Result<Result<PathBuf, String>, OpError> {
    let (code, Some(files)) = (ctx.code()?, &found.files) else {
        return Ok(Err("there is no commit yet".to_owned()));
    };
    let Some(Item::File(FileSource::Blob(blob))) = files.file(script)? else {
        return Ok(Err("HEAD has no such regular file".to_owned()));
    };
    let here = Files::on_disk(root);
    let Some(Item::File(handle @ FileSource::Path(_))) = here.file(script)? else {
        return Ok(Err("the working tree has no such regular file".to_owned()));
    };
    if here.read(&handle)?.as_deref() != Some(&code.blob(&blob)?[..]) {
        return Ok(Err("it has uncommitted changes: commit or restore it".to_owned()));
    }
    match handle {
        FileSource::Path(path) if !files::is_executable(&path) => {
            Ok(Err(format!("it is not executable: chmod +x {}", shell_word(script))))
        }
        FileSource::Path(path) => Ok(Ok(path)),
        FileSource::Blob(_) => Ok(Err("the working tree has no such regular file".to_owned())),
    }
}

/// Returns the input of a script. Without a document to test, the fields of the document are null.
///
/// # Errors
/// Returns an error if the realm cannot be read.
fn input(ctx: &Ctx, named: &DeclaredScript<'_>) -> Result<Value, OpError> {
    let document = match document(ctx, named) {
        Ok(document) => Some(document),
        Err(error) if error.kind == Kind::No => None,
        Err(error) => return Err(error),
    };
    Ok(json!({
        "role": named.role,
        "domain": named.at.domain,
        "contract": named.at.contract,
        "version": document.as_ref().map(|document| &document.version),
        "schema": document.as_ref().map(|document| &document.schema),
        "value": document.as_ref().map(|document| &document.value),
    }))
}

/// Returns the tested document: that of this repository's file with the version that publishing would choose, or the
/// one that the import resolves to. If no version is served for the import, it is the current one.
fn document(ctx: &Ctx, named: &DeclaredScript<'_>) -> Result<Contract, OpError> {
    let store = &*ctx.realm()?.store;
    let ContractRef { domain: domain_name, contract: name } = &named.at;
    let import = match named.tested {
        Tested::Contract(document) if document.version.is_auto() => {
            let view = domain::of_contract(store, &named.at)?;
            return Ok(next_version::with_version(&view, document, &ctx.judge()));
        }
        Tested::Contract(document) => return Ok(document.clone()),
        Tested::Import(import) => import,
    };
    let one = read::OneContract::at(store, domain_name, domain::tip(store, domain_name)?, name)?;
    let mut view = one.view()?;
    let resolution = view.resolve_import(import);
    let Some(version) = resolution.resolved().or(resolution.current()) else {
        return domain::current(&view, name).cloned();
    };
    read::load_version(store, &mut view, one.tree(), name, version)?;
    view.document(name, version).cloned().map_or_else(|| get::at_version(&view, name, version), Ok)
}

/// Returns a warning for a script that is not run now and is not among the judged files.
fn missing(checked: Checked<'_>, named: &DeclaredScript<'_>) -> Result<Option<Finding>, OpError> {
    let Some(files) = &checked.found.files else { return Ok(None) };
    if matches!(files.file(named.script)?, Some(Item::File(_))) {
        return Ok(None);
    }
    let place = match checked.subject {
        Subject::Worktree => "the working tree",
        Subject::Staged => "the index",
        _ => "the commit",
    };
    let message = format!("{}, which tests {}, is not a file in {place}", named.script, named.at);
    Ok(Some(about(checked, named, Finding::warning("script-missing", message))))
}

fn finding(checked: Checked<'_>, named: &DeclaredScript<'_>, outcome: ScriptOutcome, output: &str) -> Option<Finding> {
    let (at, script) = (&named.at, named.script);
    let last = output.lines().last().map(|line| format!(": {line}")).unwrap_or_default();
    let finding = match outcome {
        ScriptOutcome::Passed | ScriptOutcome::NotRun => return None,
        ScriptOutcome::Failed => Finding::error("script-failed", format!("{script}, which tests {at}, failed{last}")),
        ScriptOutcome::Undecided => {
            Finding::warning("script-undecided", format!("{script}, which tests {at}, gave no verdict{last}"))
        }
    };
    Some(about(checked, named, finding))
}

fn about(checked: Checked<'_>, named: &DeclaredScript<'_>, finding: Finding) -> Finding {
    let ContractRef { domain, contract } = &named.at;
    let files = checked.found.files.as_ref();
    let line = files.and_then(|files| places::place(files, named.file, &named.pointer).1);
    finding.domain(domain).contract(contract).repo(&checked.found.repo).at(named.file, line)
}
