//! The `sememe` command: arguments → library calls → tables for people, JSON for machines.

mod arguments;
mod commands;
mod memory;
mod output;
mod progress;
mod signals;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sememe::device;
use sememe::files::remove_unfinished;
use sememe::retrieve::hits_files;
use sememe::space::Space;
use sememe::vectors::{self, Format};

use crate::arguments::{BadUsage, Command, Evaluate, Global, Lexicon, Migrate, Sememe};
use crate::progress::Interruption;
use crate::signals::Ending;

/// Threads that are started on any machine.
const MAX_THREADS: usize = 256;
/// Something went wrong while working.
const FAILURE: u8 = 1;
/// The exit code of wrong arguments and bad input. clap uses the same code for wrong usage.
const BAD_INPUT: u8 = 2;

fn main() -> ExitCode {
    memory::give_back_large_blocks();
    let sememe = Sememe::read();
    let interruption = Arc::new(Interruption::default());
    let is_interrupted = clean_up_when_interrupted(outputs(&sememe.command), interruption.clone());
    let result = run(&sememe, &interruption);
    while is_interrupted.load(Ordering::Acquire) {
        // The handler of Ctrl-C removed the files of this work and is about to end the program.
        std::thread::park();
    }
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            output::error(&error);
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Removes unfinished outputs and ends the program on Ctrl-C, unless a fit or a server ends instead, and on every other request to
/// end.
fn clean_up_when_interrupted(outputs: Vec<PathBuf>, interruption: Arc<Interruption>) -> Arc<AtomicBool> {
    let is_interrupted = Arc::new(AtomicBool::new(false));
    let interrupted = is_interrupted.clone();
    let end = move |ending: Ending| {
        if ending == Ending::Interrupted && interruption.stops_a_fit() {
            return;
        }
        if !matches!(ending, Ending::Truncated(_)) && interruption.stops_a_server() {
            return;
        }
        interrupted.store(true, Ordering::Release);
        if let Ending::Truncated(path) = ending {
            let problem = "it was truncated while it was read; try again when nothing else writes to it";
            output::error(&anyhow::anyhow!("cannot read {}: {problem}", path.display()));
        }
        outputs.iter().for_each(|path| remove_unfinished(path));
        std::process::exit(ending.exit_code());
    };
    // Without it the work is done all the same.
    let _ = signals::watch(end);
    is_interrupted
}

/// Every path that a command writes to, including the cache of retrieval terms in a space.
fn outputs(command: &Command) -> Vec<PathBuf> {
    let files = |path: &Path, to: Option<Format>| {
        let format = to.or_else(|| Format::of_name(path).ok());
        format.map_or_else(Vec::new, |format| vectors::files_written(path, format))
    };
    match command {
        Command::Demo(arguments) => {
            let report = arguments.report.clone().unwrap_or_else(|| commands::demo::REPORT.into());
            arguments.keep.iter().cloned().chain([report]).collect()
        }
        Command::Align(arguments) => vec![arguments.output.clone()],
        Command::Moments(arguments) => vec![arguments.output.clone()],
        Command::Extend(arguments) => vec![arguments.output.clone().unwrap_or_else(|| arguments.space.clone())],
        Command::Project(arguments) => files(&arguments.output, arguments.to),
        Command::Convert(arguments) => files(&arguments.output, arguments.to),
        Command::Neighbors(arguments) => hits_files(&arguments.output).to_vec(),
        Command::Export(arguments) => {
            let vectors = std::iter::once(&arguments.output).chain(&arguments.queries);
            let written: Vec<PathBuf> = match arguments.format {
                // Which files are written into the folder is known when the space is open.
                Some(format) => Space::open(&arguments.space)
                    .map_or_else(|_| Vec::new(), |space| space.export_files(&arguments.output, format))
                    .iter()
                    .flat_map(|file| files(file, None))
                    .collect(),
                None => vectors.flat_map(|path| files(path, None)).collect(),
            };
            written.into_iter().chain([arguments.space.clone()]).collect()
        }
        Command::Inspect(arguments) => arguments.curve.iter().cloned().collect(),
        Command::Lexicon(Lexicon::Induce(arguments)) => vec![arguments.output.clone(), arguments.space.clone()],
        Command::Translate(arguments) => vec![arguments.space.clone()],
        Command::Page(arguments) => vec![arguments.output.clone(), arguments.space.clone()],
        Command::Serve(arguments) => arguments.named_spaces().into_iter().map(|(_, path)| path).collect(),
        Command::Evaluate(Evaluate::Translation(arguments)) => {
            std::iter::once(&arguments.what).chain(&arguments.compare).cloned().collect()
        }
        Command::Evaluate(Evaluate::Noise(arguments)) => arguments.plot.iter().cloned().collect(),
        Command::Man(arguments) => {
            arguments.folder.iter().flat_map(|folder| commands::man::files_written(folder)).collect()
        }
        // Segments of an interrupted `apply` are kept: the next one goes on with them.
        Command::Migrate(Migrate::Fit(arguments)) => vec![arguments.output.clone()],
        Command::Migrate(Migrate::Adapt(arguments)) => vec![arguments.output.clone()],
        Command::Migrate(Migrate::Apply(arguments)) => {
            std::iter::once(&arguments.output).chain(&arguments.trust.confidence).cloned().collect()
        }
        Command::Migrate(Migrate::Plan(arguments)) => arguments.report.iter().cloned().collect(),
        Command::Migrate(Migrate::Export(arguments)) => vec![arguments.onnx.clone()],
        Command::Migrate(Migrate::Evaluate(_) | Migrate::Monitor(_)) => Vec::new(),
        Command::Evaluate(_) | Command::Sample(_) | Command::Devices | Command::Completions(_) => Vec::new(),
        Command::Reproduce(arguments) => vec![arguments.output.clone()],
    }
}

/// Threads far beyond the cores of a machine take its memory and do nothing else.
fn check_threads(threads: usize) -> Result<(), BadUsage> {
    let cores = std::thread::available_parallelism().map_or(1, NonZeroUsize::get);
    let most = MAX_THREADS.max(4 * cores);
    match threads > most {
        true => {
            Err(BadUsage(format!("--threads is {threads}: this machine has {cores} cores; at most {most} are started")))
        }
        false => Ok(()),
    }
}

fn run(sememe: &Sememe, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    if let Some(threads) = sememe.global.threads {
        check_threads(threads.get())?;
        rayon::ThreadPoolBuilder::new().num_threads(threads.get()).build_global()?;
    }
    let global = &sememe.global;
    // A device that is not there is noticed before any work.
    match global.device {
        Some(device) => device::choose(device)?,
        None => drop(device::current()?),
    }
    let result = run_command(&sememe.command, global, interruption);
    if let Some(gpu) = device::taken() {
        output::note(global, format!("large searches ran on {gpu}"));
    }
    if let Some(reason) = device::fallback() {
        output::warn(global, reason);
    }
    result
}

fn run_command(command: &Command, global: &Global, interruption: &Arc<Interruption>) -> anyhow::Result<()> {
    match command {
        Command::Demo(arguments) => commands::demo::run(arguments, global, interruption),
        Command::Align(arguments) => commands::align::run(arguments, global, interruption),
        Command::Extend(arguments) => commands::extend::run(arguments, global, interruption),
        Command::Moments(arguments) => commands::moments::run(arguments, global),
        Command::Translate(arguments) => commands::translate::run(arguments, global),
        Command::Page(arguments) => commands::page::run(arguments, global),
        Command::Serve(arguments) => commands::serve::run(arguments, global, interruption),
        Command::Lexicon(Lexicon::Induce(arguments)) => commands::lexicon::induce(arguments, global),
        Command::Neighbors(arguments) => commands::neighbors::run(arguments, global),
        Command::Export(arguments) => commands::export::run(arguments, global),
        Command::Project(arguments) => commands::project::run(arguments, global),
        Command::Evaluate(task) => commands::evaluate::run(task, global),
        Command::Migrate(step) => commands::migrate::run(step, global),
        Command::Sample(arguments) => commands::sample::run(arguments, global),
        Command::Reproduce(arguments) => commands::reproduce::run(arguments, global),
        Command::Convert(arguments) => commands::convert::run(arguments, global),
        Command::Inspect(arguments) => commands::inspect::run(arguments, global),
        Command::Devices => commands::devices::run(global),
        Command::Completions(arguments) => commands::completions::run(arguments, global),
        Command::Man(arguments) => commands::man::run(arguments, global),
    }
}

fn exit_code(error: &anyhow::Error) -> u8 {
    let known = error.chain().find_map(|cause| cause.downcast_ref::<sememe::Error>());
    let is_usage = error.chain().any(|cause| cause.is::<BadUsage>());
    let of_report = error.chain().find_map(|cause| cause.downcast_ref::<sememe_report::Error>());
    let of_server = error.chain().find_map(|cause| cause.downcast_ref::<sememe_server::Error>());
    match known {
        _ if is_usage || of_report.is_some_and(sememe_report::Error::is_bad_input) => BAD_INPUT,
        _ if of_server.is_some_and(sememe_server::Error::is_bad_input) => BAD_INPUT,
        Some(known) if known.is_bad_input() => BAD_INPUT,
        _ => FAILURE,
    }
}
