//! Builds the report on a comparison of two schemas, or of two versions of a contract.

use std::collections::BTreeMap;

use super::{Case, Entry, Level, Outcome, Place, Related, RelatedFile, Report, check::CONFIG, fingerprint};
use crate::{
    model::{
        compatibility::RULES,
        pointer,
        text::count,
        verdict::{FLOW, ValueChange, VersionBump, is_same_language},
    },
    ops::compat::shown,
    surface::escape::clean,
    wire::{
        AskedDirection, BothReadings, BrokenDirection, Compat, ContractDiff, SchemaDifference, SchemaReading,
        SchemaVerdict, SchemaWarning,
    },
};

/// The rule of a direction that is neither proved nor refuted.
const UNKNOWN: &str = "compatibility-unknown";

/// The file of one side of a comparison, under its name on the runner, with line numbers by JSON Pointer.
#[derive(Debug)]
pub struct SideFile {
    pub name: String,
    pub lines: BTreeMap<String, u32>,
    /// The file and line of each JSON Pointer into a part that is in another file.
    pub elsewhere: BTreeMap<String, (String, Option<u32>)>,
}

/// One side of a comparison.
struct Side {
    /// The name of the side in messages.
    name: String,
    /// The file; `None` if the side is in the realm.
    file: Option<SideFile>,
}

/// A comparison to report on.
struct Comparison {
    old: Side,
    new: Side,
    /// The contract, if `old` and `new` are versions of one.
    subject: Option<String>,
    /// The reading that decides.
    reading: SchemaReading,
    /// The directions in which compatibility must hold.
    judged: Vec<BrokenDirection>,
    /// The prefix of all pointers in the document.
    part: &'static str,
}

/// Returns the report on a comparison of two schemas. The older file comes first; `None` means standard input.
pub fn of_compat(body: &Compat, files: [Option<SideFile>; 2], strict: bool) -> Report {
    let [old, new] = files;
    let comparison = Comparison {
        old: Side { name: shown(&body.old).into_owned(), file: old },
        new: Side { name: shown(&body.new).into_owned(), file: new },
        subject: None,
        reading: body.reading,
        judged: body.direction.directions().to_vec(),
        part: "",
    };
    let asked = [
        (BrokenDirection::Backwards, &body.backwards, body.direction != AskedDirection::Forwards),
        (BrokenDirection::Forwards, &body.forwards, body.direction != AskedDirection::Backwards),
    ];
    let asked = || asked.iter().filter(|(.., is_asked)| *is_asked);
    let mut entries: Vec<_> = body.differences.iter().map(|one| comparison.difference(one)).collect();
    entries.extend(asked().filter_map(|(direction, found, _)| comparison.unknown(*direction, found)));
    entries.extend(body.warnings.iter().map(|one| comparison.keyword_warning(one)));
    let report = Report {
        command: "git blue compat",
        outcome: Outcome::of(body.compatible.unwrap_or(!strict)),
        counts: counts(&entries),
        scope: format!(" from `{}` to `{}`", as_code(&shown(&body.old)), as_code(&shown(&body.new))),
        notes: vec![format!("Needs {}", body.bump.phrase([&body.backwards, &body.forwards]))],
        home: comparison.home(),
        cases: asked().map(|(direction, ..)| comparison.case(Some(*direction))).collect(),
        elsewhere: BTreeMap::new(),
        entries,
        strict,
    };
    report.finished()
}

/// Returns the names of both sides in sentences: their versions, which may be the same if one of them is a draft.
pub fn names(body: &ContractDiff) -> [String; 2] {
    let [old, new] = [&body.old_version, &body.new_version].map(ToString::to_string);
    if old == new && body.content_changed { [format!("the old {old}"), format!("the new {new}")] } else { [old, new] }
}

/// Returns the report on the changes of a contract version. `file` is the newer one if it is a draft.
pub fn of_diff(body: &ContractDiff, file: Option<SideFile>) -> Report {
    let subject = format!("{}/{}", body.domain, body.contract);
    let [old, new] = names(body);
    let comparison = Comparison {
        old: Side { name: old, file: None },
        new: Side { name: new, file },
        subject: Some(subject.clone()),
        reading: body.compared.as_ref().map_or(SchemaReading::Lenient, |one| one.reading),
        judged: body.compared.as_ref().map_or(Vec::new(), |one| one.promised.clone()),
        part: "/schema",
    };
    let mut entries = Vec::new();
    let mut cases = vec![comparison.case(None)];
    if let Some(compared) = &body.compared {
        entries.extend(compared.differences.iter().map(|one| comparison.difference(one)));
        for (direction, found) in
            [(BrokenDirection::Backwards, &compared.backwards), (BrokenDirection::Forwards, &compared.forwards)]
        {
            entries.extend(comparison.unknown(direction, found));
            cases.extend(comparison.judged.contains(&direction).then(|| comparison.case(Some(direction))));
        }
    }
    entries.extend(body.flow.iter().filter_map(|verdict| Some(comparison.flow(verdict.difference.as_ref()?))));
    let values = body.values.iter().flat_map(|values| &values.differences);
    entries.extend(values.map(|one| comparison.value(one)));
    let report = Report {
        command: "git blue contract diff",
        outcome: Outcome::of(entries.iter().all(|entry| entry.level != Level::Error)),
        counts: counts(&entries),
        scope: format!(" from {} to {} of `{subject}`", body.old_version, body.new_version),
        notes: needs(body).map(|needs| format!("Needs {needs}")).into_iter().collect(),
        home: comparison.home(),
        cases,
        elsewhere: BTreeMap::new(),
        entries,
        strict: false,
    };
    report.finished()
}

/// Returns the name of a file as it appears between backticks in Markdown.
fn as_code(name: &str) -> String {
    clean(name).replace('`', "'")
}

fn counts(entries: &[Entry]) -> String {
    let of = |level: Level| entries.iter().filter(|entry| entry.level == level).count();
    format!("{}, {}", count(of(Level::Error), "error", "errors"), count(of(Level::Warning), "warning", "warnings"))
}

/// Returns the version that a change requires, and why. Returns `None` if nothing changed.
pub fn needs(body: &ContractDiff) -> Option<String> {
    let bump = body.bump?;
    if body.old_version.is_prerelease() {
        return Some(format!("version {} or later: a pre-release promises nothing", body.old_version.release()));
    }
    let has_same_values = body.compared.as_ref().is_none_or(|both| is_same_language([&both.backwards, &both.forwards]));
    let breaks_value = body.values.as_ref().is_some_and(|values| values.bump == VersionBump::Major);
    let why = match bump {
        VersionBump::Major if body.flow.is_some() => "it breaks the promise about the flow",
        VersionBump::Major if has_same_values && breaks_value => "it breaks the promise about the value",
        VersionBump::Minor if has_same_values && body.values.is_some() => "the agreed value changes",
        VersionBump::Minor if has_same_values && changes_promise(body) => "the promise changes",
        bump => bump.why(has_same_values),
    };
    Some(format!("version {} or later: {why}", bump.after(&body.old_version)))
}

fn changes_promise(body: &ContractDiff) -> bool {
    let is_promise = |pointer: &str| pointer.starts_with("/compatibility") || pointer.starts_with("/values");
    body.changes.iter().any(|one| is_promise(&one.pointer))
}

impl Comparison {
    fn difference(&self, one: &SchemaDifference) -> Entry {
        let (sender, reader) = self.sides(one.direction);
        let is_decisive = one.reading == self.reading;
        let read = if one.reading == SchemaReading::Strict && !is_decisive { "read strictly, " } else { "" };
        let message = format!("{read}{reader} rejects {}, which {sender} allows", one.phrase());
        let is_judged = self.judged.contains(&one.direction);
        let level = if is_decisive && is_judged { Level::Error } else { Level::Note };
        Entry {
            meaning: RULES.iter().find(|rule| rule.id == one.rule).map(|rule| rule.text),
            old: Some(self.related(self.part, one.old_pointer.as_deref())),
            fingerprint: self.fingerprint(&one.rule, one.direction.word(), one.id.as_deref()),
            ..self.entry(
                (level, &one.rule),
                Some(one.direction),
                message,
                self.place(self.part, one.new_pointer.as_deref()),
            )
        }
    }

    fn unknown(&self, direction: BrokenDirection, found: &BothReadings) -> Option<Entry> {
        let SchemaVerdict::Unknown { reason, .. } = found.of(self.reading) else { return None };
        let (sender, reader) = self.sides(direction);
        let message = format!("it is unknown whether {reader} accepts everything that {sender} allows: {reason}");
        let place = self.place(self.part, None);
        Some(Entry {
            is_undecided: true,
            fingerprint: self.fingerprint(UNKNOWN, direction.word(), None),
            ..self.entry((Level::Warning, UNKNOWN), Some(direction), message, place)
        })
    }

    fn flow(&self, one: &SchemaDifference) -> Entry {
        Entry {
            old: Some(self.related(FLOW, None)),
            fingerprint: self.fingerprint(&one.rule, "flow", one.id.as_deref()),
            ..self.entry((Level::Error, &one.rule), None, one.message.clone(), self.place(FLOW, None))
        }
    }

    fn value(&self, one: &ValueChange) -> Entry {
        let level = if one.bump == VersionBump::Major { Level::Error } else { Level::Note };
        let pointer = one.old_pointer.as_deref().or(one.new_pointer.as_deref());
        Entry {
            old: Some(self.related("/value", one.old_pointer.as_deref())),
            fingerprint: self.fingerprint(&one.rule, "value", pointer),
            ..self.entry(
                (level, &one.rule),
                None,
                one.message.clone(),
                self.place("/value", one.new_pointer.as_deref()),
            )
        }
    }

    fn keyword_warning(&self, one: &SchemaWarning) -> Entry {
        let side = if shown(&one.schema) == self.new.name { &self.new } else { &self.old };
        let place = side.file.as_ref().map(|file| file.place(&one.pointer));
        Entry {
            fingerprint: self.fingerprint(&one.rule, &one.schema, Some(&one.pointer)),
            ..self.entry((Level::Warning, &one.rule), None, one.message.clone(), place)
        }
    }

    /// Returns the sender and the reader in a direction.
    fn sides(&self, direction: BrokenDirection) -> (&str, &str) {
        match direction {
            BrokenDirection::Backwards => (&self.new.name, &self.old.name),
            BrokenDirection::Forwards => (&self.old.name, &self.new.name),
        }
    }

    fn case(&self, direction: Option<BrokenDirection>) -> Case {
        let group = self.subject.as_deref().map_or("compat", |subject| subject.split('/').next().unwrap_or(subject));
        let words = [self.subject.as_deref(), direction.map(BrokenDirection::word)];
        let name: Vec<_> = words.into_iter().flatten().collect();
        let name = if name.is_empty() { "keywords".to_owned() } else { name.join(" ") };
        (group.to_owned(), name)
    }

    fn entry(
        &self,
        (level, rule): (Level, &str),
        direction: Option<BrokenDirection>,
        message: String,
        place: Option<Place>,
    ) -> Entry {
        Entry {
            level,
            rule: rule.to_owned(),
            subject: self.subject.clone(),
            case: self.case(direction),
            message,
            place,
            ..Entry::default()
        }
    }

    /// Returns the identity of a difference across reports. Like its id, it contains no lines or versions.
    fn fingerprint(&self, rule: &str, direction: &str, id: Option<&str>) -> String {
        let about = self.subject.as_deref().unwrap_or(&self.new.name);
        fingerprint(&[rule, about, direction, id.unwrap_or_default()])
    }

    /// Returns the file that is shown for findings without a file.
    fn home(&self) -> String {
        self.place("", None).map_or_else(|| CONFIG.to_owned(), |place| place.file)
    }

    /// Returns the location of a pointer in the newer file, or in the older one if the newer is not a file.
    fn place(&self, part: &str, pointer: Option<&str>) -> Option<Place> {
        let file = self.new.file.as_ref().or_else(|| self.old.file.as_ref().filter(|_| self.subject.is_none()));
        Some(file?.place(&format!("{part}{}", pointer.unwrap_or_default())))
    }

    fn related(&self, part: &str, pointer: Option<&str>) -> Related {
        let at = format!("{part}{}", pointer.unwrap_or_default());
        let message = format!("{} {}", self.old.name, if at.is_empty() { "/" } else { &at });
        let (file, line) = match (&self.old.file, &self.subject) {
            (Some(file), _) => (RelatedFile::Local(file.name.clone()), file.place(&at).line),
            (None, Some(subject)) => (RelatedFile::Realm(format!("{subject}/{}", self.old.name)), None),
            (None, None) => (RelatedFile::Local(self.old.name.clone()), None),
        };
        Related { message, file, line }
    }
}

impl SideFile {
    fn place(&self, pointer: &str) -> Place {
        if let Some((file, line)) = self.elsewhere.get(pointer) {
            return Place { file: file.clone(), line: *line, column: None };
        }
        let line = pointer::upwards(pointer).find_map(|at| self.lines.get(at)).copied();
        Place { file: self.name.clone(), line, column: None }
    }
}
