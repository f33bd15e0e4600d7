//! Writes the manual pages in roff.

use std::{
    fmt::Write as _,
    path::{Path, PathBuf},
};

use clap::{Arg, ArgAction};

use super::{
    facts::{self, Fact},
    page_of,
};
use crate::error::OpError;

/// Writes a page for `git-blue` and one for each command below it. Returns their paths.
///
/// # Errors
/// Returns an error if a file cannot be written.
pub(in crate::surface::cli) fn write_pages(folder: &Path) -> Result<Vec<PathBuf>, OpError> {
    std::fs::create_dir_all(folder).map_err(OpError::io("create", folder))?;
    let mut files = Vec::new();
    write_page(&built(), None, folder, &mut files)?;
    Ok(files)
}

/// Returns the paths of the pages that [`write_pages`] writes.
pub(in crate::surface::cli) fn page_files(folder: &Path) -> Vec<PathBuf> {
    fn add(command: &clap::Command, folder: &Path, files: &mut Vec<PathBuf>) {
        shown(command).for_each(|sub| add(sub, folder, files));
        files.push(page_file(command, folder));
    }
    let mut files = Vec::new();
    add(&built(), folder, &mut files);
    files
}

/// Returns the definition of all commands, with the full name of each.
fn built() -> clap::Command {
    let mut command = super::super::command().disable_help_subcommand(true);
    command.build();
    command
}

fn write_page(
    command: &clap::Command,
    above: Option<&clap::Command>,
    folder: &Path,
    files: &mut Vec<PathBuf>,
) -> Result<(), OpError> {
    for sub in shown(command) {
        write_page(sub, Some(command), folder, files)?;
    }
    let file = page_file(command, folder);
    let page = render(command, above).map_err(OpError::io("write", &file))?;
    std::fs::write(&file, in_ascii(&page)).map_err(OpError::io("write", &file))?;
    files.push(file);
    Ok(())
}

fn shown(command: &clap::Command) -> impl Iterator<Item = &clap::Command> {
    command.get_subcommands().filter(|sub| !sub.is_hide_set())
}

fn page_file(command: &clap::Command, folder: &Path) -> PathBuf {
    folder.join(format!("{}.1", page_name(command)))
}

fn page_name(command: &clap::Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Returns the name of the command without `git blue`.
fn path(command: &clap::Command) -> &str {
    command.get_bin_name().unwrap_or_default().trim_start_matches("git blue").trim_start()
}

fn render(command: &clap::Command, above: Option<&clap::Command>) -> std::io::Result<String> {
    let is_global = |arg: &Arg| arg.is_global_set() && arg.get_help_heading().is_some();
    let hide = |arg: Arg| if above.is_some() && is_global(&arg) { arg.hide(true) } else { arg };
    let mut own = command.clone().mut_args(hide);
    if let Some(page) = page_of(path(command)).filter(|page| !page.description.is_empty()) {
        // The section NAME already shows the summary.
        own = own.long_about(page.description);
    }
    let has_options = own.get_arguments().any(|arg| !arg.is_hide_set());
    let man = clap_mangen::Man::new(own.clone())
        .title(page_name(command).to_uppercase())
        // No date, so that the same version writes the same page. clap_mangen omits an empty date, and man would read
        // the next field as the date.
        .date(" ")
        .source(concat!("git-blue ", env!("CARGO_PKG_VERSION")))
        .manual("git blue Manual");
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    page.extend(synopsis(&own, above.is_some()).into_bytes());
    man.render_description_section(&mut page)?;
    if own.has_subcommands() {
        man.render_subcommands_section(&mut page)?;
    }
    if has_options {
        man.render_options_section(&mut page)?;
    }
    let mut page = String::from_utf8_lossy(&page).into_owned();
    if above.is_some() {
        page += ".PP\nAll commands accept \\fB\\-\\-json\\fR, \\fB\\-C\\fR, \\fB\\-\\-realm\\fR, \
            \\fB\\-\\-no\\-cache\\fR, \\fB\\-\\-quiet\\fR, \\fB\\-\\-color\\fR and \\fB\\-\\-no\\-pager\\fR: see \
            \\fBgit\\-blue\\fR(1).\n";
    }
    page += &closing(command, above);
    Ok(page)
}

/// Returns the synopsis of the command, with the values of its options.
fn synopsis(command: &clap::Command, is_below: bool) -> String {
    let name = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let mut text = format!(".SH SYNOPSIS\n\\fB{}\\fR", escape(name));
    let options = command.get_arguments().filter(|arg| !arg.is_hide_set() && !arg.is_positional());
    for arg in options.filter(|arg| !matches!(arg.get_action(), ArgAction::Help | ArgAction::HelpShort)) {
        let _ = write!(text, " {}", bracketed(arg, &option(arg)));
    }
    if is_below {
        text += " [\\fIoption\\fR ...]";
    }
    for arg in command.get_positionals().filter(|arg| !arg.is_hide_set()) {
        let _ = write!(text, " {}", bracketed(arg, &values(arg)));
    }
    if command.has_subcommands() {
        text += " \\fIcommand\\fR ...";
    }
    text + "\n"
}

fn bracketed(arg: &Arg, text: &str) -> String {
    if arg.is_required_set() { text.to_owned() } else { format!("[{text}]") }
}

fn option(arg: &Arg) -> String {
    let short = arg.get_short().map(|short| format!("\\fB\\-{short}\\fR"));
    let long = arg.get_long().map(|long| format!("\\fB\\-\\-{}\\fR", escape(long)));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join("|");
    if arg.get_action().takes_values() { format!("{names} {}", values(arg)) } else { names }
}

fn values(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let names: Vec<_> = names.iter().map(|name| format!("\\fI{}\\fR", escape(name))).collect();
    let is_several = arg.get_num_args().is_some_and(|range| range.max_values() > 1);
    names.join(" ") + if is_several { " ..." } else { "" }
}

/// Returns the sections after the options: examples, exit codes, variables, files, other pages.
fn closing(command: &clap::Command, above: Option<&clap::Command>) -> String {
    let path = path(command);
    let page = page_of(path);
    let mut text = String::new();
    if let Some(page) = page {
        text += ".SH EXAMPLES\n";
        for (line, what) in page.examples {
            let _ = write!(text, ".PP\n{}:\n.PP\n.RS 4\n.nf\n{}\n.fi\n.RE\n", escape(what), escape(line));
        }
    }
    let no = page.map(|page| page.exit_1).filter(|no| !no.is_empty()).unwrap_or(facts::EXIT_1);
    let [yes, cannot, usage] = facts::EXIT_CODES;
    text += ".SH EXIT STATUS\n";
    for (code, meaning) in [yes, ("1", no), cannot, usage] {
        text += &entry(code, meaning);
    }
    text += &section("ENVIRONMENT", facts::VARIABLES, path);
    text += &section("FILES", facts::FILES, path);
    text + &see_also(command, above, super::long_name(path))
}

fn section(heading: &str, facts: &[Fact], path: &str) -> String {
    let entries = facts.iter().filter(|fact| fact.concerns(path)).map(|fact| entry(fact.name, fact.text));
    let entries: String = entries.collect();
    if entries.is_empty() { entries } else { format!(".SH {heading}\n{entries}") }
}

fn entry(name: &str, text: &str) -> String {
    format!(".TP\n\\fB{}\\fR\n{}\n", escape(name), escape(text))
}

/// Returns the related pages: the command that it abbreviates, its parent, and its siblings.
fn see_also(command: &clap::Command, above: Option<&clap::Command>, long: Option<&str>) -> String {
    let mut names: Vec<_> = long.map(|long| format!("git-blue-{}", long.replace(' ', "-"))).into_iter().collect();
    match above {
        Some(above) => {
            let is_of_root = above.get_bin_name() == Some("git blue");
            let beside = shown(above).filter(|sub| !is_of_root && sub.get_name() != command.get_name());
            names.extend(std::iter::once(above).chain(beside).map(|page| page_name(page).to_owned()));
        }
        None => names.push("git".into()),
    }
    let names: Vec<_> = names.iter().map(|name| format!("\\fB{}\\fR(1)", escape(name))).collect();
    format!(".SH SEE ALSO\n{}\n", names.join(", "))
}

/// Escapes text for roff, so that no hyphen becomes a dash and no line is read as a request.
fn escape(text: &str) -> String {
    let text = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\(aq");
    if text.starts_with('.') { format!("\\&{text}") } else { text }
}

/// Returns a page with non-ASCII characters as troff escapes, so that it needs no encoding.
fn in_ascii(page: &str) -> String {
    let spell = |c: char| if c.is_ascii() { c.to_string() } else { format!("\\[u{:04X}]", u32::from(c)) };
    page.chars().map(spell).collect()
}
