//! What `git blue` costs beside git itself (the budgets of the design): every row runs in turn with
//! the floor it is compared with, in the same seconds on the same machine, so that only the ratio of
//! the two medians means anything.
//!
//! Below each ratio stand page faults, and instructions, system calls and flushes where valgrind and strace are installed:
//! these are steady where time is not.
//!
//! `BENCH_SIZES` says how many contracts the realms have (`10,1000,10000,100000`), `BENCH_PER_DOMAIN` how many of them
//! are in one domain (50; 10000 for one large domain), and `BENCH_ROWS` picks the rows whose name contains it.

#[path = "../../tests/scripted/mod.rs"]
mod scripted;

mod counts;
mod http;
mod listeners;
mod mcp;
mod place;
#[path = "../../tests/fixtures/large_realm.rs"]
mod realm;
mod rows;
mod sdk_echo;

use std::io::Write as _;

use place::Place;
use rows::{MEMORY, ROWS};

/// Most memory that a command which does not list everything may use.
const MAX_MEMORY_MB: f64 = 60.0;

fn main() {
    if place::is_measuring_usage() {
        return place::report_usage();
    }
    if mcp::is_echo() {
        return mcp::echo();
    }
    if sdk_echo::is_asked_for() {
        return sdk_echo::serve();
    }
    if http::is_static() {
        return http::serve();
    }
    let variable = |name| scripted::variable(name).map(|value| value.to_string_lossy().into_owned());
    let sizes = variable("BENCH_SIZES").unwrap_or_else(|| "10,1000,10000,100000".into());
    let wanted = variable("BENCH_ROWS").unwrap_or_default();
    let per_domain = variable("BENCH_PER_DOMAIN").map_or(realm::PER_DOMAIN, |count| count.parse().unwrap());
    let mut out = std::io::stdout().lock();
    for size in sizes.split(',').map(|size| size.trim().parse().unwrap()) {
        let place = Place::new(size, per_domain);
        writeln!(out, "\n{size} contracts in {} domains, {} objects", place.domains, place.objects()).unwrap();
        for row in ROWS.iter().filter(|row| row.name.contains(&wanted)) {
            let (measured, floor) = place.compare(row);
            let ratio = measured / floor;
            let verdict = verdict(ratio, row.budget);
            let (name, against) = (row.name, row.floor.name);
            writeln!(out, "  {name:34} {measured:8.2} ms {ratio:7.2} x  {against:26} {floor:8.2} ms  {verdict}")
                .unwrap();
            let counts = counts::of(&place, row);
            if !counts.is_empty() {
                writeln!(out, "  {:34} {counts}", "").unwrap();
            }
        }
        mcp::report(&place, &wanted, &mut out);
        if per_domain == realm::PER_DOMAIN {
            http::report(&place, &wanted, &mut out);
        }
        listeners::report(&place, &wanted, &mut out);
        for command in MEMORY.iter().filter(|command| command.name.contains(&wanted)) {
            let used = place.usage(command).megabytes;
            let verdict = if used > MAX_MEMORY_MB { "OVER the budget of" } else { "within" };
            writeln!(out, "  {:34} {used:8.1} MB peak {:43} {verdict} {MAX_MEMORY_MB} MB", command.name, "").unwrap();
        }
    }
}

/// Says whether a ratio is within its budget, if it has one.
fn verdict(ratio: f64, budget: Option<f64>) -> String {
    match budget {
        Some(budget) if ratio > budget => format!("OVER the budget of {budget} x"),
        Some(budget) => format!("within {budget} x"),
        None => String::new(),
    }
}
