//! Counts the cost of a command in units that do not depend on the load of the machine: page faults, and, if valgrind
//! and strace are installed, instructions, system calls and flushes.

use std::process::Stdio;

use super::{
    place::Place,
    rows::{Row, Side},
};

/// The minimum number of runs of a row. Rows with fewer runs are too slow for tools that slow them down fifty times.
const MIN_RUNS: usize = 10;
/// The file that strace writes.
const TRACE: &str = "trace";

/// Returns the cost of a row's measured side as text.
pub fn of(place: &Place, row: &Row) -> String {
    if row.runs < MIN_RUNS {
        return String::new();
    }
    let instructions = place.prepared(row).and_then(|side| instructions(place, row, side));
    let calls = place.prepared(row).and_then(|side| calls(place, side));
    let instructions = instructions.map(|count| format!("{:.1} M instructions", count / 1e6));
    let calls = calls.map(|[calls, flushes]| format!("{calls} system calls, {flushes} flushes"));
    let faults = place.prepared(row).map(|side| format!("{} page faults", place.usage(side).page_faults));
    instructions.into_iter().chain(calls).chain(faults).collect::<Vec<_>>().join(", ")
}

fn instructions(place: &Place, row: &Row, side: &Side) -> Option<f64> {
    let tool = ["--tool=callgrind", "--callgrind-out-file=/dev/null", "--trace-children=yes"];
    let output = place.under("valgrind", &tool, side).stdout(Stdio::null()).stderr(Stdio::piped()).output().ok()?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{} under valgrind: {said}", row.name);
    let collected = said.lines().filter_map(|line| line.split_once("Collected : ")?.1.trim().parse::<f64>().ok());
    Some(collected.sum()).filter(|sum| *sum > 0.0)
}

fn calls(place: &Place, side: &Side) -> Option<[usize; 2]> {
    let trace = place.path().join(TRACE);
    let to = trace.display().to_string();
    let status = place.under("strace", &["-f", "-qq", "-o", &to], side).stdout(Stdio::null()).status().ok()?;
    let text = std::fs::read_to_string(&trace).ok().filter(|_| status.success())?;
    let lines: Vec<_> = text.lines().filter(|line| line.contains('(') && !line.contains("<... ")).collect();
    let flushes = lines.iter().filter(|line| line.contains("fsync(") || line.contains("fdatasync(")).count();
    Some([lines.len(), flushes])
}
