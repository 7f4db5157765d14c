//! The `sememe` command: arguments → library calls → tables for people, JSON for machines.

mod arguments;
mod commands;
mod output;
mod progress;

use std::process::ExitCode;

use clap::Parser;

use crate::arguments::{Command, Evaluate, Sememe};

/// Something went wrong while working.
const FAILURE: u8 = 1;
/// The request or the input is at fault. clap exits with the same code on wrong usage.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    let sememe = Sememe::parse();
    match run(&sememe) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sememe: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(sememe: &Sememe) -> anyhow::Result<()> {
    if let Some(threads) = sememe.global.threads {
        rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global()?;
    }
    let global = &sememe.global;
    match &sememe.command {
        Command::Demo(arguments) => commands::demo::run(arguments, global),
        Command::Align(arguments) => commands::align::run(arguments, global),
        Command::Translate(arguments) => commands::translate::run(arguments, global),
        Command::Project(arguments) => commands::project::run(arguments, global),
        Command::Evaluate(Evaluate::Translation(arguments)) => commands::evaluate::translation(arguments, global),
        Command::Convert(arguments) => commands::convert::run(arguments, global),
        Command::Inspect(arguments) => commands::inspect::run(arguments, global),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let known = error.chain().find_map(|cause| cause.downcast_ref::<sememe::Error>());
    let is_usage = error.chain().any(|cause| cause.is::<arguments::BadUsage>());
    match known {
        _ if is_usage => BAD_INPUT,
        Some(known) if known.is_bad_input() => BAD_INPUT,
        _ => FAILURE,
    }
}
