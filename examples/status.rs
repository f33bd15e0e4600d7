//! Prints pending changes of a repository's imports, and whether the imports still hold:
//! `cargo run --example status -- [DIR]`.
#![expect(clippy::print_stdout, clippy::print_stderr, reason = "that is what an example does")]

use std::process::ExitCode;

use git_blue::{Error, Machine, wire::PageRequest};

fn main() -> ExitCode {
    let directory = std::env::args().nth(1).unwrap_or_else(|| ".".into());
    match print_status(&directory) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}: {error}", error.code());
            error.next_steps().iter().for_each(|step| eprintln!("next: {step}"));
            ExitCode::FAILURE
        }
    }
}

fn print_status(directory: &str) -> Result<(), Error> {
    let repository = Machine::open()?.repository(directory)?;
    println!("{} in the realm {}", repository.name(), repository.realm().name());
    for import in repository.status(&PageRequest::default())?.body.imports {
        println!("imports {}/{} {}: {}", import.domain, import.contract, import.version_req, import.state.word());
    }
    let pending = repository.pending(&PageRequest::all())?.body;
    for change in &pending.notifications {
        let contract = change.contract.as_ref().map_or("its binding", |name| name.as_str());
        println!("pending: {} changed {}/{contract}", change.from_repo, change.domain);
    }
    println!("{} pending", pending.total);
    Ok(())
}
