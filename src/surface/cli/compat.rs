//! `git blue compat`.

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use clap::Args;

use super::{
    Verdict,
    output::Output,
    text::{Style, Text, plain, styled},
};
use crate::{
    error::OpError,
    ops::{compat, ctx::Ctx, publish::references::Reference},
    repo::CodeRepo,
    surface::{
        cli::{formats::Formats, input::read_at_most},
        report::{self, SideFile},
    },
    wire::{AskedDirection, BothReadings, BrokenDirection, Compat, SchemaDifference, SchemaReading, SchemaVerdict},
};

/// The maximum length of a witness that is printed as text, in characters.
const MAX_WITNESS: usize = 400;

#[derive(Debug, Args)]
pub struct Arguments {
    /// The old schema: a JSON or YAML file, COMMIT:FILE for a file at a commit, or - for standard input
    ///
    /// Append #/POINTER for a part of the file.
    #[arg(value_name = "OLD")]
    old: PathBuf,
    /// The new schema: a JSON or YAML file, COMMIT:FILE for a file at a commit, or - for standard input
    ///
    /// Append #/POINTER for a part of the file.
    #[arg(value_name = "NEW")]
    new: PathBuf,
    /// The directions in which compatibility must hold
    #[arg(long, value_enum, default_value_t = AskedDirection::Both)]
    direction: AskedDirection,
    /// How to read the schema of the sending side
    #[arg(long, value_enum, default_value_t = SchemaReading::Lenient)]
    reading: SchemaReading,
    /// Also fail if compatibility is unknown
    #[arg(long)]
    strict: bool,
    #[command(flatten)]
    pub(super) formats: Formats,
}

impl Arguments {
    pub fn run(self, ctx: &Ctx, output: &mut Output<'_>) -> Result<Verdict, OpError> {
        if self.old == self.new && self.old == Path::new("-") {
            return Err(OpError::usage("only one of the schemas can be standard input"));
        }
        let request = compat::Request {
            old: read(ctx, &self.old)?,
            new: read(ctx, &self.new)?,
            direction: self.direction,
            reading: self.reading,
        };
        let answer = compat::compare(&ctx.env, &request)?;
        let mut formats = self.formats;
        formats.of_runner(&ctx.env);
        let sides = || [&request.old, &request.new].map(|source| side(ctx, source, &answer.body));
        let report = || report::of_compat(&answer.body, sides(), self.strict);
        formats.deliver(ctx, output, &answer, report, render)?;
        Ok(match answer.body.compatible {
            Some(true) => Verdict::Yes,
            None if !self.strict => Verdict::Yes,
            _ => Verdict::No,
        })
    }
}

/// Reads a file that the user named, in the file system or at a commit, or a part of one.
fn read(ctx: &Ctx, place: &Path) -> Result<compat::Source, OpError> {
    let (file, pointer) = Reference::split(ctx.env.cwd(), place);
    if file.as_os_str().is_empty() {
        return Err(OpError::usage(format!("{} names no file; write FILE#/POINTER", place.display())));
    }
    let bytes = match at_commit(ctx, file) {
        Some((code, name)) => code.show(name, ctx.env.cwd(), compat::MAX_SCHEMA)?,
        None => read_at_most(ctx, file, compat::MAX_SCHEMA)?,
    };
    let source = compat::Source { name: file.display().to_string(), bytes, part: None };
    if pointer.is_empty() { Ok(source) } else { source.part(pointer) }
}

/// Returns the repository and the name of a file that is written as `COMMIT:FILE`, unless such a file exists.
fn at_commit<'p>(ctx: &'p Ctx, file: &'p Path) -> Option<(&'p CodeRepo, &'p str)> {
    let name = file.to_str().filter(|name| name.contains(':'))?;
    ctx.code.as_ref().filter(|_| !ctx.env.cwd().join(file).exists()).map(|code| (code, name))
}

/// Returns a file with the lines of its findings. Returns `None` for standard input and for a file at a commit.
fn side(ctx: &Ctx, source: &compat::Source, body: &Compat) -> Option<SideFile> {
    let of_differences = body.differences.iter().flat_map(|one| [&one.old_pointer, &one.new_pointer]).flatten();
    let of_warnings = body.warnings.iter().map(|one| &one.pointer);
    let pointers = of_differences.chain(of_warnings).map(String::as_str).chain([source.pointer()]);
    let mut lines = compat::lines(source, pointers);
    // A finding without a pointer is about the whole schema.
    lines.extend(lines.get(source.pointer()).map(|line| (String::new(), *line)));
    let name = report::as_runner_names(&ctx.env, Path::new(&source.name));
    let is_file = source.name != "-" && at_commit(ctx, Path::new(&source.name)).is_none();
    is_file.then_some(SideFile { name, lines, elsewhere: BTreeMap::new() })
}

fn render(body: &Compat, text: &mut Text) {
    let judged = body.direction.directions();
    let sides = Sides { old: &body.old, new: &body.new, reading: body.reading, judged };
    for one in &body.differences {
        sides.difference(one, text);
        text.gap();
    }
    if body.more_differences && !body.differences.is_empty() {
        text.line(&[styled("there may be more differences than those listed", Style::Dim)]).gap();
    }
    for one in &body.warnings {
        let rule = styled(format!("warning[{}]:", one.rule), Style::Yellow);
        text.line(&[rule, plain(place(&one.schema, &one.pointer))]);
        text.block("      ", &one.message);
        text.gap();
    }
    if body.direction != AskedDirection::Forwards {
        render_readings("backwards", ("the old schema", "the new one sends"), &body.backwards, body.reading, text);
    }
    if body.direction != AskedDirection::Backwards {
        render_readings("forwards", ("the new schema", "the old one sent"), &body.forwards, body.reading, text);
    }
    text.line(&[plain("needs"), plain(body.bump.phrase([&body.backwards, &body.forwards]))]);
}

/// Prints what was found in one direction, first in the reading that decides.
pub fn render_readings(
    name: &str,
    (reader, sent): (&str, &str),
    readings: &BothReadings,
    decisive: SchemaReading,
    text: &mut Text,
) {
    let (first, other, label) = match decisive {
        SchemaReading::Lenient => (&readings.lenient, &readings.strict, "  read strictly:"),
        SchemaReading::Strict => (&readings.strict, &readings.lenient, "  read leniently:"),
    };
    let word = |verdict: &SchemaVerdict| match verdict {
        SchemaVerdict::Compatible => styled("compatible", Style::Green),
        SchemaVerdict::Incompatible { .. } => styled("incompatible", Style::Red),
        SchemaVerdict::Unknown { .. } => styled("unknown", Style::Yellow),
    };
    let verb = match first {
        SchemaVerdict::Compatible => "accept",
        SchemaVerdict::Incompatible { .. } => "reject some of",
        SchemaVerdict::Unknown { .. } => "may reject some of",
    };
    let meaning = format!("(readers of {reader} {verb} what {sent})");
    text.line(&[styled(format!("{name}:"), Style::Bold), word(first), styled(meaning, Style::Dim)]);
    if std::mem::discriminant(first) != std::mem::discriminant(other) {
        text.line(&[plain(label), word(other)]);
    }
    for verdict in [first, other] {
        if let SchemaVerdict::Unknown { reason, .. } = verdict {
            text.line(&[plain("  undecided:"), plain(reason)]);
            break;
        }
    }
}

/// The names of two schemas, and what decides the verdict: the reading, and the directions that must hold.
pub struct Sides<'a> {
    pub old: &'a str,
    pub new: &'a str,
    pub reading: SchemaReading,
    pub judged: &'a [BrokenDirection],
}

impl Sides<'_> {
    /// Prints a difference, with the witness that shows it.
    pub fn difference(&self, one: &SchemaDifference, text: &mut Text) {
        let Self { reading, judged, .. } = self;
        let (old, new) = (&*compat::shown(self.old), &*compat::shown(self.new));
        let (sender, reader, breaks) = match one.direction {
            BrokenDirection::Backwards => (new, old, "breaks backwards compatibility"),
            BrokenDirection::Forwards => (old, new, "breaks forwards compatibility"),
        };
        let is_decisive = one.reading == *reading && judged.contains(&one.direction);
        let (level, color) = if is_decisive { ("error", Style::Red) } else { ("note", Style::Dim) };
        let reading = if one.reading == SchemaReading::Strict { "read strictly, " } else { "" };
        text.line(&[
            styled(format!("{level}[{}]:", one.rule), color),
            plain(format!("{reading}{old} -> {new} {breaks}")),
        ]);
        for (name, pointer) in [(self.old, &one.old_pointer), (self.new, &one.new_pointer)] {
            if let Some(pointer) = pointer {
                text.line(&[styled("  -->", Style::Dim), plain(place(name, pointer))]);
            }
        }
        text.line(&[plain(format!("  valid in {sender}, invalid in {reader}:"))]);
        text.block("      ", &short(one));
        let place = if one.at.is_empty() { String::new() } else { format!("at {}: ", one.at) };
        text.block("      ", &format!("{place}{}", one.message));
    }
}

/// Returns a JSON Pointer into a file. Drops the pointer in `name`, if any, because `pointer` already starts with it.
fn place(name: &str, pointer: &str) -> String {
    let file = name.split_once("#/").map_or(name, |(file, _)| file);
    let file = if file == "-" { "(standard input)" } else { file };
    format!("{file}#{pointer}")
}

/// Returns a witness shortened to a few lines. `--json` prints it in full.
fn short(one: &SchemaDifference) -> String {
    let Some(witness) = one.witness().map(ToString::to_string) else {
        return format!("(a value of {} bytes)", one.witness_bytes);
    };
    match witness.char_indices().nth(MAX_WITNESS) {
        Some((end, _)) => format!("{}… ({} bytes; --json shows all)", &witness[..end], witness.len()),
        None => witness,
    }
}
