//! Compares two JSON Schemas, and prints a value that shows a break:
//! `cargo run --example compare_schemas -- OLD.json NEW.json`. Exits with 1 if they are incompatible, and with 2 if the
//! result is unknown or a file cannot be read.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "that is what an example does")]

use std::{error::Error, process::ExitCode};

use git_blue::{
    compare_schemas,
    wire::{Compat, VersionBump},
};
use serde_json::Value;

fn main() -> ExitCode {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [old, new] = &arguments[..] else {
        eprintln!("usage: compare_schemas OLD.json NEW.json");
        return ExitCode::from(2);
    };
    match compare(old, new) {
        Ok(found) => {
            print_differences(&found);
            ExitCode::from(match found.compatible {
                Some(true) => 0,
                Some(false) => 1,
                None => 2,
            })
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}

fn compare(old: &str, new: &str) -> Result<Compat, Box<dyn Error>> {
    Ok(compare_schemas(&read(old)?, &read(new)?)?)
}

fn read(file: &str) -> Result<Value, Box<dyn Error>> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{file}: {error}"))?;
    Ok(serde_json::from_str(&text).map_err(|error| format!("{file}: {error}"))?)
}

fn print_differences(found: &Compat) {
    for one in &found.differences {
        let shows = one.witness.as_ref().map(|witness| format!(", as {witness} shows")).unwrap_or_default();
        println!("{}: {}{shows}", one.rule, one.message);
    }
    let answer = match found.compatible {
        Some(true) => "compatible in both directions",
        Some(false) => "incompatible",
        None => "unknown",
    };
    let bump = match found.bump {
        VersionBump::Major => "needs a major version",
        VersionBump::Minor => "needs a minor version",
        VersionBump::Patch => "needs a patch version",
        VersionBump::Unknown => "it is unknown which version it needs",
    };
    println!("{answer}; {bump}");
}
