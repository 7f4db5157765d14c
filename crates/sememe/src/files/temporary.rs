//! Temporary files and folders for unfinished outputs.
//!
//! An unfinished output is called `.NAME.sememe-PROCESS-RANDOM` and is beside its final path; a folder has `.d` at the
//! end. The name identifies the process, so its unfinished outputs can be found without keeping a list.
//!
//! A temporary file is locked while it is in use, and a folder has a locked file of its name without `.d`. The
//! operating system releases the locks of a process that was killed, so the next output in the same folder recognises
//! what was left behind, and removes it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use tempfile::{NamedTempFile, TempDir};

use super::lock::{Lock, try_lock};
use crate::error::{Error, Result};

/// The part of a temporary name between the name of the output and the process id.
const UNFINISHED: &str = "sememe";
/// The same for a folder that is being replaced.
const REPLACED: &str = "sememe-old";
/// The ending of folders.
const FOLDER: &str = ".d";
/// Name of a replaced folder inside its temporary folder.
const OLD: &str = "old";

/// What a temporary name says.
struct Name {
    is_replaced: bool,
    process: u32,
}

impl Name {
    fn parse(name: &OsStr) -> Option<Self> {
        let name = name.to_str()?.strip_prefix('.')?;
        let name = name.strip_suffix(FOLDER).unwrap_or(name);
        let (rest, random) = name.rsplit_once('-')?;
        let (rest, process) = rest.rsplit_once('-')?;
        let (_, what) = rest.rsplit_once('.')?;
        let is_known = what == UNFINISHED || what == REPLACED;
        let is_random = !random.is_empty() && random.bytes().all(|byte| byte.is_ascii_alphanumeric());
        (is_known && is_random).then_some(Name { is_replaced: what == REPLACED, process: process.parse().ok()? })
    }
}

/// Whether a name is that of an unfinished output of any sememe process.
pub(crate) fn is_temporary(name: &OsStr) -> bool {
    Name::parse(name).is_some()
}

/// Characters of the name of an output in a temporary name: file names are limited to 255 bytes.
const LONGEST_NAME: usize = 32;

/// The prefix of temporary names for `target`, up to the process id.
fn prefix(target: &Path, what: &str) -> String {
    let name: String = target.file_name().unwrap_or_default().to_string_lossy().chars().take(LONGEST_NAME).collect();
    format!(".{name}.{what}-")
}

/// Temporary files and folders in a folder.
fn temporaries(folder: &Path) -> impl Iterator<Item = (PathBuf, Name)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| Name::parse(&entry.file_name()).map(|name| (entry.path(), name)))
}

/// A folder beside its final path, which is removed when this is dropped.
pub(super) struct TemporaryFolder {
    // Dropped first: the lock must be held as long as the folder is there.
    folder: TempDir,
    _lock: NamedTempFile,
}

impl TemporaryFolder {
    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Does not remove the folder.
    pub(super) fn keep(self) -> PathBuf {
        self.folder.keep()
    }
}

/// Creates a locked file beside `target`, with the default permissions of the umask.
pub(super) fn temporary_file(path: &Path, target: &Path) -> Result<NamedTempFile> {
    remove_leftovers(target);
    locked_file(target, UNFINISHED).map_err(|e| not_created(path, target, e))
}

/// Creates a folder beside `target`, with the default permissions of the umask.
pub(super) fn temporary_folder(path: &Path, target: &Path) -> Result<TemporaryFolder> {
    remove_leftovers(target);
    locked_folder(target, UNFINISHED).map_err(|e| not_created(path, target, e))
}

/// A folder that is moved aside while another one takes its place.
pub(super) struct Aside(TemporaryFolder);

impl Aside {
    /// Moves the folder at `target` aside.
    pub(super) fn take(target: &Path) -> io::Result<Self> {
        let aside = Aside(locked_folder(target, REPLACED)?);
        fs::rename(target, aside.path())?;
        Ok(aside)
    }

    /// Where the folder is now.
    pub(super) fn path(&self) -> PathBuf {
        self.0.path().join(OLD)
    }

    /// Moves the folder back. If that fails, the error says where it is, and nothing removes it there.
    pub(super) fn put_back(self, target: &Path) -> io::Result<()> {
        fs::rename(self.path(), target).map_err(|error| {
            let kept = self.0.keep();
            let name = kept.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let visible = kept.with_file_name(name.trim_start_matches('.'));
            let kept = if fs::rename(&kept, &visible).is_ok() { visible } else { kept };
            let kept = kept.join(OLD);
            io::Error::new(error.kind(), format!("{error}; what was there before is now in {}", kept.display()))
        })
    }
}

fn locked_file(target: &Path, what: &str) -> io::Result<NamedTempFile> {
    let prefix = format!("{}{}-", prefix(target, what), std::process::id());
    // `tempfile_in` would create a file that only its owner can read.
    tempfile::Builder::new().prefix(&prefix).make_in(parent_folder(target), |path| {
        let file = File::create_new(path)?;
        // Without locks nothing is recognised as left behind, and nothing is removed.
        let _ = file.lock();
        // Another process may have taken it for left behind before it was locked. Another name is tried then.
        if path.exists() { Ok(file) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    })
}

fn locked_folder(target: &Path, what: &str) -> io::Result<TemporaryFolder> {
    let lock = locked_file(target, what)?;
    let name = lock.path().file_name().unwrap_or_default().to_owned();
    let folder = tempfile::Builder::new().prefix(&name).suffix(FOLDER).rand_bytes(0).tempdir_in(parent_folder(target));
    // `tempdir_in` adds the temporary path to the system's message, which would confuse users.
    Ok(TemporaryFolder { folder: folder.map_err(|e| io::Error::from(e.kind()))?, _lock: lock })
}

/// Removes what killed processes left beside `target`, whatever it was for. A folder that was moved away from `target`
/// is moved back.
fn remove_leftovers(target: &Path) {
    for (path, name) in temporaries(parent_folder(target)) {
        // Opening anything else, such as a pipe, could wait for ever.
        let Ok(about) = path.symlink_metadata() else { continue };
        if about.is_file() {
            // Held until everything is removed.
            let Ok(Lock::Held(_lock)) = try_lock(&path) else { continue };
            let folder = folder_of(&path);
            if !folder.is_dir() || remove_folder(&folder, &name, moved_from(&folder, target)) {
                let _ = fs::remove_file(&path);
            }
        } else if about.is_dir() && !lock_of(&path).is_some_and(|lock| lock.exists()) {
            remove_folder(&path, &name, moved_from(&path, target));
        }
    }
}

/// `target`, if its name is the one in the name of a temporary folder. A long name is there in part only.
fn moved_from<'a>(folder: &Path, target: &'a Path) -> Option<&'a Path> {
    let is_own = folder.file_name()?.to_str()?.starts_with(&prefix(target, REPLACED));
    let is_whole = target.file_name()?.to_str()?.chars().count() <= LONGEST_NAME;
    (is_own && is_whole).then_some(target)
}

fn folder_of(lock: &Path) -> PathBuf {
    let mut folder = lock.as_os_str().to_owned();
    folder.push(FOLDER);
    folder.into()
}

fn lock_of(folder: &Path) -> Option<PathBuf> {
    folder.to_str().and_then(|path| path.strip_suffix(FOLDER)).map(PathBuf::from)
}

/// Removes a temporary folder. One that holds a replaced folder is removed only if that can be moved back to its
/// `target`, or if there is a new folder already. Returns whether it was removed.
fn remove_folder(folder: &Path, name: &Name, target: Option<&Path>) -> bool {
    if name.is_replaced {
        let Some(target) = target else { return false };
        // Fails if the new folder is in place; then the old one is not needed any more.
        let _ = fs::rename(folder.join(OLD), target);
        if !target.exists() {
            return false;
        }
    }
    // Another thread may still be writing: a new file makes the removal fail, so it is tried again.
    (0..5).any(|_| fs::remove_dir_all(folder).is_ok())
}

/// Removes unfinished outputs of this process for `target` and in the folder there, although they are locked.
pub(super) fn remove_own(target: &Path) {
    let (unfinished, replaced) = (prefix(target, UNFINISHED), prefix(target, REPLACED));
    let is_beside = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(&unfinished) || name.starts_with(&replaced)
    };
    let beside = temporaries(parent_folder(target)).filter(|(path, _)| is_beside(path));
    let own = beside.chain(temporaries(target)).filter(|(_, name)| name.process == std::process::id());
    for (path, name) in own.collect::<Vec<_>>() {
        match path.is_dir() {
            true => drop(remove_folder(&path, &name, Some(target))),
            false => drop(fs::remove_file(&path)),
        }
    }
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
