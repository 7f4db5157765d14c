//! The command as people and scripts use it.

mod errors;
mod evaluation;
mod evidence;
mod gathering;
mod learning;
mod not_found;
mod pipeline;
mod retrieval;
mod shell;
#[cfg(unix)]
mod signals;
mod studies;
mod translation;

use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The exit code for wrong usage and bad input.
const BAD_INPUT: i32 = 2;

/// Runs `sememe` in a folder.
fn sememe(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::cargo_bin("sememe").expect("the command is built with its tests");
    command.current_dir(folder).args(arguments).output().expect("it can be run")
}

/// The JSON object that a command prints.
fn json(folder: &Path, arguments: &[&str]) -> Value {
    let output = sememe(folder, &[arguments, &["--json"]].concat());
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {stderr}");
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A file of the bundled data.
fn bundled(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sememe-report/demo").join(name)
}

/// Runs a command that must be refused; returns what it says.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = sememe(folder, arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(BAD_INPUT), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    message
}
