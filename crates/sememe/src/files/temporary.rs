//! Names of temporary files and folders for unfinished outputs.
//!
//! An unfinished output is called `.NAME.sememe-PROCESS-RANDOM` and is beside its final path. The name identifies the
//! process, so its unfinished outputs can be found without keeping a list.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::{Error, Result};

/// The part of a temporary name between the name of the output and the process id.
pub(super) const UNFINISHED: &str = "sememe";
pub(super) const REPLACED: &str = "sememe-old";

/// The prefix of this process's temporary names for `target`.
fn temporary_prefix(target: &Path, what: &str) -> String {
    // Truncated, because file names are limited to 255 bytes.
    let name: String = target.file_name().unwrap_or_default().to_string_lossy().chars().take(32).collect();
    format!(".{name}.{what}-{}-", std::process::id())
}

pub(super) fn own_temporaries(target: &Path, what: &str) -> Vec<PathBuf> {
    let prefix = temporary_prefix(target, what);
    let entries = fs::read_dir(parent_folder(target)).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    own.map(|entry| entry.path()).collect()
}

/// Unfinished outputs of this process in a folder.
pub(super) fn own_temporaries_in(folder: &Path) -> Vec<PathBuf> {
    let mark = format!(".{UNFINISHED}-{}-", std::process::id());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().contains(&mark));
    own.map(|entry| entry.path()).collect()
}

/// Whether a name is that of an unfinished output of any sememe process.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.contains(&format!(".{UNFINISHED}-"))
}

/// Creates a file beside `target`, with the default permissions of the umask.
pub(super) fn temporary_file(path: &Path, target: &Path) -> Result<NamedTempFile> {
    let prefix = temporary_prefix(target, UNFINISHED);
    // `tempfile_in` would create a file that only its owner can read.
    let file = tempfile::Builder::new().prefix(&prefix).make_in(parent_folder(target), |path| File::create_new(path));
    file.map_err(|e| not_created(path, target, e))
}

/// Creates a folder beside `target`, with the default permissions of the umask.
pub(super) fn temporary_folder(path: &Path, target: &Path, what: &str) -> Result<TempDir> {
    let prefix = temporary_prefix(target, what);
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent_folder(target));
    // `tempdir_in` adds the temporary path to the system's message, which would confuse users.
    folder.map_err(|e| not_created(path, target, e.kind().into()))
}

fn not_created(path: &Path, target: &Path, error: io::Error) -> Error {
    let folder = parent_folder(target);
    if folder.is_dir() {
        return Error::write(path, error);
    }
    let problem = format!("there is no folder {}; make it first", folder.display());
    Error::write(path, io::Error::new(io::ErrorKind::NotFound, problem))
}

/// Maximum number of symbolic links to follow, as on Linux.
const MOST_LINKS: usize = 40;

/// The path with symbolic links resolved, whether or not it exists.
pub(super) fn behind_links(path: &Path) -> Result<PathBuf> {
    // Removes a trailing slash, which would hide that the path is a link.
    let mut behind: PathBuf = path.components().collect();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&behind) {
            Ok(next) => behind = parent_folder(&behind).join(next).components().collect(),
            Err(_) => return Ok(behind),
        }
    }
    Err(Error::write(path, io::Error::other("its symbolic links lead in a circle")))
}

pub(super) fn parent_folder(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}
