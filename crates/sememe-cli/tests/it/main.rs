//! The command as people and scripts use it.

mod devices;
mod errors;
mod evaluation;
mod evidence;
mod gathering;
mod learning;
mod migration;
mod not_found;
mod paging;
mod pipeline;
#[path = "../../../sememe/src/random.rs"]
#[allow(dead_code, reason = "the library's own generator, of which tests use a part")]
mod random;
mod retrieval;
mod serving;
mod shell;
#[cfg(unix)]
mod signals;
mod studies;
mod tables;
mod translation;

use std::path::{Path, PathBuf};
use std::process::Output;
use std::sync::LazyLock;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

use random::Random;

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

/// The demo, which is run once for all tests.
struct Demo {
    folder: TempDir,
    /// What it prints as JSON.
    result: Value,
}

impl Demo {
    /// The folder with its `space` and its report.
    fn folder(&self) -> &Path {
        self.folder.path()
    }
}

static DEMO: LazyLock<Demo> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let result = json(folder.path(), &["demo", "--keep", "space"]);
    Demo { folder, result }
});

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

/// A file of the bundled data.
fn bundled(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../sememe-report/demo").join(name)
}

/// Rows of numbers from -1 to 1. More rows with the same seed begin with the same rows.
fn random_rows(rows: usize, dim: usize, seed: u64) -> Vec<Vec<f64>> {
    let mut random = Random::new(seed);
    (0..rows).map(|_| (0..dim).map(|_| 2.0 * random.uniform() - 1.0).collect()).collect()
}

/// A text file of vectors, without a header. The word of row `i` is `word(i)`.
fn vectors_text(rows: &[Vec<f64>], word: impl Fn(usize) -> String) -> String {
    let line = |(i, row): (usize, &Vec<f64>)| {
        let numbers: Vec<String> = row.iter().map(|x| format!("{x:.5}")).collect();
        format!("{} {}\n", word(i), numbers.join(" "))
    };
    rows.iter().enumerate().map(line).collect()
}

/// `rows + scale · noise`.
fn with_noise(rows: &[Vec<f64>], scale: f64, seed: u64) -> Vec<Vec<f64>> {
    let noise = random_rows(rows.len(), rows.first().map_or(0, Vec::len), seed);
    let add =
        |(row, noise): (&Vec<f64>, &Vec<f64>)| row.iter().zip(noise).map(|(x, noise)| x + scale * noise).collect();
    rows.iter().zip(&noise).map(add).collect()
}

/// Runs a command that must be refused; returns what it says.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = sememe(folder, arguments);
    let message = text(&output.stderr);
    assert_eq!(output.status.code(), Some(BAD_INPUT), "{arguments:?}: {message}");
    assert!(output.stdout.is_empty(), "{arguments:?}");
    message
}
