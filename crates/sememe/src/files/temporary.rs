//! What outputs are called before they are complete, and where that is.
//!
//! An unfinished output is called `.NAME.sememe-PROCESS-RANDOM` and lies beside its final name. The name alone says
//! whose it is, so what a process has left can be found without a list of it being kept anywhere.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use crate::error::{Error, Result};

/// What temporary names say after the name of the output and before the process.
pub(super) const UNFINISHED: &str = "sememe";
pub(super) const REPLACED: &str = "sememe-old";

/// What the names of this process's temporary files for `target` begin with.
fn temporary_prefix(target: &Path, what: &str) -> String {
    // Cut, as names have a limit of 255 bytes.
    let name: String = target.file_name().unwrap_or_default().to_string_lossy().chars().take(32).collect();
    format!(".{name}.{what}-{}-", std::process::id())
}

pub(super) fn own_temporaries(target: &Path, what: &str) -> Vec<PathBuf> {
    let prefix = temporary_prefix(target, what);
    let entries = fs::read_dir(parent_folder(target)).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
    own.map(|entry| entry.path()).collect()
}

/// What this process has not finished in a folder.
pub(super) fn own_temporaries_in(folder: &Path) -> Vec<PathBuf> {
    let mark = format!(".{UNFINISHED}-{}-", std::process::id());
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let own = entries.filter(|entry| entry.file_name().to_string_lossy().contains(&mark));
    own.map(|entry| entry.path()).collect()
}

/// Whether a file has a name that only what some sememe did not finish has.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    let name = name.to_string_lossy();
    name.starts_with('.') && name.contains(&format!(".{UNFINISHED}-"))
}

/// A new file beside `target`, with the permissions that the umask leaves.
pub(super) fn temporary_file(path: &Path, target: &Path) -> Result<NamedTempFile> {
    let prefix = temporary_prefix(target, UNFINISHED);
    // Not `tempfile_in`, whose files are private.
    let file = tempfile::Builder::new().prefix(&prefix).make_in(parent_folder(target), |path| File::create_new(path));
    file.map_err(|e| not_created(path, target, e))
}

/// A new folder beside `target`, with the permissions that the umask leaves.
pub(super) fn temporary_folder(path: &Path, target: &Path, what: &str) -> Result<TempDir> {
    let prefix = temporary_prefix(target, what);
    let folder = tempfile::Builder::new().prefix(&prefix).tempdir_in(parent_folder(target));
    // `tempdir_in` adds the temporary name, which tells nobody anything, to what the system said.
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

/// As many links as Linux follows.
const MOST_LINKS: usize = 40;

/// The path that symbolic links lead to, whether or not there is something at it.
pub(super) fn behind_links(path: &Path) -> Result<PathBuf> {
    // Without a slash at its end, which would hide that it is a link.
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
