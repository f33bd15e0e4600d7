//! Compares the cost of `git blue` with that of git itself, against the budgets of the design. The runs of each row
//! alternate with those of its floor on the same machine, so only the ratio of the two medians is meaningful.
//!
//! Below each ratio are the page faults and, if valgrind and strace are installed, the instructions, system calls and
//! flushes. These are stable when times are not.
//!
//! `BENCH_SIZES` sets the numbers of contracts in the realms (`10,1000,10000,100000`), `BENCH_PER_DOMAIN` the number of
//! contracts in one domain (50; 10000 for one large domain), and `BENCH_ROWS` selects the rows whose names contain it.

#[path = "../../tests/testutils/scripted.rs"]
mod scripted;

mod counts;
mod http;
mod listeners;
mod mcp;
mod place;
#[path = "../../tests/testutils/large_realm.rs"]
mod realm;
mod rows;
mod sdk_echo;

use std::io::Write as _;

use place::Place;
use rows::{MEMORY, ROWS};

/// The maximum memory of a command that does not list everything.
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

/// Returns a text that says whether a ratio is within its budget, if it has one.
fn verdict(ratio: f64, budget: Option<f64>) -> String {
    match budget {
        Some(budget) if ratio > budget => format!("OVER the budget of {budget} x"),
        Some(budget) => format!("within {budget} x"),
        None => String::new(),
    }
}
